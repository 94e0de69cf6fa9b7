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
    /// `machine`, `driver`, `gpu 3`, `gpu 0 - gpu 5`, `port mlx5_0/1`
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

    /// The sentence for people, which takes the subject and the evidence.
    pub fn msg(&self) -> Msg {
        let sentence = CODES.iter().find(|(code, _)| *code == self.code);
        // a code that is not in the table is a bug that the tests find; people still get the code
        let id = sentence.map_or(self.code, |(_, id)| *id);
        Msg::new(id)
            .arg("subject", self.subject.clone())
            .arg("detail", self.detail.clone())
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

/// Every code a finding may have, with the sentence that says it to people.
pub const CODES: &[(&str, &str)] = &[
    ("all_reduce_wrong", "gpu-found-all-reduce-wrong"),
    ("compute_error", "gpu-found-compute-error"),
    ("compute_not_granted", "gpu-found-compute-not-granted"),
    ("cpu_quota", "gpu-found-cpu-quota"),
    ("cuda_error", "gpu-found-cuda-error"),
    ("cuda_unknown", "gpu-found-cuda-unknown"),
    (
        "driver_functions_missing",
        "gpu-found-driver-functions-missing",
    ),
    (
        "driver_library_mismatch",
        "gpu-found-driver-library-mismatch",
    ),
    ("ecc_uncorrectable", "gpu-found-ecc-uncorrectable"),
    ("fabric_manager", "gpu-found-fabric-manager"),
    ("fabric_not_ready", "gpu-found-fabric-not-ready"),
    ("forward_compatibility", "gpu-found-forward-compatibility"),
    ("gpu_counts_differ", "gpu-found-gpu-counts-differ"),
    ("gpu_died", "gpu-found-gpu-died"),
    ("gpu_lost", "gpu-found-gpu-lost"),
    ("gpu_memory_taken", "gpu-found-gpu-memory-taken"),
    ("gpu_needs_reset", "gpu-found-gpu-needs-reset"),
    ("gpu_unavailable", "gpu-found-gpu-unavailable"),
    ("gpu_unreadable", "gpu-found-gpu-unreadable"),
    ("in_container", "gpu-found-in-container"),
    ("in_vm", "gpu-found-in-vm"),
    ("kernel_log_closed", "gpu-found-kernel-log-closed"),
    ("kernel_refused", "gpu-found-kernel-refused"),
    ("library_unusable", "gpu-found-library-unusable"),
    ("link_errors", "gpu-found-link-errors"),
    ("link_flapped", "gpu-found-link-flapped"),
    ("link_narrow", "gpu-found-link-narrow"),
    ("link_narrow_under_load", "gpu-found-link-narrow-under-load"),
    ("link_not_shown", "gpu-found-link-not-shown"),
    ("link_slow", "gpu-found-link-slow"),
    ("memory_slow", "gpu-found-memory-slow"),
    ("mig_enabled", "gpu-found-mig-enabled"),
    ("no_cuda_library", "gpu-found-no-cuda-library"),
    ("no_devices", "gpu-found-no-devices"),
    ("no_driver", "gpu-found-no-driver"),
    ("no_nvml_library", "gpu-found-no-nvml-library"),
    ("nvlink_inactive", "gpu-found-nvlink-inactive"),
    ("nvlink_uneven", "gpu-found-nvlink-uneven"),
    ("nvml_error", "gpu-found-nvml-error"),
    ("other_process", "gpu-found-other-process"),
    ("p2p_blocked", "gpu-found-p2p-blocked"),
    ("pages_retired", "gpu-found-pages-retired"),
    ("pair_slow", "gpu-found-pair-slow"),
    ("peer_data_wrong", "gpu-found-peer-data-wrong"),
    ("port_below_card", "gpu-found-port-below-card"),
    ("port_down", "gpu-found-port-down"),
    ("port_slow", "gpu-found-port-slow"),
    ("port_unreadable", "gpu-found-port-unreadable"),
    ("power_capped", "gpu-found-power-capped"),
    ("row_remap_failed", "gpu-found-row-remap-failed"),
    ("row_remap_pending", "gpu-found-row-remap-pending"),
    ("rows_remapped", "gpu-found-rows-remapped"),
    ("shm_small", "gpu-found-shm-small"),
    ("step_cut", "gpu-found-step-cut"),
    ("step_failed", "gpu-found-step-failed"),
    ("tensor_fades", "gpu-found-tensor-fades"),
    ("tensor_slow", "gpu-found-tensor-slow"),
    ("throttled_hardware", "gpu-found-throttled-hardware"),
    ("throttled_power_brake", "gpu-found-throttled-power-brake"),
    ("throttled_thermal", "gpu-found-throttled-thermal"),
    ("vgpu", "gpu-found-vgpu"),
];

/// Whether a finding may have this code.
pub(crate) fn is_code(code: &str) -> bool {
    CODES.iter().any(|(known, _)| *known == code)
}

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
            for (code, id) in CODES {
                assert_eq!(*id, format!("gpu-found-{}", code.replace('_', "-")));
                assert!(text.contains(&format!("\n{id} = ")), "{lang}: {code}");
            }
        }
    }
}
