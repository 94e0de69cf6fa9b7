//! `trace stats TRACE...`: figures of records.

use super::{open_all, records, remarks, store};
use crate::args::TraceStatsArgs;
use crate::failure::Failure;
use crate::output::Printer;
use crate::settings::Settings;
use lessee_model::Exit;
use lessee_report::trace::{stats_doc, stats_report};

pub(super) fn run(
    args: &TraceStatsArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let folder = open_all(&args.traces, &args.reading, &store(settings))?;
    let records = records(&folder);
    let texts = printer.texts();
    let doc = stats_doc(
        &records,
        args.gang,
        args.on_demand_price,
        remarks(&folder, texts),
    );
    let nothing = doc.series.is_empty()
        && doc.lives.is_empty()
        && doc.prices.is_empty()
        && doc.buckets.is_empty();
    printer.report(stats_report(
        &doc,
        &records,
        args.gang,
        args.on_demand_price,
        texts,
    ))?;
    Ok(if nothing { Exit::No } else { Exit::Done })
}
