//! "Spot with checkpoints saves over 60 %": the figures of docs/concepts/spot-claim.md.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use common::*;
use lessee_spot::policy::lessee::Params;
use lessee_spot::{Job, Market, PolicyName, Runner};
use std::collections::BTreeMap;

/// Deadline over work.
const RATIOS: [f64; 4] = [1.05, 1.25, 1.5, 2.0];
const WORK_H: f64 = 24.0;

/// Mean saving against on-demand, by ratio.
fn savings(market: &Market) -> [f64; 4] {
    let params = Params::from_toml(include_str!("../../../data/spot.toml")).unwrap();
    RATIOS.map(|ratio| {
        let mut job = Job::new(WORK_H, WORK_H * ratio, 0.1).unwrap();
        job.checkpoint_gb = 50.0;
        let runner = Runner::new(&job, market, &params);
        let ticks = (job.deadline_ms / market.gap_ms) as usize;
        let (mut ours, mut paid) = (0.0, 0.0);
        let starts = (3..market.ticks() - ticks).step_by((86_400_000 / market.gap_ms) as usize);
        for start in starts {
            let run = runner.run(PolicyName::Lessee, start);
            assert!(!run.late);
            ours += run.cost;
            paid += runner.run(PolicyName::OnDemand, start).cost;
        }
        1.0 - ours / paid
    })
}

#[test]
fn over_sixty_percent() {
    if records().is_none() {
        return;
    }
    let mut markets: Vec<(String, Market)> = Vec::new();
    for series in SERIES {
        markets.push((format!("AWS 2022 {series}"), aws_2022(series)));
    }
    for zone in V100_SIX {
        markets.push((format!("AWS 2023 V100 {zone}"), v100(&[zone])));
    }
    markets.push(("AWS 2023 V100, 6 zones".into(), v100(&V100_SIX)));
    for zone in H100_EIGHT {
        markets.push((format!("GCP 2025 H100 {zone}"), h100_counts(&[zone], 1)));
    }
    for gang in [1, 8, 16] {
        markets.push((
            format!("GCP 2025 H100, 8 zones, {gang} at once"),
            h100_counts(&H100_EIGHT, gang),
        ));
    }
    let mut found = BTreeMap::new();
    for (name, market) in &markets {
        let saved = savings(market);
        let cells: Vec<String> = saved
            .iter()
            .map(|s| format!("{:.0} %", s * 100.0))
            .collect();
        println!("| {name} | {} |", cells.join(" | "));
        found.insert(name.as_str(), saved);
    }
    let over = |i: usize| found.values().filter(|s| s[i] > 0.6).count();
    println!("over 60 %: {:?} of {}", [0, 1, 2, 3].map(over), found.len());
    // true with several zones and any slack, or with one zone that is mostly up
    assert!(
        found["AWS 2023 V100, 6 zones"][1..]
            .iter()
            .all(|s| *s > 0.6)
    );
    assert!(
        found["GCP 2025 H100, 8 zones, 1 at once"]
            .iter()
            .all(|s| *s > 0.6)
    );
    assert!(
        found["AWS 2022 us-west-2a_k80_1"][1..]
            .iter()
            .all(|s| *s > 0.6)
    );
    // not true in one scarce zone, whatever the slack, nor where spot itself is hardly cheaper
    assert!(found["AWS 2023 V100 us-east-1a"].iter().all(|s| *s < 0.3));
    assert!(found["AWS 2022 us-west-2b_k80_1"].iter().all(|s| *s < 0.45));
    assert!(
        found["GCP 2025 H100 asia-south2-b"]
            .iter()
            .all(|s| *s < 0.3)
    );
    // slack buys saving
    for (name, saved) in &found {
        assert!(saved[3] >= saved[0] - 0.02, "{name}: {saved:?}");
    }
}
