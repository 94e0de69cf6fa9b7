//! What was promised beside what was seen, and figures beside what is usual for the model.

use super::rows::number;
use lessee_model::probe::{ExpectedRow, Kept, Promised, Usual};
use lessee_model::{Msg, ProbeReport};
use lessee_report::{Cell, Column, Report, Table, Texts, Tone};

pub(super) fn section(report: &mut Report, doc: &ProbeReport, texts: &Texts) {
    let Some(judged) = &doc.judged else {
        return;
    };
    if let Some(promised) = &judged.promised {
        let title = Msg::new("probe-promised-title").arg("offer", promised.offer.clone());
        report.heading(texts.msg(&title));
        report.table(of_offer(promised, texts));
    }
    if !judged.expected.is_empty() {
        report.heading(texts.get("probe-expected-title"));
        report.table(of_models(&judged.expected, texts));
    }
}

fn of_offer(promised: &Promised, texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::left("what", texts.get("probe-col-what"), 0),
        Column::right("promised", texts.get("probe-col-promised"), 0),
        Column::right("seen", texts.get("probe-col-seen"), 0),
        Column::left("outcome", texts.get("probe-col-outcome"), 0),
    ]);
    for row in &promised.rows {
        let tone = match row.outcome {
            Kept::Kept => Tone::Good,
            Kept::Broken => Tone::Bad,
            Kept::NotSeen => Tone::Warn,
            Kept::NotAsked | Kept::NotMeasured => Tone::Dim,
        };
        table.push(vec![
            Cell::new(texts.term("probe-promise", &row.what)).raw(row.what.clone()),
            row.promised.clone().into(),
            row.seen.clone().map_or_else(Cell::unknown, Cell::new),
            Cell::new(texts.term("probe-kept", row.outcome.as_str()))
                .raw(row.outcome.as_str())
                .tone(tone),
        ]);
    }
    table
}

fn of_models(rows: &[ExpectedRow], texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::left("metric", texts.get("probe-col-what"), 0),
        Column::left("subject", texts.get("probe-col-lowest"), 1),
        Column::right("measured", texts.get("probe-col-measured"), 0),
        Column::left("unit", texts.get("probe-col-unit"), 1),
        Column::right("floor", texts.get("probe-col-floor"), 0),
        Column::right("usual", texts.get("probe-col-usual"), 0),
        Column::left("outcome", texts.get("probe-col-outcome"), 0),
    ]);
    let figure = |x: Option<f64>| x.map_or_else(Cell::unknown, |x| number(x, texts));
    for row in rows {
        let tone = match row.outcome {
            Usual::Usual => Tone::Good,
            Usual::BelowUsual => Tone::Warn,
            Usual::BelowFloor => Tone::Bad,
            Usual::NoExpectation => Tone::Dim,
        };
        let usual = match (row.low, row.typical, row.high) {
            (Some(low), _, Some(high)) => {
                let text = |x| number(x, texts).text;
                Cell::new(format!("{} - {}", text(low), text(high)))
            }
            (low, typical, high) => figure(typical.or(low).or(high)),
        };
        table.push(vec![
            Cell::new(texts.term("probe-metric", &row.metric)).raw(row.metric.clone()),
            row.subject.clone().into(),
            number(row.measured, texts),
            row.unit.clone().into(),
            figure(row.floor),
            usual,
            Cell::new(texts.term("probe-usual", row.outcome.as_str()))
                .raw(row.outcome.as_str())
                .tone(tone),
        ]);
    }
    table
}
