//! Rows of inference tables by metric.

use super::{Row, TableContext, served_tuned, unknown_metric};
use crate::NoFit;
use crate::formula::Question;
use crate::formula::serve_renter::Asked;

/// # Errors
/// See [`super::question`].
pub(super) fn question(row: &Row, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    match row.metric.as_str() {
        _ if served_tuned::is_mlperf(row, cx) => served_tuned::mlperf(row, cx),
        "decode_tok_s" => super::single_stream::decode(row, cx),
        "prefill_tok_s" => super::single_stream::prefill(row, cx),
        "output_tok_s" | "output_throughput" => {
            super::served_renter::question(row, Asked::Throughput, cx)
        }
        "tpot_ms" if super::served_renter::is_rented(row, cx) => {
            super::served_renter::question(row, Asked::Tpot, cx)
        }
        "ttft_ms" if super::served_renter::is_rented(row, cx) => {
            super::served_renter::question(row, Asked::Ttft, cx)
        }
        "tpot_ms" | "ttft_ms" | "output_tok_s_per_gpu" => served_tuned::question(row, cx),
        _ if super::vision_inference::is_mlperf(row) => super::vision_inference::mlperf(row, cx),
        "diffusion_it_s_p50" => super::vision_inference::diffusion(row, cx),
        _ => Err(unknown_metric(row)),
    }
}
