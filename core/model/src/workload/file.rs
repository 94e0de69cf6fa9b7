//! The workload as typed: TOML with every field optional. The doc comments are the help texts of the
//! matching command-line flags and the descriptions in the JSON Schema.

use super::StartTime;
use crate::fx::FxRate;
use crate::{Bytes, Count, Currency, GpuFilter, Interconnect, ModelKind, Money, Purchase, Seconds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A job to be placed on rented GPUs.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkloadFile {
    /// Name for reports.
    pub name: Option<String>,
    /// What is to be done; the section of the same name describes it.
    pub kind: Option<Kind>,
    /// When the machines are ordered: `2027-01-28`, `2027-01-28T09:00` (in your time zone, --tz) or with an offset.
    /// Billing months are then the provider's calendar months; absent = every month has 730 hours.
    pub start: Option<StartTime>,
    pub train: Option<TrainFile>,
    pub finetune: Option<TrainFile>,
    pub sweep: Option<SweepFile>,
    pub serve: Option<ServeFile>,
    pub render: Option<RenderFile>,
    pub hours: Option<HoursFile>,
    /// Dimensions of a model that has no name here.
    pub model: Option<ModelFile>,
    pub data: Option<DataFile>,
    pub checkpoint: Option<CheckpointFile>,
    pub constraints: Option<ConstraintsFile>,
    pub setup: Option<SetupFile>,
    pub money: Option<MoneyFile>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Train,
    Finetune,
    Sweep,
    Serve,
    Render,
    Hours,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Train => "train",
            Kind::Finetune => "finetune",
            Kind::Sweep => "sweep",
            Kind::Serve => "serve",
            Kind::Render => "render",
            Kind::Hours => "hours",
        }
    }
}

/// Training or fine-tuning.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TrainFile {
    /// Model by name (`lessee schema models` lists them) or `custom` with a [model] section.
    pub model: Option<String>,
    /// full, lora or qlora.
    pub method: Option<Method>,
    /// Tokens to train on in one epoch (language models).
    pub tokens: Option<Count>,
    /// Samples in one epoch (images, sequences for encoders).
    pub samples: Option<Count>,
    /// Passes over the tokens or samples.
    pub epochs: Option<f64>,
    /// Tokens per sequence.
    pub seq_len: Option<Count>,
    /// Sequences or samples per optimizer step over all GPUs.
    pub global_batch: Option<Count>,
    /// Number format of the matrix products.
    pub precision: Option<Precision>,
    /// Optimizer: decides bytes per parameter.
    pub optimizer: Option<Optimizer>,
    /// Recompute activations in the backward pass: on, off, or auto (what fits).
    pub activation_checkpointing: Option<Switch>,
    /// What is sharded over the data-parallel ranks.
    pub sharding: Option<Sharding>,
    /// Rank of LoRA adapters.
    pub lora_rank: Option<Count>,
    /// CPU core-seconds to read, decode and augment one sample.
    pub cpu_seconds_per_sample: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    Full,
    Lora,
    Qlora,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    Fp32,
    Tf32,
    Fp16,
    Bf16,
    Fp8,
    Int8,
    Int4,
    Fp4,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Optimizer {
    Adamw,
    Adamw8bit,
    Adafactor,
    Sgd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    Auto,
    On,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sharding {
    /// Whatever is needed to fit.
    Auto,
    None,
    Zero1,
    Zero2,
    /// Fully sharded (FSDP).
    Zero3,
}

/// Many independent trials; one trial is either a training job or hours measured on a GPU.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SweepFile {
    /// Number of trials.
    pub trials: Option<Count>,
    /// Trials at the same time; absent = as many as the machines hold.
    pub parallel: Option<Count>,
    /// GPUs for one trial.
    pub gpus_per_trial: Option<Count>,
    /// Hours of one trial on `gpu`, measured; instead of a [sweep.trial] section.
    pub hours_per_trial: Option<f64>,
    /// GPU on which `hours_per_trial` was measured.
    pub gpu: Option<String>,
    /// GPU memory of one trial; absent = nine tenths of the reference GPU's.
    pub memory: Option<Bytes>,
    /// One trial as a training job.
    pub trial: Option<TrainFile>,
}

/// Serving a language model.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServeFile {
    /// Model by name or `custom`.
    pub model: Option<String>,
    /// Number format of the weights.
    pub precision: Option<Precision>,
    /// Number format of the KV cache.
    pub kv_precision: Option<Precision>,
    /// Requests per second on average.
    pub rate: Option<f64>,
    /// Requests per second at the peak that must be carried; absent = the average.
    pub peak_rate: Option<f64>,
    /// Prompt tokens of a request, on average.
    pub input_tokens: Option<Count>,
    /// Generated tokens of a request, on average.
    pub output_tokens: Option<Count>,
    /// Longest time per output token that is acceptable, ms.
    pub tpot_ms: Option<f64>,
    /// Longest time to the first token that is acceptable, ms.
    pub ttft_ms: Option<f64>,
    /// How long the service runs.
    pub duration: Option<Seconds>,
    /// Replicas that must always run.
    pub min_replicas: Option<Count>,
}

/// Rendering a sequence of frames.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RenderFile {
    /// Number of frames.
    pub frames: Option<Count>,
    /// Measured seconds of one frame on the reference.
    pub seconds_per_frame: Option<f64>,
    /// GPU on which `seconds_per_frame` was measured.
    pub gpu: Option<String>,
    /// Blender Open Data score of the reference machine, instead of `gpu`.
    pub blender_score: Option<f64>,
    /// GPU memory that the heaviest frame needs.
    pub memory: Option<Bytes>,
    /// Renderer, for the report.
    pub engine: Option<String>,
    /// Size of one rendered frame.
    pub output_per_frame: Option<Bytes>,
    /// Software licences that each machine needs.
    pub licences: Option<Vec<LicenceFile>>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LicenceFile {
    pub name: String,
    /// Price of one machine for one hour.
    pub per_node_hour: Option<Money>,
    /// Price of one machine for one month, paid whole.
    pub per_node_month: Option<Money>,
}

/// A known number of GPU-hours.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HoursFile {
    /// GPU-hours in total, as measured on `gpu`.
    pub gpu_hours: Option<f64>,
    /// GPU on which they were measured.
    pub gpu: Option<String>,
    /// GPUs that the work can use at once.
    pub gpus: Option<Count>,
    /// Memory that one GPU must have; absent = nine tenths of the reference GPU's.
    pub memory: Option<Bytes>,
    /// What the work leans on, to scale it to other GPUs.
    pub leans_on: Option<LeansOn>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeansOn {
    /// The geometric rule fitted on training benchmarks.
    Balanced,
    Compute,
    MemoryBandwidth,
}

/// Dimensions of a model that has no name in the table.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelFile {
    /// Kind of network.
    pub kind: Option<ModelKind>,
    /// Parameters.
    pub params: Option<Count>,
    /// Parameters used per token (mixture of experts).
    pub active_params: Option<Count>,
    /// Layers.
    pub layers: Option<Count>,
    /// Hidden size.
    pub hidden: Option<Count>,
    /// Attention heads.
    pub heads: Option<Count>,
    /// Key/value heads (grouped-query attention).
    pub kv_heads: Option<Count>,
    /// Size of one head.
    pub head_dim: Option<Count>,
    /// Inner size of the feed-forward part.
    pub ffn: Option<Count>,
    /// Vocabulary.
    pub vocab: Option<Count>,
    /// Experts per layer.
    pub experts: Option<Count>,
    /// Experts used per token.
    pub experts_per_token: Option<Count>,
    /// KV cache bytes per token in 16 bit, where it does not follow from heads.
    pub kv_bytes_per_token: Option<Count>,
    /// Longest context, tokens.
    pub context: Option<Count>,
    /// Forward FLOPs of one sample in 1e9 (vision, encoder, diffusion).
    pub forward_gflops: Option<f64>,
}

/// The data that the job reads and writes.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DataFile {
    /// Size of the data set.
    pub size: Option<Bytes>,
    /// Number of files (objects).
    pub files: Option<Count>,
    /// Where it is now: `office`, `internet`, or `provider:region` such as `aws:us-east-1`.
    pub location: Option<String>,
    /// How often the whole set is read; absent = the epochs of training, else once.
    pub reads: Option<f64>,
    /// What must come out at the end; absent = the trained weights, the rendered frames.
    pub out: Option<Bytes>,
    /// Where it goes.
    pub out_to: Option<Destination>,
    /// Where the data lie during the job.
    pub storage: Option<DataStorage>,
    /// How long the data stay in the provider's storage; absent = as long as the job.
    pub keep: Option<Seconds>,
    /// Traffic that already left this account this month (uses up the free allowance).
    pub egress_used: Option<Bytes>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Destination {
    /// The user's office or any place on the internet.
    Internet,
    /// Mainland China: dearer from some clouds.
    China,
    /// Another region of the same provider.
    OtherRegion,
    /// It stays where it is.
    Stay,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DataStorage {
    /// Object storage; every read of a file is a request.
    Object,
    /// A block disk filled once.
    Block,
    /// The machine's own scratch, filled once from object storage.
    Local,
}

/// Checkpoints.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CheckpointFile {
    /// Size of one; absent = derived from model and optimizer.
    pub size: Option<Bytes>,
    /// Time between two.
    pub every: Option<Seconds>,
    /// How many are kept at once; absent = all.
    pub keep_last: Option<Count>,
    /// How long the kept ones stay after the job.
    pub keep_for: Option<Seconds>,
}

/// What an option must satisfy.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ConstraintsFile {
    /// Only these providers.
    pub providers: Option<Vec<String>>,
    /// Never these providers.
    pub exclude_providers: Option<Vec<String>>,
    /// Only these regions; `*` and `?` match.
    pub regions: Option<Vec<String>>,
    /// Only these GPUs: `H100:8`, `A100-80GB`, `L4:1..4`.
    pub gpus: Option<Vec<GpuFilter>>,
    /// Memory of one GPU: `24GB..80GB`.
    pub gpu_memory: Option<String>,
    /// Longest time to the result.
    pub deadline: Option<Seconds>,
    /// Most that may be spent in total.
    pub budget: Option<Money>,
    /// Whether spot (interruptible) machines may be used; absent = yes, but no for `serve`, whose users notice
    /// when a machine is taken away, unless `purchases` names spot.
    pub spot: Option<bool>,
    /// Only these ways to pay.
    pub purchases: Option<Vec<Purchase>>,
    /// Weakest acceptable link between the GPUs of a machine.
    pub interconnect: Option<Interconnect>,
    /// Words that the provider must be asked about: gdpr, iso27001, soc2, mlps3 ...
    pub compliance: Option<Vec<String>>,
    /// CPU cores (vCPU) that each GPU needs.
    pub cpus_per_gpu: Option<f64>,
    /// Memory of the host that each GPU needs.
    pub ram_per_gpu: Option<Bytes>,
    /// Most machines at once.
    pub max_nodes: Option<Count>,
    /// Fewest machines at once.
    pub min_nodes: Option<Count>,
    /// Highest price per machine and hour.
    pub max_price: Option<Money>,
    /// Also rank what is not verified.
    pub allow_unverified: Option<bool>,
}

/// Getting ready, standing still, going wrong.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SetupFile {
    /// How ready the image is: decides the hours of work before the first useful step.
    pub image: Option<ImageReadiness>,
    /// People's hours until the job runs; absent = by readiness of the image.
    pub labour_hours: Option<f64>,
    /// Billed machine time before useful work (image pull, download, warm-up); absent = by image and data.
    pub machine: Option<Seconds>,
    /// Billed machine time that nobody uses.
    pub idle: Option<Seconds>,
    /// Time for which the machine stands stopped with its disks.
    pub stopped: Option<Seconds>,
    /// People's hours for each interruption or failure.
    pub incident_hours: Option<f64>,
    /// Hours lost waiting for support over the job.
    pub support_wait_hours: Option<f64>,
    /// Disk that each machine needs; absent = room for the system, the weights, the newest checkpoint, and the
    /// data unless they are read from object storage.
    pub disk: Option<Bytes>,
    /// Time to restart the program and load a checkpoint.
    pub restart: Option<Seconds>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImageReadiness {
    /// A container that already ran on such a machine.
    Ready,
    /// A public image with the right framework; small additions.
    Adapt,
    /// A bare system: driver, libraries and code must be installed.
    Bare,
}

/// Money: currency, own terms, labour.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MoneyFile {
    /// Currency of the answer.
    pub currency: Option<Currency>,
    /// Exchange rates with their dates; there are no built-in ones.
    pub rates: Option<Vec<FxRate>>,
    /// Share that the bank takes for exchanging, `1.5%`.
    pub exchange_fee: Option<String>,
    /// Own discount per provider, `{ aws = "10%" }`.
    pub discounts: Option<BTreeMap<String, String>>,
    /// Tax on top, `6%`.
    pub tax: Option<String>,
    /// Cost of one hour of the people who set up and repair; absent = labour is not counted.
    pub labour_rate: Option<Money>,
    /// Support plan as a share of the spend, `3%`.
    pub support: Option<String>,
    /// Least that the support plan costs per month.
    pub support_minimum: Option<Money>,
    /// Share of a commitment's unused hours that other work would fill, `0%` to `100%`.
    pub commitment_reuse: Option<String>,
}
