//! What joins the GPUs, in a word and in figures, and what that costs a training.

use crate::{Basis, Interconnect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The whole of the links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WiringReading {
    /// Absent where it is not said of all pairs.
    #[serde(default)]
    pub kind: Option<Interconnect>,
    /// Slowest and fastest measured pair, GB/s in one direction.
    #[serde(default)]
    pub slowest_pair_gbs: Option<f64>,
    #[serde(default)]
    pub fastest_pair_gbs: Option<f64>,
    /// The verdict, in the language of the run.
    pub text: String,
}

/// What a training of a model waits for on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelReading {
    /// As `lessee schema models` lists it.
    pub model: String,
    /// Tokens per sequence; 1 where samples are no sequences.
    pub seq_len: f64,
    /// Modelled; absent where no formula knows it.
    #[serde(default)]
    pub step: Option<StepShare>,
    /// Why there is none: a stable code.
    #[serde(default)]
    pub reason: Option<String>,
    /// The same in the language of the run.
    pub text: String,
}

/// Where the seconds of an optimizer step go, by the formulas of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepShare {
    pub gpus: u32,
    /// Seconds of the whole step, of which some sync is hidden behind arithmetic.
    pub step_s: f64,
    pub compute_s: f64,
    /// Seconds to reduce the gradients (and gather sharded weights) as if nothing hid them.
    pub sync_s: f64,
    /// Seconds of exchanges between the GPUs that hold parts of one layer; nothing hides them.
    pub tensor_parallel_s: f64,
    /// Share of the step in which GPUs wait for gradients, 0 to 1.
    pub sync_share: f64,
    /// The same with the link at its fastest; and at its slowest, with nothing hidden.
    pub sync_share_low: f64,
    pub sync_share_high: f64,
    /// Bus bandwidth of the all-reduce that was taken, GB/s; absent for one GPU.
    #[serde(default)]
    pub bus_gbs: Option<f64>,
    /// How that bandwidth is known: measured by a probe, modelled from the link, or assumed for PCIe.
    pub bus_basis: Basis,
    /// The formula was fitted on GPUs with such a link: what shows of sync is within `compute_s`.
    pub sync_in_compute: bool,
}
