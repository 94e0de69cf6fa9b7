//! Whether a zone fails more often just now than its own history says: failures over expected failures in the
//! densest recent stretch (SkyNomad, NSDI 2027: gamma; as in its artifact).

use std::collections::VecDeque;

/// Expected failures that are remembered.
const MEMORY: f64 = 8.0;
/// The longest stretch that is looked at, in expected failures; below it in total nothing is said.
const STRETCH: f64 = 1.0;
/// Stands in for an expectation of nothing.
const LEAST_RISK: f64 = 1e-6;

/// Recent ticks of one zone, and the factor that they give for its hazard.
#[derive(Debug)]
pub(super) struct Volatility {
    /// Expected failures and failures of a tick.
    ticks: VecDeque<(f64, u32)>,
    total: f64,
    failures: u32,
    factor: f64,
}

impl Default for Volatility {
    fn default() -> Volatility {
        Volatility {
            ticks: VecDeque::new(),
            total: 0.0,
            failures: 0,
            factor: 1.0,
        }
    }
}

impl Volatility {
    /// At least 1.
    pub(super) fn factor(&self) -> f64 {
        self.factor
    }

    /// One more tick.
    pub(super) fn observe(&mut self, risk: f64, failures: u32) {
        if risk <= 0.0 && failures == 0 {
            return;
        }
        self.ticks.push_back((risk, failures));
        self.total += risk;
        self.failures += failures;
        let mut total = self.total;
        let mut dropped = false;
        while let Some(&(oldest, failed)) = self.ticks.front()
            && total - oldest >= MEMORY
        {
            self.ticks.pop_front();
            self.failures -= failed;
            total -= oldest;
            dropped = true;
        }
        if dropped {
            self.total = self.ticks.iter().map(|t| t.0).sum();
        }
        self.factor = if self.total < STRETCH || self.failures == 0 {
            1.0
        } else {
            self.densest().max(1.0)
        };
    }

    /// The largest ratio of failures to expected failures over any number of newest ticks within the stretch.
    fn densest(&self) -> f64 {
        let ratio = |risk: f64, failures: u32| match failures {
            0 => 0.0,
            n => f64::from(n) / if risk > 0.0 { risk } else { LEAST_RISK },
        };
        let (mut risk, mut failures) = (0.0, 0);
        let mut best: Option<f64> = None;
        for (i, &(r, f)) in self.ticks.iter().rev().enumerate() {
            risk += r;
            failures += f;
            if i == 0 && risk <= LEAST_RISK && failures == 0 {
                continue;
            }
            if risk > STRETCH + 1e-9 {
                if i == 0 {
                    best = Some(ratio(risk, failures));
                }
                break;
            }
            // without a failure of its own a tick only thins the stretch out
            if f == 0 && best.is_some() {
                continue;
            }
            let now = ratio(risk, failures);
            if best.is_none_or(|b| now > b + 1e-9) {
                best = Some(now);
            }
        }
        let newest = self.ticks.back().map_or(0.0, |&(r, f)| ratio(r, f));
        best.unwrap_or(newest)
    }
}
