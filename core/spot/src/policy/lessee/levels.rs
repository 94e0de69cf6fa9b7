//! The rates at the scales that are told apart, with all that follows from them worked out once.
//!
//! Scales are rounded to powers of the square root of two: finer differences are far below what a few events can
//! tell. Not here: which scale applies (`belief.rs`).

use super::params::{CLASSES, Params};

/// Number of scales: from 1/8 to 8.
pub(super) const LEVELS: usize = 13;

/// Spells of one kind (availability or outages) at one scale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
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
    up: [Level; LEVELS],
    down: [Level; LEVELS],
    /// Between two neighbouring scales.
    bounds: [f64; LEVELS - 1],
}

/// The scale of a level.
pub(super) fn scale(level: usize) -> f64 {
    2f64.powf((level as f64 - (LEVELS / 2) as f64) / 2.0)
}

impl Level {
    fn new(edges_h: &[f64; CLASSES], rates: &[f64; CLASSES], scale: f64) -> Level {
        let per_h = rates.map(|r| (r * scale).max(1e-6));
        let mut edges = [f64::INFINITY; CLASSES + 1];
        edges[..CLASSES].copy_from_slice(edges_h);
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
        Level {
            per_h,
            edges,
            rest,
            shares: times.map(|t| t / rest[0]),
        }
    }

    /// Mean length of a spell, hours.
    pub(super) fn mean(&self) -> f64 {
        self.rest[0]
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
        let at = |rates: &[f64; CLASSES], i: usize| Level::new(&params.edges_h, rates, scale(i));
        Levels {
            up: std::array::from_fn(|i| at(&params.up_per_h, i)),
            down: std::array::from_fn(|i| at(&params.down_per_h, i)),
            bounds: std::array::from_fn(|i| (scale(i) * scale(i + 1)).sqrt()),
        }
    }

    /// Spells of availability (`up`) or of outage at a level.
    pub(super) fn of(&self, up: bool, level: usize) -> &Level {
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
