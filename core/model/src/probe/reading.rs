//! A value of a machine and how it came to be known. What is not known is never a 0 or a default.
//!
//! A reason is a stable code, and behind `: ` the evidence, which may be absent: `out_of_time`,
//! `no_peer_access: cuDeviceCanAccessPeer`. Faces put the code into words; a reason of another shape is shown as it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A figure and how it came to be; its unit is in the name of the field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case", deny_unknown_fields)]
pub enum Reading {
    Measured {
        value: f64,
        /// Single runs behind the value (which is their median).
        #[serde(default)]
        samples: Vec<f64>,
    },
    /// Stated by the driver or the hypervisor, not measured.
    Claimed { value: f64 },
    Unknown {
        /// A stable code, and behind `: ` the evidence.
        reason: String,
    },
    Failed {
        /// A stable code, and behind `: ` the evidence.
        reason: String,
    },
}

impl Reading {
    /// Measured once.
    pub fn once(value: f64) -> Reading {
        Reading::Measured {
            value,
            samples: Vec::new(),
        }
    }

    /// The value, only if it was really measured.
    pub fn measured(&self) -> Option<f64> {
        match self {
            Reading::Measured { value, .. } if value.is_finite() && *value > 0.0 => Some(*value),
            _ => None,
        }
    }

    pub fn reason(&self) -> Option<&str> {
        match self {
            Reading::Measured { .. } | Reading::Claimed { .. } => None,
            Reading::Unknown { reason } | Reading::Failed { reason } => Some(reason),
        }
    }
}

/// As [`Reading`], of anything that is not a figure with single runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fact<T> {
    /// By this program.
    Measured { value: T },
    /// Stated by the driver, the kernel or the hypervisor.
    Claimed { value: T },
    /// Nobody says.
    Unknown {
        /// A stable code, and behind `: ` the evidence.
        reason: String,
    },
    /// It was asked for and went wrong.
    Failed {
        /// A stable code, and behind `: ` the evidence.
        reason: String,
    },
}

impl<T> Fact<T> {
    pub fn value(&self) -> Option<&T> {
        match self {
            Fact::Measured { value } | Fact::Claimed { value } => Some(value),
            Fact::Unknown { .. } | Fact::Failed { .. } => None,
        }
    }

    pub fn reason(&self) -> Option<&str> {
        match self {
            Fact::Measured { .. } | Fact::Claimed { .. } => None,
            Fact::Unknown { reason } | Fact::Failed { reason } => Some(reason),
        }
    }
}

/// Code and evidence of a reason; the code is `None` where the text has another shape.
pub fn reason_parts(reason: &str) -> (Option<&str>, &str) {
    let (code, detail) = reason.split_once(": ").unwrap_or((reason, ""));
    let is_code = !code.is_empty() && code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    match is_code {
        true => (Some(code), detail),
        false => (None, reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_a_code_and_its_evidence_or_free_text() {
        assert_eq!(reason_parts("out_of_time"), (Some("out_of_time"), ""));
        assert_eq!(reason_parts("io: No space: 5"), (Some("io"), "No space: 5"));
        let free = "step cut by its time cap";
        assert_eq!(reason_parts(free), (None, free));
        assert_eq!(reason_parts(""), (None, ""));
    }
}
