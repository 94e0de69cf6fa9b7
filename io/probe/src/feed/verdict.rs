//! What the passes say together: which stage limits, whether the machine delivers, how many GPUs it can feed.

use super::FeedOptions;
use super::pass::Pass;
use crate::step;
use lessee_model::probe::Reading;
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
    pub(super) disk: Option<&'a Pass>,
    pub(super) memory: Option<&'a Pass>,
    pub(super) disk_supply: Option<&'a Pass>,
    pub(super) memory_supply: Option<&'a Pass>,
}

fn supply(pass: Option<&Pass>) -> Option<f64> {
    pass?.samples_per_second.measured()
}

/// The stage and the sentence that says why; `None` where it cannot be told.
pub(super) fn limit(passes: &Passes<'_>, pass_at: f64) -> (Option<Limit>, String) {
    let Some(disk) = passes.disk else {
        return (None, "no step time was given, so nothing waits".to_owned());
    };
    let Some(au) = disk.au.measured() else {
        return (None, "the utilisation was not measured".to_owned());
    };
    if au >= pass_at {
        let why = format!("the accelerator computes {:.0} % of the time", au * 100.0);
        return (Some(Limit::Gpu), why);
    }
    let rest = disk.steps.get(1..).unwrap_or_default();
    let waited: f64 = rest.iter().map(|s| s.got_s - s.asked_s).sum();
    let copied: f64 = rest.iter().map(|s| s.copy_s).sum();
    if copied > waited {
        let why = format!(
            "copies to the accelerator take {copied:.2} s, waiting for batches {waited:.2} s"
        );
        return (Some(Limit::Copy), why);
    }
    let (Some(memory), Some(from_disk), Some(from_memory)) = (
        passes.memory,
        supply(passes.disk_supply).or(supply(passes.disk)),
        supply(passes.memory_supply).or(supply(passes.memory)),
    ) else {
        return (
            None,
            "the pass from memory was not measured, so disk and processor cannot be told apart"
                .to_owned(),
        );
    };
    let from_memory_passes = memory.au.measured().is_some_and(|au| au >= pass_at);
    // twice as fast from memory: more than half of the time goes to the disk
    if from_memory_passes || from_memory >= 2.0 * from_disk {
        let why = format!(
            "{from_disk:.0} samples/s from disk, {from_memory:.0} from memory with the same workers"
        );
        return (Some(Limit::Disk), why);
    }
    let stages = &memory.stages;
    let decoding = stages.decode_s + stages.augment_s;
    let why = format!(
        "{from_memory:.0} samples/s even from memory; of the workers' time {decoding:.2} s decode and resize, {:.2} s copy into batches",
        stages.batch_s
    );
    match decoding >= stages.batch_s + stages.read_s {
        true => (Some(Limit::Decode), why),
        false => (Some(Limit::Copy), why),
    }
}

/// GPUs that would still be busy for `pass_at` of the time: what there is over what one takes.
pub(super) fn gpus_fed(rate: &Reading, options: &FeedOptions) -> Reading {
    let Some(step_s) = options.step_s else {
        return step::unknown("no step time was given: it is what one GPU takes");
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
