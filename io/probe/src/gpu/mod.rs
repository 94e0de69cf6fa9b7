//! The GPUs of this machine, asked through the driver's own libraries: what it claims ([`look`]) and what it is
//! proved to do ([`prove`]).
//!
//! Nothing is linked: `libnvidia-ml.so.1` and `libcuda.so.1` are loaded when asked for, and each function of theirs
//! that is missing is an error of that one value (`sys`, the only `unsafe` of this crate). No toolkit is needed: the
//! kernels go to the driver as PTX text (`kernels/`).
//!
//! Start at [`Libraries::open`], then [`look::look`] and [`prove::prove`]; [`tensor`] is what they
//! give over a minute, [`reduce`] what they give together; [`Finding`] is what follows from either. Not
//! here: captures that people paste (`read`), what figures mean for a model's step (`core/perf`).

pub mod error;
mod finding;
mod found;
pub mod look;
pub(crate) mod meter;
pub mod prove;
pub mod reduce;
mod seen;
mod sys;
pub mod tensor;
pub(crate) mod trainer;

pub use error::{CudaCause, GpuError};
pub use finding::{CODES, Finding, Severity, verdict};
pub use seen::{Reason, Seen};
pub use sys::Libraries;
pub use trainer::{TrainerError, TrainerGpu};

use sha2::{Digest, Sha256};

/// An identifier that must not leave the machine (UUID, serial number), so that two reports of one GPU can still be
/// recognised as such: the first 16 hex digits of its SHA-256.
pub(crate) fn hashed(identifier: &str) -> String {
    let digest = Sha256::digest(format!("lessee/probe/v1:{identifier}").as_bytes());
    digest[..8].iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_hash_is_stable_and_hides_the_identifier() {
        let h = super::hashed("GPU-0123");
        assert_eq!(h.len(), 16);
        assert_eq!(h, super::hashed("GPU-0123"));
        assert_ne!(h, super::hashed("GPU-0124"));
    }
}
