//! Where each number of one option comes from: `plan --explain RANK`.

use super::view::gpu_label;
use crate::{Cell, Column, Report, Table, Texts, Tone};
use lessee_model::plan::{BillDoc, OptionDoc, PlanDoc, WorkDoc};
use lessee_model::{Confidence, Msg};

/// The derivation of an option's speed, duration and bill. `None` if there is no such rank.
pub fn explain_report(doc: &PlanDoc, rank: u32, texts: &Texts) -> Option<Report> {
    let option = doc.options.iter().find(|o| o.rank == rank)?;
    let data = serde_json::to_value(option).unwrap_or_default();
    let mut report = Report::new(
        texts.msg(&Msg::new("explain-title").arg("rank", rank)),
        data,
        "bill",
    );
    report.heading(format!("#{rank} {} x {}", option.nodes, option.offer.key));
    report.list(machine_lines(option, texts));

    report.heading(texts.get("explain-speed"));
    report.table(term_table(&option.work, texts));
    report.list(speed_lines(&option.work, option.interruptions, texts));

    if let Some(spot) = &option.spot {
        report.heading(texts.get("plan-spot"));
        report.list(super::spot::lines(spot, texts));
    }

    report.heading(texts.get("explain-memory"));
    report.list(memory_lines(&option.work, texts));

    report.heading(texts.get("explain-bill"));
    report.table(bill_table(&option.bill, texts, true));
    report.list(vec![option.bill.months.text.clone()]);
    report.list(source_lines(&option.bill, texts));
    if !option.warnings.is_empty() {
        report.heading(texts.get("plan-warnings"));
        report.list(option.warnings.iter().map(|w| w.text.clone()).collect());
    }
    Some(report)
}

fn machine_lines(o: &OptionDoc, texts: &Texts) -> Vec<String> {
    let unknown = || texts.get("unknown");
    let number = |x: Option<f64>| x.map_or_else(unknown, |x| texts.number(x));
    vec![
        texts.msg(
            &Msg::new("explain-machine")
                .arg("gpu", gpu_label(&o.offer.gpu))
                .arg("vcpus", number(o.offer.vcpus))
                .arg("ram", number(o.offer.memory_gib))
                .arg("link", o.offer.interconnect.clone().unwrap_or_else(unknown))
                .arg("network", number(o.offer.network_gbps)),
        ),
        texts.msg(
            &Msg::new("explain-price")
                .arg("price", texts.unit_price(o.offer.price_per_hour))
                .arg("purchase", texts.term("purchase", o.purchase.as_str()))
                .arg("source", texts.source(&o.offer.price_source))
                .arg(
                    "date",
                    o.offer.price_as_of.map_or_else(unknown, |d| d.to_string()),
                )
                .arg(
                    "confidence",
                    texts.term("confidence", confidence_code(o.offer.confidence)),
                ),
        ),
    ]
}

pub(super) fn confidence_code(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Verified => "verified",
        Confidence::Secondary => "secondary",
        Confidence::General => "general",
        Confidence::Unverified => "unverified",
    }
}

pub(crate) fn term_table(w: &WorkDoc, texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::left("term", texts.get("explain-col-term"), 0),
        Column::right("value", texts.get("explain-col-value"), 0),
        Column::left("formula", texts.get("explain-col-formula"), 0),
        Column::left("source", texts.get("explain-col-source"), 2),
    ]);
    for t in &w.terms {
        table.push(vec![
            Cell::new(texts.term("term", &t.name)).raw(t.name.clone()),
            Cell::new(format!(
                "{} {}",
                texts.number(t.value),
                texts.term_unit(&t.unit)
            ))
            .raw(t.value.to_string()),
            Cell::new(t.formula.clone()),
            Cell::new(texts.source(&t.source))
                .raw(t.source.clone())
                .tone(Tone::Dim),
        ]);
    }
    table
}

fn speed_lines(w: &WorkDoc, interruptions: f64, texts: &Texts) -> Vec<String> {
    vec![
        rate_line(w, texts),
        texts.msg(
            &Msg::new("explain-duration")
                .seconds("median", w.duration_seconds)
                .seconds("p90", w.duration_p90_seconds)
                .arg("interruptions", interruptions),
        ),
        layout_line(w, texts),
    ]
}

pub(crate) fn rate_line(w: &WorkDoc, texts: &Texts) -> String {
    texts.msg(
        &Msg::new("explain-rate")
            .arg("rate", texts.number(w.per_second))
            .arg("low", texts.number(w.low))
            .arg("high", texts.number(w.high))
            .arg("unit", texts.term("unit", w.unit.as_str()))
            .arg("bound", texts.term("bound", w.bound_by.as_str())),
    )
}

pub(crate) fn layout_line(w: &WorkDoc, texts: &Texts) -> String {
    texts.msg(
        &Msg::new("explain-layout")
            .arg("dp", w.layout.data_parallel)
            .arg("tp", w.layout.tensor_parallel)
            .arg("pp", w.layout.pipeline_parallel)
            .arg("zero", u32::from(w.layout.zero_stage))
            .arg("batch", w.layout.batch),
    )
}

pub(crate) fn memory_lines(w: &WorkDoc, texts: &Texts) -> Vec<String> {
    let m = &w.memory;
    let parts = [
        ("memory-weights", m.weights),
        ("memory-gradients", m.gradients),
        ("memory-optimizer", m.optimizer),
        ("memory-activations", m.activations),
        ("memory-kv-cache", m.kv_cache),
        ("memory-overhead", m.overhead),
    ];
    let mut lines: Vec<String> = parts
        .into_iter()
        .filter(|(_, bytes)| *bytes > 0.0)
        .map(|(id, bytes)| format!("{}: {}", texts.get(id), texts.bytes(bytes)))
        .collect();
    lines.push(
        texts.msg(
            &Msg::new("memory-sum")
                .bytes("total", m.total())
                .bytes("usable", m.usable),
        ),
    );
    lines
}

/// The bill; with `sources` each line carries the number of its footnote.
pub(super) fn bill_table(bill: &BillDoc, texts: &Texts, sources: bool) -> Table {
    let mut columns = vec![
        Column::left("kind", texts.get("bill-col-kind"), 1),
        Column::left("what", texts.get("bill-col-what"), 0),
        Column::right("quantity", texts.get("bill-col-quantity"), 0),
        Column::right("unit_price", texts.get("bill-col-unit-price"), 0),
        Column::right("amount", texts.get("bill-col-amount"), 0),
        Column::left("basis", texts.get("bill-col-basis"), 2),
    ];
    if sources {
        columns.push(Column::right("note", texts.get("bill-col-note"), 0));
    }
    let notes = footnotes(bill);
    let mut table = Table::new(columns);
    for l in &bill.lines {
        let quantity: f64 = l.quantity.parse().unwrap_or(0.0);
        let amount = match (l.amount, l.low, l.high) {
            (Some(m), _, _) => Cell::new(texts.money(m)).raw(m.exact()),
            (None, Some(low), Some(high)) if low.to_cents() == high.to_cents() => {
                Cell::new(format!("? {}", texts.money(high))).tone(Tone::Warn)
            }
            (None, Some(low), Some(high)) => {
                Cell::new(format!("? {} .. {}", low.to_cents(), texts.money(high))).tone(Tone::Warn)
            }
            _ => Cell {
                below: String::new(),
                text: "?".to_owned(),
                raw: String::new(),
                tone: Tone::Warn,
            },
        };
        let mut row = vec![
            Cell::new(texts.term("line", l.kind.as_str())).raw(l.kind.as_str()),
            Cell::new(l.what.clone()),
            Cell::new(format!(
                "{} {}",
                texts.number(quantity),
                texts.term("per", &l.unit.replace(' ', "-"))
            ))
            .raw(l.quantity.clone()),
            l.unit_price.map_or_else(Cell::unknown, |m| {
                Cell::new(texts.unit_price(m)).raw(m.exact())
            }),
            amount,
            Cell::new(texts.term("basis", basis_code(l.basis))).raw(basis_code(l.basis)),
        ];
        if sources {
            let index = notes
                .iter()
                .position(|n| *n == footnote(l))
                .map_or(0, |i| i + 1);
            row.push(Cell::new(format!("[{index}]")));
        }
        table.push(row);
    }
    for total in &bill.totals {
        let mut row = vec![
            Cell::new(texts.get("bill-total"))
                .raw("total")
                .tone(Tone::Strong),
            Cell::new(if bill.at_least {
                texts.get("bill-at-least")
            } else {
                String::new()
            }),
            Cell::new(""),
            Cell::new(""),
            Cell::new(texts.money(*total))
                .raw(total.exact())
                .tone(Tone::Strong),
            Cell::new(""),
        ];
        if sources {
            row.push(Cell::new(""));
        }
        table.push(row);
    }
    table
}

fn basis_code(basis: lessee_model::Basis) -> &'static str {
    use lessee_model::Basis;
    match basis {
        Basis::Measured => "measured",
        Basis::Quoted => "quoted",
        Basis::Published => "published",
        Basis::Modelled => "modelled",
        Basis::Assumed => "assumed",
    }
}

fn footnote(line: &lessee_model::plan::LineDoc) -> (String, String, Confidence) {
    (
        line.source.clone(),
        line.as_of.map(|d| d.to_string()).unwrap_or_default(),
        line.confidence,
    )
}

fn footnotes(bill: &BillDoc) -> Vec<(String, String, Confidence)> {
    let mut notes = Vec::new();
    for line in &bill.lines {
        let note = footnote(line);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

fn source_lines(bill: &BillDoc, texts: &Texts) -> Vec<String> {
    let mut lines: Vec<String> = footnotes(bill)
        .into_iter()
        .enumerate()
        .map(|(i, (source, date, confidence))| {
            format!(
                "[{}] {} {date} ({})",
                i + 1,
                texts.source(&source),
                texts.term("confidence", confidence_code(confidence))
            )
        })
        .collect();
    for line in &bill.lines {
        if let Some(reason) = &line.reason {
            lines.push(format!("{}: {reason}", line.what));
        }
    }
    lines
}
