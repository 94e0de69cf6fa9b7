//! What NVML says of a GPU at one moment, as often as somebody asks: for the curve of a job (`watch`) and beside a load of
//! our own (`tensor`).
//!
//! A figure that the driver does not give is absent, never 0. Only a GPU that is gone is an error: from then on nothing
//! of it is known.

use super::error::{GpuError, nvml_code};
use super::look::clock_reasons;
use super::sys::nvml::{self as sys, Device, Nvml};
use serde::Serialize;

/// Figures of one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// Share of the driver's sampling time (1/6 to 1 s) in which some kernel ran.
    pub(crate) util_gpu_pct: Option<f64>,
    /// Share in which memory was read or written.
    pub(crate) util_mem_pct: Option<f64>,
    pub(crate) sm_clock_mhz: Option<f64>,
    pub(crate) mem_clock_mhz: Option<f64>,
    pub(crate) power_w: Option<f64>,
    pub(crate) power_limit_w: Option<f64>,
    pub(crate) temperature_c: Option<f64>,
    /// Why the clock is not higher; empty where nothing holds it back.
    pub(crate) clock_reasons: Option<Vec<&'static str>>,
}

/// What only a watcher wants to know.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Engines {
    pub(crate) enc_pct: Option<f64>,
    pub(crate) dec_pct: Option<f64>,
    pub(crate) mem_used_mib: Option<f64>,
}

/// A value, its absence, or that the GPU is gone.
fn given<T>(answer: Result<T, GpuError>) -> Result<Option<T>, GpuError> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(
            gone @ GpuError::Nvml {
                code: nvml_code::GPU_IS_LOST | nvml_code::RESET_REQUIRED,
                ..
            },
        ) => Err(gone),
        Err(_) => Ok(None),
    }
}

fn number(answer: Result<u32, GpuError>, factor: f64) -> Result<Option<f64>, GpuError> {
    Ok(given(answer)?.map(|n| f64::from(n) * factor))
}

/// # Errors
/// The GPU is lost, or must be reset.
pub(super) fn figures(nvml: &Nvml, gpu: Device) -> Result<Figures, GpuError> {
    let shares = given(nvml.shares(gpu))?;
    let share = |of: u32| f64::from(of);
    Ok(Figures {
        util_gpu_pct: shares.map(|s| share(s.gpu)),
        util_mem_pct: shares.map(|s| share(s.memory)),
        sm_clock_mhz: number(nvml.uint_by(&sys::CLOCK, gpu, 1), 1.0)?,
        mem_clock_mhz: number(nvml.uint_by(&sys::CLOCK, gpu, 2), 1.0)?,
        power_w: number(nvml.uint(&sys::POWER, gpu), 1e-3)?,
        power_limit_w: number(nvml.uint(&sys::POWER_LIMIT, gpu), 1e-3)?,
        temperature_c: given(nvml.temperature(gpu))?.map(f64::from),
        clock_reasons: given(nvml.clock_reasons(gpu))?.map(clock_reasons),
    })
}

/// # Errors
/// As [`figures`].
pub(super) fn engines(nvml: &Nvml, gpu: Device) -> Result<Engines, GpuError> {
    let used = given(nvml.memory(gpu))?;
    Ok(Engines {
        enc_pct: number(nvml.share(&sys::ENCODER, gpu), 1.0)?,
        dec_pct: number(nvml.share(&sys::DECODER, gpu), 1.0)?,
        mem_used_mib: used.map(|(_, used)| used as f64 / f64::from(1 << 20)),
    })
}

/// Into the GPU, 1e6 byte/s. The driver counts for about 20 ms before it answers.
///
/// # Errors
/// As [`figures`].
pub(super) fn pcie_in(nvml: &Nvml, gpu: Device) -> Result<Option<f64>, GpuError> {
    const RECEIVED: u32 = 1;
    // kB/s
    number(nvml.uint_by(&sys::PCIE_THROUGHPUT, gpu, RECEIVED), 1e-3)
}

/// The GPUs that a watcher asks again and again.
pub(crate) struct Meter {
    libraries: std::sync::Arc<super::Libraries>,
    gpus: Vec<Result<Device, GpuError>>,
    pub(crate) names: Vec<Option<String>>,
}

impl Meter {
    /// # Errors
    /// NVML cannot be loaded or counts no GPUs.
    pub(crate) fn open(libraries: &std::sync::Arc<super::Libraries>) -> Result<Meter, GpuError> {
        let nvml = libraries.nvml.as_ref().map_err(Clone::clone)?;
        let gpus: Vec<_> = (0..nvml.count()?).map(|i| nvml.device(i)).collect();
        let name = |gpu: &Result<Device, GpuError>| {
            let gpu = gpu.as_ref().ok()?;
            nvml.text(&sys::NAME, *gpu).ok()
        };
        Ok(Meter {
            names: gpus.iter().map(name).collect(),
            gpus,
            libraries: std::sync::Arc::clone(libraries),
        })
    }

    pub(crate) fn count(&self) -> usize {
        self.gpus.len()
    }

    /// # Errors
    /// The GPU is gone, or was never to be had.
    pub(crate) fn read(&self, at: usize) -> Result<(Figures, Engines), GpuError> {
        let (nvml, gpu) = self.of(at)?;
        Ok((figures(nvml, gpu)?, engines(nvml, gpu)?))
    }

    /// See [`pcie_in`]; none of a GPU that is gone.
    pub(crate) fn pcie_in(&self, at: usize) -> Option<f64> {
        let (nvml, gpu) = self.of(at).ok()?;
        pcie_in(nvml, gpu).ok().flatten()
    }

    fn of(&self, at: usize) -> Result<(&Nvml, Device), GpuError> {
        let nvml = self.libraries.nvml.as_ref().map_err(Clone::clone)?;
        self.gpus[at].clone().map(|gpu| (nvml, gpu))
    }
}
