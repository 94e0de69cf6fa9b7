//! What a feed test is asked for, and what of it makes no sense.

use super::decode::Bounds;
use super::error::FeedError;
use crate::gpu::TrainerGpu;
use serde::Serialize;
use std::path::PathBuf;

/// What takes the batches.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Consumer {
    /// Sleeps for the model's step, as MLPerf Storage does.
    Timed {
        /// Host-to-device bandwidth, GB/s: the copy is waited for, not overlapped. `None`: no copy.
        copy_gbs: Option<f64>,
        /// Why it is no kernel: a code of `probe-reason-...`, and what was met.
        why: Option<String>,
    },
    /// Copies each batch to its GPU and computes there for the model's step ([`run_on`]). GPUs that do not take it without
    /// being at fault are played by a timer with the bandwidths that were proved.
    Kernel { gpus: Vec<TrainerGpu> },
}

impl Consumer {
    /// Of a machine of which no more is known.
    pub fn timed() -> Consumer {
        Consumer::Timed {
            copy_gbs: None,
            why: None,
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct FeedOptions {
    /// The user's samples.
    pub samples: Option<PathBuf>,
    /// Where pictures of our own are written for the test when there are no samples, and deleted afterwards.
    pub scratch: PathBuf,
    /// How many, of 500 x 375 pixels.
    pub generated: usize,
    /// Seconds in which one GPU computes a step. Without it only the supply is measured.
    pub step_s: Option<f64>,
    /// Samples in a step of one GPU.
    pub batch: usize,
    /// GPUs that step together.
    pub gpus: usize,
    pub workers: usize,
    /// Batches ready per worker.
    pub prefetch: usize,
    /// Side of the picture that the model takes, pixels.
    pub side: u32,
    pub max_steps: usize,
    /// For all passes together.
    pub cap_s: f64,
    pub memory_bytes: u64,
    pub pass_at: f64,
    pub bounds: Bounds,
    pub consumer: Consumer,
}

impl FeedOptions {
    pub fn new(scratch: PathBuf, workers: usize) -> FeedOptions {
        FeedOptions {
            samples: None,
            scratch,
            generated: 1000,
            step_s: None,
            batch: 64,
            gpus: 1,
            workers,
            prefetch: 2,
            side: 224,
            max_steps: 100_000,
            cap_s: 60.0,
            memory_bytes: 256 << 20,
            pass_at: 0.90,
            bounds: Bounds::default(),
            consumer: Consumer::timed(),
        }
    }
}

/// # Errors
/// Options that make no sense.
pub fn check(options: &FeedOptions) -> Result<(), FeedError> {
    let within = |what, value: f64, low: f64, high: f64, range| match value.is_finite()
        && value >= low
        && value <= high
    {
        true => Ok(()),
        false => Err(FeedError::Option { what, value, range }),
    };
    within("--batch", options.batch as f64, 1.0, 65536.0, "1 - 65536")?;
    within("--workers", options.workers as f64, 1.0, 1024.0, "1 - 1024")?;
    within(
        "a number of GPUs",
        options.gpus as f64,
        1.0,
        64.0,
        "1 to 64",
    )?;
    within("--side", f64::from(options.side), 8.0, 4096.0, "8 - 4096")?;
    within("a time cap", options.cap_s, 0.1, 3600.0, "0.1 to 3600 s")?;
    within(
        "a number of generated samples",
        options.generated as f64,
        1.0,
        1e6,
        "1 to 1000000",
    )?;
    within("a passing mark", options.pass_at, 0.01, 1.0, "0.01 to 1")?;
    if let Some(step_s) = options.step_s {
        within("--step-seconds", step_s, 1e-4, 600.0, "0.0001 - 600 s")?;
    }
    match &options.consumer {
        Consumer::Timed { copy_gbs, .. } => within(
            "a copy bandwidth",
            copy_gbs.unwrap_or(1.0),
            1e-3,
            1e4,
            "0.001 to 10000 GB/s",
        ),
        Consumer::Kernel { gpus } => {
            within("a number of GPUs", gpus.len() as f64, 1.0, 64.0, "1 to 64")
        }
    }
}
