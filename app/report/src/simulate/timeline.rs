//! One job as a time line: stretches in which the same thing ran.

use super::doc::{SimulatedMarket, usd};
use crate::{Cell, Column, Table, Texts, Tone};
use lessee_model::Money;
use lessee_spot::policy::Running;
use lessee_spot::{Outcome, PolicyName, replay::Step};
use schemars::JsonSchema;
use serde::Serialize;

const HOUR_MS: f64 = 3_600_000.0;

/// One job as it was lived.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TimelineDoc {
    pub policy: String,
    pub trace: String,
    pub start_tick: u64,
    pub segments: Vec<SegmentDoc>,
    pub finish_hours: f64,
    pub cost: Money,
    pub late: bool,
}

/// A stretch in which the same machine ran, or none.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SegmentDoc {
    /// Hours since the start of the job.
    pub from_hours: f64,
    pub to_hours: f64,
    /// `idle`, `spot`, `on_demand`
    pub running: String,
    /// Null while nothing runs.
    pub zone: Option<String>,
    /// Spot was taken away as it began.
    pub interrupted: bool,
    /// A machine started, and paid the overhead of a start.
    pub started: bool,
    /// Useful work left as it began.
    pub work_left_hours: f64,
    /// Cost of the machine in it.
    pub cost: Money,
}

pub(super) fn timeline_doc(
    policy: PolicyName,
    m: &SimulatedMarket,
    start: usize,
    outcome: &Outcome,
    steps: &[Step],
) -> TimelineDoc {
    let market = &m.grid.market;
    let tick_h = market.gap_ms as f64 / HOUR_MS;
    let mut segments: Vec<SegmentDoc> = Vec::new();
    let mut costs: Vec<f64> = Vec::new();
    let mut last: Option<Running> = None;
    for step in steps {
        let at = (start + step.tick as usize).min(market.ticks().saturating_sub(1));
        let (running, zone, price) = match step.running {
            Running::Idle => ("idle", None, 0.0),
            Running::Spot(z) => ("spot", Some(z), market.zones[z].spot[at]),
            Running::OnDemand(z) => ("on_demand", Some(z), market.zones[z].on_demand),
        };
        if last != Some(step.running) || step.preempted || step.started {
            segments.push(SegmentDoc {
                from_hours: step.tick as f64 * tick_h,
                to_hours: 0.0,
                running: running.to_owned(),
                zone: zone.map(|z| market.zones[z].name.clone()),
                interrupted: step.preempted,
                started: step.started,
                work_left_hours: step.left_ms as f64 / HOUR_MS,
                cost: usd(0.0),
            });
            costs.push(0.0);
        }
        last = Some(step.running);
        if let (Some(segment), Some(cost)) = (segments.last_mut(), costs.last_mut()) {
            segment.to_hours = (step.tick + 1) as f64 * tick_h;
            *cost += price * tick_h;
            segment.cost = usd(*cost);
        }
    }
    TimelineDoc {
        policy: policy.as_str().to_owned(),
        trace: m.trace.clone(),
        start_tick: start as u64,
        segments,
        finish_hours: outcome.finish_tick as f64 * tick_h,
        cost: usd(outcome.cost),
        late: outcome.late,
    }
}

pub(super) fn timeline_table(doc: &TimelineDoc, texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::right("from_hours", texts.get("simulate-col-from"), 0),
        Column::right("to_hours", texts.get("simulate-col-to"), 0),
        Column::left("running", texts.get("simulate-col-running"), 0),
        Column::left("zone", texts.get("simulate-col-zone"), 1),
        Column::left("event", texts.get("simulate-col-event"), 0),
        Column::right("work_left_hours", texts.get("simulate-col-left"), 0),
        Column::right("cost", texts.get("simulate-col-usd"), 0),
    ]);
    for s in &doc.segments {
        let event = match (s.interrupted, s.started) {
            (true, true) => texts.get("simulate-event-replaced"),
            (true, false) => texts.get("simulate-event-interrupted"),
            (false, true) => texts.get("simulate-event-started"),
            (false, false) => String::new(),
        };
        let hours = |h: f64| Cell::new(format!("{h:.2}")).raw(h.to_string());
        let running = texts.term("simulate-running", &s.running);
        table.push(vec![
            hours(s.from_hours),
            hours(s.to_hours),
            Cell::new(running).raw(s.running.clone()),
            s.zone.clone().map_or_else(Cell::unknown, Cell::new),
            Cell::new(event).tone(if s.interrupted {
                Tone::Warn
            } else {
                Tone::Plain
            }),
            hours(s.work_left_hours),
            Cell::new(texts.amount(s.cost)).raw(s.cost.exact()),
        ]);
    }
    table
}
