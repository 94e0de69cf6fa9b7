//! Whole tables of measurements: what a row asks, and the answer with its range.
//!
//! Start at [`question`] (row -> numbers, names understood) and [`answer`] (numbers -> value and range). The
//! files of this folder sort rows by column set and metric; the formulas are in `formula`.

pub(crate) mod blender;
mod converge;
mod inference;
mod links;
pub(crate) mod llm_training;
mod names;
mod render;
mod row;
pub(crate) mod served_renter;
pub(crate) mod served_tuned;
mod single_stream;
mod training;
mod vision_inference;
mod vision_training;

pub use row::{Row, TableKind};

use crate::formula::Question;
use crate::{NoFit, PerfContext};
use lessee_model::{GpuSpec, ModelTable, Msg};

/// What a row may be looked up in.
#[derive(Clone, Copy)]
pub struct TableContext<'a> {
    pub perf: PerfContext<'a>,
    pub models: &'a ModelTable,
}

/// A predicted value of a row, in the row's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    pub family: &'static str,
    pub predicted: f64,
    /// Between `low` and `high` lie 80 % of measured values.
    pub low: f64,
    pub high: f64,
}

/// What the row's `metric` asks of its GPU.
///
/// # Errors
/// `no_spec`, `not_a_gpu`, `no_rate`, `model_unsuitable`, `unknown_metric`, `missing_value`, `altered_run`, `does_not_fit`: why the row cannot
/// be predicted.
pub fn question(row: &Row, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    match row.table {
        TableKind::Inference => inference::question(row, cx),
        TableKind::Training => training::question(row, cx),
        TableKind::Render => render::question(row, cx),
    }
}

/// The answer with its range.
///
/// # Errors
/// Those of [`question`], and `no_anchor` where the family only scales from runs of the same workload and the
/// calibration has none, and `out_of_range` for numbers beyond any machine.
pub fn answer(row: &Row, cx: TableContext<'_>) -> Result<Answer, NoFit> {
    let asked = question(row, cx)?;
    let calibration = &cx.perf.tables.calibration;
    let predicted = asked.answer(calibration);
    if !(predicted.is_finite() && predicted > 0.0) {
        return Err(NoFit::new(
            "no_anchor",
            Msg::new("perf-no-anchor").arg("workload", asked.anchor().unwrap_or(&row.model)),
        ));
    }
    let [low, high] = calibration.range(
        asked.as_ref(),
        cx.perf.tables.coefficients.range.unseen_architecture,
    );
    let (low, high) = (predicted * low, predicted * high);
    if !(low > 0.0 && high.is_finite()) {
        return Err(NoFit::new(
            "out_of_range",
            Msg::new("perf-out-of-range").arg("metric", row.metric.as_str()),
        ));
    }
    Ok(Answer {
        family: asked.family(),
        predicted,
        low,
        high,
    })
}

/// The data sheet that a row's GPU name means, in any spelling that [`question`] understands.
pub fn data_sheet<'a>(row: &Row, cx: TableContext<'a>) -> Option<&'a GpuSpec> {
    names::gpu(&row.gpu, cx).ok()
}

/// The row names a metric that no formula answers.
pub(crate) fn unknown_metric(row: &Row) -> NoFit {
    NoFit::new(
        "unknown_metric",
        Msg::new("perf-unknown-metric").arg("metric", row.metric.as_str()),
    )
}
