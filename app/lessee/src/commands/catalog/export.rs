//! `catalog export`: offers as CSV that `catalog import` reads back.

use crate::args::ExportArgs;
use crate::facts;
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::{Exit, Explain};
use std::path::Path;

pub(crate) fn run(
    args: &ExportArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let catalog = match &args.snapshot {
        Some(name) => {
            let facts = facts::builtin()?;
            let loaded = facts::store(settings).load(name, &facts)?;
            loaded.problems.iter().for_each(|p| printer.warn(&p.msg()));
            loaded.catalog
        }
        None => facts::load_reporting(settings, printer)?.catalog,
    };
    let mut bytes = Vec::new();
    lessee_catalog::write_offers(&mut bytes, &catalog)
        .map_err(|e| Failure::write(Path::new("<memory>"), &e))?;
    printer.csv(&String::from_utf8_lossy(&bytes))?;
    Ok(Exit::Done)
}
