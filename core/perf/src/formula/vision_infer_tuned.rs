//! Inference with networks other than language models on a vendor-tuned stack: samples per second when requests
//! are plenty, latency when they come one by one.
//!
//! ```text
//! samples/s = anchor x GPUs / time x (W / W0)^watt x capped x untuned
//! latency   = anchor x (tensor F0 / F + bytes B0 / B + V0 / V + launch) / untuned
//! ```
//!
//! `time` is that of [`super::vision_limits`]. One request at a time cannot fill a GPU: `launch` is the part that no
//! faster GPU shortens, none for volumes and large images. `capped` is what a lowered power limit leaves (MaxQ
//! results), `untuned` the speed of stacks of the round in which a benchmark was new.
//!
//! Fitted on MLPerf Inference v2.1 and v4.1, closed results (Apache-2.0). Do not trust it for the latency of large
//! GPUs on small networks (CPU and driver decide) and for servers of recommendation networks (host memory decides).

use super::vision_limits::{Chip, Mix};
use super::{Calibration, Question};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    /// Fixed: an A100 with 80 GB on a module.
    pub(crate) reference: Chip,
    pub(crate) conv: Mix,
    /// BERT and diffusion.
    pub(crate) dense: Mix,
    /// Recommendation.
    pub(crate) lookups: Mix,
    pub(crate) watt: f64,
    pub(crate) capped: f64,
    pub(crate) untuned: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct LatencyCoefficients {
    pub(crate) mix: Mix,
    pub(crate) launch: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Conv,
    Dense,
    Lookups,
}

/// Samples per second.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    /// Benchmark, its accuracy, and scenario: `bert-99.9/offline`.
    pub key: String,
    pub kind: Kind,
    pub chip: Chip,
    pub arch: String,
    /// GPUs or slices.
    pub gpus: f64,
    /// The power limit was lowered.
    pub capped: bool,
    /// From the first round of this benchmark.
    pub untuned: bool,
}

impl Query {
    fn relative(&self, c: &Coefficients) -> f64 {
        let mix = match self.kind {
            Kind::Conv => c.conv,
            Kind::Dense => c.dense,
            Kind::Lookups => c.lookups,
        };
        let watt = (self.chip.watt / c.reference.watt).powf(c.watt);
        let capped = if self.capped { c.capped } else { 1.0 };
        let untuned = if self.untuned { c.untuned } else { 1.0 };
        self.gpus * watt * capped * untuned / self.chip.time(&c.reference, mix, 1.0)
    }
}

impl Question for Query {
    fn family(&self) -> &'static str {
        "vision_infer_tuned"
    }

    fn class(&self) -> &'static str {
        if self.key.ends_with("/offline") {
            "offline"
        } else {
            "server"
        }
    }

    fn arch(&self) -> &str {
        &self.arch
    }

    fn anchor(&self) -> Option<&str> {
        Some(&self.key)
    }

    fn answer(&self, calibration: &Calibration) -> f64 {
        let fitted = &calibration.vision_infer_tuned;
        fitted.anchor(&self.key) * self.relative(&fitted.coefficients)
    }
}

/// Latency of one request, ms.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LatencyQuery {
    /// Benchmark and scenario: `resnet50/singlestream`.
    pub key: String,
    pub chip: Chip,
    pub arch: String,
    /// Enough work in one request to fill any GPU.
    pub large: bool,
    pub untuned: bool,
}

impl LatencyQuery {
    fn relative(&self, c: &LatencyCoefficients, throughput: &Coefficients) -> f64 {
        let busy =
            self.chip.time(&throughput.reference, c.mix, 1.0) * (c.mix.tensor + c.mix.bytes + 1.0);
        let launch = if self.large { 0.0 } else { c.launch };
        (busy + launch)
            / if self.untuned {
                throughput.untuned
            } else {
                1.0
            }
    }
}

impl Question for LatencyQuery {
    fn family(&self) -> &'static str {
        "vision_latency_tuned"
    }

    fn arch(&self) -> &str {
        &self.arch
    }

    fn anchor(&self) -> Option<&str> {
        Some(&self.key)
    }

    fn answer(&self, calibration: &Calibration) -> f64 {
        let fitted = &calibration.vision_latency_tuned;
        fitted.anchor(&self.key)
            * self.relative(
                &fitted.coefficients,
                &calibration.vision_infer_tuned.coefficients,
            )
    }
}

#[cfg(test)]
mod tests {
    use super::super::vision_limits::tests::A100;
    use super::*;

    fn coefficients() -> Coefficients {
        let mix = Mix {
            tensor: 2.0,
            bytes: 1.0,
        };
        Coefficients {
            reference: A100,
            conv: mix,
            dense: mix,
            lookups: mix,
            watt: 0.5,
            capped: 0.8,
            untuned: 0.7,
        }
    }

    fn query() -> Query {
        Query {
            key: "resnet50/offline".into(),
            kind: Kind::Conv,
            chip: A100,
            arch: "Ampere".into(),
            gpus: 8.0,
            capped: false,
            untuned: false,
        }
    }

    #[test]
    fn throughput_grows_with_gpus_and_falls_with_the_cap() {
        let c = coefficients();
        assert!((query().relative(&c) - 8.0).abs() < 1e-12);
        assert!(
            (Query {
                capped: true,
                ..query()
            }
            .relative(&c)
                - 6.4)
                .abs()
                < 1e-12
        );
        assert!(
            (Query {
                untuned: true,
                ..query()
            }
            .relative(&c)
                - 5.6)
                .abs()
                < 1e-12
        );
        // a quarter of the power: half the clocks
        let low = Query {
            chip: Chip {
                watt: 100.0,
                ..A100
            },
            ..query()
        };
        assert!((low.relative(&c) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn a_faster_gpu_shortens_a_large_request_more_than_a_small_one() {
        let latency = LatencyCoefficients {
            mix: Mix {
                tensor: 2.0,
                bytes: 1.0,
            },
            launch: 4.0,
        };
        let ask = |share: f64, large| {
            let chip = A100.slice(share);
            LatencyQuery {
                key: "x".into(),
                chip,
                arch: "Ampere".into(),
                large,
                untuned: false,
            }
            .relative(&latency, &coefficients())
        };
        // (4 + 4) / (16 + 4) beside 4 / 16
        assert!((ask(1.0, false) / ask(0.25, false) - 0.4).abs() < 1e-12);
        assert!((ask(1.0, true) / ask(0.25, true) - 0.25).abs() < 1e-12);
    }
}
