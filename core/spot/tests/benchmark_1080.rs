//! The 1,080 jobs of the public leaderboard on the 2022-10 series, one by one: cost, end and billed ticks.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use common::{aws_2022, records, rows, windows};
use lessee_spot::optimum::least_cost;
use lessee_spot::policy::{Greedy, OnDemand, TimeSliced, UniformProgress};
use lessee_spot::{Job, Market, Rules, replay};
use std::collections::{BTreeMap, HashMap};

#[test]
fn every_job_of_the_benchmark() {
    if records().is_none() {
        return;
    }
    let windows = windows();
    let mut markets: HashMap<String, Market> = HashMap::new();
    let mut jobs: BTreeMap<String, (usize, f64)> = BTreeMap::new();
    for row in rows("aws-2022-10/benchmark_1080.csv") {
        let number = |column: &str| -> f64 { row[column].parse().unwrap() };
        let series = &row["series"];
        let market = markets
            .entry(series.clone())
            .or_insert_with(|| aws_2022(series));
        let start = windows[&(series.clone(), row["window"].clone())];
        let job = Job::new(48.0, number("deadline_h"), number("overhead_h")).unwrap();
        let rules = Rules::ONE_ZONE;
        let got = match row["policy"].as_str() {
            "on_demand" => replay(&job, market, start, rules, &mut OnDemand),
            "greedy" => replay(&job, market, start, rules, &mut Greedy),
            "time_sliced_1h" => replay(&job, market, start, rules, &mut TimeSliced::new(1.0)),
            "uniform_progress" => replay(&job, market, start, rules, &mut UniformProgress),
            "optimal" => {
                let least = least_cost(&job, market, start).unwrap();
                assert!((least - number("cost_usd")).abs() < 1e-4, "{least} {row:?}");
                let sum = jobs.entry(row["policy"].clone()).or_default();
                *sum = (sum.0 + 1, sum.1 + least);
                continue;
            }
            _ => continue,
        };
        assert!(
            (got.cost - number("cost_usd")).abs() < 1e-4,
            "{got:?} {row:?}"
        );
        assert_eq!(got.finish_tick, number("finish_tick") as i64, "{row:?}");
        assert_eq!(got.spot_ticks, number("spot_ticks") as i64, "{row:?}");
        assert_eq!(
            got.on_demand_ticks,
            number("on_demand_ticks") as i64,
            "{row:?}"
        );
        assert_eq!(
            got.late,
            matches!(row["late"].as_str(), "1" | "true"),
            "{row:?}"
        );
        let sum = jobs.entry(row["policy"].clone()).or_default();
        *sum = (sum.0 + 1, sum.1 + got.cost);
    }
    for (policy, (n, cost)) in &jobs {
        println!("{policy}: {n} jobs, mean {:.4} USD", cost / *n as f64);
        assert_eq!(*n, 1080);
    }
    assert_eq!(jobs.len(), 5);
}
