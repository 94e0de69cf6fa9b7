//! What follows from a proof: against the link that was really there, against siblings in the same machine, and against
//! what must be exact.

use super::copy::median;
use super::{GpuProof, Proof, Rate, UnderLoad};
use crate::gpu::finding::{Finding, Severity, is_code};
use crate::gpu::look::{Look, throttle_code};
use crate::gpu::{CudaCause, GpuError, Reason, Seen};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The thresholds of `data/probe-rules.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    link: LinkRules,
    siblings: SiblingRules,
    pub(in crate::gpu) tensor: TensorRules,
    pub(crate) ports: PortRules,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PortRules {
    pub(crate) card_gbps: BTreeMap<String, f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::gpu) struct TensorRules {
    pub(in crate::gpu) fades: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkRules {
    share: f64,
    share_gen3: f64,
    lane_gbs: Vec<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SiblingRules {
    below_median: f64,
    at_least: usize,
}

impl Rules {
    /// Those that are built in.
    ///
    /// # Errors
    /// The file is broken: a bug.
    pub fn built_in() -> Result<Rules, toml::de::Error> {
        toml::from_str(include_str!("../../../../../data/probe-rules.toml"))
    }

    /// GB/s in one direction, after encoding, and the least share that is no fault.
    fn link(&self, generation: u32, width: u32) -> Option<(f64, f64)> {
        let lane = self
            .link
            .lane_gbs
            .get(generation.checked_sub(1)? as usize)?;
        let share = match generation {
            0..=3 => self.link.share_gen3,
            _ => self.link.share,
        };
        Some((lane * f64::from(width), share))
    }
}

pub(super) fn judge(proof: &Proof, look: Option<&Look>, rules: &Rules) -> Vec<Finding> {
    let mut out = Vec::new();
    start(proof, look, &mut out);
    for gpu in &proof.gpus {
        one_gpu(gpu, look, rules, &mut out);
    }
    cut(proof, &mut out);
    memories(proof, rules, &mut out);
    pairs(proof, look, rules, &mut out);
    out.sort_by_key(|f| std::cmp::Reverse(f.severity));
    out
}

fn start(proof: &Proof, look: Option<&Look>, out: &mut Vec<Finding>) {
    match &proof.start_error {
        None => {}
        // the look says the same with more knowledge of the machine
        Some(GpuError::Library { .. }) if look.is_some() => {}
        Some(error @ GpuError::Library { .. }) => {
            out.push(Finding::new(
                Severity::Fail,
                "no_cuda_library",
                "driver",
                error.to_string(),
            ));
        }
        Some(error @ GpuError::Cuda { code, .. }) => {
            let code = CudaCause::of(*code).code();
            out.push(Finding::new(
                Severity::Fail,
                code,
                "machine",
                error.to_string(),
            ));
        }
        Some(error) => {
            let reason = Seen::<()>::without(error).reason().cloned();
            out.extend(reason.map(|r| failed(&r, "machine")));
        }
    }
    let seen = look.and_then(|l| l.driver.nvml_gpus.get());
    let sliced = look.is_some_and(|l| l.gpus.iter().any(|g| g.mig.get() == Some(true)));
    if let (Some(nvml), Some(cuda)) = (seen, proof.cuda_gpus.get())
        && nvml != cuda
        && !sliced
    {
        let detail = format!("NVML counts {nvml}, CUDA {cuda}");
        out.push(Finding::new(
            Severity::Unknown,
            "gpu_counts_differ",
            "machine",
            detail,
        ));
    }
}

/// A step that came to nothing. What the driver or the GPU did is a fault; what only could not be seen is not known.
pub(in crate::gpu) fn failed(reason: &Reason, subject: &str) -> Finding {
    let (severity, code) = match reason.code {
        "time_cap" => (Severity::Unknown, "step_cut"),
        _ if reason.cut() => (Severity::Unknown, "gpu_cut"),
        "gpu_memory_taken" => (Severity::Unknown, "gpu_memory_taken"),
        "gpu_unavailable" => (Severity::Unknown, "gpu_unavailable"),
        "kernel_refused" => (Severity::Unknown, "kernel_refused"),
        "function_missing" | "internal" => (Severity::Unknown, "step_failed"),
        code if is_code(code) => (Severity::Fail, code),
        _ => (Severity::Unknown, "step_failed"),
    };
    Finding::new(severity, code, subject, reason.detail.clone())
}

fn one_gpu(gpu: &GpuProof, look: Option<&Look>, rules: &Rules, out: &mut Vec<Finding>) {
    let subject = format!("gpu {}", gpu.index.unwrap_or(gpu.cuda_index));
    let before = out.len();
    if let Some(v) = gpu.kernel.get()
        && v.wrong > 0
    {
        let detail = format!("{} of {} words are wrong", v.wrong, v.words);
        out.push(Finding::new(
            Severity::Fail,
            "compute_error",
            subject.clone(),
            detail,
        ));
    }
    let load = &gpu.under_load;
    let reasons = [
        gpu.kernel.reason(),
        gpu.memory.reason(),
        gpu.to_device.reason(),
        load.power_w.reason(),
        load.width.reason(),
    ];
    // the first step that failed names the cause, the others follow from it; NVML knows of a loss better than CUDA
    let lost = reasons.iter().flatten().find(|r| r.code == "gpu_lost");
    let asked = reasons[..3].iter().flatten().find(|r| !r.never_tried());
    if let Some(reason) = lost.or(asked) {
        out.push(failed(reason, &subject));
    }
    if out.len() > before {
        return;
    }
    link(gpu, load, look, rules, &subject, out);
    let mut held: BTreeMap<&'static str, Vec<&str>> = BTreeMap::new();
    for reason in load.clock_reasons.value().into_iter().flatten() {
        if let Some(code) = throttle_code(reason) {
            held.entry(code).or_default().push(reason);
        }
    }
    for (code, reasons) in held {
        let heat = load.temperature_c.get().map(|c| format!(", {c} °C"));
        let detail = format!("{}{}", reasons.join(" "), heat.unwrap_or_default());
        out.push(Finding::new(Severity::Fail, code, subject.clone(), detail));
    }
}

/// What was not tried any more: one finding, however much it is.
fn cut(proof: &Proof, out: &mut Vec<Finding>) {
    let cut = |seen: Option<&Reason>| seen.is_some_and(Reason::cut);
    let any = |g: &&GpuProof| {
        cut(g.kernel.reason()) || cut(g.memory.reason()) || cut(g.to_device.reason())
    };
    let gpus = proof.gpus.iter().filter(any).count();
    let pairs = proof.pairs.iter().filter(|p| cut(p.rate.reason())).count();
    if gpus + pairs > 0 {
        let (of_gpus, of_pairs) = (proof.gpus.len(), proof.pairs.len());
        let detail = format!("GPU {gpus} / {of_gpus}, GPU - GPU {pairs} / {of_pairs}");
        out.push(Finding::new(
            Severity::Unknown,
            "gpu_cut",
            "machine",
            detail,
        ));
    }
}

fn link(
    gpu: &GpuProof,
    load: &UnderLoad,
    look: Option<&Look>,
    rules: &Rules,
    subject: &str,
    out: &mut Vec<Finding>,
) {
    let mut push = |severity, code, detail: String| {
        out.push(Finding::new(severity, code, subject, detail));
    };
    let rates = (gpu.to_device.value(), gpu.to_host.value());
    let (Some(to_device), Some(to_host)) = rates else {
        return;
    };
    let (Some(generation), Some(width)) = (load.generation.get(), load.width.get()) else {
        let why = load
            .width
            .reason()
            .map(Reason::to_string)
            .unwrap_or_default();
        push(Severity::Note, "link_not_shown", why);
        return;
    };
    let speed = rules.link(generation, width);
    let fastest = to_device.gbs.max(to_host.gbs);
    if let Some((theory, _)) = speed
        && fastest > theory
    {
        // what a hypervisor shows of the link need not be the link
        let detail = format!("{fastest:.1} GB/s on Gen{generation} x{width} of {theory:.1}");
        push(Severity::Note, "link_not_shown", detail);
        return;
    }
    let idle = look.and_then(|l| l.gpus.iter().find(|g| Some(g.index) == gpu.index));
    if let Some(link) = idle.map(|g| &g.link) {
        let most = (link.generation_max.get(), link.width_max.get());
        let narrower = link.width.get().is_some_and(|w| width < w);
        let below = most.0.is_some_and(|m| generation < m) || most.1.is_some_and(|m| width < m);
        let shown = |n: Option<u32>| n.map_or("?".to_owned(), |n| n.to_string());
        let (g, w) = (shown(most.0), shown(most.1));
        let detail = format!("Gen{generation} x{width} while copying, Gen{g} x{w} at most");
        // lanes that go away under load are a bad contact; a link that is always narrower is how the box was built
        if narrower {
            push(Severity::Fail, "link_narrow_under_load", detail);
        } else if below {
            push(Severity::Warn, "link_narrow_under_load", detail);
        }
    }
    let slowest = to_device.gbs.min(to_host.gbs);
    if let Some((theory, share)) = speed
        && slowest < share * theory
    {
        let detail = format!(
            "{:.1} GB/s to the device, {:.1} back, on Gen{generation} x{width} of {theory:.1}",
            to_device.gbs, to_host.gbs
        );
        push(Severity::Fail, "link_slow", detail);
    }
}

/// Figures of one kind, and those that lie below the median of all of them.
pub(crate) fn below<K: Copy>(figures: &[(K, f64)], rules: &Rules) -> Vec<(K, f64, f64)> {
    if figures.len() < rules.siblings.at_least {
        return Vec::new();
    }
    let values: Vec<f64> = figures.iter().map(|(_, x)| *x).collect();
    let middle = median(&values);
    let floor = middle * (1.0 - rules.siblings.below_median);
    let low = figures.iter().filter(|(_, x)| *x < floor);
    low.map(|(k, x)| (*k, *x, middle)).collect()
}

fn memories(proof: &Proof, rules: &Rules, out: &mut Vec<Finding>) {
    let mut by_name: BTreeMap<&str, Vec<(u32, f64)>> = BTreeMap::new();
    for gpu in &proof.gpus {
        if let (Some(name), Some(rate)) = (gpu.name.value(), gpu.memory.value()) {
            let index = gpu.index.unwrap_or(gpu.cuda_index);
            by_name.entry(name).or_default().push((index, rate.gbs));
        }
    }
    for figures in by_name.values() {
        for (index, gbs, middle) in below(figures, rules) {
            let detail = format!("{gbs:.0} GB/s, its siblings {middle:.0}");
            let subject = format!("gpu {index}");
            out.push(Finding::new(Severity::Fail, "memory_slow", subject, detail));
        }
    }
}

/// Two GPUs in the direction of a copy.
type Ends = (u32, u32);
/// By what, with how many NVLinks, and over which part of the PCIe tree.
type Joined = (String, u32, String);

fn pairs(proof: &Proof, look: Option<&Look>, rules: &Rules, out: &mut Vec<Finding>) {
    // siblings are the pairs that are joined alike
    let mut alike: BTreeMap<Joined, Vec<(Ends, f64)>> = BTreeMap::new();
    let mut cut = None;
    for pair in &proof.pairs {
        let ends = (pair.from, pair.to);
        let subject = format!("gpu {} - gpu {}", pair.from, pair.to);
        if let Some(v) = pair.data.get()
            && v.wrong > 0
        {
            let detail = format!("{} of {} words arrived wrong", v.wrong, v.words);
            out.push(Finding::new(
                Severity::Fail,
                "peer_data_wrong",
                subject,
                detail,
            ));
            continue;
        }
        match &pair.rate {
            Seen::Measured {
                value: Rate { gbs, .. },
            }
            | Seen::Claimed {
                value: Rate { gbs, .. },
            } => {
                alike
                    .entry(kind(look, ends))
                    .or_default()
                    .push((ends, *gbs));
            }
            Seen::Unknown { .. } => {}
            // after a step that hangs the others were not tried: one finding is enough
            Seen::Failed { reason } if reason.code == "time_cap" => {
                cut.get_or_insert_with(|| failed(reason, &subject));
            }
            Seen::Failed { reason } => out.push(failed(reason, &subject)),
        }
    }
    out.extend(cut);
    for figures in alike.values() {
        for ((from, to), gbs, middle) in below(figures, rules) {
            let subject = format!("gpu {from} - gpu {to}");
            let detail = format!("{gbs:.1} GB/s, pairs joined alike {middle:.1}");
            out.push(Finding::new(Severity::Fail, "pair_slow", subject, detail));
        }
    }
}

fn kind(look: Option<&Look>, (a, b): Ends) -> Joined {
    let pair = look.and_then(|l| l.pairs.iter().find(|p| (p.a, p.b) == (a.min(b), a.max(b))));
    match pair {
        None => (String::new(), 0, String::new()),
        // how PCIe leads from one to the other matters only where they use it
        Some(p) if p.by != "pcie" => (p.by.to_owned(), p.nvlinks.get().unwrap_or(0), String::new()),
        Some(p) => (
            p.by.to_owned(),
            0,
            p.ancestor.get().unwrap_or("").to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_rules_read_and_links_have_their_speeds() {
        let rules = Rules::built_in().unwrap();
        let (gbs, share) = rules.link(5, 16).unwrap();
        assert!((gbs - 63.0).abs() < 0.1 && share == 0.70, "{gbs}");
        assert_eq!(rules.link(3, 8).unwrap().1, 0.55);
        assert_eq!(rules.link(0, 16), None);
        assert_eq!(rules.link(9, 16), None);
    }

    #[test]
    fn siblings_need_company() {
        let rules = Rules::built_in().unwrap();
        assert!(below(&[(0, 100.0), (1, 10.0)], &rules).is_empty());
        assert_eq!(
            below(&[(0, 100.0), (1, 101.0), (2, 80.0)], &rules),
            [(2, 80.0, 100.0)]
        );
    }
}
