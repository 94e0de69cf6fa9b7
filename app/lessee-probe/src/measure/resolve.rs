//! What was typed, checked before anything is measured: which steps, and that every flag has one that heeds it.

use crate::{MeasureArgs, ProbeFailure};
use lessee_model::did_you_mean;
use lessee_probe_io::budget::Step;
use std::collections::BTreeSet;
use std::path::Path;

/// The steps of `--only`; none named: all. Figures of GPUs need the look.
pub(super) fn steps(args: &MeasureArgs) -> Result<BTreeSet<Step>, ProbeFailure> {
    if args.only.is_empty() {
        return Ok(Step::ALL.into_iter().collect());
    }
    let mut steps = BTreeSet::new();
    for word in &args.only {
        let word = word.trim();
        let step = Step::ALL.into_iter().find(|s| s.as_str() == word);
        steps.insert(step.ok_or_else(|| {
            let names = Step::ALL.map(Step::as_str);
            ProbeFailure::UnknownStep {
                step: word.to_owned(),
                meant: did_you_mean(word, names).map(str::to_owned),
                known: names.join(", "),
            }
        })?);
    }
    // no load is put on what is not proved
    if [Step::Tensor, Step::AllReduce]
        .iter()
        .any(|s| steps.contains(s))
    {
        steps.insert(Step::Gpu);
    }
    if steps.contains(&Step::Gpu) {
        steps.insert(Step::Look);
    }
    Ok(steps)
}

/// A flag, whether it was typed, and the steps that heed it.
type Heeded = (&'static str, bool, &'static [Step]);

pub(super) fn check(
    args: &MeasureArgs,
    steps: &BTreeSet<Step>,
    offline: bool,
) -> Result<(), ProbeFailure> {
    const FEED: &[Step] = &[Step::Feed];
    let flags: [Heeded; 10] = [
        (
            "--samples",
            args.samples.is_some(),
            &[Step::Feed, Step::Disk],
        ),
        ("--folder", args.folder.is_some(), &[Step::Disk, Step::Feed]),
        ("--step-seconds", args.step_seconds.is_some(), FEED),
        ("--batch", args.batch.is_some(), FEED),
        ("--side", args.side.is_some(), FEED),
        ("--workers", args.workers.is_some(), FEED),
        ("--host", args.host.is_some(), &[Step::Net]),
        ("--s3", args.s3.is_some(), &[Step::Net]),
        ("--device-mib", args.device_mib.is_some(), &[Step::Gpu]),
        ("--model", args.model.is_some(), &[Step::Look]),
    ];
    for (flag, typed, heeding) in flags {
        if typed && !heeding.iter().any(|s| steps.contains(s)) {
            let step = heeding.first().map_or("", |s| s.as_str());
            return Err(ProbeFailure::Unheeded { flag, step });
        }
    }
    for folder in [&args.samples, &args.folder].into_iter().flatten() {
        readable(folder)?;
    }
    if let Some(host) = &args.host {
        let port = host.rsplit_once(':').filter(|(name, _)| !name.is_empty());
        if port.is_none_or(|(_, port)| port.parse::<u16>().is_err()) {
            return Err(ProbeFailure::Host { host: host.clone() });
        }
        if offline {
            return Err(ProbeFailure::Offline { host: host.clone() });
        }
    }
    if let (Some(bucket), true) = (&args.s3, offline) {
        return Err(ProbeFailure::Offline {
            host: format!("--s3 {}", bucket.split("@").last().unwrap_or("")),
        });
    }
    match args.device_mib {
        Some(mib) if !(1..=65536).contains(&mib) => Err(ProbeFailure::DeviceMib { mib }),
        _ => Ok(()),
    }
}

/// A folder that was named must be one; that it can be written is for the step to find out.
fn readable(folder: &Path) -> Result<(), ProbeFailure> {
    match std::fs::read_dir(folder) {
        Ok(_) => Ok(()),
        Err(error) => Err(ProbeFailure::Folder {
            path: folder.display().to_string(),
            detail: error.to_string(),
        }),
    }
}
