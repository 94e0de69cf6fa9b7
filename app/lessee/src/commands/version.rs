//! `--version`, with `-v` also how fresh the built-in catalog is.

use crate::facts;
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::{Exit, Msg};

pub(crate) fn run(verbose: bool, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let mut text = format!("lessee {}\n", env!("CARGO_PKG_VERSION"));
    if verbose {
        let facts = facts::load_reporting(settings, printer)?;
        let date = facts
            .catalog
            .as_of()
            .map_or_else(|| "?".to_owned(), |d| d.to_string());
        let msg = Msg::new("version-catalog")
            .arg("offers", facts.catalog.offers.len())
            .arg("date", date);
        text.push_str(&format!("{}\n", printer.texts().msg(&msg)));
    }
    printer.data(&text)?;
    Ok(Exit::Done)
}
