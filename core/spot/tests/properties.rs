//! What must hold on any market: generated ones, adversarial among them. Cases that once failed are in `regressions.rs`.

#![allow(clippy::unwrap_used)]

mod generated;

use generated::{Case, Wishes, case, params, with_cells};
use lessee_spot::optimum::least_cost;
use lessee_spot::{Cell, Job, Market, Outcome, PolicyName, Runner};
use proptest::prelude::*;
use proptest::test_runner::Config;

/// What each policy does with a case.
fn outcomes(case: &Case) -> Vec<(PolicyName, Outcome)> {
    let params = params();
    let runner = Runner::new(&case.job, &case.market, &params);
    let run = |name: &PolicyName| (*name, runner.run(*name, case.start));
    PolicyName::ALL.iter().map(run).collect()
}

/// Sums of an outcome that hold for every policy.
fn conserves(case: &Case, name: PolicyName, out: &Outcome) -> Result<(), TestCaseError> {
    let parts = out.spot_cost + out.on_demand_cost + out.transfer_cost + out.probe_cost;
    prop_assert!((parts - out.cost).abs() < 1e-9, "{name:?} {out:?}");
    let gap = case.market.gap_ms;
    let paid = (out.spot_ticks + out.on_demand_ticks) * gap;
    let rest = paid - case.job.work_ms - out.wasted_ms;
    prop_assert!(
        (0..gap).contains(&rest),
        "{name:?} {rest} ms of {gap}: {out:?}"
    );
    prop_assert!(out.spot_ticks + out.on_demand_ticks <= out.finish_tick);
    prop_assert!(out.last_tick_cost <= out.cost + 1e-9);
    Ok(())
}

fn least(job: &Job, market: &Market, start: usize) -> f64 {
    least_cost(job, market, start).unwrap_or(f64::INFINITY)
}

fn cases(n: u32) -> Config {
    Config {
        cases: n,
        failure_persistence: None,
        max_shrink_iters: 1000,
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(cases(700))]

    #[test]
    fn nobody_is_late_nobody_beats_the_optimum_and_sums_hold(case in case(Wishes::default())) {
        prop_assert!(case.job.check_feasible(case.market.gap_ms).is_ok());
        let bound = least(&case.job, &case.market, case.start);
        prop_assert!(bound.is_finite());
        for (name, out) in outcomes(&case) {
            prop_assert!(!out.late, "{name:?} is late: {out:?}");
            prop_assert!(out.cost >= bound - 1e-6 * bound, "{name:?} {} < {bound}", out.cost);
            if case.job.saves.is_none() || name != PolicyName::Optimum {
                conserves(&case, name, &out)?;
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(120))]

    #[test]
    fn the_same_again_and_unknown_is_down(case in case(Wishes::default())) {
        let first = outcomes(&case);
        prop_assert_eq!(&first, &outcomes(&case));
        let known = with_cells(&case, |cell, _, _| match cell {
            Cell::Unknown => Cell::Down,
            other => other,
        });
        for ((name, was), (_, is)) in first.iter().zip(outcomes(&known)) {
            let is = Outcome { unknown_ticks: was.unknown_ticks, ..is };
            prop_assert_eq!(was, &is, "{:?}", name);
        }
    }
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn a_shorter_outage_never_costs_the_optimum_more(case in case(Wishes::default()), nth in 2usize..9) {
        let better = with_cells(&case, |cell, zone, tick| {
            if (zone + tick).is_multiple_of(nth) { Cell::Up } else { cell }
        });
        let bound = least(&case.job, &case.market, case.start);
        prop_assert!(least(&better.job, &better.market, better.start) <= bound + 1e-9);
    }

    #[test]
    fn halved_ticks_never_cost_the_optimum_more(case in case(Wishes::default())) {
        let mut market = case.market.clone();
        market.gap_ms /= 2;
        for zone in &mut market.zones {
            zone.cells = zone.cells.iter().flat_map(|c| [*c, *c]).collect();
            zone.spot = zone.spot.iter().flat_map(|p| [*p, *p]).collect();
        }
        let bound = least(&case.job, &case.market, case.start);
        prop_assert!(least(&case.job, &market, 2 * case.start) <= bound + 1e-9);
    }

    #[test]
    fn spot_as_dear_as_on_demand_is_not_taken(case in case(Wishes { dear: true, ..Wishes::default() })) {
        let params = params();
        let runner = Runner::new(&case.job, &case.market, &params);
        let least = case.market.zones.iter().map(|z| z.on_demand).fold(f64::INFINITY, f64::min);
        // who knows what comes may pay more for a tick to save a start
        for name in PolicyName::ALL.into_iter().filter(|name| *name != PolicyName::Optimum) {
            let (_, steps) = runner.timeline(name, case.start);
            // ours weighs what it costs to go where on-demand is cheapest
            let weighs = name == PolicyName::Lessee;
            for step in steps {
                if let lessee_spot::policy::Running::Spot(zone) = step.running {
                    let prices = &case.market.zones[zone].spot;
                    let price = prices[(case.start + step.tick as usize).min(prices.len() - 1)];
                    let limit = if weighs { case.market.zones[zone].on_demand } else { least };
                    prop_assert!(price < limit, "{:?} pays {} for {:?}", name, price, step);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn odd_milliseconds_leave_the_optimum_a_bound(case in case(Wishes { odd: true, ..Wishes::default() })) {
        let bound = least(&case.job, &case.market, case.start);
        for (name, out) in outcomes(&case) {
            prop_assert!(!out.late, "{name:?} is late: {out:?}");
            prop_assert!(out.cost >= bound - 1e-6 * bound, "{name:?} {} < {bound}", out.cost);
        }
    }
}
