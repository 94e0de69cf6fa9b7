//! nccl-tests: one row a message size, twice a time and two bandwidths (GB/s): out of place, then in place.
//!
//! Launchers write prefixes before the lines and NCCL its log between them, so a row is found by what it consists
//! of. The "average" at the end mixes tiny messages with large ones; the largest size is what a machine can do.

use crate::read::{Gpu, Read, labelled, source::Source};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const TYPES: [&str; 15] = [
    "int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16",
    "fp8_e4m3", "fp8_e5m2", "f8e4m3", "f8e5m2", "char",
];
/// Most ranks that are told apart.
const MAX_RANKS: usize = 20_000;
/// Most GPUs listed one by one.
const MAX_GPUS: usize = 1024;

pub(crate) fn recognise(source: &Source) -> bool {
    let head = source.head();
    let table = head.contains("algbw") && head.contains("busbw");
    let start = head.contains("# nThread") && head.contains("minBytes");
    table
        || start
        || head.contains("# Avg bus bandwidth")
        || head.lines().filter_map(row).nth(1).is_some()
}

/// One line of the table.
struct Row {
    bytes: u64,
    out_of_place: Option<f64>,
    in_place: Option<f64>,
    wrong: u64,
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let mut seen = Seen::default();
    for (number, line) in source.lines() {
        let line = labelled::untagged(line).trim();
        if let Some(row) = row(line) {
            seen.row(&row);
        } else if !line.is_empty() && !seen.note(line, source.is_open(number), out) {
            super::unread(number, line, out);
        }
    }
    seen.finish(out);
}

#[derive(Default)]
struct Seen {
    rows: u64,
    wrong: u64,
    largest: Option<(u64, Option<f64>, Option<f64>)>,
    peak: Option<f64>,
    average: Option<f64>,
    bounds: Option<(String, String)>,
    /// Rank -> host and device.
    ranks: BTreeMap<u32, (String, Gpu)>,
}

impl Seen {
    fn row(&mut self, row: &Row) {
        self.rows += 1;
        self.wrong = self.wrong.saturating_add(row.wrong);
        if self.largest.is_none_or(|(bytes, ..)| row.bytes > bytes) {
            self.largest = Some((row.bytes, row.out_of_place, row.in_place));
        }
        for bandwidth in [row.out_of_place, row.in_place].into_iter().flatten() {
            self.peak = Some(self.peak.map_or(bandwidth, |p| p.max(bandwidth)));
        }
    }

    /// Lines around the table; `false`: not one of them.
    fn note(&mut self, line: &str, open: bool, out: &mut Read) -> bool {
        if line.contains("NCCL INFO") {
            if let Some(version) = line.split("cudaDriverVersion ").nth(1) {
                let digits = version.split(|c: char| !c.is_ascii_digit()).next();
                let number = digits.and_then(|d| d.parse::<u32>().ok());
                out.reading.cuda = number.map(|n| format!("{}.{}", n / 1000, n % 1000 / 10));
            }
            return true;
        }
        if line.contains("Test NCCL failure")
            || line.contains("Test CUDA failure")
            || line.contains("NCCL WARN")
        {
            out.problem("nccl_error", "NCCL", line);
            return true;
        }
        if let Some(at) = line.find("NCCL version ") {
            let version = line[at..].split_whitespace().nth(2).unwrap_or_default();
            out.fact("nccl_version", version);
            return true;
        }
        // after the prefix of a launcher: `0: #`
        let Some(at) = line.find('#') else {
            return false;
        };
        let prefix = line[..at].trim_end();
        if prefix.contains(' ') || !(prefix.is_empty() || prefix.ends_with([':', ']', '>'])) {
            return false;
        }
        let words = line[at..].trim_start_matches('#').trim();
        if let Some(rank) = words.strip_prefix("Rank ") {
            // a name at the end of a text that breaks off may be half of one
            return !open && self.rank(rank);
        }
        match labelled::split(words) {
            Some(("Out of bounds values", text)) => {
                let mut parts = text.split_whitespace().map(str::to_owned);
                let (Some(count), word) = (parts.next(), parts.next()) else {
                    return false;
                };
                // of several runs in one file a failed one counts
                if self.bounds.as_ref().is_none_or(|(_, word)| word == "OK") {
                    self.bounds = Some((count, word.unwrap_or_default()));
                }
            }
            Some(("Avg bus bandwidth", text)) => {
                let Ok(average) = text.parse::<f64>() else {
                    return false;
                };
                self.average.get_or_insert(average);
            }
            _ => {}
        }
        true
    }

    /// `0 Group 0 Pid 14840 on HOST device 3 [0x01] NAME`; the host's name only tells machines apart.
    fn rank(&mut self, text: &str) -> bool {
        let mut words = text.split_whitespace();
        let Some(Ok(rank)) = words.next().map(str::parse) else {
            return false;
        };
        let mut host = "";
        let mut gpu = Gpu::default();
        while let Some(word) = words.next() {
            match word {
                "on" => host = words.next().unwrap_or_default(),
                "device" => {
                    gpu.index = words.next().and_then(|w| w.parse().ok());
                    break;
                }
                _ => {}
            }
        }
        let after = text.split_once("device").map_or("", |(_, t)| t);
        let Some((bus, name)) = after
            .split_once('[')
            .and_then(|(_, t)| t.split_once(']'))
            .filter(|(_, name)| !name.trim().is_empty())
        else {
            return false;
        };
        gpu.name = Some(name.trim().to_owned());
        gpu.bus_id = bus.contains(':').then(|| bus.to_owned());
        if self.ranks.len() < MAX_RANKS {
            self.ranks.insert(rank, (host.to_owned(), gpu));
        }
        true
    }

    fn finish(self, out: &mut Read) {
        let names: BTreeSet<&str> = self
            .ranks
            .values()
            .filter_map(|(_, gpu)| gpu.name.as_deref())
            .collect();
        out.fact("rows", self.rows);
        out.fact("ranks", self.ranks.len());
        out.fact("devices", names.into_iter().collect::<Vec<_>>());
        out.fact(
            "largest",
            self.largest.map_or(Value::Null, |l| json!([l.0, l.1, l.2])),
        );
        out.fact("peak_busbw", self.peak);
        out.fact("avg_line", self.average);
        let failed = self
            .bounds
            .as_ref()
            .filter(|(count, word)| word != "OK" || count != "0")
            .map(|(count, word)| format!("{count} {word}"));
        if let Some(detail) = failed {
            out.problem("out_of_bounds", "NCCL", detail);
        } else if self.wrong > 0 {
            let detail = format!("{} wrong elements in the table", self.wrong);
            out.problem("out_of_bounds", "NCCL", detail);
        }
        out.fact(
            "out_of_bounds",
            self.bounds.map_or(Value::Null, |(a, b)| json!([a, b])),
        );
        // a bus bandwidth of nothing at a megabyte and more: each rank ran for itself
        if self.peak == Some(0.0) && self.largest.is_some_and(|(bytes, ..)| bytes >= 1 << 20) {
            let detail = "bus bandwidth 0 at all sizes: no rank found another";
            out.problem("no_communication", "NCCL", detail);
        }
        if self.rows > 0 && self.average.is_none() {
            let detail = "no line of the average: the run or the paste ended early";
            out.problem("incomplete_capture", "file", detail);
        }
        // indices repeat from machine to machine: a list of GPUs makes sense of one only
        let hosts: BTreeSet<&str> = self.ranks.values().map(|(h, _)| h.as_str()).collect();
        if hosts.len() == 1 {
            let gpus = self.ranks.into_values().map(|(_, gpu)| gpu);
            out.reading.gpus = gpus.take(MAX_GPUS).collect();
        }
    }
}

/// Size, count, type, sometimes an operation and a root, then twice (or once) time, two bandwidths and, unless
/// switched off, errors.
fn row(line: &str) -> Option<Row> {
    let mut before: [Option<u64>; 2] = [None, None];
    let mut words = labelled::untagged(line).split_whitespace();
    // a row has few words; a line of megabytes is none
    let mut looked = 0;
    let bytes = loop {
        let word = words.next()?;
        looked += 1;
        match before {
            [Some(bytes), Some(_)] if TYPES.contains(&word) => break bytes,
            _ if looked > 8 => return None,
            _ => before = [before[1], word.parse().ok()],
        }
    };
    let rest: Vec<&str> = words.take(12).collect();
    // the operation is a word, blank for some tests
    let figures = match rest.first() {
        Some(w) if w.parse::<f64>().is_err() => &rest[1..],
        _ => &rest[..],
    };
    // with a root or without: groups of four from the end, of three where errors are not counted
    let (start, width) = match figures.len() {
        8 | 9 => (figures.len() - 8, 4),
        6 | 7 => (figures.len() - 6, 3),
        4 | 5 => (figures.len() - 4, 4),
        _ => return None,
    };
    let groups: Vec<&[&str]> = figures[start..].chunks(width).collect();
    let number = |w: &str| w.parse::<f64>().ok().filter(|n| n.is_finite());
    let wrong = |g: &&[&str]| g.get(3).and_then(|w| w.parse::<u64>().ok());
    let busbw = |g: &[&str]| number(g[2]);
    // time and bandwidths are numbers or the whole group is absent
    let sound = |g: &&[&str]| g[..3].iter().all(|w| number(w).is_some() || *w == "N/A");
    groups.iter().all(sound).then(|| Row {
        bytes,
        out_of_place: groups.first().and_then(|g| busbw(g)),
        in_place: groups.get(1).and_then(|g| busbw(g)),
        wrong: groups.iter().filter_map(wrong).sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn rows_of_all_widths() {
        let cell = |line: &str| row(line).map(|r| (r.bytes, r.out_of_place, r.in_place, r.wrong));
        let full = "n1: 8 2 float sum -1 9.0 1.5 2.5 0 9 1.25 3.5 4";
        assert_eq!(cell(full), Some((8, Some(2.5), Some(3.5), 4)));
        let blank = "8 2 float 9.0 1.5 2.5 N/A 9 1.25 3.5 N/A";
        assert_eq!(cell(blank), Some((8, Some(2.5), Some(3.5), 0)));
        let unchecked = "8 2 half sum 0 9.0 1.5 2.5 9 1.25 3.5";
        assert_eq!(cell(unchecked), Some((8, Some(2.5), Some(3.5), 0)));
        let no_in_place = "8 2 half none -1 9.0 1.5 2.5 0 N/A N/A N/A N/A";
        assert_eq!(cell(no_in_place), Some((8, Some(2.5), None, 0)));
        assert_eq!(cell("8 2 float sum -1 9.0 1.5"), None);
    }
}
