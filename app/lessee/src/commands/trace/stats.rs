//! `trace stats TRACE...`: figures of records.

use super::{open_all, records, remarks, store};
use crate::args::TraceStatsArgs;
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::{Exit, Msg};
use lessee_report::trace::{stats_doc, stats_report};
use lessee_spot::trace::Record;
use std::collections::BTreeSet;

pub(super) fn run(
    args: &TraceStatsArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let folder = open_all(&args.traces, &args.reading, &store(settings))?;
    let records = records(&folder);
    if args.on_demand_price.is_some() {
        one_machine(&records)?;
    }
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

/// One price of a machine is that of one machine: a K80 and eight V100 at the same 3.06 USD are a mistake of others.
fn one_machine(records: &[&Record]) -> Result<(), Failure> {
    let priced = records.iter().filter_map(|r| match r {
        Record::Series(s) => s.about.machine.as_deref(),
        Record::Prices(p) => p.about.machine.as_deref(),
        _ => None,
    });
    let machines: BTreeSet<&str> = priced.collect();
    if machines.len() < 2 {
        return Ok(());
    }
    let names: Vec<&str> = machines.into_iter().collect();
    let problem = Msg::new("trace-several-machines").arg("machines", names.join(", "));
    Err(Failure::usage(problem).hint(Msg::new("hint-trace-several-machines")))
}
