//! Independent trials: trials per second = trials at once / seconds of one trial.
//!
//! A trial takes `gpus_per_trial` GPUs: of one machine where they are enough, else of several. The
//! user's `parallel` and the number of trials cap how many run at once over the fleet.

use crate::hours::{check_memory, ratio};
use crate::nofit::NoFit;
use crate::outcome::{Outcome, Terms};
use crate::predict::{Group, PerfContext};
use crate::spec::{Device, RateKind};
use crate::{train, vision};
use lessee_model::{
    Basis, Machine, Msg, WorkUnit,
    perf::Layout,
    workload::{Data, LeansOn, SweepJob, Trial},
};

/// How the trials lie on the machines.
struct Placement {
    gpus_per_node: u32,
    nodes_per_trial: u32,
    per_machine: u32,
    fleet: u32,
}

fn place(gpus_per_trial: u32, gpus: u32, nodes: u32) -> Option<Placement> {
    let wanted = gpus_per_trial.max(1);
    if wanted <= gpus {
        let per_machine = gpus / wanted;
        return Some(Placement {
            gpus_per_node: wanted,
            nodes_per_trial: 1,
            per_machine,
            fleet: per_machine.saturating_mul(nodes),
        });
    }
    // whole machines: a trial that leaves part of one idle pays for it
    let nodes_per_trial = wanted.div_ceil(gpus.max(1));
    let fleet = nodes / nodes_per_trial;
    (fleet > 0).then_some(Placement {
        gpus_per_node: gpus,
        nodes_per_trial,
        per_machine: 1,
        fleet,
    })
}

/// Trials per second of `nodes` machines.
///
/// # Errors
/// `too_few_gpus`, and whatever the single trial fails with.
pub(crate) fn predict(
    job: &SweepJob,
    data: &Data,
    machine: &Machine,
    device: &Device<'_>,
    nodes: u32,
    cx: PerfContext<'_>,
) -> Result<Outcome, NoFit> {
    let gpus = u32::from(machine.gpu_count);
    let Some(placement) = place(job.gpus_per_trial, gpus, nodes) else {
        return Err(NoFit::new(
            "too_few_gpus",
            Msg::new("perf-too-few-gpus-for-trial")
                .arg("needed", job.gpus_per_trial)
                .arg("available", gpus.saturating_mul(nodes)),
        ));
    };
    let at_once = placement
        .fleet
        .min(job.parallel.unwrap_or(u32::MAX))
        .min(job.trials)
        .max(1);
    let at_once = f64::from(at_once);
    let mut outcome = match &job.trial {
        Trial::Train(trial) => {
            let group = Group {
                machine,
                device,
                gpus_per_node: placement.gpus_per_node,
                nodes: placement.nodes_per_trial,
                host_share: 1.0 / f64::from(placement.per_machine),
                cx,
            };
            // the data are read `reads` times during the whole sweep
            let reads = data.reads / f64::from(job.trials.max(1));
            let mut one = if trial.counts_tokens() {
                train::predict(trial, data, reads, &group)?
            } else {
                vision::predict(trial, data, reads, &group)?
            };
            for speed in [&mut one.per_second, &mut one.link_low, &mut one.link_high] {
                *speed = *speed / trial.units * at_once;
            }
            one
        }
        Trial::Hours { hours, gpu, memory } => {
            let memory = check_memory(*memory, device)?;
            let speed = ratio(device, gpu, LeansOn::Balanced, cx)?;
            let mut notes = Vec::new();
            device.notes(RateKind::Native, &mut notes);
            let per_second = at_once * speed.value / (hours * 3600.0);
            Outcome {
                steps: None,
                unit: WorkUnit::Trial,
                per_second,
                link_low: per_second,
                link_high: per_second,
                class: speed.class,
                fitted: None,
                measured: device.measured,
                bound_by: speed.bound_by,
                memory,
                layout: Layout {
                    data_parallel: job.gpus_per_trial,
                    tensor_parallel: 1,
                    pipeline_parallel: 1,
                    batch: 1.0,
                    ..Layout::default()
                },
                terms: Terms::new(cx),
                notes,
                seconds_per_output_token: None,
            }
        }
    };
    outcome.unit = WorkUnit::Trial;
    let per_second = outcome.per_second;
    outcome.terms.add(
        "trials_at_once",
        at_once,
        "trials",
        Basis::Modelled,
        "arithmetic",
        || {
            Msg::new("formula-trials-at-once")
                .arg("each", placement.per_machine)
                .arg("nodes", nodes)
                .arg("most", job.parallel.unwrap_or(job.trials))
                .arg("trials", job.trials)
        },
    );
    outcome.terms.add(
        "seconds_per_trial",
        at_once / per_second,
        "s",
        Basis::Modelled,
        "arithmetic",
        || Msg::new("formula-gpus-per-trial").arg("gpus", job.gpus_per_trial),
    );
    Ok(outcome)
}
