//! What one check gives: findings, and the evidence that they rest upon. Not here: hashing and clocks, which are the caller's.

use crate::finding::Finding;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was read, named by its content, so that it can be shown to be the same in six months.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// SHA-256 of the content, lower-case hexadecimal; also the name of its file where evidence is kept.
    pub sha256: String,
    /// `nvidia-smi`, `tls`, `ssh`, `latency`, `quote`, `screenshot`, ...
    pub kind: String,
    /// File or endpoint that it was taken from.
    pub from: String,
    /// RFC 3339, UTC.
    pub taken_at: String,
    /// Of the content.
    pub bytes: usize,
}

/// One check, done.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// `driver`, `latency`, `failure`, `budget`, `security`, `offer`, `env`, `support`.
    pub check: &'static str,
    pub findings: Vec<Finding>,
    /// With its content, which is kept where the user asks for it.
    pub evidence: Vec<(Evidence, Vec<u8>)>,
}

impl Outcome {
    pub fn new(check: &'static str, findings: Vec<Finding>) -> Outcome {
        Outcome {
            check,
            findings,
            evidence: Vec::new(),
        }
    }

    /// Lets each finding that names no evidence yet rest upon this one.
    #[must_use]
    pub fn resting_on(mut self, evidence: Evidence, content: Vec<u8>) -> Outcome {
        for finding in self.findings.iter_mut().filter(|f| f.evidence.is_empty()) {
            finding.evidence.push(evidence.sha256.clone());
        }
        self.evidence.push((evidence, content));
        self
    }
}
