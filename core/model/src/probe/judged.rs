//! What was promised and what is usual, beside what was seen: the rows behind the findings of a judgement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A report held against an offer, and against what GPUs of its models give elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// None: no offer was named.
    pub promised: Option<Promised>,
    pub expected: Vec<ExpectedRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Promised {
    /// `provider/instance_type@region` of the catalog, or file and line of a quote.
    pub offer: String,
    /// Only what the offer states.
    pub rows: Vec<PromisedRow>,
}

/// One thing that the offer states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromisedRow {
    /// `gpu_model`, `gpu_count`, `gpu_memory`, `gpu_link`, `vcpus`, `memory`, `local_disk`, `network`
    pub what: String,
    /// In figures with their unit, or in a word of this document.
    pub promised: String,
    /// Likewise; none: it was not seen.
    pub seen: Option<String>,
    pub outcome: Kept,
}

/// Whether a promise is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    Kept,
    /// Less, or something else, than was promised.
    Broken,
    /// It should have been seen, and was not.
    NotSeen,
    /// The step that would show it was not wanted.
    NotAsked,
    /// Nothing here measures it.
    NotMeasured,
}

impl Kept {
    pub fn as_str(self) -> &'static str {
        match self {
            Kept::Kept => "kept",
            Kept::Broken => "broken",
            Kept::NotSeen => "not_seen",
            Kept::NotAsked => "not_asked",
            Kept::NotMeasured => "not_measured",
        }
    }
}

/// A figure beside what is usual for the model; of several GPUs or pairs the lowest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRow {
    /// `memory_bandwidth`, `tensor`, `peer`, `all_reduce`
    pub metric: String,
    /// The GPU as the driver names it.
    pub gpu: String,
    /// `gpu 3`, `gpu 0 - gpu 5`, `machine`
    pub subject: String,
    pub measured: f64,
    /// `GB/s`, `TFLOP/s`
    pub unit: String,
    /// Below it the machine fails.
    pub floor: Option<f64>,
    /// Usual range; below it is a warning.
    pub low: Option<f64>,
    pub typical: Option<f64>,
    pub high: Option<f64>,
    pub outcome: Usual,
    pub source: Option<String>,
    pub as_of: Option<String>,
}

/// Where a figure lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Usual {
    Usual,
    BelowUsual,
    BelowFloor,
    /// Nobody here knows what to expect of this model.
    NoExpectation,
}

impl Usual {
    pub fn as_str(self) -> &'static str {
        match self {
            Usual::Usual => "usual",
            Usual::BelowUsual => "below_usual",
            Usual::BelowFloor => "below_floor",
            Usual::NoExpectation => "no_expectation",
        }
    }
}
