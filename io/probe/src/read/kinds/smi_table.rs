//! `nvidia-smi` without an option: the table. Two or three lines a GPU between bars, then MIG devices, then processes.
//!
//! Widths changed with drivers 470, 530 and 545 and cells run into the bars (`|ERR!`), so cells are what stands between
//! bars, and within a cell the words.

use super::smi_error;
use crate::read::device::{MAX_GPUS, wrong_with};
use crate::read::{Gpu, Read, source::Source, value};
use serde_json::{Map, Value, json};

pub(crate) fn recognise(source: &Source) -> bool {
    source.head_lines().any(|line| versions(line).is_some())
        || source
            .head_lines()
            .any(|line| First::of(&cells(line, 0)).is_some())
}

/// What the title line states. Driver 610 calls the driver's version KMD and splits CUDA's.
#[derive(Default)]
struct Versions<'a> {
    tool: Option<&'a str>,
    driver: Option<&'a str>,
    cuda: Option<&'a str>,
    /// Where the line's first bar is: what stands before it stands before every line.
    bar: usize,
}

fn versions(line: &str) -> Option<Versions<'_>> {
    let at = line.find("NVIDIA-SMI ")?;
    let mut found = Versions {
        bar: line[..at].rfind('|').unwrap_or(0),
        ..Versions::default()
    };
    let words: Vec<&str> = line[at..].split_whitespace().take(40).collect();
    found.tool = words.get(1).copied().filter(|w| is_version(w));
    let mut label = "";
    for pair in words[1..].windows(2) {
        match pair {
            // `CUDA UMD Version:` is CUDA's; a bare `UMD Version:` is the user library of the driver
            [word @ ("Driver" | "KMD" | "CUDA"), _] => label = word,
            ["UMD", _] if label != "CUDA" => label = "UMD",
            ["Version:", value] => match label {
                "CUDA" => found.cuda = found.cuda.or(Some(value)),
                "Driver" | "KMD" => found.driver = found.driver.or(Some(value)),
                _ => {}
            },
            _ => {}
        }
    }
    (found.driver.is_some() || found.cuda.is_some()).then_some(found)
}

fn is_version(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// What stands between the bars of a line, from byte `from` on. What no bar closes is left: half a number is another
/// number.
fn cells(line: &str, from: usize) -> Vec<&str> {
    let line = line.get(from..).unwrap_or(line).trim();
    let inner = line.trim_start_matches(['>', ' ']);
    let inner = inner.strip_prefix('|').unwrap_or(inner);
    let Some((inner, _)) = inner.rsplit_once('|') else {
        return Vec::new();
    };
    inner.split('|').map(str::trim).take(8).collect()
}

/// First line of a GPU: index and name, address, errors.
struct First<'a> {
    index: u32,
    name: String,
    /// `On`, `Off`, or the driver model on Windows.
    mode: Option<&'a str>,
    bus: &'a str,
    ecc: Option<&'a str>,
}

impl<'a> First<'a> {
    fn of(cells: &[&'a str]) -> Option<First<'a>> {
        let [left, middle, rest @ ..] = cells else {
            return None;
        };
        let bus = middle
            .split_whitespace()
            .next()
            .filter(|w| smi_error::is_pci(w))?;
        let mut words: Vec<&str> = left.split_whitespace().take(24).collect();
        let index = words.first()?.parse().ok()?;
        let modes = ["On", "Off", "WDDM", "TCC", "MCDM", "N/A", "ERR!"];
        let mode = words
            .last()
            .copied()
            .filter(|w| words.len() > 2 && modes.contains(w));
        if mode.is_some() {
            words.pop();
        }
        Some(First {
            index,
            name: words[1..].join(" "),
            mode,
            bus,
            ecc: rest.first().copied().filter(|c| !c.is_empty()),
        })
    }
}

/// Second line: fan, temperature, state, power; memory; utilisation.
struct Second<'a> {
    fan: Option<&'a str>,
    temp: Option<&'a str>,
    perf: Option<&'a str>,
    power: Option<&'a str>,
    cap: Option<&'a str>,
    used: Option<&'a str>,
    total: Option<&'a str>,
    util: Option<&'a str>,
    compute: String,
}

impl<'a> Second<'a> {
    fn of(cells: &[&'a str]) -> Option<Second<'a>> {
        let [left, memory, rest @ ..] = cells else {
            return None;
        };
        // a value may hold the bar of its own (`N/A`): the one that parts two values is followed by the cap
        let words: Vec<&str> = left.split_whitespace().take(12).collect();
        let bar = words.iter().position(|w| *w == "/");
        let (before, cap) = match bar {
            Some(at) => (&words[..at], words.get(at + 1).copied()),
            None => match words.split_last() {
                // glued: `98W/700W`
                Some((last, others)) if last.contains("W/") => {
                    let (power, cap) = last.split_once('/')?;
                    return Second::with(others, Some(power), Some(cap), memory, rest);
                }
                _ => (words.as_slice(), None),
            },
        };
        let power = before.get(3).copied();
        Second::with(before, power, cap, memory, rest)
    }

    fn with(
        words: &[&'a str],
        power: Option<&'a str>,
        cap: Option<&'a str>,
        memory: &'a str,
        rest: &[&'a str],
    ) -> Option<Second<'a>> {
        let (used, total) = match memory.split_once(" / ").or_else(|| memory.split_once("/ ")) {
            Some((used, total)) => (Some(used.trim()), Some(total.trim())),
            None => memory
                .split_once("B/")
                .map_or((None, None), |(used, total)| (Some(used), Some(total))),
        };
        let total = total.or(Some(memory).filter(|m| value::is_none(m)));
        if words.len() < 2 || used.is_none() && cap.is_none() {
            return None;
        }
        let mut last = rest.first().copied().unwrap_or("").split_whitespace();
        Some(Second {
            fan: words.first().copied(),
            temp: words.get(1).copied(),
            perf: words.get(2).copied(),
            power,
            cap,
            used,
            total,
            util: last.next(),
            compute: last.take(6).collect::<Vec<_>>().join(" "),
        })
    }

    fn facts(&self) -> Map<String, Value> {
        let mut map = Map::new();
        let texts = [
            ("fan", self.fan),
            ("temp", self.temp),
            ("perf", self.perf),
            ("power", self.power),
            ("cap", self.cap),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                map.insert(key.to_owned(), json!(value::shown(text, 40)));
            }
        }
        for (key, text) in [("mem_used", self.used), ("mem_total", self.total)] {
            if let Some(n) = text.and_then(|t| value::whole_of(t, "MiB")) {
                map.insert(key.to_owned(), json!(n));
            }
        }
        if let Some(util) = self.util {
            map.insert("util".to_owned(), json!(value::shown(util, 40)));
        }
        // the default says nothing; another mode keeps other processes off the card
        if !self.compute.is_empty() && self.compute != "Default" {
            map.insert("compute".to_owned(), json!(value::shown(&self.compute, 40)));
        }
        map
    }

    /// Names of the cells that read `ERR!`.
    fn errors(&self) -> Vec<&'static str> {
        [
            ("fan", self.fan),
            ("temperature", self.temp),
            ("performance state", self.perf),
            ("power", self.power),
            ("power cap", self.cap),
            ("memory", self.used),
            ("utilisation", self.util),
        ]
        .into_iter()
        .filter(|(_, cell)| *cell == Some("ERR!"))
        .map(|(name, _)| name)
        .collect()
    }
}

/// The part of the output that a line is in.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Gpus,
    Mig,
    Processes,
}

#[derive(Default)]
struct Table {
    gpus: Vec<Gpu>,
    ecc: Vec<String>,
    per_gpu: Vec<Map<String, Value>>,
    flags: Vec<String>,
    mig_devices: u32,
    processes: u64,
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let mut table = Table::default();
    let mut title = Versions::default();
    let mut part = Part::Gpus;
    for (number, line) in source.lines() {
        if title.driver.is_none()
            && let Some(found) = versions(line)
        {
            title = found;
            continue;
        }
        let cells = cells(line, title.bar);
        let understood = is_frame(line, &cells, &mut part)
            || match part {
                Part::Gpus => table.gpu_line(&cells, out),
                Part::Mig => table.mig_line(&cells),
                Part::Processes => table.process_line(&cells),
            };
        if !understood && !value::is_noise(line) && !smi_error::take(line, out) {
            out.not_understood(number, line);
        }
    }
    table.finish(&title, out);
}

/// Lines of the frame: rules, column names, the time; those that open a part move it on.
fn is_frame(line: &str, cells: &[&str], part: &mut Part) -> bool {
    const NAMES: [&str; 16] = [
        "GPU  Name",
        "Fan  Temp",
        "MIG M.",
        "GPU  GI",
        "ID  ID",
        "|  GPU",
        "Shared",
        "ECC|",
        "Process name",
        "GPU   GI",
        "ID   ID",
        "Usage",
        "No running processes found",
        "No MIG devices found",
        "Processes:",
        "MIG devices:",
    ];
    let bare = line.trim_matches(|c: char| c.is_whitespace() || c == '>');
    if *part == Part::Gpus && First::of(cells).is_some() {
        return false;
    }
    if line.contains("MIG devices:") {
        *part = Part::Mig;
    } else if line.contains("Processes:") || line.contains("Process name") {
        *part = Part::Processes;
    }
    let rule = |t: &str| t.chars().all(|c| matches!(c, '-' | '=' | '+' | '|' | ' '));
    rule(bare)
        || !cells.is_empty() && cells.iter().all(|c| c.is_empty() || rule(c))
        || NAMES.iter().any(|n| line.contains(n))
        || is_time(bare)
}

/// `Fri Jul  3 22:22:26 2026`, in whatever language: a time of day in a line without bars.
fn is_time(line: &str) -> bool {
    let clock = |w: &str| {
        w.len() == 8
            && w.bytes().enumerate().all(|(at, b)| match at {
                2 | 5 => b == b':',
                _ => b.is_ascii_digit(),
            })
    };
    line.len() < 60 && !line.contains('|') && line.split_whitespace().any(clock)
}

impl Table {
    fn gpu_line(&mut self, cells: &[&str], out: &mut Read) -> bool {
        if let Some(first) = First::of(cells) {
            if self.gpus.len() >= MAX_GPUS {
                return false;
            }
            self.ecc.push(value::shown(first.ecc.unwrap_or(""), 40));
            self.per_gpu.push(Map::new());
            self.gpus.push(Gpu {
                index: Some(first.index),
                name: Some(value::shown(&first.name, 120)),
                bus_id: Some(value::shown(first.bus, 40)),
                // a number: errors are counted; `Off`: they are not. `On` stands there with MIG
                ecc: first.ecc.and_then(|e| match e {
                    "Off" => Some(false),
                    "On" => Some(true),
                    e => value::whole(e).map(|_| true),
                }),
                ecc_uncorrectable_volatile: first.ecc.and_then(value::whole),
                ..Gpu::default()
            });
            let subject = format!("GPU{}", first.index);
            if first.name.contains("ERR!")
                || first.mode == Some("ERR!")
                || first.ecc == Some("ERR!")
            {
                out.problem("err_cell", subject, "name, mode or ECC");
            }
            return true;
        }
        let (Some(gpu), Some(facts)) = (self.gpus.last_mut(), self.per_gpu.last_mut()) else {
            return false;
        };
        if facts.is_empty() {
            let Some(second) = Second::of(cells) else {
                return false;
            };
            *facts = second.facts();
            let number = |t: Option<&str>, unit: &str| t.and_then(|t| value::number_of(t, unit));
            let mib = |t: Option<&str>| t.and_then(|t| value::whole_of(t, "MiB"));
            gpu.temperature_c = number(second.temp, "C");
            gpu.performance_state = second
                .perf
                .filter(|p| p.starts_with('P'))
                .map(|p| value::shown(p, 16));
            gpu.power_draw_w = number(second.power, "W");
            gpu.power_limit_w = number(second.cap, "W");
            gpu.memory_used_mib = mib(second.used);
            gpu.memory_total_mib = mib(second.total);
            gpu.utilisation_percent = number(second.util, "%");
            let subject = format!("GPU{}", gpu.index.unwrap_or(0));
            for cell in second.errors() {
                self.flags.push(match cell {
                    "fan" => "fan reading ERR!: sensor or board fault".to_owned(),
                    cell => format!("{cell} reading ERR!"),
                });
            }
            let errors = second.errors().join(", ");
            if !errors.is_empty() {
                out.problem("err_cell", &subject, errors);
            }
            if second.total.is_none() {
                out.problem("incomplete_capture", &subject, "its second line breaks off");
            }
            return true;
        }
        // third line: MIG
        match cells {
            [left, middle, mode, ..]
                if left.is_empty() && middle.is_empty() && gpu.mig.is_none() =>
            {
                gpu.mig = match *mode {
                    "Enabled" | "Enabled*" => Some(true),
                    "Disabled" | "Disabled*" => Some(false),
                    "N/A" | "" => None,
                    _ => return false,
                };
                true
            }
            _ => false,
        }
    }

    fn mig_line(&mut self, cells: &[&str]) -> bool {
        let [ids, memory, ..] = cells else {
            return false;
        };
        let numbers: Vec<u32> = ids
            .split_whitespace()
            .take(5)
            .map_while(|w| w.parse().ok())
            .collect();
        match numbers.as_slice() {
            [gpu, _, _, _] => {
                self.mig_devices = self.mig_devices.saturating_add(1);
                if let Some(gpu) = self.gpus.iter_mut().find(|g| g.index == Some(*gpu)) {
                    gpu.mig_devices = Some(gpu.mig_devices.unwrap_or(0).saturating_add(1));
                }
                true
            }
            // second line of a device: its window to the host
            [] => ids.is_empty() && memory.contains("MiB"),
            _ => false,
        }
    }

    /// Counted, not kept: their names are the user's.
    fn process_line(&mut self, cells: &[&str]) -> bool {
        let mut words = cells.first().copied().unwrap_or("").split_whitespace();
        let numbered = words.next().is_some_and(|w| w.parse::<u32>().is_ok());
        self.processes += u64::from(numbered);
        numbered
    }

    fn finish(mut self, title: &Versions, out: &mut Read) {
        let text = |v: Option<&str>| v.map_or(Value::Null, |v| json!(value::shown(v, 40)));
        out.fact("smi", text(title.tool));
        out.fact("driver", text(title.driver));
        out.fact("cuda", text(title.cuda));
        out.reading.driver = title.driver.map(|d| value::shown(d, 40));
        out.reading.cuda = title
            .cuda
            .filter(|c| is_version(c))
            .map(|c| value::shown(c, 40));
        if title.cuda == Some("ERR!") {
            self.flags
                .push("CUDA version ERR!: user library and driver differ".to_owned());
            out.problem("driver_library_mismatch", "driver", "CUDA Version: ERR!");
        }
        if let (Some(tool), Some(driver)) = (title.tool, title.driver)
            && tool != driver
        {
            // the tool of the Linux side speaks to the driver of the Windows side
            self.flags
                .push("tool version differs from driver version (usual on WSL)".to_owned());
            if [tool, driver].iter().all(|v| v.split('.').count() == 2) {
                out.fact("wsl", true);
            }
            out.problem(
                "tool_driver_differ",
                "driver",
                format!("tool {tool}, driver {driver}"),
            );
        }
        let unfinished: Vec<String> = self
            .gpus
            .iter()
            .zip(&self.per_gpu)
            .filter(|(_, facts)| facts.is_empty())
            .map(|(gpu, _)| format!("GPU{}", gpu.index.unwrap_or(0)))
            .collect();
        if self.gpus.is_empty() || !unfinished.is_empty() {
            out.fact("incomplete", true);
            let detail = match unfinished.as_slice() {
                [] => "no GPU below the title".to_owned(),
                some => format!("no second line of {}", some.join(", ")),
            };
            out.problem("incomplete_capture", "file", detail);
        }
        let mut names: Vec<&str> = Vec::new();
        for name in self.gpus.iter().filter_map(|g| g.name.as_deref()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        out.fact("gpus", self.gpus.len());
        out.fact("names", names);
        out.fact(
            "bus",
            self.gpus
                .iter()
                .filter_map(|g| g.bus_id.clone())
                .collect::<Vec<_>>(),
        );
        out.fact("ecc", self.ecc);
        out.fact(
            "per_gpu",
            self.per_gpu
                .into_iter()
                .map(Value::Object)
                .collect::<Vec<_>>(),
        );
        if self.mig_devices > 0 {
            out.fact("mig_devices", self.mig_devices);
        }
        if self.processes > 0 {
            out.fact("processes", self.processes);
        }
        if !self.flags.is_empty() {
            out.fact("flags", self.flags);
        }
        for gpu in self.gpus {
            let subject = format!("GPU{}", gpu.index.unwrap_or(0));
            wrong_with(&gpu, &subject, out);
            out.reading.gpus.push(gpu);
        }
    }
}
