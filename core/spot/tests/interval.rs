//! The formulas for intervals against the replay: a job with saves on generated lives pays what they say.

#![allow(clippy::unwrap_used)]

use lessee_spot::interval::{Ages, Saving};
use lessee_spot::job::{Saves, hours_to_ms};
use lessee_spot::policy::CheapestSpot;
use lessee_spot::random::Random;
use lessee_spot::{Cell, Guard, Job, Market, Outcome, Rules, Zone, replay};

const TICK_S: f64 = 60.0;

/// Lives with these rates by age, one tick of outage after each.
fn lives(edges: &[f64], per_h: &[f64], hours: f64, seed: u64) -> Market {
    let ticks = (hours * 3600.0 / TICK_S) as usize;
    let (mut cells, mut random) = (Vec::with_capacity(ticks), Random(seed));
    while cells.len() < ticks {
        // the age at which the cumulative hazard reaches an exponential draw
        let mut rest = random.exponential();
        let mut age = f64::NAN;
        for (i, rate) in per_h.iter().enumerate() {
            let to = edges.get(i + 1).copied().unwrap_or(f64::INFINITY);
            let width = to - edges[i];
            if rest <= rate * width {
                age = edges[i] + rest / rate;
                break;
            }
            rest -= rate * width;
        }
        // a life that ends within a tick is lost at its end or at its start, at random
        let length = (age * 3600.0 / TICK_S + random.unit()) as usize;
        cells.extend(std::iter::repeat_n(Cell::Up, length));
        cells.push(Cell::Down);
    }
    let zone = Zone {
        name: "z".to_owned(),
        region: "z".to_owned(),
        spot: vec![1.0; cells.len()],
        cells,
        on_demand: 3.0,
    };
    Market {
        gap_ms: (TICK_S * 1000.0) as i64,
        zones: vec![zone],
        egress: vec![0.0],
        transfer_ms_per_gb: vec![0.0],
    }
}

/// Paid time for an hour of work.
fn replayed(market: &Market, work: f64, saving: &Saving, interval_h: f64) -> f64 {
    let job = Job {
        saves: Some(Saves {
            every_ms: hours_to_ms(interval_h),
            block_ms: hours_to_ms(saving.block_h),
        }),
        ..Job::new(work, 80_000.0, saving.restart_h).unwrap()
    };
    let rules = Rules {
        guard: Guard::Off,
        ..Rules::ONE_ZONE
    };
    let out: Outcome = replay(&job, market, 0, rules, &mut CheapestSpot);
    assert!(!out.late && out.on_demand_ticks == 0, "{out:?}");
    out.cost / work
}

#[test]
fn memoryless_lives_cost_what_the_formula_says() {
    let saving = Saving {
        restart_h: 0.2,
        ..Saving::blocking(5.0 / 60.0)
    };
    let best = saving.interval_h(6.0).unwrap();
    let market = lives(&[0.0], &[1.0 / 6.0], 40_000.0, 20_261_130);
    let mut costs = Vec::new();
    for factor in [0.4, 1.0, 2.5] {
        let interval = best * factor;
        let waste = replayed(&market, 20_000.0, &saving, interval) - 1.0;
        let formula = saving.hours_per_hour(interval, 6.0, 0.0).unwrap().0 - 1.0;
        assert!(
            (waste / formula - 1.0).abs() < 0.04,
            "{factor}: {waste} {formula}"
        );
        costs.push(waste);
    }
    assert!(costs[1] < costs[0] && costs[1] < costs[2], "{costs:?}");
}

#[test]
fn heavy_tailed_lives_cost_what_the_renewals_say() {
    // `data/spot.toml`
    let edges = [0.0, 1.0 / 3.0, 1.0, 3.0, 8.0];
    let per_h = [1.3, 0.65, 0.36, 0.18, 0.10];
    let ages = Ages::new(&edges, &per_h).unwrap();
    let saving = Saving {
        restart_h: 0.1,
        ..Saving::blocking(2.0 / 60.0)
    };
    let best = saving.constant_interval(&ages).unwrap().then_h;
    let market = lives(&edges, &per_h, 60_000.0, 7);
    for interval in [best, 2.0 * best] {
        let waste = replayed(&market, 30_000.0, &saving, interval) - 1.0;
        let formula = saving.hours_per_hour_by_age(interval, &ages).unwrap().0 - 1.0;
        assert!(
            (waste / formula - 1.0).abs() < 0.04,
            "{interval}: {waste} {formula}"
        );
    }
}
