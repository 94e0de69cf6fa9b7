//! What both binaries do at a terminal: flags that every command takes, settings, printing, and how a failure is shown.
//!
//! Start with [`run`]. Not here: commands, decisions, what an answer looks like (`app/report`).

mod failure;
mod global;
mod help;
mod output;
mod settings;
pub mod stop;

pub use failure::Failure;
pub use global::{GlobalArgs, wants_json};
pub use help::{Described, translate};
pub use output::{ErrorOutput, Printer, ask, stderr_is_terminal, stderr_style, to_stderr};
pub use settings::{KEYS, Layers, Origin, Setting, Settings, provisional_lang};

use lessee_model::{Exit, Msg};
use lessee_report::{Lang, Texts};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// A binary: what it is called, what may be typed, what is done.
pub struct Program<C> {
    pub name: &'static str,
    /// The whole command tree; help in the language of the texts, `None`: the doc comments.
    pub command: fn(Option<&Texts>) -> clap::Command,
    /// What was typed.
    ///
    /// # Errors
    /// Help, a version, or a usage error, as the parser words it.
    pub parse: fn(Vec<OsString>, Option<&Texts>) -> Result<C, clap::Error>,
    pub global: fn(&C) -> &GlobalArgs,
    /// # Errors
    /// What the command could not do.
    pub run: fn(C, &Settings, &Printer) -> Result<Exit, Failure>,
}

/// argv -> as typed -> [`Settings`] -> the command -> exit status. A panic is a bug and says so.
pub fn run<C>(program: &Program<C>) -> ExitCode {
    let argv: Vec<OsString> = std::env::args_os().collect();
    let lang = provisional_lang(&argv);
    output::report_bugs_in(lang);
    let all = std::panic::AssertUnwindSafe(|| within(program, argv, lang));
    let exit = std::panic::catch_unwind(all).unwrap_or(Exit::Bug);
    ExitCode::from(exit as u8)
}

fn within<C>(program: &Program<C>, argv: Vec<OsString>, lang: Lang) -> Exit {
    let mut errors = ErrorOutput::new(lang, wants_json(&argv));
    let help = (lang != Lang::En).then_some(errors.texts());
    let typed = match (program.parse)(argv.clone(), help) {
        Ok(typed) => typed,
        Err(said) => return errors.clap(&said, program.name, program.command),
    };
    let settings = match Settings::resolve((program.global)(&typed)) {
        Ok(settings) => settings,
        Err(failure) => return errors.failure(&failure),
    };
    if settings.lang.value != lang || settings.output.value.is_json() {
        errors = ErrorOutput::new(settings.lang.value, settings.output.value.is_json());
    }
    let printer = Printer::new(&settings);
    for (path, detail) in &settings.layers.unread {
        let msg = Msg::new("file-read")
            .arg("path", path.display().to_string())
            .arg("detail", detail.as_str());
        printer.warn(&msg);
    }
    let exports: Vec<&Path> = settings.exports.iter().map(|(p, _)| p.as_path()).collect();
    if let Err(failure) = output::export::check(&exports, &argv) {
        return errors.failure(&failure);
    }
    match (program.run)(typed, &settings, &printer) {
        Ok(exit) => exit,
        Err(failure) => errors.failure(&failure),
    }
}
