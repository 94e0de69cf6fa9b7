//! The decision table of one zone: a dynamic programme over (time left, slack, age of the spell, what runs).
//!
//! Slack is the time left less the work left: waiting eats it, a start eats the overhead, running leaves it. A spell of
//! availability or outage ends at a rate that depends on its age class; a class is left at one over its width, so that
//! the state needs no clock. Costs are in units of the on-demand price of an hour. Backward from the deadline, for each
//! state the cheapest of: nothing, spot (where there is any), on-demand. Between two cells of slack values are
//! interpolated. Not here: what the rates are (`belief.rs`), which table applies (`tables.rs`).

use super::params::CLASSES;

/// Rates per hour at which availability ends (`up`) and outages end (`down`), by age class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hazards {
    /// Lower edges of the classes, hours.
    pub(super) edges: [f64; CLASSES],
    pub(super) up: [f64; CLASSES],
    pub(super) down: [f64; CLASSES],
}

/// What a table is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    /// Hours of a step.
    pub(super) step_h: f64,
    /// Steps to the deadline.
    pub(super) steps: usize,
    /// Cells of slack in a step.
    pub(super) fine: usize,
    /// Largest slack, in cells.
    pub(super) slack: usize,
    /// Overhead of a start, in cells.
    pub(super) overhead: f64,
    /// A tick of the market, in cells: needs are rounded up to it.
    pub(super) tick: f64,
    /// Whether [`Table::worth`] will be asked.
    pub(super) worth: bool,
}

/// What to do when nothing or on-demand runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Idle,
    Spot,
    OnDemand,
}

/// Decisions for every state.
#[derive(Debug)]
pub(super) struct Table {
    width: usize,
    steps: usize,
    cells: Vec<u32>,
    /// Cost to go from nothing running and no spot, by age class, `(steps + 1) x CLASSES x width`.
    cost: Vec<f32>,
}

impl Table {
    /// What one cell less of work would save during an outage, averaged over `span` cells; 0 where the table does not
    /// reach, infinity where the deadline cannot be kept.
    pub(super) fn worth(&self, left: usize, slack: usize, class: usize, span: usize) -> f64 {
        let left = left.min(self.steps);
        let row = (left * CLASSES + class) * self.width;
        let a = slack.min(self.width - 1);
        let b = (slack + span).min(self.width - 1);
        if a == b {
            return 0.0;
        }
        let cost = self.cost[row + a] - self.cost[row + b];
        f64::from(cost) / (b - a) as f64
    }

    /// The decision with `left` steps to go and `slack` cells: `paid`: on-demand runs, else nothing.
    pub(super) fn act(&self, left: usize, slack: usize, paid: bool, up: bool, class: usize) -> Act {
        let left = left.min(self.steps);
        let slack = slack.min(self.width - 1);
        let bits = self.cells[left * self.width + slack] >> (15 * usize::from(paid));
        if up {
            match (bits >> (2 * class)) & 3 {
                0 => Act::Idle,
                1 => Act::Spot,
                _ => Act::OnDemand,
            }
        } else if (bits >> (10 + class)) & 1 == 1 {
            Act::OnDemand
        } else {
            Act::Idle
        }
    }
}

struct Values {
    idle: Vec<Vec<f32>>,
    paid: Vec<Vec<f32>>,
    spot: Vec<Vec<f32>>,
}

impl Values {
    fn new(width: usize) -> Values {
        let rows = |n| vec![vec![f32::INFINITY; width]; n];
        Values {
            idle: rows(2 * CLASSES),
            paid: rows(2 * CLASSES),
            spot: rows(CLASSES),
        }
    }
}

/// Market states: up by class, then down by class.
fn state(up: bool, class: usize) -> usize {
    class + if up { 0 } else { CLASSES }
}

/// Solves the programme for a spot price of `price` times on-demand.
pub(super) fn solve(shape: &Shape, hazards: &Hazards, price: f64) -> Table {
    let width = shape.slack + 1;
    let mut table = Table {
        width,
        steps: shape.steps,
        cells: vec![0; (shape.steps + 1) * width],
        cost: vec![
            0.0;
            if shape.worth {
                (shape.steps + 1) * width * CLASSES
            } else {
                0
            }
        ],
    };
    let chance = |rate: f64| (1.0 - (-rate * shape.step_h).exp()) as f32;
    let ageing = |class: usize| {
        let next = hazards.edges.get(class + 1);
        next.map_or(0.0, |e| {
            (shape.step_h / (e - hazards.edges[class])).min(1.0) as f32
        })
    };
    let (spot_usd, paid_usd) = ((price * shape.step_h) as f32, shape.step_h as f32);
    let mut old = Values::new(width);
    let mut new = Values::new(width);
    let mut ahead = Values::new(width);
    // nothing left to do when slack is all that is left of the time
    let finish = |values: &mut Values, left: usize| {
        let from = left * shape.fine;
        for row in values
            .idle
            .iter_mut()
            .chain(&mut values.paid)
            .chain(&mut values.spot)
        {
            if from < width {
                row[from..].fill(0.0);
            }
        }
    };
    finish(&mut old, 0);
    let start = |row: &[f32], s: usize| {
        let at = s as f64 - shape.overhead;
        if at < 0.0 {
            return f32::INFINITY;
        }
        let low = at as usize;
        let part = (at - low as f64) as f32;
        if part == 0.0 {
            row[low]
        } else {
            row[low] * (1.0 - part) + row[low + 1] * part
        }
    };
    for left in 1..=shape.steps {
        for up in [true, false] {
            for class in 0..CLASSES {
                let m = state(up, class);
                let rate = if up { hazards.up } else { hazards.down }[class];
                let (flip, age) = (chance(rate), ageing(class));
                let older = state(up, (class + 1).min(CLASSES - 1));
                let other = state(!up, 0);
                let (a, b, c) = ((1.0 - flip) * (1.0 - age), (1.0 - flip) * age, flip);
                mix(
                    &mut ahead.idle[m],
                    &old.idle[m],
                    &old.idle[older],
                    &old.idle[other],
                    (a, b, c),
                );
                mix(
                    &mut ahead.paid[m],
                    &old.paid[m],
                    &old.paid[older],
                    &old.paid[other],
                    (a, b, c),
                );
                if up {
                    mix(
                        &mut ahead.spot[m],
                        &old.spot[m],
                        &old.spot[older],
                        &old.idle[other],
                        (a, b, c),
                    );
                }
            }
        }
        let cells = &mut table.cells[left * width..(left + 1) * width];
        for up in [true, false] {
            for class in 0..CLASSES {
                let m = state(up, class);
                for (s, cell) in cells.iter_mut().enumerate() {
                    let wait = if s >= shape.fine && s as f64 >= shape.overhead + shape.tick {
                        ahead.idle[m][s - shape.fine]
                    } else {
                        f32::INFINITY
                    };
                    let begin = paid_usd + start(&ahead.paid[m], s);
                    let stay = paid_usd + ahead.paid[m][s];
                    let take = if up && s as f64 >= 2.0 * shape.overhead + shape.tick {
                        spot_usd + start(&ahead.spot[m], s)
                    } else {
                        f32::INFINITY
                    };
                    let pick = |idle: f32, spot: f32, paid: f32| {
                        if spot <= idle && spot <= paid && spot.is_finite() {
                            (spot, 1u32)
                        } else if idle < paid {
                            (idle, 0)
                        } else {
                            (paid, 2)
                        }
                    };
                    let (v, from_idle) = pick(wait, take, begin);
                    new.idle[m][s] = v;
                    let (v, from_paid) = pick(wait, take, stay);
                    new.paid[m][s] = v;
                    if up {
                        new.spot[m][s] = spot_usd + ahead.spot[m][s];
                        *cell |= from_idle << (2 * class) | from_paid << (15 + 2 * class);
                    } else {
                        *cell |=
                            (from_idle >> 1) << (10 + class) | (from_paid >> 1) << (25 + class);
                    }
                }
            }
        }
        finish(&mut new, left);
        for class in (0..CLASSES).filter(|_| shape.worth) {
            let at = (left * CLASSES + class) * width;
            table.cost[at..at + width].copy_from_slice(&new.idle[state(false, class)]);
        }
        std::mem::swap(&mut old, &mut new);
    }
    table
}

fn mix(into: &mut [f32], same: &[f32], older: &[f32], other: &[f32], (a, b, c): (f32, f32, f32)) {
    for (((x, s), o), t) in into.iter_mut().zip(same).zip(older).zip(other) {
        // 0 times infinity is no number
        *x = if c == 0.0 { 0.0 } else { c * t }
            + if a == 0.0 { 0.0 } else { a * s }
            + if b == 0.0 { 0.0 } else { b * o };
    }
}
