//! `catalog list`: prices that match a filter, cheapest first.

use super::marks::legend;
use super::row::{Row, table};
use crate::args::ListArgs;
use crate::commands::providers::suggestion;
use crate::facts;
use lessee_catalog::{Facts, ListFilter, Listing};
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::plan::CatalogDoc;
use lessee_model::{Exit, Msg, StaleAfter};
use lessee_report::documents::CatalogListDoc;
use lessee_report::{Head, Report};
use serde_json::Value;
use std::str::FromStr;

/// Rows of a table where the user sets no limit: about two screens.
const TABLE_ROWS: usize = 50;

pub(crate) fn run(
    args: &ListArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let filter = filter(args)?;
    // the document says how many offers there are in all
    let facts = if printer.wants_json() {
        facts::load_reporting(settings, printer)?
    } else {
        facts::load_matching(settings, &filter, printer)?
    };
    if let Err(unknown) = check_providers(&facts, &args.provider) {
        // the provider's offers may be those that were not loaded
        let (whole, _) = facts::load(settings)?;
        check_providers(&whole, &args.provider).map_err(|_| unknown)?;
    }
    let listing = lessee_catalog::list(&facts.catalog, &facts, &filter)?;
    let total = args.limit.unwrap_or(usize::MAX).min(listing.rows.len());
    let shown = match (args.limit, args.all) {
        (None, false) => total.min(TABLE_ROWS),
        _ => total,
    };
    let made = if printer.wants_only_head() {
        shown
    } else {
        total
    };
    let today = settings.today();
    let stale = StaleAfter::from_defaults(&facts.defaults);
    let rows: Vec<Row<'_>> = listing.rows[..made]
        .iter()
        .map(|at| Row::new(&facts.catalog, *at, today, stale))
        .collect();
    let report = report(&rows, shown, &listing, &facts, printer);
    printer.report(report)?;
    if listing.rows.is_empty() {
        printer.note(&Msg::new("catalog-list-none"));
        facts::tell_gpus_without_price(&facts, &filter.gpus, printer);
        return Ok(Exit::No);
    }
    Ok(Exit::Done)
}

fn report(
    rows: &[Row<'_>],
    shown: usize,
    listing: &Listing,
    facts: &Facts,
    printer: &Printer,
) -> Report {
    let texts = printer.texts();
    let data = if printer.wants_json() {
        document(rows, listing, facts)
    } else {
        Value::Null
    };
    let mut report = Report::new(texts.get("catalog-list-title"), data, "offers");
    if rows.is_empty() {
        return report;
    }
    let mut table = table(rows, texts);
    table.head = Some(Head {
        shown,
        total: listing.rows.len(),
        by_flag: true,
    });
    report.table(table);
    let mut notes = Vec::new();
    notes.extend(legend(
        rows.iter().flat_map(|r| r.marks.iter().copied()),
        texts,
    ));
    notes.push(texts.get("catalog-list-basis"));
    if listing.region_unknown > 0 {
        notes.push(
            texts.msg(&Msg::new("catalog-list-region-unknown").arg("n", listing.region_unknown)),
        );
    }
    report.list(notes);
    report
}

fn document(rows: &[Row<'_>], listing: &Listing, facts: &Facts) -> Value {
    let document = CatalogListDoc {
        schema: "lessee/catalog/v1".to_owned(),
        catalog: CatalogDoc {
            offers: facts.catalog.offers.len() as u64,
            as_of: facts.catalog.as_of(),
        },
        matches: listing.rows.len() as u64,
        region_unknown: listing.region_unknown as u64,
        offers: rows.iter().map(Row::document).collect(),
    };
    serde_json::to_value(document).unwrap_or_default()
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
            let problem = Msg::new("catalog-unknown-provider").arg("name", name.as_str());
            let at = Msg::new("error-at")
                .arg("place", "--provider")
                .arg("problem", problem);
            return Err(Failure::usage(at).hint(suggestion(name, facts)));
        }
    }
    Ok(())
}
