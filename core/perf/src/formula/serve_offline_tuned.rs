//! Throughput of an MLPerf inference submission with a language model, offline and under server load, and the
//! latencies of the server run.
//!
//! ```text
//! per GPU = B / (B prompt(I) + O step(B beams, I/beams + O/2)) / n       requests/s; x O for tokens/s
//! server  = offline x server_share
//! TPOT    = min(latency_ms, 1000 B / (tokens/s of a replica)) x factor(metric)
//! ```
//!
//! step and prompt as in `serve_tuned`, with one utilisation for both. n: fewest GPUs (a power of two) whose memory
//! the weights fill to at most `weights_share`; B: what memory holds, at most `max_batch`. `prompt_tokens` and
//! `output_tokens` are means of the benchmark's data set, `beams` of its rules: a beam search keeps
//! one prompt for all beams. A card in a slot cannot hold its clocks: its matrix rate is taken times
//! (W per FLOP/s, relative to `watt_per_tflop`)^`power`, at most 1. Times to first token follow the TPOT:
//! a prompt waits for the step under way, then runs with the next.
//!
//! Fitted on MLPerf Inference v4.1 results (submitters' own, best cases). Pruned or sparse networks
//! are left out. Not to be trusted for: cards without 8-bit floating point, of which no row is
//! known, and models other than those of the rounds.

use super::serve_tuned::{Pace, Replica};
use super::{Calibration, Question};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    pub(crate) bandwidth_share: f64,
    pub(crate) mfu: f64,
    /// Factor on the utilisation of mixtures, and of beam search.
    pub(crate) mixture: f64,
    pub(crate) beam_search: f64,
    pub(crate) layer_us: f64,
    pub(crate) all_reduce_us: f64,
    pub(crate) link_share: f64,
    pub(crate) server_share: f64,
    /// Exponent on the power that a slot gives.
    pub(crate) power: f64,
    /// W per dense 16-bit TFLOP/s of a board that holds its clocks.
    pub(crate) watt_per_tflop: f64,
    pub(crate) usable_share: f64,
    pub(crate) weights_share: f64,
    pub(crate) max_batch: f64,
    /// Model (a name of `data/models.csv`, or `other`) -> tokens, beams.
    pub(crate) prompt_tokens: BTreeMap<String, f64>,
    pub(crate) output_tokens: BTreeMap<String, f64>,
    pub(crate) beams: BTreeMap<String, f64>,
}

/// Of the server run.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct LatencyCoefficients {
    /// Mean time per token at which submitters stop adding load, ms.
    pub(crate) latency_ms: f64,
    /// Metric -> factor on the mean time per token.
    pub(crate) factor: BTreeMap<String, f64>,
}

/// What is asked of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Tokens,
    Samples,
    /// A latency by its metric: `tpot_mean`, `tpot_p99`, `ttft_mean`, `ttft_p99`.
    Latency(&'static str),
}

/// A submission.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    /// As on one GPU; how many share a replica follows from memory.
    pub(crate) on_one: Replica,
    /// GPUs of the system.
    pub(crate) gpus: f64,
    pub(crate) server: bool,
    pub(crate) wanted: Wanted,
    /// Key of the workload's tokens.
    pub(crate) model: String,
    /// Given by the row, instead of the workload's means.
    pub(crate) prompt: Option<f64>,
    pub(crate) output: Option<f64>,
    /// W per dense 16-bit TFLOP/s of a card in a slot; `None` for modules.
    pub(crate) slot_watt_per_tflop: Option<f64>,
    pub(crate) arch: String,
}

fn of_model(values: &BTreeMap<String, f64>, model: &str) -> f64 {
    values
        .get(model)
        .or_else(|| values.get("other"))
        .copied()
        .unwrap_or(f64::NAN)
}

/// One replica at work.
struct Run {
    batch: f64,
    /// requests/s
    rate: f64,
    output: f64,
    gpus: f64,
}

impl Query {
    fn fewest_gpus(&self, c: &Coefficients) -> f64 {
        let room = c.weights_share * self.on_one.chip.memory;
        let mut n = 1.0;
        while self.on_one.weights() > room * n && 2.0 * n <= self.gpus.max(1.0) {
            n *= 2.0;
        }
        n
    }

    fn run(&self, c: &Coefficients) -> Run {
        let gpus = self.fewest_gpus(c);
        let prompt = self
            .prompt
            .unwrap_or_else(|| of_model(&c.prompt_tokens, &self.model));
        let output = self
            .output
            .unwrap_or_else(|| of_model(&c.output_tokens, &self.model));
        let beams = of_model(&c.beams, &self.model).max(1.0);
        let slot = self
            .slot_watt_per_tflop
            .map_or(1.0, |w| (w / c.watt_per_tflop).min(1.0).powf(c.power));
        let mixture = if self.on_one.network.is_mixture() {
            c.mixture
        } else {
            1.0
        };
        let searched = if beams > 1.0 { c.beam_search } else { 1.0 };
        let mfu = c.mfu * slot * mixture * searched;
        let pace = Pace {
            bandwidth: c.bandwidth_share,
            weight_bandwidth: c.bandwidth_share,
            decode_mfu: mfu,
            prefill_mfu: mfu,
            attention_mfu: mfu,
            layer_s: c.layer_us * 1e-6,
            all_reduce_s: c.all_reduce_us * 1e-6,
            link: c.link_share,
            group_power: 0.0,
        };
        let replica = Replica {
            gpus,
            ..self.on_one
        };
        let batch = replica
            .batch_that_fits(prompt + beams * output / 2.0, c.usable_share)
            .min(c.max_batch);
        let seconds = batch * replica.prompt(prompt, &pace)
            + output * replica.step(batch * beams, prompt / beams + output / 2.0, &pace);
        let share = if self.server { c.server_share } else { 1.0 };
        Run {
            batch,
            rate: batch / seconds * share,
            output,
            gpus,
        }
    }

    /// samples/s or tokens/s of the whole system.
    pub(crate) fn throughput(&self, c: &Coefficients) -> f64 {
        let run = self.run(c);
        let per_request = if self.wanted == Wanted::Samples {
            1.0
        } else {
            run.output
        };
        run.rate * per_request / run.gpus * self.gpus
    }

    /// ms
    pub(crate) fn latency(&self, metric: &str, c: &Coefficients, l: &LatencyCoefficients) -> f64 {
        let run = self.run(c);
        let per_token = 1e3 * run.batch / (run.rate * run.output);
        per_token.min(l.latency_ms) * l.factor.get(metric).copied().unwrap_or(f64::NAN)
    }
}

impl Question for Query {
    fn family(&self) -> &'static str {
        match self.wanted {
            Wanted::Latency(_) => "serve_latency_tuned",
            Wanted::Tokens | Wanted::Samples => "serve_offline_tuned",
        }
    }

    fn class(&self) -> &'static str {
        match self.wanted {
            Wanted::Latency(metric) => metric,
            Wanted::Tokens | Wanted::Samples if self.server => "server",
            Wanted::Tokens | Wanted::Samples => "offline",
        }
    }

    fn arch(&self) -> &str {
        &self.arch
    }

    fn answer(&self, calibration: &Calibration) -> f64 {
        let c = &calibration.serve_offline_tuned.coefficients;
        match self.wanted {
            Wanted::Latency(metric) => {
                self.latency(metric, c, &calibration.serve_latency_tuned.coefficients)
            }
            Wanted::Tokens | Wanted::Samples => self.throughput(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::serve_tuned::tests::replica;
    use super::*;

    fn one(key: &str, x: f64) -> BTreeMap<String, f64> {
        BTreeMap::from([(key.to_owned(), x)])
    }

    fn coefficients() -> Coefficients {
        Coefficients {
            bandwidth_share: 0.8,
            mfu: 0.5,
            mixture: 0.6,
            beam_search: 0.7,
            layer_us: 50.0,
            all_reduce_us: 5.0,
            link_share: 0.5,
            server_share: 0.9,
            power: 0.5,
            watt_per_tflop: 1.0,
            usable_share: 0.9,
            weights_share: 0.6,
            max_batch: 100.0,
            prompt_tokens: one("other", 1000.0),
            output_tokens: one("other", 100.0),
            beams: one("other", 1.0),
        }
    }

    fn query(wanted: Wanted, server: bool) -> Query {
        Query {
            on_one: replica(1.0),
            gpus: 8.0,
            server,
            wanted,
            model: "any".to_owned(),
            prompt: None,
            output: None,
            slot_watt_per_tflop: None,
            arch: "Ampere".to_owned(),
        }
    }

    #[test]
    fn a_run_by_hand() {
        // 100 requests at once on each of 8 GPUs
        let prompt = 0.128 + 5e5 * 524_288.0 / 125e12;
        let step = (10e-3_f64.powi(2) + 12.8e-3_f64.powi(2)).sqrt()
            + 100.0 * 1050.0 * 131_072.0 / 1.6e12
            + 1.6e-3;
        let by_hand = 8.0 * 100.0 / (100.0 * prompt + 100.0 * step);
        let c = coefficients();
        let got = query(Wanted::Samples, false).throughput(&c);
        assert!((got / by_hand - 1.0).abs() < 1e-9, "{got} {by_hand}");
        let tokens = query(Wanted::Tokens, false).throughput(&c);
        assert!((tokens / got - 100.0).abs() < 1e-9);
        assert!((query(Wanted::Samples, true).throughput(&c) / got - 0.9).abs() < 1e-9);
    }

    #[test]
    fn a_large_model_takes_more_gpus() {
        let c = coefficients();
        let large = Replica {
            weight_bytes: 20.0,
            ..replica(1.0)
        };
        let q = Query {
            on_one: large,
            ..query(Wanted::Tokens, false)
        };
        // 160e9 bytes, 48e9 of each GPU's memory for weights
        assert_eq!(q.fewest_gpus(&c), 4.0);
        assert_eq!(query(Wanted::Tokens, false).fewest_gpus(&c), 1.0);
    }

    #[test]
    fn a_card_in_a_slot_is_slower() {
        let c = coefficients();
        let slot = Query {
            slot_watt_per_tflop: Some(0.5),
            ..query(Wanted::Tokens, false)
        };
        assert!(slot.throughput(&c) < query(Wanted::Tokens, false).throughput(&c));
        let fed = Query {
            slot_watt_per_tflop: Some(2.0),
            ..query(Wanted::Tokens, false)
        };
        assert_eq!(
            fed.throughput(&c),
            query(Wanted::Tokens, false).throughput(&c)
        );
    }

    #[test]
    fn a_rule_bounds_the_time_per_token() {
        let l = LatencyCoefficients {
            latency_ms: 50.0,
            factor: one("tpot_p99", 1.2),
        };
        let q = query(Wanted::Latency("tpot_p99"), true);
        let got = q.latency("tpot_p99", &coefficients(), &l);
        assert!((got - 60.0).abs() < 1e-9, "{got}");
        let free = LatencyCoefficients {
            latency_ms: 1e9,
            ..l
        };
        assert!(q.latency("tpot_p99", &coefficients(), &free) > 60.0);
    }
}
