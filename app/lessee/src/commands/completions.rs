//! `completions SHELL` and the hidden `man DIR`: both made from the command tree.

use crate::args::{self, CompletionsArgs, ManArgs};
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_model::Exit;

pub(crate) fn run(args: &CompletionsArgs, printer: &Printer) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::command(None), "lessee", &mut script);
    printer.data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

pub(crate) fn man(args: &ManArgs) -> Result<Exit, Failure> {
    let failed = |e: std::io::Error| Failure::write(&args.dir, &e);
    std::fs::create_dir_all(&args.dir).map_err(failed)?;
    clap_mangen::generate_to(args::command(None).disable_help_subcommand(true), &args.dir)
        .map_err(failed)?;
    Ok(Exit::Done)
}
