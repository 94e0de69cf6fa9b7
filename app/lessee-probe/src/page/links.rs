//! Copies between GPUs: a matrix, from the row to the column.

use super::rows::{figure, number, reason};
use lessee_model::probe::{AllReduceReading, LinkReading, Reading};
use lessee_model::{Msg, ProbeReport};
use lessee_report::{Cell, Column, Report, Table, Texts, Tone};

/// Columns have fixed keys; more GPUs than these are told by their kinds alone.
const KEYS: [&str; 16] = [
    "to_0", "to_1", "to_2", "to_3", "to_4", "to_5", "to_6", "to_7", "to_8", "to_9", "to_10",
    "to_11", "to_12", "to_13", "to_14", "to_15",
];

pub(super) fn section(report: &mut Report, doc: &ProbeReport, texts: &Texts) {
    if doc.links.is_empty() {
        // the model of a machine with one GPU has nothing to wait for, and that is an answer
        if let Some(model) = &doc.model {
            report.text(model.text.clone());
        }
        return;
    }
    report.heading(texts.get("probe-links-title"));
    if let Some(wiring) = &doc.wiring {
        report.text(wiring.text.clone());
    }
    report.list(kinds(&doc.links, texts));
    // a matrix of dashes says no more than the line above it
    let told = |l: &LinkReading| {
        let wrong = l.ways.iter().filter_map(|w| w.data.value());
        l.gbs.measured().is_some() || wrong.clone().any(|d| d.wrong > 0)
    };
    let tried = doc.links.iter().any(told);
    let gpus: Vec<u32> = doc.gpus.iter().map(|g| g.index).collect();
    if tried && gpus.len() <= KEYS.len() {
        report.table(matrix(&doc.links, &gpus, texts));
    }
    if let Some(reading) = &doc.all_reduce_bus_gbs {
        report.text(all_reduce(reading, doc.all_reduce.as_ref(), texts));
    }
    if let Some(model) = &doc.model {
        report.text(model.text.clone());
    }
}

/// With its method, without which the figure says little.
fn all_reduce(reading: &Reading, made: Option<&AllReduceReading>, texts: &Texts) -> String {
    let line = match reading {
        Reading::Measured { value, .. } | Reading::Claimed { value } => {
            Msg::new("probe-all-reduce").arg("gbs", number(*value, texts).text)
        }
        Reading::Unknown { reason: why } | Reading::Failed { reason: why } => {
            Msg::new("probe-all-reduce-not").arg("why", reason(why, texts))
        }
    };
    let mut line = texts.msg(&line);
    let mut more = |msg: &Msg| {
        line.push(' ');
        line.push_str(&texts.msg(msg));
    };
    let Some(made) = made else {
        return line;
    };
    let n = made.gpus.len();
    match made.method.as_deref() {
        Some("nccl") => {
            let version = made.nccl_version.clone().unwrap_or_default();
            more(
                &Msg::new("probe-sum-nccl")
                    .arg("n", n)
                    .arg("version", version),
            );
        }
        Some("ring over peer copies") => more(&Msg::new("probe-sum-ring").arg("n", n)),
        Some("ring through host memory") => more(&Msg::new("probe-sum-host").arg("n", n)),
        _ => {}
    }
    if let Some(why) = &made.nccl_not_used {
        more(&Msg::new("probe-sum-no-nccl").arg("why", why.clone()));
    }
    if made.may_exceed_links {
        more(&Msg::new("probe-sum-switches"));
    }
    line
}

/// How many pairs are joined by what, and how fast they are.
fn kinds(links: &[LinkReading], texts: &Texts) -> Vec<String> {
    let mut kinds: Vec<&str> = Vec::new();
    for link in links {
        if !kinds.contains(&link.kind.as_str()) {
            kinds.push(&link.kind);
        }
    }
    let line = |kind: &&str| {
        let of = links.iter().filter(|l| l.kind == **kind);
        let line = Msg::new("probe-links-kind")
            .arg("kind", texts.term("probe-link", kind))
            .arg("n", of.clone().count())
            .arg("rate", rates(of, texts));
        texts.msg(&line)
    };
    kinds.iter().map(line).collect()
}

/// From the slowest to the fastest, or why there is none.
fn rates<'a>(links: impl Iterator<Item = &'a LinkReading> + Clone, texts: &Texts) -> String {
    let measured = links.clone().filter_map(|l| l.gbs.measured());
    let low = measured.clone().fold(f64::INFINITY, f64::min);
    let high = measured.clone().fold(0.0, f64::max);
    let text = |x: f64| number(x, texts).text;
    if measured.count() == 0 {
        let mut reasons = links.filter_map(|l| l.gbs.reason());
        return reason(reasons.next().unwrap_or("not_tried"), texts);
    }
    let rates = match text(low) == text(high) {
        true => Msg::new("probe-links-same").arg("gbs", text(high)),
        false => Msg::new("probe-links-range")
            .arg("low", text(low))
            .arg("high", text(high)),
    };
    texts.msg(&rates)
}

fn matrix(links: &[LinkReading], gpus: &[u32], texts: &Texts) -> Table {
    let title = |i: u32| i.to_string();
    let mut columns = vec![Column::right("gpu", texts.get("probe-col-from-to"), 0)];
    columns.extend(
        gpus.iter()
            .zip(KEYS)
            .map(|(i, key)| Column::right(key, title(*i), 0)),
    );
    let mut table = Table::new(columns);
    for from in gpus {
        let mut row = vec![Cell::new(title(*from))];
        for to in gpus {
            row.push(cell(links, *from, *to, texts));
        }
        table.push(row);
    }
    table
}

fn cell(links: &[LinkReading], from: u32, to: u32, texts: &Texts) -> Cell {
    if from == to {
        return Cell::new("·").raw("");
    }
    let pair = links
        .iter()
        .find(|l| (l.a, l.b) == (from.min(to), from.max(to)));
    let Some(pair) = pair else {
        return Cell::unknown();
    };
    let Some(way) = pair.ways.iter().find(|w| (w.from, w.to) == (from, to)) else {
        return figure(&pair.gbs, texts);
    };
    match way.data.value() {
        Some(data) if data.wrong > 0 => Cell::new(texts.term("probe-kernel", "wrong"))
            .raw("wrong")
            .tone(Tone::Bad),
        _ => figure(&way.gbs, texts),
    }
}
