//! Image generation on people's own machines: UNet iterations per second times batch, as a web interface shows them.
//!
//! it/s = anchor / time x stack
//!
//! `time` is that of [`super::vision_limits`], the anchor that of one network, size and batch; `stack` is what other
//! software than CUDA leaves: ROCm, ZLUDA (CUDA calls on AMD), Intel's.
//!
//! Fitted on medians of crowd-sourced runs of 2025. Do not trust it beyond a factor of two: settings, attention
//! kernels, offloading on cards of 8 GB and laptops decide, and no column tells of them.

use super::vision_limits::{Chip, Mix};
use super::{Calibration, Question};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    /// Fixed: an A100 with 80 GB on a module.
    pub(crate) reference: Chip,
    pub(crate) mix: Mix,
    /// Speed left by other software than CUDA.
    pub(crate) rocm: f64,
    pub(crate) zluda: f64,
    pub(crate) intel: f64,
    /// Memory that a 16-bit network with its latents takes, bytes; what lacks is moved to and fro.
    pub(crate) needed: f64,
    /// Exponent of memory over what is needed, below 1.
    pub(crate) short: f64,
}

/// Software between the framework and the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stack {
    Cuda,
    Rocm,
    Zluda,
    Intel,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    /// Network, size and batch: `sdxl 512x512/1`.
    pub key: String,
    pub chip: Chip,
    pub arch: String,
    pub stack: Stack,
}

impl Query {
    fn relative(&self, c: &Coefficients) -> f64 {
        let stack = match self.stack {
            Stack::Cuda => 1.0,
            Stack::Rocm => c.rocm,
            Stack::Zluda => c.zluda,
            Stack::Intel => c.intel,
        };
        let short = (self.chip.memory / c.needed).min(1.0).powf(c.short);
        stack * short / self.chip.time(&c.reference, c.mix, 1.0)
    }
}

impl Question for Query {
    fn family(&self) -> &'static str {
        "diffusion_crowd"
    }

    fn class(&self) -> &'static str {
        if self.stack == Stack::Cuda {
            "cuda"
        } else {
            "other"
        }
    }

    fn arch(&self) -> &str {
        &self.arch
    }

    fn anchor(&self) -> Option<&str> {
        Some(&self.key)
    }

    fn answer(&self, calibration: &Calibration) -> f64 {
        let fitted = &calibration.diffusion_crowd;
        fitted.anchor(&self.key) * self.relative(&fitted.coefficients)
    }
}

#[cfg(test)]
mod tests {
    use super::super::vision_limits::tests::A100;
    use super::*;

    #[test]
    fn another_stack_and_little_memory_are_slower() {
        let c = Coefficients {
            reference: A100,
            mix: Mix {
                tensor: 1.0,
                bytes: 1.0,
            },
            rocm: 0.5,
            zluda: 0.4,
            intel: 0.3,
            needed: 12e9,
            short: 1.0,
        };
        let ask = |stack, memory| {
            let chip = Chip { memory, ..A100 };
            Query {
                key: "x".into(),
                chip,
                arch: "Ampere".into(),
                stack,
            }
            .relative(&c)
        };
        assert!((ask(Stack::Cuda, 80e9) - 1.0).abs() < 1e-12);
        assert!((ask(Stack::Zluda, 80e9) - 0.4).abs() < 1e-12);
        assert!((ask(Stack::Cuda, 6e9) - 0.5).abs() < 1e-12);
    }
}
