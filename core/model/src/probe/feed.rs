//! The feed test: samples through read, decode, augment and batch workers against a consumer at the model's pace.

use super::Reading;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedReading {
    /// The user's own samples through read, decode and batch, samples per second for the whole machine.
    pub samples_per_second: Reading,
    /// `disk`, `decode`, `copy`, `gpu`
    pub limited_by: Option<String>,
    /// Why it is this one, in the language of the run.
    #[serde(default)]
    pub why: Option<String>,
    /// Accelerator utilisation as MLPerf Storage defines it, from disk, 0 to 1.
    #[serde(default)]
    pub utilisation: Option<Reading>,
    #[serde(default)]
    pub utilisation_from_memory: Option<Reading>,
    /// Whether the utilisation reaches the mark; none: cannot tell.
    #[serde(default)]
    pub delivers: Option<bool>,
    #[serde(default)]
    pub samples_per_second_from_memory: Option<Reading>,
    /// GPUs that would still be busy for the share of the mark.
    #[serde(default)]
    pub gpus_fed: Option<Reading>,
    #[serde(default)]
    pub gpus_fed_from_memory: Option<Reading>,
    /// Processor seconds of one sample, read from memory.
    #[serde(default)]
    pub cpu_s_per_sample: Option<Reading>,
    #[serde(default)]
    pub settings: Option<FeedSettings>,
    #[serde(default)]
    pub set: Option<SampleSet>,
    #[serde(default)]
    pub cache: Option<CacheCheck>,
    #[serde(default)]
    pub damaged: Option<Damaged>,
    /// Raw times, from which all else can be computed again.
    #[serde(default)]
    pub passes: Vec<FeedPass>,
}

impl FeedReading {
    /// Of which nothing else is known.
    pub fn supply(samples_per_second: Reading, limited_by: Option<String>) -> FeedReading {
        FeedReading {
            samples_per_second,
            limited_by,
            why: None,
            utilisation: None,
            utilisation_from_memory: None,
            delivers: None,
            samples_per_second_from_memory: None,
            gpus_fed: None,
            gpus_fed_from_memory: None,
            cpu_s_per_sample: None,
            settings: None,
            set: None,
            cache: None,
            damaged: None,
            passes: Vec::new(),
        }
    }
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedSettings {
    /// The user's folder; none: pictures that were made for the test.
    pub samples: Option<String>,
    /// Seconds in which one GPU computes a step; none: only the supply was measured.
    pub step_s: Option<f64>,
    /// Samples in a step of one GPU.
    pub batch: usize,
    /// GPUs that step together.
    pub gpus: usize,
    pub workers: usize,
    /// Batches ready per worker.
    pub prefetch: usize,
    /// Side of the picture that the model takes, pixels.
    pub side_px: u32,
    /// `kernel`: batches were copied to the GPUs, where a kernel took the step's time. `timed`: the step's time was
    /// waited for.
    #[serde(default)]
    pub consumer: Option<String>,
    /// Why it was not a kernel: a code, and what was met.
    #[serde(default)]
    pub consumer_why: Option<String>,
    /// Host-to-device bandwidth that a timed consumer waits for, GB/s, all GPUs together; none: copies take no time, or
    /// were really made.
    pub copy_gbs: Option<f64>,
    /// The utilisation from which on the machine delivers, 0 to 1.
    pub pass_at: f64,
}

/// The samples that were found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SampleSet {
    pub samples: usize,
    pub files: usize,
    pub bytes: u64,
    /// Columns of Parquet files whose rows are samples.
    #[serde(default)]
    pub parquet: Vec<ParquetColumn>,
    /// What was left out of the folder, and why.
    pub notes: Vec<String>,
}

/// A column of bytes whose rows are samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParquetColumn {
    /// Its path, `image.bytes`.
    pub column: String,
    /// Files in which it is read.
    pub files: usize,
}

/// What was in the page cache before the pass from disk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheCheck {
    pub asked: usize,
    pub cached: usize,
    /// The file system cannot tell (no `RWF_NOWAIT`).
    pub cannot_tell: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DamagedSample {
    pub name: String,
    pub reason: String,
}

/// What could not be used, each sample once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Damaged {
    pub count: usize,
    /// The first hundred.
    pub named: Vec<DamagedSample>,
}

/// One pass and its raw times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedPass {
    /// `disk` or `memory`.
    pub source: String,
    /// 0: the consumer takes what it gets, to see how much there is.
    pub model_step_s: f64,
    pub workers: usize,
    /// Samples in a step, over all GPUs.
    pub samples_per_step: usize,
    /// MLPerf's definition, the first step left out, 0 to 1.
    pub au: Reading,
    pub samples_per_second: Reading,
    pub stages: Stages,
    pub curve: Vec<CurvePoint>,
    pub stalls: Vec<Stall>,
    /// What the GPUs did, where they took the batches.
    #[serde(default)]
    pub gpus: Vec<FeedGpu>,
    pub steps: Vec<StepTime>,
}

/// One GPU that took batches: all of them copied and computed at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedGpu {
    pub cuda_index: u32,
    /// Its index in NVML.
    pub index: Option<u32>,
    /// Host to device, GB/s by the device's clock, while the others copied too; samples are some of the steps.
    pub copy_gbs: Reading,
    /// What the kernel took that stands for the model's step, seconds; none: the pass had no pace.
    pub kernel_s: Option<Reading>,
}

/// Where the workers' time went, seconds over all workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stages {
    pub read_s: f64,
    /// Of it, not on a processor: waiting for the disk, or for a free core.
    pub read_wait_s: f64,
    /// With unpacking rows out of Parquet pages.
    pub decode_s: f64,
    pub augment_s: f64,
    /// Copying into the batch, and where GPUs take it, from there into pinned memory.
    pub batch_s: f64,
    /// Waiting because the queue was full: time to spare.
    pub blocked_s: f64,
    /// Processor time of all of it.
    pub cpu_s: f64,
    pub samples: u64,
    pub bytes_read: u64,
}

/// One training step, seconds since the pass began.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepTime {
    /// The accelerator asked for its next batch.
    pub asked_s: f64,
    /// It has it.
    pub got_s: f64,
    /// The step is done.
    pub end_s: f64,
    /// Moving the batch to the accelerator, between `got_s` and `end_s`; of several GPUs the slowest, by its own clock.
    pub copy_s: f64,
    /// What the model computed: never more than its step time. A timed consumer that woke late did not compute longer,
    /// nor did a kernel that took longer on a card that became slow.
    pub compute_s: f64,
    /// What the kernel really took on the slowest GPU, by its own clock; none: timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_s: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// Start of the interval, seconds.
    pub at_s: f64,
    /// Share of it spent computing, 0 to 1.
    pub utilisation: f64,
}

/// The accelerator waited longer than a step computes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    pub from_s: f64,
    pub to_s: f64,
}
