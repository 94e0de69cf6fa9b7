//! Rows of one stream: `decode_tok_s` and `prefill_tok_s`.
//!
//! The engine is llama.cpp unless the row names another one. `tp` as a number above one with llama.cpp is a split of
//! rows, which that engine's other rows are not. `precision` is a format of weight files (`Q4_K_M`, `F16`); blank is
//! the usual four-bit one. `date` before 2025: a build that multiplies through the vendor's matrix library.

use super::served_renter::capability;
use super::{Row, TableContext, served_tuned};
use crate::NoFit;
use crate::chip;
use crate::formula::decode_llamacpp::Gpu;
use crate::formula::{Question, decode_engine, decode_llamacpp, prefill_llamacpp};
use lessee_model::{GpuSpec, ModelSpec, Msg};

/// FP32 lanes of a multiprocessor, as `chip::vector` counts them.
const LANES: f64 = 64.0;
/// From Maxwell to consumer Pascal.
const LANES_OLD: f64 = 128.0;
/// Prompt and context where the row is silent.
const USUAL_PROMPT: f64 = 512.0;
/// FP16 at most this multiple of FP32: a board whose rate is halved when sums are kept in 32 bit.
const HALVED: f64 = 2.05;

fn known(x: Option<f64>) -> Option<f64> {
    x.filter(|x| x.is_finite() && *x > 0.0)
}

/// What llama.cpp's formulas ask of a GPU.
///
/// # Errors
/// `not_a_gpu`, `no_rate`.
fn gpu(spec: &GpuSpec) -> Result<Gpu, NoFit> {
    if !chip::is_gpu(spec) {
        return Err(NoFit::new("not_a_gpu", Msg::new("perf-not-a-gpu")));
    }
    let own = capability(spec);
    let bandwidth =
        known(spec.mem_bw_gbs).ok_or_else(|| NoFit::no_rate(&spec.name, "memory bandwidth"))?;
    let old = own > 0.0 && own < 7.0 && own != 6.0;
    // an operation a lane and cycle is a multiply-add
    let cycles =
        chip::vector(spec).map(|flops| flops / (2.0 * if old { LANES_OLD } else { LANES }));
    Ok(Gpu {
        arch: spec.arch.clone(),
        bandwidth: bandwidth * 1e9,
        cycles,
        clock: cycles
            .zip(spec.sm_count.filter(|n| *n > 0))
            .map(|(all, n)| all / f64::from(n)),
        fp32: known(spec.fp32_tflops).map(|t| t * 1e12),
        dot4: own == 0.0 || own >= 6.1,
        nvidia: &*spec.vendor == "NVIDIA",
    })
}

struct Weights {
    bytes: f64,
    quantised: bool,
}

/// Size of the weights in the row's format.
///
/// # Errors
/// `missing_value`: a format that is not known.
fn weights(row: &Row, params: f64, cx: TableContext<'_>) -> Result<Weights, NoFit> {
    let formats = &cx
        .perf
        .tables
        .calibration
        .decode_llamacpp
        .coefficients
        .weight_bytes;
    let word = row.precision.trim().to_ascii_lowercase();
    let word = if word.is_empty() { "q4_k_m" } else { &word };
    let per = formats.get(word).copied().ok_or_else(|| {
        NoFit::new(
            "missing_value",
            Msg::new("perf-missing-value").arg("column", "precision"),
        )
    })?;
    Ok(Weights {
        bytes: params * per,
        quantised: per < 2.0,
    })
}

fn need(x: Option<f64>, model: &ModelSpec) -> Result<f64, NoFit> {
    x.ok_or_else(|| {
        NoFit::new(
            "model_unsuitable",
            Msg::new("perf-model-unknown").arg("model", &*model.name),
        )
    })
}

fn gpus(row: &Row) -> f64 {
    row.n_gpu.filter(|n| *n >= 1.0).unwrap_or(1.0)
}

/// `llama.cpp b2770`, `MLC-LLM`: letters before the version.
fn engine(text: &str) -> String {
    let word = text
        .split_whitespace()
        .next()
        .unwrap_or("")
        .to_ascii_lowercase();
    word.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// # Errors
/// `no_spec`, `not_a_gpu`, `no_rate`, `model_unsuitable`, `missing_value`.
pub(super) fn decode(row: &Row, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    let spec = super::names::gpu(&row.gpu, cx)?;
    let model = served_tuned::named_model(row, cx)?;
    let gpu = gpu(spec)?;
    let w = weights(row, known(row.params).unwrap_or(model.params), cx)?;
    let layers = need(model.layers, model)?;
    let name = engine(&row.engine);
    let split_rows = row.tp.is_some_and(|n| n > 1.0);
    let llamacpp = name.is_empty() || name.starts_with("llama") || name.starts_with("ollama");
    // one GPU leaves nothing to split, so the table of several engines is one of this engine too
    if llamacpp && !split_rows {
        return Ok(Box::new(decode_llamacpp::Query {
            gpu,
            gpus: gpus(row),
            bytes: w.bytes,
            quantised: w.quantised,
            layers,
            kv_bytes: need(model.kv_bytes(2.0), model)?,
            context: row.input_len.unwrap_or(0.0) + row.output_len.unwrap_or(USUAL_PROMPT) / 2.0,
        }));
    }
    let in_turn = name.starts_with("exllama");
    Ok(Box::new(decode_engine::Query {
        arch: gpu.arch,
        bandwidth: gpu.bandwidth,
        gpus: if in_turn {
            1.0
        } else {
            row.tp.unwrap_or(gpus(row)).max(1.0)
        },
        engine: name,
        bytes: w.bytes,
        layers,
    }))
}

/// # Errors
/// `no_spec`, `not_a_gpu`, `no_rate`, `model_unsuitable`, `missing_value`.
pub(super) fn prefill(row: &Row, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    let spec = super::names::gpu(&row.gpu, cx)?;
    let model = served_tuned::named_model(row, cx)?;
    let gpu = gpu(spec)?;
    let params = known(row.params).unwrap_or(model.params);
    let w = weights(row, params, cx)?;
    let own = capability(spec);
    let heads = need(model.heads, model)?;
    let width = known(model.head_dim).unwrap_or(need(model.hidden, model)? / heads);
    let half = known(spec.fp16_tflops).or(known(spec.bf16_tflops));
    let fp32 = known(spec.fp32_tflops);
    let half = match (half, fp32) {
        (Some(h), Some(f)) if h <= HALVED * f && own >= 7.0 => 2.0 * h,
        (Some(h), _) => h,
        (None, Some(f)) => f,
        (None, None) => return Err(NoFit::no_rate(&spec.name, "matrix rate")),
    };
    Ok(Box::new(prefill_llamacpp::Query {
        gpu,
        units: prefill_llamacpp::Units {
            matrix: own >= 7.0,
            wide: own == 8.0 || own >= 9.0,
            one_pass: own == 0.0 || own >= 7.5,
            watt: known(spec.tdp_w),
            half: half * 1e12,
        },
        gpus: gpus(row),
        bytes: w.bytes,
        quantised: w.quantised,
        params,
        layers: need(model.layers, model)?,
        heads,
        head_width: heads * width,
        prompt: known(row.input_len).unwrap_or(USUAL_PROMPT),
        library: ["2023", "2024"]
            .iter()
            .any(|year| row.date.starts_with(year)),
    }))
}
