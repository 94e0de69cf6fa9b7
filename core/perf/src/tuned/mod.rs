//! What a vendor's tuned stack reaches for a job: the other tier beside [`crate::predict`], whose figures are what a
//! renter gets from default settings.
//!
//! What it is: the tuned families of `formula` asked for a job. What it is not: a promise; plans never use it. Only
//! serving language models and training vision networks of the MLPerf rounds have tuned families: all else is refused
//! with `no_tuned`. Start at [`predict_tuned`], then the file of the job.

mod serve;
mod vision;

use crate::nofit::NoFit;
use crate::predict::{Group, PerfContext};
use crate::spec::Device;
use lessee_model::{
    Machine, Msg, Prediction,
    workload::{Data, Job},
};

/// As [`crate::predict`], on a vendor-tuned stack.
///
/// # Errors
/// Those of [`crate::predict`], and `no_tuned` where no tuned run tells anything about the job.
pub fn predict_tuned(
    job: &Job,
    data: &Data,
    machine: &Machine,
    nodes: u32,
    cx: PerfContext<'_>,
) -> Result<Prediction, NoFit> {
    let nodes = nodes.max(1);
    let device = Device::of_machine(machine, cx)?;
    let outcome = match job {
        Job::Serve(job) => serve::predict(job, machine, &device, nodes, cx),
        Job::Train(job) if !job.counts_tokens() => {
            let group = Group::whole(machine, &device, nodes, cx);
            vision::predict(job, data, &group)
        }
        Job::Train(job) => Err(no_tuned(&job.model.name)),
        Job::Sweep(_) => Err(no_tuned("sweep")),
        Job::Render(_) => Err(no_tuned("render")),
        Job::Hours(_) => Err(no_tuned("hours")),
    }?;
    Ok(outcome.finish(cx))
}

/// `what`: the model, or the kind of job.
fn no_tuned(what: &str) -> NoFit {
    NoFit::new("no_tuned", Msg::new("perf-no-tuned").arg("what", what))
}
