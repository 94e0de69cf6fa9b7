//! What a rule found, and how bad it is.

use crate::need::Need;
use crate::table::Origin;
use lessee_model::{Msg, Provenance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The verdict of a finding; of several the worst decides: fail over unknown over warn over pass.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Pass,
    /// Works with limits.
    Warn,
    /// Cannot be told from what is there.
    Unknown,
    Fail,
}

impl Verdict {
    /// As documents spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Warn => "warn",
            Verdict::Unknown => "unknown",
            Verdict::Fail => "fail",
        }
    }
}

/// One finding. `reason` and `ask` are put into words by the face.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Stable name of the rule: `need`, `driver-cuda`, `gpu-code`, `fabric`, ...
    pub rule: &'static str,
    /// What it concerns: a need as given, a GPU, the driver, the capture.
    pub subject: String,
    pub verdict: Verdict,
    pub reason: Msg,
    pub source: Option<String>,
    /// Date of the fact, as precise as its source states it.
    pub as_of: Option<String>,
    /// What to ask the provider for.
    pub ask: Option<Msg>,
    /// The line that installs the newest version that would work.
    pub install: Option<String>,
    /// Of the [`Evidence`](crate::Evidence) that it rests upon: the hashes.
    pub evidence: Vec<String>,
}

/// The worst verdict; nothing found is nothing known.
pub fn worst(findings: &[Finding]) -> Verdict {
    let all = findings.iter().map(|f| f.verdict);
    all.max().unwrap_or(Verdict::Unknown)
}

/// One step on the way to a verdict.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub rule: &'static str,
    pub verdict: Verdict,
    pub reason: Msg,
    pub origin: Option<Origin>,
    pub ask: Option<Msg>,
    /// Reported, but no part of the verdict.
    pub remark: bool,
}

impl Check {
    pub(crate) fn new(rule: &'static str, verdict: Verdict, reason: Msg) -> Check {
        Check {
            rule,
            verdict,
            reason,
            origin: None,
            ask: None,
            remark: false,
        }
    }

    /// Something to know, with no weight in the verdict of a need.
    pub(crate) fn remark(rule: &'static str, reason: Msg) -> Check {
        Check {
            remark: true,
            ..Check::new(rule, Verdict::Warn, reason)
        }
    }

    pub(crate) fn from(mut self, origin: &Origin) -> Check {
        self.origin = Some(origin.clone());
        self
    }

    /// From a fact of the catalog.
    pub(crate) fn known_by(mut self, why: &Provenance) -> Check {
        self.origin = why.as_of.map(|as_of| Origin {
            source: why.source.to_string(),
            as_of,
            confidence: why.confidence,
        });
        self
    }

    pub(crate) fn asking(mut self, ask: Msg) -> Check {
        self.ask = Some(ask);
        self
    }

    pub(crate) fn finding(self, subject: impl Into<String>) -> Finding {
        let (source, as_of) = match self.origin {
            Some(o) => (Some(o.source), Some(o.as_of.to_string())),
            None => (None, None),
        };
        Finding {
            rule: self.rule,
            subject: subject.into(),
            verdict: self.verdict,
            reason: self.reason,
            source,
            as_of,
            ask: self.ask,
            install: None,
            evidence: Vec::new(),
        }
    }
}

/// The verdict of several steps together.
pub(crate) fn verdict(checks: &[Check]) -> Verdict {
    let all = checks.iter().filter(|c| !c.remark).map(|c| c.verdict);
    all.max().unwrap_or(Verdict::Unknown)
}

/// What a package's rule says of one need.
pub(crate) struct Answer {
    pub checks: Vec<Check>,
    pub install: Option<String>,
    /// The release that was judged, where the need does not name it.
    pub judged: Option<String>,
}

impl Answer {
    /// Nothing but one step.
    pub(crate) fn only(check: Check) -> Answer {
        Answer {
            checks: vec![check],
            install: None,
            judged: None,
        }
    }

    /// The steps for a release, which is named unless the need names it.
    pub(crate) fn of(need: &Need, release: &str, checks: Vec<Check>) -> Answer {
        let named = need.exact().is_some_and(|v| v.as_str() == release);
        Answer {
            checks,
            install: None,
            judged: (!named).then(|| format!("{} {release}", need.package)),
        }
    }
}
