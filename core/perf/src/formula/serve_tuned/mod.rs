//! What a tuned server of language models spends its time on: one decode step, one prompt, the batch that fits.
//!
//! ```text
//! step   = sqrt(weights^2 + products^2) + attention + layers + links            (seconds, all requests together)
//!   weights   = (dense bytes + touched expert bytes) / (n share_w BW)
//!   products  = 2 P_active B / (n mfu_d F)
//!   attention = B context KV bytes x group^power / (shards share_bw BW)
//!   layers    = L t_layer                                    launches and tails of kernels that follow each other
//!   links     = [n > 1] 2 L (t_all_reduce + 2 (n-1)/n x 2 H B / link)
//! prompt = I (2 P_active) / (n mfu_p F) + I^2/2 attention FLOPs / (n mfu_a F16) + I x the links' bytes
//! ```
//!
//! F is the dense rate of the number format times the share of it that a large matrix product reaches on that
//! GPU. Weights are read while products run (root of squares); attention and links wait for both. Experts that a
//! step touches: E (1 - (1 - k/E)^B). KV heads fewer than GPUs are copied, and latent attention (one head) is
//! copied to every GPU, unless attention is data-parallel, where each GPU keeps whole requests.
//!
//! What it is: own formula; terms are the usual roofline ones. What it is not: a model of the scheduler. The
//! families that use it stand beside this folder: `serve_decode_tuned`, `ttft_tuned`, `serve_static_tuned`,
//! `serve_offline_tuned`; their coefficients give the shares.

use serde::Deserialize;

#[cfg(test)]
pub(crate) mod tests;

/// A language model in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Network {
    /// Parameters that every token uses.
    pub(crate) dense_params: f64,
    /// Parameters of all experts together; 0 without a mixture.
    pub(crate) expert_params: f64,
    /// Share of the experts that one token uses, 0 < x <= 1.
    pub(crate) expert_share: f64,
    pub(crate) layers: f64,
    pub(crate) hidden: f64,
    /// Key and value elements that one token leaves in the cache, all layers.
    pub(crate) kv_values: f64,
    /// Heads over which the cache can be spread: KV heads; 1 for latent attention.
    pub(crate) kv_heads: f64,
    /// Query heads that share one KV head; 1 for latent attention.
    pub(crate) group: f64,
    /// Operations of attention for one token per token of context.
    pub(crate) attention_flops: f64,
}

/// Stored width of the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Sixteen,
    Eight,
    Four,
}

/// One GPU in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Chip {
    /// byte/s
    pub(crate) bandwidth: f64,
    /// Matrix products in the format of the weights: dense FLOP/s times the reachable share.
    pub(crate) flops: f64,
    /// The same in 16 bit, for attention.
    pub(crate) flops_16: f64,
    /// Usable memory, bytes.
    pub(crate) memory: f64,
    /// GPU to GPU, one direction, byte/s.
    pub(crate) link: f64,
}

/// A model on `gpus` GPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Replica {
    pub(crate) network: Network,
    pub(crate) chip: Chip,
    pub(crate) gpus: f64,
    /// Each GPU runs the attention of its own requests; experts are spread.
    pub(crate) attention_parallel: bool,
    pub(crate) width: Width,
    /// Bytes of one weight, scales included.
    pub(crate) weight_bytes: f64,
    /// Bytes of one element of the cache.
    pub(crate) kv_bytes: f64,
}

/// Which shares of its data sheet the software reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pace {
    /// Of memory bandwidth while the cache is read.
    pub(crate) bandwidth: f64,
    /// The same while weights are read.
    pub(crate) weight_bandwidth: f64,
    /// Of `Chip::flops`.
    pub(crate) decode_mfu: f64,
    pub(crate) prefill_mfu: f64,
    /// Of `Chip::flops_16`.
    pub(crate) attention_mfu: f64,
    /// Seconds a layer.
    pub(crate) layer_s: f64,
    /// Seconds of one all-reduce of nothing.
    pub(crate) all_reduce_s: f64,
    pub(crate) link: f64,
    /// 0: a KV head is read once for all its query heads; 1: once for each.
    pub(crate) group_power: f64,
}

impl Network {
    pub(crate) fn params(&self) -> f64 {
        self.dense_params + self.expert_params
    }

    /// Parameters that one token uses.
    pub(crate) fn active_params(&self) -> f64 {
        self.dense_params + self.expert_params * self.expert_share
    }

    pub(crate) fn is_mixture(&self) -> bool {
        self.expert_params > 0.0
    }
}

/// A share for each stored width of the weights.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(crate) struct ByWidth {
    pub(crate) sixteen: f64,
    pub(crate) eight: f64,
    pub(crate) four: f64,
}

impl ByWidth {
    pub(crate) fn of(&self, width: Width) -> f64 {
        match width {
            Width::Sixteen => self.sixteen,
            Width::Eight => self.eight,
            Width::Four => self.four,
        }
    }

    #[cfg(test)]
    pub(crate) fn all(x: f64) -> ByWidth {
        ByWidth {
            sixteen: x,
            eight: x,
            four: x,
        }
    }
}

impl Replica {
    /// Bytes of all weights.
    pub(crate) fn weights(&self) -> f64 {
        self.network.params() * self.weight_bytes
    }

    /// GPUs over which the cache of one request is spread.
    pub(crate) fn shards(&self) -> f64 {
        if self.attention_parallel {
            self.gpus
        } else {
            self.gpus.min(self.network.kv_heads.max(1.0))
        }
    }

    /// Bytes that the all-reduces of one token move through each GPU, all layers; with attention in parallel
    /// only the token's own GPU takes part.
    pub(crate) fn link_bytes(&self) -> f64 {
        if self.gpus <= 1.0 {
            return 0.0;
        }
        let n = self.gpus;
        let share = if self.attention_parallel {
            1.0 / n
        } else {
            1.0
        };
        share * 2.0 * (n - 1.0) / n * 2.0 * self.network.hidden * 2.0 * self.network.layers
    }

    /// Requests of `tokens` tokens that find room beside the weights; at least one.
    pub(crate) fn batch_that_fits(&self, tokens: f64, usable_share: f64) -> f64 {
        let room = usable_share * self.chip.memory * self.gpus - self.weights();
        let copies = self.gpus / self.shards();
        (room / (self.network.kv_values * self.kv_bytes * tokens * copies)).max(1.0)
    }

    /// Seconds to read every weight once.
    pub(crate) fn weight_time(&self, pace: &Pace) -> f64 {
        self.weights() / (self.gpus * pace.weight_bandwidth * self.chip.bandwidth)
    }

    /// Seconds of one step that gives `batch` requests one token each, `context` tokens long on average.
    pub(crate) fn step(&self, batch: f64, context: f64, pace: &Pace) -> f64 {
        let net = &self.network;
        let touched = net.expert_params * (1.0 - (1.0 - net.expert_share).max(0.0).powf(batch));
        let weights = (net.dense_params + touched) * self.weight_bytes
            / (self.gpus * pace.weight_bandwidth * self.chip.bandwidth);
        let products =
            2.0 * net.active_params() * batch / (pace.decode_mfu * self.chip.flops * self.gpus);
        let attention = batch
            * context
            * net.kv_values
            * self.kv_bytes
            * net.group.max(1.0).powf(pace.group_power)
            / (self.shards() * pace.bandwidth * self.chip.bandwidth);
        let links = if self.gpus > 1.0 {
            2.0 * net.layers * pace.all_reduce_s
                + batch * self.link_bytes() / (pace.link * self.chip.link)
        } else {
            0.0
        };
        weights.hypot(products) + attention + net.layers * pace.layer_s + links
    }

    /// Seconds in which all GPUs together read one prompt.
    pub(crate) fn prompt(&self, tokens: f64, pace: &Pace) -> f64 {
        let net = &self.network;
        let products =
            tokens * 2.0 * net.active_params() / (pace.prefill_mfu * self.chip.flops * self.gpus);
        let attention = tokens * tokens / 2.0 * net.attention_flops
            / (pace.attention_mfu * self.chip.flops_16 * self.gpus);
        let links = if self.gpus > 1.0 {
            tokens * self.link_bytes() / (pace.link * self.chip.link)
        } else {
            0.0
        };
        products + attention + links
    }
}
