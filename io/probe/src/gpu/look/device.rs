//! One GPU, as NVML describes it.

use crate::gpu::sys::nvml::{self as sys, Device, Nvml};
use crate::gpu::{GpuError, Seen, hashed};
use serde::Serialize;

pub use lessee_model::probe::RemappedRows;

/// Links that NVML can count on one GPU; more than any card has.
const NVLINKS_MAX: u32 = 36;

#[derive(Clone, Debug, Serialize)]
pub struct Gpu {
    pub index: u32,
    pub name: Seen<String>,
    /// Hashes: the same GPU has the same one in every report.
    pub uuid_hash: Seen<String>,
    pub serial_hash: Seen<String>,
    /// `00000000:07:00.0`
    pub pci_address: Seen<String>,
    pub memory_total_mib: Seen<u64>,
    /// `9.0`
    pub compute_capability: Seen<String>,
    pub link: PcieLink,
    pub ecc: Ecc,
    pub remapped_rows: Seen<RemappedRows>,
    /// Pages given up after single-bit and after double-bit errors (before Ampere).
    pub retired_pages_single_bit: Seen<u32>,
    pub retired_pages_double_bit: Seen<u32>,
    pub retirement_pending: Seen<bool>,
    pub mig: Seen<bool>,
    /// `none`, `passthrough`, `vgpu`, `host_vgpu`, `host_vsga`
    pub virtualization: Seen<&'static str>,
    pub power_w: Seen<f64>,
    pub power_limit_w: Seen<f64>,
    pub power_limit_default_w: Seen<f64>,
    pub clock_reasons: Seen<Vec<&'static str>>,
    pub sm_clock_mhz: Seen<u32>,
    pub sm_clock_max_mhz: Seen<u32>,
    pub memory_clock_mhz: Seen<u32>,
    pub memory_clock_max_mhz: Seen<u32>,
    pub temperature_c: Seen<i32>,
    /// Processes that hold a context on it, as far as this container sees them.
    pub compute_processes: Seen<u32>,
    pub nvlinks: Seen<Vec<NvLink>>,
    /// `ready`, `starting`, `not_started`, or that the fabric came up with an error.
    pub fabric: Seen<String>,
}

/// The PCIe link of a GPU. Idle cards lower the generation: what counts is read again under load (`prove`).
#[derive(Clone, Debug, Serialize)]
pub struct PcieLink {
    pub generation: Seen<u32>,
    pub width: Seen<u32>,
    /// The most that card and slot allow together.
    pub generation_max: Seen<u32>,
    pub width_max: Seen<u32>,
    /// The most that the card alone allows.
    pub generation_card: Seen<u32>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Ecc {
    pub on: Seen<bool>,
    /// Since the driver was loaded.
    pub corrected: Seen<u64>,
    pub uncorrected: Seen<u64>,
    /// In the life of the card.
    pub corrected_ever: Seen<u64>,
    pub uncorrected_ever: Seen<u64>,
}

#[derive(Clone, Debug, Serialize)]
pub struct NvLink {
    pub link: u32,
    pub active: Seen<bool>,
    pub version: Seen<u32>,
    pub remote_address: Seen<String>,
    /// `gpu`, `ibmnpu`, `switch`, `unknown`
    pub remote: Seen<&'static str>,
}

/// The names of the bits, as nvidia-smi writes them.
pub fn clock_reasons(bits: u64) -> Vec<&'static str> {
    const NAMES: [(u64, &str); 9] = [
        (0x1, "gpu_idle"),
        (0x2, "applications_clocks_setting"),
        (0x4, "sw_power_cap"),
        (0x8, "hw_slowdown"),
        (0x10, "sync_boost"),
        (0x20, "sw_thermal_slowdown"),
        (0x40, "hw_thermal_slowdown"),
        (0x80, "hw_power_brake_slowdown"),
        (0x100, "display_clock_setting"),
    ];
    let set = NAMES.iter().filter(|(bit, _)| bits & bit != 0);
    set.map(|(_, name)| *name).collect()
}

pub(super) fn gpu(nvml: &Nvml, index: u32) -> Gpu {
    // a lost GPU has no handle: then that is why nothing of it is known
    let handle = nvml.device(index);
    let handle = handle.as_ref().map_err(Clone::clone);
    let uint = |of: &sys::UintOf| ask(handle.clone(), |d| nvml.uint(of, d));
    let text = |of: &sys::TextOf| ask(handle.clone(), |d| nvml.text(of, d));
    let by = |of: &sys::UintBy, n: u32| ask(handle.clone(), |d| nvml.uint_by(of, d, n));
    let ecc = |uncorrected, ever| ask(handle.clone(), |d| nvml.ecc_errors(d, uncorrected, ever));
    let watts = |of: &sys::UintOf| uint(of).map(|mw| f64::from(mw) / 1e3);
    Gpu {
        index,
        name: text(&sys::NAME),
        uuid_hash: text(&sys::UUID).map(|t| hashed(&t)),
        serial_hash: text(&sys::SERIAL).map(|t| hashed(&t)),
        pci_address: ask(handle.clone(), |d| nvml.pci(d)),
        memory_total_mib: ask(handle.clone(), |d| nvml.memory(d)).map(|(b, _)| b >> 20),
        compute_capability: ask(handle.clone(), |d| nvml.capability(d))
            .map(|(major, minor)| format!("{major}.{minor}")),
        link: PcieLink {
            generation: uint(&sys::LINK_GEN),
            width: uint(&sys::LINK_WIDTH),
            generation_max: uint(&sys::LINK_GEN_MAX),
            width_max: uint(&sys::LINK_WIDTH_MAX),
            generation_card: uint(&sys::LINK_GEN_CARD),
        },
        ecc: Ecc {
            on: ask(handle.clone(), |d| nvml.ecc_on(d)),
            corrected: ecc(false, false),
            uncorrected: ecc(true, false),
            corrected_ever: ecc(false, true),
            uncorrected_ever: ecc(true, true),
        },
        remapped_rows: ask(handle.clone(), |d| nvml.remapped_rows(d)),
        retired_pages_single_bit: ask(handle.clone(), |d| nvml.retired_pages(d, false)),
        retired_pages_double_bit: ask(handle.clone(), |d| nvml.retired_pages(d, true)),
        retirement_pending: uint(&sys::RETIRED_PENDING).map(|p| p != 0),
        mig: ask(handle.clone(), |d| nvml.mig_on(d)),
        virtualization: uint(&sys::VIRTUALIZATION).map(virtualization),
        power_w: watts(&sys::POWER),
        power_limit_w: watts(&sys::POWER_LIMIT),
        power_limit_default_w: watts(&sys::POWER_LIMIT_DEFAULT),
        clock_reasons: ask(handle.clone(), |d| nvml.clock_reasons(d)).map(clock_reasons),
        sm_clock_mhz: by(&sys::CLOCK, 1),
        sm_clock_max_mhz: by(&sys::CLOCK_MAX, 1),
        memory_clock_mhz: by(&sys::CLOCK, 2),
        memory_clock_max_mhz: by(&sys::CLOCK_MAX, 2),
        temperature_c: ask(handle.clone(), |d| nvml.temperature(d)),
        compute_processes: ask(handle.clone(), |d| nvml.compute_processes(d)),
        nvlinks: ask(handle.clone(), |d| nvlinks(nvml, d)),
        fabric: ask(handle, |d| nvml.fabric(d)).map(fabric),
    }
}

fn ask<T>(
    handle: Result<&Device, GpuError>,
    f: impl FnOnce(Device) -> Result<T, GpuError>,
) -> Seen<T> {
    Seen::from_driver(handle.and_then(|d| f(*d)))
}

fn virtualization(mode: u32) -> &'static str {
    match mode {
        0 => "none",
        1 => "passthrough",
        2 => "vgpu",
        3 => "host_vgpu",
        4 => "host_vsga",
        _ => "unknown",
    }
}

fn fabric((state, status): (u8, u32)) -> String {
    match (state, status) {
        (0, _) => "not_supported".to_owned(),
        (1, _) => "not_started".to_owned(),
        (2, _) => "starting".to_owned(),
        (3, 0) => "ready".to_owned(),
        (3, status) => format!("error {status}"),
        (state, _) => format!("state {state}"),
    }
}

/// The links, until NVML says that there is no further one.
fn nvlinks(nvml: &Nvml, gpu: Device) -> Result<Vec<NvLink>, GpuError> {
    let mut links = Vec::new();
    for link in 0..NVLINKS_MAX {
        let active = nvml.uint_by(&sys::NVLINK_STATE, gpu, link);
        match &active {
            Err(error) if link == 0 => return Err(error.clone()),
            Err(GpuError::Nvml {
                code:
                    crate::gpu::error::nvml_code::INVALID_ARGUMENT
                    | crate::gpu::error::nvml_code::NOT_SUPPORTED,
                ..
            }) => break,
            _ => {}
        }
        let by = |of| Seen::from_driver(nvml.uint_by(of, gpu, link));
        links.push(NvLink {
            link,
            version: by(&sys::NVLINK_VERSION),
            remote: by(&sys::NVLINK_REMOTE_TYPE).map(|kind| match kind {
                0 => "gpu",
                1 => "ibmnpu",
                2 => "switch",
                _ => "unknown",
            }),
            remote_address: Seen::from_driver(nvml.nvlink_remote(gpu, link)),
            active: Seen::from_driver(active).map(|a| a == 1),
        });
    }
    Ok(links)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_have_their_names() {
        assert_eq!(clock_reasons(0), [""; 0]);
        assert_eq!(clock_reasons(0x44), ["sw_power_cap", "hw_thermal_slowdown"]);
    }
}
