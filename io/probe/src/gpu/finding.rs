//! The codes of what follows from GPUs and from a look, each with its sentence.

pub use crate::finding::{Finding, Severity, verdict};

/// Every code a finding may have, with the sentence that says it to people.
pub const CODES: &[(&str, &str)] = &[
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
    ("gpu_cut", "gpu-found-gpu-cut"),
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
    ("power_capped", "gpu-found-power-capped"),
    ("row_remap_failed", "gpu-found-row-remap-failed"),
    ("row_remap_pending", "gpu-found-row-remap-pending"),
    ("rows_remapped", "gpu-found-rows-remapped"),
    ("shm_small", "gpu-found-shm-small"),
    ("step_cut", "gpu-found-step-cut"),
    ("step_failed", "gpu-found-step-failed"),
    ("throttled_hardware", "gpu-found-throttled-hardware"),
    ("throttled_power_brake", "gpu-found-throttled-power-brake"),
    ("throttled_thermal", "gpu-found-throttled-thermal"),
    ("vgpu", "gpu-found-vgpu"),
];

/// Whether a finding may have this code.
pub(crate) fn is_code(code: &str) -> bool {
    CODES.iter().any(|(known, _)| *known == code)
}
