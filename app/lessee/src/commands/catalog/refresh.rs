//! `catalog refresh PROVIDER`: asks a price API and saves the answer as a snapshot. The only verb here that
//! uses the network.

use super::import::tell_saved;
use super::row::{Row, table};
use crate::args::RefreshArgs;
use crate::facts;
use jiff::civil::Date;
use lessee_catalog::{CatalogBuilder, OfferRow, SnapshotMeta};
use lessee_console::Failure;
use lessee_console::Settings;
use lessee_console::{Printer, to_stderr};
use lessee_model::{AsOf, Catalog, Exit, Msg, Origin, StaleAfter};
use lessee_providers::{
    ApiKey, Event, FetchedOffer, PRICE_APIS, PriceApi, RefreshOptions, Refreshed, price_api,
};
use lessee_report::documents::SavedDoc;
use lessee_report::{Cell, Column, Report, Table};
use serde_json::json;
use std::sync::Arc;

pub(crate) fn run(
    args: &RefreshArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let Some(name) = &args.provider else {
        return list(printer);
    };
    let facts = facts::builtin()?;
    let name = facts
        .provider(name)
        .map_or(name.as_str(), |p| &p.key)
        .to_owned();
    let api = price_api(&name)?;
    if settings.offline.value {
        let refused = Failure::usage(Msg::new("refresh-offline").arg("provider", api.name));
        return Err(refused
            .hint(Msg::new("hint-refresh-offline"))
            .exit(Exit::Unreachable));
    }
    // a program that reads stderr finds one object there, or nothing
    if !settings.output.value.is_json() {
        printer.note(&Msg::new("refresh-asking").arg("provider", api.name));
    }
    let refreshed = fetch(api, args, settings, &facts)?;
    let skipped: u64 = refreshed.skipped.iter().map(|s| s.count).sum();
    let catalog = catalog(&refreshed.offers, api.name);
    let stale = StaleAfter::from_defaults(&facts.defaults);
    let mut report = report(&refreshed, &catalog, (settings.today(), stale), printer);
    if catalog.offers.is_empty() {
        // an earlier snapshot is worth more than an empty one
        report.text(
            printer
                .texts()
                .msg(&Msg::new("refresh-nothing").arg("skipped", skipped as f64)),
        );
        printer.report(report)?;
        return Ok(Exit::No);
    }
    if !args.dry_run {
        let meta = SnapshotMeta {
            source: api.source.to_owned(),
            format: "api".to_owned(),
            imported_at: settings.now,
        };
        let store = facts::store(settings);
        let info = store.save(api.name, &catalog, &meta)?;
        let path = store.folder().join(&info.file).display().to_string();
        let saved = SavedDoc {
            name: info.name.clone(),
            file: path.clone(),
            rows: info.rows,
        };
        report.data["saved"] = serde_json::to_value(saved).unwrap_or_default();
        tell_saved(&mut report, info.rows, &info.name, &path, printer.texts());
    }
    printer.report(report)?;
    Ok(Exit::Done)
}

fn fetch(
    api: &'static PriceApi,
    args: &RefreshArgs,
    settings: &Settings,
    facts: &lessee_catalog::Facts,
) -> Result<Refreshed, Failure> {
    let show = args.show_requests;
    let on_event = |event: Event<'_>| {
        if let (true, Event::Request(line)) = (show, &event) {
            to_stderr(&format!("{line}\n"));
        }
    };
    let key = api.key_env.and_then(|name| std::env::var(name).ok());
    let options = RefreshOptions {
        base_url: std::env::var(api.url_env).ok().filter(|u| !u.is_empty()),
        key: key.as_deref().and_then(ApiKey::new),
        regions: args.region.clone(),
        on_event: &on_event,
        ..RefreshOptions::default()
    };
    let known = |provider: &str, kind: &str| facts.machine(provider, kind).cloned();
    let what = lessee_providers::Facts {
        gpus: &facts.gpus,
        known: &known,
    };
    let today = AsOf::from_date(
        settings
            .now
            .to_zoned_datetime(jiff::tz::TimeZone::UTC)
            .date(),
    );
    Ok(lessee_providers::refresh_blocking(
        api.name, &options, what, today,
    )?)
}

fn catalog(offers: &[FetchedOffer], name: &str) -> Catalog {
    let origin = Origin::User(Arc::from(name));
    let mut builder = CatalogBuilder::new();
    for fetched in offers {
        let offer = &fetched.offer;
        for price in &offer.prices {
            let row = OfferRow {
                provider: offer.provider.clone(),
                region: offer.region.clone(),
                instance_type: offer.instance_type.clone(),
                machine: fetched.machine.clone(),
                market: offer.market,
                price: price.clone(),
                original: offer.original.clone(),
                note: offer.note.clone(),
            };
            builder.push(row, &origin);
        }
    }
    builder.finish()
}

fn report(
    refreshed: &Refreshed,
    catalog: &Catalog,
    (today, stale): (Date, StaleAfter),
    printer: &Printer,
) -> Report {
    let texts = printer.texts();
    let rows: Vec<Row<'_>> = (0..catalog.offers.len())
        .flat_map(|i| (0..catalog.offers[i].prices.len()).map(move |j| (i, j)))
        .map(|at| Row::new(catalog, at, today, stale))
        .collect();
    let skipped: Vec<_> = refreshed
        .skipped
        .iter()
        .map(|s| json!({"reason": s.reason.as_str(), "count": s.count, "examples": s.examples}))
        .collect();
    let data = json!({
        "schema": "lessee/refresh/v1",
        "offers": rows.iter().map(Row::document).collect::<Vec<_>>(),
        "skipped": skipped,
        "requests": refreshed.requests,
    });
    let mut report = Report::new(texts.get("refresh-title"), data, "offers");
    if !rows.is_empty() {
        report.table(table(&rows, texts));
    }
    let lines = refreshed.skipped.iter().map(|s| {
        let msg = Msg::new("refresh-skipped")
            .arg("n", s.count as f64)
            .arg("reason", s.reason.msg())
            .arg("examples", s.examples.join(", "));
        texts.msg(&msg)
    });
    report.list(lines.collect());
    report
}

/// Who can be asked, and whether a key is needed.
fn list(printer: &Printer) -> Result<Exit, Failure> {
    let texts = printer.texts();
    let mut table = Table::new(vec![
        Column::left("provider", texts.get("col-provider"), 0),
        Column::left("key", texts.get("col-key"), 0),
        Column::left("docs", texts.get("col-docs"), 1),
    ]);
    let mut apis = Vec::new();
    for api in PRICE_APIS {
        table.push(vec![
            api.name.into(),
            api.key_env
                .map_or_else(|| Cell::new(texts.get("refresh-no-key")).raw(""), Cell::new),
            api.docs.into(),
        ]);
        apis.push(json!({"provider": api.name, "key": api.key_env, "docs": api.docs}));
    }
    let data = json!({"schema": "lessee/price-apis/v1", "apis": apis});
    let mut report = Report::new(texts.get("refresh-apis-title"), data, "apis");
    report.table(table);
    printer.report(report)?;
    Ok(Exit::Done)
}
