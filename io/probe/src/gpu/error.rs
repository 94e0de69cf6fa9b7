//! What can go wrong between this program and the driver's libraries.

use lessee_model::{Explain, Msg};

/// A library that is missing, a function that it lacks, or what the driver answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    #[error("{library} cannot be loaded: {what}")]
    Library { library: String, what: String },
    #[error("{library} has no function {symbol}")]
    Symbol {
        library: &'static str,
        symbol: &'static str,
    },
    #[error("{call}: NVML error {code} ({name})")]
    Nvml {
        call: &'static str,
        code: u32,
        name: &'static str,
    },
    #[error("{call}: CUDA error {code} ({name})")]
    Cuda {
        call: &'static str,
        code: u32,
        name: String,
    },
    #[error("{call}: NCCL error {code} ({what})")]
    Nccl {
        call: &'static str,
        code: u32,
        what: String,
    },
    #[error("{step}: not done within {seconds} s")]
    TimeCap { step: String, seconds: u64 },
    #[error("not tried, after this: {cause}")]
    NotTried { cause: String },
    #[error("not tried any more: {why}")]
    Cut {
        /// `out_of_time` or `stopped`
        why: &'static str,
    },
    #[error("compute capability {capability} has no units for matrices")]
    NoMatrixUnit { capability: String },
    #[error("{wrong} of {words} results of a kernel are wrong")]
    WrongResults { wrong: u64, words: u64 },
    #[error("the driver runs and has no GPU")]
    NoGpu,
    #[error("{step}: the thread that asked the driver could not be started or died")]
    Worker { step: String },
}

/// Codes of `nvmlReturn_t` that are told apart.
pub(crate) mod nvml_code {
    pub(crate) const INVALID_ARGUMENT: u32 = 2;
    pub(crate) const NOT_SUPPORTED: u32 = 3;
    pub(crate) const NO_PERMISSION: u32 = 4;
    pub(crate) const NOT_FOUND: u32 = 6;
    pub(crate) const INSUFFICIENT_SIZE: u32 = 7;
    pub(crate) const DRIVER_NOT_LOADED: u32 = 9;
    pub(crate) const GPU_IS_LOST: u32 = 15;
    pub(crate) const RESET_REQUIRED: u32 = 16;
    pub(crate) const LIB_RM_VERSION_MISMATCH: u32 = 18;
    pub(crate) const VERSION_MISMATCH: u32 = 25;
    pub(crate) const DEPRECATED: u32 = 26;
}

/// The names of NVML's errors; its own `nvmlErrorString` is no use where the library itself is in doubt.
pub(crate) fn nvml_name(code: u32) -> &'static str {
    match code {
        0 => "SUCCESS",
        1 => "UNINITIALIZED",
        2 => "INVALID_ARGUMENT",
        3 => "NOT_SUPPORTED",
        4 => "NO_PERMISSION",
        5 => "ALREADY_INITIALIZED",
        6 => "NOT_FOUND",
        7 => "INSUFFICIENT_SIZE",
        8 => "INSUFFICIENT_POWER",
        9 => "DRIVER_NOT_LOADED",
        10 => "TIMEOUT",
        11 => "IRQ_ISSUE",
        12 => "LIBRARY_NOT_FOUND",
        13 => "FUNCTION_NOT_FOUND",
        14 => "CORRUPTED_INFOROM",
        15 => "GPU_IS_LOST",
        16 => "RESET_REQUIRED",
        17 => "OPERATING_SYSTEM",
        18 => "LIB_RM_VERSION_MISMATCH",
        19 => "IN_USE",
        20 => "MEMORY",
        21 => "NO_DATA",
        22 => "VGPU_ECC_NOT_SUPPORTED",
        23 => "INSUFFICIENT_RESOURCES",
        24 => "FREQ_NOT_SUPPORTED",
        25 => "ARGUMENT_VERSION_MISMATCH",
        26 => "DEPRECATED",
        27 => "NOT_READY",
        28 => "GPU_NOT_FOUND",
        _ => "UNKNOWN",
    }
}

/// Why CUDA does not start, in the words that lead to a remedy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CudaCause {
    /// 100: the driver runs and has no device for this process.
    NoDevice,
    /// 802: on machines with NVSwitch the fabric manager does not run, or is of another version.
    FabricManager,
    /// 803: the user library is of another version than the kernel's driver.
    LibraryMismatch,
    /// 804: a forward-compatibility package on a card for which it is not made.
    ForwardCompatibility,
    /// 999: the driver itself failed.
    Unknown,
    /// 46: another process has it for itself, or computing on it is forbidden.
    Unavailable,
    /// 214: an error of memory that ECC could not correct.
    EccUncorrectable,
    /// A GPU stopped answering, or a kernel of it failed for good: 219, 700 and those like it.
    DeviceFailed,
    OutOfMemory,
    /// The PTX text was refused: 209, 218, 222.
    KernelRefused,
    Other,
}

impl CudaCause {
    pub fn of(code: u32) -> CudaCause {
        match code {
            2 => CudaCause::OutOfMemory,
            100 => CudaCause::NoDevice,
            802 => CudaCause::FabricManager,
            803 => CudaCause::LibraryMismatch,
            804 => CudaCause::ForwardCompatibility,
            999 => CudaCause::Unknown,
            46 => CudaCause::Unavailable,
            214 => CudaCause::EccUncorrectable,
            219 | 700 | 702 | 709 | 710 | 714..=719 => CudaCause::DeviceFailed,
            209 | 218 | 222 => CudaCause::KernelRefused,
            _ => CudaCause::Other,
        }
    }

    /// The code of the finding.
    pub fn code(self) -> &'static str {
        match self {
            CudaCause::NoDevice => "no_devices",
            CudaCause::FabricManager => "fabric_manager",
            CudaCause::LibraryMismatch => "driver_library_mismatch",
            CudaCause::ForwardCompatibility => "forward_compatibility",
            CudaCause::Unknown => "cuda_unknown",
            CudaCause::Unavailable => "gpu_unavailable",
            CudaCause::EccUncorrectable => "ecc_uncorrectable",
            CudaCause::DeviceFailed => "gpu_died",
            CudaCause::OutOfMemory => "gpu_memory_taken",
            CudaCause::KernelRefused => "kernel_refused",
            CudaCause::Other => "cuda_error",
        }
    }
}

impl Explain for GpuError {
    fn msg(&self) -> Msg {
        match self {
            GpuError::Library { library, what } => Msg::new("gpu-error-library")
                .arg("library", library.clone())
                .arg("what", what.clone()),
            GpuError::Symbol { library, symbol } => Msg::new("gpu-error-symbol")
                .arg("library", *library)
                .arg("symbol", *symbol),
            GpuError::Nvml { call, code, name } => Msg::new("gpu-error-nvml")
                .arg("call", *call)
                .arg("code", *code)
                .arg("name", *name),
            GpuError::Cuda { call, code, name } => Msg::new("gpu-error-cuda")
                .arg("call", *call)
                .arg("code", *code)
                .arg("name", name.clone()),
            GpuError::Nccl { call, code, what } => Msg::new("gpu-error-nccl")
                .arg("call", *call)
                .arg("code", *code)
                .arg("what", what.clone()),
            GpuError::TimeCap { step, seconds } => Msg::new("gpu-error-time-cap")
                .arg("step", step.clone())
                .arg("seconds", *seconds as f64),
            GpuError::NotTried { cause } => {
                Msg::new("gpu-error-not-tried").arg("cause", cause.clone())
            }
            GpuError::Cut { why } => Msg::new("gpu-error-cut").arg("why", *why),
            GpuError::NoMatrixUnit { capability } => {
                Msg::new("gpu-error-no-matrix-unit").arg("capability", capability.clone())
            }
            GpuError::WrongResults { wrong, words } => Msg::new("gpu-error-wrong-results")
                .arg("wrong", *wrong as f64)
                .arg("words", *words as f64),
            GpuError::NoGpu => Msg::new("gpu-error-none"),
            GpuError::Worker { step } => Msg::new("gpu-error-worker").arg("step", step.clone()),
        }
    }

    fn exit(&self) -> lessee_model::Exit {
        lessee_model::Exit::CannotTell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_have_their_codes() {
        for (code, name) in [
            (100, "no_devices"),
            (802, "fabric_manager"),
            (803, "driver_library_mismatch"),
            (804, "forward_compatibility"),
            (999, "cuda_unknown"),
            (719, "gpu_died"),
            (214, "ecc_uncorrectable"),
            (711, "cuda_error"),
            (1, "cuda_error"),
        ] {
            assert_eq!(CudaCause::of(code).code(), name);
        }
    }
}
