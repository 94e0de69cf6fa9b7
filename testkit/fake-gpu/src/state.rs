//! The machine that is played, and ready-made ones for tests to damage.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct State {
    pub driver: String,
    /// 12040 is 12.4.
    pub cuda: i32,
    /// Status that a function gives whatever it is asked, by its name: `{"cuInit": 802}`.
    pub errors: BTreeMap<String, u32>,
    pub gpus: Vec<Gpu>,
    /// What CUDA shows of them, in its order; all of them where it is not said.
    pub cuda_gpus: Option<Vec<usize>>,
    /// Whether GPUs reach each other's memory.
    pub peers: bool,
    /// One direction between two GPUs, GB/s.
    pub peer_gbs: f64,
    /// Level of what pairs share, as NVML counts it.
    pub ancestor: u32,
    /// Pairs, in one direction, that differ.
    pub pairs: Vec<Pair>,
    /// From the first matrix work on, operations take the time that they are played to take, so that who waits for them
    /// waits; else, and before, time is only told.
    pub real_time: bool,
    /// What copies from the host to all GPUs share, GB/s, where it is less than their links together. In real time alone.
    pub host_gbs: Option<f64>,
    /// Bus bandwidth of its NCCL, GB/s.
    pub nccl_bus_gbs: f64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pair {
    pub from: usize,
    pub to: usize,
    pub gbs: Option<f64>,
    /// Data arrives with one bit wrong.
    pub flip_bit: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gpu {
    pub name: String,
    pub uuid: String,
    pub serial: String,
    pub pci: String,
    pub memory_mib: u64,
    pub capability: [i32; 2],
    /// Generation and lanes: idle, while it works, and at most.
    pub link: [u32; 2],
    pub link_load: [u32; 2],
    pub link_max: [u32; 2],
    /// Share of the link that copies get.
    pub link_share: f64,
    /// Corrected and uncorrected since the driver was loaded, the same in the card's life; none without ECC.
    pub ecc: Option<[u64; 4]>,
    /// Correctable, uncorrectable, pending, failed.
    pub remapped: Option<[u32; 4]>,
    pub mig: Option<bool>,
    pub virtualization: u32,
    pub power_mw: u32,
    pub power_limit_mw: u32,
    pub power_default_mw: u32,
    pub reasons: u64,
    pub reasons_load: u64,
    pub clocks_mhz: [u32; 2],
    pub clocks_max_mhz: [u32; 2],
    pub temperature_c: u32,
    pub temperature_load_c: u32,
    pub processes: u32,
    pub nvlinks: Vec<Link>,
    /// State and status.
    pub fabric: Option<(u8, u32)>,
    /// Reading and writing together, GB/s.
    pub memory_gbs: f64,
    /// Kernels write one bit wrong.
    pub flip_bit: bool,
    /// Kernels never end.
    pub hangs: bool,
    /// From so many operations of CUDA on it is lost.
    pub lost_after: Option<u32>,
    /// After so many seconds of matrix work it is lost, or its kernels never end.
    pub lost_after_tensor_s: Option<f64>,
    pub hangs_after_tensor_s: Option<f64>,
    pub memory_used_mib: u64,
    /// What a job does to it, one reading of its utilisation after the other; the last one stays.
    pub activity: Vec<Activity>,
    /// From so many readings of its utilisation on it is lost.
    pub lost_after_readings: Option<u32>,
    pub multiprocessors: i32,
    /// Matrix rate at the full clock.
    pub tensor_tflops: f64,
    /// One result of the matrix kernel has a wrong bit.
    pub tensor_flip_bit: bool,
    pub throttle: Option<Throttle>,
}

/// What NVML shows of a GPU while a job runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Activity {
    pub util_gpu_pct: u32,
    pub util_mem_pct: u32,
    pub power_mw: u32,
    pub sm_clock_mhz: u32,
    pub temperature_c: u32,
    pub memory_used_mib: u64,
    pub pcie_in_kb_s: u32,
    pub encoder_pct: u32,
    pub reasons: u64,
}

/// After so much matrix work the clock falls.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Throttle {
    pub after_s: f64,
    pub sm_clock_mhz: u32,
    pub reasons: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub up: bool,
    pub remote: Remote,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remote {
    Switch,
    Gpu(usize),
}

impl State {
    /// Eight H100 SXM behind NVSwitches, healthy.
    pub fn nvswitch() -> State {
        let gpu = |i: usize| Gpu {
            name: "NVIDIA H100 80GB HBM3".to_owned(),
            nvlinks: vec![
                Link {
                    up: true,
                    remote: Remote::Switch,
                };
                18
            ],
            fabric: Some((3, 0)),
            ..Gpu::healthy(i)
        };
        State {
            driver: "550.90.07".to_owned(),
            cuda: 12040,
            gpus: (0..8).map(gpu).collect(),
            peers: true,
            peer_gbs: 370.0,
            ancestor: 50,
            nccl_bus_gbs: 470.0,
            ..State::default()
        }
    }

    /// Four cards on PCIe alone that reach each other.
    pub fn pcie() -> State {
        let gpu = |i: usize| Gpu {
            name: "NVIDIA H100 PCIe".to_owned(),
            power_limit_mw: 350_000,
            power_default_mw: 350_000,
            memory_gbs: 1800.0,
            ..Gpu::healthy(i)
        };
        State {
            gpus: (0..4).map(gpu).collect(),
            peer_gbs: 40.0,
            ancestor: 40,
            ..State::nvswitch()
        }
    }
}

impl Gpu {
    fn healthy(i: usize) -> Gpu {
        Gpu {
            uuid: format!("GPU-00000000-fa4e-0000-0000-{i:012}"),
            serial: format!("165{i:010}"),
            pci: format!("00000000:{:02X}:00.0", 0x18 + 0x10 * i),
            memory_mib: 81_559,
            capability: [9, 0],
            link: [1, 16],
            link_load: [5, 16],
            link_max: [5, 16],
            link_share: 0.87,
            ecc: Some([0; 4]),
            remapped: Some([0; 4]),
            mig: Some(false),
            virtualization: 1,
            power_mw: 71_000,
            power_limit_mw: 700_000,
            power_default_mw: 700_000,
            reasons: 1,
            reasons_load: 4,
            clocks_mhz: [345, 2619],
            clocks_max_mhz: [1980, 2619],
            temperature_c: 31,
            temperature_load_c: 55,
            memory_gbs: 2900.0,
            multiprocessors: 2,
            tensor_tflops: 620.0,
            ..Gpu::default()
        }
    }
}
