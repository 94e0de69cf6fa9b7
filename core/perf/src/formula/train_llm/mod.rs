//! Training and fine-tuning of language models: GPU-seconds per token, dense and mixture-of-experts.
//!
//! Sum of what one GPU does for one token (`P`: parameters that are multiplied, `L` layers, `H` hidden size, `s`
//! sequence, `r` = 1, or 4/3 with recomputation):
//!
//! ```text
//! matmul    = 6 P r / (gemm x share x dense rate)        share: best measured matrix product of this GPU
//! attention = 6 L W s (3.5 or 4.5) / 3 / (attention x half rate x (reference / half rate)^power)
//! elements  = (element_bytes L H r + logit_bytes vocab) / memory bandwidth
//! host      = host_ms L / tokens of the micro-batch
//! tensor    = tensor_exposed x 16 (tp - 1) L H / link    four reductions of 2 H bytes a layer
//! gather    = gather_exposed x bytes that leave the NVLink domain / network
//! experts   = 8 k L H x (share inside / link + share outside / network)
//! ```
//!
//! times the pipeline bubble 1 + (pp - 1) / (vp x micro-steps). Element-wise work moves bytes and the GPUs' matrix
//! rates grew faster than their memory: that, and attention kernels which gain with about the root of the matrix
//! rate, is why newer parts reach a smaller share of their peak. Attention FLOPs are causal, 2 products forward and
//! 5 backward (Dao 2023); the layer counts of bytes and reductions follow Narayanan et al. 2021; the pipeline
//! bubble is theirs too. Coefficients: ours, fitted on llm-foundry MPT runs (renter) and Megatron-Bridge tables
//! (tuned): A100, H100, GB200. Fixed, not fitted: host and optimizer time, NIC per PCIe generation, PCIe bus.
//! Do not trust it for mixtures beyond a factor of 1.5 (software decides), clusters on plain Ethernet, PCIe hosts.

use super::{Calibration, Question};
use serde::Deserialize;

/// What the fit decides; fixed ones are said to be so in the file that lists starting values.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    /// Share of the GPU's best 16-bit matrix product that the layers reach.
    pub(crate) gemm: f64,
    /// The same for 8-bit products; casts and transposes are in it.
    pub(crate) gemm_fp8: f64,
    /// Factor on it for block-scaled FP8 (MXFP8).
    pub(crate) gemm_mx: f64,
    /// Factor on it for block-scaled FP4, at its own higher dense rate.
    pub(crate) gemm_fp4: f64,
    /// Share of the 16-bit rate that attention reaches on a GPU of `attention_reference`, in both tiers.
    pub(crate) attention_renter: f64,
    pub(crate) attention_tuned: f64,
    /// FLOP/s; fixed.
    pub(crate) attention_reference: f64,
    /// How much of a higher matrix rate attention misses: 0 none, 1 all of it; fixed.
    pub(crate) attention_power: f64,
    /// Bytes to and from memory per token, layer and hidden unit, forward and backward.
    pub(crate) element_bytes: f64,
    /// Bytes per token and word of the vocabulary.
    pub(crate) logit_bytes: f64,
    /// Share of tensor-parallel traffic that is waited for.
    pub(crate) tensor_exposed: f64,
    /// Share of gathers and scatters over the network that is waited for.
    pub(crate) gather_exposed: f64,
    /// Milliseconds of launches per layer and micro-batch; fixed.
    pub(crate) host_ms: f64,
    /// Bytes that the optimizer moves per parameter and step; fixed.
    pub(crate) optimizer_bytes: f64,
    /// Bytes per parameter to turn 4-bit weights into 16-bit ones, each pass; fixed.
    pub(crate) unpack_bytes: f64,
    /// Byte/s of network per GPU of a PCIe 4 host; doubles with each generation; fixed.
    pub(crate) network_gen4: f64,
    /// Byte/s that collectives reach over a PCIe 4 host; doubles with each generation; fixed.
    pub(crate) bus_gen4: f64,
    /// GPUs of one machine where a table does not say; fixed.
    pub(crate) machine_gpus: f64,
    /// GPUs of a rack whose links all meet, and byte/s per GPU and direction from which a superchip has such; fixed.
    pub(crate) rack_gpus: f64,
    pub(crate) rack_link: f64,
}

/// What mixtures add.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct MoeCoefficients {
    /// Element-wise bytes of one routed copy of a token, as a share of those of the token itself.
    pub(crate) routed_elements: f64,
    /// Share of the exchange of tokens between experts that is waited for; fixed.
    pub(crate) experts_exposed: f64,
}

/// Number format of the matrix products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// 16 bit, or wider.
    Half,
    Fp8,
    /// FP8 with a scale per block.
    MxFp8,
    /// FP4 with a scale per block.
    Fp4,
}

/// Whose stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tier {
    /// A common trainer at its defaults.
    Renter,
    /// A vendor's tables.
    Tuned,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Processor {
    /// Dense FLOP/s of `format`.
    pub matrix: f64,
    pub format: Format,
    /// Share of `matrix` that the best product reaches on this GPU.
    pub gemm_share: f64,
    /// Dense FLOP/s in 16 bit: attention stays there whatever the format.
    pub half: f64,
    /// Byte/s.
    pub bandwidth: f64,
}

/// The network in numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    pub layers: f64,
    pub hidden: f64,
    /// Heads x head dimension.
    pub attention_width: f64,
    /// Parameters that one token is multiplied with.
    pub multiplied: f64,
    /// All parameters.
    pub params: f64,
    pub vocab: f64,
    /// Experts per token; 0 for a dense network.
    pub routed: f64,
}

/// What is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trained {
    All,
    /// Low-rank adapters on frozen weights.
    Adapters,
    /// The same, the frozen weights stored in 4 bit.
    AdaptersOnFourBit,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Work {
    /// Tokens.
    pub sequence: f64,
    /// Activations are computed again in the backward pass.
    pub recompute: bool,
    pub trained: Trained,
}

/// Seconds per token of one GPU that holds the whole network, and per micro-batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Compute {
    pub matmul: f64,
    pub attention: f64,
    pub elements: f64,
    /// Per micro-batch, whatever its size: launches, and unpacking of 4-bit weights.
    pub per_micro_batch: f64,
}

impl Compute {
    pub(crate) fn per_token(&self) -> f64 {
        self.matmul + self.attention + self.elements
    }
}

/// Arithmetic and memory traffic without any communication. `routed_elements` is 0 for a dense network.
pub(crate) fn compute(
    gpu: &Processor,
    shape: &Shape,
    work: &Work,
    tier: Tier,
    routed_elements: f64,
    c: &Coefficients,
) -> Compute {
    let again = if work.recompute { 1.0 } else { 0.0 };
    // 2 FLOPs a parameter forward, 2 for the gradient of the input and 2 for that of the weight
    let products = match work.trained {
        Trained::All => 6.0 + 2.0 * again,
        Trained::Adapters | Trained::AdaptersOnFourBit => 4.0 + 2.0 * again,
    };
    let reached = match gpu.format {
        Format::Half => c.gemm,
        Format::Fp8 => c.gemm_fp8,
        Format::MxFp8 => c.gemm_fp8 * c.gemm_mx,
        Format::Fp4 => c.gemm_fp8 * c.gemm_fp4,
    };
    let attention = match tier {
        Tier::Renter => c.attention_renter,
        Tier::Tuned => c.attention_tuned,
    };
    let attention_rate =
        attention * gpu.half * (c.attention_reference / gpu.half).powf(c.attention_power);
    // causal: 2 products x 2 FLOPs x s / 2 = 2 s a unit of width forward, 5 / 2 of that backward
    let attention_flops =
        2.0 * shape.layers * shape.attention_width * work.sequence * (3.5 + again);
    let units = shape.layers * shape.hidden * (1.0 + routed_elements * shape.routed);
    let element_bytes = c.element_bytes * units * (1.0 + again / 3.0) + c.logit_bytes * shape.vocab;
    let unpack = match work.trained {
        Trained::AdaptersOnFourBit => c.unpack_bytes * shape.params * (2.0 + again) / gpu.bandwidth,
        Trained::All | Trained::Adapters => 0.0,
    };
    Compute {
        matmul: products * shape.multiplied / (reached * gpu.gemm_share * gpu.matrix),
        attention: attention_flops / attention_rate,
        elements: element_bytes / gpu.bandwidth,
        per_micro_batch: c.host_ms * 1e-3 * shape.layers + unpack,
    }
}

/// How GPUs are wired.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wiring {
    /// Byte/s of one GPU's link in one direction; `None`: PCIe.
    pub link: Option<f64>,
    /// GPUs that the link, or the host, joins.
    pub domain: f64,
    pub pcie_gen: f64,
}

impl Wiring {
    fn doubled(&self, at_gen4: f64) -> f64 {
        at_gen4 * (self.pcie_gen - 4.0).exp2()
    }

    /// Byte/s of the network that one GPU may use.
    pub(crate) fn network(&self, c: &Coefficients) -> f64 {
        self.doubled(c.network_gen4)
    }

    /// Byte/s between GPUs of one domain.
    pub(crate) fn inside(&self, c: &Coefficients) -> f64 {
        self.link.unwrap_or_else(|| self.doubled(c.bus_gen4))
    }
}

/// How the job is spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Split {
    pub gpus: f64,
    pub tensor: f64,
    pub pipeline: f64,
    /// Chunks of layers per pipeline stage.
    pub interleave: f64,
    pub context: f64,
    pub expert: f64,
    /// GPUs that share weights, gradients and optimizer state; 1: none.
    pub shards: f64,
    /// Sequences.
    pub micro_batch: f64,
    /// Micro-batches per replica and step.
    pub micro_steps: f64,
}

/// In what unit the table gives speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Measure {
    /// tokens/s and GPU
    Tokens,
    /// TFLOP/s and GPU, at so many FLOPs a token.
    Teraflops { flops: f64 },
    /// Percent of a peak in FLOP/s, at so many FLOPs a token.
    Utilisation { flops: f64, peak: f64 },
}

/// One training run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    pub arch: String,
    pub tier: Tier,
    pub gpu: Processor,
    pub shape: Shape,
    pub work: Work,
    pub wiring: Wiring,
    pub split: Split,
    pub measure: Measure,
}

impl Query {
    fn is_mixture(&self) -> bool {
        self.shape.routed > 0.0
    }

    /// GPU-seconds per token.
    pub(crate) fn seconds(&self, c: &Coefficients, moe: &MoeCoefficients) -> f64 {
        let (s, n) = (&self.split, &self.shape);
        let compute = compute(&self.gpu, n, &self.work, self.tier, moe.routed_elements, c);
        let (inside, network) = (self.wiring.inside(c), self.wiring.network(c));
        let units = n.layers * n.hidden;
        let micro_tokens = s.micro_batch * self.work.sequence;
        // the GPUs of one replica wait for the launches of each of its micro-batches
        let host = compute.per_micro_batch * s.tensor * s.context / micro_tokens;
        let passes = if self.work.recompute { 1.5 } else { 1.0 };
        let tensor = c.tensor_exposed * 16.0 * (s.tensor - 1.0) * units * passes / inside;
        let trained = match self.work.trained {
            Trained::All => 1.0,
            Trained::Adapters | Trained::AdaptersOnFourBit => 0.0,
        };
        let gather = if s.shards > 1.0 {
            // gathered forward and backward, scattered once, 2 bytes each; a link hides its part behind the layers
            let bytes = (4.0 + 2.0 * trained) * n.params;
            let near = self.wiring.domain.min(s.shards);
            let over_bus = match self.wiring.link {
                Some(_) => 0.0,
                None => (near - 1.0) / near / inside,
            };
            let over_network = (1.0 - near / s.shards) / near / network;
            c.gather_exposed * bytes * (over_bus + over_network) / micro_tokens
        } else {
            0.0
        };
        let step_tokens = micro_tokens * s.micro_steps / (s.tensor * s.pipeline * s.context);
        // tables of vendors spread the optimizer over all replicas
        let states = s.shards.max(if self.tier == Tier::Tuned {
            s.gpus
        } else {
            1.0
        });
        let optimizer =
            trained * c.optimizer_bytes * n.params / states / self.gpu.bandwidth / step_tokens;
        let experts = if self.is_mixture() && s.expert > 1.0 {
            let near = (self.wiring.domain / s.tensor).clamp(1.0, s.expert);
            let share_inside = (near - 1.0) / s.expert;
            let share_outside = 1.0 - near / s.expert;
            // 2 bytes there and back, forward and backward
            let bytes = 8.0 * n.routed * units;
            moe.experts_exposed * bytes * (share_inside / inside + share_outside / network)
        } else {
            0.0
        };
        let bubble = 1.0 + (s.pipeline - 1.0) / (s.interleave * s.micro_steps);
        (compute.per_token() + host + tensor + gather + experts) * bubble + optimizer
    }
}

impl Question for Query {
    fn family(&self) -> &'static str {
        if self.is_mixture() {
            "train_llm_moe"
        } else {
            "train_llm"
        }
    }

    fn class(&self) -> &'static str {
        match self.tier {
            Tier::Renter => "renter",
            Tier::Tuned => "tuned",
        }
    }

    fn arch(&self) -> &str {
        &self.arch
    }

    fn answer(&self, calibration: &Calibration) -> f64 {
        let seconds = self.seconds(
            &calibration.train_llm.coefficients,
            &calibration.train_llm_moe.coefficients,
        );
        match self.measure {
            Measure::Tokens => 1.0 / seconds,
            Measure::Teraflops { flops } => flops / seconds / 1e12,
            Measure::Utilisation { flops, peak } => 100.0 * flops / seconds / peak,
        }
    }
}

#[cfg(test)]
mod tests;
