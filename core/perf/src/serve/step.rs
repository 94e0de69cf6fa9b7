//! One decode step of one replica, and the largest batch that keeps it short enough. The formulas are in
//! the parent's head comment.

use crate::coefficients::Coefficients;
use crate::spec::{GIB, Rate};
use crate::sync::Bus;
use lessee_model::workload::ServeJob;

/// One model replica on `tp` GPUs.
pub(super) struct Replica<'a> {
    pub(super) job: &'a ServeJob,
    pub(super) c: &'a Coefficients,
    pub(super) tp: f64,
    pub(super) layers: f64,
    pub(super) hidden: f64,
    pub(super) rate: Rate,
    pub(super) bandwidth: f64,
    pub(super) bus: Bus,
    /// Bus bandwidth used for tensor parallelism, byte/s.
    pub(super) bus_at: f64,
    pub(super) weights: f64,
    /// KV bytes of one token, summed over the GPUs that keep a copy.
    pub(super) kv: f64,
}

/// Seconds of one decode step by cause.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepTime {
    pub(super) memory: f64,
    pub(super) compute: f64,
    pub(super) prefill: f64,
    pub(super) link: f64,
    pub(super) fixed: f64,
    pub(super) total: f64,
}

impl Replica<'_> {
    /// Bytes of weights that a step of `batch` tokens reads.
    pub(super) fn weights_read(&self, batch: f64) -> f64 {
        let m = &self.job.model;
        if m.active_params >= m.params {
            return self.weights;
        }
        let active = self.weights * m.active_params / m.params;
        let (experts, per_token) = match (m.experts, m.experts_per_token) {
            (Some(e), Some(k)) if e > k && k > 0.0 => (e, k),
            // nothing known of the mixture: a batch touches all of it
            _ if batch > 1.0 => return self.weights,
            _ => return active,
        };
        let touched = experts * (1.0 - (1.0 - per_token / experts).powf(batch));
        active + (self.weights - active) * ((touched - per_token) / (experts - per_token)).max(0.0)
    }

    pub(super) fn flop_rate(&self, mfu: f64) -> f64 {
        let reference = self.c.decode.renter_loaded.reference_gemm_share;
        mfu * self.rate.dense * self.rate.gemm_share / reference * self.tp
    }

    fn all_reduce_of(&self, tokens: f64) -> f64 {
        if self.tp <= 1.0 {
            return 0.0;
        }
        // two a layer, 16-bit activations
        let bytes = tokens * self.hidden * self.c.bytes_per_weight.bf16 * 2.0 * self.layers;
        2.0 * (self.tp - 1.0) / self.tp * bytes / self.bus_at
    }

    /// Seconds to read one prompt when nothing else runs.
    pub(super) fn prefill(&self) -> f64 {
        let input = self.job.input_tokens;
        let flops =
            input * (2.0 * self.job.model.active_params + 2.0 * self.layers * self.hidden * input);
        flops / self.flop_rate(self.c.decode.renter_loaded.mfu_prefill) + self.all_reduce_of(input)
    }

    pub(super) fn step(&self, batch: f64, prefill: f64) -> StepTime {
        let (d, l) = (&self.c.decode.renter, &self.c.decode.renter_loaded);
        let (eff, t0) = if self.tp > 1.0 {
            let ms = d.t0_tp_ms + d.lat_ms_per_layer_tp * self.layers;
            (d.eff_tp, ms * 1e-3)
        } else {
            (d.eff, d.t0_ms * 1e-3)
        };
        let context = self.job.input_tokens + self.job.output_tokens / 2.0;
        let bytes = self.weights_read(batch) + batch * self.kv * context;
        let memory = bytes / (self.tp * eff * self.bandwidth);
        let compute = 2.0 * self.job.model.active_params * batch / self.flop_rate(l.mfu_decode);
        // smooth maximum (m^p + c^p)^(1/p), written so that no power of small times vanishes
        let (long, short) = (memory.max(compute), memory.min(compute));
        let overlapped = long * (1.0 + (short / long).powf(l.smooth_p)).powf(1.0 / l.smooth_p);
        let prefill = batch / self.job.output_tokens * prefill;
        let link = self.all_reduce_of(batch);
        let fixed = t0 + l.host_us_per_sequence * 1e-6 * batch;
        StepTime {
            memory,
            compute,
            prefill,
            link,
            fixed,
            total: overlapped + prefill + link + fixed,
        }
    }

    /// Bytes of one GPU: weights and what the engine needs besides the cache.
    pub(super) fn fixed_memory(&self) -> (f64, f64) {
        let m = &self.c.memory.inference;
        let mut overhead = m.activation_and_graphs_gib * GIB;
        if self.tp > 1.0 {
            overhead += m.nccl_gib_per_gpu * GIB;
        }
        (self.weights / self.tp, overhead)
    }

    /// Cache bytes that one request reserves on one GPU.
    pub(super) fn reserved(&self) -> f64 {
        self.kv * (self.job.input_tokens + self.job.output_tokens) / self.tp
    }
}

/// The largest whole batch in 1..=`most` whose step stays within `limit` seconds.
pub(super) fn largest_batch(
    replica: &Replica<'_>,
    most: f64,
    limit: f64,
    prefill: f64,
) -> Option<f64> {
    let within = |b: u64| replica.step(b as f64, prefill).total <= limit;
    if most < 1.0 || !within(1) {
        return None;
    }
    let (mut good, mut bad) = (1, most as u64 + 1);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if within(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Some(good as f64)
}
