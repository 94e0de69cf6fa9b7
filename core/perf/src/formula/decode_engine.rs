//! One stream on other engines than llama.cpp with split layers: tokens per second of generation.
//!
//! ```text
//! t = bytes / (n share BW) + t_layer L + [n > 1] 2 L t_reduce(engine)
//! ```
//!
//! n = the GPUs that read at the same time: all of them with tensor parallel, one where layers are split. The share
//! and the cost of an all-reduce are of the engine, as it was in the year of the table: graphs of launches,
//! fused kernels and the all-reduce differ more between engines than GPUs do.
//!
//! Fitted on one laboratory's table of four engines and four GPU types (own formula and fit). Versions age: a
//! current build is faster. Not to be trusted for GPUs with more bandwidth than one stream can use.

use super::{Calibration, Question};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    /// Engine -> share of nominal bandwidth.
    pub(crate) share: BTreeMap<String, f64>,
    pub(crate) layer_us: f64,
    /// Engine -> microseconds of an all-reduce.
    pub(crate) reduce_us: BTreeMap<String, f64>,
}

/// One stream of answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    pub(crate) arch: Arc<str>,
    /// Engine without version, lower case.
    pub(crate) engine: String,
    /// byte/s of one GPU
    pub(crate) bandwidth: f64,
    /// GPUs that work at the same time.
    pub(crate) gpus: f64,
    pub(crate) bytes: f64,
    pub(crate) layers: f64,
}

/// The engine's own, else the mean of those known.
fn of(values: &BTreeMap<String, f64>, engine: &str) -> f64 {
    values
        .get(engine)
        .copied()
        .unwrap_or_else(|| values.values().sum::<f64>() / values.len().max(1) as f64)
}

impl Query {
    /// Seconds per token.
    pub(crate) fn token_time(&self, c: &Coefficients) -> f64 {
        let reading = self.bytes / (self.gpus * of(&c.share, &self.engine) * self.bandwidth);
        let reduce = if self.gpus > 1.0 {
            2.0 * of(&c.reduce_us, &self.engine)
        } else {
            0.0
        };
        reading + (c.layer_us + reduce) * 1e-6 * self.layers
    }
}

impl Question for Query {
    fn family(&self) -> &'static str {
        "decode_engine"
    }

    fn arch(&self) -> &str {
        &self.arch
    }

    fn answer(&self, calibration: &Calibration) -> f64 {
        1.0 / self.token_time(&calibration.decode_engine.coefficients)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_by_hand_and_more_gpus() {
        let c = Coefficients {
            share: [("a".to_owned(), 0.8), ("b".to_owned(), 0.6)].into(),
            layer_us: 10.0,
            reduce_us: [("a".to_owned(), 50.0)].into(),
        };
        let one = Query {
            arch: "Ada".into(),
            engine: "a".to_owned(),
            bandwidth: 1e12,
            gpus: 1.0,
            bytes: 4e9,
            layers: 32.0,
        };
        // 5 ms and 0.32 ms
        assert!((one.token_time(&c) - 5.32e-3).abs() < 1e-9);
        let two = Query {
            gpus: 2.0,
            ..one.clone()
        };
        // 2.5 ms, 0.32 ms, 3.2 ms
        assert!((two.token_time(&c) - 6.02e-3).abs() < 1e-9);
        let unknown = Query {
            engine: "c".to_owned(),
            ..one.clone()
        };
        assert!(unknown.token_time(&c) > one.token_time(&c));
    }
}
