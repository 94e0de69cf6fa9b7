//! nvbandwidth 0.2 and later: `-j` or text. Figures are GB/s (1e9 bytes), of latency tests ns.
//!
//! A test that the machine cannot run is "waived" without a word of why: no peer access between the GPUs looks just
//! like that. A killed run leaves a test at "Running", a failed start leaves an `error` and no tests.

use crate::read::{Gpu, Read, json, labelled, source::Source, value};
use serde_json::{Map, Value, json};

/// The tests that `summary` shows; all are in `tests`.
const HEADLINES: [&str; 5] = [
    "host_to_device_memcpy_ce",
    "device_to_host_memcpy_ce",
    "device_to_device_memcpy_read_ce",
    "all_to_host_memcpy_ce",
    "device_local_copy",
];

pub(crate) fn recognise(source: &Source) -> bool {
    let head = source.head();
    [
        "\"nvbandwidth\"",
        "\"bandwidth_matrix\"",
        "nvbandwidth Version:",
        "memcpy CE CPU(row)",
        "memcpy SM CPU(row)",
        "memcpy CE GPU(row)",
        "memcpy SM GPU(row)",
        "memcpy local GPU(column)",
    ]
    .iter()
    .any(|mark| head.contains(mark))
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let tests = if source.head().contains("\"nvbandwidth\"") {
        from_json(source, out)
    } else {
        from_text(source, out)
    };
    finish(&tests, out);
}

/// Most GPUs that are listed.
const MAX_GPUS: usize = 1024;
/// Most tests of a run; nvbandwidth has some forty.
const MAX_TESTS: usize = 4096;

/// One test of a run.
#[derive(Default)]
struct Test {
    name: String,
    status: String,
    /// Smallest and greatest cell that holds a number.
    range: Option<(f64, f64)>,
    /// How many cells hold one.
    cells: u64,
    sum: Option<f64>,
}

impl Test {
    fn cell(&mut self, value: f64) {
        let (min, max) = self.range.unwrap_or((value, value));
        self.range = Some((min.min(value), max.max(value)));
        self.cells += 1;
    }
}

fn from_json(source: &Source, out: &mut Read) -> Vec<Test> {
    let found = json::find(&source.text, &mut |number, line| {
        super::unread(number, line, out);
    });
    found.say(out);
    let mut tests = Vec::new();
    let runs = found.documents.iter().filter_map(|d| d.get("nvbandwidth"));
    for run in runs {
        let text = |key: &str| run.get(key).and_then(Value::as_str);
        out.fact("driver", text("Driver Version"));
        out.reading.driver = text("Driver Version").map(str::to_owned);
        if let Some(cuda) = run.get("CUDA Runtime Version").and_then(Value::as_u64) {
            runtime(cuda, out);
        }
        if let Some(version) = text("version").filter(|v| !v.is_empty()) {
            out.fact("version", version);
        }
        if let Some(error) = text("error") {
            failed(error, out);
        }
        let devices = run.get("GPU Device list").and_then(Value::as_array);
        for device in devices.into_iter().flatten().filter_map(Value::as_str) {
            match device.split_once(':').and_then(|(i, d)| gpu(i, d)) {
                Some(gpu) if out.reading.gpus.len() < MAX_GPUS => out.reading.gpus.push(gpu),
                Some(_) => {}
                None => out.not_understood(0, device),
            }
        }
        let cases = run.get("testcases").and_then(Value::as_array);
        tests.extend(cases.into_iter().flatten().map(test_of_json));
        tests.truncate(MAX_TESTS);
    }
    tests
}

fn test_of_json(case: &Value) -> Test {
    let text = |key: &str| case.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut test = Test {
        name: text("name").to_owned(),
        status: text("status").to_owned(),
        sum: case.get("sum").and_then(figure),
        ..Test::default()
    };
    let rows = case.get("bandwidth_matrix").and_then(Value::as_array);
    let cells = rows.into_iter().flatten().filter_map(Value::as_array);
    for value in cells.flatten().filter_map(figure) {
        test.cell(value);
    }
    test
}

/// A number, or one in quotes as in most versions.
fn figure(cell: &Value) -> Option<f64> {
    let number = cell.as_f64().or_else(|| cell.as_str()?.trim().parse().ok());
    number.filter(|n| n.is_finite())
}

fn from_text(source: &Source, out: &mut Read) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    let mut unnamed_waived = 0u64;
    for (number, line) in source.lines() {
        let line = labelled::untagged(line).trim();
        if line.is_empty() {
            continue;
        }
        let words = || line.split_whitespace();
        let full = tests.len() >= MAX_TESTS;
        let running = tests.last_mut().filter(|t| t.status == "Running");
        if full && line.starts_with("Running ") {
            super::unread(number, line, out);
        } else if let Some(name) = line.strip_prefix("Running ") {
            tests.push(Test {
                name: name.trim_end_matches('.').to_owned(),
                status: "Running".to_owned(),
                ..Test::default()
            });
        } else if line.starts_with("Waived") {
            match running {
                // one with figures is another: those are waived without being named
                Some(test) if test.cells == 0 => "Waived".clone_into(&mut test.status),
                _ => unnamed_waived += 1,
            }
        } else if let Some(sum) = line.strip_prefix("SUM ") {
            let (name, sum) = sum.rsplit_once(' ').unwrap_or((sum, ""));
            let sum = sum.parse::<f64>().ok().filter(|s| s.is_finite());
            match (running, sum) {
                (Some(test), Some(_)) if test.name == name.trim() => {
                    "Passed".clone_into(&mut test.status);
                    test.sum = sum;
                }
                // the lines above were cut off
                (None, Some(_)) if !full => tests.push(Test {
                    name: name.trim().to_owned(),
                    status: "Passed".to_owned(),
                    sum,
                    ..Test::default()
                }),
                _ => super::unread(number, line, out),
            }
        } else if line.contains("CUDA_ERROR_") || line.starts_with("ERROR") {
            if let Some(test) = running {
                "Error".clone_into(&mut test.status);
            }
            failed(line, out);
        } else if words().all(|w| value::whole(w).is_some() && !w.contains('.')) {
            // the numbers of the columns
        } else if let Some(cells) = row(line) {
            match running {
                Some(test) => cells.into_iter().for_each(|c| test.cell(c)),
                None => super::unread(number, line, out),
            }
        } else if !head_line(line, source.is_open(number), out) {
            super::unread(number, line, out);
        }
    }
    if !out.reading.gpus.is_empty() {
        out.fact("gpus", out.reading.gpus.len());
        if let Some(name) = out.reading.gpus[0].name.clone() {
            out.fact("name", name);
        }
    }
    if unnamed_waived > 0 {
        out.fact("waived_unnamed", unnamed_waived);
        let detail = format!("{unnamed_waived} tests waived, which ones is not printed");
        out.problem("test_waived", "tests", detail);
    }
    for test in &tests {
        if let Some(sum) = test.sum {
            out.fact(&format!("{}_sum", test.name), sum);
        }
    }
    tests
}

/// ` 0    369.36    N/A`: the numbers of a row of a matrix.
fn row(line: &str) -> Option<Vec<f64>> {
    let mut words = line.split_whitespace();
    words.next()?.parse::<u32>().ok()?;
    let mut cells = Vec::new();
    for word in words {
        match word.parse::<f64>() {
            Ok(cell) if cell.is_finite() => cells.push(cell),
            _ if value::is_none(word) => {}
            _ => return None,
        }
    }
    Some(cells)
}

/// Lines that describe the run; `false`: not one of them.
fn head_line(line: &str, open: bool, out: &mut Read) -> bool {
    let known = [
        "Built from",
        "MPI version",
        "Additional system-specific",
        "NOTE:",
        "Performance can vary",
        "memcpy ",
        "memory latency",
        "Device to Device",
        "COEFFICIENT_OF_VARIATION",
        "Coefficient",
    ];
    let Some((key, text)) = labelled::split(line) else {
        return known.iter().any(|k| line.starts_with(k)) || line.ends_with("(GB/s)");
    };
    match key {
        "nvbandwidth Version" => {
            out.fact("format", format!("text {text}"));
            out.fact("version", text);
        }
        "CUDA Runtime Version" => match cuda_number(text) {
            Some(cuda) => runtime(cuda, out),
            None => return false,
        },
        "CUDA Driver Version" | "CUDA Driver Version (API)" => {
            out.reading.cuda = cuda_number(text).and_then(version);
        }
        "Driver Version" => {
            out.fact("driver", text);
            out.reading.driver = Some(text.to_owned());
        }
        _ => {
            // `Device 0: NAME (BUS)`, in runs over several nodes `Process 0 (HOST): device 0: NAME (BUS)`
            let device = match key.starts_with("Process ") {
                true => labelled::split(text),
                false => Some((key, text)),
            };
            let gpu = device.and_then(|(key, text)| {
                let index = key
                    .strip_prefix("Device ")
                    .or(key.strip_prefix("device "))?;
                gpu(index, text)
            });
            match gpu {
                // without the address behind it a name may be half of one
                Some(gpu) if open && gpu.bus_id.is_none() => return false,
                Some(gpu) if out.reading.gpus.len() < MAX_GPUS => out.reading.gpus.push(gpu),
                Some(_) => {}
                None => return known.iter().any(|k| line.starts_with(k)),
            }
        }
    }
    true
}

/// `NAME (BUS): (HOST)`; the host's name is not kept.
fn gpu(index: &str, text: &str) -> Option<Gpu> {
    let is_bus = |g: &str| {
        g.contains(':')
            && g.bytes()
                .all(|b| b.is_ascii_hexdigit() || matches!(b, b':' | b'.'))
    };
    let found = text
        .match_indices(" (")
        .take(8)
        .filter_map(|(at, _)| Some((&text[..at], text[at + 2..].split_once(')')?.0)))
        .find(|(_, group)| is_bus(group));
    // versions before 0.5 print the name alone
    let (name, bus) = found.map_or((text, None), |(name, bus)| (name, Some(bus)));
    Some(Gpu {
        index: Some(index.trim().parse().ok()?),
        name: Some(name.trim().to_owned()),
        bus_id: bus.map(str::to_owned),
        ..Gpu::default()
    })
}

/// `12060`, since 0.10 `12.6 (12060)`.
fn cuda_number(text: &str) -> Option<u64> {
    let inner = text.split_once('(').and_then(|(_, t)| t.strip_suffix(')'));
    inner.unwrap_or(text).trim().parse().ok()
}

/// 12060 is 12.6.
fn version(number: u64) -> Option<String> {
    (number >= 1000).then(|| format!("{}.{}", number / 1000, number % 1000 / 10))
}

fn runtime(number: u64, out: &mut Read) {
    out.fact("cuda_rt", number);
    if out.reading.cuda.is_none() {
        out.reading.cuda = version(number);
    }
}

fn failed(error: &str, out: &mut Read) {
    if !out.facts.contains_key("error") {
        out.fact("error", error);
    }
    let name = error.split(['[', ']']).find(|w| w.starts_with("CUDA_"));
    // this one error has one cause on machines with NVSwitch
    let code = match name {
        Some("CUDA_ERROR_SYSTEM_NOT_READY") => "fabric_manager",
        _ => "cuda_error",
    };
    out.problem(code, name.unwrap_or("CUDA"), error.trim());
}

fn finish(tests: &[Test], out: &mut Read) {
    if tests.is_empty() {
        return;
    }
    let mut status = Map::new();
    let (mut summary, mut all) = (Map::new(), Map::new());
    for test in tests {
        let entry = status.entry(&test.status);
        if test.status == "Passed" {
            let passed = entry.or_insert(json!(0));
            *passed = json!(passed.as_u64().unwrap_or(0) + 1);
        } else if let Value::Array(names) = entry.or_insert(json!([])) {
            names.push(json!(test.name));
        }
        if let Some((min, max)) = test.range {
            let figures = json!({"min": min, "max": max, "n": test.cells});
            if HEADLINES.contains(&test.name.as_str()) {
                summary.insert(test.name.clone(), figures.clone());
            }
            all.insert(test.name.clone(), figures);
        }
        match test.status.as_str() {
            "Passed" | "Waived" => {}
            "Running" => out.problem("run_incomplete", &test.name, "the run ended in this test"),
            other => out.problem("test_error", &test.name, other),
        }
    }
    if let Some(Value::Array(waived)) = status.get("Waived") {
        let names: Vec<&str> = waived.iter().filter_map(Value::as_str).collect();
        let peers = names.iter().any(|n| n.starts_with("device_to_device"));
        let subject = if peers { "peer access" } else { "tests" };
        let detail = format!("{} waived: {}", names.len(), names.join(" "));
        out.problem("test_waived", subject, detail);
    }
    out.fact("status", status);
    out.fact("summary", summary);
    out.fact("tests", all);
}
