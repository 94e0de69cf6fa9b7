//! A data sheet, or a device of a machine, as the limits that formulas of `formula::vision_limits` know.

use crate::NoFit;
use crate::formula::vision_limits::Chip;
use crate::spec::Device;
use lessee_model::{GpuSpec, Msg};

/// How the work's matrix products are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Half,
    /// TF32 where the GPU has it, else FP32.
    Single,
    /// 8 bit, counted as half of its rate, so that it compares with 16 bit on the same GPU.
    Eight,
    /// 8-bit floating point where the GPU has it, at its full rate, else 16 bit.
    EightOrHalf,
}

fn known(x: Option<f64>) -> Option<f64> {
    x.filter(|x| x.is_finite() && *x > 0.0)
}

fn capability(spec: &GpuSpec) -> f64 {
    spec.compute_capability
        .as_deref()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0.0)
}

/// Whether it is a GPU, and not another accelerator that has a data sheet.
pub(crate) fn is_gpu(spec: &GpuSpec) -> bool {
    match &*spec.vendor {
        "NVIDIA" | "AMD" => true,
        "Intel" => spec.arch.starts_with("Xe"),
        _ => false,
    }
}

/// FP32 FLOP/s of the vector units. From compute capability 8.6, CDNA3 and RDNA3 on data sheets count a second pipe
/// that only some instructions can use.
pub(crate) fn vector(spec: &GpuSpec) -> Option<f64> {
    let second_pipe = capability(spec) >= 8.6
        || ["CDNA3", "CDNA4", "RDNA3", "RDNA4"]
            .iter()
            .any(|a| spec.arch.starts_with(a));
    known(spec.fp32_tflops).map(|t| t * 1e12 / if second_pipe { 2.0 } else { 1.0 })
}

/// Dense 16-bit rate, FLOP/s; where the data sheet names none, twice FP32 on AMD (packed), eight times on Intel
/// (matrix engines), else FP32.
fn half(spec: &GpuSpec) -> Option<f64> {
    let sheet = known(spec.fp16_tflops).or(known(spec.bf16_tflops));
    let per_fp32 = match &*spec.vendor {
        "AMD" => 2.0,
        "Intel" => 8.0,
        _ => 1.0,
    };
    sheet
        .or(known(spec.fp32_tflops).map(|t| t * per_fp32))
        .map(|t| t * 1e12)
}

/// The limits of a whole GPU.
///
/// # Errors
/// `not_a_gpu`; `no_rate` where bandwidth, power or FP32 rate are not known.
pub(crate) fn chip(spec: &GpuSpec, format: Format) -> Result<Chip, NoFit> {
    if !is_gpu(spec) {
        return Err(NoFit::new("not_a_gpu", Msg::new("perf-not-a-gpu")));
    }
    let need =
        |x: Option<f64>, what: &'static str| x.ok_or_else(|| NoFit::no_rate(&spec.name, what));
    let half = need(half(spec), "matrix rate")?;
    let fp32 = need(known(spec.fp32_tflops), "FP32 rate")? * 1e12;
    let eight = known(spec.int8_tops)
        .or(known(spec.fp8_tflops))
        .map(|t| t * 1e12);
    let tensor = match format {
        Format::Half => half,
        Format::Single if capability(spec) >= 8.0 => half / 2.0,
        Format::Single => fp32,
        // engines leave narrow units aside that were cut below the 16-bit ones
        Format::Eight => eight.unwrap_or(0.0).max(half) / 2.0,
        Format::EightOrHalf => known(spec.fp8_tflops).map_or(half, |t| t * 1e12),
    };
    Ok(Chip {
        tensor,
        bandwidth: need(known(spec.mem_bw_gbs), "memory bandwidth")? * 1e9,
        vector: need(vector(spec), "FP32 rate")?,
        watt: need(known(spec.tdp_w), "board power")?,
        memory: spec.memory_gb * 1e9,
    })
}

impl Device<'_> {
    /// The limits of this device: of its share of the GPU, and as measured where it was. `tensor`: dense FLOP/s of the
    /// job's number format.
    ///
    /// # Errors
    /// `no_rate` where bandwidth or FP32 rate are not known.
    pub(crate) fn chip(&self, tensor: f64) -> Result<Chip, NoFit> {
        let vector =
            vector(self.spec).ok_or_else(|| NoFit::no_rate(&self.spec.name, "FP32 rate"))?;
        Ok(Chip {
            tensor,
            bandwidth: self.bandwidth()?,
            vector: vector * self.fraction,
            // the board's, also for a slice: the limit is on all slices together
            watt: known(self.spec.tdp_w).unwrap_or(f64::NAN),
            memory: self.memory,
        })
    }
}
