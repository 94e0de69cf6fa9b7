//! What a prediction of speed says, and how it was reached.

use crate::{Basis, Msg};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the user gets for the money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkUnit {
    Token,
    Sample,
    Frame,
    Trial,
    /// One hour of the GPU that the user measured on.
    GpuHour,
}

impl WorkUnit {
    pub fn as_str(self) -> &'static str {
        match self {
            WorkUnit::Token => "token",
            WorkUnit::Sample => "sample",
            WorkUnit::Frame => "frame",
            WorkUnit::Trial => "trial",
            WorkUnit::GpuHour => "gpu_hour",
        }
    }
}

/// The part of the machine that sets the pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BoundBy {
    Compute,
    MemoryBandwidth,
    GradientSync,
    CpuFeed,
    StorageFeed,
    Network,
}

impl BoundBy {
    pub fn as_str(self) -> &'static str {
        match self {
            BoundBy::Compute => "compute",
            BoundBy::MemoryBandwidth => "memory_bandwidth",
            BoundBy::GradientSync => "gradient_sync",
            BoundBy::CpuFeed => "cpu_feed",
            BoundBy::StorageFeed => "storage_feed",
            BoundBy::Network => "network",
        }
    }
}

/// One part of the sum behind a prediction, as core knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// Stable key: `compute`, `gradient_sync`, `kv_read`, ...
    pub name: &'static str,
    pub value: f64,
    /// `s`, `tokens/s`, `bytes`, ...
    pub unit: &'static str,
    /// Plain mathematical text with its numbers.
    pub formula: Msg,
    pub basis: Basis,
    pub source: String,
}

/// The same in a document: the formula in the reader's language, keys and source as they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Term {
    /// Stable key: `compute`, `gradient_sync`, `kv_read`, ...
    pub name: String,
    pub value: f64,
    /// `s`, `tokens/s`, `bytes`, ...
    pub unit: String,
    pub formula: String,
    pub basis: Basis,
    pub source: String,
}

/// Memory of one GPU, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryUse {
    pub weights: f64,
    pub gradients: f64,
    pub optimizer: f64,
    pub activations: f64,
    pub kv_cache: f64,
    /// Runtime context, graphs, communication buffers.
    pub overhead: f64,
    /// What the GPU offers.
    pub usable: f64,
}

impl MemoryUse {
    pub fn total(&self) -> f64 {
        self.weights
            + self.gradients
            + self.optimizer
            + self.activations
            + self.kv_cache
            + self.overhead
    }
}

/// How the work is spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Layout {
    pub data_parallel: u32,
    pub tensor_parallel: u32,
    pub pipeline_parallel: u32,
    /// Sequences (or samples, requests) in flight on one model replica.
    pub batch: f64,
    pub activation_checkpointing: bool,
    /// 0 none, 1 optimizer, 2 + gradients, 3 + weights sharded over the data-parallel ranks.
    pub zero_stage: u8,
}

/// Speed of `nodes` machines together.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    pub unit: WorkUnit,
    pub per_second: f64,
    /// The range is meant to hold 80 % of measured values.
    pub low: f64,
    pub high: f64,
    pub bound_by: BoundBy,
    pub memory: MemoryUse,
    pub layout: Layout,
    pub terms: Vec<Derived>,
    /// What the user should know about this figure.
    pub notes: Vec<Msg>,
    pub basis: Basis,
    /// Time per output token, s (serving only).
    pub seconds_per_output_token: Option<f64>,
}
