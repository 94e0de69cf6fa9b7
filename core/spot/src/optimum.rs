//! The least cost that anybody could have reached who knew the whole record: a dynamic programme over ticks,
//! progress and what runs. The bound for every policy.
//!
//! State: what runs (nothing with the checkpoint in a region, spot or on-demand in a zone) and progress p in
//! units of gcd(tick, overhead), so that progress is always whole. A start is a debt: p falls by the overhead. A
//! start that is cut short before its overhead is over is never optimal, so this is exact (Can't Be Late, NSDI
//! 2024, gives the same objective as an integer programme; its cases agree to 0.001 USD). Checked job by job against a
//! second programme: 1,080 jobs in one zone, 95 over several (tests). Saves are left out: who
//! knows when spot is taken away saves just before, so with saves this is a bound and not the optimum.

use crate::job::{Job, ceil_div};
use crate::market::{Cell, Market};
use crate::policy::{Choice, Now, Policy, Running};
use crate::replay::{Guard, Outcome, Rules, Step, replay_with};

/// More units of progress than this are not worth their time: the unit is made coarser. For the least cost work and
/// overheads are then rounded down, so that it stays a bound, for the plan up, so that it can be carried out.
const MAX_UNITS: i64 = 40_000;

/// Least cost of `job` from market tick `start` in USD; `None`: not even on-demand keeps the deadline.
pub fn least_cost(job: &Job, market: &Market, start: usize) -> Option<f64> {
    let (cost, _) = Programme::new(job, market, start, false).run(None)?;
    Some(cost)
}

/// What to run in each tick for [`least_cost`]; shorter than the deadline where the work is done before.
pub fn plan(job: &Job, market: &Market, start: usize) -> Option<Vec<Running>> {
    solve(job, market, start).map(|(_, steps)| steps)
}

/// The plan and, where it is exact, its cost.
fn solve(job: &Job, market: &Market, start: usize) -> Option<(Option<f64>, Vec<Running>)> {
    let programme = Programme::new(job, market, start, true);
    // more zones than modes have numbers (some twenty thousand): no plan rather than a wrong one
    if programme.modes() >= GOES_ON {
        return None;
    }
    let mut choices = Vec::new();
    if let Some((cost, end)) = programme.run(Some(&mut choices)) {
        let steps = programme.script(&choices, end);
        return Some(((!programme.coarse).then_some(cost), steps));
    }
    // rounded up it may not fit where it just does
    let alone = ceil_div(job.work_ms + job.overhead_ms, market.gap_ms) as usize;
    if !programme.coarse || alone > programme.ticks {
        return None;
    }
    let price = |z: &usize| market.zones[*z].on_demand;
    let zones = 0..market.zones.len();
    let cheapest = zones.min_by(|a, b| price(a).total_cmp(&price(b)))?;
    Some((None, vec![Running::OnDemand(cheapest); alone]))
}

/// [`least_cost`] with what it does: the plan, replayed without a guard.
pub fn optimum(job: &Job, market: &Market, start: usize) -> Option<Outcome> {
    optimum_watched(job, market, start, |_| {})
}

/// [`optimum`] with every tick shown to `watch`.
pub fn optimum_watched(
    job: &Job,
    market: &Market,
    start: usize,
    watch: impl FnMut(Step),
) -> Option<Outcome> {
    let (cost, steps) = solve(job, market, start)?;
    let mut script = Script { steps };
    let rules = Rules {
        guard: Guard::Off,
        open: true,
        probe_s: 0.0,
    };
    // a bound: neither saves nor what increments add
    let plain = Job {
        saves: None,
        billing_ms: 0,
        ..*job
    };
    let outcome = replay_with(&plain, market, start, rules, &mut script, watch);
    debug_assert!(
        cost.is_none_or(|c| (outcome.cost - c).abs() < 1e-6 * c.max(1.0)),
        "{cost:?} {outcome:?}"
    );
    Some(outcome)
}

/// Whether the plan of this job can be worked out in memory: two bytes for each tick, mode and unit of progress that can
/// still be in time.
pub fn is_small_enough(job: &Job, market: &Market) -> bool {
    let programme = Programme::new(job, market, 0, true);
    let slack = (programme.ticks * programme.gap).saturating_sub(programme.work) + programme.zero;
    let width = slack.min(programme.work) + programme.gap;
    let cells = programme.ticks as f64 * programme.modes() as f64 * width as f64;
    cells * size_of::<Mode>() as f64 <= MOST_BYTES && programme.modes() < GOES_ON
}

/// Choices that are kept for reading a plan back: a gigabyte.
const MOST_BYTES: f64 = 1e9;

/// A mode, as it is kept.
type Mode = u16;

/// Follows a list of what to run.
struct Script {
    steps: Vec<Running>,
}

impl Policy for Script {
    fn decide(&mut self, now: &Now, out: &mut Vec<Choice>) {
        out.push(match self.steps.get(now.tick as usize) {
            Some(Running::Spot(zone)) => Choice::Spot(*zone),
            Some(Running::OnDemand(zone)) => Choice::OnDemand(*zone),
            _ => Choice::Idle,
        });
    }
}

/// The last choices of every tick, mode and progress, for reading the plan back.
struct Choices {
    low: usize,
    width: usize,
    /// Mode before, `modes x width`.
    from: Vec<Mode>,
}

/// In [`Choices`]: the machine ran before and goes on. No mode has this number: there are fewer.
const GOES_ON: usize = Mode::MAX as usize;

struct Programme<'a> {
    market: &'a Market,
    start: usize,
    ticks: usize,
    /// Units of one tick, of all work.
    gap: usize,
    work: usize,
    /// Units of a start from region to region, row by row; the diagonal is a start at home.
    debt: Vec<usize>,
    /// USD for moving the checkpoint from region to region.
    move_usd: Vec<f64>,
    /// Region of each zone.
    region: Vec<usize>,
    regions: usize,
    /// Index of progress 0.
    zero: usize,
    coarse: bool,
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl<'a> Programme<'a> {
    fn new(job: &Job, market: &'a Market, start: usize, up: bool) -> Programme<'a> {
        let n = market.zones.len();
        // Where moving costs nothing, all zones are one region.
        let free = |i: usize, j: usize| {
            job.checkpoint_gb == 0.0
                || (market.egress(i, j) == 0.0 && market.transfer_ms_per_gb[i * n + j] == 0.0)
        };
        let mut region = Vec::with_capacity(n);
        let mut first: Vec<usize> = Vec::new();
        for zone in 0..n {
            let known = first.iter().position(|&f| free(f, zone) && free(zone, f));
            region.push(known.unwrap_or_else(|| {
                first.push(zone);
                first.len() - 1
            }));
        }
        let regions = first.len();
        let pairs = || {
            first
                .iter()
                .flat_map(|&a| first.iter().map(move |&b| a * n + b))
        };
        let debts: Vec<i64> = pairs()
            .map(|i| {
                let extra = market.transfer_ms_per_gb[i] * job.checkpoint_gb;
                job.overhead_ms + extra.round() as i64
            })
            .collect();
        let exact = debts.iter().fold(market.gap_ms, |u, &d| gcd(u, d)).max(1);
        let least = ceil_div(job.work_ms, MAX_UNITS).max(1);
        let coarse = exact < least;
        // a tick is a whole number of units, whatever their length
        let gap = market.gap_ms / if coarse { least } else { exact };
        let gap = gap.max(1) as usize;
        let units = |ms: i64| {
            let (all, one) = (ms as i128 * gap as i128, i128::from(market.gap_ms));
            (if up { (all + one - 1) / one } else { all / one }) as usize
        };
        let debt: Vec<usize> = debts.iter().map(|d| units(*d)).collect();
        Programme {
            market,
            start,
            ticks: job.deadline_ms.div_euclid(market.gap_ms).max(0) as usize,
            gap,
            work: if coarse {
                units(job.work_ms)
            } else {
                ceil_div(job.work_ms, exact) as usize
            },
            zero: debt.iter().max().map_or(0, |d| *d) + gap,
            debt,
            move_usd: pairs()
                .map(|i| market.egress[i] * job.checkpoint_gb)
                .collect(),
            region,
            regions,
            coarse,
        }
    }

    /// Modes: 0 not started, then idle by region, then spot and on-demand by zone.
    fn idle(&self, region: usize) -> usize {
        1 + region
    }
    fn spot(&self, zone: usize) -> usize {
        1 + self.regions + 2 * zone
    }
    fn on_demand(&self, zone: usize) -> usize {
        self.spot(zone) + 1
    }
    fn modes(&self) -> usize {
        1 + self.regions + 2 * self.region.len()
    }

    /// The least cost and where it ends: mode, progress, ticks.
    fn run(&self, mut choices: Option<&mut Vec<Choices>>) -> Option<(f64, (usize, usize, usize))> {
        let size = self.zero + self.work + self.gap + self.zero + 1;
        let inf = f64::INFINITY;
        let done = self.zero + self.work;
        let max_debt = self.zero - self.gap;
        let mut f = vec![vec![inf; size]; self.modes()];
        let mut g = f.clone();
        let mut least = vec![vec![inf; size]; self.regions];
        let mut start_at = vec![vec![inf; size]; self.regions];
        f[0][self.zero] = 0.0;
        let (mut best, mut end) = (inf, (0, 0, 0));
        let tick_h = self.market.gap_ms as f64 / crate::job::HOUR_MS;
        let covered = self.market.ticks();
        for t in 0..self.ticks {
            // progress that can be reached, and that can still be finished
            let high = (self.zero + (t + 1) * self.gap).min(done + self.gap - 1);
            let low = (done + (t + 1) * self.gap)
                .saturating_sub(self.ticks * self.gap)
                .max(self.gap);
            if low > high {
                return None;
            }
            let range = low..high + 1;
            // sources reach one tick back and one debt forth
            let (from, to) = (low - self.gap, (high + max_debt).min(size - 1));
            for (r, min) in least.iter_mut().enumerate() {
                min[from..=to].copy_from_slice(&f[self.idle(r)][from..=to]);
                for zone in (0..self.region.len()).filter(|&z| self.region[z] == r) {
                    for mode in [self.spot(zone), self.on_demand(zone)] {
                        lower(&mut min[from..=to], &f[mode][from..=to], 0.0);
                    }
                }
            }
            for (r, begun) in start_at.iter_mut().enumerate() {
                let home = self.debt[r * self.regions + r];
                shifted(begun, &range, &f[0], home, self.gap, 0.0, true);
                for (q, min) in least.iter().enumerate() {
                    let pair = q * self.regions + r;
                    let (debt, usd) = (self.debt[pair], self.move_usd[pair]);
                    shifted(begun, &range, min, debt, self.gap, usd, false);
                }
            }
            g[0][range.clone()].copy_from_slice(&f[0][range.clone()]);
            for (r, min) in least.iter().enumerate() {
                g[self.idle(r)][range.clone()].copy_from_slice(&min[range.clone()]);
            }
            let at = (self.start + t).min(covered.saturating_sub(1));
            for (zone, rented) in self.market.zones.iter().enumerate() {
                let begun = &start_at[self.region[zone]];
                let back = low - self.gap..high + 1 - self.gap;
                let spot = self.spot(zone);
                if self.start + t < covered && rented.cells[at] == Cell::Up {
                    let price = rented.spot[at] * tick_h;
                    go_on(
                        &mut g[spot][range.clone()],
                        &f[spot][back.clone()],
                        &begun[range.clone()],
                        price,
                    );
                } else {
                    g[spot][range.clone()].fill(inf);
                }
                let paid = self.on_demand(zone);
                let price = rented.on_demand * tick_h;
                go_on(
                    &mut g[paid][range.clone()],
                    &f[paid][back],
                    &begun[range.clone()],
                    price,
                );
            }
            for (mode, costs) in g.iter().enumerate() {
                for (p, cost) in costs.iter().enumerate().take(high + 1).skip(done) {
                    if *cost < best {
                        best = *cost;
                        end = (mode, p, t + 1);
                    }
                }
            }
            if let Some(all) = choices.as_deref_mut() {
                all.push(self.choices(&f, low, high));
            }
            std::mem::swap(&mut f, &mut g);
        }
        best.is_finite().then_some((best, end))
    }
}

impl Programme<'_> {
    /// Region of a mode, `None` before the first start.
    fn region_of(&self, mode: usize) -> Option<usize> {
        match mode {
            0 => None,
            m if m <= self.regions => Some(m - 1),
            m => Some(self.region[(m - 1 - self.regions) / 2]),
        }
    }

    /// Units of debt and USD to start in `region` out of `mode`.
    fn start_cost(&self, mode: usize, region: usize) -> (usize, f64) {
        let from = self.region_of(mode).unwrap_or(region);
        let pair = from * self.regions + region;
        let usd = if mode == 0 { 0.0 } else { self.move_usd[pair] };
        (self.debt[pair], usd)
    }

    /// For each mode and progress at the end of a tick, the mode before it that costs least: first the cheapest mode of
    /// each region, then of those the cheapest to start from, so that the work grows with the modes and not with
    /// their square.
    fn choices(&self, f: &[Vec<f64>], low: usize, high: usize) -> Choices {
        let (width, regions) = (high + 1 - low, self.regions);
        let (first, end) = (low - self.gap, f[0].len());
        let mut home = vec![(f64::INFINITY, 0); regions * (end - first)];
        for (mode, costs) in f.iter().enumerate().skip(1) {
            let region = self.region_of(mode).unwrap_or(0);
            let best = &mut home[region * (end - first)..(region + 1) * (end - first)];
            for (best, cost) in best.iter_mut().zip(&costs[first..]) {
                if *cost < best.0 {
                    *best = (*cost, mode as Mode);
                }
            }
        }
        let home = |region: usize, p: usize| home[region * (end - first) + p - first];
        let mut begun = Vec::with_capacity(regions * width);
        for region in 0..regions {
            for p in low..=high {
                let at = |debt: usize| (p + debt - self.gap).min(end - 1);
                let mut best = (f[0][at(self.debt[region * regions + region])], 0);
                for q in 0..regions {
                    let pair = q * regions + region;
                    let (cost, mode) = home(q, at(self.debt[pair]));
                    if cost + self.move_usd[pair] < best.0 {
                        best = (cost + self.move_usd[pair], mode);
                    }
                }
                begun.push(best);
            }
        }
        let mut from = vec![0 as Mode; self.modes() * width];
        for mode in 1..self.modes() {
            let region = self.region_of(mode).unwrap_or(0);
            for p in low..=high {
                let (cost, start) = begun[region * width + p - low];
                from[mode * width + p - low] = if mode <= regions {
                    home(region, p).1
                } else if f[mode][p - self.gap] <= cost {
                    GOES_ON as Mode
                } else {
                    start
                };
            }
        }
        Choices { low, width, from }
    }

    /// Reads the plan back from its end `(mode, progress, ticks)`.
    fn script(&self, all: &[Choices], end: (usize, usize, usize)) -> Vec<Running> {
        let (mut mode, mut p, ticks) = end;
        let mut steps = vec![Running::Idle; ticks];
        for t in (0..ticks).rev() {
            if mode > self.regions {
                let zone = (mode - 1 - self.regions) / 2;
                steps[t] = if mode == self.spot(zone) {
                    Running::Spot(zone)
                } else {
                    Running::OnDemand(zone)
                };
            }
            if mode == 0 {
                break;
            }
            let choice = &all[t];
            let before = choice.from[mode * choice.width + p - choice.low] as usize;
            if mode > self.regions {
                p -= self.gap;
                if before == GOES_ON {
                    continue;
                }
                p += self.start_cost(before, self.region_of(mode).unwrap_or(0)).0;
            }
            mode = before;
        }
        steps
    }
}

/// `into = min(into, from + usd)`.
fn lower(into: &mut [f64], from: &[f64], usd: f64) {
    for (a, b) in into.iter_mut().zip(from) {
        let b = b + usd;
        *a = if b < *a { b } else { *a };
    }
}

/// A start in this tick: progress p comes from p - tick + debt.
fn shifted(
    into: &mut [f64],
    range: &std::ops::Range<usize>,
    from: &[f64],
    debt: usize,
    gap: usize,
    usd: f64,
    fresh: bool,
) {
    let source = range.start + debt - gap..(range.end + debt - gap).min(from.len());
    let into = &mut into[range.start..range.start + source.len()];
    if fresh {
        into.copy_from_slice(&from[source]);
    } else {
        lower(into, &from[source], usd);
    }
}

/// One tick of a running machine: it ran before, or it starts.
fn go_on(into: &mut [f64], before: &[f64], begun: &[f64], price: f64) {
    for ((a, b), c) in into.iter_mut().zip(before).zip(begun) {
        *a = price + if b < c { *b } else { *c };
    }
}
