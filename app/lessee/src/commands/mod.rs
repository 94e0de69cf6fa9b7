//! One file a verb: facts in, core decides, a report out. No command prints by itself.

mod accept;
mod buy;
mod catalog;
mod completions;
mod config;
mod doctor;
mod input;
mod plan;
mod predict;
mod providers;
mod schema;
mod simulate;
mod trace;
mod version;

use crate::args::{Cli, Command};
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::Exit;

pub(crate) fn run(cli: Cli, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    if cli.version {
        return version::run(cli.verbose, settings, printer);
    }
    match cli.command {
        Some(Command::Plan(args)) => plan::run(*args, settings, printer),
        Some(Command::Predict(args)) => predict::run(*args, settings, printer),
        Some(Command::Buy(args)) => buy::run(&args, settings, printer),
        Some(Command::Catalog(command)) => catalog::run(command, settings, printer),
        Some(Command::Trace(command)) => trace::run(&command, settings, printer),
        Some(Command::Simulate(args)) => simulate::run(&args, settings, printer),
        Some(Command::Probe(args)) => lessee_probe::command(&args, settings, printer),
        Some(Command::Accept(args)) => accept::run(&args, settings, printer),
        Some(Command::Schema(args)) => schema::run(&args, printer),
        Some(Command::Config(command)) => config::run(&command, settings, printer),
        Some(Command::Doctor) => doctor::run(settings, printer),
        Some(Command::Completions(args)) => completions::run(&args, printer),
        Some(Command::Man(args)) => completions::man(&args),
        None => Err(Failure::usage(lessee_model::Msg::new("no-command"))
            .hint(lessee_model::Msg::new("hint-help"))),
    }
}
