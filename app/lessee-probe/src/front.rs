//! The verb as a command of either binary: settings and the place it runs in become [`World`], the answer is printed.

use crate::{Facts, ProbeArgs, Screen, World};
use lessee_console::{Failure, Printer, Settings, stderr_is_terminal, stderr_style, to_stderr};
use lessee_model::Exit;

/// Does what was asked for, and prints it.
///
/// # Errors
/// As [`crate::run`], or what cannot be printed.
pub fn command(args: &ProbeArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let builtin = lessee_catalog::builtin()?;
    let curves = lessee_probe_io::curve_rules()?;
    let facts = Facts {
        gpus: &builtin.gpus,
        models: &builtin.models,
        perf: &builtin.perf,
        defaults: &builtin.defaults,
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
    let answer = crate::run(args, facts, &world, printer.texts())?;
    printer.report(answer.report)?;
    Ok(answer.exit)
}
