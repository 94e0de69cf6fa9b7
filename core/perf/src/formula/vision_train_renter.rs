//! Training of what counts samples, on one machine with the framework as it comes: vision networks, BERT, small
//! translation, speech and recommendation networks.
//!
//! samples/s = GPUs x anchor / (time / generation + sync x carrier x 2 (n - 1) / n x memory0 / memory)
//!
//! `time` is that of [`super::vision_limits`], with matrix units that slow down under a power limit as
//! (W / W0)^watt. How much of it they take follows from the network's architecture: its weight is products x
//! intensity / 500, where intensity is the forward FLOPs for each value that a layer writes (`data/perf.toml`,
//! `[intensity]`), so that all networks of convolutions and attention share two numbers. The anchor is the speed of
//! one reference GPU for this network and number format. Gradients are reduced once a step, so what a sample pays for it falls with the batch, and batches
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

/// Weights of convolutions and attention, beside 1 of the vector units.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Layers {
    /// Matrix products at [`UNIT_INTENSITY`].
    pub(crate) products: f64,
    pub(crate) bytes: f64,
}

/// FLOP per value at which the weight of matrix products is `products`; a scale, not a fact.
const UNIT_INTENSITY: f64 = 500.0;

impl Coefficients {
    pub(crate) fn mix(&self, kind: Kind, intensity: f64) -> Mix {
        match kind {
            Kind::Conv | Kind::Dense => Mix {
                tensor: self.layers.products * intensity / UNIT_INTENSITY,
                bytes: self.layers.bytes,
            },
            Kind::Lookup => self.lookup,
            Kind::Plain => self.plain,
        }
    }

    /// Time of a sample relative to the reference, whatever the generation. `width`: bytes of a value over those of
    /// mixed precision.
    pub(crate) fn time(&self, chip: &Chip, mix: Mix, width: f64) -> f64 {
        chip.under_power(&self.reference, self.watt)
            .time(&self.reference, mix, width)
    }
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    /// Fixed: an A100 with 80 GB on a module.
    pub(crate) reference: Chip,
    pub(crate) layers: Layers,
    /// Embeddings.
    pub(crate) lookup: Mix,
    /// Off the matrix units.
    pub(crate) plain: Mix,
    /// Exponent of the power limit on the rate of the matrix units.
    pub(crate) watt: f64,
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
    /// Forward FLOPs for each value that a layer writes.
    pub intensity: f64,
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
            let mix = c.mix(self.kind, self.intensity);
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
        let mix = c.mix(self.kind, self.intensity);
        let width = if self.single { c.width_single } else { 1.0 };
        let chip = self.chip.under_power(&c.reference, c.watt);
        let tensor = mix.tensor * c.reference.tensor / chip.tensor;
        mix.bytes * width * c.reference.bandwidth / self.chip.bandwidth > tensor
    }

    /// Time of a sample relative to the reference.
    pub(crate) fn time(&self, c: &Coefficients) -> f64 {
        let width = if self.single { c.width_single } else { 1.0 };
        let generation = c.by_arch.get(&self.arch).copied().unwrap_or(1.0);
        c.time(&self.chip, c.mix(self.kind, self.intensity), width) / generation
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
            layers: Layers {
                products: 1.0,
                bytes: 2.0,
            },
            lookup: mix,
            plain: mix,
            watt: 0.5,
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
            intensity: UNIT_INTENSITY,
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
    fn networks_with_more_products_a_value_gain_more_from_matrix_units_and_power() {
        let c = coefficients();
        let ask = |intensity, tensor, watt| {
            Query {
                intensity,
                chip: Chip {
                    tensor,
                    watt,
                    ..A100
                },
                ..query(1.0, false)
            }
            .time(&c)
        };
        // (1 x 0.5 + 2 + 1) / 4; (3 x 0.5 + 2 + 1) / 6
        assert!((ask(500.0, 624e12, 400.0) - 0.875).abs() < 1e-12);
        assert!((ask(1500.0, 624e12, 400.0) - 0.75).abs() < 1e-12);
        // a quarter of the power: half the rate, (2 + 2 + 1) / 4
        assert!((ask(500.0, 312e12, 100.0) - 1.25).abs() < 1e-12);
    }

    #[test]
    fn rows_of_linked_hosts_count_little_in_a_fit() {
        assert_eq!(query(1.0, true).weight(), 1.0);
        assert_eq!(query(2.0, false).weight(), 1.0);
        assert_eq!(query(8.0, true).weight(), 0.1);
    }
}
