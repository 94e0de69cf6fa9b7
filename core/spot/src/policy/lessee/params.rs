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
