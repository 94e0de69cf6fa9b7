//! Sizes that follow from the model: checkpoints, adapters, and what comes out of a job. Not here: what the
//! user typed, and what memory training takes (`lessee-perf`).

use super::*;

/// Bytes of one checkpoint: bytes per parameter (`checkpoint.bytes_per_param_*` of the defaults: weights,
/// FP32 copy and the optimizer's moments) x the parameters that are trained, for LoRA the adapters alone.
pub fn checkpoint_bytes(train: &TrainJob, defaults: &Defaults) -> f64 {
    let per_param = defaults.get(match train.optimizer {
        Optimizer::Adamw => "checkpoint.bytes_per_param_adamw",
        Optimizer::Adamw8bit => "checkpoint.bytes_per_param_adamw_8bit",
        Optimizer::Adafactor => "checkpoint.bytes_per_param_adafactor",
        Optimizer::Sgd => "checkpoint.bytes_per_param_sgd",
    });
    match train.method {
        Method::Full => train.model.params * per_param,
        Method::Lora | Method::Qlora => lora_params(train) * per_param,
    }
}

/// Parameters of LoRA adapters on all linear layers of a transformer: per layer and rank r, two thin
/// matrices for each of q, k, v, o and the three of the feed-forward part. Without the model's shape: a share
/// of its parameters.
pub fn lora_params(train: &TrainJob) -> f64 {
    let (Some(layers), Some(hidden)) = (train.model.layers, train.model.hidden) else {
        return train.model.params * train.lora_fraction;
    };
    let ffn = train.model.ffn.unwrap_or(hidden * train.ffn_ratio);
    let kv = match (train.model.kv_heads, train.model.heads) {
        (Some(kv), Some(heads)) if heads > 0.0 => hidden * kv / heads,
        _ => hidden,
    };
    let attention = 2.0 * (hidden + hidden) + 2.0 * (hidden + kv);
    let feed_forward = 3.0 * (hidden + ffn);
    layers * train.lora_rank * (attention + feed_forward)
}

/// What comes out unless said otherwise: the trained weights in 16 bit (or the adapters), the frames.
pub(super) fn derived_out(job: &Job) -> Bytes {
    match job {
        Job::Train(train) => trained_bytes(train),
        Job::Sweep(SweepJob {
            trial: Trial::Train(train),
            ..
        }) => trained_bytes(train),
        Job::Render(render) => Bytes(render.frames * render.output_per_frame.0),
        _ => Bytes::ZERO,
    }
}

/// What has to lie on the disk of a machine: the data, unless they are read from object storage, the weights
/// of the model (16 bit where they are trained), and the newest checkpoint before it is sent away.
pub(super) fn on_disk(job: &Job, data: &Data, checkpoint: Option<&Checkpoint>) -> Bytes {
    let data = match data.storage {
        DataStorage::Object => 0.0,
        DataStorage::Block | DataStorage::Local => data.size.0,
    };
    let weights = match job {
        Job::Train(train) => 2.0 * train.model.params,
        Job::Sweep(SweepJob {
            trial: Trial::Train(train),
            ..
        }) => 2.0 * train.model.params,
        Job::Serve(serve) => {
            let bits = match serve.precision {
                Precision::Fp32 | Precision::Tf32 => 32.0,
                Precision::Fp16 | Precision::Bf16 => 16.0,
                Precision::Fp8 | Precision::Int8 => 8.0,
                Precision::Int4 | Precision::Fp4 => 4.0,
            };
            serve.model.params * bits / 8.0
        }
        _ => 0.0,
    };
    Bytes(data + weights + checkpoint.map_or(0.0, |c| c.size.0))
}

fn trained_bytes(train: &TrainJob) -> Bytes {
    let params = match train.method {
        Method::Full => train.model.params,
        Method::Lora | Method::Qlora => lora_params(train),
    };
    Bytes(2.0 * params)
}
