//! Ports towards other machines.

use super::rows::number;
use lessee_model::ProbeReport;
use lessee_model::probe::Port;
use lessee_report::{Cell, Column, Report, Table, Texts, Tone};

pub(super) fn section(report: &mut Report, doc: &ProbeReport, texts: &Texts) {
    let Some(fabric) = &doc.fabric else {
        return;
    };
    report.heading(texts.get("probe-ports-title"));
    if fabric.ports.is_empty() {
        report.text(texts.get("probe-ports-none"));
        return;
    }
    let left = |key, id, rank| Column::left(key, texts.get(id), rank);
    let mut table = Table::new(vec![
        left("port", "probe-col-port", 0),
        left("link_layer", "probe-col-layer", 0),
        left("state", "probe-col-status", 0),
        Column::right("rate_gbps", texts.get("probe-col-gbps"), 0),
        left("adapter_type", "probe-col-card", 1),
        left("driver", "probe-col-driver", Column::MACHINES),
        Column::right("errors", texts.get("probe-col-errors"), 0),
    ]);
    for port in &fabric.ports {
        table.push(row(port, texts));
    }
    report.table(table);
}

fn row(port: &Port, texts: &Texts) -> Vec<Cell> {
    let word = |word: &Option<String>| {
        let cell = word.as_ref().map(|w| Cell::new(w.clone()));
        cell.unwrap_or_else(Cell::unknown)
    };
    let active = port.active();
    let errors: u64 = port
        .errors
        .values()
        .fold(0, |sum, n| sum.saturating_add(*n));
    let grown = port.grown.values().any(|n| *n > 0);
    vec![
        Cell::new(port.name()),
        word(&port.link_layer),
        word(&port.state).tone(if active { Tone::Plain } else { Tone::Warn }),
        // of a port that is down it means nothing
        port.rate_gbps
            .filter(|_| active)
            .map_or_else(Cell::unknown, |rate| number(rate, texts)),
        word(&port.adapter_type),
        word(&port.driver),
        match port.errors.is_empty() {
            true => Cell::unknown(),
            false => Cell::new(errors.to_string()).tone(match grown {
                true => Tone::Bad,
                false => Tone::Plain,
            }),
        },
    ]
}
