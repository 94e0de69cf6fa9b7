//! The rates at the scales that are told apart, with all that follows from them worked out once.
//!
//! Scales are rounded to powers of the square root of two: finer differences are far below what a few events can
//! tell. Not here: which scale applies (`belief.rs`).

use super::params::{CLASSES, Params};

/// Number of scales: from 1/8 to 8.
pub(super) const LEVELS: usize = 13;

/// No rate is below this, so that every spell ends.
const LEAST_PER_H: f64 = 1e-12;

/// Spells of one kind (availability or outages) at one scale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spells {
    /// Rate of ending per hour, by age class.
    pub(super) per_h: [f64; CLASSES],
    /// Lower edges of the classes, then infinity: hours.
    edges: [f64; CLASSES + 1],
    /// Mean time to the end from the lower edge of each class, hours.
    pub(super) rest: [f64; CLASSES],
    /// Share of the time of whole spells that is spent in each class.
    pub(super) shares: [f64; CLASSES],
}

/// All scales, of availability and of outages.
#[derive(Debug)]
pub(super) struct Levels {
    up: [Spells; LEVELS],
    down: [Spells; LEVELS],
    /// Between two neighbouring scales.
    bounds: [f64; LEVELS - 1],
}

/// The scale of a level.
pub(super) fn scale(level: usize) -> f64 {
    2f64.powf((level as f64 - (LEVELS / 2) as f64) / 2.0)
}

impl Spells {
    /// Of availability (`up`) or of outage, at `scale` times the pooled rates.
    pub(crate) fn new(params: &Params, up: bool, scale: f64) -> Spells {
        let rates = if up {
            &params.up_per_h
        } else {
            &params.down_per_h
        };
        let per_h = rates.map(|r| (r * scale).max(LEAST_PER_H));
        let mut edges = [f64::INFINITY; CLASSES + 1];
        edges[..CLASSES].copy_from_slice(&params.edges_h);
        let (mut rest, mut times) = ([0.0; CLASSES], [0.0; CLASSES]);
        for class in (0..CLASSES).rev() {
            let stay = (-per_h[class] * (edges[class + 1] - edges[class])).exp();
            let later = rest.get(class + 1).copied().unwrap_or(0.0);
            rest[class] = (1.0 - stay) / per_h[class] + stay * later;
        }
        let mut alive = 1.0;
        for class in 0..CLASSES {
            let stay = (-per_h[class] * (edges[class + 1] - edges[class])).exp();
            times[class] = alive * (1.0 - stay) / per_h[class];
            alive *= stay;
        }
        Spells {
            per_h,
            edges,
            rest,
            shares: times.map(|t| t / rest[0]),
        }
    }

    /// Mean length of a spell, hours.
    pub(crate) fn mean(&self) -> f64 {
        self.rest[0]
    }

    /// Length of a spell that ends when its summed hazard reaches `chance`, drawn from an exponential of mean 1; hours.
    pub(crate) fn life(&self, chance: f64) -> f64 {
        let mut left = chance;
        for class in 0..CLASSES {
            let span = self.edges[class + 1] - self.edges[class];
            if left <= self.per_h[class] * span {
                return self.edges[class] + left / self.per_h[class];
            }
            left -= self.per_h[class] * span;
        }
        f64::INFINITY
    }

    /// Mean time to the end of a spell of this age, hours.
    pub(super) fn residual(&self, age_h: f64) -> f64 {
        let class = (1..CLASSES).take_while(|&c| age_h >= self.edges[c]).count();
        let Some(later) = self.rest.get(class + 1) else {
            return self.rest[class];
        };
        let stay = (-self.per_h[class] * (self.edges[class + 1] - age_h)).exp();
        (1.0 - stay) / self.per_h[class] + stay * later
    }
}

impl Levels {
    pub(super) fn new(params: &Params) -> Levels {
        Levels {
            up: std::array::from_fn(|i| Spells::new(params, true, scale(i))),
            down: std::array::from_fn(|i| Spells::new(params, false, scale(i))),
            bounds: std::array::from_fn(|i| (scale(i) * scale(i + 1)).sqrt()),
        }
    }

    /// Spells of availability (`up`) or of outage at a level.
    pub(super) fn of(&self, up: bool, level: usize) -> &Spells {
        if up {
            &self.up[level]
        } else {
            &self.down[level]
        }
    }

    /// The level nearest to a scale.
    pub(super) fn nearest(&self, scale: f64) -> usize {
        self.bounds.iter().take_while(|&&b| scale >= b).count()
    }

    /// The level at which a spell lasts closest to `mean` hours.
    pub(super) fn lasting(&self, up: bool, mean: f64) -> usize {
        let spells = if up { &self.up } else { &self.down };
        // the higher the level, the shorter
        (1..LEVELS)
            .take_while(|&i| mean < (spells[i - 1].mean() * spells[i].mean()).sqrt())
            .count()
    }
}
