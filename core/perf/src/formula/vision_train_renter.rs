//! Training of what counts samples, on one machine with the framework as it comes: vision networks, BERT, small
//! translation, speech and recommendation networks.
//!
//! samples/s = GPUs x anchor / (time / generation + sync x carrier x 2 (n - 1) / n x memory0 / memory)
//!
//! `time` is that of [`super::vision_limits`]; the anchor is the speed of one reference GPU for this network and
//! number format. Gradients are reduced once a step, so what a sample pays for it falls with the batch, and batches
//! are as large as memory lets them: hence memory0 / memory. Over NVLink the same traffic costs a fixed share of
//! what it costs over PCIe.
//! Without an anchor the speed of the reference GPU is util x F0 / (3 x forward FLOPs): a backward pass costs two
//! forward ones.
//!
//! Fitted on the deep-learning benchmark of a GPU cloud (PyTorch, 8 GPU types of 2018 to 2022, 1 to 8 GPUs).
//! Do not trust it for several machines, for AMD, nor for a network whose input pipeline is the limit: it knows
//! nothing of CPUs and disks. Machines whose GPUs have NVLink but do not use it scatter by half.

use super::vision_limits::{Chip, Mix};
use super::{Calibration, Question};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Which limits a network meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Convolutional networks and transformers of small width.
    Conv,
    /// Large matrix products: BERT, vision transformers, diffusion.
    Dense,
    /// Embeddings: recommendation.
    Lookup,
    /// Recurrences and vocoders whose work stays off the matrix units.
    Plain,
}

/// One number a kind.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct ByKind<T> {
    pub(crate) conv: T,
    pub(crate) dense: T,
    pub(crate) lookup: T,
    pub(crate) plain: T,
}

impl<T: Copy> ByKind<T> {
    pub(crate) fn of(&self, kind: Kind) -> T {
        match kind {
            Kind::Conv => self.conv,
            Kind::Dense => self.dense,
            Kind::Lookup => self.lookup,
            Kind::Plain => self.plain,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    /// Fixed: an A100 with 80 GB on a module.
    pub(crate) reference: Chip,
    pub(crate) mix: ByKind<Mix>,
    /// Memory traffic of 32-bit training over that of mixed precision.
    pub(crate) width_single: f64,
    /// Time of a reduction over PCIe between two GPUs with the reference's memory, over that of one sample's work.
    pub(crate) sync: ByKind<f64>,
    /// The same with 32-bit gradients and half the batch, over mixed precision; fixed.
    pub(crate) sync_single: f64,
    /// NVLink over PCIe; fixed: the only NVLink machines of an older generation in the table did not use it.
    pub(crate) sync_nvlink: f64,
    /// Architecture -> speed over what the limits say; 1 for others. Kernels for old parts are not tuned any more.
    pub(crate) by_arch: BTreeMap<String, f64>,
    /// Share of the reference's dense 16-bit rate where there is no anchor; fixed.
    pub(crate) util: ByKind<f64>,
}

/// One job.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    /// Network and number format: `resnet50/half`, `bert_large_squad/single`.
    pub key: String,
    pub kind: Kind,
    /// 32-bit (TF32 where the GPU has it) instead of mixed precision.
    pub single: bool,
    pub chip: Chip,
    pub arch: String,
    pub gpus: f64,
    /// The GPUs reach each other over NVLink or its like.
    pub linked: bool,
    /// Forward FLOPs of one sample, where known: used without an anchor.
    pub forward: Option<f64>,
}

impl Query {
    /// Samples per second of one reference GPU.
    fn reference_speed(&self, calibration: &Calibration) -> f64 {
        let fitted = &calibration.vision_train_renter;
        let c = &fitted.coefficients;
        fitted.anchors.get(&self.key).copied().unwrap_or_else(|| {
            let half = c.util.of(self.kind) * c.reference.tensor
                / (3.0 * self.forward.unwrap_or(f64::NAN));
            // wider values make the reference slower too
            let mix = c.mix.of(self.kind);
            half / if self.single {
                c.reference.time(&c.reference, mix, c.width_single)
            } else {
                1.0
            }
        })
    }

    /// Samples per second of one GPU on its own.
    pub(crate) fn one_gpu(&self, calibration: &Calibration) -> f64 {
        self.reference_speed(calibration) / self.time(&calibration.vision_train_renter.coefficients)
    }

    /// Memory takes longer than the matrix units.
    pub(crate) fn streams_memory(&self, c: &Coefficients) -> bool {
        let mix = c.mix.of(self.kind);
        let width = if self.single { c.width_single } else { 1.0 };
        let tensor = mix.tensor * c.reference.tensor / self.chip.tensor;
        mix.bytes * width * c.reference.bandwidth / self.chip.bandwidth > tensor
    }

    /// Time of a sample relative to the reference.
    pub(crate) fn time(&self, c: &Coefficients) -> f64 {
        let width = if self.single { c.width_single } else { 1.0 };
        let generation = c.by_arch.get(&self.arch).copied().unwrap_or(1.0);
        self.chip.time(&c.reference, c.mix.of(self.kind), width) / generation
    }
}

impl Question for Query {
    fn family(&self) -> &'static str {
        "vision_train_renter"
    }

    fn class(&self) -> &'static str {
        if self.gpus > 1.0 { "several" } else { "one" }
    }

    fn arch(&self) -> &str {
        &self.arch
    }

    fn anchor(&self) -> Option<&str> {
        Some(&self.key)
    }

    /// Whether a host's GPUs use their links, and how well, is no property of the GPU: such rows must not bend it.
    fn weight(&self) -> f64 {
        if self.linked && self.gpus > 1.0 {
            0.1
        } else {
            1.0
        }
    }

    /// Samples per second of all GPUs.
    fn answer(&self, calibration: &Calibration) -> f64 {
        let c = &calibration.vision_train_renter.coefficients;
        let carrier = if self.linked { c.sync_nvlink } else { 1.0 };
        let format = if self.single { c.sync_single } else { 1.0 };
        let sync = c.sync.of(self.kind) * carrier * format * 2.0 * (self.gpus - 1.0) / self.gpus
            * c.reference.memory
            / self.chip.memory;
        self.gpus * self.reference_speed(calibration) / (self.time(c) + sync)
    }
}

#[cfg(test)]
mod tests {
    use super::super::vision_limits::tests::A100;
    use super::*;

    fn coefficients() -> Coefficients {
        let mix = Mix {
            tensor: 1.0,
            bytes: 2.0,
        };
        Coefficients {
            reference: A100,
            mix: ByKind {
                conv: mix,
                dense: mix,
                lookup: mix,
                plain: mix,
            },
            width_single: 1.5,
            sync: ByKind {
                conv: 0.05,
                dense: 0.2,
                lookup: 0.1,
                plain: 0.1,
            },
            sync_single: 2.0,
            sync_nvlink: 0.1,
            by_arch: BTreeMap::from([("Turing".to_owned(), 0.8)]),
            util: ByKind {
                conv: 0.125,
                dense: 0.34,
                lookup: 0.1,
                plain: 0.1,
            },
        }
    }

    fn query(gpus: f64, linked: bool) -> Query {
        Query {
            key: "resnet50/half".into(),
            kind: Kind::Conv,
            single: false,
            chip: A100,
            arch: "Ampere".into(),
            gpus,
            linked,
            forward: Some(8.2e9),
        }
    }

    #[test]
    fn time_of_the_reference_is_one_and_an_old_generation_is_slower() {
        let c = coefficients();
        assert!((query(1.0, false).time(&c) - 1.0).abs() < 1e-12);
        let old = Query {
            arch: "Turing".into(),
            ..query(1.0, false)
        };
        assert!((old.time(&c) - 1.25).abs() < 1e-12);
        // 32 bit: (1 + 3 + 1) / 4
        let single = Query {
            single: true,
            ..query(1.0, false)
        };
        assert!((single.time(&c) - 1.25).abs() < 1e-12);
    }

    #[test]
    fn rows_of_linked_hosts_count_little_in_a_fit() {
        assert_eq!(query(1.0, true).weight(), 1.0);
        assert_eq!(query(2.0, false).weight(), 1.0);
        assert_eq!(query(8.0, true).weight(), 0.1);
    }
}
