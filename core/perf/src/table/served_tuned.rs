//! Rows of tuned language-model servers: serving sweeps, static-batch tables, MLPerf inference.
//!
//! What a blank or odd cell means:
//! - GPUs: `n_gpu`, else the tensor parallelism (a 0 says that their number was not recorded). A box of modules holds at most eight; sweeps that multiply
//!   tensor by expert parallelism write 16 or 64 for 4 or 8 GPUs, so a square above eight is its root. Other numbers
//!   above eight are deployments over several machines, with attention in parallel.
//! - `tp` with a word (`1 adp8`): each GPU runs the attention of its own requests.
//! - precision: the suffix of the model's name, else 16 bit; in MLPerf, whose rules let a submitter take the
//!   narrowest format that keeps the accuracy, four-bit floating point where the GPU has it, else eight-bit, else 16.
//! - cache: eight-bit elements where the weights are narrow and either the engine is TensorRT-LLM or the GPU has
//!   four-bit units (checkpoints made for those come with them); else 16 bit.

use super::{Row, TableContext, names, unknown_metric};
use crate::NoFit;
use crate::formula::Question;
use crate::formula::serve_decode_tuned::Deployment;
use crate::formula::serve_tuned::{Chip, Network, Replica, Width};
use crate::formula::{serve_decode_tuned, serve_offline_tuned, serve_static_tuned, ttft_tuned};
use crate::spec::{Device, RateKind};
use lessee_model::workload::Precision;
use lessee_model::{Form, GpuSpec, ModelKind, ModelSpec, Msg};

/// GPUs of one machine with module boards.
const MODULES_PER_MACHINE: f64 = 8.0;

/// Of serving sweeps and static batches: `tpot_ms`, `ttft_ms`, `output_tok_s_per_gpu`.
///
/// # Errors
/// See [`super::question`].
pub(super) fn question(row: &Row, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    let (spec, model) = (names::gpu(&row.gpu, cx)?, named_model(row, cx)?);
    let engine = engine(&row.engine);
    let counted = row.n_gpu.filter(|n| *n >= 1.0);
    let (gpus, several) = gpus(counted.or(row.tp).unwrap_or(1.0), spec.form);
    let deployment = match counted {
        _ if several => Deployment::Several,
        None if row.n_gpu.is_some() => Deployment::NotRecorded,
        _ => Deployment::Machine,
    };
    let precision = precision(&row.precision, &row.model).unwrap_or(Precision::Bf16);
    let mut replica = replica(spec, model, precision, engine, gpus, cx)?;
    replica.attention_parallel = several || (counted.is_some() && row.attention_parallel);
    let (prompt, output) = lengths(row)?;
    let concurrency = row.requests().ok_or_else(|| missing("batch"))?;
    let arch = spec.arch.to_string();
    let still = |wanted| {
        Box::new(serve_static_tuned::Query {
            replica,
            wanted,
            batch: concurrency,
            prompt,
            output,
            arch: arch.clone(),
        })
    };
    let loaded = || serve_decode_tuned::Query {
        replica,
        deployment,
        engine: engine.to_owned(),
        concurrency,
        prompt,
        output,
        arch: arch.clone(),
    };
    match row.metric.as_str() {
        "output_tok_s_per_gpu" => Ok(still(serve_static_tuned::Wanted::Throughput)),
        "ttft_ms" if output <= 1.0 => Ok(still(serve_static_tuned::Wanted::FirstToken)),
        "ttft_ms" => Ok(Box::new(ttft_tuned::Query(loaded()))),
        "tpot_ms" => Ok(Box::new(loaded())),
        _ => Err(unknown_metric(row)),
    }
}

/// Of MLPerf inference with a language model: throughputs and latencies.
///
/// # Errors
/// See [`super::question`]; `altered_run` for pruned or sparse networks.
pub(super) fn mlperf(row: &Row, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    use serve_offline_tuned::Wanted;
    let wanted = match row.metric.as_str() {
        "throughput_tokens" => Wanted::Tokens,
        "throughput_samples" => Wanted::Samples,
        "tpot_mean" => Wanted::Latency("tpot_mean"),
        "tpot_p99" => Wanted::Latency("tpot_p99"),
        "ttft_mean" => Wanted::Latency("ttft_mean"),
        "ttft_p99" => Wanted::Latency("ttft_p99"),
        _ => return Err(unknown_metric(row)),
    };
    let note = row.note.to_ascii_lowercase();
    if ["pruned", "sparse"].iter().any(|word| note.contains(word)) {
        return Err(NoFit::new(
            "altered_run",
            Msg::new("perf-altered-run").arg("note", row.note.as_str()),
        ));
    }
    let (spec, model) = (names::gpu(&row.gpu, cx)?, named_model(row, cx)?);
    let narrowest = if spec.fp4_tflops.is_some() {
        Precision::Fp4
    } else if spec.fp8_tflops.is_some() {
        Precision::Fp8
    } else {
        Precision::Bf16
    };
    let precision = precision(&row.precision, &row.model).unwrap_or(narrowest);
    let on_one = replica(spec, model, precision, "trtllm", 1.0, cx)?;
    let in_slot = matches!(spec.form, Form::Pcie | Form::Nvl);
    let half = spec.bf16_tflops.or(spec.fp16_tflops);
    Ok(Box::new(serve_offline_tuned::Query {
        on_one,
        gpus: row.n_gpu.filter(|n| *n >= 1.0).unwrap_or(1.0),
        server: !row.batch.eq_ignore_ascii_case("offline"),
        wanted,
        model: model.name.to_string(),
        prompt: row.input_len.filter(|n| *n > 0.0),
        output: row.output_len.filter(|n| *n > 0.0),
        slot_watt_per_tflop: match (spec.tdp_w, half) {
            (Some(watt), Some(tflops)) if in_slot => Some(watt / tflops),
            _ => None,
        },
        arch: spec.arch.to_string(),
    }))
}

/// Whether the row is of MLPerf (its batch is a scenario) with a language model.
pub(super) fn is_mlperf(row: &Row, cx: TableContext<'_>) -> bool {
    let scenario = ["offline", "server", "interactive"];
    scenario
        .iter()
        .any(|word| row.batch.eq_ignore_ascii_case(word))
        && named_model(row, cx).is_ok_and(|model| model.kind == ModelKind::Llm)
}

/// GPUs of the deployment, and whether they are more than one machine holds.
fn gpus(counted: f64, form: Form) -> (f64, bool) {
    if counted <= MODULES_PER_MACHINE {
        return (counted, false);
    }
    let root = counted.sqrt();
    if form != Form::Superchip && root.fract() == 0.0 && root <= MODULES_PER_MACHINE {
        (root, false)
    } else {
        (counted, true)
    }
}

/// `TensorRT-LLM 0.6.1`, `trtllm 1.2.0rc6`, `vllm 0.12.0`: without version.
fn engine(text: &str) -> &'static str {
    let name = text.to_ascii_lowercase();
    if name.starts_with("tensorrt") || name.starts_with("trt") {
        "trtllm"
    } else if name.starts_with("vllm") {
        "vllm"
    } else if name.starts_with("sglang") {
        "sglang"
    } else {
        "other"
    }
}

/// `FP8`, `nvfp4`, `w4a16`; blank: the end of the model's name; `None`: neither says.
pub(super) fn precision(cell: &str, model: &str) -> Option<Precision> {
    let word = |text: &str| {
        Some(match text.to_ascii_lowercase().as_str() {
            "fp32" => Precision::Fp32,
            "tf32" => Precision::Tf32,
            "fp16" | "float16" | "half" => Precision::Fp16,
            "bf16" | "bfloat16" => Precision::Bf16,
            "fp8" | "mxfp8" | "w8a8" => Precision::Fp8,
            "int8" | "w8a16" => Precision::Int8,
            "int4" | "w4a16" | "awq" | "gptq" => Precision::Int4,
            "fp4" | "nvfp4" | "mxfp4" => Precision::Fp4,
            _ => return None,
        })
    };
    word(cell.trim()).or_else(|| model.rsplit(['-', '_']).find_map(word))
}

/// The model without what a benchmark or a checkpoint appends: an accuracy target, a number format.
pub(super) fn named_model<'a>(row: &Row, cx: TableContext<'a>) -> Result<&'a ModelSpec, NoFit> {
    let mut name = row.model.as_str();
    for suffix in ["-99.9", "-99"] {
        name = name.strip_suffix(suffix).unwrap_or(name);
    }
    while let Some((head, tail)) = name.rsplit_once(['-', '_']) {
        if cx.models.resolve(name).is_some() || precision(tail, "").is_none() {
            break;
        }
        name = head;
    }
    names::model(
        &Row {
            model: name.to_owned(),
            ..row.clone()
        },
        cx,
    )
}

fn missing(column: &'static str) -> NoFit {
    NoFit::new(
        "missing_value",
        Msg::new("perf-missing-value").arg("column", column),
    )
}

fn lengths(row: &Row) -> Result<(f64, f64), NoFit> {
    let positive = |x: Option<f64>| x.filter(|n| *n > 0.0);
    Ok((
        positive(row.input_len).ok_or_else(|| missing("input_len"))?,
        positive(row.output_len).ok_or_else(|| missing("output_len"))?,
    ))
}

pub(super) fn replica(
    spec: &GpuSpec,
    model: &ModelSpec,
    precision: Precision,
    engine: &str,
    gpus: f64,
    cx: TableContext<'_>,
) -> Result<Replica, NoFit> {
    let device = Device::of_spec(spec, cx.perf);
    let of_cache = &cx.perf.tables.coefficients.bytes_per_kv_value;
    let narrow = matches!(precision, Precision::Fp8 | Precision::Int8 | Precision::Fp4);
    let narrow_cache = narrow && (engine == "trtllm" || spec.fp4_tflops.is_some());
    let kv_bytes = of_cache.of(if narrow_cache {
        Precision::Fp8
    } else {
        Precision::Bf16
    });
    on_device(&device, model, precision, kv_bytes, gpus)
}

/// The model on `gpus` such devices, with a cache of `kv_bytes` an element.
///
/// # Errors
/// `no_rate`, `model_unsuitable`.
pub(crate) fn on_device(
    device: &Device<'_>,
    model: &ModelSpec,
    precision: Precision,
    kv_bytes: f64,
    gpus: f64,
) -> Result<Replica, NoFit> {
    let (rate, half) = (device.rate(precision)?, device.rate(Precision::Bf16)?);
    let width = match precision {
        // stored narrow, multiplied in 16 bit
        _ if rate.kind == RateKind::WeightOnly => Width::Sixteen,
        Precision::Fp8 | Precision::Int8 => Width::Eight,
        Precision::Fp4 => Width::Four,
        _ => Width::Sixteen,
    };
    Ok(Replica {
        network: network(model)?,
        chip: Chip {
            bandwidth: device.bandwidth()?,
            flops: rate.dense * rate.gemm_share,
            flops_16: half.dense * half.gemm_share,
            memory: device.memory,
            link: device.link_one_way(),
        },
        gpus,
        attention_parallel: false,
        width,
        weight_bytes: device.weight_bytes(precision),
        kv_bytes,
    })
}

fn network(model: &ModelSpec) -> Result<Network, NoFit> {
    let unsuitable = || {
        NoFit::new(
            "model_unsuitable",
            Msg::new("perf-model-unknown").arg("model", &*model.name),
        )
    };
    let layers = model.layers.ok_or_else(unsuitable)?;
    let hidden = model.hidden.ok_or_else(unsuitable)?;
    let heads = model.heads.ok_or_else(unsuitable)?;
    // elements: a cache of one byte each
    let kv_values = model.kv_bytes(1.0).ok_or_else(unsuitable)?;
    let latent = model.kv_bytes_per_token.is_some() && model.kv_heads.is_none();
    let kv_heads = if latent {
        1.0
    } else {
        model.kv_heads.unwrap_or(heads)
    };
    let group = if latent { 1.0 } else { heads / kv_heads };
    // of 2 products of a query with every key and value of its head, a multiply-add each; latent attention
    // unfolds to full heads
    let attention_flops = if latent {
        4.0 * layers * heads * LATENT_HEAD_DIM
    } else {
        2.0 * kv_values * group
    };
    let (dense_params, expert_params, expert_share) = match (model.experts, model.experts_per_token)
    {
        (Some(all), Some(used)) if used < all && model.active_params < model.params => {
            let share = used / all;
            let experts = (model.params - model.active_params) / (1.0 - share);
            ((model.params - experts).max(0.0), experts, share)
        }
        _ => (model.params, 0.0, 1.0),
    };
    Ok(Network {
        dense_params,
        expert_params,
        expert_share,
        layers,
        hidden,
        kv_values,
        kv_heads,
        group,
        attention_flops,
    })
}

/// Width of a head that latent attention unfolds to, elements.
const LATENT_HEAD_DIM: f64 = 128.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_above_eight_is_two_kinds_of_parallelism() {
        assert_eq!(gpus(8.0, Form::Sxm), (8.0, false));
        assert_eq!(gpus(16.0, Form::Sxm), (4.0, false));
        assert_eq!(gpus(64.0, Form::Sxm), (8.0, false));
        assert_eq!(gpus(12.0, Form::Sxm), (12.0, true));
        assert_eq!(gpus(36.0, Form::Superchip), (36.0, true));
    }

    #[test]
    fn number_formats_by_cell_and_by_name() {
        assert_eq!(precision("FP8", "x"), Some(Precision::Fp8));
        assert_eq!(precision("", "Qwen3-32B-NVFP4"), Some(Precision::Fp4));
        assert_eq!(
            precision("", "neuralmagic_Llama-2-7b-chat-hf-FP8"),
            Some(Precision::Fp8)
        );
        assert_eq!(precision("", "llama-3.1-8b"), None);
    }

    #[test]
    fn engines_without_version() {
        assert_eq!(engine("TensorRT-LLM 0.6.1"), "trtllm");
        assert_eq!(engine("vllm 0.12.0"), "vllm");
        assert_eq!(engine("something"), "other");
    }
}
