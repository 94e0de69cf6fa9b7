//! The run itself: its steps, and what follows from what was seen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a run was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbeRun {
    /// Version of lessee.
    pub lessee: String,
    /// With `--quick`: shorter steps, so that figures scatter more.
    pub quick: bool,
    /// All of it, seconds.
    pub seconds: f64,
    /// Each step that there is, in their order.
    pub steps: Vec<StepRecord>,
}

/// What became of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepRecord {
    /// `look`, `gpu`, `tensor`, `allreduce`, `ports`, `cpu`, `disk`, `feed`, `net`
    pub step: String,
    pub status: StepStatus,
    /// Why it failed, was cut or was left out: a stable code, and behind `: ` the evidence.
    #[serde(default)]
    pub reason: Option<String>,
    pub seconds: f64,
    /// The time it was given, seconds.
    pub cap_s: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    Done,
    /// Its time was over before all of it was done; what is there was measured.
    Cut,
    /// By `--only`, or because there is nothing to do it on.
    Skipped,
    /// It came to nothing.
    Failed,
    /// By the user; what is there was measured until then.
    Stopped,
}

impl StepStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            StepStatus::Done => "done",
            StepStatus::Cut => "cut",
            StepStatus::Skipped => "skipped",
            StepStatus::Failed => "failed",
            StepStatus::Stopped => "stopped",
        }
    }
}

/// How much a finding weighs; of several the worst decides.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// To be known; says nothing against the machine.
    Note,
    /// Less than the machine could give, and usual where machines are rented.
    Warn,
    /// What matters could not be seen.
    Unknown,
    /// The machine does not deliver.
    Fail,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warn => "warn",
            Severity::Unknown => "unknown",
            Severity::Fail => "fail",
        }
    }
}

/// What follows from what was seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbeFinding {
    /// Stable, `snake_case`, shared with the problems of captures.
    pub code: String,
    pub severity: Severity,
    /// `machine`, `driver`, `gpu 3`, `gpu 0 - gpu 5`, `disk`, `feed`
    pub subject: String,
    /// Evidence in figures, or in the words of the driver or the kernel.
    pub detail: String,
    /// The whole sentence, in the language of the run.
    pub text: String,
}

/// The answer of a run, and the exit status that goes with it: 0, 1, 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing of what was measured speaks against the machine.
    Delivers,
    /// A finding fails.
    DoesNotDeliver,
    /// No finding fails, and something that matters could not be seen.
    CannotTell,
}

impl Verdict {
    /// Fail over unknown over the rest.
    pub fn of(severities: impl Iterator<Item = Severity>) -> Verdict {
        match severities.max() {
            Some(Severity::Fail) => Verdict::DoesNotDeliver,
            Some(Severity::Unknown) => Verdict::CannotTell,
            _ => Verdict::Delivers,
        }
    }

    pub fn exit(self) -> crate::Exit {
        match self {
            Verdict::Delivers => crate::Exit::Done,
            Verdict::DoesNotDeliver => crate::Exit::No,
            Verdict::CannotTell => crate::Exit::CannotTell,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Delivers => "delivers",
            Verdict::DoesNotDeliver => "does_not_deliver",
            Verdict::CannotTell => "cannot_tell",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_decides() {
        use Severity::{Fail, Note, Unknown, Warn};
        let of = |all: &[Severity]| Verdict::of(all.iter().copied());
        assert_eq!(of(&[]), Verdict::Delivers);
        assert_eq!(of(&[Note, Warn]), Verdict::Delivers);
        assert_eq!(of(&[Unknown, Warn]), Verdict::CannotTell);
        assert_eq!(of(&[Unknown, Fail]), Verdict::DoesNotDeliver);
    }
}
