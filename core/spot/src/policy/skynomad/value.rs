//! What an hour of work is worth to SkyNomad, USD.
//!
//! Two forms, both as in the artifact of SkyNomad (NSDI 2027). Neither is the one of the paper's text, which
//! divides the rate that is needed by the rate that was achieved.

use super::super::Now;
use crate::job::HOUR_MS;

/// How the value of an hour of work is formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// 1.2 times the cost of an hour of work in a plan for the work left. The published H100 sweeps.
    PlannedCost,
    /// Cheapest on-demand price times the rate that is needed over the rate that was planned, (work left / time
    /// left) / (work / deadline); at least the cheapest spot price. The published V100 jobs.
    RateRatio,
}

/// The value is this times the planned cost.
const MARGIN: f64 = 1.2;
/// Window of the progress rate, ms.
const RATE_WINDOW_MS: i64 = 10 * 3_600_000;
/// Below this time the rate is that since the start, ms.
const RATE_SETTLES_MS: i64 = 600_000;
/// Moving a checkpoint in the plan, USD per GB, whatever the regions.
const PLAN_EGRESS: f64 = 0.02;

/// A zone as the plan sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    /// Share of the time in which the zone is up.
    pub(super) availability: f64,
    /// Expected life of a start, h, at most the time left.
    pub(super) life_h: f64,
    /// Spot price, USD/h.
    pub(super) price: f64,
}

/// The cheapest on-demand price, USD/h.
fn on_demand(now: &Now) -> f64 {
    let prices = now.market.zones.iter().map(|z| z.on_demand);
    prices.fold(f64::INFINITY, f64::min)
}

/// [`Value::RateRatio`], USD per hour of work.
pub(super) fn rate_ratio(now: &Now) -> f64 {
    let job = now.job;
    let needed = now.left_ms as f64 * job.deadline_ms as f64;
    let planned = now.time_left_ms() as f64 * job.work_ms as f64;
    let spot = (0..now.market.zones.len()).map(|z| now.price(z));
    (on_demand(now) * (needed / planned)).max(spot.fold(f64::INFINITY, f64::min))
}

/// [`Value::PlannedCost`], USD per hour of work. `done` is the work done at the start of each tick so far, in ms;
/// `plan` is scratch space.
pub(super) fn planned_cost(
    now: &Now,
    done: &[i64],
    offers: &[Offer],
    plan: &mut Vec<(f64, f64)>,
) -> f64 {
    let seconds = |ms: i64| ms as f64 / 1000.0;
    let (work, time) = (seconds(now.left_ms), seconds(now.time_left_ms()));
    let overhead = now.job.overhead_ms as f64 / HOUR_MS;
    let paid_price = on_demand(now);
    // adjusted price and work that a zone can do in the time left
    plan.clear();
    for offer in offers.iter().filter(|o| o.life_h > overhead) {
        let useful = offer.life_h - overhead;
        let share = offer.availability * time * (useful / offer.life_h);
        if share > 0.0 {
            plan.push((offer.price * offer.life_h / useful.max(1e-6), share));
        }
    }
    plan.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut paid = on_demand_share(now, done) * work;
    let target = (work - paid).max(0.0);
    let mut cost = paid / 3600.0 * paid_price;
    let (mut assigned, mut spot_cost, mut used) = (0.0, 0.0, 0);
    for &(price, share) in plan.iter() {
        let part = share.min(target - assigned);
        if part <= 0.0 {
            break;
        }
        used += 1;
        spot_cost += part / 3600.0 * price;
        assigned += part;
    }
    if assigned < target {
        paid += target - assigned;
        cost += (target - assigned) / 3600.0 * paid_price;
    }
    cost += spot_cost;
    let hours = (work / 3600.0).max(1e-6);
    let moves = (used + i32::from(paid > 0.0) - 1).max(0);
    let egress = f64::from(moves) * now.job.checkpoint_gb * PLAN_EGRESS;
    (cost / hours + egress / hours) * MARGIN
}

/// Share of the work left that the plan gives to on-demand: where the line of recent progress meets the line of the
/// last moment for on-demand (two starts in reserve), as a share of the time left.
fn on_demand_share(now: &Now, done: &[i64]) -> f64 {
    let (elapsed, progress) = (now.elapsed_ms(), now.done_ms());
    if elapsed <= 0 {
        return 0.0;
    }
    if progress == elapsed {
        return 0.5;
    }
    let rate = recent_rate(now, done);
    if (rate - 1.0).abs() < 1e-6 {
        return 0.0;
    }
    let seconds = |ms: i64| ms as f64 / 1000.0;
    let (t, p) = (seconds(elapsed), seconds(progress));
    let deadline = seconds(now.job.deadline_ms);
    let shift = seconds(now.job.work_ms) + 2.0 * seconds(now.job.overhead_ms) - deadline;
    let meet = (rate * t - p + shift) / (rate - 1.0);
    if meet >= deadline {
        0.0
    } else if meet <= 0.0 {
        1.0
    } else {
        ((deadline - meet) / (deadline - t)).clamp(0.0, 1.0)
    }
}

/// Work per time in the last ten hours.
fn recent_rate(now: &Now, done: &[i64]) -> f64 {
    let elapsed = now.elapsed_ms();
    if elapsed < RATE_SETTLES_MS {
        return now.done_ms() as f64 / elapsed as f64;
    }
    let from = (elapsed - RATE_WINDOW_MS).max(0);
    // the work of a tick is entered one tick later
    let first = from / now.market.gap_ms - 1;
    let before = usize::try_from(first)
        .ok()
        .and_then(|first| done.get(first));
    let before = before.copied().unwrap_or(0);
    let rate = (now.done_ms() - before) as f64 / (elapsed - from) as f64;
    rate.clamp(0.0, 1.0)
}
