//! Cases that generated markets found, each small enough to follow by hand.

#![allow(clippy::unwrap_used)]

mod generated;

use generated::params;
use lessee_spot::job::{JobError, Saves};
use lessee_spot::optimum::{least_cost, optimum};
use lessee_spot::policy::{
    Choice, Now, Policy, Running, SkyNomad, SkyNomadValue, UniformByAvailability,
    UniformByAvailabilityAndPrice,
};
use lessee_spot::replay::Step;
use lessee_spot::{Cell, Guard, Job, Market, PolicyName, Rules, Runner, Zone, replay, replay_with};

const MINUTE: i64 = 60_000;

/// `#` up, anything else down.
fn zone(name: &str, cells: &str, spot: f64, on_demand: f64) -> Zone {
    let up = |c: char| if c == '#' { Cell::Up } else { Cell::Down };
    Zone {
        name: name.to_owned(),
        region: name.to_owned(),
        spot: vec![spot; cells.len()],
        cells: cells.chars().map(up).collect(),
        on_demand,
    }
}

/// Ticks of a minute; moves between zones take `transfer` ms and cost nothing.
fn market(zones: Vec<Zone>, transfer: i64) -> Market {
    let n = zones.len();
    let times = (0..n * n).map(|i| if i / n == i % n { 0.0 } else { transfer as f64 });
    Market {
        gap_ms: MINUTE,
        egress: vec![0.0; n * n],
        transfer_ms_per_gb: times.collect(),
        zones,
    }
}

fn job(work: i64, deadline: i64, overhead: i64) -> Job {
    Job {
        work_ms: work,
        deadline_ms: deadline,
        overhead_ms: overhead,
        checkpoint_gb: 1.0,
        saves: None,
        billing_ms: 0,
    }
}

fn nobody_is_late(job: &Job, market: &Market) {
    job.check_feasible(market.gap_ms).unwrap();
    let params = params();
    let runner = Runner::new(job, market, &params);
    for name in PolicyName::ALL {
        let out = runner.run(name, 0);
        assert!(!out.late, "{name:?}: {out:?}");
    }
}

/// The public guard of one zone waits when warm spot is lost at the last moment: a tick too long.
#[test]
fn spot_that_is_lost_at_the_last_moment() {
    let market = market(vec![zone("a", ".#.#.#.#.#", 0.3, 3.0)], 0);
    nobody_is_late(&job(270_000, 480_000, 60_000), &market);
}

/// At the last moment warm spot was kept although work since the last save could still be lost with it.
#[test]
fn unsaved_work_at_the_last_moment() {
    let market = market(vec![zone("a", "..#####.....", 0.83, 3.0)], 0);
    let job = Job {
        saves: Some(Saves {
            every_ms: 210_000,
            block_ms: 60_000,
        }),
        ..job(360_000, 600_000, 30_000)
    };
    nobody_is_late(&job, &market);
}

/// The last moment came while a checkpoint was on its way.
#[test]
fn a_move_at_the_last_moment() {
    for up in ["##..########", "#.##########", "#...#.#.#.#."] {
        let zones = vec![zone("a", "#...........", 0.5, 3.0), zone("b", up, 0.1, 2.9)];
        for slack in 0..5 {
            let deadline = (7 + slack) * MINUTE;
            nobody_is_late(
                &job(6 * MINUTE, deadline, MINUTE),
                &market(zones.clone(), 3 * MINUTE),
            );
        }
    }
}

/// On-demand here for a tick, on-demand there, started once more, and so on: what a script says.
struct Restless(Vec<Choice>);

impl Policy for Restless {
    fn decide(&mut self, now: &Now, out: &mut Vec<Choice>) {
        out.push(Choice::Stop);
        out.push(*self.0.get(now.tick as usize).unwrap_or(&Choice::Keep));
        if self.0.len() <= now.tick as usize {
            out.clear();
            out.push(Choice::Keep);
        }
    }
}

/// A second start in the new zone used to forget that the checkpoint was not there yet: cheaper than the optimum.
#[test]
fn a_move_that_is_cut_short_is_not_done() {
    let dark = ".".repeat(30);
    let market = market(
        vec![zone("a", &dark, 1.0, 3.0), zone("b", &dark, 1.0, 1.0)],
        5 * MINUTE,
    );
    let rules = Rules {
        guard: Guard::Off,
        ..Rules::ZONES
    };
    let job = job(10 * MINUTE, 30 * MINUTE, 0);
    let script = vec![
        Choice::OnDemand(0),
        Choice::OnDemand(1),
        Choice::OnDemand(1),
    ];
    let out = replay(&job, &market, 0, rules, &mut Restless(script));
    // 1 minute of work in a, 5 of moving, 9 in b
    assert_eq!(
        (out.finish_tick, out.wasted_ms, out.moves),
        (15, 5 * MINUTE, 1)
    );
    // back to where the checkpoint still is: nothing to wait for
    let script = [0, 1, 0].map(Choice::OnDemand).to_vec();
    let out = replay(&job, &market, 0, rules, &mut Restless(script));
    assert_eq!((out.finish_tick, out.wasted_ms, out.moves), (11, MINUTE, 1));
}

/// The optimum moves in pieces where spot comes in pieces; its replay has to do the same.
#[test]
fn a_move_goes_on_after_an_interruption() {
    let zones = vec![
        zone("a", "###.................", 0.5, 90.0),
        zone("b", "...#.#.#.#.#.#.#.#.#", 0.5, 90.0),
    ];
    let market = market(zones, 3 * MINUTE / 2);
    let job = job(10 * MINUTE, 20 * MINUTE, 0);
    let least = least_cost(&job, &market, 0).unwrap();
    let out = optimum(&job, &market, 0).unwrap();
    assert!(
        !out.late && (out.cost - least).abs() < 1e-9,
        "{least} {out:?}"
    );
    // 3 ticks in a; then 1.5 of moving, in two pieces, and 7 of work
    assert_eq!((out.spot_ticks, out.on_demand_ticks), (12, 0));
}

/// The coarse unit of long jobs did not divide a tick: the bound was above what on-demand costs.
#[test]
fn a_coarse_unit_is_still_a_bound() {
    let ticks = 886;
    let mut market = market(vec![zone("a", &".".repeat(1000), 1.0, 3.0)], 0);
    market.gap_ms = 195_000;
    let job = job(ticks * 195_000 - 72_000, 900 * 195_000, 72_000);
    let paid = Runner::new(&job, &market, &params()).run(PolicyName::OnDemand, 0);
    assert_eq!(paid.finish_tick, ticks);
    let least = least_cost(&job, &market, 0).unwrap();
    assert!(least <= paid.cost + 1e-9, "{least} {}", paid.cost);
    let best = optimum(&job, &market, 0).unwrap();
    assert!(!best.late && best.cost <= paid.cost + 195.0 / 3600.0 * 3.0 + 1e-9);
    // rounded up it does not fit: on-demand all the time
    let tight = Job {
        deadline_ms: ticks * 195_000,
        ..job
    };
    assert_eq!(optimum(&tight, &market, 0).unwrap().finish_tick, ticks);
}

/// Replays without a guard ended two ticks after the record.
#[test]
fn a_record_shorter_than_the_plan() {
    let market = market(vec![zone("a", ".", 0.3, 3.0)], 0);
    let out = optimum(&job(150_000, 180_000, 0), &market, 0).unwrap();
    assert_eq!((out.late, out.finish_tick), (false, 3));
}

/// Greedy and Uniform Progress kept spot whose price had risen, Uniform Progress over several zones took it, ours kept it
/// while a zone that it tried instead refused.
#[test]
fn spot_as_dear_as_on_demand() {
    let mut rising = zone("a", &"#".repeat(60), 1.0, 3.0);
    rising.spot[10..].fill(3.0);
    let mut teasing = zone("b", &".".repeat(60), 2.0, 3.5);
    teasing.spot[..10].fill(3.4);
    let dear = zone("c", &"#".repeat(60), 3.2, 4.0);
    let params = params();
    let job = job(20 * MINUTE, 55 * MINUTE, 0);
    for zones in [
        vec![rising.clone()],
        vec![dear.clone(), rising.clone()],
        vec![rising, teasing],
    ] {
        let market = market(zones, 0);
        let runner = Runner::new(&job, &market, &params);
        for name in [
            PolicyName::Greedy,
            PolicyName::UniformProgress,
            PolicyName::Lessee,
        ] {
            let (out, steps) = runner.timeline(name, 0);
            assert!(!out.late);
            for step in steps {
                if let Running::Spot(zone) = step.running {
                    let price = market.zones[zone].spot[step.tick as usize];
                    assert!(price < 3.0, "{name:?} pays {price} in {step:?}");
                }
            }
        }
    }
}

/// The guard of one zone kept warm spot whatever it cost; time-sliced, SkyNomad and two Uniform Progresses did the same by
/// themselves.
#[test]
fn spot_that_becomes_dear_while_it_runs() {
    let mut a = zone("a", &"#".repeat(130), 1.0, 3.0);
    a.spot[30..].fill(30.0);
    let far = zone("b", &".".repeat(130), 2.0, 3.5);
    let params = params();
    for slack in [2, 30] {
        let job = job(120 * MINUTE, (120 + slack) * MINUTE, 36_000);
        for zones in [vec![a.clone()], vec![a.clone(), far.clone()]] {
            let market = market(zones, 0);
            let runner = Runner::new(&job, &market, &params);
            for name in PolicyName::ALL {
                let (out, steps) = runner.timeline(name, 0);
                assert!(!out.late, "{name:?}");
                dear_spot_is_left(&market, &steps, &format!("{name:?}, slack {slack}"));
            }
            plays(
                &job,
                &market,
                "UP(A)",
                &mut UniformByAvailability::default(),
            );
            plays(
                &job,
                &market,
                "UP(AP)",
                &mut UniformByAvailabilityAndPrice::default(),
            );
            let mut oracle = SkyNomad::oracle(&market, SkyNomadValue::PlannedCost);
            plays(&job, &market, "SkyNomad(o)", &mut oracle);
        }
    }
}

fn plays(job: &Job, market: &Market, who: &str, policy: &mut impl Policy) {
    let mut steps = Vec::new();
    let out = replay_with(job, market, 0, Rules::ZONES, policy, |s| steps.push(s));
    assert!(!out.late, "{who}");
    dear_spot_is_left(market, &steps, who);
}

fn dear_spot_is_left(market: &Market, steps: &[Step], who: &str) {
    for step in steps {
        if let Running::Spot(zone) = step.running {
            let price = market.zones[zone].spot[step.tick as usize];
            assert!(price < 3.0, "{who} pays {price} in {step:?}");
        }
    }
}

/// Saves take time on on-demand, too; a job that saves all the time never ends.
#[test]
fn feasible_with_its_saves() {
    let saves = |every_ms, block_ms| Job {
        saves: Some(Saves { every_ms, block_ms }),
        ..job(10 * MINUTE, 12 * MINUTE, MINUTE)
    };
    assert!(saves(5 * MINUTE, MINUTE).check_feasible(MINUTE).is_ok());
    let refused = saves(2 * MINUTE, MINUTE).check_feasible(MINUTE);
    assert!(matches!(refused, Err(JobError::Infeasible { .. })));
    let refused = saves(0, MINUTE).check_feasible(MINUTE);
    assert!(matches!(refused, Err(JobError::Saves { .. })));
}

/// Saves of years, and many of them, overflowed: refused, or late, but never feasible by accident.
#[test]
fn saves_that_take_for_ever() {
    let market = market(vec![zone("a", &"#".repeat(30), 1.0, 3.0)], 0);
    for (every_ms, block_ms) in [
        (1, 60_000_000_000_000_000),
        (1, i64::MAX),
        (i64::MAX, i64::MAX),
        (i64::MAX, 0),
        (1, 300_000_000_000),
    ] {
        let job = Job {
            saves: Some(Saves { every_ms, block_ms }),
            ..job(10 * MINUTE, 12 * MINUTE, MINUTE)
        };
        assert!(job.check_feasible(MINUTE).is_err(), "{job:?}");
        // who replays it nonetheless is late at worst; at a ms of work a save that would take for ever
        if every_ms == 1 {
            continue;
        }
        for name in PolicyName::ALL {
            let out = Runner::new(&job, &market, &params()).run(name, 0);
            assert!(out.cost.is_finite(), "{name:?}");
        }
    }
}

/// The plan kept the mode before in a byte: with 140 zones it read back another zone, and was late.
#[test]
fn the_optimum_of_more_zones_than_a_byte_has_numbers() {
    let mut zones: Vec<Zone> = (0..139)
        .map(|i| zone(&format!("z{i}"), &".".repeat(40), 1.0, 3.0))
        .collect();
    zones.push(zone("last", &"#.".repeat(20), 0.5, 3.0));
    let market = market(zones, 0);
    let job = job(10 * MINUTE, 15 * MINUTE, 0);
    let least = least_cost(&job, &market, 0).unwrap();
    let out = optimum(&job, &market, 0).unwrap();
    assert!(
        !out.late && (out.cost - least).abs() < 1e-9,
        "{least} {out:?}"
    );
    assert_eq!(out.spot_ticks, 8);
}
