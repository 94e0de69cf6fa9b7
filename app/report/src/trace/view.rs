//! `trace import` and `trace show` for people.

use super::doc::{RecordDoc, TraceImportDoc, TraceListDoc, TraceRemarkDoc, TraceShowDoc};
use super::stats::name;
use super::{charts, strip};
use crate::{Cell, Column, Head, Report, Table, Texts};
use lessee_model::Msg;
use lessee_spot::stats::spans;
use lessee_spot::trace::{Record, Series};
use unicode_width::UnicodeWidthStr as _;

/// Records of a table for people; the formats for programs have all.
const SHOWN: usize = 60;
/// Columns of the strips, names and all.
const COLUMNS: usize = 79;

fn share(share: Option<f64>) -> Cell {
    share.map_or_else(Cell::unknown, |s| {
        Cell::new(format!("{:.1} %", s * 100.0)).raw(s.to_string())
    })
}

fn seconds(s: Option<i64>, texts: &Texts) -> Cell {
    s.map_or_else(Cell::unknown, |s| {
        Cell::new(texts.seconds(s as f64)).raw(s.to_string())
    })
}

fn records(docs: &[RecordDoc], texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::left("zone", texts.get("trace-col-zone"), 0),
        Column::left("machine", texts.get("trace-col-machine"), 1),
        Column::left("kind", texts.get("trace-col-kind"), 0),
        Column::left("start", texts.get("trace-col-start"), 2),
        Column::right("span_seconds", texts.get("trace-col-span"), 0),
        Column::right("entries", texts.get("trace-col-entries"), 1),
        Column::right("asked", texts.get("trace-col-asked"), 3),
        Column::right("available_share", texts.get("trace-col-available"), 0),
        Column::right("unknown_seconds", texts.get("trace-col-unknown"), 1),
        Column::machines("source", texts.get("trace-col-source")),
    ]);
    for d in docs {
        let text = |t: &Option<String>| t.clone().map_or_else(Cell::unknown, Cell::new);
        table.push(vec![
            Cell::new(d.zone.clone()),
            text(&d.machine),
            Cell::new(texts.term("trace-kind", &d.kind)).raw(d.kind.clone()),
            text(&d.start),
            seconds(d.span_seconds, texts),
            Cell::new(texts.number(d.entries as f64)).raw(d.entries.to_string()),
            d.asked
                .map_or_else(Cell::unknown, |n| Cell::new(n.to_string())),
            share(d.available_share),
            seconds(d.unknown_seconds.filter(|s| *s > 0), texts),
            Cell::new(d.source.clone()),
        ]);
    }
    headed(table)
}

/// Marks a long table: a table for people shows its first rows.
pub(super) fn headed(mut table: Table) -> Table {
    if table.rows.len() > SHOWN {
        table.head = Some(Head {
            shown: SHOWN,
            total: table.rows.len(),
            by_flag: false,
        });
    }
    table
}

/// Remarks by zone; what is said of many zones is said once.
pub(super) fn remarks(report: &mut Report, remarks: &[TraceRemarkDoc], texts: &Texts) {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for r in remarks {
        match lines.iter_mut().find(|(text, _)| *text == r.text) {
            Some((_, zones)) => zones.push(r.zone.clone()),
            None => lines.push((r.text.clone(), vec![r.zone.clone()])),
        }
    }
    if lines.is_empty() {
        return;
    }
    report.heading(texts.get("trace-remarks"));
    let line = |(text, mut zones): (String, Vec<String>)| {
        zones.retain(|z| !z.is_empty());
        zones.dedup();
        match zones.len() {
            0 => text,
            1..=6 => format!("{}: {text}", zones.join(", ")),
            n => {
                let more = Msg::new("trace-and-more")
                    .arg("zones", zones[..5].join(", "))
                    .arg("n", n - 5);
                format!("{}: {text}", texts.msg(&more))
            }
        }
    };
    report.list(lines.into_iter().map(line).collect());
}

/// What was read, and where it was kept.
pub fn import_report(doc: &TraceImportDoc, texts: &Texts) -> Report {
    let data = serde_json::to_value(doc).unwrap_or_default();
    let mut report = Report::new(texts.get("trace-import-title"), data, "traces");
    let docs: Vec<RecordDoc> = doc.traces.iter().flat_map(|t| t.records.clone()).collect();
    report.table(records(&docs, texts));
    let all: Vec<TraceRemarkDoc> = doc.traces.iter().flat_map(|t| t.remarks.clone()).collect();
    remarks(&mut report, &all, texts);
    for t in &doc.traces {
        let said = match &t.saved {
            Some(saved) => Msg::new("trace-saved")
                .arg("name", saved.name.clone())
                .arg("n", t.records.len())
                .arg("file", saved.file.clone()),
            None => Msg::new("trace-not-saved").arg("file", t.file.clone()),
        };
        report.text(texts.msg(&said));
        if !t.skipped.is_empty() {
            report.text(texts.msg(&Msg::new("trace-skipped").arg("n", t.skipped.len())));
        }
    }
    report
}

/// The user's own traces.
pub fn list_report(doc: &TraceListDoc, folder: &str, texts: &Texts) -> Report {
    let data = serde_json::to_value(doc).unwrap_or_default();
    let mut report = Report::new(texts.get("trace-list-title"), data, "traces");
    if doc.traces.is_empty() {
        report.text(texts.msg(&Msg::new("trace-list-none").arg("folder", folder)));
        return report;
    }
    let mut table = Table::new(vec![
        Column::left("name", texts.get("trace-col-name"), 0),
        Column::right("records", texts.get("trace-col-records"), 0),
        Column::left("formats", texts.get("trace-col-format"), 0),
        Column::left("imported_at", texts.get("trace-col-imported"), 1),
        Column::left("source", texts.get("trace-col-source"), 2),
        Column::machines("file", texts.get("trace-col-file")),
    ]);
    for t in &doc.traces {
        table.push(vec![
            Cell::new(t.name.clone()),
            Cell::new(t.records.to_string()),
            Cell::new(t.formats.join(", ")),
            Cell::new(t.imported_at.clone()),
            Cell::new(t.source.clone()),
            Cell::new(t.file.clone()),
        ]);
    }
    report.table(table);
    report.text(texts.msg(&Msg::new("trace-list-where").arg("folder", folder)));
    report
}

/// Records and their strips; in HTML and SVG the chart in place of the strips.
pub fn show_report(doc: &TraceShowDoc, all: &[&Record], gang: u32, texts: &Texts) -> Report {
    let data = serde_json::to_value(doc).unwrap_or_default();
    let mut report = Report::new(texts.get("trace-show-title"), data, "records");
    report.table(records(&doc.records, texts));
    let series: Vec<&Series> = all
        .iter()
        .filter_map(|r| match r {
            Record::Series(s) => Some(s),
            _ => None,
        })
        .collect();
    if !series.is_empty() {
        report.heading(texts.get("trace-strips"));
        report.terminal(strips(&series, gang, texts));
    }
    if let Some(chart) = charts::strip_chart(all, Some(gang), None, texts) {
        report.chart(chart);
    }
    remarks(&mut report, &doc.remarks, texts);
    if !doc.skipped.is_empty() {
        report.text(texts.msg(&Msg::new("trace-skipped").arg("n", doc.skipped.len())));
    }
    report
}

/// One line a zone on a common axis of time, and what the characters mean.
pub(super) fn strips(series: &[&Series], gang: u32, texts: &Texts) -> String {
    let shown = &series[..series.len().min(SHOWN)];
    let short = |s: &Series| crate::chart::shortened(&name(&s.about), 26);
    let left = shown.iter().map(|s| short(s).width()).max().unwrap_or(0);
    let columns = COLUMNS.saturating_sub(left + 2).max(10);
    // dates only where all have them, as in the chart
    let zero = shown.iter().map(|s| s.start).collect::<Option<Vec<i64>>>();
    let zero = zero.and_then(|z| z.into_iter().min());
    let offset = |s: &Series| zero.and_then(|z| Some(s.start? - z)).unwrap_or(0);
    let spans: Vec<_> = shown.iter().map(|s| spans(s, gang)).collect();
    let end = shown
        .iter()
        .zip(&spans)
        .filter_map(|(s, sp)| Some(sp.last()?.to_s + offset(s)))
        .max();
    let end = end.unwrap_or(1);
    let mut out = String::new();
    for (s, spans) in shown.iter().zip(&spans) {
        let label = short(s);
        let pad = " ".repeat(left - label.width().min(left));
        let line = strip::strip(spans, -offset(s), end - offset(s), columns);
        out.push_str(&format!("{label}{pad}  {}\n", line.trim_end()));
    }
    let from = zero.map_or_else(|| "0".to_owned(), crate::chart::rfc3339);
    let to = zero.map_or_else(
        || texts.seconds(end as f64),
        |z| crate::chart::rfc3339(z + end),
    );
    let room = columns.saturating_sub(from.width() + to.width()).max(1);
    out.push_str(&format!(
        "{}{from}{}{to}\n",
        " ".repeat(left + 2),
        " ".repeat(room)
    ));
    let [full, most, half, some, none, unknown] = strip::MARKS;
    let marks = Msg::new("trace-strip-marks")
        .arg("full", full.to_string())
        .arg("most", most.to_string())
        .arg("half", half.to_string())
        .arg("some", some.to_string())
        .arg("none", none.to_string())
        .arg("unknown", unknown.to_string());
    out.push_str(&texts.msg(&marks));
    out.push('\n');
    out
}
