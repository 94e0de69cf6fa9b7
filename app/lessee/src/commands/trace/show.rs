//! `trace show [TRACE...]`: the list of the user's traces, or what is in some.

use super::{open_all, records, remarks, store};
use crate::args::TraceShowArgs;
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::Exit;
use lessee_report::trace::{
    TraceListDoc, TraceShowDoc, TraceStoredDoc, list_report, record_doc, show_report,
};

pub(super) fn run(
    args: &TraceShowArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let store = store(settings);
    let texts = printer.texts();
    if args.traces.is_empty() {
        let traces = store.list()?.into_iter().map(|t| TraceStoredDoc {
            name: t.name,
            file: t.path.display().to_string(),
            source: t.source,
            formats: t.formats,
            imported_at: t.imported_at,
            records: t.records as u64,
        });
        let doc = TraceListDoc {
            schema: "lessee/trace-list/v1".to_owned(),
            traces: traces.collect(),
        };
        printer.report(list_report(
            &doc,
            &store.folder().display().to_string(),
            texts,
        ))?;
        return Ok(Exit::Done);
    }
    let folder = open_all(&args.traces, &args.reading, &store)?;
    let records = records(&folder);
    let doc = TraceShowDoc {
        schema: "lessee/trace-show/v1".to_owned(),
        records: records.iter().map(|r| record_doc(r, args.gang)).collect(),
        remarks: remarks(&folder, texts),
        skipped: folder.skipped.clone(),
    };
    printer.report(show_report(&doc, &records, args.gang, texts))?;
    Ok(Exit::Done)
}
