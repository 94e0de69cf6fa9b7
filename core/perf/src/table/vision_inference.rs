//! Rows of inference tables about networks other than language models: MLPerf Inference, image generation.
//!
//! What a blank or odd cell means:
//! - number format: MLPerf lets a submitter take the narrowest that keeps the accuracy: 8 bit for images, volumes,
//!   recommendation, diffusion and BERT at 99 %; 8-bit floating point where the GPU has it, else 16 bit, for BERT at
//!   99.9 %; 16 bit for RNN-T.
//! - a slice (`1x1g.10gb MIG`): the row is of one slice, whatever the number of GPUs.
//! - lower-case scenarios and the open division are other software or altered networks.

use super::{Row, TableContext, names, unknown_metric};
use crate::NoFit;
use crate::chip::{Format, chip};
use crate::formula::Question;
use crate::formula::diffusion_crowd::{self, Stack};
use crate::formula::vision_infer_tuned::{Kind, LatencyQuery, Query};
use lessee_model::Msg;

/// Whether the row's batch is one of MLPerf's scenarios.
pub(super) fn is_mlperf(row: &Row) -> bool {
    let scenarios = ["Offline", "Server", "SingleStream", "MultiStream"];
    scenarios.iter().any(|s| row.batch.eq_ignore_ascii_case(s))
}

/// MLPerf Inference, benchmarks that are not language models.
///
/// # Errors
/// `no_spec`, `not_a_gpu`, `no_rate`, `other_stack`, `unknown_metric`.
pub(super) fn mlperf(row: &Row, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    if names::other_stack(row) || row.batch.starts_with(char::is_lowercase) {
        return Err(NoFit::new(
            "other_stack",
            Msg::new("perf-other-stack").arg("model", row.model.as_str()),
        ));
    }
    let spec = names::gpu(&row.gpu, cx)?;
    let slice = names::slice(&row.gpu);
    let model = row.model.to_ascii_lowercase();
    let (network, strict) = match model.strip_suffix("-99.9") {
        Some(network) => (network, true),
        None => (model.strip_suffix("-99").unwrap_or(&model), false),
    };
    let format = match (network, strict) {
        ("rnnt", _) => Format::Half,
        ("bert", true) => Format::EightOrHalf,
        _ => Format::Eight,
    };
    let chip = chip(spec, format)?.slice(slice.unwrap_or(1.0));
    let key = format!("{model}/{}", row.batch.to_ascii_lowercase());
    let arch = spec.arch.to_string();
    // new in the round of 2022: its kernels gained by half until the next table
    let untuned = network == "retinanet" && row.date.as_str() < "2023";
    match row.metric.as_str() {
        "throughput_samples" => Ok(Box::new(Query {
            kind: match network {
                "bert" | "stable-diffusion-xl" => Kind::Dense,
                _ if network.starts_with("dlrm") => Kind::Lookups,
                _ => Kind::Conv,
            },
            key,
            chip,
            arch,
            gpus: if slice.is_some() {
                1.0
            } else {
                row.n_gpu.filter(|n| *n >= 1.0).unwrap_or(1.0)
            },
            capped: row.note.contains("MaxQ") || row.source.contains("MaxQ"),
            untuned,
        })),
        "latency_p90" | "latency_p99" => Ok(Box::new(LatencyQuery {
            large: network == "3d-unet"
                || network == "retinanet" && row.batch.eq_ignore_ascii_case("MultiStream"),
            key,
            chip,
            arch,
            untuned,
        })),
        _ => Err(unknown_metric(row)),
    }
}

/// Image generation on people's own machines.
///
/// # Errors
/// `no_spec`, `not_a_gpu`, `no_rate`.
pub(super) fn diffusion(row: &Row, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    let spec = names::gpu(&row.gpu, cx)?;
    let stack = match &*spec.vendor {
        "AMD" if row.gpu.contains("ZLUDA") => Stack::Zluda,
        "AMD" => Stack::Rocm,
        "Intel" => Stack::Intel,
        _ => Stack::Cuda,
    };
    Ok(Box::new(diffusion_crowd::Query {
        key: format!("{}/{}", row.model.to_ascii_lowercase(), row.batch),
        chip: chip(spec, Format::Half)?,
        arch: spec.arch.to_string(),
        stack,
    }))
}
