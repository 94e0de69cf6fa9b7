//! STREAM in three dialects: the C or Fortran original and BabelStream (a line a kernel, MB/s of 1e6 bytes),
//! superbench's GPU STREAM (GB/s), and a memory benchmark's CSV with `bandwidth_mb_s`.

use crate::read::{Gpu, Read, labelled, source::Source, value};
use serde_json::{Map, Value, json};

const KERNELS: [&str; 7] = ["Copy", "Scale", "Mul", "Add", "Triad", "Dot", "Nstream"];

pub(crate) fn recognise(source: &Source) -> bool {
    let head = source.head();
    // names of superbench's rows
    if head.contains("STREAM_TRIAD_") || head.contains("STREAM_COPY_") {
        return true;
    }
    if header(head).is_some() {
        return true;
    }
    let kernels = head.lines().filter(|l| kernel(l).is_some()).count();
    kernels >= 2 || (head.contains("STREAM version") && head.contains("Array size"))
}

/// The header of the CSV dialect.
fn header(text: &str) -> Option<&str> {
    let first = text.lines().map(str::trim).find(|l| !l.is_empty())?;
    let has = |name: &str| first.split(',').any(|c| c.trim() == name);
    (has("operation") && has("bandwidth_mb_s")).then_some(first)
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    match header(source.head()) {
        Some(header) => table(source, header, out),
        None => text(source, out),
    }
}

fn text(source: &Source, out: &mut Read) {
    // of superbench: kernel -> best GB/s over all GPUs and block sizes
    let mut best: Map<String, Value> = Map::new();
    let mut validated = None;
    for (number, line) in source.lines() {
        let line = labelled::untagged(line).trim();
        if line.is_empty() || line.bytes().all(|b| b == b'-') {
            continue;
        }
        if let Some((name, rate)) = kernel(line) {
            out.fact(name, rate);
        } else if let Some((name, rate)) = gpu_row(line) {
            let known = best.get(name).and_then(Value::as_f64);
            if known.is_none_or(|k| rate > k) {
                best.insert(name.to_owned(), json!(rate));
            }
        } else if line.starts_with("Device ") && line.matches('"').count() == 2 {
            device(line, out);
        } else if line.contains("Failed Validation") || line.contains("Validation failed") {
            if validated != Some(false) {
                out.problem("validation_failed", "STREAM", line);
            }
            validated = Some(false);
        } else if line.starts_with("Solution Validates") {
            validated.get_or_insert(true);
        } else if let Some(name) = line.strip_prefix("Using CUDA device ")
            && !source.is_open(number)
        {
            out.fact("device", name.trim());
            out.reading.gpus.push(gpu(None, name.trim()));
        } else if !NOTES.iter().any(|n| line.contains(n)) {
            super::unread(number, line, out);
        }
    }
    for (name, rate) in best {
        out.fact(&format!("{}_best", name.to_lowercase()), rate);
    }
    if let Some(validated) = validated {
        out.fact("validated", validated);
    }
}

/// `Copy:          342008.3     0.018755     0.018713     0.018895`, MB/s first; without a colon in BabelStream.
fn kernel(line: &str) -> Option<(&'static str, f64)> {
    let mut words = labelled::untagged(line).split_whitespace();
    let word = words.next()?;
    let name = word.strip_suffix(':').unwrap_or(word);
    let name = KERNELS.iter().find(|k| **k == name)?;
    let mut figures = words.map(|w| w.parse::<f64>().ok().filter(|n| n.is_finite()));
    let rate = figures.next()??;
    let times = figures.by_ref().take(3).flatten().count();
    (times == 3 && figures.next().is_none()).then_some((*name, rate))
}

/// `STREAM_TRIAD_double_gpu_0_buffer_4294967296_block_256    7414.01 90.50`: GB/s, then per cent of the peak.
fn gpu_row(line: &str) -> Option<(&str, f64)> {
    let mut words = line.split_whitespace();
    let name = words.next()?.strip_prefix("STREAM_")?;
    let rate: f64 = words.next()?.parse().ok()?;
    let (kernel, _) = name.split_once('_')?;
    let known = KERNELS.iter().any(|k| k.eq_ignore_ascii_case(kernel));
    (known && rate.is_finite()).then_some((kernel, rate))
}

/// `Device 0: "NAME"  152 SMs(10.0)  Memory: 4000MHz x 8192-bit = 8192 GB/s PEAK   ECC is ON`.
fn device(line: &str, out: &mut Read) {
    let mut quoted = line.split('"');
    let index = quoted
        .next()
        .and_then(|t| value::small(t.trim_start_matches("Device")));
    let name = quoted.next().unwrap_or_default();
    let rest = quoted.next().unwrap_or_default();
    if out.reading.gpus.len() < 256 {
        let mut gpu = gpu(index, name);
        if let Some((_, ecc)) = rest.split_once("ECC is ") {
            gpu.ecc = match ecc.split_whitespace().next() {
                Some("ON") => Some(true),
                Some("OFF") => Some(false),
                _ => None,
            };
        }
        out.reading.gpus.push(gpu);
    }
    // all devices of a run are described; the facts are of the first
    if out.facts.contains_key("device") {
        return;
    }
    out.fact("device", name);
    if let Some(sms) = rest.split_once("SMs").and_then(|(t, _)| value::whole(t)) {
        out.fact("sms", sms);
    }
    let peak = rest.split_once(" GB/s PEAK").map(|(t, _)| t);
    let peak = peak.and_then(|t| t.rsplit(' ').next());
    // as printed: a whole number stays one
    match peak.map(|p| (p.parse::<u64>(), p.parse::<f64>())) {
        Some((Ok(whole), _)) => out.fact("peak_gbs", whole),
        Some((_, Ok(peak))) if peak.is_finite() => out.fact("peak_gbs", peak),
        _ => {}
    }
}

fn gpu(index: Option<u32>, name: &str) -> Gpu {
    Gpu {
        index,
        name: Some(name.to_owned()),
        ..Gpu::default()
    }
}

/// Words of the lines that describe a run.
const NOTES: [&str; 35] = [
    "STREAM",
    "Init:",
    "Read:",
    "This system uses",
    "Array size",
    "Memory per array",
    "Total memory",
    "Total size",
    "Each kernel will be",
    "The *best* time",
    "will be used to compute",
    "Number of Threads",
    "clock granularity",
    "Each test below",
    "clock ticks",
    "Increase the size",
    "you are not getting",
    "WARNING",
    "For best results",
    "precision of your",
    "Function",
    "Buffer size",
    "warm up runs",
    "Number of loops",
    "Check data",
    "BabelStream",
    "Version:",
    "Implementation:",
    "Running kernels",
    "Precision:",
    "Driver:",
    "Memory:",
    "Reduction",
    "the bandwidth",
    "Using ",
];

/// One row a size and operation; the columns as named.
fn table(source: &Source, header: &str, out: &mut Read) {
    let columns: Vec<&str> = header.split(',').map(str::trim).collect();
    let at = |name: &str| columns.iter().position(|c| *c == name);
    let (Some(operation), Some(bandwidth)) = (at("operation"), at("bandwidth_mb_s")) else {
        return;
    };
    let (size, latency) = (at("size_kb"), at("latency_ns"));
    let (mut rows, mut largest) = (0u64, None);
    let mut at_largest = Map::new();
    for (number, line) in source.lines().filter(|(_, l)| !l.trim().is_empty()) {
        if line.trim() == header {
            continue;
        }
        let cells: Vec<&str> = line.split(',').map(str::trim).take(64).collect();
        let cell = |at: usize| cells.get(at).and_then(|c| value::number(c));
        if cells.len() != columns.len() || cell(bandwidth).is_none() {
            super::unread(number, line, out);
            continue;
        }
        rows += 1;
        let bytes = size.and_then(|s| cells[s].parse::<u64>().ok());
        if bytes > largest {
            largest = bytes;
            at_largest.clear();
        }
        if bytes == largest && at_largest.len() < 64 {
            // bandwidth 0 stands in the rows of latency, and the other way round
            let figure = match (cells[operation], latency.and_then(cell)) {
                ("latency", Some(ns)) => json!(ns),
                _ => json!(cell(bandwidth)),
            };
            // rows repeat their few operations
            match at_largest.get_mut(cells[operation]) {
                Some(known) => *known = figure,
                None => {
                    at_largest.insert(cells[operation].to_owned(), figure);
                }
            }
        }
    }
    out.fact("format", "csv");
    out.fact("columns", columns);
    out.fact("rows", rows);
    out.fact("at_largest", at_largest);
}
