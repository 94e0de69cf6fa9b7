//! `catalog ...`: one file a verb.

mod diff;
mod doctor;
mod export;
mod import;
mod list;
mod marks;
mod refresh;
mod row;
mod show;
mod snapshots;

use crate::args::CatalogCommand;
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::Exit;

pub(crate) fn run(
    command: CatalogCommand,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    match command {
        CatalogCommand::List(args) => list::run(&args, settings, printer),
        CatalogCommand::Show(args) => show::run(&args, settings, printer),
        CatalogCommand::Import(args) => import::run(&args, settings, printer),
        CatalogCommand::Refresh(args) => refresh::run(&args, settings, printer),
        CatalogCommand::Diff(args) => diff::run(&args, settings, printer),
        CatalogCommand::Export(args) => export::run(&args, settings, printer),
        CatalogCommand::Doctor => doctor::run(settings, printer),
        CatalogCommand::Remove(args) => snapshots::remove(&args, settings, printer),
        CatalogCommand::Snapshots => snapshots::run(settings, printer),
    }
}
