//! The front door: picks the formula for the job.

use crate::nofit::NoFit;
use crate::outcome::Outcome;
use crate::spec::Device;
use crate::tables::PerfTables;
use crate::{hours, render, serve, sweep, train, vision};
use lessee_model::{
    GpuTable, Machine, Prediction, ProbeReport,
    workload::{Data, Job},
};

/// What a prediction may draw upon.
#[derive(Clone, Copy)]
pub struct PerfContext<'a> {
    pub gpus: &'a GpuTable,
    pub tables: &'a PerfTables,
    /// A probe of this very machine; replaces table values.
    pub measured: Option<&'a ProbeReport>,
    /// Fill in terms and formulas: slower, for `--explain`.
    pub detail: bool,
}

/// GPUs that work on one model together.
pub(crate) struct Group<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) device: &'a Device<'a>,
    pub(crate) gpus_per_node: u32,
    pub(crate) nodes: u32,
    /// Share of each machine's CPU and network that this group may use, 0..=1.
    pub(crate) host_share: f64,
    pub(crate) cx: PerfContext<'a>,
}

impl<'a> Group<'a> {
    /// All GPUs of so many machines, with all that the machines have.
    pub(crate) fn whole(
        machine: &'a Machine,
        device: &'a Device<'a>,
        nodes: u32,
        cx: PerfContext<'a>,
    ) -> Group<'a> {
        Group {
            machine,
            device,
            gpus_per_node: u32::from(machine.gpu_count),
            nodes,
            host_share: 1.0,
            cx,
        }
    }
}

/// Useful units per second of `nodes` such machines together, with a range meant to hold 80 % of
/// measured values.
///
/// Units: tokens (training of language models; output tokens when serving), samples, frames, trials,
/// hours of the GPU that the user measured on.
///
/// # Errors
/// [`NoFit`]: the machine cannot do it, or a fact that the formula needs is not known.
pub fn predict(
    job: &Job,
    data: &Data,
    machine: &Machine,
    nodes: u32,
    cx: PerfContext<'_>,
) -> Result<Prediction, NoFit> {
    Ok(outcome(job, data, machine, nodes, cx)?.finish(cx))
}

/// What [`predict`] rounds off to a prediction.
pub(crate) fn outcome(
    job: &Job,
    data: &Data,
    machine: &Machine,
    nodes: u32,
    cx: PerfContext<'_>,
) -> Result<Outcome, NoFit> {
    let nodes = nodes.max(1);
    let device = Device::of_machine(machine, cx)?;
    match job {
        Job::Train(job) => {
            let group = Group::whole(machine, &device, nodes, cx);
            if job.counts_tokens() {
                train::predict(job, data, data.reads, &group)
            } else {
                vision::predict(job, data, data.reads, &group)
            }
        }
        Job::Sweep(job) => sweep::predict(job, data, machine, &device, nodes, cx),
        Job::Serve(job) => serve::predict(job, machine, &device, nodes, cx),
        Job::Render(job) => render::predict(job, machine, &device, nodes, cx),
        Job::Hours(job) => hours::predict(job, machine, &device, nodes, cx),
    }
}
