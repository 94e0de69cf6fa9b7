//! What the passes say together: which stage limits, whether the machine delivers, how many GPUs it can feed.

use super::{FeedOptions, FeedReport};
use crate::finding::{Finding, Severity};
use crate::step::{self, Why};
use lessee_model::Msg;
use lessee_model::probe::{FeedPass, Reading, StepTime};
use serde::Serialize;

/// What an accelerator waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    Disk,
    /// Decoding and resizing: processor cores.
    Decode,
    /// Copying, into the batch or to the accelerator.
    Copy,
    /// Nothing: the accelerator is busy.
    Gpu,
}

impl Limit {
    pub fn as_str(self) -> &'static str {
        match self {
            Limit::Disk => "disk",
            Limit::Decode => "decode",
            Limit::Copy => "copy",
            Limit::Gpu => "gpu",
        }
    }
}

/// The four passes; those from memory or unpaced may be missing.
pub(super) struct Passes<'a> {
    pub(super) disk: Option<&'a FeedPass>,
    pub(super) memory: Option<&'a FeedPass>,
    pub(super) disk_supply: Option<&'a FeedPass>,
    pub(super) memory_supply: Option<&'a FeedPass>,
}

fn supply(pass: Option<&FeedPass>) -> Option<f64> {
    pass?.samples_per_second.measured()
}

/// The stage and the sentence that says why; `None` where it cannot be told. `tables`: samples are rows of them.
pub(super) fn limit(passes: &Passes<'_>, pass_at: f64, tables: bool) -> (Option<Limit>, Msg) {
    let Some(disk) = passes.disk else {
        return (None, Msg::new("feed-why-no-step-time"));
    };
    let Some(au) = disk.au.measured() else {
        return (None, Msg::new("feed-why-not-measured"));
    };
    if au >= pass_at {
        let why = Msg::new("feed-why-busy").arg("percent", (au * 100.0).round());
        return (Some(Limit::Gpu), why);
    }
    let rest = disk.steps.get(1..).unwrap_or_default();
    let waited: f64 = rest.iter().map(|s| s.got_s - s.asked_s).sum();
    let copied: f64 = rest.iter().map(|s| s.copy_s).sum();
    if let Some(own) = own_share(disk, pass_at) {
        let why = Msg::new("feed-why-own")
            .seconds("own", own)
            .seconds("step", disk.model_step_s);
        return (None, why);
    }
    let longer = beyond(rest);
    if longer > waited && longer > copied {
        let why = Msg::new("feed-why-gpu-slow")
            .seconds("kernel", kernel_s(rest))
            .seconds("step", disk.model_step_s);
        return (Some(Limit::Gpu), why);
    }
    if copied > waited {
        let why = Msg::new("feed-why-copy")
            .seconds("copied", copied)
            .seconds("waited", waited);
        return (Some(Limit::Copy), why);
    }
    let (Some(memory), Some(from_disk), Some(from_memory)) = (
        passes.memory,
        supply(passes.disk_supply).or(supply(passes.disk)),
        supply(passes.memory_supply).or(supply(passes.memory)),
    ) else {
        return (None, Msg::new("feed-why-no-memory-pass"));
    };
    let from_memory_passes = memory.au.measured().is_some_and(|au| au >= pass_at);
    // twice as fast from memory: more than half of the time goes to the disk
    let spent = &passes.disk_supply.unwrap_or(disk).stages;
    let unpacking = spent.decode_s + spent.augment_s;
    // unpacking rows is not done again from memory, and is the processor's work all the same
    if tables && unpacking > spent.read_s + spent.batch_s {
        let why = Msg::new("feed-why-unpacking")
            .seconds("decode", unpacking)
            .seconds("read", spent.read_s);
        return (Some(Limit::Decode), why);
    }
    if from_memory_passes || from_memory >= 2.0 * from_disk {
        let why = Msg::new("feed-why-disk")
            .arg("disk", from_disk.round())
            .arg("memory", from_memory.round());
        return (Some(Limit::Disk), why);
    }
    let stages = &memory.stages;
    let decoding = stages.decode_s + stages.augment_s;
    let why = Msg::new("feed-why-workers")
        .arg("memory", from_memory.round())
        .seconds("decode", decoding)
        .seconds("batch", stages.batch_s);
    match decoding >= stages.batch_s + stages.read_s {
        true => (Some(Limit::Decode), why),
        false => (Some(Limit::Copy), why),
    }
}

/// Where this program's own orders to the GPUs, and hearing of their end, are what keeps a pass below the mark: seconds
/// of each step. A trainer has them too, but not these. Of a timed consumer it is what it overslept on a busy machine.
pub(super) fn own_share(pass: &FeedPass, pass_at: f64) -> Option<f64> {
    let steps = pass.steps.get(1..).unwrap_or_default();
    let of = |one: &dyn Fn(&StepTime) -> f64| steps.iter().map(one).sum::<f64>();
    let own = of(&|s| match s.kernel_s {
        Some(kernel_s) => s.end_s - s.got_s - s.copy_s - kernel_s.max(s.compute_s),
        None => s.end_s - s.got_s - s.copy_s - s.compute_s,
    });
    let (total, compute) = (of(&|s| s.end_s - s.asked_s), of(&|s| s.compute_s));
    let below = compute < pass_at * total;
    (below && compute >= pass_at * (total - own)).then(|| own / steps.len().max(1) as f64)
}

/// Seconds that kernels took beyond the model's time.
fn beyond(steps: &[StepTime]) -> f64 {
    let one = |s: &StepTime| (s.kernel_s.unwrap_or(0.0) - s.compute_s).max(0.0);
    steps.iter().map(one).sum()
}

/// The middle of what kernels took.
fn kernel_s(steps: &[StepTime]) -> f64 {
    let all: Vec<f64> = steps.iter().filter_map(|s| s.kernel_s).collect();
    step::median(&all).unwrap_or(0.0)
}

/// GPUs that would still be busy for `pass_at` of the time: what there is over what one takes.
pub(super) fn gpus_fed(rate: &Reading, options: &FeedOptions) -> Reading {
    let Some(step_s) = options.step_s else {
        return step::unknown(Why::NoStepTime, "");
    };
    match rate {
        Reading::Measured { value, .. } => {
            let one = options.batch as f64 / step_s * options.pass_at;
            Reading::Measured {
                value: value / one,
                samples: Vec::new(),
            }
        }
        other => other.clone(),
    }
}

/// What follows from the test; `held` samples were in memory for its passes.
pub(super) fn findings(report: &FeedReport, held: usize) -> Vec<Finding> {
    let mut out = Vec::new();
    let (options, set, cache) = (&report.options, &report.set, report.cache);
    match (report.delivers, options.step_s) {
        (Some(true), _) => {}
        (_, None) => {
            out.push(Finding::new(Severity::Note, "feed_not_paced", "feed", ""));
        }
        (None, Some(_)) => {
            let steps = report.passes.first().map_or(0, |p| p.steps.len());
            let words = match report.au.measured() {
                Some(_) => report.why.clone(),
                None => Msg::new("feed-why-few-steps").arg("n", steps),
            };
            let finding = Finding::new(
                Severity::Unknown,
                "feed_not_measured",
                "feed",
                steps.to_string(),
            );
            out.push(finding.words(words));
        }
        // the feed is not at fault: the card does not keep the pace that it had when the kernel was measured
        (Some(false), Some(step_s)) if report.limited_by == Some(Limit::Gpu) => {
            let steps = report.passes.first().map_or(&[][..], |p| &p.steps);
            let detail = format!("{:.4} s, {step_s} s", kernel_s(steps));
            let words = report.why.clone();
            out.push(Finding::new(Severity::Fail, "feed_gpu_slow", "feed", detail).words(words));
        }
        (Some(false), Some(_)) => {
            // pictures of our own are not what the user trains on: they only suggest
            let severity = match report.generated {
                true => Severity::Warn,
                false => Severity::Fail,
            };
            let percent = |r: &Reading| r.measured().map_or(0.0, |au| au * 100.0);
            let limit = report.limited_by.map_or("unknown", Limit::as_str);
            let detail = format!("{:.0} %, {limit}", percent(&report.au));
            let words = report.why.clone();
            out.push(Finding::new(severity, "feed_starved", "feed", detail).words(words));
        }
    }
    let mut push = |severity, code, detail: String| {
        out.push(Finding::new(severity, code, "feed", detail));
    };
    if report.damaged.count > 0 {
        let first = report.damaged.named.first();
        let first = first.map_or_else(String::new, |d| format!(", {}: {}", d.name, d.reason));
        let detail = format!("{} / {}{first}", report.damaged.count, set.samples);
        push(Severity::Warn, "samples_damaged", detail);
    }
    if cache.cached * 5 > cache.asked {
        let detail = format!("{} / {}", cache.cached, cache.asked);
        push(Severity::Warn, "samples_cached", detail);
    } else if cache.cannot_tell > 0 {
        push(Severity::Note, "cache_not_told", String::new());
    }
    if held < set.samples {
        let detail = format!("{held} / {}", set.samples);
        push(Severity::Note, "memory_pass_partial", detail);
    }
    if set.samples < options.batch * options.gpus * 10 {
        push(Severity::Note, "samples_few", set.samples.to_string());
    }
    if report.generated && set.samples < options.generated {
        let detail = format!("{} / {}", set.samples, options.generated);
        push(Severity::Note, "samples_made_few", detail);
    }
    if let Some(first) = set.notes.first() {
        let detail = format!("{}: {first}", set.notes.len());
        push(Severity::Note, "samples_left_out", detail);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use lessee_model::probe::Stages;

    /// Steps of 0.1 s that wait, copy and compute so long.
    fn pass(au: f64, [wait, copy, kernel]: [f64; 3], rate: f64, stages: Stages) -> FeedPass {
        let step = |i: usize| StepTime {
            asked_s: i as f64,
            got_s: i as f64 + wait,
            end_s: i as f64 + 1.0,
            copy_s: copy,
            compute_s: 0.1,
            kernel_s: Some(kernel),
        };
        FeedPass {
            source: "disk".to_owned(),
            model_step_s: 0.1,
            workers: 1,
            samples_per_step: 1,
            au: Reading::once(au),
            samples_per_second: Reading::once(rate),
            stages,
            curve: Vec::new(),
            stalls: Vec::new(),
            gpus: Vec::new(),
            steps: (0..5).map(step).collect(),
        }
    }

    fn limited(disk: &FeedPass, memory: &FeedPass, tables: bool) -> Option<Limit> {
        let passes = Passes {
            disk: Some(disk),
            memory: Some(memory),
            disk_supply: Some(disk),
            memory_supply: Some(memory),
        };
        limit(&passes, 0.9, tables).0
    }

    #[test]
    fn a_step_that_is_late_is_so_by_its_longest_part() {
        let of = |parts| {
            let slow = pass(0.5, parts, 10.0, Stages::default());
            limited(&slow, &slow, false)
        };
        assert_eq!(
            of([0.01, 0.02, 0.2]),
            Some(Limit::Gpu),
            "a kernel that became slow"
        );
        assert_eq!(of([0.01, 0.2, 0.1]), Some(Limit::Copy));
        let fed = pass(0.95, [0.0, 0.0, 0.1], 10.0, Stages::default());
        assert_eq!(limited(&fed, &fed, false), Some(Limit::Gpu));
    }

    #[test]
    fn what_only_this_program_costs_is_no_verdict() {
        // 0.1 s of 0.115 are computed, and without 0.01 of its own it would be enough
        let mut short = pass(0.87, [0.005, 0.0, 0.1], 10.0, Stages::default());
        for (i, step) in short.steps.iter_mut().enumerate() {
            (step.asked_s, step.got_s) = (i as f64 * 0.115, i as f64 * 0.115 + 0.005);
            step.end_s = step.asked_s + 0.115;
        }
        let own = own_share(&short, 0.9).unwrap();
        assert!((own - 0.01).abs() < 1e-9, "{own}");
        assert_eq!(limited(&short, &short, false), None);
        let starved = pass(0.1, [0.8, 0.0, 0.1], 10.0, Stages::default());
        assert_eq!(own_share(&starved, 0.9), None);
    }

    #[test]
    fn unpacking_rows_is_the_processors_work_and_not_the_disks() {
        let spent = |read_s, decode_s| Stages {
            read_s,
            decode_s,
            ..Stages::default()
        };
        let parts = [0.5, 0.0, 0.1];
        // from memory the rows lie there unpacked: it is much faster whatever is slow
        let memory = pass(0.95, [0.0, 0.0, 0.1], 100.0, spent(0.1, 0.5));
        let unpacks = pass(0.2, parts, 10.0, spent(1.0, 8.0));
        assert_eq!(limited(&unpacks, &memory, true), Some(Limit::Decode));
        let waits = pass(0.2, parts, 10.0, spent(8.0, 1.0));
        assert_eq!(limited(&waits, &memory, true), Some(Limit::Disk));
        assert_eq!(limited(&unpacks, &memory, false), Some(Limit::Disk));
    }
}
