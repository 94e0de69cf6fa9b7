//! `nvidia-smi` without an option: the table. Two or three lines a GPU between bars, then MIG devices, then processes.
//!
//! Widths changed with drivers 470, 530 and 545 and cells run into the bars (`|ERR!`), so cells are what stands between
//! bars, and within a cell the words.

mod rows;

use super::smi_error;
use crate::read::device::MAX_GPUS;
use crate::read::health::wrong_with;
use crate::read::{Gpu, Read, source::Source, value};
use rows::{First, Second, Versions, cells, is_version, versions};
use serde_json::{Map, Value, json};

pub(crate) fn recognise(source: &Source) -> bool {
    source.head_lines().any(|line| versions(line).is_some())
        || source
            .head_lines()
            .any(|line| First::of(&cells(line, 0)).is_some())
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
    let mut again = false;
    for (number, line) in source.lines() {
        if title.driver.is_none()
            && let Some(found) = versions(line)
        {
            title = found;
            continue;
        }
        // `-l` and `watch` print it again: one round is enough
        again |= versions(line).is_some();
        if again && line.contains(['|', '+']) {
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
