//! The score of Blender's benchmark (Cycles): samples per minute summed over its three scenes.
//!
//! score = k(architecture, ray-tracing cores) x TDP^watt / (sm / SMs + 10 / bandwidth + serial) x GPUs
//!
//! A sample takes a time on the multiprocessors, a time at the memory (rays scatter, caches miss) and a time that
//! no bigger GPU shortens; board power stands for the clocks that a part can hold. Memory faster than the
//! multiprocessors ask for buys little, which is why parts with HBM render far below their bandwidth. What one
//! multiprocessor does for a ray is a constant of its architecture, with ray-tracing cores or without.
//!
//! What it is: an own formula, fitted on medians of Blender Open Data (4.5, OptiX and oneAPI), a row weighted by
//! n / (n + 3) for n runs. What it is not: a prediction of one scene, nor of a scene that does not fit the memory.
//! An architecture without a row gets the geometric mean of those with the same kind of cores, and AMD's, of which
//! there is no row at all, a fixed share of it that is common knowledge rather than a fit. CUDA instead of OptiX
//! leaves ray-tracing cores idle: a fixed share. Single runs and virtual GPUs scatter by a third. Start at
//! [`Query`].

use super::{Calibration, Question};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    /// Exponent of the board power in watts.
    pub(crate) watt: f64,
    /// Time of one multiprocessor over that of 10 GB/s.
    pub(crate) sm: f64,
    /// Time that grows with nothing, in the same unit.
    pub(crate) serial: f64,
    /// k of AMD's architectures over the mean of the others with ray-tracing cores.
    pub(crate) amd: f64,
    /// What remains where a backend leaves ray-tracing cores idle.
    pub(crate) idle_rt: f64,
    /// Runs at which a median counts half.
    pub(crate) runs: f64,
}

/// One kind of GPU that renders.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    /// Streaming multiprocessors, compute units or Xe cores.
    pub(crate) multiprocessors: f64,
    /// Nominal, GB/s.
    pub(crate) bandwidth_gbs: f64,
    /// Board power, W.
    pub(crate) watt: f64,
    pub(crate) gpus: f64,
    /// Architecture and kind of cores, such as `Ampere/rt`.
    key: String,
    rt: bool,
    amd: bool,
    /// The backend uses the ray-tracing cores.
    pub(crate) rt_used: bool,
    /// Weight of the row in a fit.
    pub(crate) weight: f64,
}

/// Ends of keys.
const WITH: &str = "/rt";
const WITHOUT: &str = "/plain";

impl Query {
    /// `rt`: has ray-tracing cores.
    pub(crate) fn new(arch: &str, vendor: &str, rt: bool) -> Query {
        Query {
            multiprocessors: f64::NAN,
            bandwidth_gbs: f64::NAN,
            watt: f64::NAN,
            gpus: 1.0,
            key: format!("{arch}{}", if rt { WITH } else { WITHOUT }),
            rt,
            amd: vendor == "AMD",
            rt_used: true,
            weight: 1.0,
        }
    }

    fn k(&self, calibration: &Calibration) -> f64 {
        let fitted = &calibration.render_score;
        if let Some(k) = fitted.anchors.get(&self.key) {
            return *k;
        }
        let end = if self.rt { WITH } else { WITHOUT };
        let of_kind = || fitted.anchors.iter().filter(|(key, _)| key.ends_with(end));
        let n = of_kind().count() as f64;
        let mean = (of_kind().map(|(_, k)| k.ln()).sum::<f64>() / n).exp();
        mean * if self.amd {
            fitted.coefficients.amd
        } else {
            1.0
        }
    }
}

impl Question for Query {
    fn family(&self) -> &'static str {
        "render_score"
    }

    fn class(&self) -> &'static str {
        if self.rt { "rt" } else { "plain" }
    }

    /// With its kind of cores: rows of a Turing card with ray-tracing cores say nothing of one without.
    fn arch(&self) -> &str {
        &self.key
    }

    fn anchor(&self) -> Option<&str> {
        Some(&self.key)
    }

    /// Samples per minute.
    fn answer(&self, calibration: &Calibration) -> f64 {
        let c = &calibration.render_score.coefficients;
        let time = c.sm / self.multiprocessors + 10.0 / self.bandwidth_gbs + c.serial;
        let idle = if self.rt && !self.rt_used {
            c.idle_rt
        } else {
            1.0
        };
        self.k(calibration) * idle * self.watt.powf(c.watt) / time * self.gpus
    }

    fn weight(&self) -> f64 {
        self.weight
    }
}

#[cfg(test)]
mod tests {
    use super::{Coefficients, Query};
    use crate::formula::{Calibration, Fitted, Question};

    fn calibration() -> Calibration {
        let text = include_str!("../../../../data/calibration.toml");
        let mut calibration = Calibration::from_toml(text).expect("calibration.toml");
        calibration.render_score = Fitted {
            coefficients: Coefficients {
                watt: 0.5,
                sm: 1.0,
                serial: 0.01,
                amd: 0.5,
                idle_rt: 0.6,
                runs: 3.0,
            },
            anchors: [
                ("Ada/rt".to_owned(), 100.0),
                ("Turing/rt".to_owned(), 25.0),
                ("Volta/plain".to_owned(), 10.0),
            ]
            .into(),
        };
        calibration
    }

    fn card(arch: &str, vendor: &str, rt: bool) -> Query {
        Query {
            multiprocessors: 50.0,
            bandwidth_gbs: 1000.0,
            watt: 400.0,
            ..Query::new(arch, vendor, rt)
        }
    }

    fn score(query: &Query) -> f64 {
        query.answer(&calibration())
    }

    #[test]
    fn a_hand_computed_score() {
        // 100 x sqrt(400) / (1/50 + 10/1000 + 0.01) = 2000 / 0.04
        let ada = card("Ada", "NVIDIA", true);
        assert!((score(&ada) - 50_000.0).abs() < 1e-6);
        let idle = Query {
            rt_used: false,
            gpus: 2.0,
            ..ada
        };
        assert!((score(&idle) - 60_000.0).abs() < 1e-6);
    }

    #[test]
    fn unseen_architectures_take_the_mean_of_their_kind() {
        // sqrt(100 x 25) = 50; AMD half of it
        assert!((score(&card("Rubin", "NVIDIA", true)) - 25_000.0).abs() < 1e-6);
        assert!((score(&card("RDNA3", "AMD", true)) - 12_500.0).abs() < 1e-6);
        assert!((score(&card("Hopper", "NVIDIA", false)) - 5_000.0).abs() < 1e-6);
        // the same architecture with the other kind of cores is unseen too
        assert!((score(&card("Turing", "NVIDIA", false)) - 5_000.0).abs() < 1e-6);
    }

    #[test]
    fn more_of_anything_never_renders_slower() {
        let base = card("Ada", "NVIDIA", true);
        for more in [
            Query {
                multiprocessors: 60.0,
                ..base.clone()
            },
            Query {
                bandwidth_gbs: 1200.0,
                ..base.clone()
            },
            Query {
                watt: 500.0,
                ..base.clone()
            },
        ] {
            assert!(score(&more) > score(&base));
        }
    }
}
