//! What follows from a look. Codes are those of captures where they mean the same.
//!
//! A value that is unknown because a card has no such thing says nothing; what a verdict needs and does not get is said.

use super::{Gpu, KernelLog, Look, Pair};
use crate::gpu::error::nvml_code;
use crate::gpu::finding::{Finding, Severity};
use crate::gpu::{GpuError, Reason};
use std::collections::BTreeSet;

/// Docker's default, which breaks the workers of data loaders, is 64 MiB.
const SHM_SMALL_MIB: u64 = 1024;

pub(super) fn judge(look: &Look) -> Vec<Finding> {
    let mut out = Vec::new();
    driver(look, &mut out);
    for gpu in &look.gpus {
        one_gpu(gpu, &mut out);
    }
    links(look, &mut out);
    functions(look, &mut out);
    host(look, &mut out);
    out.sort_by_key(|f| std::cmp::Reverse(f.severity));
    out
}

fn driver(look: &Look, out: &mut Vec<Finding>) {
    let driver = &look.driver;
    let mut push = |severity, code, detail: String| {
        out.push(Finding::new(severity, code, "driver", detail));
    };
    let kernel = driver.kernel_version.value();
    match &driver.nvml_error {
        None => match driver.nvml_gpus.get() {
            Some(0) => push(
                Severity::Fail,
                "no_devices",
                "NVML counts 0 GPUs".to_owned(),
            ),
            Some(_) => {}
            None => push(
                Severity::Unknown,
                "nvml_error",
                why(driver.nvml_gpus.reason()),
            ),
        },
        Some(error @ GpuError::Library { what, .. }) => {
            // the loader's words for a file that is not there; anything else is a file that is broken
            let absent = what.contains("No such file");
            match (absent, kernel.is_some() || driver.device_nodes > 0) {
                (true, true) => push(Severity::Unknown, "no_nvml_library", error.to_string()),
                // nothing shows that there should be a GPU: what it would do is not known
                (true, false) => push(Severity::Unknown, "no_driver", error.to_string()),
                (false, _) => push(Severity::Unknown, "library_unusable", error.to_string()),
            }
        }
        Some(error @ GpuError::Nvml { code, .. }) => match *code {
            nvml_code::LIB_RM_VERSION_MISMATCH => {
                let kernel = kernel.map_or("?", String::as_str);
                let detail = format!("{error}; kernel driver {kernel}");
                push(Severity::Fail, "driver_library_mismatch", detail);
            }
            nvml_code::DRIVER_NOT_LOADED => push(Severity::Fail, "no_driver", error.to_string()),
            nvml_code::GPU_IS_LOST => push(Severity::Fail, "gpu_lost", error.to_string()),
            _ => push(Severity::Unknown, "nvml_error", error.to_string()),
        },
        Some(error) => push(Severity::Unknown, "library_unusable", error.to_string()),
    }
    if let Some(error @ GpuError::Library { what, .. }) = &driver.cuda_error
        && driver.nvml_error.is_none()
    {
        let (severity, code) = match what.contains("No such file") {
            false => (Severity::Unknown, "library_unusable"),
            // the container toolkit mounts NVML for `utility` and libcuda only for `compute`
            true if !look.host.container_signs.is_empty() => {
                (Severity::Fail, "compute_not_granted")
            }
            true => (Severity::Fail, "no_cuda_library"),
        };
        push(severity, code, error.to_string());
    }
}

fn why(reason: Option<&Reason>) -> String {
    reason.map(Reason::to_string).unwrap_or_default()
}

fn one_gpu(gpu: &Gpu, out: &mut Vec<Finding>) {
    let subject = format!("gpu {}", gpu.index);
    if let Some(reason) = lost(gpu) {
        out.push(Finding::new(
            Severity::Fail,
            reason.code,
            subject,
            reason.detail.clone(),
        ));
        return;
    }
    if let Some(reason) = gpu.name.reason() {
        let detail = reason.to_string();
        out.push(Finding::new(
            Severity::Unknown,
            "gpu_unreadable",
            subject,
            detail,
        ));
        return;
    }
    let mut push = |severity, code, detail: String| {
        out.push(Finding::new(severity, code, subject.clone(), detail));
    };
    memory(gpu, &mut push);
    if gpu.mig.get() == Some(true) {
        push(Severity::Warn, "mig_enabled", "MIG mode is on".to_owned());
    }
    if gpu.virtualization.get() == Some("vgpu") {
        push(
            Severity::Warn,
            "vgpu",
            gpu.name.value().cloned().unwrap_or_default(),
        );
    }
    let link = &gpu.link;
    if let (Some(now), Some(max)) = (link.width.get(), link.width_max.get())
        && now < max
    {
        push(Severity::Warn, "link_narrow", format!("x{now} of x{max}"));
    }
    if let (Some(limit), Some(default)) = (gpu.power_limit_w.get(), gpu.power_limit_default_w.get())
        && limit < default * 0.995
    {
        push(
            Severity::Warn,
            "power_capped",
            format!("{limit:.0} W of {default:.0} W"),
        );
    }
    for reason in gpu.clock_reasons.value().into_iter().flatten() {
        if let Some(code) = throttle_code(reason) {
            push(Severity::Warn, code, (*reason).to_owned());
        }
    }
    if let Some(n) = gpu.compute_processes.get()
        && n > 0
    {
        push(
            Severity::Warn,
            "other_process",
            format!("{n} hold a context"),
        );
    }
    match gpu.fabric.value().map(String::as_str) {
        None | Some("ready" | "not_supported") => {}
        Some(state) => push(Severity::Fail, "fabric_not_ready", state.to_owned()),
    }
    nvlinks(gpu, &mut push);
}

/// Any value may be the one that meets the loss; then it is lost, whatever was read before.
fn lost(gpu: &Gpu) -> Option<&Reason> {
    let reasons = [
        gpu.name.reason(),
        gpu.memory_total_mib.reason(),
        gpu.link.width.reason(),
        gpu.power_w.reason(),
        gpu.clock_reasons.reason(),
        gpu.temperature_c.reason(),
        gpu.nvlinks.reason(),
    ];
    let gone = |r: &&Reason| matches!(r.code, "gpu_lost" | "gpu_needs_reset");
    reasons.into_iter().flatten().find(gone)
}

fn memory(gpu: &Gpu, push: &mut impl FnMut(Severity, &'static str, String)) {
    if let Some(n) = gpu.ecc.uncorrected.get()
        && n > 0
    {
        let detail = format!("{n} since the driver was loaded");
        push(Severity::Fail, "ecc_uncorrectable", detail);
    } else if let Some(n) = gpu.ecc.uncorrected_ever.get()
        && n > 0
    {
        // old errors whose rows were remapped say that the card was mended, not that it fails
        push(
            Severity::Warn,
            "ecc_uncorrectable",
            format!("{n} in the card's life"),
        );
    }
    if let Some(rows) = gpu.remapped_rows.value() {
        let n = rows.correctable + rows.uncorrectable;
        if rows.failed {
            push(
                Severity::Fail,
                "row_remap_failed",
                format!("{n} rows remapped"),
            );
        }
        if rows.pending {
            push(
                Severity::Warn,
                "row_remap_pending",
                format!("{n} rows remapped"),
            );
        } else if n > 0 && !rows.failed {
            push(Severity::Note, "rows_remapped", format!("{n} rows"));
        }
    }
    let single = gpu.retired_pages_single_bit.get().unwrap_or(0);
    let double = gpu.retired_pages_double_bit.get().unwrap_or(0);
    if single + double > 0 {
        let detail = format!("{single} after single-bit errors, {double} after double-bit ones");
        push(Severity::Note, "pages_retired", detail);
    }
}

/// The code of a reason that takes speed away for cause; a power cap, an idle card or clocks somebody set do not.
pub(crate) fn throttle_code(reason: &str) -> Option<&'static str> {
    match reason {
        "hw_slowdown" => Some("throttled_hardware"),
        "sw_thermal_slowdown" | "hw_thermal_slowdown" => Some("throttled_thermal"),
        "hw_power_brake_slowdown" => Some("throttled_power_brake"),
        _ => None,
    }
}

fn nvlinks(gpu: &Gpu, push: &mut impl FnMut(Severity, &'static str, String)) {
    let Some(links) = gpu.nvlinks.value() else {
        return;
    };
    let up = links
        .iter()
        .filter(|l| l.active.get() == Some(true))
        .count();
    let total = links.len();
    // all down is usual on a card without a bridge, and a fault on a board with switches: without a table of cards the
    // name decides
    let board = gpu.name.value().is_some_and(|n| {
        ["SXM", "HGX", "B200", "GB200", "GB300", "B300"]
            .iter()
            .any(|w| n.contains(w))
    });
    match up {
        _ if total == 0 || up == total => {}
        0 if board => push(
            Severity::Fail,
            "nvlink_inactive",
            format!("0 of {total} links are up"),
        ),
        0 => push(
            Severity::Note,
            "nvlink_inactive",
            format!("0 of {total} links are up"),
        ),
        // a bridge or a cut-down board uses some of the links: whether that is right the siblings tell, below
        _ => {}
    }
}

fn links(look: &Look, out: &mut Vec<Finding>) {
    let up = |gpu: &Gpu| -> Option<usize> {
        let links = gpu.nvlinks.value()?;
        Some(
            links
                .iter()
                .filter(|l| l.active.get() == Some(true))
                .count(),
        )
    };
    let most = look.gpus.iter().filter_map(up).max().unwrap_or(0);
    for gpu in &look.gpus {
        if let Some(n) = up(gpu)
            && n < most
        {
            let detail = format!("{n} links are up, {most} on others of this machine");
            let subject = format!("gpu {}", gpu.index);
            out.push(Finding::new(
                Severity::Fail,
                "nvlink_uneven",
                subject,
                detail,
            ));
        }
    }
    let blocked: Vec<&Pair> = look
        .pairs
        .iter()
        .filter(|p| p.read.get().is_some_and(|s| s != "ok"))
        .collect();
    if let Some(first) = blocked.first() {
        // usual between cards on PCIe, a fault where NVLink joins them
        let joined = blocked
            .iter()
            .find(|p| matches!(p.by, "nvlink" | "nvswitch"));
        let severity = joined.map_or(Severity::Note, |_| Severity::Fail);
        let shown = joined.unwrap_or(first);
        let why = shown.read.get().unwrap_or("");
        let (n, of) = (blocked.len(), look.pairs.len());
        let detail = format!(
            "{n} of {of} pairs, gpu {} - gpu {}: {why}",
            shown.a, shown.b
        );
        out.push(Finding::new(severity, "p2p_blocked", "machine", detail));
    }
}

/// Functions that the driver lacks: one finding, however many values miss them.
fn functions(look: &Look, out: &mut Vec<Finding>) {
    let mut missing = BTreeSet::new();
    let mut add = |reason: Option<&Reason>| {
        if let Some(reason) = reason.filter(|r| r.code == "function_missing") {
            missing.insert(reason.detail.clone());
        }
    };
    add(look.driver.nvml_version.reason());
    add(look.driver.cuda_version.reason());
    for gpu in &look.gpus {
        gpu.reasons().into_iter().for_each(&mut add);
    }
    for pair in &look.pairs {
        add(pair.ancestor.reason());
        add(pair.read.reason());
    }
    if !missing.is_empty() {
        let names: Vec<String> = missing.into_iter().collect();
        let detail = names.join(" ");
        out.push(Finding::new(
            Severity::Note,
            "driver_functions_missing",
            "driver",
            detail,
        ));
    }
}

impl Gpu {
    /// Why values are missing, for those that newer functions give.
    fn reasons(&self) -> Vec<Option<&Reason>> {
        vec![
            self.serial_hash.reason(),
            self.memory_total_mib.reason(),
            self.compute_capability.reason(),
            self.link.generation.reason(),
            self.link.width.reason(),
            self.link.generation_card.reason(),
            self.ecc.on.reason(),
            self.ecc.uncorrected.reason(),
            self.remapped_rows.reason(),
            self.retired_pages_single_bit.reason(),
            self.mig.reason(),
            self.virtualization.reason(),
            self.power_limit_w.reason(),
            self.power_limit_default_w.reason(),
            self.clock_reasons.reason(),
            self.temperature_c.reason(),
            self.compute_processes.reason(),
            self.nvlinks.reason(),
            self.fabric.reason(),
        ]
    }
}

fn host(look: &Look, out: &mut Vec<Finding>) {
    let host = &look.host;
    let mut push = |severity, code, detail: String| {
        out.push(Finding::new(severity, code, "machine", detail));
    };
    if !host.container_signs.is_empty() {
        push(
            Severity::Note,
            "in_container",
            host.container_signs.join(", "),
        );
    }
    if !host.vm_signs.is_empty() {
        push(Severity::Note, "in_vm", host.vm_signs.join(", "));
    }
    if host.kernel_log == KernelLog::Closed {
        push(Severity::Note, "kernel_log_closed", "/dev/kmsg".to_owned());
    }
    if let Some(mib) = host.shm_mib.get()
        && mib < SHM_SMALL_MIB
    {
        push(Severity::Warn, "shm_small", format!("{mib} MiB"));
    }
    if let (Some(super::CpuQuota::Cores { cores }), Some(shown)) =
        (host.cpu_quota.get(), host.cpus_shown.get())
        && cores < f64::from(shown)
    {
        let detail = format!("{cores:.1} of {shown} processors");
        push(Severity::Warn, "cpu_quota", detail);
    }
}
