//! The measured tables and coefficients of the performance model.

use super::rows::read;
use crate::CatalogError;
use crate::build::Interner;
use lessee_model::Form;
use lessee_perf::formula::Calibration;
use lessee_perf::{BlenderRow, Coefficients, GemmRow, PerfTables};
use std::cell::RefCell;

pub(super) fn perf(strings: &RefCell<Interner>) -> Result<PerfTables, CatalogError> {
    let coefficients = Coefficients::from_toml(include_str!("../../../../data/perf.toml"))
        .map_err(|what| CatalogError::BuiltIn {
            file: "perf.toml",
            line: 0,
            what,
        })?;
    let calibration = Calibration::from_toml(include_str!("../../../../data/calibration.toml"))
        .map_err(|what| CatalogError::BuiltIn {
            file: "calibration.toml",
            line: 0,
            what,
        })?;
    let mut gemm = Vec::new();
    read(
        "cc-by-sa/gemm.csv",
        include_str!("../../../../data/cc-by-sa/gemm.csv"),
        strings,
        |r| {
            gemm.push(GemmRow {
                name: r.text("name")?,
                precision: r.text("precision")?,
                share: r.need("share")?,
                tflops: r.need("tflops")?,
                why: r.why()?,
            });
            Ok(())
        },
    )?;
    let mut blender = Vec::new();
    read(
        "render/blender_scores.csv",
        include_str!("../../../../data/render/blender_scores.csv"),
        strings,
        |r| {
            blender.push(BlenderRow {
                gpu: r.opt_text("gpu")?,
                model: r.text("model")?,
                form: r.opt::<Form>("form")?,
                memory_gb: r.opt("memory_gb")?,
                score: r.need("score")?,
                n: r.need("n")?,
                why: r.why()?,
            });
            Ok(())
        },
    )?;
    Ok(PerfTables {
        coefficients,
        calibration,
        gemm,
        blender,
    })
}

/// What the policy `lessee` believes of a spot market before it has seen it.
///
/// # Errors
/// The file that is compiled in has a defect.
pub fn spot_params() -> Result<lessee_spot::policy::lessee::Params, CatalogError> {
    let text = include_str!("../../../../data/spot.toml");
    lessee_spot::policy::lessee::Params::from_toml(text).map_err(|what| CatalogError::BuiltIn {
        file: "spot.toml",
        line: 0,
        what,
    })
}
