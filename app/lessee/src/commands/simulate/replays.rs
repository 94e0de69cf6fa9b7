//! Replays spread over the CPUs. The answer does not depend on how many there are.

use lessee_console::Printer;
use lessee_model::Msg;
use lessee_report::simulate::{Replayed, SimulatedMarket};
use lessee_spot::{PolicyName, Runner};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Every policy from every start of every market, in that order of markets, starts and policies; on-demand is
/// always replayed, since savings are measured against it.
pub(super) fn run(
    markets: &[SimulatedMarket],
    runners: &[Runner<'_>],
    policies: &[PolicyName],
    printer: &Printer,
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
        tell(printer, &next, jobs.len(), || {
            threads.iter().all(|t| t.is_finished())
        });
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

/// What lasts longer than people wait without a word is told.
fn tell(printer: &Printer, next: &AtomicUsize, jobs: usize, done: impl Fn() -> bool) {
    const SILENT: Duration = Duration::from_secs(2);
    // a question that takes milliseconds is not held up by who looks on
    let pause = |gone: Duration| (gone / 20).clamp(Duration::from_micros(200), SILENT / 10);
    let start = Instant::now();
    let mut told = None;
    while !done() {
        std::thread::sleep(pause(start.elapsed()));
        let replayed = next.load(Ordering::Relaxed).min(jobs);
        if start.elapsed() > SILENT && told != Some(replayed) {
            told = Some(replayed);
            let msg = Msg::new("simulate-progress")
                .arg("n", replayed)
                .arg("all", jobs);
            printer.progress(Some(&msg));
        }
    }
    if told.is_some() {
        printer.progress(None);
    }
}
