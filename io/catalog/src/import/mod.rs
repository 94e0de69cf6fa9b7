//! Files that people bring become offers and questions: one file here per format.
//!
//! An importer never guesses silently. What it is sure of becomes an offer; what it is not becomes a
//! question with its line; what carries no price is counted. A file that is cut is refused whole.
//! Start with [`import`]; a new format is one file, one variant of [`Format`] and one line in [`detect`].

mod detect;
mod draft;
mod focus;
mod gpuhunt;
mod offers;
mod parts;
mod quote;
mod skypilot;

pub use detect::{Format, detect};
pub use draft::Draft;

use crate::{CatalogError, Facts, ImportError, read_input};
use lessee_model::quote::ImportDoc;
use lessee_model::{AsOf, Catalog, Currency, Msg};

/// What an importer knows besides the bytes.
#[derive(Clone, Copy, Debug)]
pub struct ImportContext<'a> {
    pub facts: &'a Facts,
    /// The provider that the user named; beats what the file name says.
    pub provider: Option<&'a str>,
    /// Date of the prices where the file states none: given by the user, else the file's own date.
    pub as_of: Option<AsOf>,
    /// Currency of amounts that show none (quotes only).
    pub currency: Option<Currency>,
}

/// What an import read.
#[derive(Debug)]
pub struct Imported {
    /// Only what was read for sure.
    pub catalog: Catalog,
    /// The same for people and programs; `why` of the questions is still empty, see [`Imported::into_doc`].
    pub doc: ImportDoc,
    /// Why each question of `doc` is asked, in its order.
    pub whys: Vec<Msg>,
}

impl Imported {
    /// The document with the reasons put into the reader's language.
    pub fn into_doc(self, render: impl Fn(&Msg) -> String) -> ImportDoc {
        let mut doc = self.doc;
        for (question, why) in doc.questions.iter_mut().zip(&self.whys) {
            question.why = render(why);
        }
        doc
    }
}

/// Imports a file of any known format, recognised by its content unless `format` says which it is.
///
/// # Errors
/// The file is empty, binary, in an unknown encoding or format, cut, or lacks a needed column.
pub fn import(
    bytes: &[u8],
    name: &str,
    cx: &ImportContext<'_>,
    format: Option<Format>,
) -> Result<Imported, ImportError> {
    let input = read_input(bytes, name)?;
    let format = match format {
        Some(known) => known,
        None => detect(&input.text, name)?,
    };
    let draft = Draft::new(name, format, &input);
    match format {
        Format::SkyPilot => skypilot::import(&input.text, draft, cx),
        Format::GpuHunt => gpuhunt::import(&input.text, draft, cx),
        Format::Focus => focus::import(&input.text, draft, cx),
        Format::Offers => offers::import(&input.text, draft, cx),
        Format::Quote => quote::import(&input.text, draft, cx),
    }
}

/// Feeds arbitrary bytes to one importer (`None` = recognise the format); whatever happens, it returns.
/// The entry for fuzzers.
pub fn fuzz_import(
    facts: &Facts,
    format: Option<Format>,
    bytes: &[u8],
) -> Result<Imported, CatalogError> {
    let cx = ImportContext {
        facts,
        provider: Some("aws"),
        as_of: None,
        currency: None,
    };
    import(bytes, "fuzz_vms.csv", &cx, format)
}
