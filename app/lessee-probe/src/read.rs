//! `probe read FILE...`: captures, one after the other.

use crate::{Answer, ProbeFailure, ProbeReadArgs, input};
use lessee_model::{Exit, Msg};
use lessee_probe_io::read::{Gpu, MAX_INPUT_BYTES, Read, captures, read};
use lessee_probe_io::screen::is_picture;
use lessee_report::{Cell, Column, Report, Table, Texts, Tone};
use serde_json::Value;

/// Facts, links and lines that people are shown of one capture; programs get all.
const SHOWN: usize = 24;

pub(crate) fn run(args: &ProbeReadArgs, texts: &Texts) -> Result<Answer, ProbeFailure> {
    let mut reads = Vec::with_capacity(args.files.len());
    let mut pictures = false;
    for path in &args.files {
        let bytes = input::bytes(path, MAX_INPUT_BYTES as u64)?;
        let file = path.display().to_string();
        pictures |= is_picture(&bytes);
        let all = captures(&bytes);
        let n = all.len();
        for (i, capture) in all.iter().enumerate() {
            let title = match n {
                1 => file.clone(),
                _ => format!("{file} ({} / {n})", i + 1),
            };
            reads.push((file.clone(), title, read(capture)));
        }
    }
    let data: Vec<Value> = reads.iter().map(|(file, _, r)| element(file, r)).collect();
    let mut report = Report::new(texts.get("probe-read-title"), Value::Array(data), "");
    for (_, title, read) in reads.iter().take(SHOWN) {
        show(&mut report, title, read, texts);
    }
    if let Some(left) = more(reads.len(), texts) {
        report.text(left);
    }
    if pictures {
        report.text(texts.get("probe-read-picture"));
    }
    let known = reads.iter().any(|(_, _, r)| r.kind.is_some());
    Ok(Answer {
        report,
        exit: if known { Exit::Done } else { Exit::CannotTell },
    })
}

/// One element of the JSON array: the file, then what was read.
fn element(file: &str, read: &Read) -> Value {
    let mut element = serde_json::Map::new();
    element.insert("file".to_owned(), Value::from(file));
    if let Ok(Value::Object(rest)) = serde_json::to_value(read) {
        element.extend(rest);
    }
    Value::Object(element)
}

fn show(report: &mut Report, file: &str, read: &Read, texts: &Texts) {
    let Some(kind) = read.kind else {
        report.heading(file);
        report.text(texts.get("probe-read-unknown"));
        return;
    };
    report.heading(format!("{file}: {}", kind.as_str()));
    let reading = &read.reading;
    let versions = [
        ("probe-driver", &reading.driver),
        ("probe-cuda", &reading.cuda),
    ];
    let said: Vec<String> = versions
        .iter()
        .filter_map(|(id, v)| {
            let version = v.as_ref()?.clone();
            Some(texts.msg(&Msg::new(id).arg("version", version)))
        })
        .collect();
    report.list(said);
    if !reading.gpus.is_empty() {
        report.table(gpus(&reading.gpus, texts));
    }
    if !reading.links.is_empty() {
        let mut by_type: Vec<(&str, usize)> = Vec::new();
        for link in &reading.links {
            match by_type.iter_mut().find(|(t, _)| *t == link.kind) {
                Some((_, n)) => *n += 1,
                None => by_type.push((&link.kind, 1)),
            }
        }
        let links = by_type.iter().map(|(t, n)| format!("{n} x {t}"));
        let list = links.collect::<Vec<_>>().join(", ");
        report.text(texts.msg(&Msg::new("probe-links").arg("list", list)));
    }
    if reading.problems.is_empty() {
        report.text(texts.get("probe-no-problem"));
    } else {
        let problems = reading.problems.iter().take(SHOWN);
        let mut lines: Vec<String> = problems
            .map(|p| format!("{}: {} ({})", p.subject, p.detail, p.code))
            .collect();
        lines.extend(more(reading.problems.len(), texts));
        report.text(texts.get("probe-problems"));
        report.list(lines);
    }
    let mut facts: Vec<String> = read
        .facts
        .iter()
        .filter(|(_, v)| !v.is_object() && !v.is_array())
        .take(SHOWN)
        .map(|(k, v)| format!("{k}: {}", plain(v)))
        .collect();
    let nested = read.facts.len() - facts.len();
    if nested > 0 && !facts.is_empty() {
        facts.push(texts.msg(&Msg::new("probe-more-facts").arg("n", nested)));
    }
    report.list(facts);
    let unread = read.not_understood.len() + read.not_understood_left_out as usize;
    if unread > 0 {
        report.text(texts.msg(&Msg::new("probe-not-understood").arg("n", unread)));
        let lines = read.not_understood.iter().take(SHOWN / 4);
        report.list(lines.map(|l| format!("{}: {}", l.line, l.text)).collect());
    }
}

fn more(all: usize, texts: &Texts) -> Option<String> {
    let left = all.saturating_sub(SHOWN);
    (left > 0).then(|| texts.msg(&Msg::new("probe-more").arg("n", left)))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

/// What no GPU states has no column.
fn gpus(gpus: &[Gpu], texts: &Texts) -> Table {
    let number = |x: Option<f64>| {
        x.map_or_else(Cell::unknown, |x| {
            Cell::new(texts.number(x)).raw(x.to_string())
        })
    };
    let index = |place: usize, gpu: &Gpu| Cell::new(gpu.index.unwrap_or(place as u32).to_string());
    let name = |gpu: &Gpu| gpu.name.clone().map_or_else(Cell::unknown, Cell::new);
    let right = |key, id, rank| Column::right(key, texts.get(id), rank);
    let left = |key, id, rank| Column::left(key, texts.get(id), rank);
    let cells = |of: &dyn Fn(&Gpu) -> Cell| gpus.iter().map(of).collect::<Vec<Cell>>();
    let places = gpus.iter().enumerate().map(|(i, g)| index(i, g)).collect();
    let mut columns: Vec<(Column, Vec<Cell>)> = vec![
        (right("index", "probe-col-index", 0), places),
        (left("name", "probe-col-name", 0), cells(&name)),
        (
            right("memory_total_mib", "probe-col-memory", 0),
            cells(&|g| number(g.memory_total_mib.map(|m| m as f64))),
        ),
        (
            right("power_limit_w", "probe-col-power", 1),
            cells(&|g| limit(g, texts)),
        ),
        (left("pcie", "probe-col-pcie", 1), cells(&pcie)),
        (
            right("temperature_c", "probe-col-temperature", 3),
            cells(&|g| number(g.temperature_c)),
        ),
        (
            right("utilisation_percent", "probe-col-utilisation", 2),
            cells(&|g| number(g.utilisation_percent)),
        ),
        (
            right("ecc_uncorrectable", "probe-col-ecc", 1),
            cells(&errors),
        ),
    ];
    columns.retain(|(_, cells)| cells.iter().any(|c| !c.raw.is_empty()));
    let mut table = Table::new(columns.iter().map(|(c, _)| c.clone()).collect());
    for row in 0..gpus.len() {
        table.push(
            columns
                .iter()
                .map(|(_, cells)| cells[row].clone())
                .collect(),
        );
    }
    table
}

fn errors(gpu: &Gpu) -> Cell {
    let errors = gpu
        .ecc_uncorrectable_aggregate
        .or(gpu.ecc_uncorrectable_volatile);
    errors.map_or_else(Cell::unknown, |n| {
        let tone = if n > 0 { Tone::Bad } else { Tone::Plain };
        Cell::new(n.to_string()).tone(tone)
    })
}

/// A limit below the one the card was delivered with is less than was bought.
fn limit(gpu: &Gpu, texts: &Texts) -> Cell {
    let Some(limit) = gpu.power_limit_w else {
        return Cell::unknown();
    };
    match gpu.default_power_limit_w.filter(|d| limit < *d) {
        Some(default) => {
            let text = format!("{} < {}", texts.number(limit), texts.number(default));
            Cell::new(text).raw(limit.to_string()).tone(Tone::Warn)
        }
        None => Cell::new(texts.number(limit)).raw(limit.to_string()),
    }
}

/// Generation and lanes now, and at most where that is more.
fn pcie(gpu: &Gpu) -> Cell {
    let one = |generation: Option<u32>, width: Option<u32>| {
        let parts = [
            generation.map(|g| g.to_string()),
            width.map(|w| format!("x{w}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    };
    let now = one(gpu.pcie_gen, gpu.pcie_width);
    let most = one(gpu.pcie_gen_max, gpu.pcie_width_max);
    match (now, most) {
        (Some(now), Some(most)) if now != most => Cell::new(format!("{now} / {most}")),
        (Some(now), _) => Cell::new(now),
        (None, Some(most)) => Cell::new(format!("– / {most}")),
        (None, None) => Cell::unknown(),
    }
}
