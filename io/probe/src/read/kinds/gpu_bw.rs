//! `bandwidthTest` of the CUDA samples: a table a direction, or one line a size (`--mode=shmoo`, `--csv`).
//!
//! GB/s is 1e9 bytes; the MB/s of versions before 10.1 are 2^20 bytes.

use crate::read::{Gpu, Read, labelled, source::Source, value};
use serde_json::{Value, json};

pub(crate) fn recognise(source: &Source) -> bool {
    let head = source.head();
    head.contains("[CUDA Bandwidth Test]")
        || head.contains("bandwidthTest-")
        || (head.contains(" Bandwidth, ") && head.contains("Memory Transfers"))
}

/// Most directions and kinds of memory of one capture.
const MAX_SERIES: usize = 32;

/// One direction and kind of memory.
struct Series {
    direction: String,
    memory: Option<String>,
    rows: u64,
    /// GB/s, and the largest size in bytes that reached it.
    max: Option<(f64, u64)>,
    /// Bytes, and GB/s at that size.
    largest: Option<(u64, f64)>,
}

impl Series {
    fn new(direction: &str, memory: Option<&str>) -> Series {
        Series {
            direction: direction.to_owned(),
            memory: memory.map(str::to_owned),
            rows: 0,
            max: None,
            largest: None,
        }
    }

    fn row(&mut self, bytes: u64, gbs: f64) {
        self.rows += 1;
        let better = |(max, at)| gbs > max || (gbs >= max && bytes >= at);
        if self.max.is_none_or(better) {
            self.max = Some((gbs, bytes));
        }
        if self.largest.is_none_or(|(largest, _)| bytes >= largest) {
            self.largest = Some((bytes, gbs));
        }
    }

    fn facts(&self) -> Vec<(&'static str, Value)> {
        let mut all = vec![("direction", json!(self.direction))];
        if let Some(memory) = &self.memory {
            all.push(("memory", json!(memory)));
        }
        all.push(("rows", json!(self.rows)));
        if let (Some((max, at)), Some((largest, gbs))) = (self.max, self.largest) {
            all.push(("max_gbs", json!(max)));
            all.push(("at_bytes", json!(at)));
            all.push(("largest_bytes", json!(largest)));
            all.push(("gbs_at_largest", json!(gbs)));
        }
        all
    }
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let mut all: Vec<Series> = Vec::new();
    // of the table that is being read: bytes a second of one unit of it, in GB/s
    let mut unit = 1.0;
    let mut passed = None;
    for (number, line) in source.lines() {
        let line = labelled::untagged(line).trim();
        if line.is_empty() || line.bytes().all(|b| b == b'.') {
            continue;
        }
        if let Some(row) = shmoo(line) {
            let same =
                |s: &Series| s.direction == row.direction && s.memory.as_deref() == row.memory;
            let at = all.iter().position(same).unwrap_or(all.len());
            if at == all.len() && at < MAX_SERIES {
                all.push(Series::new(row.direction, row.memory));
            }
            match all.get_mut(at) {
                Some(series) => series.row(row.bytes, row.gbs),
                None => super::unread(number, line, out),
            }
        } else if let Some(direction) = direction(line) {
            if all.len() < MAX_SERIES {
                all.push(Series::new(direction, None));
            }
        } else if let Some(memory) = line.strip_suffix(" Memory Transfers") {
            match all.last_mut() {
                Some(series) => series.memory = Some(memory_name(memory)),
                None => super::unread(number, line, out),
            }
        } else if line.starts_with("Transfer Size") {
            unit = if line.contains("MB/s") { MIB } else { 1.0 };
        } else if let Some((bytes, bandwidth)) = table_row(line) {
            match all.last_mut() {
                Some(series) => series.row(bytes, bandwidth * unit),
                None => super::unread(number, line, out),
            }
        } else if let Some(result) = line.strip_prefix("Result = ") {
            passed = Some(result == "PASS");
        } else if source.is_open(number) || !note(line, out) {
            super::unread(number, line, out);
        }
    }
    match passed {
        Some(true) => {}
        Some(false) => out.problem("test_failed", "bandwidthTest", "Result = FAIL"),
        None => out.problem("run_incomplete", "bandwidthTest", "no line of the result"),
    }
    if let Some(name) = out.reading.gpus.first().and_then(|g| g.name.clone()) {
        out.fact("device", name);
    }
    all.retain(|s| s.rows > 0);
    if let [only] = all.as_slice() {
        for (key, value) in only.facts() {
            out.fact(key, value);
        }
    }
    let series = all.iter().map(|s| Value::Object(own(s.facts()))).collect();
    out.fact("series", Value::Array(series));
}

fn own(facts: Vec<(&'static str, Value)>) -> serde_json::Map<String, Value> {
    facts.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
}

/// MiB/s as GB/s.
const MIB: f64 = 1_048_576.0 / 1e9;

struct Shmoo<'a> {
    direction: &'a str,
    memory: Option<&'a str>,
    bytes: u64,
    gbs: f64,
}

/// `bandwidthTest-H2D-Pinned, Bandwidth = 12.4 GB/s, Time = 0.00549 s, Size = 68000000 bytes, NumDevsUsed = 1`.
fn shmoo(line: &str) -> Option<Shmoo<'_>> {
    let (test, rest) = line.split_once(',')?;
    let mut name = test.trim().strip_prefix("bandwidthTest-")?.split('-');
    let field = |key: &str| {
        let at = rest.find(key)?;
        rest[at + key.len()..].split(',').next().map(str::trim)
    };
    let bandwidth = field("Bandwidth = ")?;
    let number = value::number(bandwidth)?;
    Some(Shmoo {
        direction: name.next()?,
        memory: match name.next() {
            Some("Pinned") => Some("pinned"),
            Some("Paged" | "Pageable") => Some("pageable"),
            other => other,
        },
        bytes: value::whole(field("Size = ")?)?,
        gbs: match bandwidth.ends_with("MB/s") {
            true => number * MIB,
            false => number,
        },
    })
}

/// ` Host to Device Bandwidth, 1 Device(s)`.
fn direction(line: &str) -> Option<&'static str> {
    let (words, _) = line.split_once(" Bandwidth, ")?;
    match words.trim() {
        "Host to Device" => Some("H2D"),
        "Device to Host" => Some("D2H"),
        "Device to Device" => Some("D2D"),
        _ => None,
    }
}

fn memory_name(words: &str) -> String {
    match words.trim() {
        "PAGEABLE" => "pageable".to_owned(),
        other => other.to_lowercase(),
    }
}

fn table_row(line: &str) -> Option<(u64, f64)> {
    let mut words = line.split_whitespace();
    let row = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let sound = |(_, bandwidth): &(u64, f64)| bandwidth.is_finite() && words.next().is_none();
    Some(row).filter(sound)
}

fn note(line: &str, out: &mut Read) -> bool {
    if let Some((key, name)) = labelled::split(line)
        && let Some(index) = key.strip_prefix("Device ")
        && out.reading.gpus.len() < 256
    {
        out.reading.gpus.push(Gpu {
            index: index.trim().parse().ok(),
            name: Some(name.to_owned()),
            ..Gpu::default()
        });
        return true;
    }
    if line.contains("cuda") && line.contains("rror") || line.contains("CUDA error") {
        out.problem("cuda_error", "CUDA", line);
        return true;
    }
    const NOTES: [&str; 8] = [
        "[CUDA Bandwidth Test]",
        "[bandwidthTest]",
        "Running on",
        "Quick Mode",
        "Range Mode",
        "Shmoo Mode",
        "NOTE:",
        "Mode:",
    ];
    NOTES.iter().any(|n| line.starts_with(n))
}
