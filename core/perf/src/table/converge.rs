//! Rows of MLPerf Training about language models: minutes to the target, samples per second, samples.
//!
//! Results of stacks that are not the vendor's own say nothing about the GPU and are left out.

use super::{Row, TableContext, llm_training, names, unknown_metric};
use crate::NoFit;
use crate::formula::Question;
use crate::formula::train_converge::{Asked, Query};
use crate::formula::train_llm::{Format, Trained};
use crate::train::shape::shape;
use lessee_model::{Msg, workload::Precision};

/// Benchmark, network, and whether all of it is trained.
const BENCHMARKS: [(&str, &str, Trained); 4] = [
    ("bert", "bert-large", Trained::All),
    ("gpt3", "gpt3-175b", Trained::All),
    ("llama2_70b_lora", "llama-2-70b", Trained::Adapters),
    ("llama31_405b", "llama-3.1-405b", Trained::All),
];

pub(super) fn is_benchmark(model: &str) -> bool {
    BENCHMARKS.iter().any(|(name, ..)| *name == model)
}

/// # Errors
/// `no_spec`, `no_rate`, `model_unsuitable`, `other_stack`, `unknown_metric`, `no_batch`.
pub(super) fn question(row: &Row, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    let asked = match row.metric.as_str() {
        "time_to_train_min" => Asked::Minutes,
        "tracked_throughput" => Asked::SamplesPerSecond,
        "samples_to_converge" => Asked::Samples,
        _ => return Err(unknown_metric(row)),
    };
    let known = BENCHMARKS.iter().find(|(name, ..)| *name == row.model);
    let Some(&(benchmark, network, trained)) = known else {
        return names::model(row, cx).and(Err(unknown_metric(row)));
    };
    if row.note.to_ascii_lowercase().contains("tinygrad") || row.note.starts_with("open") {
        return Err(NoFit::new(
            "other_stack",
            Msg::new("perf-other-stack").arg("model", row.model.as_str()),
        ));
    }
    let spec = names::gpu(&row.gpu, cx)?;
    let model = cx.models.resolve(network).ok_or_else(|| {
        NoFit::new(
            "model_unsuitable",
            Msg::new("perf-model-unknown").arg("model", network),
        )
    })?;
    let no_size = || NoFit::new("no_batch", Msg::new("perf-no-batch"));
    let batch = row.global_batch.filter(|b| *b > 0.0).ok_or_else(no_size)?;
    let gpus = row.n_gpu.filter(|n| *n >= 1.0).ok_or_else(no_size)?;
    let c = &cx.perf.tables.calibration.train_llm.coefficients;
    // tuned results use 8-bit products where data-centre parts have them
    let capable = spec
        .compute_capability
        .as_deref()
        .is_some_and(|c| c.starts_with("8."));
    let (precision, format) = if capable {
        (Precision::Bf16, Format::Half)
    } else {
        (Precision::Fp8, Format::Fp8)
    };
    let wiring = llm_training::wiring(spec, gpus, row.nodes, c);
    Ok(Box::new(Query {
        family: if benchmark == "bert" {
            "train_converge_bert"
        } else {
            "train_converge"
        },
        benchmark,
        asked,
        arch: spec.arch.to_string(),
        gpu: llm_training::processor(spec, (precision, format), cx)?,
        memory: spec.memory_gb * 1e9,
        watts: spec.tdp_w.filter(|w| *w > 0.0),
        shape: shape(model)?,
        trained,
        gradients: if trained == Trained::All {
            model.params
        } else {
            0.0
        },
        wiring,
        gpus,
        machines: row.nodes.unwrap_or(1.0).clamp(1.0, gpus),
        batch,
    }))
}
