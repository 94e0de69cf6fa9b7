//! The workload: what the user wants done. [`WorkloadFile`] is what was typed (every field optional),
//! [`Workload`] what it means (nothing optional left that a default can fill).

mod file;
mod parse;
mod resolve;
mod start;
mod wording;

pub use file::*;
pub use parse::{
    WorkloadError, apply_flag, field_paths, line_and_column, locate, parse_workload,
    parse_workload_with,
};
pub use resolve::{Defaults, ResolveContext, checkpoint_bytes, lora_params, resolve};
pub use start::StartTime;
pub use wording::wording;

use crate::{
    Bytes, Currency, Fx, GpuFilter, GpuRef, Interconnect, ModelSpec, Money, Range, Seconds,
};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

/// A workload with every default filled in; `assumed` lists which.
#[derive(Clone, Debug)]
pub struct Workload {
    pub name: String,
    /// When the machines are ordered; `None` = not said, then months are counted in hours.
    pub start: Option<Timestamp>,
    pub kind: Kind,
    pub job: Job,
    pub data: Data,
    pub checkpoint: Option<Checkpoint>,
    pub constraints: Constraints,
    pub setup: Setup,
    pub money: MoneyRules,
    /// `path = value` of each field that was not given.
    pub assumed: Vec<Assumed>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assumed {
    pub field: String,
    pub value: String,
    /// It follows from other fields, rather than from a table of defaults.
    pub derived: bool,
}

#[derive(Clone, Debug)]
pub enum Job {
    Train(TrainJob),
    Sweep(SweepJob),
    Serve(ServeJob),
    Render(RenderJob),
    Hours(HoursJob),
}

impl Job {
    /// Useful units of the whole job: tokens, samples, trials, output tokens, frames or GPU-hours.
    pub fn units(&self) -> f64 {
        match self {
            Job::Train(t) => t.units,
            Job::Sweep(s) => f64::from(s.trials),
            Job::Serve(s) => s.rate * s.output_tokens * s.duration.0,
            Job::Render(r) => r.frames,
            Job::Hours(h) => h.gpu_hours,
        }
    }
}

/// Pre-training and fine-tuning, of language models or others.
#[derive(Clone, Debug)]
pub struct TrainJob {
    pub model: ModelSpec,
    pub method: Method,
    pub precision: Precision,
    /// Tokens (language models) or samples to process in total, all epochs.
    pub units: f64,
    /// Tokens per sequence; 1 for models that count samples.
    pub seq_len: f64,
    /// Sequences or samples per optimizer step; `None` = as the machine fills best.
    pub global_batch: Option<f64>,
    pub optimizer: Optimizer,
    /// `None` = choose what fits.
    pub activation_checkpointing: Option<bool>,
    pub sharding: Sharding,
    pub lora_rank: f64,
    /// Parameters of the adapters as a share of the model's, for models whose layers are not known.
    pub lora_fraction: f64,
    /// Inner size of the feed-forward part over the hidden size, for models whose inner size is not known.
    pub ffn_ratio: f64,
    /// CPU core-seconds to read, decode and augment one sample; `None` = by kind of model.
    pub cpu_seconds_per_sample: Option<f64>,
}

impl TrainJob {
    /// Whether progress is counted in tokens.
    pub fn counts_tokens(&self) -> bool {
        self.model.kind == crate::ModelKind::Llm
    }
}

#[derive(Clone, Debug)]
pub struct SweepJob {
    pub trials: u32,
    /// Trials at the same time over the whole fleet; `None` = as many as fit.
    pub parallel: Option<u32>,
    pub gpus_per_trial: u32,
    pub trial: Trial,
}

#[derive(Clone, Debug)]
pub enum Trial {
    Train(Box<TrainJob>),
    /// Measured by the user.
    Hours {
        hours: f64,
        gpu: GpuRef,
        memory: Bytes,
    },
}

#[derive(Clone, Debug)]
pub struct ServeJob {
    pub model: ModelSpec,
    pub precision: Precision,
    pub kv_precision: Precision,
    /// Requests per second on average and at the peak that must be carried.
    pub rate: f64,
    pub peak_rate: f64,
    pub input_tokens: f64,
    pub output_tokens: f64,
    /// Longest time per output token, s.
    pub tpot: Seconds,
    pub ttft: Option<Seconds>,
    /// How long the service runs.
    pub duration: Seconds,
    pub min_replicas: u32,
}

#[derive(Clone, Debug)]
pub struct RenderJob {
    pub frames: f64,
    /// Seconds for one frame on `reference`.
    pub seconds_per_frame: f64,
    pub reference: RenderReference,
    /// Scene memory that one GPU must hold.
    pub memory: Bytes,
    pub engine: String,
    pub output_per_frame: Bytes,
    pub licences: Vec<Licence>,
}

#[derive(Clone, Debug)]
pub enum RenderReference {
    Gpu(GpuRef),
    /// Blender Open Data score, samples per minute.
    BlenderScore(f64),
}

#[derive(Clone, Debug)]
pub struct Licence {
    pub name: String,
    /// Exactly one of the two is set.
    pub per_node_hour: Option<Money>,
    pub per_node_month: Option<Money>,
}

#[derive(Clone, Debug)]
pub struct HoursJob {
    /// GPU-hours as measured on `gpu`.
    pub gpu_hours: f64,
    pub gpu: GpuRef,
    /// GPUs that the work can use at once.
    pub gpus: u32,
    /// Memory that one GPU must have.
    pub memory: Bytes,
    /// What the work leans on, for scaling to another GPU.
    pub leans_on: LeansOn,
}

#[derive(Clone, Debug)]
pub struct Data {
    pub size: Bytes,
    pub files: f64,
    pub location: Location,
    /// How often the whole set is read during the job.
    pub reads: f64,
    /// Result that leaves the provider at the end.
    pub out: Bytes,
    pub out_to: Destination,
    pub storage: DataStorage,
    /// How long the data stay in the provider's storage; at least the duration of the job.
    pub keep: Option<Seconds>,
    /// Traffic that already left this account this month.
    pub egress_used: Bytes,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Location {
    /// With the user: an office or own data centre.
    Office,
    /// In a provider's region.
    Provider {
        provider: String,
        region: Option<String>,
    },
    /// Public on the internet: nothing leaves anybody's bill.
    Internet,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    pub size: Bytes,
    pub every: Seconds,
    /// How many are kept at once; `None` = all of them.
    pub keep_last: Option<f64>,
    /// How long the kept ones stay after the job.
    pub keep_for: Seconds,
}

#[derive(Clone, Debug)]
pub struct Constraints {
    pub providers: Vec<String>,
    pub exclude_providers: Vec<String>,
    pub regions: Vec<String>,
    pub gpus: Vec<GpuFilter>,
    pub gpu_memory: Option<Range<Bytes>>,
    pub deadline: Option<Seconds>,
    pub budget: Option<Money>,
    /// May spot be used?
    pub spot: bool,
    pub purchases: Vec<crate::Purchase>,
    pub interconnect: Option<Interconnect>,
    pub compliance: Vec<String>,
    pub cpus_per_gpu: f64,
    pub ram_per_gpu: Bytes,
    pub max_nodes: u32,
    pub min_nodes: u32,
    pub max_price: Option<Money>,
    /// Take offers whose machine or price is not verified into the ranking.
    pub allow_unverified: bool,
}

#[derive(Clone, Debug)]
pub struct Setup {
    pub image: ImageReadiness,
    /// People's hours before the job can start, for the first machine.
    pub labour_hours: f64,
    /// Machine time billed before useful work: image pull, download, warm-up.
    pub machine: Seconds,
    /// Machine time billed after or between useful work.
    pub idle: Seconds,
    /// Time for which the machine stands stopped, disks kept.
    pub stopped: Seconds,
    /// People's hours for each interruption or failure.
    pub incident_hours: f64,
    /// Hours lost to slow support over the job.
    pub support_wait_hours: f64,
    /// Local or block disk that each machine needs.
    pub disk: Bytes,
    /// Seconds to restart the program and load the checkpoint.
    pub restart: Seconds,
}

#[derive(Clone, Debug)]
pub struct MoneyRules {
    pub currency: Currency,
    pub fx: Fx,
    /// Share added by banks for exchanging.
    pub exchange_fee: f64,
    /// Provider -> own discount, 0..=1.
    pub discounts: BTreeMap<String, f64>,
    pub tax: f64,
    pub labour_rate: Option<Money>,
    pub support: Option<SupportPlan>,
    /// Hours of other work that a monthly or yearly commitment would still serve, as a share of its term
    /// beyond this job, 0..=1.
    pub commitment_reuse: f64,
}

#[derive(Clone, Debug)]
pub struct SupportPlan {
    pub share: f64,
    pub minimum_per_month: Option<Money>,
}
