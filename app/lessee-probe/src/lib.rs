//! The verb `probe`, for both binaries: arguments as typed, and what each form of it answers.
//!
//! A form returns a [`Report`](lessee_report::Report) and an exit status; printing is the binary's. Not here: reading
//! captures and machines (`io/probe`), what a curve means (`core/supervise`).

mod args;
mod failure;
mod input;
mod live;
mod read;
mod stop;
mod watch;

pub use args::{ProbeCommand, ProbeReadArgs, ProbeWatchArgs};
pub use failure::ProbeFailure;
pub use watch::WatchDoc;

use lessee_model::{Exit, GpuTable};
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
    /// Thresholds of curves, `data/curve.toml`.
    pub curves: &'a lessee_supervise::curve::Rules,
}

/// Does what was asked for.
///
/// # Errors
/// A file that cannot be read, or holds nothing that is understood.
pub fn run(
    command: &ProbeCommand,
    facts: Facts<'_>,
    texts: &Texts,
) -> Result<Answer, ProbeFailure> {
    match command {
        ProbeCommand::Read(args) => read::run(args, texts),
        ProbeCommand::Watch(args) => watch::run(args, facts, texts),
    }
}
