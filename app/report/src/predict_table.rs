//! A table of measurements with predictions beside them: `predict --table`.

use crate::figures::quantile;
use crate::{Cell, Column, Report, Table, Texts, Tone};
use lessee_model::Msg;
use lessee_model::plan::WarningDoc;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// `predict --table FILE -o json`; with `-o jsonl` each line is one of `rows`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PredictionTableDoc {
    /// `lessee/prediction-table/v1`
    pub schema: String,
    pub file: String,
    /// One line a family of formulas.
    pub families: Vec<FamilyDoc>,
    /// Why rows have no prediction, most frequent first.
    pub refused: Vec<RefusedDoc>,
    pub rows: Vec<PredictedRowDoc>,
}

/// How a family of formulas did on the rows of this table that carry a measured value.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FamilyDoc {
    pub family: String,
    pub predicted: u64,
    /// Of these with a measured value.
    pub measured: u64,
    /// Median of |predicted / measured - 1|; null without measured values.
    pub error_median: Option<f64>,
    /// 90th percentile of the same.
    pub error_p90: Option<f64>,
    /// Share of measured values between low and high.
    pub inside_range: Option<f64>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RefusedDoc {
    pub reason: WarningDoc,
    pub rows: u64,
}

/// One row of the table, in the unit of the row.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PredictedRowDoc {
    /// Line of the file; the header is 1.
    pub line: u64,
    pub gpu: String,
    pub model: String,
    pub metric: String,
    pub unit: String,
    pub measured: Option<f64>,
    pub predicted: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub family: Option<String>,
    /// Why there is no prediction.
    pub reason: Option<WarningDoc>,
}

/// Sums the rows up.
pub fn prediction_table_doc(file: String, rows: Vec<PredictedRowDoc>) -> PredictionTableDoc {
    let mut families: BTreeMap<&str, Vec<&PredictedRowDoc>> = BTreeMap::new();
    let mut reasons: BTreeMap<&str, (&WarningDoc, u64)> = BTreeMap::new();
    for row in &rows {
        if let Some(family) = &row.family {
            families.entry(family).or_default().push(row);
        }
        if let Some(reason) = &row.reason {
            reasons.entry(&reason.text).or_insert((reason, 0)).1 += 1;
        }
    }
    let family_doc = |(family, rows): (&str, Vec<&PredictedRowDoc>)| {
        let pairs: Vec<(f64, &PredictedRowDoc)> = rows
            .iter()
            .filter_map(|r| Some((r.measured.filter(|m| *m > 0.0)?, *r)))
            .collect();
        let mut errors: Vec<f64> = pairs
            .iter()
            .filter_map(|(m, r)| Some((r.predicted? / m - 1.0).abs()))
            .collect();
        errors.sort_by(f64::total_cmp);
        let error = |q| (!errors.is_empty()).then(|| quantile(&errors, q));
        let inside = pairs
            .iter()
            .filter(|(m, r)| r.low.is_some_and(|l| l <= *m) && r.high.is_some_and(|h| *m <= h))
            .count();
        FamilyDoc {
            family: family.to_owned(),
            predicted: rows.len() as u64,
            measured: pairs.len() as u64,
            error_median: error(0.5),
            error_p90: error(0.9),
            inside_range: (!pairs.is_empty()).then(|| inside as f64 / pairs.len() as f64),
        }
    };
    let families = families.into_iter().map(family_doc).collect();
    let mut refused: Vec<RefusedDoc> = reasons
        .into_values()
        .map(|(reason, rows)| RefusedDoc {
            reason: reason.clone(),
            rows,
        })
        .collect();
    refused.sort_by_key(|r| std::cmp::Reverse(r.rows));
    PredictionTableDoc {
        schema: "lessee/prediction-table/v1".to_owned(),
        file,
        families,
        refused,
        rows,
    }
}

/// Reasons that people see; the rest is in the other formats.
const MOST_REASONS: usize = 12;

/// How the families did, and why rows were left out.
pub fn prediction_table_report(doc: &PredictionTableDoc, texts: &Texts) -> Report {
    let data = serde_json::to_value(doc).unwrap_or_default();
    let mut report = Report::new(texts.get("predict-title"), data, "rows");
    let predicted: u64 = doc.families.iter().map(|f| f.predicted).sum();
    report.text(
        texts.msg(
            &Msg::new("predict-table-summary")
                .arg("predicted", predicted as f64)
                .arg("rows", doc.rows.len() as f64),
        ),
    );
    let mut table = Table::new(vec![
        Column::left("family", texts.get("predict-col-family"), 0),
        Column::right("predicted", texts.get("predict-col-rows"), 0),
        Column::right("measured", texts.get("predict-col-measured"), 1),
        Column::right("error_median", texts.get("predict-col-median"), 0),
        Column::right("error_p90", texts.get("predict-col-p90"), 0),
        Column::right("inside_range", texts.get("predict-col-inside"), 0),
    ]);
    let percent = |x: Option<f64>| match x {
        Some(x) => Cell::new(format!("{:.1} %", x * 100.0)).raw(x.to_string()),
        None => Cell::new("-").raw("").tone(Tone::Dim),
    };
    for f in &doc.families {
        table.push(vec![
            Cell::new(f.family.clone()),
            Cell::new(f.predicted.to_string()),
            Cell::new(f.measured.to_string()),
            percent(f.error_median),
            percent(f.error_p90),
            percent(f.inside_range),
        ]);
    }
    report.table(table);
    if !doc.refused.is_empty() {
        report.heading(texts.get("predict-refused-heading"));
        let shown = doc.refused.iter().take(MOST_REASONS);
        report.list(
            shown
                .map(|r| format!("{}: {}", r.rows, r.reason.text))
                .collect(),
        );
        if doc.refused.len() > MOST_REASONS {
            let more: u64 = doc.refused.iter().skip(MOST_REASONS).map(|r| r.rows).sum();
            report.text(texts.msg(&Msg::new("predict-refused-more").arg("rows", more as f64)));
        }
    }
    report.text(texts.get("predict-csv-note"));
    report
}
