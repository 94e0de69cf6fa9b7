//! The tables of `data/compat`: drivers, GPUs and packages. Read when they are asked for, as most commands never do.

use crate::CatalogError;
use lessee_accept::{Compat, Sources};

macro_rules! table {
    ($name:literal) => {
        include_str!(concat!("../../../../data/compat/", $name, ".csv"))
    };
}

/// What is known of drivers, GPUs and packages.
///
/// # Errors
/// A built-in table is broken: a bug.
pub fn compat() -> Result<Compat, CatalogError> {
    let tables = Sources {
        driver_branches: table!("driver_branches"),
        cuda_toolkits: table!("cuda_toolkits"),
        gpus: table!("gpus"),
        amd_gpus: table!("amd_gpus"),
        rocm: table!("rocm"),
        torch: table!("torch"),
        torch_archs: table!("torch_archs"),
        tensorflow: table!("tensorflow"),
        vllm: table!("vllm"),
        libraries: table!("libraries"),
        pairs: table!("pairs"),
        rules: table!("rules"),
    };
    Compat::read(&tables).map_err(|e| CatalogError::BuiltIn {
        file: e.file,
        line: e.line as u64,
        what: e.what,
    })
}
