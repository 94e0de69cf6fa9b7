//! Loads the facts that core decides upon: what is built in, with the user's own snapshots laid over it.

use lessee_catalog::{CatalogError, Facts, ListFilter, Loaded, Store};
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::{Explain, GpuFilter, Msg};
use std::path::Path;

/// Problems of the user's own tables that are listed one by one; more are only counted.
const LISTED: usize = 5;

/// Only what is compiled in.
///
/// # Errors
/// The built-in data are broken: a bug.
pub(crate) fn builtin() -> Result<Facts, Failure> {
    Ok(lessee_catalog::builtin()?)
}

/// The folders of the user's snapshots and of the cache.
pub(crate) fn store(settings: &Settings) -> Store {
    Store::open(&settings.data_dir.value).with_cache(&settings.cache_dir.value)
}

/// Built-in facts with the user's offers over them, and what could not be read of those.
///
/// # Errors
/// The manifest of the user's folder cannot be read.
pub(crate) fn load(settings: &Settings) -> Result<(Facts, Vec<CatalogError>), Failure> {
    let facts = builtin()?;
    let loaded = store(settings).load_all(&facts)?;
    Ok(laid_over(facts, loaded))
}

fn laid_over(mut facts: Facts, loaded: Loaded) -> (Facts, Vec<CatalogError>) {
    facts.catalog = loaded.catalog;
    (facts, loaded.problems)
}

/// As [`load`]; rows of the user's that could not be read are reported on stderr.
///
/// # Errors
/// As [`load`].
pub(crate) fn load_reporting(settings: &Settings, printer: &Printer) -> Result<Facts, Failure> {
    let (facts, problems) = load(settings)?;
    report_problems(&problems, printer);
    Ok(facts)
}

/// As [`load_reporting`], without offers that the filter excludes where that saves time.
///
/// # Errors
/// As [`load`].
pub(crate) fn load_matching(
    settings: &Settings,
    filter: &ListFilter,
    printer: &Printer,
) -> Result<Facts, Failure> {
    let facts = builtin()?;
    let loaded = store(settings).load_matching(&facts, filter)?;
    let (facts, problems) = laid_over(facts, loaded);
    report_problems(&problems, printer);
    Ok(facts)
}

fn report_problems(problems: &[CatalogError], printer: &Printer) {
    for problem in problems.iter().take(LISTED) {
        printer.warn(&problem.msg());
        if matches!(
            problem,
            CatalogError::Manifest { .. } | CatalogError::Io { .. }
        ) {
            printer.warn(&Msg::new("facts-built-in-only"));
        }
        problem.hints().iter().for_each(|hint| printer.hint(hint));
    }
    if problems.len() > LISTED {
        printer.warn(&Msg::new("facts-more-problems").arg("n", problems.len() - LISTED));
    }
}

/// Says of each GPU that was asked for and that nobody here has a price of why that is, and how to bring one.
pub(crate) fn tell_gpus_without_price(facts: &Facts, asked: &[GpuFilter], printer: &Printer) {
    for gpu in lessee_catalog::gpus_without_price(&facts.catalog, &facts.gpus, asked) {
        printer.warn(&Msg::new("gpu-without-price").arg("gpu", gpu.to_string()));
    }
}

/// Text of an input file in any of the encodings that people use, `-` = stdin, and how to call it in errors.
///
/// # Errors
/// A directory, an empty or binary file, an unknown encoding, or a file that cannot be read.
pub(crate) fn read_text(path: &Path) -> Result<(String, String), Failure> {
    let (bytes, place) = read_bytes(path)?;
    let text = lessee_catalog::read_input(&bytes, &place)?;
    Ok((text.text, place))
}

/// Bytes of an input file, `-` = stdin, and how to call it in errors.
///
/// # Errors
/// A directory, a file that is plainly not text, or one that cannot be read.
pub(crate) fn read_bytes(path: &Path) -> Result<(Vec<u8>, String), Failure> {
    if path.as_os_str() == "-" {
        let place = "<stdin>".to_owned();
        let bytes =
            lessee_catalog::read_stream(std::io::stdin().lock(), &place, Path::new(&place))?;
        return Ok((bytes, place));
    }
    Ok((lessee_catalog::read_path(path)?, path.display().to_string()))
}
