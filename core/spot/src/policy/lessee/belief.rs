//! What has been seen of one zone, and how its rates compare with the pooled ones.
//!
//! Rates are the pooled rates by age times one scale for each direction. With a gamma prior of mean 1 the posterior
//! mean of a scale is (prior + events) / (prior + expected events); both counts fade with their age, since markets
//! change.

use super::params::Params;

/// Knowledge of one zone. Times in hours since the start of the job.
#[derive(Clone, Debug, Default)]
pub(super) struct Belief {
    /// Last answer and when it was given.
    pub(super) seen: Option<(bool, f64)>,
    /// When the present spell began, as far as known.
    pub(super) since: f64,
    /// Spells seen to end: of availability, of outage.
    events: [f64; 2],
    /// Ends that the pooled rates expect in the time watched.
    expected: [f64; 2],
    /// The last span between two answers, and what it leaves of older ones: mostly the same again.
    faded: (f64, f64),
}

/// How long a spell that is under way at the first look is taken to have lasted: one seen at random is an old one.
const FIRST_AGE_H: f64 = 1.0;
/// Answers further apart say little about what was between them.
const BLIND_H: f64 = 2.0;

impl Belief {
    /// The zone was found up or down at `at_h`.
    pub(super) fn hear(&mut self, params: &Params, at_h: f64, up: bool) {
        let Some((was, when)) = self.seen else {
            self.seen = Some((up, at_h));
            self.since = at_h - FIRST_AGE_H;
            return;
        };
        let span = at_h - when;
        if span <= 0.0 && was == up {
            return;
        }
        if span <= BLIND_H {
            // differences of times in hours differ in their last digit
            if (self.faded.0 - span).abs() > 1e-9 {
                self.faded = (span, 0.5f64.powf(span / params.half_life_h));
            }
            let keep = self.faded.1;
            for side in 0..2 {
                self.events[side] *= keep;
                self.expected[side] *= keep;
            }
            let side = usize::from(!was);
            let class = params.class((when - self.since).max(0.0));
            let rates = if was {
                &params.up_per_h
            } else {
                &params.down_per_h
            };
            self.expected[side] += rates[class] * span;
            if was != up {
                self.events[side] += 1.0;
            }
        }
        if was != up {
            // it happened somewhere between two answers
            self.since = if span <= BLIND_H {
                at_h
            } else {
                (at_h + when) / 2.0
            };
        }
        self.seen = Some((up, at_h));
    }

    /// Posterior mean of the scale of the rates at which availability (`up`) or outages end.
    pub(super) fn scale(&self, params: &Params, up: bool) -> f64 {
        let side = usize::from(!up);
        let prior = params.prior_events;
        (prior + self.events[side]) / (prior + self.expected[side])
    }

    /// Hours since the present spell began.
    pub(super) fn age(&self, at_h: f64) -> f64 {
        (at_h - self.since).max(0.0)
    }
}
