//! What a job will cost on spot: the policies replayed from many start ticks, and summed up.
//!
//! Start with [`forecast`]. The market comes from a record (`grid.rs`) or, where there is none, from a rate of
//! interruption (`generated.rs`). Not here: which record speaks for which offer (`core/plan`), single jobs
//! (`runner.rs`).

use crate::grid::check_window;
use crate::grid_error::GridError;
use crate::job::{HOUR_MS, Job};
use crate::market::Market;
use crate::policy::lessee::Params;
use crate::replay::Outcome;
use crate::runner::{PolicyName, Runner};
use std::collections::BTreeMap;

/// The policies that are compared: those that keep a deadline and are no oracle.
pub const POLICIES: [PolicyName; 4] = [
    PolicyName::OnDemand,
    PolicyName::Greedy,
    PolicyName::UniformProgress,
    PolicyName::Lessee,
];

/// By how many of its standard errors a policy must be cheaper than on-demand before it is recommended.
pub(crate) const CLEARLY: f64 = 2.0;

/// Policies that cost at most this share more than the cheapest are as cheap: the quickest of them is recommended.
const AS_CHEAP: f64 = 0.02;

/// A figure over all starts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Spread {
    pub mean: f64,
    pub p05: f64,
    pub median: f64,
    pub p90: f64,
    pub p95: f64,
}

/// One policy over all starts. Times in hours of the whole gang, costs in the currency of the prices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Who decided.
    pub policy: PolicyName,
    /// Machine time.
    pub cost: Spread,
    /// From the start until the work was done.
    pub hours: Spread,
    /// Share of the starts that kept the deadline.
    pub on_time: f64,
    /// Times that spot was taken away.
    pub interruptions: Spread,
    /// On average.
    pub mean: Parts,
    /// The start at the 90th percentile of cost, waiting as long as makes the 90th percentile of the duration.
    pub p90: Parts,
}

/// What one run consists of, in hours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// Times that spot was taken away.
    pub interruptions: f64,
    /// Paid, without progress that lasted, beyond the first start.
    pub lost: f64,
    /// Nothing was rented.
    pub waiting: f64,
    /// On-demand instead of spot, among work and lost time.
    pub on_demand: f64,
    /// On spot.
    pub spot: f64,
}

/// All policies and which to follow.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// How many starts were replayed.
    pub starts: usize,
    /// How many deadlines the record holds one after the other: what its starts can tell apart.
    pub independent: f64,
    /// In the order of [`POLICIES`].
    pub policies: Vec<Summary>,
    /// Index of the recommended one: of those that were never late and are as cheap as the cheapest on average, within 2 %,
    /// the quickest; on-demand where that is not cheaper than it by more than the noise.
    pub best: usize,
    /// Share of the replayed ticks that nobody measured; they count as not available.
    pub unknown: f64,
}

impl Forecast {
    /// The recommended policy.
    pub fn recommended(&self) -> &Summary {
        &self.policies[self.best]
    }

    /// Hours on spot between two losses under a policy that always takes spot; `None`: never lost.
    pub fn hours_between_losses(&self) -> Option<f64> {
        let greedy = self
            .policies
            .iter()
            .find(|s| s.policy == PolicyName::Greedy)?;
        (greedy.interruptions.mean > 0.0).then(|| greedy.mean.spot / greedy.interruptions.mean)
    }
}

/// What several markets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Several {
    /// Histories of one place that have nothing to do with each other.
    Histories,
    /// One history, seen by the first, the second, the k-th machine.
    Levels,
}

/// Whether savings, one for each stretch of a record that has nothing to do with the others, are more than noise: two
/// standard errors ([`CLEARLY`]) above nothing. One stretch alone tells nothing.
pub(crate) fn clear(saved: &[f64]) -> bool {
    let n = saved.len() as f64;
    let mean = saved.iter().sum::<f64>() / n.max(1.0);
    let variance = saved.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    n >= 2.0 && mean > 0.0 && mean > CLEARLY * (variance / n).sqrt()
}

/// Replays `job` from up to `starts` ticks, spread evenly over what the markets cover.
///
/// # Errors
/// No market covers the deadline from any start, or a price is missing in all of them.
pub fn forecast(
    job: &Job,
    markets: &[Market],
    several: Several,
    params: &Params,
    starts: usize,
) -> Result<Forecast, GridError> {
    let mut refused = GridError::NoSeries;
    // market and start
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    let mut independent = 0.0;
    let each = starts.max(1).div_ceil(markets.len().max(1));
    let (mut unknown, mut ticks) = (0usize, 0usize);
    for (index, market) in markets.iter().enumerate() {
        let need = job.deadline_ms.div_euclid(market.gap_ms).max(1) as usize;
        let Some(last) = market.ticks().checked_sub(need) else {
            refused = match check_window(market, 0, job) {
                Err(e) => e,
                Ok(_) => refused,
            };
            continue;
        };
        let held = market.ticks() as f64 / need as f64;
        independent = match several {
            Several::Histories => independent + held,
            Several::Levels => f64::max(independent, held),
        };
        let count = each.min(last + 1);
        for i in 0..count {
            let start = if count > 1 { last * i / (count - 1) } else { 0 };
            match check_window(market, start, job) {
                Ok(window) => {
                    chosen.push((index, start));
                    unknown += window.unknown;
                    ticks += window.ticks;
                }
                Err(e) => refused = e,
            }
        }
    }
    if chosen.is_empty() {
        return Err(refused);
    }
    let runners = Runner::each(job, markets, params);
    let mut policies = Vec::with_capacity(POLICIES.len());
    let mut costs: Vec<Vec<f64>> = Vec::with_capacity(POLICIES.len());
    for policy in POLICIES {
        let runs: Vec<(Outcome, f64)> = chosen
            .iter()
            .map(|&(m, start)| {
                (
                    runners[m].run(policy, start),
                    markets[m].gap_ms as f64 / HOUR_MS,
                )
            })
            .collect();
        costs.push(runs.iter().map(|(o, _)| o.cost).collect());
        policies.push(summary(policy, job, &runs));
    }
    let block_of: Vec<(usize, usize)> = chosen
        .iter()
        .map(|&(m, start)| {
            let need = job.deadline_ms.div_euclid(markets[m].gap_ms).max(1) as usize;
            let history = match several {
                Several::Histories => m,
                Several::Levels => 0,
            };
            (history, start / need)
        })
        .collect();
    let best = recommend(&policies, &costs, &block_of);
    Ok(Forecast {
        starts: chosen.len(),
        independent,
        policies,
        best,
        unknown: unknown as f64 / ticks.max(1) as f64,
    })
}

/// `block_of`: which deadline's length of the record a start lies in.
fn recommend(policies: &[Summary], costs: &[Vec<f64>], block_of: &[(usize, usize)]) -> usize {
    let base = 0;
    let in_time = || (0..policies.len()).filter(|&i| policies[i].on_time >= 1.0);
    let least = in_time()
        .map(|i| policies[i].cost.mean)
        .fold(f64::INFINITY, f64::min);
    // a policy that waits a day to save a few cents is not what people want
    let quickest = in_time()
        .filter(|&i| policies[i].cost.mean <= least * (1.0 + AS_CHEAP))
        .min_by(|&a, &b| policies[a].hours.mean.total_cmp(&policies[b].hours.mean));
    let Some(best) = quickest.filter(|b| *b != base) else {
        return base;
    };
    // starts within one deadline of each other saw the same market: only the blocks can differ
    let mut blocks: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
    for (i, block) in block_of.iter().enumerate() {
        let (sum, n) = blocks.entry(*block).or_default();
        *sum += costs[base][i] - costs[best][i];
        *n += 1.0;
    }
    let saved: Vec<f64> = blocks.values().map(|(sum, n)| sum / n).collect();
    if clear(&saved) { best } else { base }
}

fn summary(policy: PolicyName, job: &Job, runs: &[(Outcome, f64)]) -> Summary {
    let n = runs.len() as f64;
    let parts: Vec<Parts> = runs
        .iter()
        .map(|(o, tick_h)| parts(job, o, *tick_h))
        .collect();
    let mean = |of: fn(&Parts) -> f64| parts.iter().map(of).sum::<f64>() / n;
    let hours: Vec<f64> = runs
        .iter()
        .map(|(o, tick_h)| o.finish_tick as f64 * tick_h)
        .collect();
    let costs: Vec<f64> = runs.iter().map(|(o, _)| o.cost).collect();
    let hours_spread = spread(&hours);
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by(|a, b| costs[*a].total_cmp(&costs[*b]).then(a.cmp(b)));
    let at = order[rank(runs.len(), 0.9)];
    let dear = parts[at];
    let p90 = Parts {
        waiting: (dear.waiting + hours_spread.p90 - hours[at]).max(0.0),
        ..dear
    };
    let interruptions: Vec<f64> = parts.iter().map(|p| p.interruptions).collect();
    Summary {
        policy,
        cost: spread(&costs),
        hours: hours_spread,
        on_time: runs.iter().filter(|(o, _)| !o.late).count() as f64 / n,
        interruptions: spread(&interruptions),
        mean: Parts {
            interruptions: mean(|p| p.interruptions),
            lost: mean(|p| p.lost),
            waiting: mean(|p| p.waiting),
            on_demand: mean(|p| p.on_demand),
            spot: mean(|p| p.spot),
        },
        p90,
    }
}

fn parts(job: &Job, outcome: &Outcome, tick_h: f64) -> Parts {
    let lost = (outcome.wasted_ms - job.overhead_ms).max(0) as f64 / HOUR_MS;
    // the rest of the last tick is nobody's
    let used = (job.work_ms + outcome.wasted_ms) as f64 / HOUR_MS;
    let spot = (outcome.spot_ticks as f64 * tick_h).min(used);
    Parts {
        interruptions: f64::from(outcome.interruptions),
        lost,
        waiting: (outcome.finish_tick - outcome.spot_ticks - outcome.on_demand_ticks).max(0) as f64
            * tick_h,
        on_demand: (outcome.on_demand_ticks as f64 * tick_h).min(used),
        spot,
    }
}

/// Index of a quantile in a sorted list: the smallest value that at least this share does not exceed.
fn rank(n: usize, share: f64) -> usize {
    ((n as f64 * share).ceil() as usize).clamp(1, n) - 1
}

fn spread(values: &[f64]) -> Spread {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share| sorted[rank(sorted.len(), share)];
    Spread {
        mean: values.iter().sum::<f64>() / values.len() as f64,
        p05: at(0.05),
        median: at(0.5),
        p90: at(0.9),
        p95: at(0.95),
    }
}

#[cfg(test)]
#[path = "forecast/tests.rs"]
pub(crate) mod tests;
