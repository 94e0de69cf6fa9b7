//! Time per output token of a tuned server under load, `tpot_ms`.
//!
//! ```text
//! TPOT = step(B, I + O/2) + share_prefill (B - 1) prompt(I) / O
//! ```
//!
//! B is the concurrency, at most what memory holds; step and prompt as in `serve_tuned`. While one request gets
//! O tokens, each of the others ends and begins once, and its prompt takes its turn among the steps: an engine
//! that mixes them in pays all of it per token, one that reads prompts in waves first pays part.
//! `layer_us` and `prefill_share` are of the engine (`trtllm`, `vllm`, `sglang`); another engine gets their mean.
//! Dense models and mixtures have coefficients of their own. More GPUs than one machine holds: the formula of the
//! mixture on the share of GPUs that decode (`decode_share`, assumed: deployments of that size are split in two).
//! Those, and rows that do not tell the number of GPUs, are answered but not fitted: how they are split is not recorded.
//!
//! Fitted on the serving sweeps of three GPU types that a kernel-table predictor ships as its regression sample
//! (own formula, own fit). Not to be trusted for: speculative decoding (rows do not say who used it; it is
//! much of the error of mixtures), deployments over several machines, GPUs without NVLink or its kin.

use super::serve_tuned::{ByWidth, Pace, Replica, Width};
use super::{Calibration, Question};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Of dense models, and again of mixtures.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    pub(crate) bandwidth_share: f64,
    /// Factor on it while four-bit weights are read.
    pub(crate) bandwidth_four_bit: f64,
    pub(crate) prefill_mfu: ByWidth,
    /// Utilisation of decode steps over that of prompts.
    pub(crate) decode_over_prefill: f64,
    /// Engine -> microseconds a layer.
    pub(crate) layer_us: BTreeMap<String, f64>,
    pub(crate) all_reduce_us: f64,
    pub(crate) link_share: f64,
    /// Engine -> share of other requests' prompt time that a token waits for.
    pub(crate) prefill_share: BTreeMap<String, f64>,
    /// Share of memory for weights and cache.
    pub(crate) usable_share: f64,
}

/// Deployments beyond one machine, or of unknown size.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RackCoefficients {
    pub(crate) decode_share: f64,
}

/// Where the GPUs stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deployment {
    /// In one machine.
    Machine,
    /// In several: more than one machine of this form holds.
    Several,
    /// The row does not tell their number: only the tensor parallelism of a part is known.
    NotRecorded,
}

/// A server under steady load.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    pub(crate) replica: Replica,
    pub(crate) deployment: Deployment,
    /// Engine without version, lower case.
    pub(crate) engine: String,
    /// Requests in flight.
    pub(crate) concurrency: f64,
    /// Tokens of a prompt.
    pub(crate) prompt: f64,
    /// Tokens of an answer.
    pub(crate) output: f64,
    pub(crate) arch: String,
}

/// The engine's own value, else the mean of those known.
pub(crate) fn of_engine(values: &BTreeMap<String, f64>, engine: &str) -> f64 {
    values
        .get(engine)
        .copied()
        .unwrap_or_else(|| values.values().sum::<f64>() / values.len().max(1) as f64)
}

impl Coefficients {
    pub(crate) fn pace(&self, engine: &str, width: Width) -> Pace {
        let narrow = if width == Width::Four {
            self.bandwidth_four_bit
        } else {
            1.0
        };
        let prefill_mfu = self.prefill_mfu.of(width);
        Pace {
            bandwidth: self.bandwidth_share,
            weight_bandwidth: self.bandwidth_share * narrow,
            decode_mfu: prefill_mfu * self.decode_over_prefill,
            prefill_mfu,
            attention_mfu: self.prefill_mfu.sixteen,
            layer_s: of_engine(&self.layer_us, engine) * 1e-6,
            all_reduce_s: self.all_reduce_us * 1e-6,
            link: self.link_share,
            group_power: 0.0,
        }
    }
}

impl Query {
    /// Tokens of a request in the middle of its answer.
    pub(crate) fn context(&self) -> f64 {
        self.prompt + self.output / 2.0
    }

    /// Seconds per output token with these coefficients.
    pub(crate) fn token_time(&self, c: &Coefficients) -> f64 {
        let pace = c.pace(&self.engine, self.replica.width);
        let fits = self.replica.batch_that_fits(self.context(), c.usable_share);
        let batch = self.concurrency.min(fits);
        let prompts = of_engine(&c.prefill_share, &self.engine)
            * (batch - 1.0).max(0.0)
            * self.replica.prompt(self.prompt, &pace)
            / self.output.max(1.0);
        self.replica.step(batch, self.context(), &pace) + prompts
    }

    /// Milliseconds per output token.
    pub(crate) fn tpot_ms(&self, calibration: &Calibration) -> f64 {
        let c = if self.replica.network.is_mixture() {
            &calibration.serve_decode_moe_tuned.coefficients
        } else {
            &calibration.serve_decode_tuned.coefficients
        };
        if self.deployment != Deployment::Several {
            return 1e3 * self.token_time(c);
        }
        let share = calibration
            .serve_decode_rack_tuned
            .coefficients
            .decode_share;
        let decoding = Query {
            replica: Replica {
                gpus: (self.replica.gpus * share).max(1.0),
                ..self.replica
            },
            ..self.clone()
        };
        1e3 * decoding.token_time(c)
    }
}

impl Question for Query {
    fn family(&self) -> &'static str {
        match (self.deployment, self.replica.network.is_mixture()) {
            (Deployment::Machine, true) => "serve_decode_moe_tuned",
            (Deployment::Machine, false) => "serve_decode_tuned",
            _ => "serve_decode_rack_tuned",
        }
    }

    fn class(&self) -> &'static str {
        match self.engine.as_str() {
            "trtllm" => "trtllm",
            "vllm" => "vllm",
            "sglang" => "sglang",
            _ => "all",
        }
    }

    fn arch(&self) -> &str {
        &self.arch
    }

    fn answer(&self, calibration: &Calibration) -> f64 {
        self.tpot_ms(calibration)
    }
}

#[cfg(test)]
mod tests {
    use super::super::serve_tuned::tests::replica;
    use super::*;

    fn map(pairs: [(&str, f64); 2]) -> BTreeMap<String, f64> {
        pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
    }

    fn coefficients() -> Coefficients {
        Coefficients {
            bandwidth_share: 0.8,
            bandwidth_four_bit: 0.7,
            prefill_mfu: ByWidth::all(0.5),
            decode_over_prefill: 1.0,
            layer_us: map([("vllm", 60.0), ("trtllm", 40.0)]),
            all_reduce_us: 5.0,
            link_share: 0.5,
            prefill_share: map([("vllm", 1.0), ("trtllm", 0.5)]),
            usable_share: 0.9,
        }
    }

    fn query(engine: &str, concurrency: f64) -> Query {
        Query {
            replica: replica(1.0),
            deployment: Deployment::Machine,
            engine: engine.to_owned(),
            concurrency,
            prompt: 1000.0,
            output: 500.0,
            arch: "Ampere".to_owned(),
        }
    }

    #[test]
    fn one_request_waits_for_nobody() {
        let c = coefficients();
        let alone = query("vllm", 1.0);
        let step = alone
            .replica
            .step(1.0, 1250.0, &c.pace("vllm", Width::Sixteen));
        assert!((alone.token_time(&c) / step - 1.0).abs() < 1e-12);
    }

    #[test]
    fn prompts_of_the_others_are_shared_out() {
        let c = coefficients();
        let q = query("vllm", 11.0);
        let pace = c.pace("vllm", Width::Sixteen);
        let by_hand =
            q.replica.step(11.0, 1250.0, &pace) + 10.0 * q.replica.prompt(1000.0, &pace) / 500.0;
        assert!((q.token_time(&c) / by_hand - 1.0).abs() < 1e-12);
    }

    #[test]
    fn beyond_memory_the_queue_grows_and_not_the_step() {
        let c = coefficients();
        let full = query("vllm", 10_000.0).token_time(&c);
        assert_eq!(full, query("vllm", 20_000.0).token_time(&c));
        assert!(full > query("vllm", 100.0).token_time(&c));
    }

    #[test]
    fn an_unknown_engine_is_the_mean() {
        let c = coefficients();
        assert!((c.pace("other", Width::Sixteen).layer_s - 50e-6).abs() < 1e-12);
        let (low, high) = (query("trtllm", 8.0), query("vllm", 8.0));
        let middle = query("other", 8.0).token_time(&c);
        assert!(low.token_time(&c) < middle && middle < high.token_time(&c));
    }
}
