//! `catalog show OFFER`: all that is known of an offer, each figure with its source and date.

use super::marks::legend;
use super::row::Row;
use crate::args::ShowArgs;
use crate::facts;
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::offer::machine_label;
use lessee_model::{Catalog, Exit, Machine, Msg, Offer, Origin, StaleAfter, did_you_mean};
use lessee_report::documents::OfferPricesDoc;
use lessee_report::{Cell, Column, Report, Table, Texts};

pub(crate) fn run(
    args: &ShowArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let facts = facts::load_reporting(settings, printer)?;
    let catalog = &facts.catalog;
    let found = lessee_catalog::show(catalog, &args.key);
    if found.is_empty() {
        return Err(unknown(catalog, &args.key));
    }
    let texts = printer.texts();
    let stale = StaleAfter::from_defaults(&facts.defaults);
    let rows: Vec<Row<'_>> = found
        .iter()
        .flat_map(|i| (0..catalog.offers[*i].prices.len()).map(move |j| (*i, j)))
        .map(|at| Row::new(catalog, at, settings.today(), stale))
        .collect();
    let document = OfferPricesDoc {
        schema: "lessee/offer/v1".to_owned(),
        offers: rows.iter().map(Row::document).collect(),
    };
    let data = serde_json::to_value(document).unwrap_or_default();
    let mut report = Report::new(args.key.clone(), data, "offers");
    let mut last = None;
    for (position, index) in found.iter().enumerate() {
        let offer = &catalog.offers[*index];
        // regions of one type share the machine: it is described once
        if last != Some(offer.machine) {
            report.heading(format!("{}/{}", offer.provider, offer.instance_type));
            report.table(machine_table(catalog.machine(offer), texts));
            last = Some(offer.machine);
        }
        if let (Some(note), 0) = (&offer.note, position) {
            report.text(texts.msg(&Msg::new("catalog-note").arg("note", note.to_string())));
        }
        if let Some(original) = &offer.original {
            report.text(texts.msg(&Msg::new("catalog-original").arg("line", original.to_string())));
        }
    }
    report.heading(texts.get("catalog-show-prices"));
    report.table(price_table(&rows, texts));
    report.list(
        legend(rows.iter().flat_map(|r| r.marks.iter().copied()), texts)
            .into_iter()
            .collect(),
    );
    printer.report(report)?;
    Ok(Exit::Done)
}

fn unknown(catalog: &Catalog, key: &str) -> Failure {
    let wanted = key.split('@').next().unwrap_or(key);
    let wanted = wanted.rsplit('/').next().unwrap_or(wanted);
    let mut types: Vec<&str> = catalog.offers.iter().map(|o| &*o.instance_type).collect();
    types.sort_unstable();
    types.dedup();
    let failure = Failure::usage(Msg::new("catalog-show-none").arg("key", key));
    match did_you_mean(wanted, types) {
        Some(word) if word != wanted => {
            failure.hint(Msg::new("hint-did-you-mean").arg("word", word))
        }
        _ => failure.hint(Msg::new("hint-catalog-list")),
    }
}

fn machine_table(machine: &Machine, texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::left("figure", texts.get("col-what"), 0),
        Column::left("value", texts.get("col-value"), 0),
        Column::left("confidence", texts.get("col-confidence"), 0),
    ]);
    let mut put = |id: &'static str, value: Option<String>, host: bool| {
        let confidence = if host {
            machine.host_confidence
        } else {
            machine.confidence
        };
        let code = serde_json::to_value(confidence).unwrap_or_default();
        let word = texts.term("confidence", code.as_str().unwrap_or_default());
        let known = value.is_some();
        table.push(vec![
            Cell::new(texts.term("machine", id)).raw(id),
            value.map_or_else(Cell::unknown, Cell::new),
            if known {
                Cell::new(word)
            } else {
                Cell::unknown()
            },
        ]);
    };
    let with =
        |x: Option<f32>, unit: &str| x.map(|x| format!("{} {unit}", texts.number(f64::from(x))));
    put("gpu", Some(machine_label(machine)), false);
    put(
        "usable_memory",
        machine
            .usable_mib_each
            .map(|m| format!("{} MiB", texts.number(f64::from(m)))),
        false,
    );
    put(
        "interconnect",
        machine.interconnect.map(|i| i.as_str().to_owned()),
        false,
    );
    put("link", with(machine.link_gbs, "GB/s"), false);
    put(
        "vcpus",
        machine.vcpus.map(|v| texts.number(f64::from(v))),
        true,
    );
    put("memory", with(machine.memory_gib, "GiB"), true);
    put("disk", with(machine.local_disk_gb, "GB"), true);
    put("network", with(machine.network_gbps, "Gbit/s"), true);
    put("rdma", machine.rdma.as_deref().map(str::to_owned), true);
    put(
        "access",
        machine.gpu_access.as_deref().map(str::to_owned),
        false,
    );
    put("status", Some(machine.status.to_string()), false);
    table
}

fn price_table(rows: &[Row<'_>], texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::left("region", texts.get("col-region"), 0),
        Column::left("purchase", texts.get("col-purchase"), 0),
        Column::right("price", texts.get("col-price"), 0),
        Column::right("price_per_gpu", texts.get("col-per-gpu"), 0),
        Column::left("as_of", texts.get("col-as-of"), 0),
        Column::left("marks", texts.get("col-marks"), 0),
        Column::left("confidence", texts.get("col-confidence"), 2),
        Column::left("origin", texts.get("col-origin"), 3),
        Column::left("source", texts.get("col-source"), 1),
    ]);
    for row in rows {
        let why = &row.price.why;
        let code = serde_json::to_value(why.confidence).unwrap_or_default();
        let purchase = row.price.purchase.as_str();
        table.push(vec![
            row.offer.region.to_string().into(),
            Cell::new(texts.term("purchase", purchase)).raw(purchase),
            Cell::new(texts.unit_price(row.price.per_hour)).raw(row.price.per_hour.exact()),
            row.per_gpu().map_or_else(Cell::unknown, |m| {
                Cell::new(texts.unit_price(m)).raw(m.exact())
            }),
            why.as_of
                .map_or_else(Cell::unknown, |d| Cell::new(d.to_string())),
            Cell::new(row.marks.iter().map(|m| m.letter()).collect::<String>()),
            Cell::new(texts.term("confidence", code.as_str().unwrap_or_default())),
            origin(row.offer, texts),
            why.source.to_string().into(),
        ]);
    }
    table
}

fn origin(offer: &Offer, texts: &Texts) -> Cell {
    match &offer.origin {
        Origin::BuiltIn => Cell::new(texts.get("origin-built-in")).raw("built-in"),
        Origin::User(name) => Cell::new(name.to_string()),
    }
}
