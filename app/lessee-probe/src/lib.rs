//! The verb `probe`, for both binaries: arguments as typed, and what each form of it answers.
//!
//! Start with [`command`]. A form returns a [`Report`](lessee_report::Report) and an exit status. Not here: reading
//! captures and machines (`io/probe`), what a curve means (`core/supervise`).

mod args;
mod diff;
mod failure;
mod front;
mod input;
mod judge;
mod live;
mod measure;
mod page;
mod read;
mod stop;
mod stored;
mod watch;

pub use args::{
    MeasureArgs, ProbeArgs, ProbeCommand, ProbeDiffArgs, ProbeJudgeArgs, ProbeReadArgs,
    ProbeWatchArgs,
};
pub use failure::ProbeFailure;
pub use front::command;
pub use judge::{judged, offer_exists};
pub use lessee_accept::ProbeDiff;
pub use watch::WatchDoc;

use lessee_model::workload::Defaults;
use lessee_model::{Exit, GpuTable, ModelTable};
use lessee_perf::PerfTables;
use lessee_report::{Report, Texts};

/// What a form of the verb has to say.
#[derive(Debug)]
pub struct Answer {
    pub report: Report,
    pub exit: Exit,
}

/// What the verb needs to know beside its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub gpus: &'a GpuTable,
    /// Offers, with the user's own where one may be asked for, and what is usual.
    pub catalog: &'a lessee_catalog::Facts,
    pub models: &'a ModelTable,
    pub perf: &'a PerfTables,
    /// What a workload takes where nothing is said.
    pub defaults: &'a Defaults,
    /// Thresholds of curves, `data/curve.toml`.
    pub curves: &'a lessee_supervise::curve::Rules,
}

impl<'a> Facts<'a> {
    pub fn of(
        catalog: &'a lessee_catalog::Facts,
        curves: &'a lessee_supervise::curve::Rules,
    ) -> Facts<'a> {
        Facts {
            gpus: &catalog.gpus,
            catalog,
            models: &catalog.models,
            perf: &catalog.perf,
            defaults: &catalog.defaults,
            curves,
        }
    }
}

/// What the binary knows of where it runs.
pub struct World<'a> {
    /// RFC 3339, UTC.
    pub measured_at: String,
    /// The variable of this name that sshd sets.
    pub ssh_connection: Option<String>,
    /// Nothing may be sent, whatever is asked for.
    pub offline: bool,
    pub screen: Screen<'a>,
}

/// Where progress is shown.
#[derive(Clone, Copy)]
pub struct Screen<'a> {
    /// Writes text as it is.
    pub write: &'a (dyn Fn(&str) + Sync),
    pub width: usize,
    /// A line can be drawn over.
    pub live: bool,
    pub quiet: bool,
}

/// Does what was asked for.
///
/// # Errors
/// A file that cannot be read or holds nothing that is understood; flags that make no sense.
pub fn run(
    args: &ProbeArgs,
    facts: Facts<'_>,
    world: &World<'_>,
    texts: &Texts,
) -> Result<Answer, ProbeFailure> {
    if args.form.is_some() && args.measure != MeasureArgs::default() {
        return Err(ProbeFailure::FormTakesNone);
    }
    match &args.form {
        None => measure::run(&args.measure, facts, world, texts),
        Some(ProbeCommand::Read(args)) => read::run(args, texts),
        Some(ProbeCommand::Judge(args)) => judge::run(args, facts, texts),
        Some(ProbeCommand::Diff(args)) => diff::run(args, facts, texts),
        Some(ProbeCommand::Watch(args)) => watch::run(args, facts, world.screen, texts),
    }
}
