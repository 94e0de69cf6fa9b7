//! `probe ...`: the verb itself is `app/lessee-probe`, which the small binary shares.

use crate::facts;
use crate::failure::Failure;
use crate::output::{Printer, stderr_is_terminal, stderr_style, to_stderr};
use crate::settings::Settings;
use lessee_model::Exit;
use lessee_probe::{Facts, ProbeArgs, Screen, World};

pub(crate) fn run(
    args: &ProbeArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let builtin = facts::builtin()?;
    let curves = lessee_probe_io::curve_rules()?;
    let facts = Facts {
        gpus: &builtin.gpus,
        curves: &curves,
    };
    let live = stderr_is_terminal();
    let screen = Screen {
        write: &to_stderr,
        width: stderr_style().width,
        live,
        // a program that reads stderr finds one object there, or nothing
        quiet: settings.quiet.value || (settings.output.value.is_json() && !live),
    };
    let world = World {
        measured_at: settings.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        ssh_connection: std::env::var("SSH_CONNECTION").ok(),
        offline: settings.offline.value,
        screen,
    };
    let answer = lessee_probe::run(args, facts, &world, printer.texts())?;
    printer.report(answer.report)?;
    Ok(answer.exit)
}
