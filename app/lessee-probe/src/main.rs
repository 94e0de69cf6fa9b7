//! `lessee-probe`: the verb `probe` alone, in one file to be copied to a rented machine. `lessee-probe --quick` is
//! `lessee probe --quick`, and a leading `probe` is put up with.

use clap::{CommandFactory, FromArgMatches, Parser};
use lessee_console::{Failure, GlobalArgs, Printer, Program, Settings};
use lessee_model::Exit;
use lessee_probe::ProbeArgs;
use lessee_report::Texts;
use std::ffi::OsString;
use std::process::ExitCode;

/// Measure this machine: does it deliver? Or read what others paste of one, and what the curve of a job shows.
#[derive(Debug, Parser)]
#[command(
    name = "lessee-probe",
    version,
    disable_help_subcommand = true,
    infer_subcommands = false,
    max_term_width = 100
)]
struct Cli {
    #[command(flatten)]
    probe: ProbeArgs,
    #[command(flatten)]
    global: GlobalArgs,
}

fn main() -> ExitCode {
    lessee_console::run(&Program {
        name: "lessee-probe",
        command,
        parse,
        global: |cli: &Cli| &cli.global,
        run,
    })
}

fn command(texts: Option<&Texts>) -> clap::Command {
    let tree = Cli::command();
    match texts {
        Some(texts) => lessee_console::translate(tree, "cli-probe", |id, _| id, texts),
        None => tree,
    }
}

fn parse(mut argv: Vec<OsString>, texts: Option<&Texts>) -> Result<Cli, clap::Error> {
    if argv.get(1).is_some_and(|word| word == "probe") {
        argv.remove(1);
    }
    Cli::from_arg_matches(&command(texts).try_get_matches_from(argv)?)
}

fn run(cli: Cli, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    lessee_probe::command(&cli.probe, settings, printer)
}
