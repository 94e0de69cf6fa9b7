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

impl Params {
    /// Reads `data/spot.toml`.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn from_toml(text: &str) -> Result<Params, String> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            policy: Params,
        }
        let file: File = toml::from_str(text).map_err(|e| e.to_string())?;
        Ok(file.policy)
    }
}

impl Params {
    /// Class of an age in hours.
    pub(super) fn class(&self, age_h: f64) -> usize {
        (1..CLASSES)
            .take_while(|&c| age_h >= self.edges_h[c] - 1e-9)
            .count()
    }
}

/// Rates of one direction by age class, at scale 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates<'a> {
    edges: &'a [f64; CLASSES],
    per_h: &'a [f64; CLASSES],
}

impl Params {
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
}
