//! The driver's C libraries: found, loaded, and called with an error for each function that is missing.
//!
//! The only `unsafe` of this crate is below this folder. `*_names.rs` declare functions with the signatures of the public
//! headers (`nccl.rs` its own); `nvml.rs`, `cuda.rs`, `transfer.rs`, `matrix.rs` and `memory.rs` wrap each in a safe method. Not here: what any value means.
#![allow(
    unsafe_code,
    reason = "calls C functions of libraries that are loaded at run time"
)]

pub(super) mod cuda;
mod cuda_names;
pub(super) mod matrix;
pub(super) mod memory;
pub(super) mod nccl;
pub(super) mod nvml;
mod nvml_names;
mod transfer;

use super::GpuError;
use super::prove::capped;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The libraries of the driver, each open or with the reason why not.
pub struct Libraries {
    pub(super) nvml: Result<nvml::Nvml, GpuError>,
    pub(super) cuda: Result<Arc<cuda::Cuda>, GpuError>,
}

impl Libraries {
    /// Loads both. With `folder` they are taken from there and nowhere else, otherwise from where the system's loader
    /// finds them. Loading runs nothing of CUDA yet: `cuInit` belongs to `prove`.
    pub fn open(folder: Option<&Path>) -> Libraries {
        Libraries {
            nvml: nvml::Nvml::open(folder),
            cuda: cuda::Cuda::open(folder).map(Arc::new),
        }
    }

    /// [`Libraries::open`] with a time cap: NVML's start asks the kernel's driver, which may hang.
    ///
    /// # Errors
    /// The cap passed; the thread that hangs is left behind.
    pub fn open_within(folder: Option<&Path>, cap: Duration) -> Result<Libraries, GpuError> {
        let folder = folder.map(Path::to_path_buf);
        capped("open", cap, move |_| Ok(Libraries::open(folder.as_deref())))
    }
}

/// A function of a library, by its name and its type. Only the two files of functions make them.
struct Symbol<F> {
    name: &'static str,
    signature: PhantomData<F>,
}

impl<F: Copy> Symbol<F> {
    const fn new(name: &'static str) -> Symbol<F> {
        Symbol {
            name,
            signature: PhantomData,
        }
    }
}

/// A library that is loaded.
struct Library {
    name: &'static str,
    handle: libloading::Library,
}

impl Library {
    /// `name` is the name with the ABI's version: `libcuda.so` without one may be the stub of a toolkit, which loads
    /// and answers nothing.
    fn open(name: &'static str, folder: Option<&Path>) -> Result<Library, GpuError> {
        let path = folder.map_or_else(|| PathBuf::from(name), |f| f.join(name));
        // SAFETY: initialisers of the driver's library run; that is what loading it is for, and they have no
        // preconditions. The path is the caller's or a fixed name.
        let loaded = unsafe { libloading::Library::new(&path) };
        match loaded {
            Ok(handle) => Ok(Library { name, handle }),
            Err(error) => Err(GpuError::Library {
                library: name.to_owned(),
                // the loader's own words are behind the wrapper's
                what: match std::error::Error::source(&error) {
                    Some(loader) => loader.to_string(),
                    None => error.to_string(),
                },
            }),
        }
    }

    /// The function, or that the library lacks it.
    fn get<F: Copy>(&self, symbol: &Symbol<F>) -> Result<F, GpuError> {
        // SAFETY: `F` is the signature that the public header gives the function of this name, see the constants that
        // make the symbols. The pointer is used only while `self` is borrowed by a method, and the library stays
        // loaded as long as `self`.
        let found = unsafe { self.handle.get::<F>(symbol.name) };
        match found {
            Ok(function) => Ok(*function),
            Err(_) => Err(GpuError::Symbol {
                library: self.name,
                symbol: symbol.name,
            }),
        }
    }
}

/// Text that a C function wrote into a buffer: up to the first NUL, whatever its encoding.
fn text(buffer: &[u8]) -> String {
    let end = buffer.iter().position(|b| *b == 0).unwrap_or(buffer.len());
    String::from_utf8_lossy(&buffer[..end]).trim().to_owned()
}
