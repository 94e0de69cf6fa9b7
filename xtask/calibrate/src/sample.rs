//! Rows that a formula answers, with what was measured.

use crate::load::LoadedRow;
use lessee_catalog::Facts;
use lessee_perf::PerfContext;
use lessee_perf::formula::Question;
use lessee_perf::table::{TableContext, data_sheet, question};

pub(crate) struct Sample {
    pub(crate) asked: Box<dyn Question>,
    pub(crate) measured: f64,
    /// Name of the data sheet, or the table's spelling where it names none.
    pub(crate) gpu: String,
    pub(crate) model: String,
    /// Bytes of a message, samples of a step; empty where the row has none.
    pub(crate) size: String,
}

impl Sample {
    pub(crate) fn family(&self) -> &str {
        self.asked.family()
    }
}

/// A row that no formula answers.
pub(crate) struct Refusal {
    pub(crate) file: String,
    pub(crate) code: &'static str,
    pub(crate) what: String,
}

pub(crate) fn sort(rows: &[LoadedRow], facts: &Facts) -> (Vec<Sample>, Vec<Refusal>) {
    let perf = PerfContext {
        gpus: &facts.gpus,
        tables: &facts.perf,
        measured: None,
        detail: false,
    };
    let cx = TableContext {
        perf,
        models: &facts.models,
    };
    let mut samples = Vec::new();
    let mut refused = Vec::new();
    for LoadedRow { file, row } in rows {
        let mut refuse = |code: &'static str, what: &str| {
            refused.push(Refusal {
                file: file.clone(),
                code,
                what: what.to_owned(),
            });
        };
        match (question(row, cx), row.value) {
            (Err(why), _) => {
                let what = match why.code {
                    "no_spec" | "not_a_gpu" | "no_rate" => &row.gpu,
                    "unknown_metric" => &row.metric,
                    _ => &row.model,
                };
                refuse(why.code, what);
            }
            (Ok(_), None) => refuse("no_value", &row.metric),
            (Ok(_), Some(value)) if value <= 0.0 => refuse("zero_value", &row.metric),
            (Ok(asked), Some(measured)) => {
                samples.push(Sample {
                    asked,
                    measured,
                    gpu: data_sheet(row, cx)
                        .map_or_else(|| row.gpu.clone(), |s| s.name.to_string()),
                    model: row.model.clone(),
                    size: row.global_batch.map(|x| x.to_string()).unwrap_or_default(),
                });
            }
        }
    }
    (samples, refused)
}
