//! Policies: what to rent in the next tick. One file each, with its source.
//!
//! A policy answers with an ordered list of [`Choice`]s; whoever carries it out (the replay here, the supervisor
//! in life) tries them in turn and reports what started. That way both follow the same code.

mod cheapest_spot;
mod greedy;
pub mod lessee;
mod on_demand;
mod skynomad;
mod time_sliced;
mod uniform_progress;
mod uniform_zones;

pub use cheapest_spot::CheapestSpot;
pub use greedy::Greedy;
pub use on_demand::OnDemand;
pub use skynomad::{Settings as SkyNomadSettings, SkyNomad, Value as SkyNomadValue};
pub use time_sliced::TimeSliced;
pub use uniform_progress::UniformProgress;
pub use uniform_zones::{UniformByAvailability, UniformByAvailabilityAndPrice, UniformBySwitching};

use crate::job::{Job, ceil_div};
use crate::market::Market;

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Running {
    /// Nothing.
    Idle,
    /// Spot in this zone.
    Spot(usize),
    /// On-demand in this zone.
    OnDemand(usize),
}

/// One thing to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Run nothing.
    Idle,
    /// Go on with what runs, nothing included.
    Keep,
    /// Stop what runs, then go on down the list: whatever starts after it is a new start, also where it ran.
    Stop,
    /// Spot in this zone: may be refused.
    Spot(usize),
    /// On-demand in this zone: always starts.
    OnDemand(usize),
}

/// What a policy may know at the start of a tick.
#[derive(Debug)]
pub struct Now<'a> {
    /// The job.
    pub job: &'a Job,
    /// The zones and their prices. A policy that is not an oracle reads `gap_ms`, `on_demand`, `egress` and,
    /// through [`Now::price`] and [`Now::seen`], the present tick.
    pub market: &'a Market,
    /// Ticks since the start of the job.
    pub tick: i64,
    /// Whole ticks from the start to the deadline.
    pub limit: i64,
    /// Index of this tick in the market.
    pub at: usize,
    /// Useful work left, in ms.
    pub left_ms: i64,
    /// Part of the overhead of the running machine that is not yet over, in ms.
    pub cold_ms: i64,
    /// What runs now.
    pub running: Running,
    /// What ran in the last tick: differs from `running` when spot was taken away.
    pub last: Running,
    /// Zone of the newest checkpoint; `None` before the first start.
    pub home: Option<usize>,
    /// Whether the state of every zone is seen each tick without asking (one-zone benchmarks).
    pub open: bool,
}

impl Now<'_> {
    /// Time since the start, in ms.
    pub fn elapsed_ms(&self) -> i64 {
        self.tick * self.market.gap_ms
    }

    /// Time until the deadline, in ms; may be negative.
    pub fn time_left_ms(&self) -> i64 {
        self.job.deadline_ms - self.elapsed_ms()
    }

    /// Whole ticks until the deadline; may be negative.
    pub fn ticks_left(&self) -> i64 {
        self.limit - self.tick
    }

    /// Whether the work left and `starts` starts need `ticks` whole ticks or more.
    pub fn needs(&self, starts: i64, ticks: i64) -> bool {
        // a division of this by the tick would be most of the time of a replay
        self.needed_ms(starts) > (ticks - 1) * self.market.gap_ms
    }

    /// Time that the work left and `starts` starts need, with the saves among the work, and with what each loss of
    /// spot before the last start can take back. Beyond what can be counted it is just too long.
    fn needed_ms(&self, starts: i64) -> i64 {
        let (mut work, mut lost) = (self.left_ms, 0);
        if let Some(saves) = self.job.saves {
            let on_spot = i64::from(matches!(self.running, Running::Spot(_)));
            lost = (starts - 1 + on_spot).saturating_mul(saves.every_ms);
            let saved = ceil_div(work.saturating_add(lost), saves.every_ms);
            work = work.saturating_add(saved.saturating_mul(saves.block_ms));
        }
        work.saturating_add(lost)
            .saturating_add(starts * self.job.overhead_ms)
    }

    /// Useful work done, in ms.
    pub fn done_ms(&self) -> i64 {
        self.job.work_ms - self.left_ms
    }

    /// Spot price of a zone in this tick, USD an hour.
    pub fn price(&self, zone: usize) -> f64 {
        self.market.zones[zone].spot[self.at]
    }

    /// Whether spot can be had in a zone, where that is seen without asking.
    pub fn seen(&self, zone: usize) -> Option<bool> {
        self.open
            .then(|| self.market.zones[zone].cells[self.at] == crate::Cell::Up)
    }

    /// The zone where on-demand is cheapest for the rest of the work, the move of the checkpoint included.
    pub fn cheapest_on_demand(&self) -> usize {
        let hours = (self.left_ms + self.job.overhead_ms) as f64 / crate::job::HOUR_MS;
        let cost = |z: usize| {
            let moved = self
                .home
                .map_or(0.0, |h| self.market.egress(h, z) * self.job.checkpoint_gb);
            self.market.zones[z].on_demand * hours + moved
        };
        // a move that takes time is not for the last moment
        let in_time = |z: usize| {
            let Some(home) = self.home else { return true };
            let n = self.market.zones.len();
            let moved = self.market.transfer_ms_per_gb[home * n + z] * self.job.checkpoint_gb;
            let ticks = ceil_div(moved.round() as i64, self.market.gap_ms);
            z == home || !self.needs(1, self.ticks_left() - ticks + 1)
        };
        (0..self.market.zones.len())
            .filter(|&z| in_time(z))
            .reduce(|best, z| if cost(z) < cost(best) { z } else { best })
            .or(self.home)
            .unwrap_or(0)
    }

    /// The safety net of Can't Be Late (Wu et al., NSDI 2024) for a policy that looks at one zone: when
    /// nothing or on-demand runs and two more starts no longer fit, on-demand until the end. A start on spot
    /// outside it leaves room for one more start.
    pub(crate) fn net(&self) -> bool {
        !matches!(self.running, Running::Spot(_)) && self.needs(2, self.ticks_left())
    }

    /// Whether spot that runs is better kept in the last moments: it costs less than on-demand, or a start on demand
    /// would be late.
    pub(crate) fn worth_keeping(&self, zone: usize) -> bool {
        self.price(zone) < least_on_demand(self) || self.needs(1, self.ticks_left() + 1)
    }

    /// Whether the running machine does useful work already.
    pub(crate) fn warm(&self) -> bool {
        self.cold_ms == 0
    }
}

/// A rule for renting. All state that it keeps between ticks is its own.
pub trait Policy {
    /// What to try now, best first. An empty list is [`Choice::Idle`].
    fn decide(&mut self, now: &Now, out: &mut Vec<Choice>);

    /// A spot launch was tried in `zone`.
    fn launched(&mut self, _now: &Now, _zone: usize, _started: bool) {}

    /// The choice is made and `running` runs for this tick; zones to probe go into `out`. Not called any more once
    /// [`crate::Guard::Latch`] has taken over.
    fn settled(&mut self, _now: &Now, _running: Running, _out: &mut Vec<usize>) {}

    /// A probe of `zone` was answered.
    fn probed(&mut self, _now: &Now, _zone: usize, _up: bool) {}
}

/// The cheapest on-demand price of all zones: nobody should pay that for a machine that can be taken away.
fn least_on_demand(now: &Now) -> f64 {
    let prices = now.market.zones.iter().map(|z| z.on_demand);
    prices.fold(f64::INFINITY, f64::min)
}

/// Spot in every zone: where it runs first, then by price now, cheapest first. Zones whose spot price is not below
/// [`least_on_demand`] are left out, also where it runs.
fn spot_by_price(now: &Now, out: &mut Vec<Choice>) {
    let least = least_on_demand(now);
    if let Running::Spot(zone) = now.running
        && now.price(zone) < least
    {
        out.push(Choice::Spot(zone));
        return;
    }
    let first = out.len();
    let zones = 0..now.market.zones.len();
    out.extend(zones.filter(|&z| now.price(z) < least).map(Choice::Spot));
    if out.len() - first > 1 {
        out[first..].sort_by(|a, b| {
            let price = |c: &Choice| match c {
                Choice::Spot(z) => now.price(*z),
                _ => f64::INFINITY,
            };
            price(a).total_cmp(&price(b))
        });
    }
}
