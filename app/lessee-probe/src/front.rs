//! The verb as a command of either binary: settings and the place it runs in become [`World`], the answer is printed.

use crate::{Facts, ProbeArgs, Screen, World};
use lessee_console::{Failure, Printer, Settings, stderr_is_terminal, stderr_style, to_stderr};
use lessee_model::{Exit, Explain};

/// Problems of the user's own tables that are told.
const LISTED: usize = 5;

/// Does what was asked for, and prints it.
///
/// # Errors
/// As [`crate::run`], or what cannot be printed.
pub fn command(args: &ProbeArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let mut builtin = lessee_catalog::builtin()?;
    if args.asks_for_offer() {
        let store = lessee_catalog::Store::open(&settings.data_dir.value)
            .with_cache(&settings.cache_dir.value);
        let loaded = store.load_all(&builtin)?;
        builtin.catalog = loaded.catalog;
        for problem in loaded.problems.iter().take(LISTED) {
            printer.warn(&problem.msg());
        }
    }
    let curves = lessee_probe_io::curve_rules()?;
    let facts = Facts::of(&builtin, &curves);
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
