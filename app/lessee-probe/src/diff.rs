//! `probe diff A B`: two machines, or one on two days, side by side.

use crate::page::rows::{number, reason};
use crate::{Answer, Facts, ProbeDiffArgs, ProbeFailure, stored};
use lessee_accept::{DiffFact, DiffRow, DiffSide, DiffValue, ProbeDiff};
use lessee_model::probe::ProbeFinding;
use lessee_model::{Exit, Msg};
use lessee_report::{Cell, Column, Report, Table, Texts, Tone};

/// # Errors
/// A file that is no report.
pub(crate) fn run(
    args: &ProbeDiffArgs,
    facts: Facts<'_>,
    texts: &Texts,
) -> Result<Answer, ProbeFailure> {
    let (a, b) = (stored::read(&args.a)?, stored::read(&args.b)?);
    let name = |path: &std::path::Path| path.display().to_string();
    let (of_a, of_b) = (name(&args.a), name(&args.b));
    let rules = &facts.catalog.judge.rules;
    let doc = lessee_accept::diff((&of_a, &a), (&of_b, &b), rules);
    Ok(Answer {
        report: page(&doc, texts),
        exit: Exit::Done,
    })
}

fn page(doc: &ProbeDiff, texts: &Texts) -> Report {
    let data = serde_json::to_value(doc).unwrap_or_default();
    let mut report = Report::new(texts.get("probe-diff-title"), data, "rows");
    report.list(vec![side("A", &doc.a, texts), side("B", &doc.b, texts)]);
    let matched = match doc.same_gpus {
        true => "probe-diff-by-uuid",
        false => "probe-diff-by-index",
    };
    report.text(texts.get(matched));
    if doc.rows.is_empty() {
        report.text(texts.get("probe-diff-no-figures"));
    } else {
        let marked = doc.rows.iter().filter(|r| r.marked).count();
        let line = Msg::new("probe-diff-marked")
            .arg("n", marked)
            .arg("of", doc.rows.len());
        report.text(texts.msg(&line));
        report.table(table(&doc.rows, texts));
    }
    if !doc.facts.is_empty() {
        report.heading(texts.get("probe-diff-facts"));
        report.list(doc.facts.iter().map(|f| fact(f, texts)).collect());
    }
    findings(&mut report, "probe-diff-gained", &doc.gained, texts);
    findings(&mut report, "probe-diff-lost", &doc.lost, texts);
    report
}

fn side(letter: &str, side: &DiffSide, texts: &Texts) -> String {
    let verdict = match side.verdict {
        Some(verdict) => texts.term("probe-diff-verdict", verdict.as_str()),
        None => texts.term("probe-known", "unknown"),
    };
    let line = Msg::new("probe-diff-side")
        .arg("letter", letter)
        .arg("file", side.file.clone())
        .arg("time", side.measured_at.clone())
        .arg("verdict", verdict);
    texts.msg(&line)
}

fn table(rows: &[DiffRow], texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::left("subject", texts.get("probe-col-subject"), 0),
        Column::left("figure", texts.get("probe-col-what"), 0),
        Column::right("a", "A", 0),
        Column::right("b", "B", 0),
        Column::right("change", texts.get("probe-col-change"), 0),
        Column::right("spread", texts.get("probe-col-spread"), 1),
        Column::left("marked", "", 0),
    ]);
    let percent = |share: Option<f64>, sign: bool| match share {
        None => Cell::unknown(),
        Some(share) => {
            let rounded = (share * 1000.0).round() / 10.0;
            let plus = if sign && rounded > 0.0 { "+" } else { "" };
            let text = format!("{plus}{} %", texts.number(rounded));
            Cell::new(text).raw(share.to_string())
        }
    };
    for row in rows {
        let (mark, tone) = match row.marked {
            true => ("*", Tone::Warn),
            false => ("", Tone::Plain),
        };
        table.push(vec![
            row.subject.clone().into(),
            Cell::new(texts.term("probe-figure", &row.figure)).raw(row.figure.clone()),
            value(&row.a, texts),
            value(&row.b, texts),
            percent(row.change, true).tone(tone),
            percent(row.spread, false),
            Cell::new(mark).tone(tone),
        ]);
    }
    table
}

fn value(value: &DiffValue, texts: &Texts) -> Cell {
    match (value.value, &value.reason) {
        (Some(x), _) => number(x, texts),
        (None, Some(why)) => Cell::new(reason(why, texts)).raw("").tone(Tone::Dim),
        (None, None) => Cell::unknown(),
    }
}

fn fact(fact: &DiffFact, texts: &Texts) -> String {
    let side = |text: &Option<String>| match text {
        Some(text) => text.clone(),
        None => texts.term("probe-known", "unknown"),
    };
    let line = Msg::new("probe-diff-fact")
        .arg("subject", fact.subject.clone())
        .arg("fact", texts.term("probe-fact", &fact.fact))
        .arg("a", side(&fact.a))
        .arg("b", side(&fact.b));
    texts.msg(&line)
}

fn findings(report: &mut Report, title: &'static str, of: &[ProbeFinding], texts: &Texts) {
    if of.is_empty() {
        return;
    }
    report.heading(texts.get(title));
    let line = |f: &ProbeFinding| {
        let weight = texts.term("probe-severity", f.severity.as_str());
        let line = Msg::new("probe-finding")
            .arg("severity", weight)
            .arg("text", f.text.clone());
        texts.msg(&line)
    };
    report.list(of.iter().map(line).collect());
}
