//! `catalog list`: prices that match a filter, cheapest first.

use super::marks::legend;
use super::row::{Row, table};
use crate::args::ListArgs;
use crate::facts;
use crate::failure::Failure;
use crate::output::Printer;
use crate::settings::Settings;
use lessee_catalog::{Facts, ListFilter, Listing};
use lessee_model::{Exit, Msg, did_you_mean};
use lessee_report::Report;
use serde_json::json;
use std::str::FromStr;

pub(crate) fn run(
    args: &ListArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let filter = filter(args)?;
    let facts = facts::load_reporting(settings, printer)?;
    check_providers(&facts, &args.provider)?;
    let listing = lessee_catalog::list(&facts.catalog, &facts, &filter)?;
    let total = listing.rows.len();
    let today = settings.today();
    let rows: Vec<Row<'_>> = listing
        .rows
        .iter()
        .take(args.limit.unwrap_or(usize::MAX))
        .map(|at| Row::new(&facts.catalog, *at, today))
        .collect();
    let report = report(&rows, total, &listing, &facts, printer);
    printer.report(report)?;
    if total == 0 {
        printer.note(&Msg::new("catalog-list-none"));
        return Ok(Exit::No);
    }
    Ok(Exit::Done)
}

fn report(
    rows: &[Row<'_>],
    total: usize,
    listing: &Listing,
    facts: &Facts,
    printer: &Printer,
) -> Report {
    let texts = printer.texts();
    let as_of = facts.catalog.as_of();
    let data = json!({
        "schema": "lessee/catalog/v1",
        "catalog": {"offers": facts.catalog.offers.len(), "as_of": as_of},
        "matches": total,
        "region_unknown": listing.region_unknown,
        "offers": rows.iter().map(Row::json).collect::<Vec<_>>(),
    });
    let mut report = Report::new(texts.get("catalog-list-title"), data, "offers");
    if rows.is_empty() {
        return report;
    }
    report.table(table(rows, texts));
    let mut notes = Vec::new();
    notes.extend(legend(
        rows.iter().flat_map(|r| r.marks.iter().copied()),
        texts,
    ));
    notes.push(texts.get("catalog-list-basis"));
    if total > rows.len() {
        notes.push(
            texts.msg(
                &Msg::new("catalog-list-more")
                    .arg("shown", rows.len())
                    .arg("total", total),
            ),
        );
    }
    if listing.region_unknown > 0 {
        notes.push(
            texts.msg(&Msg::new("catalog-list-region-unknown").arg("n", listing.region_unknown)),
        );
    }
    report.list(notes);
    report
}

fn filter(args: &ListArgs) -> Result<ListFilter, Failure> {
    let mut filter = ListFilter {
        regions: args.region.clone(),
        providers: args.provider.clone(),
        ..ListFilter::default()
    };
    for text in &args.gpu {
        filter
            .gpus
            .push(value("--gpu", text, "A100-80GB:8, H100:4..8, L4")?);
    }
    if let Some(text) = &args.gpu_memory {
        filter.gpu_memory = Some(value("--gpu-memory", text, "80GB, 24GB..80GB, 24GB..")?);
    }
    if let Some(text) = &args.max_price {
        filter.max_price = Some(value("--max-price", text, "'3 USD', 3USD, '$3', '20 CNY'")?);
    }
    if args.spot || args.on_demand {
        filter.spot = Some(args.spot);
    }
    if args.on_demand {
        filter.purchases = vec![lessee_model::Purchase::OnDemand];
    }
    Ok(filter)
}

/// The value of a flag.
fn value<T: FromStr>(flag: &'static str, text: &str, examples: &str) -> Result<T, Failure> {
    text.parse().map_err(|_| {
        let problem = Msg::new("setting-bad-value")
            .arg("key", flag)
            .arg("value", text);
        Failure::usage(problem).hint(Msg::new("setting-examples").arg("examples", examples))
    })
}

/// A misspelt provider would otherwise look like one without offers.
fn check_providers(facts: &Facts, names: &[String]) -> Result<(), Failure> {
    for name in names.iter().filter(|n| !n.contains(['*', '?'])) {
        let offered = || {
            facts
                .catalog
                .offers
                .iter()
                .any(|o| o.provider.eq_ignore_ascii_case(name))
        };
        if facts.provider(name).is_none() && !offered() {
            let failure =
                Failure::usage(Msg::new("catalog-unknown-provider").arg("name", name.as_str()));
            let known = facts.providers.iter().map(|p| &*p.key);
            return Err(match did_you_mean(name, known.clone()) {
                Some(word) => failure.hint(Msg::new("hint-did-you-mean").arg("word", word)),
                None => failure.hint(
                    Msg::new("hint-known-words").arg("words", known.collect::<Vec<_>>().join(", ")),
                ),
            });
        }
    }
    Ok(())
}
