//! A value and how it came to be known. Nothing that is not known is ever a 0 or a default.

use super::error::{GpuError, nvml_code};
use lessee_model::probe::Fact;
use serde::{Serialize, Serializer};

/// A value of this machine. In JSON as the figures of `lessee/probe/v1`: `{"state": "claimed", "value": 3}`,
/// `{"state": "unknown", "reason": "not_supported"}`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Seen<T> {
    /// By this program.
    Measured { value: T },
    /// Stated by the driver, the kernel or the hypervisor.
    Claimed { value: T },
    /// Nobody says.
    Unknown { reason: Reason },
    /// It was asked for and went wrong.
    Failed { reason: Reason },
}

pub(crate) const OUT_OF_TIME: &str = "out_of_time";
pub(crate) const STOPPED: &str = "stopped";

/// Why there is no value: a stable code, and what was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    pub code: &'static str,
    /// A function, a path, the driver's own words; may be empty.
    pub detail: String,
}

impl Reason {
    pub fn new(code: &'static str, detail: impl Into<String>) -> Reason {
        Reason {
            code,
            detail: detail.into(),
        }
    }
}

impl Reason {
    /// Nothing went wrong: it was not its turn any more.
    pub(crate) fn never_tried(&self) -> bool {
        self.code == "not_tried" || self.cut()
    }

    /// The time of all steps together was over, or the user stopped them.
    pub(crate) fn cut(&self) -> bool {
        matches!(self.code, OUT_OF_TIME | STOPPED)
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.detail.is_empty() {
            true => f.write_str(self.code),
            false => write!(f, "{}: {}", self.code, self.detail),
        }
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<T> Seen<T> {
    pub fn unknown(code: &'static str, detail: impl Into<String>) -> Seen<T> {
        Seen::Unknown {
            reason: Reason::new(code, detail),
        }
    }

    /// What the driver answered: a value it claims, or why it has none. That a GPU lacks a feature, or a driver a
    /// function, is not known; that the driver failed is a failure.
    pub fn from_driver(answer: Result<T, GpuError>) -> Seen<T> {
        match answer {
            Ok(value) => Seen::Claimed { value },
            Err(error) => Seen::without(&error),
        }
    }

    /// No value because of `error`.
    pub fn without(error: &GpuError) -> Seen<T> {
        let (code, known) = match error {
            GpuError::Library { .. } => ("library_missing", false),
            GpuError::Symbol { .. } => ("function_missing", false),
            GpuError::Nvml { code, .. } => match *code {
                nvml_code::NOT_SUPPORTED | nvml_code::DEPRECATED => ("not_supported", false),
                nvml_code::INVALID_ARGUMENT | nvml_code::NOT_FOUND => ("not_present", false),
                nvml_code::VERSION_MISMATCH => ("driver_too_old", false),
                nvml_code::NO_PERMISSION => ("no_permission", false),
                nvml_code::GPU_IS_LOST => ("gpu_lost", true),
                nvml_code::RESET_REQUIRED => ("gpu_needs_reset", true),
                nvml_code::LIB_RM_VERSION_MISMATCH => ("driver_library_mismatch", true),
                _ => ("nvml_error", true),
            },
            GpuError::Cuda { code, .. } => (super::CudaCause::of(*code).code(), true),
            GpuError::Nccl { .. } => ("nccl_error", true),
            GpuError::TimeCap { .. } => ("time_cap", true),
            GpuError::NotTried { .. } => ("not_tried", false),
            GpuError::Cut { why } => (*why, false),
            GpuError::NoMatrixUnit { .. } => ("no_matrix_unit", false),
            GpuError::WrongResults { .. } => ("compute_error", true),
            GpuError::NoGpu => ("no_devices", true),
            GpuError::Worker { .. } => ("internal", true),
        };
        let detail = match error {
            GpuError::Symbol { symbol, .. } => (*symbol).to_owned(),
            GpuError::Cut { .. } => String::new(),
            GpuError::Nvml {
                call, name, code, ..
            } => format!("{call}: {name} ({code})"),
            other => other.to_string(),
        };
        let reason = Reason { code, detail };
        match known {
            true => Seen::Failed { reason },
            false => Seen::Unknown { reason },
        }
    }

    pub fn value(&self) -> Option<&T> {
        match self {
            Seen::Measured { value } | Seen::Claimed { value } => Some(value),
            Seen::Unknown { .. } | Seen::Failed { .. } => None,
        }
    }

    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Seen::Measured { .. } | Seen::Claimed { .. } => None,
            Seen::Unknown { reason } | Seen::Failed { reason } => Some(reason),
        }
    }

    /// As it stands in a report.
    pub fn fact(self) -> Fact<T> {
        match self {
            Seen::Measured { value } => Fact::Measured { value },
            Seen::Claimed { value } => Fact::Claimed { value },
            Seen::Unknown { reason } => Fact::Unknown {
                reason: reason.to_string(),
            },
            Seen::Failed { reason } => Fact::Failed {
                reason: reason.to_string(),
            },
        }
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Seen<U> {
        match self {
            Seen::Measured { value } => Seen::Measured { value: f(value) },
            Seen::Claimed { value } => Seen::Claimed { value: f(value) },
            Seen::Unknown { reason } => Seen::Unknown { reason },
            Seen::Failed { reason } => Seen::Failed { reason },
        }
    }
}

impl<T: Copy> Seen<T> {
    pub fn get(&self) -> Option<T> {
        self.value().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_says_how_a_value_is_known() {
        let json = |seen: Seen<u32>| serde_json::to_string(&seen).unwrap();
        assert_eq!(
            json(Seen::Claimed { value: 3 }),
            r#"{"state":"claimed","value":3}"#
        );
        assert_eq!(
            json(Seen::from_driver(Err(GpuError::Symbol {
                library: "l",
                symbol: "f"
            }))),
            r#"{"state":"unknown","reason":"function_missing: f"}"#
        );
    }

    #[test]
    fn a_lost_gpu_is_a_failure_and_a_lacking_feature_is_not() {
        let of = |code| {
            Seen::<u32>::without(&GpuError::Nvml {
                call: "c",
                code,
                name: "N",
            })
        };
        assert!(matches!(of(15), Seen::Failed { .. }));
        assert!(matches!(of(3), Seen::Unknown { .. }));
    }
}
