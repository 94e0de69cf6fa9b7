//! Rows of training tables about networks other than language models: samples per second of common networks on one
//! machine, MLPerf Training, the fastest matrix product.
//!
//! What a blank or odd cell means:
//! - number format: `amp`, `fp16`, `bf16` are mixed precision, anything else is 32-bit training. Vocoders and
//!   Tacotron run in 32 bit under either name: what AMP leaves to 16 bit in them does not show.
//! - the logs of MLPerf's object detection count samples per GPU, those of its stacks from 2025 for Blackwell per run.

use super::{Row, TableContext, names, unknown_metric};
use crate::NoFit;
use crate::chip::{Format, chip};
use crate::formula::vision_train_renter::{self, Kind};
use crate::formula::vision_train_tuned::{self, Asked};
use crate::formula::{Question, matmul};
use lessee_model::{Form, GpuSpec, ModelKind, Msg};

fn missing() -> NoFit {
    NoFit::new("no_batch", Msg::new("perf-no-batch"))
}

fn linked(spec: &GpuSpec) -> bool {
    matches!(spec.form, Form::Sxm | Form::Oam | Form::Superchip)
}

/// Kind of network by its name, as benchmarks call it; by the table of models where that knows it.
fn kind(row: &Row, cx: TableContext<'_>) -> Kind {
    let name = row.model.to_ascii_lowercase();
    let is = |words: &[&str]| words.iter().any(|w| name.contains(w));
    if runs_in_single(&name) {
        return Kind::Plain;
    }
    if is(&["ncf", "dlrm", "recommend"]) {
        return Kind::Lookup;
    }
    if is(&["bert", "gnmt"]) {
        return Kind::Dense;
    }
    match cx.models.resolve(&row.model) {
        Some(m) if m.kind != ModelKind::Vision || m.heads.is_some() => Kind::Dense,
        _ => Kind::Conv,
    }
}

fn runs_in_single(name: &str) -> bool {
    name.contains("tacotron") || name.contains("waveglow")
}

/// `train_throughput`: samples per second of a common network.
///
/// # Errors
/// `no_spec`, `not_a_gpu`, `no_rate`.
pub(super) fn throughput(row: &Row, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    let spec = names::gpu(&row.gpu, cx)?;
    let precision = row.precision.to_ascii_lowercase();
    let half = ["amp", "16", "mixed", "half"]
        .iter()
        .any(|w| precision.contains(w));
    let kind = kind(row, cx);
    let i = &cx.perf.tables.coefficients.intensity;
    let own = i.of(&row.model);
    let single_anyway = runs_in_single(&row.model.to_ascii_lowercase());
    let format = if half && !single_anyway {
        Format::Half
    } else {
        Format::Single
    };
    // vendors' own examples load and lay out data otherwise than a framework does by itself
    let tier = if row.source.contains("DeepLearningExamples") {
        "vendor/"
    } else {
        ""
    };
    let sequence = row.seq_len.map_or_else(String::new, |s| format!("/{s}"));
    let ending = if half { "half" } else { "single" };
    let carrier = row.interconnect.to_ascii_lowercase();
    let forward = cx.models.resolve(&row.model).and_then(|m| m.forward_gflops);
    Ok(Box::new(vision_train_renter::Query {
        key: format!("{tier}{}{sequence}/{ending}", row.model),
        kind,
        intensity: own.unwrap_or(if kind == Kind::Dense {
            i.transformer
        } else {
            i.cnn
        }),
        single: !half && !single_anyway,
        chip: chip(spec, format)?,
        arch: spec.arch.to_string(),
        gpus: row.n_gpu.filter(|n| *n >= 1.0).unwrap_or(1.0),
        linked: if carrier.is_empty() {
            linked(spec)
        } else {
            !carrier.contains("pcie")
        },
        forward: forward.map(|g| g * 1e9),
    }))
}

/// MLPerf Training, benchmarks that are not language models.
///
/// # Errors
/// `no_spec`, `not_a_gpu`, `no_rate`, `other_stack`, `no_batch`, `unknown_metric`.
pub(super) fn benchmark(row: &Row, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    if row.gpu.is_empty() {
        return Err(NoFit::new("not_a_gpu", Msg::new("perf-not-a-gpu")));
    }
    let spec = names::gpu(&row.gpu, cx)?;
    if names::other_stack(row) {
        return Err(NoFit::new(
            "other_stack",
            Msg::new("perf-other-stack").arg("model", row.model.as_str()),
        ));
    }
    let model = row.model.to_ascii_lowercase();
    let detection = matches!(model.as_str(), "ssd" | "retinanet");
    let counts_run = spec.arch.starts_with("Blackwell") && row.date.as_str() >= "2025";
    let (asked, ending) = match row.metric.as_str() {
        "time_to_train_min" => (Asked::Minutes, "minutes"),
        "tracked_throughput" if detection && !counts_run => {
            (Asked::SamplesPerSecondAndGpu, "samples_s_gpu")
        }
        "tracked_throughput" => (Asked::SamplesPerSecond, "samples_s"),
        "samples_to_converge" => {
            row.global_batch.filter(|b| *b > 0.0).ok_or_else(missing)?;
            (Asked::Samples, "samples")
        }
        _ => return Err(unknown_metric(row)),
    };
    let gpus = row.n_gpu.filter(|n| *n >= 1.0).ok_or_else(missing)?;
    let machines = row.nodes.unwrap_or(1.0);
    Ok(Box::new(vision_train_tuned::Query {
        key: format!("{model}/{ending}"),
        asked,
        diffusion: model.contains("diffusion"),
        lookups: ["dlrm", "gnn", "rgat"].iter().any(|w| model.starts_with(w)),
        chip: chip(spec, Format::Half)?,
        arch: spec.arch.to_string(),
        gpus,
        several_machines: machines > 1.0,
        linked: gpus == 1.0 || linked(spec),
        batch: row.global_batch,
    }))
}

/// `matmul_tflops`.
///
/// # Errors
/// `no_spec`, `not_a_gpu`, `no_rate`.
pub(super) fn matrix_product(row: &Row, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    let spec = names::gpu(&row.gpu, cx)?;
    let half = chip(spec, Format::Half)?;
    let eight_bit = row.precision.contains('8');
    let tflops = if eight_bit {
        let known = spec.fp8_tflops.or(spec.int8_tops);
        known.ok_or_else(|| NoFit::no_rate(&spec.name, "matrix rate"))?
    } else {
        half.tensor / 1e12
    };
    Ok(Box::new(matmul::Query {
        tflops,
        half_tflops: half.tensor / 1e12,
        watt: half.watt,
        eight_bit,
        vendor: spec.vendor.to_string(),
        arch: spec.arch.to_string(),
    }))
}
