//! The driver: the kernel's part, the user's part, and whether they are of one version.

use crate::gpu::sys::nvml::{DRIVER_VERSION, NVML_VERSION};
use crate::gpu::{GpuError, Libraries, Seen};
use serde::Serialize;
use std::path::Path;

#[derive(Clone, Debug, Serialize)]
pub struct Driver {
    /// Of the module in the kernel, from `/proc/driver/nvidia/version`.
    pub kernel_version: Seen<String>,
    /// As NVML says.
    pub version: Seen<String>,
    pub nvml_version: Seen<String>,
    /// Newest CUDA that the driver serves, `12.4`.
    pub cuda_version: Seen<String>,
    /// Whether `libcuda.so.1` is there; its version, `12.4`.
    pub cuda_library: Seen<String>,
    pub nvml_gpus: Seen<u32>,
    /// `/dev/nvidia0` and following.
    pub device_nodes: u32,
    /// The error with which NVML or libcuda did not load, for the judgement.
    #[serde(skip)]
    pub(super) nvml_error: Option<GpuError>,
    #[serde(skip)]
    pub(super) cuda_error: Option<GpuError>,
}

pub(super) fn driver(libraries: &Libraries, root: &Path) -> Driver {
    let (version, nvml_version, cuda_version, nvml_gpus) = match &libraries.nvml {
        Err(e) => (
            Seen::without(e),
            Seen::without(e),
            Seen::without(e),
            Seen::without(e),
        ),
        Ok(nvml) => (
            Seen::from_driver(nvml.system_text(&DRIVER_VERSION)),
            Seen::from_driver(nvml.system_text(&NVML_VERSION)),
            Seen::from_driver(nvml.cuda_version()).map(dotted),
            Seen::from_driver(nvml.count()),
        ),
    };
    let cuda_library = match &libraries.cuda {
        Err(e) => Seen::without(e),
        Ok(cuda) => Seen::from_driver(cuda.version()).map(dotted),
    };
    Driver {
        kernel_version: kernel_version(root),
        version,
        nvml_version,
        cuda_version,
        cuda_library,
        nvml_gpus,
        device_nodes: device_nodes(root),
        nvml_error: libraries.nvml.as_ref().err().cloned(),
        cuda_error: libraries.cuda.as_ref().err().cloned(),
    }
}

/// 12040 is 12.4.
pub(crate) fn dotted(version: u32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// `NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 ...`; open modules write more words before
/// the version.
fn kernel_version(root: &Path) -> Seen<String> {
    let path = root.join("proc/driver/nvidia/version");
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(_) => return Seen::unknown("no_kernel_driver", "/proc/driver/nvidia/version"),
    };
    let line = text.lines().find(|l| l.starts_with("NVRM version:"));
    let version = line.and_then(|l| l.split_whitespace().find(|w| is_version(w)));
    match version {
        Some(version) => Seen::Claimed {
            value: version.to_owned(),
        },
        None => Seen::unknown("not_understood", "/proc/driver/nvidia/version"),
    }
}

fn is_version(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    (2..=3).contains(&parts.len())
        && parts
            .iter()
            .all(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
}

fn device_nodes(root: &Path) -> u32 {
    let Ok(entries) = std::fs::read_dir(root.join("dev")) else {
        return 0;
    };
    let names = entries.flatten().map(|e| e.file_name());
    let nodes = names.filter(|name| {
        let name = name.to_string_lossy();
        name.strip_prefix("nvidia")
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    });
    u32::try_from(nodes.count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_closed_and_open_modules() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("proc/driver/nvidia");
        std::fs::create_dir_all(&folder).unwrap();
        for (line, version) in [
            (
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  418.226.00  Tue Sep 1",
                "418.226.00",
            ),
            (
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build",
                "570.86.15",
            ),
        ] {
            std::fs::write(
                folder.join("version"),
                format!("{line}\nGCC version:  gcc 11.4.0\n"),
            )
            .unwrap();
            assert_eq!(kernel_version(dir.path()).value().unwrap(), version);
        }
        assert_eq!(dotted(11080), "11.8");
    }
}
