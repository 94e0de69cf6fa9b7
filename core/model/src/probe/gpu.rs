//! GPUs, what joins them, and the driver.

use super::{Fact, GpuTensor, Reading};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// How that rate came to be, and how it went over time.
    #[serde(default)]
    pub tensor: Option<GpuTensor>,
    /// Host to device and back, GB/s, one direction.
    #[serde(default)]
    pub host_to_device_gbs: Option<Reading>,
    #[serde(default)]
    pub device_to_host_gbs: Option<Reading>,
    /// CUDA's index of it, where it was proved.
    #[serde(default)]
    pub cuda_index: Option<u32>,
    /// A kernel whose result was checked word by word.
    #[serde(default)]
    pub kernel: Option<Fact<Verified>>,
    /// What the driver says while copies run.
    #[serde(default)]
    pub under_load: Option<UnderLoad>,
    /// What the driver says of it at rest.
    #[serde(default)]
    pub stated: Option<GpuStated>,
}

impl GpuReading {
    /// Of which nothing else is known yet.
    pub fn new(index: u32, name: String) -> GpuReading {
        GpuReading {
            index,
            name,
            memory_total_mib: None,
            memory_bandwidth_gbs: None,
            tensor_tflops: None,
            tensor: None,
            host_to_device_gbs: None,
            device_to_host_gbs: None,
            cuda_index: None,
            kernel: None,
            under_load: None,
            stated: None,
        }
    }
}

/// Memory that was compared with what should be in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verified {
    /// 32-bit words compared.
    pub words: u64,
    /// Words that were not what they should be.
    pub wrong: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnderLoad {
    /// The fastest state that was seen, in generation and lanes of one and the same reading.
    pub pcie_generation: Fact<u32>,
    pub pcie_width: Fact<u32>,
    /// All reasons for lower clocks that were seen.
    pub clock_reasons: Fact<Vec<String>>,
    /// The highest, W.
    pub power_w: Fact<f64>,
    /// The highest, °C.
    pub temperature_c: Fact<i32>,
    pub readings: u32,
}

/// A GPU as the driver describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpuStated {
    /// The same GPU has the same hash in every report.
    pub uuid_hash: Fact<String>,
    pub serial_hash: Fact<String>,
    pub pci_address: Fact<String>,
    /// `9.0`
    pub compute_capability: Fact<String>,
    pub pcie_generation: Fact<u32>,
    pub pcie_width: Fact<u32>,
    /// The most that card and slot allow together.
    pub pcie_generation_max: Fact<u32>,
    pub pcie_width_max: Fact<u32>,
    /// The most that the card alone allows.
    pub pcie_generation_card: Fact<u32>,
    pub ecc_on: Fact<bool>,
    /// Errors since the driver was loaded.
    pub ecc_corrected: Fact<u64>,
    pub ecc_uncorrected: Fact<u64>,
    /// Errors in the life of the card.
    pub ecc_corrected_ever: Fact<u64>,
    pub ecc_uncorrected_ever: Fact<u64>,
    pub remapped_rows: Fact<RemappedRows>,
    pub retired_pages_single_bit: Fact<u32>,
    pub retired_pages_double_bit: Fact<u32>,
    pub retirement_pending: Fact<bool>,
    pub mig: Fact<bool>,
    /// `none`, `passthrough`, `vgpu`, `host_vgpu`, `host_vsga`
    pub virtualization: Fact<String>,
    pub power_w: Fact<f64>,
    pub power_limit_w: Fact<f64>,
    pub power_limit_default_w: Fact<f64>,
    pub clock_reasons: Fact<Vec<String>>,
    pub sm_clock_mhz: Fact<u32>,
    pub sm_clock_max_mhz: Fact<u32>,
    pub memory_clock_mhz: Fact<u32>,
    pub memory_clock_max_mhz: Fact<u32>,
    pub temperature_c: Fact<i32>,
    /// Processes that hold a context on it, as far as this container sees them.
    pub compute_processes: Fact<u32>,
    pub nvlinks: Fact<Vec<NvLink>>,
    /// `ready`, `starting`, `not_started`, or that the fabric came up with an error.
    pub fabric: Fact<String>,
}

/// Rows of memory that were replaced by spare ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemappedRows {
    /// After errors that were corrected.
    pub correctable: u32,
    pub uncorrectable: u32,
    /// A reset is needed first.
    pub pending: bool,
    /// A row could not be replaced.
    pub failed: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NvLink {
    pub link: u32,
    pub active: Fact<bool>,
    pub version: Fact<u32>,
    /// `gpu`, `ibmnpu`, `switch`, `unknown`
    pub remote: Fact<String>,
    pub remote_address: Fact<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkReading {
    /// Indices of the two GPUs.
    pub a: u32,
    pub b: u32,
    /// `nvswitch`, `nvlink`, `pcie`, `xgmi`, ...
    pub kind: String,
    /// One direction, GB/s; of two the slower.
    pub gbs: Reading,
    /// NVLinks that join them.
    #[serde(default)]
    pub nvlinks: Option<Fact<u32>>,
    /// What they share on the way over PCIe: `board`, `switch`, `switches`, `bridge`, `node`, `system`.
    #[serde(default)]
    pub ancestor: Option<Fact<String>>,
    /// Peer access as the driver states it: `ok`, `chipset_not_supported`, `disabled_by_regkey`, ...
    #[serde(default)]
    pub peer_read: Option<Fact<String>>,
    #[serde(default)]
    pub peer_write: Option<Fact<String>>,
    /// Each direction that was tried.
    #[serde(default)]
    pub ways: Vec<LinkWay>,
}

impl LinkReading {
    /// Of which nothing else is known yet.
    pub fn new(a: u32, b: u32, kind: String, gbs: Reading) -> LinkReading {
        LinkReading {
            a,
            b,
            kind,
            gbs,
            nvlinks: None,
            ancestor: None,
            peer_read: None,
            peer_write: None,
            ways: Vec::new(),
        }
    }
}

/// Copies from one GPU to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkWay {
    pub from: u32,
    pub to: u32,
    /// GB/s.
    pub gbs: Reading,
    /// Whether what arrived is what was sent.
    pub data: Fact<Verified>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriverReading {
    /// Of the module in the kernel.
    pub kernel_version: Fact<String>,
    /// As NVML says.
    pub version: Fact<String>,
    pub nvml_version: Fact<String>,
    /// Newest CUDA that the driver serves, `12.4`.
    pub cuda_version: Fact<String>,
    /// Version of `libcuda.so.1`, `12.4`.
    pub cuda_library: Fact<String>,
    pub nvml_gpus: Fact<u32>,
    /// GPUs that CUDA has for this process; unknown where it was not started.
    pub cuda_gpus: Fact<u32>,
    /// `/dev/nvidia0` and following.
    pub device_nodes: u32,
}
