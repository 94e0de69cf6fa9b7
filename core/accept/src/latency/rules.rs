//! `data/accept/latency.toml`: how many samples, and from where on they are too slow.

use crate::table::Origin;
use lessee_model::Confidence;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::str::FromStr;

/// What the machine is wanted for, as far as round trips matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Typing and waiting for an answer: Jupyter, a shell, an editor.
    Notebook,
    /// Pictures that follow the hand: remote desktop, 3D, review of renderings.
    Visual,
    /// Jobs that nobody watches.
    Batch,
}

impl Work {
    pub const ALL: [Work; 3] = [Work::Notebook, Work::Visual, Work::Batch];

    pub fn as_str(self) -> &'static str {
        match self {
            Work::Notebook => "notebook",
            Work::Visual => "visual",
            Work::Batch => "batch",
        }
    }
}

impl FromStr for Work {
    type Err = ();
    fn from_str(text: &str) -> Result<Work, ()> {
        Work::ALL.into_iter().find(|w| w.as_str() == text).ok_or(())
    }
}

/// All of the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatencyRules {
    source: String,
    as_of: String,
    pub measure: Measure,
    pub judge: Limits,
    work: BTreeMap<Work, OfWork>,
}

/// What is done where nothing is said.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    pub samples: usize,
    pub seconds: f64,
    pub timeout_s: f64,
    pub ssh_samples: usize,
    pub ports: Vec<u16>,
    pub most_per_second: f64,
    pub most_targets: usize,
}

/// What holds for any work.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    pub min_answers: usize,
    pub loss_warn_pct: f64,
    pub loss_fail_pct: f64,
    pub near_ratio: f64,
    pub near_ms: f64,
    pub tunnels: Vec<String>,
}

/// Limits of the 95th percentile; absent where it is only reported.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfWork {
    pub(crate) warn_ms: Option<f64>,
    pub(crate) fail_ms: Option<f64>,
}

impl LatencyRules {
    /// # Errors
    /// What is wrong with the text.
    pub fn from_toml(text: &str) -> Result<LatencyRules, String> {
        let rules: LatencyRules = toml::from_str(text).map_err(|e| e.to_string())?;
        if let Some(missing) = Work::ALL.iter().find(|w| !rules.work.contains_key(w)) {
            return Err(format!("no work.{}", missing.as_str()));
        }
        rules
            .as_of
            .parse::<lessee_model::AsOf>()
            .map_err(|_| format!("as_of: `{}`", rules.as_of))?;
        Ok(rules)
    }

    pub(crate) fn of(&self, work: Work) -> OfWork {
        self.work.get(&work).copied().unwrap_or_default()
    }

    pub(crate) fn origin(&self) -> Option<Origin> {
        Some(Origin {
            source: self.source.clone(),
            as_of: self.as_of.parse().ok()?,
            confidence: Confidence::Verified,
        })
    }
}
