//! Rows of training tables by metric.

use super::{Row, TableContext, unknown_metric};
use crate::NoFit;
use crate::formula::Question;

/// # Errors
/// See [`super::question`].
pub(super) fn question(row: &Row, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    match row.metric.as_str() {
        "allreduce_ms" | "host_to_device_gbs" | "device_copy_gbs" => {
            super::links::question(row, cx)
        }
        "tokens_s_per_gpu" | "model_tflops_per_gpu" | "mfu_pct" => {
            super::llm_training::question(row, cx)
        }
        _ if super::converge::is_benchmark(&row.model) => super::converge::question(row, cx),
        "train_throughput" => super::vision_training::throughput(row, cx),
        "matmul_tflops" => super::vision_training::matrix_product(row, cx),
        "time_to_train_min" | "tracked_throughput" | "samples_to_converge" => {
            super::vision_training::benchmark(row, cx)
        }
        _ => Err(unknown_metric(row)),
    }
}
