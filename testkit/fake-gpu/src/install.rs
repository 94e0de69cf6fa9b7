//! Puts the library where a loader finds it under the drivers' names.

use std::fs;
use std::io::{Error, Result};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Copies the library into `folder` as `libnvidia-ml.so.1` and `libcuda.so.1`, without the functions named: their names
/// are overwritten in the copy, as if the driver were older and had none of them.
///
/// # Errors
/// The library was not built, a name occurs nowhere in it, or the folder cannot be written.
pub fn install(folder: &Path, without: &[&str]) -> Result<()> {
    let mut bytes = fs::read(built()?)?;
    for name in without {
        remove(&mut bytes, name)?;
    }
    fs::write(folder.join("fake-gpu.so"), bytes)?;
    // one file under both names: the loader then has one library, and NVML sees what CUDA does
    for name in ["libnvidia-ml.so.1", "libcuda.so.1"] {
        symlink("fake-gpu.so", folder.join(name))?;
    }
    Ok(())
}

/// Beside what [`install`] wrote, the same library as `libnccl.so.2`.
///
/// # Errors
/// The folder cannot be written.
pub fn install_nccl(folder: &Path) -> Result<()> {
    symlink("fake-gpu.so", folder.join("libnccl.so.2"))
}

/// Beside the tests that use this crate: cargo builds all its kinds of library together.
fn built() -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let folder = test.parent().unwrap_or(Path::new("."));
    Ok(folder.join("liblessee_fake_gpu.so"))
}

/// The loader finds a symbol by a hash and then compares names, so that a changed name is not there.
fn remove(bytes: &mut [u8], name: &str) -> Result<()> {
    let mut entry = vec![0];
    entry.extend(name.as_bytes());
    entry.push(0);
    let places: Vec<usize> = bytes
        .windows(entry.len())
        .enumerate()
        .filter(|(_, w)| *w == entry)
        .map(|(at, _)| at + 1)
        .collect();
    if places.is_empty() {
        return Err(Error::other(format!("no function {name} to leave out")));
    }
    for at in places {
        bytes[at] = b'_';
    }
    Ok(())
}
