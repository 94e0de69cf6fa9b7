//! Replays spread over the CPUs. The answer does not depend on how many there are.

use lessee_report::simulate::{Replayed, SimulatedMarket};
use lessee_spot::{PolicyName, Runner};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Every policy from every start of every market, in that order of markets, starts and policies; on-demand is
/// always replayed, since savings are measured against it.
pub(super) fn run(
    markets: &[SimulatedMarket],
    runners: &[Runner<'_>],
    policies: &[PolicyName],
) -> Vec<Replayed> {
    let jobs: Vec<(usize, usize)> = markets
        .iter()
        .enumerate()
        .flat_map(|(m, market)| market.starts.iter().map(move |s| (m, *s)))
        .collect();
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(market, start)) = jobs.get(place) else {
                return done;
            };
            let runner = &runners[market];
            let on_demand = runner.run(PolicyName::OnDemand, start);
            let outcomes = policies
                .iter()
                .map(|policy| match policy {
                    PolicyName::OnDemand => on_demand,
                    other => runner.run(*other, start),
                })
                .collect();
            let replayed = Replayed {
                market,
                start,
                on_demand_cost: on_demand.cost,
                outcomes,
            };
            done.push((place, replayed));
        }
    };
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut all: Vec<(usize, Replayed)> = Vec::with_capacity(jobs.len());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cpus.min(jobs.len()))
            .map(|_| scope.spawn(worker))
            .collect();
        for thread in threads {
            match thread.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, replayed)| replayed).collect()
}
