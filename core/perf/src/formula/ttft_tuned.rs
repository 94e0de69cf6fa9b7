//! Time to the first token of a loaded tuned server, `ttft_ms`. Low confidence: the queue decides it.
//!
//! ```text
//! TTFT = prompt(I) (1 + waiting (B - 1)) + steps x TPOT + fixed + (C - B) / B x O x TPOT
//! ```
//!
//! C requests are in flight, B = min(C, what memory holds) of them run. `waiting` is the share of the other
//! requests whose prompt comes first (arrivals are not spread out: a benchmark starts all at once), `steps` the
//! decode steps until the next prompt is let in; both are of the engine. The last term is the wait of those for
//! whom there is no room. TPOT comes from `serve_decode_tuned`.
//!
//! Fitted on the rows of `serve_decode_tuned`, loads of 1 to thousands of requests. Some benchmarks behind those
//! rows warmed up and some did not, which no column says: the range is wide for that reason, and must stay so.

use super::serve_decode_tuned::{self, of_engine};
use super::serve_tuned::{ByWidth, Pace};
use super::{Calibration, Question};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    pub(crate) prefill_mfu: ByWidth,
    /// Factor on the prompt's speed for mixtures.
    pub(crate) mixture: f64,
    pub(crate) link_share: f64,
    /// Engine -> share of the other requests that come first.
    pub(crate) waiting: BTreeMap<String, f64>,
    /// Engine -> decode steps.
    pub(crate) steps: BTreeMap<String, f64>,
    pub(crate) fixed_ms: f64,
    pub(crate) usable_share: f64,
}

/// The same server and load.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query(pub(crate) serve_decode_tuned::Query);

impl Query {
    /// Milliseconds; `tpot_ms` of the same load.
    pub(crate) fn first_token_ms(&self, c: &Coefficients, tpot_ms: f64) -> f64 {
        let Query(q) = self;
        let pace = Pace {
            bandwidth: 1.0,
            weight_bandwidth: 1.0,
            decode_mfu: 1.0,
            prefill_mfu: c.prefill_mfu.of(q.replica.width),
            attention_mfu: c.prefill_mfu.sixteen,
            layer_s: 0.0,
            all_reduce_s: 0.0,
            link: c.link_share,
            group_power: 0.0,
        };
        let mixture = if q.replica.network.is_mixture() {
            c.mixture
        } else {
            1.0
        };
        let fits = q.replica.batch_that_fits(q.context(), c.usable_share);
        let batch = q.concurrency.min(fits);
        let prompt = 1e3 * q.replica.prompt(q.prompt, &pace) / mixture;
        prompt * (1.0 + of_engine(&c.waiting, &q.engine) * (batch - 1.0).max(0.0))
            + of_engine(&c.steps, &q.engine) * tpot_ms
            + c.fixed_ms
            + (q.concurrency - batch) / batch * q.output * tpot_ms
    }
}

impl Question for Query {
    fn family(&self) -> &'static str {
        "ttft_tuned"
    }

    fn class(&self) -> &'static str {
        self.0.class()
    }

    fn arch(&self) -> &str {
        &self.0.arch
    }

    fn answer(&self, calibration: &Calibration) -> f64 {
        self.first_token_ms(
            &calibration.ttft_tuned.coefficients,
            self.0.tpot_ms(calibration),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::serve_tuned::tests::replica;
    use super::*;

    fn coefficients() -> Coefficients {
        let one = |x: f64| BTreeMap::from([("vllm".to_owned(), x)]);
        Coefficients {
            prefill_mfu: ByWidth::all(0.5),
            mixture: 0.6,
            link_share: 0.5,
            waiting: one(0.1),
            steps: one(2.0),
            fixed_ms: 20.0,
            usable_share: 0.9,
        }
    }

    fn query(concurrency: f64) -> Query {
        Query(serve_decode_tuned::Query {
            replica: replica(1.0),
            deployment: serve_decode_tuned::Deployment::Machine,
            engine: "vllm".to_owned(),
            concurrency,
            prompt: 1000.0,
            output: 100.0,
            arch: "Ampere".to_owned(),
        })
    }

    #[test]
    fn by_hand() {
        // the prompt takes 128 + 2.097 ms (see serve_tuned); 11 requests: x 2; two steps of 10 ms; 20 ms
        let by_hand = 2.0 * 1e3 * (0.128 + 5e5 * 524_288.0 / 125e12) + 20.0 + 20.0;
        let ttft = query(11.0).first_token_ms(&coefficients(), 10.0);
        assert!((ttft / by_hand - 1.0).abs() < 1e-9, "{ttft} {by_hand}");
    }

    #[test]
    fn those_without_room_wait_for_an_answer() {
        // 0.9 x 80e9 - 16e9 over 1050 tokens of 131072 bytes: 406.9 run, the rest waits
        let c = coefficients();
        let fits = query(1.0).0.replica.batch_that_fits(1050.0, 0.9);
        let extra =
            query(2.0 * fits).first_token_ms(&c, 10.0) - query(fits).first_token_ms(&c, 10.0);
        assert!(
            (extra - 100.0 * 10.0).abs() < 1e-6,
            "one whole answer: {extra}"
        );
    }
}
