//! `simulate` for people: a row a policy, what has to be known, and with `--explain` a time line. CSV has a row a
//! job.

use super::doc::{MarketDoc, PolicyDoc, ReplayDoc, SimulationDoc, ZoneDoc};
use super::timeline::timeline_table;
use crate::chart::{RangeChart, RangeRow, ranges};
use crate::{Cell, Column, Report, Table, Texts, Tone};
use lessee_model::{Money, Msg};

/// Replays side by side.
pub fn simulation_report(doc: &SimulationDoc, texts: &Texts) -> Report {
    let data = serde_json::to_value(doc).unwrap_or_default();
    let mut report = Report::new(texts.get("simulate-title"), data, "jobs");
    let job = &doc.job;
    let asked = Msg::new("simulate-job")
        .arg("work", job.work_hours)
        .arg("deadline", job.deadline_hours)
        .arg("overhead", job.overhead_hours)
        .arg("gang", job.gang)
        .arg("jobs", doc.policies.first().map_or(0.0, |p| p.jobs as f64))
        .arg("markets", doc.markets.len());
    report.text(texts.msg(&asked));
    report.table(policies(&doc.policies, texts));
    report.text(texts.get("simulate-columns"));
    report.chart(ranges(&costs(&doc.policies, texts)));
    markets(&mut report, doc, texts);
    if let Some(timeline) = &doc.timeline {
        let heading = Msg::new("simulate-timeline")
            .arg("policy", timeline.policy.clone())
            .arg("start", timeline.start_tick as f64);
        report.heading(texts.msg(&heading));
        report.table(timeline_table(timeline, texts));
        let id = if timeline.late {
            "simulate-end-late"
        } else {
            "simulate-end"
        };
        let end = Msg::new(id)
            .arg("hours", timeline.finish_hours)
            .arg("cost", timeline.cost);
        report.text(texts.msg(&end));
    }
    notes(&mut report, doc, texts);
    report.with_csv(csv(&doc.jobs))
}

fn policies(rows: &[PolicyDoc], texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::left("policy", texts.get("simulate-col-policy"), 0),
        Column::right("cost_median", texts.get("simulate-col-median"), 0),
        Column::right("cost_mean", texts.get("simulate-col-mean"), 0),
        Column::right("cost_p5_p95", texts.get("simulate-col-range"), 1),
        Column::right("saving", texts.get("simulate-col-saving"), 0),
        Column::right("late", texts.get("simulate-col-late"), 0),
        Column::right("finish_hours_mean", texts.get("simulate-col-finish"), 1),
        Column::right(
            "interruptions_mean",
            texts.get("simulate-col-lost-machines"),
            1,
        ),
        Column::right("wasted_hours_mean", texts.get("simulate-col-wasted"), 1),
        Column::right("moves_mean", texts.get("simulate-col-moves"), 2),
    ]);
    for p in rows {
        let money = |m: Money| Cell::new(texts.amount(m)).raw(m.exact());
        let mean = |x: f64| Cell::new(format!("{x:.1}")).raw(x.to_string());
        let saving = Cell::new(format!("{:.1} %", p.saving * 100.0)).raw(p.saving.to_string());
        table.push(vec![
            Cell::new(p.policy.clone()),
            money(p.cost_median),
            money(p.cost_mean).tone(Tone::Strong),
            Cell::new(format!(
                "{}–{}",
                short(p.cost_p5, texts),
                short(p.cost_p95, texts)
            )),
            if p.saving < 0.0 {
                saving.tone(Tone::Warn)
            } else {
                saving
            },
            Cell::new(p.late.to_string()).tone(if p.late > 0 { Tone::Bad } else { Tone::Plain }),
            mean(p.finish_hours_mean),
            mean(p.interruptions_mean),
            mean(p.wasted_hours_mean),
            mean(p.moves_mean),
        ]);
    }
    table
}

/// What each policy would have cost, beside on-demand alone.
fn costs(rows: &[PolicyDoc], texts: &Texts) -> RangeChart {
    let number = |m: Money| m.exact().parse().unwrap_or(f64::NAN);
    let row = |p: &PolicyDoc| RangeRow {
        label: p.policy.clone(),
        value: texts.amount(p.cost_mean),
        low: number(p.cost_p5),
        median: number(p.cost_median),
        mean: number(p.cost_mean),
        high: number(p.cost_p95),
    };
    // savings are against the mean of the same starts on demand
    let on_demand = |p: &PolicyDoc| number(p.cost_mean) / (1.0 - p.saving);
    RangeChart {
        key: "costs".to_owned(),
        title: texts.get("simulate-chart"),
        description: texts.get("simulate-chart-description"),
        legend: texts.get("simulate-chart-legend"),
        axis_label: texts.get("simulate-chart-axis"),
        rows: rows.iter().map(row).collect(),
        against: rows.first().map(on_demand),
    }
}

/// Markets that people are told of; programs get all.
const MARKETS: usize = 8;

/// The records and the prices behind the figures: without them nobody could check one.
fn markets(report: &mut Report, doc: &SimulationDoc, texts: &Texts) {
    let zone = |market: &MarketDoc, z: &ZoneDoc| {
        let share = z.available_share.map_or(0.0, |s| s * 100.0);
        let msg = Msg::new("simulate-market")
            .arg("trace", market.trace.clone())
            .arg("zone", z.zone.clone())
            .arg("share", share)
            .arg("spot", texts.unit_price(z.spot_price))
            .arg("ondemand", texts.unit_price(z.on_demand_price))
            .arg(
                "start",
                market.start.clone().unwrap_or_else(|| "–".to_owned()),
            )
            .seconds("span", market.ticks as f64 * market.tick_seconds)
            .arg("starts", market.starts as f64);
        texts.msg(&msg)
    };
    let all: Vec<(&MarketDoc, &ZoneDoc)> = doc
        .markets
        .iter()
        .flat_map(|m| m.zones.iter().map(move |z| (m, z)))
        .collect();
    let mut lines: Vec<String> = all.iter().take(MARKETS).map(|(m, z)| zone(m, z)).collect();
    if all.len() > MARKETS {
        let left = all.len() - MARKETS;
        lines.push(texts.msg(&Msg::new("simulate-more-markets").arg("n", left)));
    }
    report.heading(texts.get("simulate-markets"));
    report.list(lines);
}

/// Whole dollars where cents would be noise.
fn short(cost: Money, texts: &Texts) -> String {
    let x: f64 = cost.exact().parse().unwrap_or(0.0);
    if x >= 20.0 {
        format!("{x:.0}")
    } else {
        texts.amount(cost)
    }
}

/// What is said of several records is said once, with their number.
fn notes(report: &mut Report, doc: &SimulationDoc, texts: &Texts) {
    let mut lines: Vec<(&str, Vec<&str>)> = Vec::new();
    let only = doc.markets.len() == 1;
    for n in &doc.notes {
        let place = if n.zone.is_empty() && only {
            ""
        } else if n.zone.is_empty() {
            n.trace.as_str()
        } else {
            n.zone.as_str()
        };
        match lines.iter_mut().find(|(text, _)| *text == n.text) {
            Some((_, places)) => places.push(place),
            None => lines.push((&n.text, vec![place])),
        }
    }
    if lines.is_empty() {
        return;
    }
    report.heading(texts.get("trace-remarks"));
    let line = |(text, mut places): (&str, Vec<&str>)| {
        places.retain(|p| !p.is_empty());
        places.dedup();
        match places.len() {
            0 => text.to_owned(),
            1..=4 => format!("{}: {text}", places.join(", ")),
            n => {
                let more = Msg::new("trace-and-more")
                    .arg("zones", places[..3].join(", "))
                    .arg("n", n - 3);
                format!("{}: {text}", texts.msg(&more))
            }
        }
    };
    report.list(lines.into_iter().map(line).collect());
}

/// A row a job; the keys are those of the JSON document, costs in USD.
fn csv(jobs: &[ReplayDoc]) -> String {
    let mut out = String::from(
        "policy,trace,start_tick,cost,currency,on_demand_hours,spot_hours,wasted_hours,interruptions,moves,finish_hours,late,unknown_hours\n",
    );
    for j in jobs {
        let fields = [
            j.policy.clone(),
            quoted(&j.trace),
            j.start_tick.to_string(),
            j.cost.exact(),
            j.cost.currency.as_str().to_owned(),
            j.on_demand_hours.to_string(),
            j.spot_hours.to_string(),
            j.wasted_hours.to_string(),
            j.interruptions.to_string(),
            j.moves.to_string(),
            j.finish_hours.to_string(),
            j.late.to_string(),
            j.unknown_hours.to_string(),
        ];
        out.push_str(&fields.join(","));
        out.push('\n');
    }
    out
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
