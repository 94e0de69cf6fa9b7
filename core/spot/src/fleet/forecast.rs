//! What a service will cost on spot: every hedge that is worth trying, replayed over the whole record.

use super::{Capacity, Fleet, FleetTick, replay};
use crate::forecast::CLEARLY;
use crate::job::HOUR_MS;

/// Parts into which a record is cut to see how its days differ.
const PARTS: usize = 10;

/// What was paid for and what answered, on average over some time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Spot replicas paid for.
    pub spot: f64,
    /// On-demand replicas paid for.
    pub on_demand: f64,
    /// Spot replicas taken away, per hour.
    pub lost_per_h: f64,
    /// Share of the time in which all replicas answered.
    pub ready: f64,
}

impl Rates {
    /// Price of an hour.
    fn cost(&self, spot: f64, on_demand: f64) -> f64 {
        self.spot * spot + self.on_demand * on_demand
    }
}

/// The hedge to follow and what it comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetForecast {
    /// The cheapest hedge that is whole for the asked share of the time; the one that is whole longest where none is.
    pub fleet: Fleet,
    /// Over the whole record.
    pub mean: Rates,
    /// Over the part of the record at the 90th percentile of cost.
    pub p90: Rates,
    /// Parts that the record was cut into.
    pub parts: usize,
    /// Hours of the record.
    pub hours: f64,
    /// It is whole for the asked share of the time, and clearly cheaper than on-demand.
    pub pays: bool,
    /// Share of the time that nobody measured; it counts as not available.
    pub unknown: f64,
}

/// Tries hedges for `target` replicas: up to `most_spare` spot replicas more than needed, with none, a quarter, half and
/// all of the target on-demand from the start. `whole` is the share of the time in which all replicas must answer.
/// `None`: the record is shorter than the first cold start and one tick for each part.
pub fn forecast(
    capacity: &Capacity,
    target: u32,
    cold_start_ms: i64,
    most_spare: u32,
    whole: f64,
    [spot, on_demand]: [f64; 2],
) -> Option<FleetForecast> {
    let gap = capacity.gap_ms;
    let warm = usize::try_from(cold_start_ms / gap.max(1) + 1).ok()?;
    if capacity.ticks() < warm + PARTS {
        return None;
    }
    let part = (capacity.ticks() - warm) / PARTS;
    let mut floors = vec![0, target.div_ceil(4), target.div_ceil(2), target];
    floors.dedup();
    let mut best: Option<(Fleet, Vec<Rates>, Rates)> = None;
    for floor in floors {
        for spare in 0..=most_spare {
            let fleet = Fleet {
                target,
                spare,
                floor,
                cold_start_ms,
                whole,
            };
            // the first start is the bill's line of its own
            let ticks = &replay(&fleet, capacity, 0)[warm..];
            let all = rates(ticks, gap);
            let better = best.as_ref().is_none_or(|(_, _, other)| {
                let (a, b) = (all.ready >= whole, other.ready >= whole);
                match (a, b) {
                    (true, true) => all.cost(spot, on_demand) < other.cost(spot, on_demand),
                    (false, false) => all.ready > other.ready,
                    (a, _) => a,
                }
            });
            if better {
                let parts = ticks.chunks_exact(part).map(|t| rates(t, gap)).collect();
                best = Some((fleet, parts, all));
            }
        }
    }
    let (fleet, mut parts, mean) = best?;
    let full = f64::from(target) * on_demand;
    let saved: Vec<f64> = parts
        .iter()
        .map(|p| full - p.cost(spot, on_demand))
        .collect();
    let n = saved.len() as f64;
    let average = saved.iter().sum::<f64>() / n;
    let variance = saved.iter().map(|s| (s - average).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    let pays = mean.ready >= whole && average > 0.0 && average > CLEARLY * (variance / n).sqrt();
    parts.sort_by(|a, b| a.cost(spot, on_demand).total_cmp(&b.cost(spot, on_demand)));
    let dear = ((parts.len() as f64 * 0.9).ceil() as usize).clamp(1, parts.len()) - 1;
    // a few dear parts can lift the mean above nine of ten
    let p90 = [parts[dear], mean]
        .into_iter()
        .max_by(|a, b| a.cost(spot, on_demand).total_cmp(&b.cost(spot, on_demand)))?;
    Some(FleetForecast {
        fleet,
        mean,
        p90,
        parts: parts.len(),
        hours: capacity.ticks() as f64 * gap as f64 / HOUR_MS,
        pays,
        unknown: capacity.unknown(),
    })
}

fn rates(ticks: &[FleetTick], gap_ms: i64) -> Rates {
    let n = ticks.len().max(1) as f64;
    let sum = |of: fn(&FleetTick) -> f64| ticks.iter().map(of).sum::<f64>();
    Rates {
        spot: sum(|t| f64::from(t.spot)) / n,
        on_demand: sum(|t| f64::from(t.on_demand)) / n,
        lost_per_h: sum(|t| f64::from(t.lost)) / (n * gap_ms as f64 / HOUR_MS),
        ready: sum(|t| t.ready_ms as f64) / (n * gap_ms as f64),
    }
}
