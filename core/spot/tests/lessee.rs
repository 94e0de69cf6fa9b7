//! What the policy `lessee` reaches on public records, beside the policies it has to beat: the figures of
//! docs/design/spot-policy.md.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use common::*;
use lessee_spot::policy::lessee::Params;
use lessee_spot::{Cell, Job, Market, PolicyName, Runner, optimum};
use std::collections::BTreeMap;

fn params() -> Params {
    Params::from_toml(include_str!("../../../data/spot.toml")).unwrap()
}

/// Sums over the jobs of one cell of a table.
#[derive(Clone, Copy, Default)]
struct Sums {
    jobs: f64,
    optimum: f64,
    on_demand: f64,
    greedy: f64,
    uniform: f64,
    lessee: f64,
    late: usize,
}

impl Sums {
    fn excess(&self) -> f64 {
        self.lessee / self.optimum - 1.0
    }

    fn add(&mut self, runner: &Runner, start: usize, optimum: f64) {
        let run = |name| runner.run(name, start);
        let ours = run(PolicyName::Lessee);
        self.jobs += 1.0;
        self.optimum += optimum;
        self.on_demand += run(PolicyName::OnDemand).cost;
        self.greedy += run(PolicyName::Greedy).cost;
        self.uniform += run(PolicyName::UniformProgress).cost;
        self.lessee += ours.cost;
        self.late += usize::from(ours.late);
    }
}

/// The jobs of a table of `aws-2022-10`, by deadline and overhead and by series.
fn table(file: &str, only: Option<&str>, optimum: &str) -> [BTreeMap<String, Sums>; 2] {
    let (params, windows) = (params(), windows());
    let markets: BTreeMap<&str, Market> = SERIES.iter().map(|s| (*s, aws_2022(s))).collect();
    let mut jobs: BTreeMap<(String, String, String), Vec<(usize, f64)>> = BTreeMap::new();
    for row in rows(file) {
        if only.is_some_and(|name| row["policy"] != name) {
            continue;
        }
        let start = windows[&(row["series"].clone(), row["window"].clone())];
        let key = (
            row["series"].clone(),
            row["deadline_h"].clone(),
            row["overhead_h"].clone(),
        );
        jobs.entry(key)
            .or_default()
            .push((start, row[optimum].parse().unwrap()));
    }
    let mut sums = [BTreeMap::new(), BTreeMap::new()];
    for ((series, deadline, overhead), starts) in jobs {
        let job = Job::new(48.0, deadline.parse().unwrap(), overhead.parse().unwrap()).unwrap();
        let runner = Runner::new(&job, &markets[series.as_str()], &params);
        for (start, least) in starts {
            for (map, key) in sums
                .iter_mut()
                .zip([format!("{deadline} {overhead}"), series.clone()])
            {
                map.entry(key)
                    .or_insert_with(Sums::default)
                    .add(&runner, start, least);
            }
        }
    }
    sums
}

#[test]
fn the_leaderboards_jobs() {
    if records().is_none() {
        return;
    }
    let [cells, series] = table(
        "aws-2022-10/benchmark_1080.csv",
        Some("optimal"),
        "cost_usd",
    );
    let all = cells.values().fold(Sums::default(), |mut all, c| {
        all.jobs += c.jobs;
        all.lessee += c.lessee;
        all.late += c.late;
        all
    });
    println!("1,080 jobs: {:.3} USD", all.lessee / all.jobs);
    assert_eq!((all.jobs, all.late), (1080.0, 0));
    assert!(
        all.lessee / all.jobs <= 94.8,
        "{:.3}",
        all.lessee / all.jobs
    );
    for (name, s) in &series {
        assert!(s.lessee <= s.on_demand * 1.01, "{name}");
    }
}

#[test]
fn the_grid_of_deadlines_and_overheads() {
    if records().is_none() {
        return;
    }
    let [cells, series] = table("aws-2022-10/baseline_costs.csv", None, "optimal");
    let mean = cells.values().map(Sums::excess).sum::<f64>() / cells.len() as f64;
    println!("28 cells: {:.2} % above the optimum", mean * 100.0);
    assert!(mean <= 0.08, "{mean}");
    for (name, s) in cells.iter().chain(&series) {
        let best = s.greedy.min(s.uniform);
        assert_eq!(s.late, 0, "{name}");
        assert!(
            s.lessee <= best * 1.01,
            "{name}: {} against {best}",
            s.lessee
        );
        assert!(s.lessee <= s.on_demand * 1.01, "{name}");
    }
}

/// Markets that no parameter but the pooled rates was chosen on: single zones of V100 in 2023 and of H100 in 2025.
#[test]
fn single_zones_of_other_years() {
    if records().is_none() {
        return;
    }
    let params = params();
    let mut markets: Vec<(String, Market)> = V100_SIX
        .iter()
        .map(|z| (format!("v100 {z}"), v100(&[z])))
        .collect();
    for zone in H100_EIGHT {
        for gang in [1, 8, 16] {
            markets.push((format!("h100 {zone} x{gang}"), h100_counts(&[zone], gang)));
        }
    }
    let mut all = Sums::default();
    for (name, market) in &markets {
        let mut sums = Sums::default();
        for (deadline, overhead) in [(52.0, 0.2), (70.0, 0.05), (70.0, 0.4)] {
            let job = Job::new(48.0, deadline, overhead).unwrap();
            let runner = Runner::new(&job, market, &params);
            let ticks = (job.deadline_ms / market.gap_ms) as usize;
            for start in (0..market.ticks() - ticks).step_by(ticks) {
                let least = optimum::least_cost(&job, market, start).unwrap();
                sums.add(&runner, start, least);
            }
        }
        let best = sums.greedy.min(sums.uniform);
        println!(
            "{name:28} {:5.1} % above the optimum, best of two {:5.1} %",
            sums.excess() * 100.0,
            (best / sums.optimum - 1.0) * 100.0
        );
        assert_eq!(sums.late, 0, "{name}");
        assert!(
            sums.lessee <= best * 1.01,
            "{name}: {} against {best}",
            sums.lessee
        );
        assert!(sums.lessee <= sums.on_demand * 1.01, "{name}");
        // each market weighs the same
        all.lessee += sums.lessee / sums.on_demand;
        all.greedy += best / sums.on_demand;
        all.optimum += sums.optimum / sums.on_demand;
    }
    println!(
        "all: {:.1} % above the optimum, best of two {:.1} %",
        all.excess() * 100.0,
        (all.greedy / all.optimum - 1.0) * 100.0
    );
    assert!(all.excess() <= 0.08, "{}", all.excess());
}

#[test]
fn several_zones() {
    if records().is_none() {
        return;
    }
    let params = params();
    let (h100, v100) = (h100(&H100_SIX), v100(&V100_THREE));
    let mut sums: BTreeMap<String, (f64, f64, f64, usize)> = BTreeMap::new();
    for row in rows("published-skynomad-results/recomputed_full_billing.csv") {
        let number = |name: &str| row[name].parse::<f64>().unwrap();
        let v = row["sweep"].contains("v100");
        let (market, deadline) = if v {
            (&v100, 59.908_333_333_333_3)
        } else {
            (&h100, 51.833_333_333_333_3)
        };
        let mut job = Job::new(deadline / number("deadline_ratio"), deadline, 0.2).unwrap();
        job.checkpoint_gb = number("checkpoint_gb");
        let runner = Runner::new(&job, market, &params);
        let ours = runner.run(PolicyName::Lessee, number("start_tick") as usize);
        let name = if v {
            "v100".to_owned()
        } else {
            format!(
                "h100 {} {}",
                row["sweep"],
                if row["sweep"] == "deadline" {
                    &row["deadline_ratio"]
                } else {
                    &row["checkpoint_gb"]
                }
            )
        };
        let sum = sums.entry(name).or_default();
        sum.0 += number("optimal_exact");
        sum.1 += number("skynomad");
        sum.2 += ours.cost;
        sum.3 += usize::from(ours.late);
    }
    let mut groups: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (name, (least, skynomad, ours, late)) in &sums {
        let excess = ours / least - 1.0;
        println!(
            "{name:24} {:5.1} % above the optimum, SkyNomad {:5.1} %",
            excess * 100.0,
            (skynomad / least - 1.0) * 100.0
        );
        assert_eq!(*late, 0, "{name}");
        let group = ["h100 deadline", "h100 checkpoint", "v100"];
        let group = group.iter().find(|g| name.starts_with(**g)).unwrap();
        groups.entry(group).or_default().push(excess);
    }
    for (name, most) in [("h100 deadline", 0.03), ("v100", 0.08)] {
        let all = &groups[name];
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        println!("{name}: {:.1} %", mean * 100.0);
        assert!(mean <= most, "{name}: {mean}");
    }
}

/// Spot that costs as much as on-demand is not taken, whatever it promises.
#[test]
fn dear_spot_is_left_alone() {
    let zone = |price: f64| lessee_spot::Zone {
        name: format!("at {price}"),
        region: "r".to_owned(),
        cells: vec![Cell::Up; 400],
        spot: vec![price; 400],
        on_demand: 3.0,
    };
    let job = Job::new(40.0, 60.0, 0.1).unwrap();
    for zones in [vec![zone(3.0)], vec![zone(3.0), zone(4.0)]] {
        let market = market(600, zones);
        let params = params();
        let runner = Runner::new(&job, &market, &params);
        let run = runner.run(PolicyName::Lessee, 0);
        assert_eq!(run.spot_ticks, 0);
        assert!(!run.late);
    }
}
