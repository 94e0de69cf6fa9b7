//! `probe ...`: the verb itself is `app/lessee-probe`, which the small binary shares.

use crate::facts;
use crate::failure::Failure;
use crate::output::Printer;
use lessee_model::Exit;
use lessee_probe::{Facts, ProbeCommand};

pub(crate) fn run(command: &ProbeCommand, printer: &Printer) -> Result<Exit, Failure> {
    let builtin = facts::builtin()?;
    let curves = lessee_probe_io::curve_rules()?;
    let facts = Facts {
        gpus: &builtin.gpus,
        curves: &curves,
    };
    let answer = lessee_probe::run(command, facts, printer.texts())?;
    printer.report(answer.report)?;
    Ok(answer.exit)
}
