//! What training keeps in the memory of one GPU.
//!
//! Mixed-precision Adam: 16 bytes a parameter = 2 weight + 2 gradient + 12 optimizer; activations of one
//! sequence: tokens x hidden x layers x (34 without recomputation, 2 with), plus one layer's working set
//! and the logits (Korthikanti et al. 2022, with flash attention). Constants: `[memory.training]`.

use crate::coefficients::{Coefficients, TrainingMemory};
use crate::spec::GIB;
use lessee_model::{
    MemoryUse,
    workload::{Method, Optimizer, Precision, Sharding, TrainJob, lora_params},
};

/// Bytes of a training job before it is spread over GPUs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Footprint {
    /// All weights as they lie in memory.
    pub(crate) weights: f64,
    /// Gradients of what is trained.
    pub(crate) gradients: f64,
    pub(crate) optimizer: f64,
}

/// Where the pieces go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Split {
    pub(crate) tensor_parallel: f64,
    /// Ranks that share what the stage shards.
    pub(crate) shards: f64,
    /// 0 none, 1 optimizer, 2 + gradients, 3 + weights.
    pub(crate) stage: u8,
    pub(crate) gpus: f64,
}

fn optimizer_bytes(optimizer: Optimizer, m: &TrainingMemory) -> f64 {
    match optimizer {
        Optimizer::Adamw => m.optimizer_adam,
        Optimizer::Adamw8bit => m.optimizer_adam_8bit,
        Optimizer::Adafactor => m.optimizer_adafactor,
        Optimizer::Sgd => m.optimizer_sgd_momentum,
    }
}

impl Footprint {
    pub(crate) fn of(job: &TrainJob, c: &Coefficients) -> Footprint {
        let m = &c.memory.training;
        let full_width = matches!(job.precision, Precision::Fp32 | Precision::Tf32);
        let (weight, gradient) = if full_width {
            (m.fp32_weight, m.fp32_weight)
        } else {
            (m.weight, m.gradient)
        };
        // in FP32 training the weights are their own full-width copy
        let spared = if full_width {
            m.fp32_copy_in_optimizer
        } else {
            0.0
        };
        let state = (optimizer_bytes(job.optimizer, m) - spared).max(0.0);
        let params = job.model.params;
        let (trained, weights) = match job.method {
            Method::Full => (params, params * weight),
            Method::Lora => {
                let adapters = lora_params(job).min(params);
                (adapters, params * weight + adapters * weight)
            }
            Method::Qlora => {
                let adapters = lora_params(job).min(params);
                let base = c.bytes_per_weight.nf4.unwrap_or(m.qlora_base_bytes);
                (adapters, params * base + adapters * weight)
            }
        };
        Footprint {
            weights,
            gradients: trained * gradient,
            optimizer: trained * state,
        }
    }

    /// Memory of one GPU without activations, bytes.
    pub(crate) fn per_gpu(
        &self,
        split: Split,
        layers: f64,
        m: &TrainingMemory,
        usable: f64,
    ) -> MemoryUse {
        let sharded = |bytes: f64, from: u8| {
            let ranks = if split.stage >= from {
                split.shards
            } else {
                1.0
            };
            bytes / split.tensor_parallel / ranks * m.fragmentation
        };
        let mut overhead = m.cuda_context_gib * GIB;
        if split.gpus > 1.0 {
            overhead += m.nccl_gib_per_gpu * GIB;
        }
        if split.stage >= 3 {
            // the layer in use and the one being fetched are whole
            overhead += 2.0 * self.weights / layers.max(1.0) / split.tensor_parallel;
        }
        MemoryUse {
            weights: sharded(self.weights, 3),
            gradients: sharded(self.gradients, 2),
            optimizer: sharded(self.optimizer, 1),
            overhead,
            usable,
            ..MemoryUse::default()
        }
    }
}

/// Activations of one sequence of `tokens` on one GPU, bytes.
pub(crate) fn activations_per_sequence(
    tokens: f64,
    hidden: f64,
    layers: f64,
    vocab: f64,
    tensor_parallel: f64,
    checkpointing: bool,
    m: &TrainingMemory,
) -> f64 {
    let kept = if checkpointing {
        m.activation_checkpointed * layers + m.activation_full
    } else {
        m.activation_full * layers
    };
    let logits = m.logits_bytes_per_token_vocab * vocab;
    tokens * (hidden * kept + logits) / tensor_parallel * m.fragmentation
}

/// ZeRO stages that the workload allows, lowest first.
pub(crate) fn stages(sharding: Sharding) -> &'static [u8] {
    match sharding {
        Sharding::Auto => &[0, 1, 2, 3],
        Sharding::None => &[0],
        Sharding::Zero1 => &[1],
        Sharding::Zero2 => &[2],
        Sharding::Zero3 => &[3],
    }
}

/// Recomputation of activations that the workload allows.
pub(crate) fn checkpointing_choices(given: Option<bool>) -> &'static [bool] {
    match given {
        None => &[false, true],
        Some(false) => &[false],
        Some(true) => &[true],
    }
}
