//! The published jobs of SkyNomad (NSDI 2027), one by one: `deadline_sensitivity.csv`, `checkpoint_sensitivity.csv`
//! and `v100.csv` as the authors published them, `recomputed_full_billing.csv` with the last tick billed.

mod common;

use common::{H100_SIX, V100_THREE, h100, records, rows, v100};
use lessee_spot::policy::{
    Policy, SkyNomad, SkyNomadSettings, SkyNomadValue, UniformByAvailability,
    UniformByAvailabilityAndPrice, UniformBySwitching, UniformProgress,
};
use lessee_spot::{Job, Market, Outcome, Rules, replay};
use std::collections::{BTreeMap, HashMap};

/// Start ticks of the windows.
const H100_STARTS: [usize; 6] = [0, 311, 622, 933, 1244, 1556];
const V100_STARTS: [usize; 5] = [3318, 5530, 7742, 8848, 15484];

type Row = HashMap<String, String>;

fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap()
}

/// The markets of the published jobs, with the rates that the artifact charges for moving a checkpoint.
struct Markets {
    h100: Market,
    v100: Market,
}

impl Markets {
    fn read() -> Markets {
        let mut v100 = v100(&V100_THREE);
        // us-east-1 with us-east-2 is 0.01, every other pair 0.02
        v100.egress[1] = 0.01;
        v100.egress[3] = 0.01;
        Markets {
            h100: h100(&H100_SIX),
            v100,
        }
    }

    /// One zone of a market alone.
    fn zone(&self, name: &str) -> Market {
        let (market, name) = match name.split_once("_v100") {
            Some((zone, _)) => (&self.v100, zone),
            None => (&self.h100, name.split_once("_h100").unwrap().0),
        };
        let zone = market.zones.iter().find(|z| z.name == name).unwrap();
        common::market(market.gap_ms / 1000, vec![zone.clone()])
    }
}

/// A strategy by the name of a column of `recomputed_full_billing.csv`.
fn run(strategy: &str, market: &Market, start: usize, job: &Job, v100: bool) -> Outcome {
    let (settings, value) = match v100 {
        true => (SkyNomadSettings::RATE_RATIO, SkyNomadValue::RateRatio),
        false => (SkyNomadSettings::PLANNED_COST, SkyNomadValue::PlannedCost),
    };
    fn zones(market: &Market, start: usize, job: &Job, mut policy: impl Policy) -> Outcome {
        replay(job, market, start, Rules::ZONES, &mut policy)
    }
    match strategy {
        "up_s" => zones(market, start, job, UniformBySwitching::default()),
        "up_a" => zones(market, start, job, UniformByAvailability::default()),
        "up_ap" => zones(market, start, job, UniformByAvailabilityAndPrice::default()),
        "skynomad" => zones(market, start, job, SkyNomad::new(settings)),
        "skynomad_o" => zones(market, start, job, SkyNomad::oracle(market, value)),
        other => panic!("{other}"),
    }
}

#[test]
fn every_recomputed_job() {
    if records().is_none() {
        return;
    }
    let markets = Markets::read();
    let mut sums: BTreeMap<String, (f64, f64, f64, usize)> = BTreeMap::new();
    for row in rows("published-skynomad-results/recomputed_full_billing.csv") {
        let is_v100 = row["sweep"] == "v100";
        let market = if is_v100 {
            &markets.v100
        } else {
            &markets.h100
        };
        let deadline = market.gap_ms as f64 / 3.6e6 * if is_v100 { 1106.0 } else { 311.0 };
        let job = job(deadline / number(&row, "deadline_ratio"), deadline, &row, "checkpoint_gb");
        let start = number(&row, "start_tick") as usize;
        for strategy in ["up_s", "up_a", "up_ap", "skynomad", "skynomad_o"] {
            let got = run(strategy, market, start, &job, is_v100);
            let want = number(&row, strategy);
            let finish = number(&row, &format!("{strategy}_finish_tick")) as i64;
            let off = (got.cost - want).abs();
            if off > 1e-3 || got.finish_tick != finish {
                println!(
                    "{} {} {} w{} {strategy}: {:.4} for {want} ({:+.3} %), tick {} for {finish}, probes {} moves {}",
                    row["sweep"], row["deadline_ratio"], row["checkpoint_gb"], row["window"],
                    got.cost, 100.0 * (got.cost / want - 1.0), got.finish_tick, got.probes, got.moves
                );
            }
            let sum = sums.entry(format!("{} {strategy}", row["sweep"])).or_default();
            sum.0 += got.cost;
            sum.1 += want;
            sum.2 = sum.2.max(off);
            sum.3 += 1;
        }
    }
    for (name, (got, want, worst, n)) in sums {
        println!("{name}: {n} jobs, mean {:.4} for {:.4}, worst {worst:.4}", got / n as f64, want / n as f64);
    }
}

fn job(work: f64, deadline: f64, row: &Row, checkpoint: &str) -> Job {
    let mut job = Job::new(work, deadline, 0.2).unwrap();
    job.checkpoint_gb = number(row, checkpoint);
    job
}
