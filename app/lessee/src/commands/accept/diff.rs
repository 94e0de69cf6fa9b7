//! `accept diff`: two acceptances beside each other.

use crate::args::AcceptDiffArgs;
use lessee_console::{Failure, Printer};
use lessee_model::{Exit, Msg};
use lessee_report::accept::{ACCEPTANCE_SCHEMA, AcceptanceDoc, acceptance_diff, diff_report};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// An acceptance is some hundred findings.
const LARGEST: u64 = 64 << 20;

pub(super) fn run(args: &AcceptDiffArgs, printer: &Printer) -> Result<Exit, Failure> {
    let (earlier, later) = (document(&args.earlier)?, document(&args.later)?);
    let texts = printer.texts();
    let doc = acceptance_diff(&earlier, &later);
    let exit = if doc.worse > 0 {
        Exit::No
    } else if doc.gone_open > 0 || later.findings.is_empty() {
        // what had failed is not mended by not looking
        Exit::CannotTell
    } else {
        Exit::Done
    };
    printer.report(diff_report(&doc, texts))?;
    Ok(exit)
}

/// An acceptance as it was written.
pub(crate) fn document(path: &Path) -> Result<AcceptanceDoc, Failure> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
        .map_err(|e| Failure::read(path, &e))?;
    let wrong = |detail: String| {
        Failure::usage(
            Msg::new("accept-no-acceptance")
                .arg("file", path.display().to_string())
                .arg("detail", detail),
        )
        .hint(Msg::new("hint-accept-json"))
    };
    if bytes.len() as u64 > LARGEST {
        return Err(wrong(format!("> {} MiB", LARGEST >> 20)));
    }
    let doc: AcceptanceDoc = serde_json::from_slice(&bytes).map_err(|e| wrong(e.to_string()))?;
    match doc.schema == ACCEPTANCE_SCHEMA {
        true => Ok(doc),
        false => Err(wrong(format!(
            "schema = {}",
            doc.schema.chars().take(60).collect::<String>()
        ))),
    }
}
