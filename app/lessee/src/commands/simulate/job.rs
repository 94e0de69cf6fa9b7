//! What is asked: the job in hours, the prices, how many machines. From flags alone; `workload.rs` does it from a
//! workload.

use super::{failures, needed};
use crate::args::SimulateArgs;
use lessee_console::Failure;
use lessee_report::simulate::NoteDoc;
use lessee_spot::job::{Saves, hours_to_ms};
use lessee_spot::{Asked, Job};

/// A job ready to be replayed.
pub(super) struct AskedJob {
    pub job: Job,
    pub gang: u32,
    /// USD an hour of one machine; `None`: the records must know.
    pub spot_price: Option<f64>,
    pub on_demand_price: Option<f64>,
    /// The machine of the catalog that the workload runs on.
    pub machine: Option<String>,
    pub notes: Vec<NoteDoc>,
}

impl AskedJob {
    pub(super) fn of_market(&self) -> Asked {
        Asked {
            gang: self.gang,
            spot_price: self.spot_price,
            on_demand_price: self.on_demand_price,
        }
    }
}

/// By flags alone.
pub(super) fn asked(args: &SimulateArgs) -> Result<AskedJob, Failure> {
    let work = args.job_hours.ok_or_else(|| needed("--job-hours"))?;
    let deadline = args
        .deadline_hours
        .ok_or_else(|| needed("--deadline-hours"))?;
    let overhead = args
        .overhead_hours
        .ok_or_else(|| needed("--overhead-hours"))?;
    let mut job = Job::new(work, deadline, overhead).map_err(|e| failures::job(&e))?;
    job.checkpoint_gb = args.checkpoint_gb.unwrap_or(0.0);
    job.saves = saves(args);
    job.billing_ms = billing_ms(args);
    Ok(AskedJob {
        job,
        gang: args.gang.unwrap_or(1),
        spot_price: args.spot_price,
        on_demand_price: args.on_demand_price,
        machine: None,
        notes: Vec::new(),
    })
}

/// Periodic saves, where they are asked for.
pub(super) fn saves(args: &SimulateArgs) -> Option<Saves> {
    args.save_every_hours.map(|hours| Saves {
        every_ms: hours_to_ms(hours).max(1),
        block_ms: (args.save_seconds * 1000.0).round() as i64,
    })
}

/// The billing increment, in ms; 0: whole ticks.
pub(super) fn billing_ms(args: &SimulateArgs) -> i64 {
    args.billing_seconds
        .map_or(0, |seconds| ((seconds * 1000.0).round() as i64).max(1))
}
