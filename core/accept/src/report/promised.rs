//! What the offer states, one thing after the other, beside what the report shows of it.
//!
//! What the offer does not state is not judged. What should have been seen and was not is unknown; what a step would have
//! shown that was not wanted is only listed. A breach of what nobody has verified is a warning.

use crate::{Found, Rules};
use lessee_model::gpu::same_memory;
use lessee_model::probe::{
    BlockDevice, CpuQuota, Fact, GpuReading, Kept, PromisedRow, Reading, Severity, StepStatus,
};
use lessee_model::{Confidence, GpuRef, GpuTable, Interconnect, Machine, ProbeReport};
use std::collections::BTreeMap;

/// Rows in the order of a machine's parts, and what follows from them.
pub fn promised(
    report: &ProbeReport,
    machine: &Machine,
    gpus: &GpuTable,
    rules: &Rules,
) -> (Vec<PromisedRow>, Vec<Found>) {
    let mut judge = Judge {
        report,
        machine,
        rules,
        rows: Vec::new(),
        found: Vec::new(),
    };
    if machine.gpu_count > 0 {
        judge.count();
        judge.models(gpus);
        judge.gpu_memory();
        judge.link();
    }
    judge.vcpus();
    judge.memory();
    judge.disk();
    judge.network();
    judge.not_seen();
    (judge.rows, judge.found)
}

/// Whether the report's GPUs are those of a machine, as far as either says: to tell one offer of several.
pub fn fits(report: &ProbeReport, machine: &Machine, gpus: &GpuTable) -> bool {
    let alike = |seen: &GpuReading| {
        gpus.resolve(&seen.name).is_some_and(|own| {
            own.model == machine.gpu.model
                && both(own.form, machine.gpu.form).is_none_or(|(a, b)| a == b)
                && both(own.memory_gb, machine.gpu.memory_gb).is_none_or(|(a, b)| same_memory(a, b))
        })
    };
    report.gpus.len() == usize::from(machine.gpu_count) && report.gpus.iter().all(alike)
}

fn both<T>(a: Option<T>, b: Option<T>) -> Option<(T, T)> {
    Some((a?, b?))
}

struct Judge<'a> {
    report: &'a ProbeReport,
    machine: &'a Machine,
    rules: &'a Rules,
    rows: Vec<PromisedRow>,
    found: Vec<Found>,
}

impl Judge<'_> {
    fn row(&mut self, what: &str, promised: String, seen: Option<String>, outcome: Kept) {
        self.rows.push(PromisedRow {
            what: what.to_owned(),
            promised,
            seen,
            outcome,
        });
    }

    /// Without a value: whether it was asked for decides.
    fn unseen(&mut self, what: &str, promised: String, steps: &[&str]) {
        let outcome = match self.wanted(steps) {
            true => Kept::NotSeen,
            false => Kept::NotAsked,
        };
        self.row(what, promised, None, outcome);
    }

    /// One of the steps was to be made. An older report does not say.
    fn wanted(&self, steps: &[&str]) -> bool {
        let Some(run) = &self.report.run else {
            return true;
        };
        run.steps.iter().any(|s| {
            let left_out =
                s.status == StepStatus::Skipped && s.reason.as_deref() == Some("not_wanted");
            steps.contains(&s.step.as_str()) && !left_out
        })
    }

    /// What nobody has verified breaks no promise.
    fn weight(&self, confidence: Confidence) -> Severity {
        match crate::table::decides(confidence) {
            true => Severity::Fail,
            false => Severity::Warn,
        }
    }

    fn broken(&mut self, code: &'static str, subject: &str, promised: &str, seen: &str) {
        let gpu = code.starts_with("gpu_");
        let confidence = match gpu {
            true => self.machine.confidence,
            false => self.machine.host_confidence,
        };
        let severity = self.weight(confidence);
        let found = Found::broken(severity, code, subject, promised, seen);
        self.found.push(found);
    }

    /// A quantity of which at least so much must be there.
    fn at_least(
        &mut self,
        of: (&'static str, &'static str, &str),
        promised: f64,
        seen: f64,
        kept: f64,
        unit: &str,
    ) {
        let (what, code, subject) = of;
        let (said, there) = (quantity(promised, unit), quantity(seen, unit));
        let outcome = match seen < promised * (1.0 - kept) - 1e-9 {
            true => Kept::Broken,
            false => Kept::Kept,
        };
        if outcome == Kept::Broken {
            self.broken(code, subject, &said, &there);
        }
        self.row(what, said, Some(there), outcome);
    }

    fn count(&mut self) {
        let promised = usize::from(self.machine.gpu_count);
        let seen = self.report.gpus.len();
        let said = promised.to_string();
        let none = self.report.driver.as_ref();
        let none = none.is_some_and(|d| d.nvml_gpus.value() == Some(&0));
        if seen == 0 && !none {
            return self.unseen("gpu_count", said, &["look", "gpu"]);
        }
        let there = seen.to_string();
        let outcome = match seen < promised {
            true => Kept::Broken,
            false => Kept::Kept,
        };
        if seen < promised {
            self.broken("gpu_count_short", "machine", &said, &there);
        } else if seen > promised {
            let found = ("gpu_count_more", "machine");
            let more = Found::broken(Severity::Note, found.0, found.1, &said, &there);
            self.found.push(more);
        }
        self.row("gpu_count", said, Some(there), outcome);
    }

    /// Each product that is there, once.
    fn models(&mut self, table: &GpuTable) {
        let said = self.machine.gpu.to_string();
        if self.report.gpus.is_empty() {
            return self.unseen("gpu_model", said, &["look", "gpu"]);
        }
        let mut by_name: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for gpu in &self.report.gpus {
            by_name.entry(&gpu.name).or_default().push(gpu.index);
        }
        for (name, indices) in by_name {
            let seen = table.resolve(base(name));
            let subject = match indices.len() == self.report.gpus.len() {
                true => "machine".to_owned(),
                false => subject(&indices),
            };
            let outcome = match seen {
                Some(seen) => self.model(&said, &seen, name, &subject),
                None => Kept::NotSeen,
            };
            self.row("gpu_model", said.clone(), Some(name.to_owned()), outcome);
        }
    }

    fn model(&mut self, said: &str, seen: &GpuRef, name: &str, subject: &str) -> Kept {
        let promised = &self.machine.gpu;
        if seen.model != promised.model {
            self.broken("gpu_model_differs", subject, said, name);
            return Kept::Broken;
        }
        match (promised.form, seen.form) {
            (Some(p), Some(s)) if p != s => {
                self.broken("gpu_form_differs", subject, said, name);
                Kept::Broken
            }
            (Some(_), None) => Kept::NotSeen,
            _ => Kept::Kept,
        }
    }

    /// Of one GPU, the least.
    fn gpu_memory(&mut self) {
        let mib = self.machine.usable_mib_each.map(f64::from);
        // memory is sold by names that mean powers of two; what a card shows of it less than that is what it keeps
        let sold = self.machine.gpu.memory_gb.map(|gb| gb * 1024.0);
        let Some(promised) = mib.or(sold) else {
            return;
        };
        let said = quantity(promised / 1024.0, "GiB");
        let least = self.report.gpus.iter();
        let least = least
            .filter_map(|g| Some((g.memory_total_mib?, g)))
            .min_by_key(|(m, _)| *m);
        let Some((seen, gpu)) = least else {
            return self.unseen("gpu_memory", said, &["look", "gpu"]);
        };
        let missing = 1.0 - f64::from(seen) / promised;
        let there = quantity(f64::from(seen) / 1024.0, "GiB");
        let subject = format!("gpu {}", gpu.index);
        let outcome = match missing > self.rules.gpu_memory_kept {
            true => Kept::Broken,
            false => Kept::Kept,
        };
        if outcome == Kept::Broken {
            self.broken("gpu_memory_short", &subject, &said, &there);
        } else if missing > self.rules.gpu_memory_told {
            let code = "gpu_memory_reserved";
            let note = Found::broken(Severity::Note, code, subject, &said, &there);
            self.found.push(note);
        }
        self.row("gpu_memory", said, Some(there), outcome);
    }

    /// What joins the GPUs, by its strength.
    fn link(&mut self) {
        let Some(promised) = self.machine.interconnect else {
            return;
        };
        if promised == Interconnect::None || self.machine.gpu_count < 2 {
            return;
        }
        let said = promised.as_str().to_owned();
        let word = self
            .report
            .machine
            .as_ref()
            .map(|m| m.interconnect.as_str());
        let seen = match word {
            Some("pcie") => Interconnect::Pcie,
            Some("nvlink_pairs") => Interconnect::NvlinkBridge,
            Some("nvlink_mesh") => Interconnect::Nvlink,
            Some("nvswitch") => Interconnect::Nvswitch,
            // one GPU has nothing to be joined with: that is told by their count
            Some("single") => return,
            _ => return self.unseen("gpu_link", said, &["look"]),
        };
        // from within one machine a rack's switches look like its own
        let enough = promised.rank().min(Interconnect::Nvswitch.rank());
        let outcome = match seen.rank() < enough {
            true => Kept::Broken,
            false => Kept::Kept,
        };
        if outcome == Kept::Broken {
            self.broken("gpu_link_weaker", "machine", &said, seen.as_str());
        }
        self.row("gpu_link", said, Some(seen.as_str().to_owned()), outcome);
    }

    /// Logical processors, less what the container's quota takes away.
    fn vcpus(&mut self) {
        let Some(promised) = self.machine.vcpus.map(f64::from) else {
            return;
        };
        let host = self.report.host.as_ref();
        let granted = host.and_then(|h| h.grant.as_ref()?.granted);
        let cores = host.and_then(|h| figure(h.cores.as_ref()?));
        let shown = self.report.machine.as_ref().and_then(|m| {
            let shown = f64::from(*m.cpus_shown.value()?);
            Some(match m.cpu_quota.value() {
                Some(CpuQuota::Cores { cores }) => shown.min(*cores),
                _ => shown,
            })
        });
        match granted.or(cores).or(shown) {
            Some(seen) => {
                self.at_least(("vcpus", "vcpus_short", "cpu"), promised, seen, 0.0, "");
            }
            None => self.unseen("vcpus", quantity(promised, ""), &["cpu", "look"]),
        }
    }

    fn memory(&mut self) {
        let Some(promised) = self.machine.memory_gib.map(f64::from) else {
            return;
        };
        let host = self.report.host.as_ref();
        let measured = host.and_then(|h| figure(h.memory_gib.as_ref()?));
        let shown = self.report.machine.as_ref();
        let shown = shown.and_then(|m| m.memory_total_mib.value().map(|mib| *mib as f64 / 1024.0));
        match measured.or(shown) {
            Some(seen) => {
                let of = ("memory", "memory_short", "memory");
                self.at_least(of, promised, seen, self.rules.memory_kept, "GiB");
            }
            None => self.unseen("memory", quantity(promised, "GiB"), &["cpu", "look"]),
        }
    }

    /// All disks that the kernel shows together, volumes among them: too little is certain, enough is not.
    fn disk(&mut self) {
        let Some(promised) = self.machine.local_disk_gb.map(f64::from) else {
            return;
        };
        if promised <= 0.0 {
            return;
        }
        let machine = self.report.machine.as_ref();
        let disks = machine
            .map(|m| m.block_devices.as_slice())
            .unwrap_or_default();
        let contained = machine.is_some_and(|m| !m.container_signs.is_empty());
        let sum = |disks: &[&BlockDevice]| disks.iter().map(|d| d.bytes as f64 / 1e9).sum::<f64>();
        let all: Vec<&BlockDevice> = disks.iter().collect();
        let local: Vec<&BlockDevice> = disks
            .iter()
            .filter(|d| !may_be_remote(d, self.rules))
            .collect();
        let seen = sum(&all);
        let short = seen < promised * (1.0 - self.rules.disk_kept);
        // a container may be shown none of the host's
        if disks.is_empty() || (short && contained) {
            return self.unseen("local_disk", quantity(promised, "GB"), &["look"]);
        }
        let of = ("local_disk", "disk_short", "disk");
        // enough only with what may hang on a network
        if !short && sum(&local) < promised * (1.0 - self.rules.disk_kept) {
            let there = Some(quantity(seen, "GB"));
            return self.row("local_disk", quantity(promised, "GB"), there, Kept::NotSeen);
        }
        self.at_least(of, promised, seen, self.rules.disk_kept, "GB");
    }

    fn network(&mut self) {
        if let Some(gbps) = self.machine.network_gbps {
            let said = quantity(f64::from(gbps), "Gbit/s");
            let code = "promise_not_measured";
            let note = Found::broken(Severity::Note, code, "network", &said, "-");
            self.found.push(note);
            self.row("network", said, None, Kept::NotMeasured);
        }
    }

    /// One finding for all that should have been seen.
    fn not_seen(&mut self) {
        let missing: Vec<String> = self
            .rows
            .iter()
            .filter(|r| r.outcome == Kept::NotSeen)
            .map(|r| format!("{} {}", r.what, r.promised))
            .collect();
        if !missing.is_empty() {
            let (severity, code) = (Severity::Unknown, "promise_not_seen");
            let found = Found::new(severity, code, "machine", missing.join(", "));
            self.found.push(found);
        }
    }
}

/// Volumes of a cloud look like disks: virtio and SCSI always may be one, an NVMe device where its model says so or says nothing.
fn may_be_remote(disk: &BlockDevice, rules: &Rules) -> bool {
    let model = disk.model.as_deref().unwrap_or_default().to_lowercase();
    !disk.name.starts_with("nvme")
        || model.trim().is_empty()
        || rules.remote_disks.iter().any(|word| model.contains(word))
}

/// Of a virtual GPU the card behind it: `NVIDIA A10-8Q`.
fn base(name: &str) -> &str {
    let Some((card, slice)) = name.rsplit_once('-') else {
        return name;
    };
    let digits = slice.trim_end_matches(['Q', 'C', 'A', 'B']);
    let is_slice = digits.len() < slice.len()
        && !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit());
    match is_slice {
        true => card,
        false => name,
    }
}

fn subject(indices: &[u32]) -> String {
    let list: Vec<String> = indices.iter().map(u32::to_string).collect();
    format!("gpu {}", list.join(", "))
}

/// Whatever is known of it.
fn figure(reading: &Reading) -> Option<f64> {
    match reading {
        Reading::Measured { value, .. } | Reading::Claimed { value } => {
            (value.is_finite() && *value > 0.0).then_some(*value)
        }
        Reading::Unknown { .. } | Reading::Failed { .. } => None,
    }
}

fn quantity(value: f64, unit: &str) -> String {
    let value = (value * 10.0).round() / 10.0;
    match unit {
        "" => value.to_string(),
        unit => format!("{value} {unit}"),
    }
}

/// Slices of a card, whose figures are not those of the card.
pub(crate) fn is_slice(gpu: &GpuReading) -> bool {
    let stated = gpu.stated.as_ref();
    let mig = stated.is_some_and(|s| s.mig.value() == Some(&true));
    let kind = stated.and_then(|s| s.virtualization.value().map(String::as_str));
    mig || kind == Some("vgpu") || base(&gpu.name) != gpu.name
}

/// Whether a kernel was found wrong on it, or it failed: its figures say nothing of what is usual.
pub(crate) fn is_broken(gpu: &GpuReading) -> bool {
    match &gpu.kernel {
        Some(Fact::Measured { value } | Fact::Claimed { value }) => value.wrong > 0,
        Some(Fact::Failed { .. }) => true,
        Some(Fact::Unknown { .. }) | None => false,
    }
}
