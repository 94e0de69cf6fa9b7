//! The measured tables behind the model, as plain data; `io/catalog` fills them from `data/`.

use crate::Coefficients;
use crate::formula::Calibration;
use lessee_model::{Form, GpuSpec, Provenance, gpu::same_memory};
use std::sync::Arc;

/// Coefficients and measured rows.
#[derive(Clone, Debug)]
pub struct PerfTables {
    /// `data/perf.toml`
    pub coefficients: Coefficients,
    /// `data/calibration.toml`
    pub calibration: Calibration,
    /// `data/cc-by-sa/gemm.csv`
    pub gemm: Vec<GemmRow>,
    /// `data/render/blender_scores.csv`
    pub blender: Vec<BlenderRow>,
}

/// The best matrix product that anybody measured on a GPU.
#[derive(Clone, Debug)]
pub struct GemmRow {
    /// Key of `gpu/specs.csv`.
    pub name: Arc<str>,
    /// `bf16`, `fp8`
    pub precision: Arc<str>,
    /// Share of the dense rate, 0..=1.
    pub share: f64,
    /// TFLOP/s
    pub tflops: f64,
    pub why: Provenance,
}

/// A median of the Blender benchmark, samples per minute summed over its three scenes.
#[derive(Clone, Debug)]
pub struct BlenderRow {
    /// Key of `gpu/specs.csv`; `None` where the device has no row there.
    pub gpu: Option<Arc<str>>,
    /// Family as in [`lessee_model::GpuRef::model`]; empty where not known.
    pub model: Arc<str>,
    pub form: Option<Form>,
    pub memory_gb: Option<f64>,
    pub score: f64,
    /// Runs behind the median; fewer than three are noise.
    pub n: u32,
    pub why: Provenance,
}

impl PerfTables {
    pub(crate) fn gemm_share(&self, name: &str, precision: &str) -> Option<f64> {
        self.gemm
            .iter()
            .find(|row| *row.precision == *precision && *row.name == *name)
            .map(|row| row.share)
            .filter(|share| share.is_finite() && *share > 0.0)
    }

    /// The score of exactly this product, or of its family where the row says no more and has enough
    /// runs to stand for it.
    pub(crate) fn blender(&self, spec: &GpuSpec) -> Option<&BlenderRow> {
        let usable = |row: &&BlenderRow| row.score.is_finite() && row.score > 0.0;
        self.blender
            .iter()
            .find(|row| row.gpu.as_deref() == Some(&*spec.name) && usable(row))
            .or_else(|| {
                self.blender.iter().find(|row| {
                    !row.model.is_empty()
                        && row.model == spec.model
                        && row.form.is_none_or(|form| form == spec.form)
                        && row
                            .memory_gb
                            .is_none_or(|gb| same_memory(gb, spec.memory_gb))
                        && row.n >= 3
                        && usable(row)
                })
            })
    }
}
