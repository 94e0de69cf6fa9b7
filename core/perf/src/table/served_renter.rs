//! Rows of rented machines that serve a language model with an engine's defaults: `output_tok_s` of the whole
//! server, and `tpot_ms` and `ttft_ms` of sources that say they rented.
//!
//! What a blank cell means: `tp`, then `n_gpu`, else one GPU; a server starts one replica. Precision: the suffix of the
//! model's name, else 16 bit. `batch`: 64 requests in flight, the usual point of such tables. Lengths: a chat of 256 and
//! 128 tokens.

use super::{Row, TableContext, served_tuned};
use crate::NoFit;
use crate::formula::Question;
use crate::formula::serve_renter::{Asked, Board, Query};
use crate::spec::{Device, GIB};
use lessee_model::{Form, GpuSpec, workload::Precision};

const USUAL_REQUESTS: f64 = 64.0;
const USUAL_PROMPT: f64 = 256.0;
const USUAL_OUTPUT: f64 = 128.0;

/// GB/s, both directions, from which a bridge between two cards counts as a link for tensor parallel.
const BRIDGE_GBS: f64 = 200.0;

/// Whether the row says that its machine was rented, or its GPU is a plain card, which tuned sweeps do not have.
pub(super) fn is_rented(row: &Row, cx: TableContext<'_>) -> bool {
    let text = format!("{} {}", row.source, row.note).to_ascii_lowercase();
    let said = ["sparecores", "sc-inspector", "rented", "runpod", "vast.ai"];
    said.iter().any(|word| text.contains(word))
        || super::names::gpu(&row.gpu, cx)
            .is_ok_and(|spec| matches!(spec.form, Form::Pcie | Form::Nvl))
}

/// # Errors
/// `no_spec`, `no_rate`, `model_unsuitable`, `unsupported`, `does_not_fit`.
pub(super) fn question(
    row: &Row,
    asked: Asked,
    cx: TableContext<'_>,
) -> Result<Box<dyn Question>, NoFit> {
    let spec = super::names::gpu(&row.gpu, cx)?;
    let model = served_tuned::named_model(row, cx)?;
    let c = &cx.perf.tables.coefficients;
    let device = Device::of_spec(spec, cx.perf);
    device.at_least_capability(c.serve.min_compute_capability)?;
    let precision = served_tuned::precision(&row.precision, &row.model).unwrap_or(Precision::Bf16);
    let gpus = row.tp.or(row.n_gpu).filter(|n| *n >= 1.0).unwrap_or(1.0);
    let mut replica = served_tuned::replica(spec, model, precision, "vllm", gpus, cx)?;
    // the engine's default keeps the cache in 16 bit
    replica.kv_bytes = c.bytes_per_kv_value.of(Precision::Bf16);
    let board = board(spec, gpus);
    replica.chip.link = link(spec, &device, &board);
    let m = &c.memory.inference;
    let overhead =
        GIB * (m.activation_and_graphs_gib + if gpus > 1.0 { m.nccl_gib_per_gpu } else { 0.0 });
    let usable = device.memory * m.usable_fraction_vllm;
    let weights = replica.weights() / gpus;
    let room = (usable - overhead - weights) * gpus;
    if room <= 0.0 {
        return Err(NoFit::memory(weights + overhead, usable));
    }
    let positive = |x: Option<f64>, usual| x.filter(|n| *n > 0.0).unwrap_or(usual);
    Ok(Box::new(Query {
        asked,
        replica,
        board,
        room,
        concurrency: positive(row.requests(), USUAL_REQUESTS),
        prompt: positive(row.input_len, USUAL_PROMPT),
        output: positive(row.output_len, USUAL_OUTPUT),
    }))
}

/// Compute capability, 0 for other vendors.
pub(crate) fn capability(spec: &GpuSpec) -> f64 {
    spec.compute_capability
        .as_deref()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0.0)
}

/// The board of `gpus` GPUs of one replica, where nothing is known of the host's wiring: modules are linked, cards
/// with a bridge in pairs.
pub(crate) fn board(spec: &GpuSpec, gpus: f64) -> Board {
    let own = capability(spec);
    let bridged = gpus <= 2.0 && spec.link_total_bidir_gbs.is_some_and(|x| x >= BRIDGE_GBS);
    Board {
        arch: spec.arch.clone(),
        watt: spec.tdp_w.filter(|w| w.is_finite() && *w > 0.0),
        older: own > 0.0 && own < 8.9,
        newer_attention: (9.0..12.0).contains(&own),
        linked: !matches!(spec.form, Form::Pcie | Form::Nvl) || bridged,
    }
}

/// One direction between two GPUs, byte/s.
fn link(spec: &GpuSpec, device: &Device<'_>, board: &Board) -> f64 {
    match spec
        .link_total_bidir_gbs
        .filter(|x| x.is_finite() && *x > 0.0)
    {
        Some(both) if board.linked => both / 2.0 * 1e9,
        _ => device.slot_one_way(),
    }
}
