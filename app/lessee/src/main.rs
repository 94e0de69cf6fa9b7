//! `lessee`: argv -> [`args`] (as typed) -> [`settings`] (as resolved) -> [`commands`] -> [`output`] -> exit status.
//!
//! What it is not: a place for decisions (they are in `core/`) or for talking to the world (`io/`).

mod args;
mod commands;
mod facts;
mod failure;
mod output;
mod settings;

use crate::args::{Parsed, parse, wants_json};
use crate::output::{ErrorOutput, Printer};
use crate::settings::{Settings, provisional_lang};
use lessee_model::Exit;
use lessee_report::Lang;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let argv: Vec<OsString> = std::env::args_os().collect();
    let lang = provisional_lang(&argv);
    output::report_bugs_in(lang);
    let exit = std::panic::catch_unwind(|| run(argv, lang)).unwrap_or(Exit::Bug);
    ExitCode::from(exit as u8)
}

fn run(argv: Vec<OsString>, lang: Lang) -> Exit {
    let mut errors = ErrorOutput::new(lang, wants_json(&argv));
    let help = (lang != Lang::En).then_some(errors.texts());
    let cli = match parse(argv, help) {
        Parsed::Run(cli) => cli,
        Parsed::Said(said) => return errors.clap(&said),
    };
    let settings = match Settings::resolve(&cli.global) {
        Ok(settings) => settings,
        Err(failure) => return errors.failure(&failure),
    };
    if settings.lang.value != lang || settings.output.value.is_json() {
        errors = ErrorOutput::new(settings.lang.value, settings.output.value.is_json());
    }
    let printer = Printer::new(&settings);
    match commands::run(*cli, &settings, &printer) {
        Ok(exit) => exit,
        Err(failure) => errors.failure(&failure),
    }
}
