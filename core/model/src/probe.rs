//! `ProbeReport`, `lessee/probe/v1`: what was measured on a rented machine. Filled by the probe; read by
//! `plan --measured` and later by `accept`. Every figure states whether it was measured, only claimed by
//! the machine, unknown, or failed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbeReport {
    /// `lessee/probe/v1`
    pub schema: String,
    /// RFC 3339, UTC.
    pub measured_at: String,
    /// `provider/instance_type@region` or a name that the user gave; which offers this speaks for.
    #[serde(default)]
    pub offer: Option<String>,
    #[serde(default)]
    pub gpus: Vec<GpuReading>,
    #[serde(default)]
    pub links: Vec<LinkReading>,
    /// Bus bandwidth of an all-reduce over all GPUs, GB/s.
    #[serde(default)]
    pub all_reduce_bus_gbs: Option<Reading>,
    #[serde(default)]
    pub feed: Option<FeedReading>,
    #[serde(default)]
    pub disk: Option<DiskReading>,
    #[serde(default)]
    pub host: Option<HostReading>,
}

/// A figure and how it came to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case", deny_unknown_fields)]
pub enum Reading {
    Measured {
        value: f64,
        /// Single runs behind the value (which is their median).
        #[serde(default)]
        samples: Vec<f64>,
    },
    /// Stated by the driver or the hypervisor, not measured.
    Claimed {
        value: f64,
    },
    Unknown {
        reason: String,
    },
    Failed {
        reason: String,
    },
}

impl Reading {
    /// The value, only if it was really measured.
    pub fn measured(&self) -> Option<f64> {
        match self {
            Reading::Measured { value, .. } if value.is_finite() && *value > 0.0 => Some(*value),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpuReading {
    pub index: u32,
    /// Product name as the driver prints it.
    pub name: String,
    pub memory_total_mib: Option<u32>,
    /// Read + write of local memory, GB/s.
    #[serde(default)]
    pub memory_bandwidth_gbs: Option<Reading>,
    /// Sustained dense BF16 (FP16 where there is no BF16) matrix rate, TFLOP/s.
    #[serde(default)]
    pub tensor_tflops: Option<Reading>,
    /// Host to device and back, GB/s, one direction.
    #[serde(default)]
    pub host_to_device_gbs: Option<Reading>,
    #[serde(default)]
    pub device_to_host_gbs: Option<Reading>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkReading {
    /// Indices of the two GPUs.
    pub a: u32,
    pub b: u32,
    /// `nvlink`, `pcie`, `xgmi`, ...
    pub kind: String,
    /// One direction, GB/s.
    pub gbs: Reading,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedReading {
    /// The user's own samples through read, decode and batch, samples per second for the whole machine.
    pub samples_per_second: Reading,
    /// `disk`, `decode`, `copy`, `gpu`
    pub limited_by: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiskReading {
    /// GB/s, sequential.
    pub read_gbs: Option<Reading>,
    pub write_gbs: Option<Reading>,
    /// 4 KiB random reads per second.
    pub random_read_iops: Option<Reading>,
    /// Small files opened and read per second.
    pub small_files_per_second: Option<Reading>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostReading {
    /// Cores that may really be used (cgroup quota).
    pub cores: Option<Reading>,
    pub memory_gib: Option<Reading>,
    /// STREAM triad, GB/s.
    pub stream_gbs: Option<Reading>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_reads_and_only_measured_values_count() {
        let text = include_str!("../../../examples/probe-8xh100.json");
        let report: ProbeReport = serde_json::from_str(text).expect("the committed example");
        assert_eq!(report.gpus.len(), 8);
        let bandwidth = |i: usize| {
            report.gpus[i]
                .memory_bandwidth_gbs
                .as_ref()
                .and_then(Reading::measured)
        };
        assert_eq!(bandwidth(0), Some(2980.0));
        assert_eq!(bandwidth(5), None, "unknown is not a value");
        assert_eq!(
            report.links[1].gbs.measured(),
            None,
            "claimed is not measured"
        );
    }

    #[test]
    fn unknown_fields_are_refused() {
        let text = r#"{"schema":"lessee/probe/v1","measured_at":"2026-11-20T08:15:00Z","gpuz":[]}"#;
        assert!(serde_json::from_str::<ProbeReport>(text).is_err());
    }
}
