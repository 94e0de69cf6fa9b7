//! What follows from what was seen: a stable code, how much it weighs, the subject, and the evidence.

use lessee_model::{Exit, Msg};
use serde::Serialize;

/// How much a finding weighs; of several the worst decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Stable, snake_case, shared with the problems of captures (`docs/contributing/adding-a-capture-kind.md`).
    pub code: &'static str,
    pub severity: Severity,
    /// `machine`, `driver`, `gpu 3`, `gpu 0 - gpu 5`
    pub subject: String,
    /// Evidence: what was met, in the driver's or the kernel's words and in figures.
    pub detail: String,
}

impl Finding {
    pub(crate) fn new(
        severity: Severity,
        code: &'static str,
        subject: impl Into<String>,
        detail: impl Into<String>,
    ) -> Finding {
        Finding {
            code,
            severity,
            subject: subject.into(),
            detail: detail.into(),
        }
    }

    /// The sentence for people: `gpu-found-CODE`, which takes the subject and the evidence.
    pub fn msg(&self) -> Msg {
        let id = format!("gpu-found-{}", self.code.replace('_', "-"));
        Msg {
            id: id.into(),
            args: vec![
                ("subject".into(), self.subject.clone().into()),
                ("detail".into(), self.detail.clone().into()),
            ],
        }
    }
}

/// The exit status of all findings: fail over unknown over the rest.
pub fn verdict(findings: &[Finding]) -> Exit {
    match findings.iter().map(|f| f.severity).max() {
        Some(Severity::Fail) => Exit::No,
        Some(Severity::Unknown) => Exit::CannotTell,
        _ => Exit::Done,
    }
}

/// Every code a finding may have. A code that is not here has no sentence in the catalogues.
pub const CODES: &[&str] = &[
    "compute_error",
    "compute_not_granted",
    "cuda_error",
    "cuda_unknown",
    "driver_functions_missing",
    "driver_library_mismatch",
    "ecc_uncorrectable",
    "fabric_manager",
    "fabric_not_ready",
    "forward_compatibility",
    "gpu_counts_differ",
    "gpu_died",
    "gpu_lost",
    "gpu_memory_taken",
    "gpu_needs_reset",
    "gpu_unavailable",
    "gpu_unreadable",
    "in_container",
    "in_vm",
    "kernel_log_closed",
    "kernel_refused",
    "library_unusable",
    "link_narrow",
    "link_narrow_under_load",
    "link_slow",
    "link_not_shown",
    "memory_slow",
    "mig_enabled",
    "no_cuda_library",
    "no_devices",
    "no_driver",
    "no_nvml_library",
    "nvlink_inactive",
    "nvlink_uneven",
    "nvml_error",
    "other_process",
    "p2p_blocked",
    "pages_retired",
    "pair_slow",
    "peer_data_wrong",
    "power_capped",
    "row_remap_failed",
    "row_remap_pending",
    "rows_remapped",
    "shm_small",
    "cpu_quota",
    "step_cut",
    "step_failed",
    "throttled_hardware",
    "throttled_power_brake",
    "throttled_thermal",
    "vgpu",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_decides() {
        let of = |severity| Finding::new(severity, "gpu_lost", "gpu 0", "");
        assert_eq!(verdict(&[]), Exit::Done);
        assert_eq!(verdict(&[of(Severity::Warn)]), Exit::Done);
        assert_eq!(
            verdict(&[of(Severity::Unknown), of(Severity::Warn)]),
            Exit::CannotTell
        );
        assert_eq!(
            verdict(&[of(Severity::Unknown), of(Severity::Fail)]),
            Exit::No
        );
    }

    #[test]
    fn every_code_has_a_sentence_in_both_languages() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../app/report/locales");
        for lang in ["en", "zh-CN"] {
            let text = std::fs::read_to_string(format!("{folder}/{lang}/probe.ftl")).unwrap();
            for code in CODES {
                let line = format!("\ngpu-found-{} = ", code.replace('_', "-"));
                assert!(text.contains(&line), "{lang}: {code}");
            }
        }
    }
}
