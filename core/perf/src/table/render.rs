//! Rows of render tables by metric.

use super::{Row, TableContext, unknown_metric};
use crate::NoFit;
use crate::formula::Question;

/// # Errors
/// See [`super::question`].
pub(super) fn question(row: &Row, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    match row.metric.as_str() {
        "blender_benchmark_score" => super::blender::question(row, cx),
        _ => Err(unknown_metric(row)),
    }
}
