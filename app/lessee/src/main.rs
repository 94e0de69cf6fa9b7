//! `lessee`: argv -> [`args`] (as typed) -> settings (as resolved) -> [`commands`] -> output -> exit status. What is the same
//! for each binary is in `app/console`.
//!
//! What it is not: a place for decisions (they are in `core/`) or for talking to the world (`io/`).

mod args;
mod commands;
mod facts;

use lessee_console::Program;
use std::process::ExitCode;

fn main() -> ExitCode {
    lessee_console::run(&Program {
        name: "lessee",
        command: args::command,
        parse: args::parse,
        global: |cli: &args::Cli| &cli.global,
        run: commands::run,
    })
}
