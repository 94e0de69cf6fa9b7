//! Where the seconds of one optimizer step go: arithmetic, and waiting for gradients. The figures are those with which
//! `predict` reaches its speed, so that a probe and a plan cannot differ.
//!
//! Not here: how long either takes (`train`, `vision`, `sync`).

use crate::nofit::NoFit;
use crate::predict::{PerfContext, outcome};
use crate::sync::{Bus, BusKind};
use lessee_model::probe::StepShare;
use lessee_model::{Machine, Msg, workload::Data, workload::Job};

/// Seconds of one optimizer step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepSeconds {
    pub(crate) compute: f64,
    /// As if nothing hid it.
    pub(crate) sync: f64,
    pub(crate) tensor: f64,
    pub(crate) total: f64,
}

/// With the link at its slowest, as usual, and at its fastest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    pub(crate) at: [StepSeconds; 3],
    pub(crate) bus: Bus,
}

/// Where the seconds of an optimizer step go; the job is a training, or nothing is known of steps.
///
/// # Errors
/// As [`predict`](crate::predict); `not_a_training`.
pub fn training_step(
    job: &Job,
    data: &Data,
    machine: &Machine,
    nodes: u32,
    cx: PerfContext<'_>,
) -> Result<StepShare, NoFit> {
    let outcome = outcome(job, data, machine, nodes, cx)?;
    let Some(Steps { at, bus }) = outcome.steps else {
        return Err(NoFit::new(
            "not_a_training",
            Msg::new("perf-not-a-training"),
        ));
    };
    let [slow, usual, fast] = at;
    // what is longer than arithmetic and exchanges within layers
    let share = |s: StepSeconds| ((s.total - s.compute - s.tensor) / s.total).clamp(0.0, 1.0);
    let bare = slow.sync / (slow.compute + slow.tensor + slow.sync);
    let gpus = u32::from(machine.gpu_count) * nodes.max(1);
    let alone = gpus <= 1;
    Ok(StepShare {
        gpus,
        step_s: usual.total,
        compute_s: usual.compute,
        sync_s: if alone { 0.0 } else { usual.sync },
        tensor_parallel_s: usual.tensor,
        sync_share: if alone { 0.0 } else { share(usual) },
        sync_share_low: if alone { 0.0 } else { share(fast) },
        sync_share_high: if alone {
            0.0
        } else {
            bare.clamp(share(usual), 1.0)
        },
        bus_gbs: (bus.kind != BusKind::Alone).then_some(bus.mid / 1e9),
        bus_basis: bus.source(cx).1,
        sync_in_compute: bus.kind == BusKind::Link,
    })
}

/// The sentence for people on a step of this model.
pub fn step_msg(step: &StepShare, model: &str) -> Msg {
    if step.gpus <= 1 {
        return Msg::new("perf-sync-alone").arg("model", model);
    }
    let percent = |share: f64| format!("{:.0}", 100.0 * share);
    let id = match step.sync_in_compute {
        true => "perf-sync-share-modelled",
        false => "perf-sync-share",
    };
    Msg::new(id)
        .arg("model", model)
        .arg("gpus", step.gpus)
        .arg("share", percent(step.sync_share))
        .arg("low", percent(step.sync_share_low))
        .arg("high", percent(step.sync_share_high))
        .seconds("compute", step.compute_s)
        .seconds("sync", step.sync_s)
        .seconds("step", step.step_s)
        .arg("bus", format!("{:.0}", step.bus_gbs.unwrap_or(0.0)))
}
