//! One machine and what is needed on it, judged: remarks on the machine, then exactly one finding `need` for each need with
//! the steps that led to it. Start here; the rules are in the files of their family.

use crate::driver::{self, Driver};
use crate::facts::{Archs, Compat, Pair};
use crate::finding::{Answer, Check, Finding, Verdict, verdict};
use crate::gpu::{self, Card, Known};
use crate::machine::{Fault, Machine};
use crate::need::{Need, NeedError};
use crate::{cuda, jax, libs, rocm, tensorflow, torch, vllm};
use jiff::civil::Date;
use lessee_model::Msg;

/// The machine with what is known of its parts.
pub(crate) struct Host<'a> {
    pub compat: &'a Compat,
    pub driver: Option<Driver<'a>>,
    /// Each product once, by the name as given.
    pub gpus: Vec<(String, Known<'a>)>,
    /// Some GPU is a slice of a card.
    pub slice: bool,
    pub machine: &'a Machine,
    /// What keeps every program from the GPU.
    blocks: Vec<Check>,
}

impl Host<'_> {
    pub(crate) fn has_amd(&self) -> bool {
        self.gpus.iter().any(|(_, k)| matches!(k, Known::Amd(_)))
    }

    pub(crate) fn only_amd(&self) -> bool {
        self.has_amd() && self.gpus.iter().all(|(_, k)| matches!(k, Known::Amd(_)))
    }

    pub(crate) fn nvidia(&self) -> impl Iterator<Item = (&str, &Card)> {
        self.gpus.iter().filter_map(|(name, known)| match known {
            Known::Nvidia(card) => Some((name.as_str(), *card)),
            Known::Amd(_) | Known::Unknown => None,
        })
    }

    /// The host has an Arm CPU.
    pub(crate) fn aarch64(&self) -> bool {
        self.nvidia().any(|(_, card)| card.aarch64)
    }
}

/// Judges a machine for what is needed on it, as of `today`.
pub fn judge(
    machine: &Machine,
    needs: &[(String, Result<Need, NeedError>)],
    compat: &Compat,
    today: Date,
) -> Vec<Finding> {
    let mut out = Vec::new();
    if let Some(why) = &machine.unreadable {
        let ask = || Msg::new("accept-ask-capture");
        let check = |rule| Check::new(rule, Verdict::Unknown, why.msg()).asking(ask());
        out.push(check("capture").finding("nvidia-smi"));
        let each = needs.iter().map(|(text, _)| check("need").finding(text));
        out.extend(each);
        return out;
    }
    if !machine.doubts.is_empty() {
        pictured(machine, needs, &mut out);
        return out;
    }
    let host = host(machine, compat);
    if machine.pictured {
        let reason = Msg::new("accept-screen-agrees");
        let check = Check::new("screenshot", Verdict::Pass, reason);
        out.push(check.finding("screen"));
    }
    driver::remarks(&host, machine.printed_cuda.as_deref(), today, &mut out);
    gpu::remarks(machine, compat, &mut out);
    for block in &host.blocks {
        out.push(block.clone().finding("machine"));
    }
    faults(machine, compat, &mut out);
    for (text, need) in needs {
        out.extend(judge_on(text, need, &host));
    }
    out
}

/// A picture that does not agree with itself: each doubt is a question, and so is all that rests upon it.
fn pictured(
    machine: &Machine,
    needs: &[(String, Result<Need, NeedError>)],
    out: &mut Vec<Finding>,
) {
    let unknown = |rule, reason| {
        let check = Check::new(rule, Verdict::Unknown, reason);
        check.asking(Msg::new("accept-ask-text"))
    };
    for doubt in &machine.doubts {
        let check = unknown("screenshot", doubt.reason.clone());
        out.push(check.finding(&doubt.field));
    }
    for (text, _) in needs {
        let check = unknown("need", Msg::new("accept-screen-doubt"));
        out.push(check.finding(text));
    }
}

pub(crate) fn host<'a>(machine: &'a Machine, compat: &'a Compat) -> Host<'a> {
    let mut gpus: Vec<(String, Known<'a>)> = Vec::new();
    for gpu in &machine.gpus {
        let name = gpu.name.clone().unwrap_or_default();
        if gpus.iter().all(|(n, _)| *n != name) {
            let known = compat.gpu(&name);
            gpus.push((name, known));
        }
    }
    let mut host = Host {
        compat,
        driver: machine.driver.as_deref().and_then(|d| compat.driver(d)),
        gpus,
        slice: machine.gpus.iter().any(gpu::is_slice),
        machine,
        blocks: Vec::new(),
    };
    // ROCm counts from one
    if !host.has_amd() {
        host.driver = host.driver.filter(driver::is_whole);
    }
    let printed = machine.printed_cuda.as_deref();
    host.blocks.extend(driver::library_blocks(&host, printed));
    host.blocks
        .extend(machine.faults.iter().filter_map(|f| blocking(f, compat)));
    host.blocks
        .dedup_by(|a, b| a.rule == b.rule && a.reason == b.reason);
    host
}

/// Faults with which no program reaches the GPU.
const BLOCKING: [&str; 5] = [
    "fabric_not_ready",
    "gpu_lost",
    "gpu_needs_reset",
    "gpu_needs_recovery",
    "driver_library_mismatch",
];

/// Faults that say that the capture is not whole.
const CUT: [&str; 2] = ["incomplete_capture", "input_cut"];

/// Faults that leave open which machine or driver is shown, or whether there is one.
const OPEN: [&str; 8] = [
    "several_captures",
    "several_drivers",
    "no_driver",
    "no_devices",
    "no_nvml_library",
    "nvml_unknown_error",
    "gpu_access_blocked",
    "insufficient_permissions",
];

fn blocking(fault: &Fault, compat: &Compat) -> Option<Check> {
    if OPEN.contains(&fault.code.as_str()) {
        let check = Check::new("health", Verdict::Unknown, fault_msg(fault));
        return Some(check.asking(Msg::new("accept-ask-capture")));
    }
    if !BLOCKING.contains(&fault.code.as_str()) {
        return None;
    }
    if fault.code == "fabric_not_ready" {
        let reason = Msg::new("accept-fabric").arg("detail", fault.detail.as_str());
        let check =
            Check::new("fabric", Verdict::Fail, reason).asking(Msg::new("accept-ask-fabric"));
        return Some(match compat.rule("fabric") {
            Some(origin) => check.from(origin),
            None => check,
        });
    }
    let check = Check::new("health", Verdict::Fail, fault_msg(fault));
    Some(check.asking(Msg::new("accept-ask-health")))
}

fn fault_msg(fault: &Fault) -> Msg {
    Msg::new("accept-health")
        .arg("code", fault.code.as_str())
        .arg("detail", fault.detail.as_str())
}

/// The rest of what the capture states to be wrong, and what it does not show.
fn faults(machine: &Machine, compat: &Compat, out: &mut Vec<Finding>) {
    for fault in &machine.faults {
        let code = fault.code.as_str();
        if BLOCKING.contains(&code) || OPEN.contains(&code) {
            continue;
        }
        let check = match CUT.contains(&code) {
            true => {
                let reason = Msg::new("accept-capture-cut").arg("detail", fault.detail.as_str());
                Check::new("capture", Verdict::Unknown, reason)
                    .asking(Msg::new("accept-ask-capture"))
            }
            false => Check::new("health", Verdict::Warn, fault_msg(fault))
                .asking(Msg::new("accept-ask-health")),
        };
        let check = match compat.rule("health") {
            Some(origin) => check.from(origin),
            None => check,
        };
        out.push(check.finding(&fault.subject));
    }
    let switched = |gpu: &crate::Gpu| {
        let name = gpu.name.as_deref().unwrap_or("").to_uppercase();
        let known = compat.gpu(&name);
        let newer = matches!(known, Known::Nvidia(c) if c.cc >= Pair(9, 0) && c.class == crate::GpuClass::DataCentre);
        let socket = ["SXM", "HBM3", "H200", "B200", "B300"]
            .iter()
            .any(|w| name.contains(w));
        newer && socket && !name.contains("NVL") && !name.contains("PCIE")
    };
    let many = machine.gpus.iter().filter(|g| switched(g)).count();
    let told = machine.fabric_ready || machine.faults.iter().any(|f| f.code == "fabric_not_ready");
    if many > 1 && !told {
        let check = Check::new("fabric", Verdict::Warn, Msg::new("accept-fabric-unseen"))
            .asking(Msg::new("accept-ask-fabric"));
        let check = match compat.rule("fabric") {
            Some(origin) => check.from(origin),
            None => check,
        };
        out.push(check.finding("machine"));
    }
}

fn answer(need: &Need, host: &Host<'_>) -> Answer {
    match need.package.as_str() {
        "torch" | "pytorch" | "pytorch-gpu" => torch::judge(need, host),
        "tensorflow" | "tensorflow-gpu" => tensorflow::judge(need, host),
        "jax" => jax::judge(need, host),
        "vllm" => vllm::judge(need, host),
        "cuda" | "cuda-toolkit" | "cuda-version" | "cudatoolkit" | "pytorch-cuda" => {
            cuda::judge(need, host)
        }
        "rocm" => rocm::judge(need, host),
        package => libs::judge(need, package, host),
    }
}

/// One need on a machine: the finding `need` first, then those that say more than it does.
pub(crate) fn judge_on(
    text: &str,
    need: &Result<Need, NeedError>,
    host: &Host<'_>,
) -> Vec<Finding> {
    let answer = match need {
        Ok(need) => answer(need, host),
        Err(why) => Answer::only(Check::new("need", Verdict::Unknown, why.msg())),
    };
    let mut out = Vec::new();
    say(text, answer, host, &mut out);
    out
}

/// The finding of a need, and those of its steps that say more than it does.
fn say(text: &str, mut answer: Answer, host: &Host<'_>, out: &mut Vec<Finding>) {
    // a machine that nothing reaches, or half a capture, never passes
    answer.checks.extend(host.blocks.iter().cloned());
    let cut = host
        .machine
        .faults
        .iter()
        .find(|f| CUT.contains(&f.code.as_str()));
    if let Some(fault) = cut {
        let reason = Msg::new("accept-capture-cut").arg("detail", fault.detail.as_str());
        let check = Check::new("capture", Verdict::Unknown, reason);
        answer
            .checks
            .push(check.asking(Msg::new("accept-ask-capture")));
    }
    let overall = verdict(&answer.checks);
    let deciding = answer
        .checks
        .iter()
        .position(|c| c.verdict == overall && !c.remark);
    let mut need = match deciding {
        Some(at) => answer.checks.remove(at),
        None => Check::new("need", Verdict::Unknown, Msg::new("accept-nothing-known")),
    };
    need.rule = "need";
    if let Some(judged) = answer.judged {
        need.reason = Msg::new("accept-judged")
            .arg("judged", judged)
            .arg("what", lessee_model::Arg::Msg(Box::new(need.reason)));
    }
    let mut need = need.finding(text);
    need.install = answer.install;
    out.push(need);
    let more = answer
        .checks
        .into_iter()
        .filter(|c| c.verdict > Verdict::Pass);
    let more =
        more.filter(|c| host.blocks.iter().all(|b| b.reason != c.reason) && c.rule != "capture");
    out.extend(more.map(|c| c.finding(text)));
}

/// Whether the driver carries a build, knows the cards, and the build has code for them.
pub(crate) fn runs(cuda: Pair, archs: Option<&Archs>, host: &Host<'_>) -> Vec<Check> {
    let mut out = Vec::new();
    if !on_nvidia(host, &mut out) {
        return out;
    }
    driver::carries(cuda, host, &mut out);
    for (name, card) in host.nvidia() {
        if let Some(driver) = &host.driver {
            gpu::driven(card, name, driver, &mut out);
        }
        code(cuda, archs, name, card, host, &mut out);
    }
    out
}

/// Whether all GPUs are NVIDIA's and known; else that is what there is to say.
pub(crate) fn on_nvidia(host: &Host<'_>, out: &mut Vec<Check>) -> bool {
    if host.gpus.is_empty() {
        let check = Check::new("gpu", Verdict::Unknown, Msg::new("accept-gpu-none"));
        out.push(check.asking(Msg::new("accept-ask-capture")));
        return false;
    }
    for (name, known) in &host.gpus {
        match known {
            Known::Nvidia(_) => {}
            Known::Amd(card) => {
                let reason = Msg::new("accept-amd-cuda").arg("gpu", name.as_str());
                out.push(Check::new("gpu", Verdict::Fail, reason).from(&card.origin));
            }
            Known::Unknown => {
                let reason = Msg::new("accept-gpu-unknown").arg("gpu", name.as_str());
                let check = Check::new("gpu", Verdict::Unknown, reason);
                out.push(check.asking(Msg::new("accept-ask-capability")));
            }
        }
    }
    host.nvidia().next().is_some()
}

/// Whether a build has code for a card. The lists say for which a cubin is there; a later card of the same major runs it,
/// and PTX is compiled by the driver.
fn code(
    cuda: Pair,
    archs: Option<&Archs>,
    name: &str,
    card: &Card,
    host: &Host<'_>,
    out: &mut Vec<Check>,
) {
    let cc = card.cc.to_string();
    let say = |id: &'static str| {
        Msg::new(id)
            .arg("gpu", name)
            .arg("cc", cc.as_str())
            .arg("cuda", cuda.to_string())
    };
    if let Some(last) = card.last_cuda.filter(|last| cuda > *last) {
        let reason = say("accept-gpu-dropped").arg("last", last.to_string());
        out.push(Check::new("gpu-code", Verdict::Fail, reason).from(&card.origin));
        return;
    }
    let first = host.compat.first_code(card);
    let known = archs.filter(|a| a.origin.decides() && !a.code.is_empty());
    let Some(archs) = known else {
        let check = match cuda < first {
            true => {
                let reason = say("accept-gpu-early").arg("first", first.to_string());
                Check::new("gpu-code", Verdict::Fail, reason).from(&card.origin)
            }
            false => Check::new("gpu-code", Verdict::Unknown, say("accept-code-unknown"))
                .asking(Msg::new("accept-ask-code")),
        };
        out.push(check);
        return;
    };
    let own = archs
        .code
        .iter()
        .any(|a| a.0 == card.cc.0 && a.1 <= card.cc.1);
    if own {
        out.push(
            Check::new("gpu-code", Verdict::Pass, say("accept-code-there")).from(&archs.origin),
        );
        return;
    }
    let served = host.driver.as_ref().and_then(|d| d.branch).map(|b| b.cuda);
    let check = match archs.ptx.filter(|p| *p <= card.cc) {
        // PTX of a newer CUDA than the driver's is not compiled
        Some(_) if served.is_some_and(|s| cuda > s) => {
            Check::new("gpu-code", Verdict::Fail, say("accept-code-ptx-old"))
        }
        Some(_) => Check::new("gpu-code", Verdict::Warn, say("accept-code-ptx")),
        None => {
            let reason = say("accept-code-missing").arg("list", archs.to_string());
            Check::new("gpu-code", Verdict::Fail, reason)
        }
    };
    out.push(check.from(&archs.origin));
}

/// No version that is known fits.
pub(crate) fn no_version<'a>(
    need: &Need,
    known: impl Iterator<Item = &'a crate::Version>,
) -> Answer {
    let newest = known
        .max()
        .map_or_else(|| "?".to_owned(), ToString::to_string);
    let reason = Msg::new("accept-version-unknown")
        .arg("package", need.package.as_str())
        .arg("newest", newest);
    let ask = Msg::new("accept-ask-version").arg("package", need.package.as_str());
    Answer::only(Check::new("version", Verdict::Unknown, reason).asking(ask))
}

/// The answer for a package of which nothing is known.
pub(crate) fn no_package(need: &Need) -> Answer {
    let reason = Msg::new("accept-package-unknown").arg("package", need.package.as_str());
    let ask = Msg::new("accept-ask-version").arg("package", need.package.as_str());
    Answer::only(Check::new("package", Verdict::Unknown, reason).asking(ask))
}

/// The verdict that a build would get, for suggestions.
pub(crate) fn would(cuda: Pair, archs: Option<&Archs>, host: &Host<'_>) -> Verdict {
    verdict(&runs(cuda, archs, host))
}

/// Whether a verdict is worth an install line.
pub(crate) fn works(verdict: Verdict) -> bool {
    verdict <= Verdict::Warn
}
