//! Peak throughput of one batch that starts and ends together, `output_tok_s_per_gpu`, and the first token of a
//! single request on an idle engine.
//!
//! ```text
//! tokens/s/GPU = B O / (B prompt(I) + O step(B, I + O/2)) / n
//! first token  = sqrt(prompt(I)^2 + weights^2) + L (t_layer + [n > 1] 2 t_all_reduce)
//! ```
//!
//! step and prompt as in `serve_tuned`; `group_power` above 0: the decode attention of that engine generation read
//! a KV head several times for the query heads that share it. Fitted on a vendor's tables of two engine
//! versions, one GPU type in FP16 and one in FP8: so one model is left out instead of one GPU. Best
//! cases: not what a server under arrivals reaches.

use super::serve_tuned::{ByWidth, Pace, Replica, Width};
use super::{Calibration, Question};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    pub(crate) bandwidth_share: f64,
    pub(crate) prefill_mfu: ByWidth,
    /// Utilisation of decode steps over that of prompts.
    pub(crate) decode_over_prefill: f64,
    pub(crate) layer_us: f64,
    pub(crate) all_reduce_us: f64,
    pub(crate) link_share: f64,
    pub(crate) group_power: f64,
}

impl Coefficients {
    fn pace(&self, width: Width) -> Pace {
        let prefill_mfu = self.prefill_mfu.of(width);
        Pace {
            bandwidth: self.bandwidth_share,
            weight_bandwidth: self.bandwidth_share,
            decode_mfu: prefill_mfu * self.decode_over_prefill,
            prefill_mfu,
            attention_mfu: self.prefill_mfu.sixteen,
            layer_s: self.layer_us * 1e-6,
            all_reduce_s: self.all_reduce_us * 1e-6,
            link: self.link_share,
            group_power: self.group_power,
        }
    }
}

/// What is asked of the engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wanted {
    /// Output tokens per second and GPU of a batch.
    Throughput,
    /// Milliseconds to the first token of a single request.
    FirstToken,
}

/// One batch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    pub(crate) replica: Replica,
    pub(crate) wanted: Wanted,
    pub(crate) batch: f64,
    pub(crate) prompt: f64,
    pub(crate) output: f64,
    pub(crate) arch: String,
}

impl Query {
    /// tokens/s/GPU
    pub(crate) fn throughput(&self, c: &Coefficients) -> f64 {
        let pace = c.pace(self.replica.width);
        let seconds = self.batch * self.replica.prompt(self.prompt, &pace)
            + self.output
                * self
                    .replica
                    .step(self.batch, self.prompt + self.output / 2.0, &pace);
        self.batch * self.output / seconds / self.replica.gpus
    }

    /// ms
    pub(crate) fn first_token_ms(&self, c: &Coefficients) -> f64 {
        let pace = c.pace(self.replica.width);
        let net = &self.replica.network;
        let waits = if self.replica.gpus > 1.0 {
            2.0 * pace.all_reduce_s
        } else {
            0.0
        };
        let prompt = self.replica.prompt(self.prompt, &pace);
        1e3 * (prompt.hypot(self.replica.weight_time(&pace)) + net.layers * (pace.layer_s + waits))
    }
}

impl Question for Query {
    fn family(&self) -> &'static str {
        match self.wanted {
            Wanted::Throughput => "serve_static_tuned",
            Wanted::FirstToken => "prefill_tuned",
        }
    }

    fn arch(&self) -> &str {
        &self.arch
    }

    fn answer(&self, calibration: &Calibration) -> f64 {
        match self.wanted {
            Wanted::Throughput => self.throughput(&calibration.serve_static_tuned.coefficients),
            Wanted::FirstToken => self.first_token_ms(&calibration.prefill_tuned.coefficients),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::serve_tuned::tests::replica;
    use super::*;

    fn coefficients() -> Coefficients {
        Coefficients {
            bandwidth_share: 0.8,
            prefill_mfu: ByWidth::all(0.5),
            decode_over_prefill: 1.0,
            layer_us: 50.0,
            all_reduce_us: 5.0,
            link_share: 0.5,
            group_power: 0.0,
        }
    }

    fn query(batch: f64, wanted: Wanted) -> Query {
        Query {
            replica: replica(1.0),
            wanted,
            batch,
            prompt: 1000.0,
            output: 100.0,
            arch: "Ampere".to_owned(),
        }
    }

    #[test]
    fn a_batch_by_hand() {
        // prompts 10 x 130.097 ms, 100 steps at 1050 tokens of context
        let prompt = 0.128 + 5e5 * 524_288.0 / 125e12;
        let step = (10e-3_f64.powi(2) + 1.28e-3_f64.powi(2)).sqrt()
            + 10.0 * 1050.0 * 131_072.0 / 1.6e12
            + 1.6e-3;
        let by_hand = 1000.0 / (10.0 * prompt + 100.0 * step);
        let got = query(10.0, Wanted::Throughput).throughput(&coefficients());
        assert!((got / by_hand - 1.0).abs() < 1e-9, "{got} {by_hand}");
    }

    #[test]
    fn a_larger_batch_gives_more_and_a_shared_head_read_often_less() {
        let c = coefficients();
        let small = query(10.0, Wanted::Throughput).throughput(&c);
        assert!(query(20.0, Wanted::Throughput).throughput(&c) > small);
        let often = Coefficients {
            group_power: 1.0,
            ..coefficients()
        };
        assert!(query(10.0, Wanted::Throughput).throughput(&often) < small);
    }

    #[test]
    fn a_short_prompt_cannot_beat_reading_the_weights() {
        let short = Query {
            prompt: 1.0,
            ..query(1.0, Wanted::FirstToken)
        };
        assert!(short.first_token_ms(&coefficients()) >= 10.0 + 1.6);
    }
}
