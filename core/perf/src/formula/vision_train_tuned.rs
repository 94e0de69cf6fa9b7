//! Training of a benchmark network other than a language model on a vendor-tuned stack: minutes to the target
//! quality, samples per second, samples to the target.
//!
//! ```text
//! t       = time x (W0 / W)^watt                       one GPU, relative to the reference
//! speed   = GPUs / (t + slot)                          slot: what several GPUs without NVLink lose
//! crowded = 1 + (GPUs / t / crowd)^power
//! minutes = anchor x crowded / speed
//! samples per second = anchor x speed / crowded^throughput
//! samples = anchor x (batch / 256)^batch, from 256 samples on
//! ```
//!
//! `time` is that of [`super::vision_limits`]. Power stands for the clocks that a board can hold. A benchmark has a
//! fixed amount of work: with many or fast GPUs the share of each gets too small to fill it, and larger global
//! batches need more samples; `crowded` is both, its part of `throughput` the first alone.
//!
//! One machine and several are two families with coefficients of their own: beyond a machine the network between
//! machines and what a submitter did about small shares decide, which no row tells.
//!
//! Fitted on MLPerf Training v2.0 to v5.0, closed results (Apache-2.0), 1 to 8,192 GPUs; BERT and larger language
//! models are those of `train_converge`. Do not trust it for recommendation networks over PCIe (all-to-all traffic),
//! nor across stacks: a round gains up to 40 % on a new benchmark or a new GPU.

use super::vision_limits::{Chip, Mix};
use super::{Calibration, Question};
use serde::Deserialize;

#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Network {
    pub(crate) mix: Mix,
    /// Lost by several GPUs without NVLink, in units of the reference's time.
    pub(crate) slot: f64,
    /// Reference GPUs at which half the effort is lost.
    pub(crate) crowd: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    /// Fixed: an A100 with 80 GB on a module.
    pub(crate) reference: Chip,
    /// Networks of convolutions and recurrences.
    pub(crate) products: Network,
    /// Mix of diffusion, whose attention and convolutions are wide; the rest of it is as for `products`.
    pub(crate) diffusion: Mix,
    /// Recommendation and graph networks: embeddings and neighbours.
    pub(crate) lookups: Network,
    pub(crate) power: f64,
    pub(crate) watt: f64,
    pub(crate) throughput: f64,
    pub(crate) batch: f64,
}

/// What is asked of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Minutes,
    /// Samples per second of all GPUs.
    SamplesPerSecond,
    /// The same divided by the number of GPUs: some logs count so.
    SamplesPerSecondAndGpu,
    /// Samples until the target is reached.
    Samples,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    /// Benchmark and what is asked: `resnet/minutes`.
    pub key: String,
    pub asked: Asked,
    pub lookups: bool,
    pub diffusion: bool,
    pub chip: Chip,
    pub arch: String,
    pub gpus: f64,
    pub several_machines: bool,
    /// The GPUs reach each other over NVLink or its like, or there is one.
    pub linked: bool,
    /// Samples a step of all GPUs.
    pub batch: Option<f64>,
}

impl Query {
    fn relative(&self, c: &Coefficients) -> f64 {
        let network = if self.lookups {
            &c.lookups
        } else {
            &c.products
        };
        let mix = if self.diffusion {
            c.diffusion
        } else {
            network.mix
        };
        let t = self.chip.time(&c.reference, mix, 1.0)
            * (c.reference.watt / self.chip.watt).powf(c.watt);
        let slot = if self.linked { 0.0 } else { network.slot };
        let speed = self.gpus / (t + slot);
        let crowded = 1.0 + (self.gpus / t / network.crowd).powf(c.power);
        match self.asked {
            Asked::Minutes => crowded / speed,
            Asked::SamplesPerSecond => speed / crowded.powf(c.throughput),
            Asked::SamplesPerSecondAndGpu => speed / crowded.powf(c.throughput) / self.gpus,
            Asked::Samples => (self.batch.unwrap_or(f64::NAN) / 256.0)
                .max(1.0)
                .powf(c.batch),
        }
    }
}

impl Question for Query {
    fn family(&self) -> &'static str {
        if self.several_machines {
            "vision_train_many_tuned"
        } else {
            "vision_train_tuned"
        }
    }

    fn class(&self) -> &'static str {
        match (self.lookups, self.gpus > 8.0) {
            (true, _) => "lookups",
            (false, true) => "many",
            (false, false) => "few",
        }
    }

    fn arch(&self) -> &str {
        &self.arch
    }

    fn anchor(&self) -> Option<&str> {
        Some(&self.key)
    }

    fn answer(&self, calibration: &Calibration) -> f64 {
        let fitted = if self.several_machines {
            &calibration.vision_train_many_tuned
        } else {
            &calibration.vision_train_tuned
        };
        fitted.anchor(&self.key) * self.relative(&fitted.coefficients)
    }
}

#[cfg(test)]
mod tests {
    use super::super::vision_limits::tests::A100;
    use super::*;

    fn coefficients() -> Coefficients {
        let network = Network {
            mix: Mix {
                tensor: 1.0,
                bytes: 1.0,
            },
            slot: 0.25,
            crowd: 64.0,
        };
        Coefficients {
            reference: A100,
            products: network,
            diffusion: network.mix,
            lookups: network,
            power: 0.5,
            watt: 0.3,
            throughput: 0.5,
            batch: 0.25,
        }
    }

    fn query(asked: Asked, gpus: f64) -> Query {
        Query {
            key: "resnet/minutes".into(),
            asked,
            lookups: false,
            diffusion: false,
            chip: A100,
            arch: "Ampere".into(),
            gpus,
            several_machines: false,
            linked: true,
            batch: Some(4096.0),
        }
    }

    #[test]
    fn many_gpus_lose_effort() {
        let c = coefficients();
        // 64 reference GPUs: half the effort is lost
        assert!((query(Asked::Minutes, 64.0).relative(&c) - 2.0 / 64.0).abs() < 1e-12);
        let speed = query(Asked::SamplesPerSecond, 64.0).relative(&c);
        assert!((speed - 64.0 / 2_f64.sqrt()).abs() < 1e-9);
        let each = query(Asked::SamplesPerSecondAndGpu, 64.0).relative(&c);
        assert!((each * 64.0 - speed).abs() < 1e-9);
        // 4096 / 256 = 16; its fourth root
        assert!((query(Asked::Samples, 64.0).relative(&c) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn cards_without_a_link_and_with_less_power_take_longer() {
        let c = coefficients();
        let linked = query(Asked::Minutes, 8.0);
        let slots = Query {
            linked: false,
            ..linked.clone()
        };
        assert!((slots.relative(&c) / linked.relative(&c) - 1.25).abs() < 1e-12);
        let capped = Query {
            chip: Chip {
                watt: 250.0,
                ..A100
            },
            ..linked.clone()
        };
        assert!(capped.relative(&c) > linked.relative(&c));
        // minutes fall with every GPU that is added
        assert!(query(Asked::Minutes, 16.0).relative(&c) < linked.relative(&c));
    }
}
