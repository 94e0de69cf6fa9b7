//! Fitted formulas: one file a family of measured work, each with its coefficients, what it asks of a GPU and
//! of a job, and the formula with its source.
//!
//! What it is: plain arithmetic on plain numbers, the same for a row of a table of measurements (`table`) as
//! for a job of a workload. What it is not: a look-up of GPUs or models by name; no product is named here.
//! The coefficients live in `data/calibration.toml`, which `cargo xtask calibrate` fits and writes.
//!
//! One more family: a file here, a field in [`Calibration`], its starting values in
//! `xtask/calibrate/families.toml`, and the rows it answers in `table`.

pub(crate) mod allreduce_nvlink;
pub(crate) mod allreduce_pcie;
mod calibration;
pub(crate) mod decode_engine;
pub(crate) mod decode_llamacpp;
pub(crate) mod device_copy;
pub mod diffusion_crowd;
pub(crate) mod host_copy;
pub mod matmul;
pub(crate) mod prefill_llamacpp;
pub(crate) mod render_score;
pub(crate) mod serve_decode_tuned;
pub(crate) mod serve_offline_tuned;
pub(crate) mod serve_renter;
pub(crate) mod serve_static_tuned;
pub(crate) mod serve_tuned;
pub mod train_converge;
pub mod train_llm;
pub(crate) mod ttft_tuned;
pub mod vision_infer_tuned;
pub mod vision_limits;
pub mod vision_train_renter;
pub mod vision_train_tuned;

pub use calibration::{Calibration, Fit, Fitted};

use std::fmt::Debug;

/// One value that somebody measured, or could measure, put in numbers.
pub trait Question: Debug + Send + Sync {
    /// The table of `data/calibration.toml` whose coefficients answer it, such as `allreduce_nvlink`.
    fn family(&self) -> &'static str;

    /// Whose residuals give the range, such as `dense` or `moe`; one word for a family without kinds.
    fn class(&self) -> &'static str {
        "all"
    }

    /// Architecture of the GPU: one that no row of the fit had gets a wider range.
    fn arch(&self) -> &str;

    /// Key of the constant of this workload (`resnet50/train`), by which the formula is multiplied, in families
    /// that scale from known runs. `None`: the formula stands alone.
    fn anchor(&self) -> Option<&str> {
        None
    }

    /// The formula's answer in the unit of the row, times the anchor if there is one.
    ///
    /// Not finite, or not above zero, where the anchor is not in the file.
    fn answer(&self, calibration: &Calibration) -> f64;

    /// How much the value counts in a fit: less for a median of few runs.
    fn weight(&self) -> f64 {
        1.0
    }

    /// Factors on the prediction for its low and high end, where something that no row tells decides by more
    /// than residuals show, such as the wiring of a host.
    fn range(&self, _calibration: &Calibration) -> Option<[f64; 2]> {
        None
    }
}
