//! Our own policy.

mod table;
mod zones;
pub use zones::Zones;

use super::{Choice, Now, Policy, Running};
use crate::job::{HOUR_MS, Job};
use crate::market::Market;
use std::sync::{Arc, OnceLock};
use table::{Act, CLASSES, EDGES, Hazards, Shape, Table, solve};

/// Pooled rates per hour.
const PRIOR: Hazards = Hazards {
    up: [1.3, 0.65, 0.36, 0.18, 0.1],
    down: [2.4, 1.0, 0.45, 0.25, 0.15],
};

/// Scales of the tables.
const SCALES: [f64; 13] = [
    0.125, 0.1768, 0.25, 0.3536, 0.5, 0.7071, 1.0, 1.4142, 2.0, 2.8284, 4.0, 5.6569, 8.0,
];

/// Tables for one job on one market, built when first asked for.
pub struct Tables {
    shape: Shape,
    step_ms: f64,
    cell_ms: f64,
    tables: Vec<OnceLock<Table>>,
    /// Strength of the prior, in events.
    pub prior: f64,
}

impl Tables {
    /// For `job` at these prices.
    pub fn new(
        job: &Job,
        gap_ms: i64,
        spot: f64,
        on_demand: f64,
        fine: usize,
        prior: f64,
    ) -> Arc<Tables> {
        let step_ms = gap_ms as f64;
        let cell_ms = step_ms / fine as f64;
        let slack = ((job.deadline_ms - job.work_ms) as f64 / cell_ms).ceil() as usize + 1;
        let steps = (job.deadline_ms as f64 / step_ms).floor() as usize;
        Arc::new(Tables {
            shape: Shape {
                step_h: step_ms / HOUR_MS,
                steps,
                fine,
                slack,
                overhead: job.overhead_ms as f64 / cell_ms,
                spot,
                on_demand,
            },
            step_ms,
            cell_ms,
            tables: (0..SCALES.len() * SCALES.len())
                .map(|_| OnceLock::new())
                .collect(),
            prior,
        })
    }

    fn get(&self, up: f64, down: f64) -> &Table {
        let nearest = |x: f64| {
            let i = (2.0 * x.ln() / 2f64.ln() + 6.0).round();
            i.clamp(0.0, SCALES.len() as f64 - 1.0) as usize
        };
        let (i, j) = (nearest(up), nearest(down));
        self.tables[i * SCALES.len() + j].get_or_init(|| {
            solve(
                &self.shape,
                &Hazards {
                    up: PRIOR.up.map(|h| h * SCALES[i]),
                    down: PRIOR.down.map(|h| h * SCALES[j]),
                },
            )
        })
    }
}

/// What was seen of one zone.
#[derive(Clone, Debug)]
struct Seen {
    up: bool,
    age_h: f64,
    /// Events and expected events, of going away and coming back.
    events: [f64; 2],
    expected: [f64; 2],
}

fn class(age_h: f64) -> usize {
    EDGES.iter().rposition(|&e| age_h >= e - 1e-9).unwrap_or(0)
}

/// Our own policy in one zone.
pub struct Lessee {
    tables: Arc<Tables>,
    seen: Option<Seen>,
}

impl Lessee {
    /// With tables shared by many replays of one job.
    pub fn new(tables: Arc<Tables>) -> Lessee {
        Lessee { tables, seen: None }
    }

    fn watch(&mut self, up: bool, step_h: f64) {
        let Some(seen) = &mut self.seen else {
            // how long it has been so is not known: a spell seen at random is an old one
            self.seen = Some(Seen {
                up,
                age_h: tweak(2, 1.0),
                events: [0.0; 2],
                expected: [0.0; 2],
            });
            return;
        };
        step(seen, up, step_h);
    }
}

fn step(seen: &mut Seen, up: bool, step_h: f64) {
    let keep = 0.5f64.powf(step_h / tweak(3, 8.0));
    for i in 0..2 {
        seen.events[i] *= keep;
        seen.expected[i] *= keep;
    }
    let side = usize::from(!seen.up);
    let rates = if seen.up { PRIOR.up } else { PRIOR.down };
    seen.expected[side] += rates[class(seen.age_h)] * step_h;
    if seen.up == up {
        seen.age_h += step_h;
    } else {
        seen.events[side] += 1.0;
        seen.up = up;
        seen.age_h = 0.0;
    }
}

impl Policy for Lessee {
    fn decide(&mut self, now: &Now, out: &mut Vec<Choice>) {
        let up = now.seen(0).unwrap_or(false);
        let step_h = now.market.gap_ms as f64 / HOUR_MS;
        self.watch(up, step_h);
        let Some(seen) = &self.seen else { return };
        if let Running::Spot(zone) = now.running {
            out.push(Choice::Spot(zone));
            return;
        }
        let left = now.ticks_left();
        // a start on spot must leave room for one on demand, also when it is lost at once
        if now.ticks_needed(2) >= left
            && (matches!(now.running, Running::OnDemand(_)) || now.ticks_needed(1) >= left)
        {
            out.push(Choice::OnDemand(0));
            return;
        }
        let t = &self.tables;
        let scale = |i: usize| (t.prior + seen.events[i]) / (t.prior + seen.expected[i]);
        let table = t.get(scale(0) * tweak(0, 1.4), scale(1) * tweak(1, 1.0));
        let slack = (now.time_left_ms() - now.left_ms) as f64 / t.cell_ms;
        let steps = (now.time_left_ms() as f64 / t.step_ms).round() as usize;
        let paid = matches!(now.running, Running::OnDemand(_));
        let act = table.act(
            steps,
            slack.max(0.0) as usize,
            paid,
            up,
            class(seen.age_h).min(CLASSES - 1),
        );
        match act {
            Act::Spot if now.ticks_needed(2) < left => out.push(Choice::Spot(0)),
            Act::Spot | Act::OnDemand => out.push(Choice::OnDemand(0)),
            Act::Idle if now.ticks_needed(1) < left => out.push(Choice::Idle),
            Act::Idle => out.push(Choice::OnDemand(0)),
        }
    }
}

pub fn tweak(i: usize, default: f64) -> f64 {
    static T: OnceLock<Vec<Option<f64>>> = OnceLock::new();
    T.get_or_init(|| {
        (0..20)
            .map(|i| {
                std::env::var(format!("T{i}"))
                    .ok()
                    .and_then(|v| v.parse().ok())
            })
            .collect()
    })[i]
        .unwrap_or(default)
}

#[allow(unused)]
fn unused(_: &Market) {}
