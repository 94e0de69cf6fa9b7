//! The table's lines: the title, and the two lines of a GPU.

use super::super::smi_error;
use crate::read::value;
use serde_json::{Map, Value, json};

/// What the title line states. Driver 610 calls the driver's version KMD and splits CUDA's.
#[derive(Default)]
pub(super) struct Versions<'a> {
    pub(super) tool: Option<&'a str>,
    pub(super) driver: Option<&'a str>,
    pub(super) cuda: Option<&'a str>,
    /// Where the line's first bar is: what stands before it stands before every line.
    pub(super) bar: usize,
}

pub(super) fn versions(line: &str) -> Option<Versions<'_>> {
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

pub(super) fn is_version(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// What stands between the bars of a line, from byte `from` on. What no bar closes is left: half a number is another
/// number.
pub(super) fn cells(line: &str, from: usize) -> Vec<&str> {
    let line = line.get(from..).unwrap_or(line).trim();
    let inner = line.trim_start_matches(['>', ' ']);
    let inner = inner.strip_prefix('|').unwrap_or(inner);
    let Some((inner, _)) = inner.rsplit_once('|') else {
        return Vec::new();
    };
    inner.split('|').map(str::trim).take(8).collect()
}

/// First line of a GPU: index and name, address, errors.
pub(super) struct First<'a> {
    pub(super) index: u32,
    pub(super) name: String,
    /// `On`, `Off`, or the driver model on Windows.
    pub(super) mode: Option<&'a str>,
    pub(super) bus: &'a str,
    pub(super) ecc: Option<&'a str>,
}

impl<'a> First<'a> {
    pub(super) fn of(cells: &[&'a str]) -> Option<First<'a>> {
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
pub(super) struct Second<'a> {
    pub(super) fan: Option<&'a str>,
    pub(super) temp: Option<&'a str>,
    pub(super) perf: Option<&'a str>,
    pub(super) power: Option<&'a str>,
    pub(super) cap: Option<&'a str>,
    pub(super) used: Option<&'a str>,
    pub(super) total: Option<&'a str>,
    pub(super) util: Option<&'a str>,
    pub(super) compute: String,
}

impl<'a> Second<'a> {
    pub(super) fn of(cells: &[&'a str]) -> Option<Second<'a>> {
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

    pub(super) fn facts(&self) -> Map<String, Value> {
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
    pub(super) fn errors(&self) -> Vec<&'static str> {
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
