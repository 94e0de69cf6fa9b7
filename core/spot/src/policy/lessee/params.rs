//! What the policy believes before it has seen anything, and how careful it is.

use serde::Deserialize;

/// Number of age classes.
pub(super) const CLASSES: usize = 5;

/// The section `[policy]` of `data/spot.toml`; each field is explained there.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Params {
    pub edges_h: [f64; CLASSES],
    pub up_per_h: [f64; CLASSES],
    pub down_per_h: [f64; CLASSES],
    pub prior_events: f64,
    pub half_life_h: f64,
    pub caution: f64,
    pub reserve: f64,
    pub move_margin: f64,
    pub leave_margin: f64,
    pub slack_worth: f64,
}

/// Rates per hour by age class, at scale 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates<'a> {
    pub(super) edges: &'a [f64; CLASSES],
    pub(super) per_h: &'a [f64; CLASSES],
}

impl Params {
    /// Class of an age in hours.
    pub(super) fn class(&self, age_h: f64) -> usize {
        self.edges_h
            .iter()
            .rposition(|&e| age_h >= e - 1e-9)
            .unwrap_or(0)
    }

    /// The rates at which spells end: `up` of availability, else of outages.
    pub(crate) fn rates(&self, up: bool) -> Rates<'_> {
        Rates {
            edges: &self.edges_h,
            per_h: if up { &self.up_per_h } else { &self.down_per_h },
        }
    }
}

impl Rates<'_> {
    fn end(&self, class: usize) -> f64 {
        self.edges.get(class + 1).copied().unwrap_or(f64::INFINITY)
    }

    /// How long a spell lasts that ends when its summed hazard reaches `chance` (drawn from an exponential of mean 1).
    pub(crate) fn life(&self, scale: f64, chance: f64) -> f64 {
        let (mut left, mut at) = (chance, 0.0);
        for class in 0..CLASSES {
            let rate = (self.per_h[class] * scale).max(1e-12);
            let span = self.end(class) - self.edges[class];
            if left <= rate * span {
                return at + left / rate;
            }
            left -= rate * span;
            at += span;
        }
        at
    }

    /// Mean of [`Rates::life`].
    pub(crate) fn mean_life(&self, scale: f64) -> f64 {
        let (mut alive, mut mean) = (1.0, 0.0);
        for class in 0..CLASSES {
            let rate = (self.per_h[class] * scale).max(1e-12);
            let stay = (-rate * (self.end(class) - self.edges[class])).exp();
            mean += alive * (1.0 - stay) / rate;
            alive *= stay;
        }
        mean
    }

    /// Mean time until a spell of age `age_h` ends, with all rates times `scale`, at most `cap` hours: the integral of
    /// the chance to be alive, piece by piece.
    pub(super) fn residual(&self, scale: f64, age_h: f64, cap: f64) -> f64 {
        let (mut alive, mut mean, mut at) = (1.0, 0.0, age_h);
        let first = self.edges.iter().rposition(|&e| age_h >= e - 1e-9);
        for class in first.unwrap_or(0)..CLASSES {
            let rate = (self.per_h[class] * scale).max(1e-6);
            let end = self.end(class).min(age_h + cap);
            if end <= at {
                break;
            }
            let stay = (-rate * (end - at)).exp();
            mean += alive * (1.0 - stay) / rate;
            alive *= stay;
            at = end;
        }
        mean
    }

    /// Share of the time of a whole spell that it spends in each class.
    pub(super) fn shares(&self, scale: f64) -> [f64; CLASSES] {
        let mut alive = 1.0;
        let mut times = [0.0; CLASSES];
        for (class, time) in times.iter_mut().enumerate() {
            let rate = (self.per_h[class] * scale).max(1e-6);
            let stay = (-rate * (self.end(class) - self.edges[class])).exp();
            *time = alive * (1.0 - stay) / rate;
            alive *= stay;
        }
        let whole: f64 = times.iter().sum();
        times.map(|t| t / whole)
    }

    /// The scale at which a spell lasts `mean` hours, between 1/16 and 16.
    pub(super) fn scale_for(&self, mean: f64) -> f64 {
        let (mut low, mut high) = (-4.0f64, 4.0f64);
        for _ in 0..7 {
            let mid = (low + high) / 2.0;
            if self.residual(mid.exp2(), 0.0, f64::INFINITY) > mean {
                low = mid;
            } else {
                high = mid;
            }
        }
        ((low + high) / 2.0).exp2()
    }
}
