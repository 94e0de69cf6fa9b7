//! Decision tables of one job, solved when first asked for and kept.

use super::levels::{LEVELS, Levels};
use super::params::Params;
use super::table::{Hazards, Shape, Table, solve};
use crate::job::{HOUR_MS, Job};
use crate::market::Market;
use std::sync::OnceLock;

/// Prices relative to on-demand are rounded to so many steps.
const PRICES: usize = 25;
/// A longer job is cut into coarser steps than ticks.
const MAX_STEPS: i64 = 450;
/// Cells of slack in a step.
const FINE: i64 = 2;

/// The tables of one job on markets with one length of tick. Cheap to make; shared by all replays of the job, from any
/// number of threads.
#[derive(Debug)]
pub struct Tables {
    params: Params,
    levels: Levels,
    gap_ms: i64,
    /// One step of the tables, one cell of slack, in ms.
    step_ms: f64,
    cell_ms: f64,
    shape: Shape,
    tables: Vec<OnceLock<Table>>,
}

/// What a table answers, in the words of the job.
pub(super) struct View<'a> {
    table: &'a Table,
    left: usize,
    slack: usize,
    cell_h: f64,
}

impl Tables {
    /// For this job on this market.
    pub fn new(job: &Job, market: &Market, params: &Params) -> Tables {
        let gap = market.gap_ms;
        let ticks = job.deadline_ms / gap.max(1);
        let step = gap * (ticks / MAX_STEPS + 1);
        let cell_ms = step as f64 / FINE as f64;
        let cells = |ms: f64| ms / cell_ms;
        let lost = job.saves.map_or(0, |s| s.every_ms / 2);
        let slack = (job.deadline_ms - job.work_ms).max(0) as f64;
        Tables {
            params: *params,
            levels: Levels::new(params),
            gap_ms: gap,
            step_ms: step as f64,
            cell_ms,
            shape: Shape {
                step_h: step as f64 / HOUR_MS,
                steps: (job.deadline_ms / step) as usize + 1,
                fine: FINE as usize,
                slack: cells(slack).ceil() as usize + 1,
                overhead: cells((job.overhead_ms + lost) as f64),
                tick: cells(gap as f64),
                worth: market.zones.len() > 1,
            },
            tables: (0..LEVELS * LEVELS * PRICES)
                .map(|_| OnceLock::new())
                .collect(),
        }
    }

    /// Whether they are those of the same job on this market too.
    pub(crate) fn serve(&self, market: &Market) -> bool {
        self.gap_ms == market.gap_ms && self.shape.worth == (market.zones.len() > 1)
    }

    pub(super) fn params(&self) -> &Params {
        &self.params
    }

    pub(super) fn levels(&self) -> &Levels {
        &self.levels
    }

    /// The table for these levels of the rates and this price of spot relative to on-demand, where the job stands.
    pub(super) fn look(
        &self,
        up: usize,
        down: usize,
        price: f64,
        time_left_ms: i64,
        left_ms: i64,
    ) -> View<'_> {
        // nearest: `round` is a call, and this is asked in every tick
        let p = ((price * (PRICES - 1) as f64 + 0.5) as usize).clamp(1, PRICES - 1);
        let table = self.tables[(p * LEVELS + up) * LEVELS + down].get_or_init(|| {
            let hazards = Hazards {
                edges: self.params.edges_h,
                up: self.levels.of(true, up).per_h,
                down: self.levels.of(false, down).per_h,
            };
            solve(&self.shape, &hazards, p as f64 / (PRICES - 1) as f64)
        });
        View {
            table,
            left: (time_left_ms as f64 / self.step_ms + 0.5) as usize,
            slack: ((time_left_ms - left_ms) as f64 / self.cell_ms) as usize,
            cell_h: self.cell_ms / HOUR_MS,
        }
    }
}

impl View<'_> {
    /// What is best while nothing (or, `paid`, on-demand) runs and spot is `up`, in this age class.
    pub(super) fn act(&self, paid: bool, up: bool, class: usize) -> super::table::Act {
        self.table.act(self.left, self.slack, paid, up, class)
    }

    /// What one hour less of work would save, during an outage of this age class, in units of the on-demand price.
    pub(super) fn worth(&self, class: usize) -> f64 {
        let span = (1.0 / self.cell_h).round().max(1.0) as usize;
        self.table.worth(self.left, self.slack, class, span) / self.cell_h
    }
}
