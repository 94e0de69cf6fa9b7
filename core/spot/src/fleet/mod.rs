//! A service on spot: so many replicas at once, in several zones, with on-demand behind them.
//!
//! Start with [`forecast`]. [`SpotHedge`] decides, [`Capacity`] is what the records say could be had, [`replay`] plays one
//! on the other. Unlike a job, a service has no end to reach and nothing to lose but replicas that answer. Not here: how
//! many replicas a load needs (`core/perf`), scaling with the load.

mod capacity;
mod forecast;
mod hedge;

pub use capacity::{Capacity, capacity_of};
pub use forecast::{FleetForecast, Rates, forecast};
pub use hedge::SpotHedge;

use crate::random::Random;

/// What a service asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fleet {
    /// Replicas that must answer.
    pub target: u32,
    /// Spot replicas beyond them, so that a loss is not felt.
    pub spare: u32,
    /// On-demand replicas that always run.
    pub floor: u32,
    /// From the order until a replica answers, in ms.
    pub cold_start_ms: i64,
    /// Share of the time in which all of them must answer; up to it on-demand carries the service alone.
    pub whole: f64,
}

/// One tick as it was lived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FleetTick {
    /// Spot replicas paid for.
    pub spot: u32,
    /// On-demand replicas paid for.
    pub on_demand: u32,
    /// Spot replicas taken away at its start.
    pub lost: u32,
    /// Time in it with at least [`Fleet::target`] replicas that answer, in ms.
    pub ready_ms: i64,
}

/// Replays a service under [`SpotHedge`] over all that was recorded. It begins with nothing: the first cold start is in
/// the ticks. Spot is taken away at the start of a tick, the oldest replicas of a zone first: those that answer, the
/// worse case.
pub fn replay(fleet: &Fleet, capacity: &Capacity, seed: u64) -> Vec<FleetTick> {
    let zones = capacity.zones.len();
    let gap = capacity.gap_ms;
    let mut policy = SpotHedge::new(zones, Random(seed));
    // when each replica answers, oldest first
    let mut placed: Vec<Vec<i64>> = vec![Vec::new(); zones];
    let mut on_demand: Vec<i64> = Vec::new();
    let mut counts = vec![0u32; zones];
    let mut answering: Vec<i64> = Vec::new();
    let mut out = Vec::with_capacity(capacity.ticks());
    let mut ready_ms = 0i64;
    // the first start is nobody's outage
    let first = fleet.cold_start_ms / gap + 1;
    let wanted = (fleet.target + fleet.spare).saturating_sub(fleet.floor);
    for tick in 0..capacity.ticks() {
        let now = tick as i64 * gap;
        let answers = now + fleet.cold_start_ms;
        let mut lost = 0;
        for zone in 0..zones {
            let can = capacity.zones[zone][tick].unwrap_or(0) as usize;
            let over = placed[zone].len().saturating_sub(can);
            placed[zone].drain(..over);
            lost += over as u32;
            policy.observed(zone, over > 0, !placed[zone].is_empty());
            counts[zone] = placed[zone].len() as u32;
        }
        let mut refused = 0;
        let mut have: u32 = counts.iter().sum();
        // a zone that refuses is not asked again soon: no more refusals than zones
        while have < wanted && refused < zones {
            let zone = policy.place(&counts);
            if counts[zone] < capacity.zones[zone][tick].unwrap_or(0) {
                placed[zone].push(answers);
                counts[zone] += 1;
                have += 1;
            } else {
                policy.observed(zone, true, false);
                refused += 1;
            }
        }
        let ready_spot = placed.iter().flatten().filter(|at| **at <= now).count() as u32;
        let since = (tick as i64 - first) * gap;
        let share = if since > 0 {
            ready_ms as f64 / since as f64
        } else {
            1.0
        };
        let behind = policy.on_demand(fleet, ready_spot, share).max(fleet.floor) as usize;
        on_demand.truncate(behind);
        on_demand.resize(behind, answers);
        answering.clear();
        answering.extend(placed.iter().flatten().chain(&on_demand));
        let target = fleet.target.max(1) as usize;
        let ready = if answering.len() < target {
            0
        } else {
            let (_, at, _) = answering.select_nth_unstable(target - 1);
            (now + gap - (*at).max(now)).clamp(0, gap)
        };
        if tick as i64 >= first {
            ready_ms += ready;
        }
        out.push(FleetTick {
            spot: have,
            on_demand: behind as u32,
            lost,
            ready_ms: ready,
        });
    }
    out
}

#[cfg(test)]
mod tests;
