//! What was sampled, as it was sampled.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Which GPU of the machine: its index where there is one, else its UUID or address.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(untagged)]
pub enum GpuId {
    Index(u32),
    Name(String),
}

impl fmt::Display for GpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GpuId::Index(i) => write!(f, "{i}"),
            GpuId::Name(name) => f.write_str(name),
        }
    }
}

/// The samples of one GPU. Times may be irregular, out of order and have holes.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub gpu: GpuId,
    pub samples: Vec<Sample>,
}

/// One sample; `None` is "not available", never 0. Percentages are 0 to 100.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Seconds; the origin is the sampler's.
    pub t_s: f64,
    /// NVML `utilization.gpu`: share of the sampling time with at least one kernel running.
    pub util_gpu_pct: Option<f64>,
    /// NVML `utilization.memory`: share of the sampling time with memory traffic, not how full the memory is.
    pub util_mem_pct: Option<f64>,
    pub enc_pct: Option<f64>,
    pub dec_pct: Option<f64>,
    pub power_w: Option<f64>,
    /// The enforced limit at that time.
    pub power_limit_w: Option<f64>,
    pub sm_clock_mhz: Option<f64>,
    pub mem_used_mib: Option<f64>,
    pub temp_c: Option<f64>,
    /// Into the GPU, 1e6 byte/s.
    pub pcie_rx_mb_s: Option<f64>,
    /// The busiest core of the host.
    pub cpu_busiest_core_pct: Option<f64>,
    /// 1e6 byte/s.
    pub disk_write_mb_s: Option<f64>,
    /// DCGM `GR_ENGINE_ACTIVE`: also there in MIG mode.
    pub gr_active_pct: Option<f64>,
    /// DCGM `PIPE_TENSOR_ACTIVE`.
    pub tensor_active_pct: Option<f64>,
    /// DCGM `DRAM_ACTIVE`: share of cycles in which memory moved data.
    pub dram_active_pct: Option<f64>,
    /// The driver gave heat or the power brake as a reason for a lower clock (a power *cap* does not count).
    pub slowed: Option<bool>,
}
