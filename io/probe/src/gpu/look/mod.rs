//! What the machine says of itself: driver, GPUs, what joins them, and the box around them. Nothing is run on a GPU.
//!
//! [`look`] asks NVML and reads `/proc`, `/sys` and `/dev` below a root that the caller names; each value says whether
//! it is claimed, unknown or failed. [`Look::findings`] is what follows from it (`judge`).

mod device;
mod driver;
mod host;
mod judge;
mod pair;

pub use device::{Ecc, Gpu, NvLink, PcieLink, RemappedRows, clock_reasons};
pub use driver::Driver;
pub use host::{CpuQuota, Host, KernelLog};
pub(super) use pair::same_address;
pub use pair::{Interconnect, Pair};
pub(crate) use {host::container_signs, judge::throttle_code};

use super::{Finding, GpuError, Libraries};
use crate::gpu::prove::capped;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug, Serialize)]
pub struct Look {
    pub driver: Driver,
    /// In NVML's order, which is that of the PCI bus.
    pub gpus: Vec<Gpu>,
    /// Each two GPUs once.
    pub pairs: Vec<Pair>,
    pub interconnect: Interconnect,
    pub host: Host,
}

/// Looks; `root` is `/`, or a folder that plays it.
pub fn look(libraries: &Libraries, root: &Path) -> Look {
    let driver = driver::driver(libraries, root);
    let (gpus, pairs) = match &libraries.nvml {
        Err(_) => (Vec::new(), Vec::new()),
        Ok(nvml) => {
            let n = driver.nvml_gpus.get().unwrap_or(0);
            let gpus: Vec<Gpu> = (0..n).map(|i| device::gpu(nvml, i)).collect();
            let pairs = pair::pairs(nvml, &gpus);
            (gpus, pairs)
        }
    };
    Look {
        driver,
        interconnect: pair::interconnect(&gpus, &pairs),
        gpus,
        pairs,
        host: host::host(root),
    }
}

/// [`look`] with a time cap: a driver that hangs must not hang the probe.
///
/// # Errors
/// The cap passed; the thread that hangs in the driver is left behind.
pub fn look_within(
    libraries: &Arc<Libraries>,
    root: &Path,
    cap: Duration,
) -> Result<Look, GpuError> {
    let (libraries, root) = (Arc::clone(libraries), root.to_owned());
    capped("look", cap, move |_| Ok(look(&libraries, &root)))
}

impl Look {
    /// What follows from it, worst first.
    pub fn findings(&self) -> Vec<Finding> {
        judge::judge(self)
    }
}
