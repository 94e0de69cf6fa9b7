//! Replays a job against a recorded market, tick by tick, under a policy.
//!
//! The rules are those of the public simulators (Can't Be Late, NSDI 2024; SkyNomad, NSDI 2027), so that their
//! figures can be reproduced: work is credited at the start of the next tick, a start costs its overhead before
//! work goes on, starts do not add up, whole ticks are billed and on top of them what a billing increment asks for. One machine (or gang) runs at a time. A checkpoint that takes
//! time to move is there when all of it is: a move that is cut short goes on with the next start there, and is lost when
//! work goes on where it came from.

use crate::job::{HOUR_MS, Job, ceil_div};
use crate::market::{Cell, Market};
use crate::policy::{Choice, Now, Policy, Running};

/// What stands between a policy and a missed deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Of the newer one-zone simulator: when the work left and one start no longer fit, warm spot or on-demand, and
    /// on-demand at once where that warm spot has just been taken away (the older copy waits a tick and is late).
    OneZone,
    /// Of the multi-zone simulator: then on-demand where it runs, to the end.
    Latch,
    /// None: for jobs without a deadline.
    Off,
}

/// How the market is shown and billed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// What overrules a policy near the deadline.
    pub guard: Guard,
    /// Whether the policy sees every zone each tick without asking.
    pub open: bool,
    /// Billed seconds of a probe that succeeds.
    pub probe_s: f64,
}

impl Rules {
    /// The one-zone benchmark. Its own guard waited a tick too long where spot was lost at the last moment, which no policy of
    /// the benchmark came to; ours does not.
    pub const ONE_ZONE: Rules = Rules {
        guard: Guard::OneZone,
        open: true,
        probe_s: 60.0,
    };
    /// Several zones, seen only by launching and probing.
    pub const ZONES: Rules = Rules {
        guard: Guard::Latch,
        open: false,
        probe_s: 60.0,
    };
}

/// What a job cost and how it went. Costs in USD, unrounded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Sum of the four parts.
    pub cost: f64,
    /// Spot ticks.
    pub spot_cost: f64,
    /// On-demand ticks.
    pub on_demand_cost: f64,
    /// Checkpoints moved between regions.
    pub transfer_cost: f64,
    /// Probes.
    pub probe_cost: f64,
    /// The part of `cost` for the tick in which the work was finished: published multi-zone figures leave it out.
    pub last_tick_cost: f64,
    /// Ticks on spot.
    pub spot_ticks: i64,
    /// Ticks on-demand.
    pub on_demand_ticks: i64,
    /// Paid time without progress that lasted: overhead of starts, work lost, saves. In ms, inside the ticks above.
    pub wasted_ms: i64,
    /// Times that spot was taken away.
    pub interruptions: u32,
    /// Starts in another zone than the one before.
    pub moves: u32,
    /// Probes that were billed.
    pub probes: u32,
    /// Ticks from the start until the work was done.
    pub finish_tick: i64,
    /// Ended after the deadline.
    pub late: bool,
    /// Ticks of the run that nobody measured in at least one zone.
    pub unknown_ticks: i64,
}

/// One tick as it was lived, for a time line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Ticks since the start.
    pub tick: i64,
    /// What ran in this tick.
    pub running: Running,
    /// Work left at its start, in ms.
    pub left_ms: i64,
    /// Whether spot was taken away at its start.
    pub preempted: bool,
    /// Whether a machine started in it.
    pub started: bool,
}

/// Replays `job` from market tick `start`. The market should cover the deadline from there; after it every zone counts
/// as not available.
pub fn replay<P: Policy>(
    job: &Job,
    market: &Market,
    start: usize,
    rules: Rules,
    policy: &mut P,
) -> Outcome {
    replay_with(job, market, start, rules, policy, |_| {})
}

/// [`replay`], with every tick shown to `watch`.
pub fn replay_with<P: Policy>(
    job: &Job,
    market: &Market,
    start: usize,
    rules: Rules,
    policy: &mut P,
    mut watch: impl FnMut(Step),
) -> Outcome {
    let gap = market.gap_ms;
    let tick_h = gap as f64 / HOUR_MS;
    let limit = job.deadline_ms.div_euclid(gap);
    let covered = market.ticks();
    let mut out = Outcome::default();
    let mut choices: Vec<Choice> = Vec::with_capacity(2 * market.zones.len() + 2);
    let mut probes: Vec<usize> = Vec::new();
    let mut left = job.work_ms;
    let mut cold = 0i64;
    let mut cycle = 0i64;
    let mut running = Running::Idle;
    // ticks that the machine which runs has been billed for
    let mut billed = 0i64;
    let mut home: Option<usize> = None;
    // where a checkpoint is on its way to, and the time that it still needs there, after the start itself
    let mut moving: Option<(usize, i64)> = None;
    let mut latched = false;
    let mut tick = 0i64;
    let up = |zone: usize, at: usize| at < covered && market.zones[zone].cells[at] == Cell::Up;
    loop {
        let at = start + tick as usize;
        // credit the last tick
        if running != Running::Idle {
            let eaten = cold.min(gap);
            cold -= eaten;
            // a checkpoint has moved when all of it is there
            if let Some((zone, rest)) = &mut moving {
                *rest = cold.min(*rest);
                if *rest == 0 {
                    home = Some(*zone);
                    moving = None;
                }
            }
            let (work, wasted) = worked(job, &mut cycle, left, gap - eaten);
            left -= work;
            out.wasted_ms += eaten + wasted;
        }
        if left <= 0 {
            break;
        }
        let last = running;
        // take away
        if let Running::Spot(zone) = running
            && !up(zone, at)
        {
            round_up(job, market, running, &mut billed, at, &mut out);
            running = Running::Idle;
            out.interruptions += 1;
            if let Some(saves) = job.saves {
                let lost = cycle.min(saves.every_ms);
                left += lost;
                out.wasted_ms += lost;
            }
        }
        // a market that ends goes on with its last prices
        let shown = at.min(covered.saturating_sub(1));
        let now = Now {
            job,
            market,
            tick,
            limit,
            at: shown,
            left_ms: left,
            cold_ms: cold,
            running,
            last,
            home,
            open: rules.open,
        };
        choices.clear();
        let due = now.needs(1, limit - tick);
        if latched {
            choices.push(Choice::Keep);
        } else if due && rules.guard == Guard::Latch {
            latched = true;
            choices.push(match running {
                // a move that is under way may be too late to be finished
                Running::Spot(zone) | Running::OnDemand(zone) if home == Some(zone) => {
                    Choice::OnDemand(zone)
                }
                _ => Choice::OnDemand(now.cheapest_on_demand()),
            });
        } else {
            policy.decide(&now, &mut choices);
            if due && rules.guard == Guard::OneZone {
                choices.clear();
                match last {
                    // what can still lose work is not for the last moment, nor what costs more
                    Running::Spot(zone)
                        if cold == 0 && job.saves.is_none() && now.worth_keeping(zone) =>
                    {
                        choices.extend([Choice::Spot(zone), Choice::OnDemand(zone)]);
                    }
                    Running::OnDemand(zone) => choices.push(Choice::OnDemand(zone)),
                    _ => choices.push(Choice::OnDemand(now.cheapest_on_demand())),
                }
            }
        }
        let mut next = Running::Idle;
        let mut before = running;
        for choice in &choices {
            next = match *choice {
                Choice::Idle => Running::Idle,
                Choice::Keep => before,
                Choice::Stop => {
                    before = Running::Idle;
                    continue;
                }
                Choice::OnDemand(zone) => Running::OnDemand(zone),
                Choice::Spot(zone) => {
                    let kept = before == Running::Spot(zone);
                    let started = kept || up(zone, at);
                    if !kept {
                        policy.launched(&now, zone, started);
                    }
                    if !started {
                        continue;
                    }
                    Running::Spot(zone)
                }
            };
            break;
        }
        let mut started = false;
        if next != before || before != running {
            round_up(job, market, running, &mut billed, at, &mut out);
            if let Running::Spot(zone) | Running::OnDemand(zone) = next {
                started = true;
                cold = job.overhead_ms;
                cycle = 0;
                let under_way = moving.filter(|m| home != Some(zone) && market.near(m.0, zone));
                let mut rest = 0;
                if let Some((_, left)) = under_way {
                    rest = left;
                } else if let Some(from) = home.filter(|f| *f != zone) {
                    out.moves += 1;
                    out.transfer_cost += market.egress(from, zone) * job.checkpoint_gb;
                    rest = market.transfer_ms(from, zone, job.checkpoint_gb);
                }
                cold += rest;
                moving = (rest > 0).then_some((zone, rest));
                if rest == 0 {
                    home = Some(zone);
                }
            } else {
                cold = 0;
            }
            running = next;
        }
        probes.clear();
        if !latched {
            policy.settled(&now, running, &mut probes);
        }
        for &zone in &probes {
            let answer = up(zone, at);
            if answer {
                out.probes += 1;
                out.probe_cost += now.price(zone) * rules.probe_s / 3600.0;
            }
            policy.probed(&now, zone, answer);
        }
        watch(Step {
            tick,
            running,
            left_ms: left,
            preempted: matches!(last, Running::Spot(_)) && now.running == Running::Idle,
            started,
        });
        billed += i64::from(running != Running::Idle);
        match running {
            Running::Idle => out.last_tick_cost = 0.0,
            Running::Spot(zone) => {
                out.last_tick_cost = market.zones[zone].spot[shown] * tick_h;
                out.spot_cost += out.last_tick_cost;
                out.spot_ticks += 1;
            }
            Running::OnDemand(zone) => {
                out.last_tick_cost = market.zones[zone].on_demand * tick_h;
                out.on_demand_cost += out.last_tick_cost;
                out.on_demand_ticks += 1;
            }
        }
        if at < covered && market.zones.iter().any(|z| z.cells[at] == Cell::Unknown) {
            out.unknown_ticks += 1;
        }
        tick += 1;
        // nothing runs, and no spot will come: it would wait for ever
        if rules.guard == Guard::Off && running == Running::Idle && at > covered && tick > limit {
            break;
        }
    }
    let at = start + tick as usize;
    round_up(job, market, running, &mut billed, at, &mut out);
    out.finish_tick = tick;
    out.late = tick > limit || left > 0;
    out.cost = out.spot_cost + out.on_demand_cost + out.transfer_cost + out.probe_cost;
    out
}

/// A machine ends at the start of market tick `at`: what its billing increment adds to the `billed` ticks, at its last price.
fn round_up(
    job: &Job,
    market: &Market,
    ended: Running,
    billed: &mut i64,
    at: usize,
    out: &mut Outcome,
) {
    let ticks = std::mem::take(billed);
    if job.billing_ms == 0 || ticks == 0 {
        return;
    }
    let paid = ticks * market.gap_ms;
    let owed = ceil_div(paid, job.billing_ms).saturating_mul(job.billing_ms) - paid;
    let hours = owed as f64 / HOUR_MS;
    match ended {
        Running::Idle => {}
        Running::Spot(zone) => {
            let spot = &market.zones[zone].spot;
            let last = at.saturating_sub(1).min(spot.len().saturating_sub(1));
            out.spot_cost += spot[last] * hours;
        }
        Running::OnDemand(zone) => out.on_demand_cost += market.zones[zone].on_demand * hours,
    }
}

/// Useful work done in `span` ms of a warm machine, and the time that saves took. `cycle` is the time since the
/// last save began to be due: work first, then the save.
fn worked(job: &Job, cycle: &mut i64, left: i64, span: i64) -> (i64, i64) {
    let Some(saves) = job.saves else {
        return (span, 0);
    };
    let (mut work, mut wasted, mut span) = (0, 0, span);
    while span > 0 && work < left {
        // whole cycles at once: saves may be a thousand times as frequent as ticks
        let both = saves.every_ms.saturating_add(saves.block_ms);
        let whole = (span / both).min((left - work - 1) / saves.every_ms);
        if *cycle == 0 && whole > 0 {
            work += whole * saves.every_ms;
            wasted += whole * saves.block_ms;
            span -= whole * both;
        } else if *cycle < saves.every_ms {
            let step = (saves.every_ms - *cycle).min(span).min(left - work);
            *cycle += step;
            work += step;
            span -= step;
        } else {
            let step = (both - *cycle).min(span);
            *cycle += step;
            wasted += step;
            span -= step;
            if *cycle >= both {
                *cycle = 0;
            }
        }
    }
    (work, wasted)
}
