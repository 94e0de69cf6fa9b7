//! `trace stats` for people: one row a zone, then what lies behind the figures.

use super::charts;
use super::stats::{LifetimeDoc, SeriesStatsDoc, TraceStatsDoc};
use super::view::{headed, remarks};
use crate::{Cell, Column, Report, Table, Texts, Tone};
use lessee_model::Msg;
use lessee_spot::trace::Record;

/// Pairs that are listed; the formats for programs have all.
const PAIRS: usize = 12;

/// Tables for people, pictures for HTML and SVG.
pub fn stats_report(
    doc: &TraceStatsDoc,
    all: &[&Record],
    gang: Option<u32>,
    on_demand: Option<f64>,
    texts: &Texts,
) -> Report {
    let data = serde_json::to_value(doc).unwrap_or_default();
    let mut report = Report::new(texts.get("trace-stats-title"), data, "series");
    if !doc.series.is_empty() {
        report.table(series_table(&doc.series, texts));
    }
    if !doc.lives.is_empty() {
        report.heading(texts.get("trace-stats-lives"));
        report.table(lives_table(doc, texts));
    }
    if let Some(chart) = charts::strip_chart(all, gang, on_demand, texts) {
        report.chart(chart);
    }
    let lifetimes: Vec<(String, &LifetimeDoc)> = lifetimes(doc);
    if lifetimes.iter().any(|(_, l)| l.ends > 0) {
        report.heading(texts.get("trace-stats-hazard"));
        report.table(hazard_table(&lifetimes, texts));
        if let Some(chart) = charts::survival_chart(doc, texts) {
            report.chart(chart);
        }
        report.heading(texts.get("trace-stats-fits"));
        report.table(fit_table(&lifetimes, texts));
        report.text(texts.get("trace-stats-fits-note"));
    }
    prices(&mut report, doc, texts);
    if !doc.buckets.is_empty() {
        report.heading(texts.get("trace-stats-buckets"));
        report.table(bucket_table(doc, texts));
        report.text(texts.get("trace-stats-buckets-note"));
    }
    if !doc.correlation.is_empty() {
        report.heading(texts.get("trace-stats-correlation"));
        report.table(pair_table(doc, texts));
    }
    let identical = doc
        .identical_zones
        .iter()
        .map(|zones| texts.msg(&Msg::new("trace-identical-zones").arg("zones", zones.join(", "))));
    report.list(identical.collect());
    if doc.series.is_empty()
        && doc.lives.is_empty()
        && doc.prices.is_empty()
        && doc.buckets.is_empty()
    {
        report.text(texts.get("trace-stats-none"));
    }
    remarks(&mut report, &doc.remarks, texts);
    report
}

fn share(share: Option<f64>) -> Cell {
    share.map_or_else(Cell::unknown, |s| {
        Cell::new(format!("{:.1} %", s * 100.0)).raw(s.to_string())
    })
}

fn hours(seconds: Option<f64>) -> Cell {
    seconds.map_or_else(Cell::unknown, |s| {
        Cell::new(format!("{:.2}", s / 3600.0)).raw(s.to_string())
    })
}

fn usd(x: f64) -> Cell {
    Cell::new(format!("{x:.3}")).raw(x.to_string())
}

fn zone_name(s: &SeriesStatsDoc) -> String {
    match &s.machine {
        Some(machine) => format!("{} {machine}", s.zone),
        None => s.zone.clone(),
    }
}

fn series_table(series: &[SeriesStatsDoc], texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::left("zone", texts.get("trace-col-zone"), 0),
        Column::right("gang", texts.get("trace-col-gang"), 1),
        Column::right("available_share", texts.get("trace-col-available"), 0),
        Column::right("unknown_seconds", texts.get("trace-col-unknown-h"), 3),
        Column::right("up_runs", texts.get("trace-col-runs"), 1),
        Column::right("up_median_seconds", texts.get("trace-col-median-up"), 0),
        Column::right("up_mean_seconds", texts.get("trace-col-mean-up"), 0),
        Column::right(
            "return_median_seconds",
            texts.get("trace-col-median-return"),
            1,
        ),
        Column::right("longest_outage_seconds", texts.get("trace-col-outage"), 0),
        Column::right("price_mean", texts.get("trace-col-price"), 2),
        Column::machines("source", texts.get("trace-col-source")),
    ]);
    for s in series {
        let unknown = (s.span_seconds - s.known_seconds) as f64;
        let up = s.up.count > 0;
        table.push(vec![
            Cell::new(zone_name(s)),
            Cell::new(format!("{}/{}", s.gang, s.asked)).raw(s.gang.to_string()),
            share(s.available_share).tone(Tone::Strong),
            hours(Some(unknown)),
            Cell::new(s.up.count.to_string()),
            hours(up.then_some(s.up.median_seconds)),
            hours(up.then_some(s.up.mean_seconds)),
            hours(s.time_to_return.median_seconds),
            hours((s.down.count > 0).then_some(s.down.longest_seconds as f64)),
            s.price.as_ref().map_or_else(Cell::unknown, |p| usd(p.mean)),
            Cell::new(s.source.clone()),
        ]);
    }
    headed(table)
}

fn lives_table(doc: &TraceStatsDoc, texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::left("zone", texts.get("trace-col-zone"), 0),
        Column::left("machine", texts.get("trace-col-machine"), 0),
        Column::right("lives", texts.get("trace-col-lives"), 0),
        Column::right("ends", texts.get("trace-col-ends"), 1),
        Column::right("refused", texts.get("trace-col-refused"), 1),
        Column::right("median_seconds", texts.get("trace-col-median-life"), 0),
        Column::right(
            "restricted_mean_seconds",
            texts.get("trace-col-mean-life"),
            0,
        ),
    ]);
    for l in &doc.lives {
        table.push(vec![
            Cell::new(l.zone.clone()),
            l.machine.clone().map_or_else(Cell::unknown, Cell::new),
            Cell::new(l.lifetime.lives.to_string()),
            Cell::new(l.lifetime.ends.to_string()),
            Cell::new(l.refused.to_string()),
            hours(l.lifetime.median_seconds),
            hours(l.lifetime.restricted_mean_seconds),
        ]);
    }
    headed(table)
}

fn lifetimes(doc: &TraceStatsDoc) -> Vec<(String, &LifetimeDoc)> {
    let series = doc.series.iter().map(|s| {
        let gang = if s.asked > 1 {
            format!(" {}/{}", s.gang, s.asked)
        } else {
            String::new()
        };
        (format!("{}{gang}", zone_name(s)), &s.lifetime)
    });
    let lives = doc.lives.iter().map(|l| {
        let machine = l.machine.as_deref().unwrap_or("");
        (
            format!("{} {machine}", l.zone).trim().to_owned(),
            &l.lifetime,
        )
    });
    series.chain(lives).collect()
}

/// Ends an hour by age: a falling row is a heavy tail.
fn hazard_table(lifetimes: &[(String, &LifetimeDoc)], texts: &Texts) -> Table {
    let ages: [(&str, &str, u8); 9] = [
        ("age_0_5", "<0.5 h", 0),
        ("age_1", "<1 h", 0),
        ("age_2", "<2 h", 0),
        ("age_4", "<4 h", 0),
        ("age_8", "<8 h", 0),
        ("age_16", "<16 h", 1),
        ("age_32", "<32 h", 2),
        ("age_64", "<64 h", 3),
        ("age_more", "≥64 h", 4),
    ];
    let mut columns = vec![Column::left("zone", texts.get("trace-col-zone"), 0)];
    columns.extend(ages.map(|(key, title, rank)| Column::right(key, title, rank)));
    let mut table = Table::new(columns);
    for (name, l) in lifetimes.iter().filter(|(_, l)| l.ends > 0) {
        let mut row = vec![Cell::new(name.clone())];
        row.extend(l.by_age.iter().map(|rate| match rate.per_hour {
            Some(x) => Cell::new(format!("{x:.2}")).raw(x.to_string()),
            None => Cell::unknown(),
        }));
        table.push(row);
    }
    headed(table)
}

/// The best fit of each, beside the memoryless one.
fn fit_table(lifetimes: &[(String, &LifetimeDoc)], texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::left("zone", texts.get("trace-col-zone"), 0),
        Column::left("fit", texts.get("trace-col-best-fit"), 0),
        Column::left("parameters", texts.get("trace-col-parameters"), 0),
        Column::right("ks", "KS", 0),
        Column::right("aic", "AIC", 0),
        Column::right("aic_exponential", texts.get("trace-col-aic-exponential"), 1),
    ]);
    let number = |x: f64| Cell::new(format!("{x:.1}")).raw(x.to_string());
    for (name, l) in lifetimes {
        let Some(fit) = l.fits.first() else { continue };
        let parameters = match fit.kind.as_str() {
            "exponential" => Cell::new(format!("{:.3}/h", fit.parameters[0])),
            "weibull" => Cell::new(format!(
                "k={:.2} λ={:.2} h",
                fit.parameters[0], fit.parameters[1]
            )),
            _ => Cell::unknown(),
        };
        let plain = l.fits.iter().find(|f| f.kind == "exponential");
        table.push(vec![
            Cell::new(name.clone()),
            Cell::new(texts.term("trace-fit", &fit.kind)).raw(fit.kind.clone()),
            parameters,
            Cell::new(format!("{:.3}", fit.ks)).raw(fit.ks.to_string()),
            number(fit.aic),
            plain.map_or_else(Cell::unknown, |f| number(f.aic)),
        ]);
    }
    headed(table)
}

fn prices(report: &mut Report, doc: &TraceStatsDoc, texts: &Texts) {
    let of_series = doc
        .series
        .iter()
        .filter(|s| s.gang == 1 || s.asked > 1)
        .filter_map(|s| Some((zone_name(s), s.price.as_ref()?, None)));
    let of_paths = doc.prices.iter().map(|p| {
        let machine = p.machine.as_deref().unwrap_or("");
        (
            format!("{} {machine}", p.zone).trim().to_owned(),
            &p.price,
            Some((p.rows, p.repeats)),
        )
    });
    let mut table = Table::new(vec![
        Column::left("zone", texts.get("trace-col-zone"), 0),
        Column::left("priced_for", texts.get("trace-col-priced-for"), 2),
        Column::right("min", texts.get("trace-col-min"), 0),
        Column::right("mean", texts.get("trace-col-mean"), 0),
        Column::right("max", texts.get("trace-col-max"), 0),
        Column::right("changes", texts.get("trace-col-changes"), 0),
        Column::right("rows", texts.get("trace-col-rows"), 2),
        Column::right("at_floor_share", texts.get("trace-col-floor"), 1),
        Column::right("at_on_demand_share", texts.get("trace-col-at-on-demand"), 1),
    ]);
    for (name, p, rows) in of_series.chain(of_paths) {
        table.push(vec![
            Cell::new(name),
            p.priced_for.clone().map_or_else(Cell::unknown, Cell::new),
            usd(p.min),
            usd(p.mean),
            usd(p.max),
            Cell::new(p.changes.to_string()),
            rows.map_or_else(Cell::unknown, |(rows, _)| Cell::new(rows.to_string())),
            share(Some(p.at_floor_share)),
            share(p.at_on_demand_share),
        ]);
    }
    if !table.rows.is_empty() {
        report.heading(texts.get("trace-stats-prices"));
        report.table(headed(table));
    }
}

fn bucket_table(doc: &TraceStatsDoc, texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::left("region", texts.get("trace-col-region"), 0),
        Column::left("machine", texts.get("trace-col-machine"), 0),
        Column::left("bucket", texts.get("trace-col-bucket"), 0),
        Column::left("per_hours", texts.get("trace-col-per"), 0),
        Column::left("hazard_per_hour", texts.get("trace-col-hazard"), 0),
        Column::right("saving_share", texts.get("trace-col-saving"), 1),
    ]);
    for b in &doc.buckets {
        let percent = |x: f64| format!("{:.0}", x * 100.0);
        let bucket = match b.high_share {
            Some(high) => format!("{}–{} %", percent(b.low_share), percent(high)),
            None => format!(">{} %", percent(b.low_share)),
        };
        let per = if b.per_hours > 1.0 {
            "trace-per-month"
        } else {
            "trace-per-hour"
        };
        let range = format!("{:.5}–{:.3}", b.hazard_low_per_hour, b.hazard_high_per_hour);
        table.push(vec![
            Cell::new(b.region.clone()),
            b.machine.clone().map_or_else(Cell::unknown, Cell::new),
            Cell::new(bucket),
            Cell::new(texts.msg(&Msg::new(per))).raw(b.per_hours.to_string()),
            Cell::new(range).raw(b.hazard_middle_per_hour.to_string()),
            share(b.saving_share),
        ]);
    }
    headed(table)
}

/// The pairs that fail together most.
fn pair_table(doc: &TraceStatsDoc, texts: &Texts) -> Table {
    let mut pairs: Vec<_> = doc.correlation.iter().collect();
    pairs.sort_by(|a, b| b.correlation.total_cmp(&a.correlation));
    let mut table = Table::new(vec![
        Column::left("a", texts.get("trace-col-zone"), 0),
        Column::left("b", texts.get("trace-col-other-zone"), 0),
        Column::right("correlation", texts.get("trace-col-correlation"), 0),
    ]);
    for p in pairs.iter().take(PAIRS) {
        table.push(vec![
            Cell::new(p.a.clone()),
            Cell::new(p.b.clone()),
            Cell::new(format!("{:.2}", p.correlation)).raw(p.correlation.to_string()),
        ]);
    }
    table
}
