//! What GPUs give over a while and together: the matrix rate that lasts, and sums over all of them.

use super::{Fact, Verified};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The load under which all GPUs were put together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TensorLoad {
    /// How long it was to last, seconds by the clock of the device.
    pub seconds: f64,
    /// A library on this machine that would reach more and was not used: its folder.
    #[serde(default)]
    pub cublas_lt: Option<String>,
}

/// One GPU under that load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpuTensor {
    /// `mma.sync m16n8k16 bf16`, `wmma m16n16k16 f16`
    pub method: Fact<String>,
    /// Whether the method comes near what the GPU can do at best; otherwise the rate is not that of a good library.
    pub near_peak: Fact<bool>,
    /// Results that were compared, before the load and after it.
    pub results: Fact<Verified>,
    pub sustained: Fact<Sustained>,
}

/// A matrix rate over time, dense.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sustained {
    /// Median over time, TFLOP/s.
    pub tflops: f64,
    /// Means over the first and the last `window_s` seconds, TFLOP/s.
    pub first_tflops: f64,
    pub last_tflops: f64,
    pub window_s: f64,
    pub seconds: f64,
    /// All reasons for a lower clock that were seen.
    pub clock_reasons: BTreeSet<String>,
    pub moments: Vec<Moment>,
}

/// About a tenth of a second of a load. What is absent nobody said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Moment {
    /// When it was over, from the beginning of the load, by the clock of the device.
    pub t_s: f64,
    pub tflops: f64,
    #[serde(default)]
    pub sm_clock_mhz: Option<f64>,
    #[serde(default)]
    pub power_w: Option<f64>,
    #[serde(default)]
    pub temperature_c: Option<f64>,
    #[serde(default)]
    pub util_gpu_pct: Option<f64>,
    #[serde(default)]
    pub clock_reasons: Option<Vec<String>>,
}

/// How the all-reduce behind `all_reduce_bus_gbs` was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllReduceReading {
    /// `nccl`, `ring over peer copies`, `ring through host memory`; absent where nothing was measured.
    #[serde(default)]
    pub method: Option<String>,
    /// `2.21.5`
    #[serde(default)]
    pub nccl_version: Option<String>,
    /// Why a ring of our own was taken.
    #[serde(default)]
    pub nccl_not_used: Option<String>,
    /// The switches may have added up (NVLink SHARP), so that the figure is not that of the links.
    pub may_exceed_links: bool,
    /// CUDA's indices, in the order of the ring.
    pub gpus: Vec<u32>,
    /// Added up on each GPU.
    pub bytes: u64,
    /// Bytes over time, GB/s.
    pub algorithm_gbs: Fact<f64>,
    /// Sums that were compared, over all GPUs.
    pub results: Fact<Verified>,
}
