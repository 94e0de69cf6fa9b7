//! `nvidia-smi dmon`: a row a GPU and second, the header again every so many rows.

use super::smi_error;
use crate::read::device::MAX_GPUS;
use crate::read::{Gpu, Read, source::Source, value};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Most columns; all groups together have about 60.
const MAX_COLUMNS: usize = 256;

/// Columns of which one at least is there beside `gpu`.
const KNOWN: [&str; 18] = [
    "pwr", "gtemp", "temp", "mtemp", "sm", "mem", "enc", "dec", "mclk", "pclk", "pviol", "tviol",
    "fb", "bar1", "sbecc", "dbecc", "rxpci", "txpci",
];

/// Columns that state how long clocks were held back, and the problem.
const THROTTLES: [(&str, &str); 2] = [("pviol", "throttled_power"), ("tviol", "throttled_thermal")];

/// Columns of a header line, or units of the line after it.
fn heading(line: &str) -> Option<Vec<&str>> {
    let rest = line.trim().strip_prefix('#')?;
    let words: Vec<&str> = words(rest).take(MAX_COLUMNS + 1).collect();
    (words.len() <= MAX_COLUMNS).then_some(words)
}

/// Words between blanks, or between commas as `--format csv` prints them.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_whitespace() || c == ',')
        .filter(|w| !w.is_empty())
}

fn is_header(columns: &[&str]) -> bool {
    columns.contains(&"gpu")
        // `pmon` has a process a row
        && !columns.contains(&"pid")
        && columns.iter().any(|c| KNOWN.contains(c))
}

pub(crate) fn recognise(source: &Source) -> bool {
    source
        .head_lines()
        .any(|line| heading(line).is_some_and(|c| is_header(&c)))
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let mut columns: Vec<&str> = Vec::new();
    let mut units: Option<Vec<&str>> = None;
    let mut rows = 0u64;
    let mut last: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    let mut first: Option<Vec<&str>> = None;
    let mut throttled: BTreeMap<(u32, &str), (&str, f64)> = BTreeMap::new();
    for (number, line) in source.lines() {
        if let Some(words) = heading(line) {
            if is_header(&words) && (columns.is_empty() || words == columns) {
                columns = words;
            } else if !columns.is_empty() && words.len() == columns.len() {
                units.get_or_insert(words);
            } else if !value::is_noise(line) {
                out.not_understood(number, line);
            }
            continue;
        }
        let cells: Vec<&str> = words(line).take(MAX_COLUMNS + 1).collect();
        let gpu = columns.iter().position(|c| *c == "gpu");
        let index = gpu
            .and_then(|g| cells.get(g))
            .and_then(|c| c.parse::<u32>().ok());
        match index {
            Some(index) if cells.len() == columns.len() => {
                rows += 1;
                first.get_or_insert_with(|| cells.clone());
                for (column, code) in THROTTLES {
                    let cell = columns
                        .iter()
                        .position(|c| **c == *column)
                        .map(|at| cells[at]);
                    let most = cell.and_then(value::number).filter(|n| *n > 0.0);
                    if let Some(most) = most.filter(|_| throttled.len() < MAX_GPUS) {
                        let entry = throttled.entry((index, column)).or_insert((code, most));
                        entry.1 = entry.1.max(most);
                    }
                }
                if last.len() < MAX_GPUS || last.contains_key(&index) {
                    last.insert(index, cells);
                }
            }
            _ if value::is_noise(line) || smi_error::take(line, out) => {}
            _ => out.not_understood(number, line),
        }
    }
    if let Some((_, text)) = last_line(source)
        && rows > 0
        && (1..columns.len()).contains(&words(text).take(MAX_COLUMNS).count())
        && words(text).all(|w| w.starts_with(|c: char| c.is_ascii_digit() || c == '-'))
    {
        out.problem("incomplete_capture", "file", "the last row breaks off");
    }
    for (index, cells) in &last {
        out.reading.gpus.push(gpu(*index, &columns, cells));
    }
    for ((index, column), (code, most)) in throttled {
        out.problem(
            code,
            format!("GPU{index}"),
            format!("{column} up to {most}"),
        );
    }
    out.fact("columns", columns);
    out.fact("units", units.map_or(Value::Null, |u| json!(u)));
    out.fact("rows", rows);
    if let Some(first) = first {
        out.fact("first", first);
    }
    out.fact("dash_means", "not available");
}

fn last_line<'a>(source: &'a Source) -> Option<(u64, &'a str)> {
    source.lines().filter(|(_, l)| !l.trim().is_empty()).last()
}

/// The GPU as its last row has it.
fn gpu(index: u32, columns: &[&str], cells: &[&str]) -> Gpu {
    let cell = |name: &str| {
        let at = columns.iter().position(|c| *c == name)?;
        cells.get(at).copied().filter(|c| !value::is_none(c))
    };
    Gpu {
        index: Some(index),
        power_draw_w: cell("pwr").and_then(value::number),
        temperature_c: cell("gtemp")
            .or_else(|| cell("temp"))
            .and_then(value::number),
        utilisation_percent: cell("sm").and_then(value::number),
        memory_used_mib: cell("fb").and_then(value::whole),
        memory_clock_mhz: cell("mclk").and_then(value::small),
        sm_clock_mhz: cell("pclk").and_then(value::small),
        ecc_uncorrectable_volatile: cell("dbecc").and_then(value::whole),
        ..Gpu::default()
    }
}
