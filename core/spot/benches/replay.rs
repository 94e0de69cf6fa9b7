//! Time of one replayed job: one zone (2022-10, us-west-2b_v100_1, 48 h in 60 h), six zones (H100 2025-10, 43.2 h in
//! 51.8 h), and the exact optimum of each; and of 100,000 replays of the policies that a plan compares, decision tables
//! included, on two threads. Skips where the public records are absent.

#![allow(clippy::unwrap_used)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{H100_SIX, SERIES, V100_THREE, aws_2022, h100, records, v100};
use criterion::{Criterion, criterion_group, criterion_main};
use lessee_spot::forecast::POLICIES;
use lessee_spot::optimum::least_cost;
use lessee_spot::policy::lessee::Params;
use lessee_spot::policy::{
    Greedy, Policy, SkyNomad, SkyNomadSettings, SkyNomadValue, TimeSliced, UniformByAvailability,
    UniformByAvailabilityAndPrice, UniformBySwitching, UniformProgress,
};
use lessee_spot::{Job, Market, PolicyName, Rules, Runner, replay};
use std::hint::black_box;

/// One job, again and again, from start ticks in turn.
fn jobs<P: Policy>(
    c: &mut Criterion,
    name: &str,
    (market, starts, rules): (&Market, &[usize], Rules),
    job: &Job,
    policy: impl Fn() -> P,
) {
    let mut turn = starts.iter().cycle();
    c.bench_function(name, |b| {
        b.iter(|| {
            let start = turn.next().copied().unwrap_or(0);
            replay(black_box(job), market, start, rules, &mut policy())
        });
    });
}

fn params() -> Params {
    Params::from_toml(include_str!("../../../data/spot.toml")).unwrap()
}

/// Our policy: its tables belong to the job and are made once for all starts.
fn runner(c: &mut Criterion, name: &str, market: &Market, starts: &[usize], job: &Job) {
    let runner = Runner::new(job, market, &params());
    let mut turn = starts.iter().cycle();
    c.bench_function(name, |b| {
        b.iter(|| {
            let start = turn.next().copied().unwrap_or(0);
            runner.run(PolicyName::Lessee, black_box(start))
        });
    });
}

fn one_zone(c: &mut Criterion) {
    if records().is_none() {
        return;
    }
    let market = aws_2022("us-west-2b_v100_1");
    let job = Job::new(48.0, 60.0, 0.1).unwrap();
    let starts = [3, 200, 400, 600, 800, 1000, 1200];
    let at = (&market, starts.as_slice(), Rules::ONE_ZONE);
    jobs(c, "one zone/greedy", at, &job, || Greedy);
    jobs(c, "one zone/uniform progress", at, &job, || UniformProgress);
    jobs(c, "one zone/time-sliced", at, &job, || TimeSliced::new(1.0));
    runner(c, "one zone/lessee", &market, &starts, &job);
    c.bench_function("one zone/optimum", |b| {
        b.iter(|| least_cost(black_box(&job), &market, 400));
    });
}

fn six_zones(c: &mut Criterion) {
    if records().is_none() {
        return;
    }
    let market = h100(&H100_SIX);
    let deadline = 311.0 / 6.0;
    let mut job = Job::new(deadline / 1.2, deadline, 0.2).unwrap();
    job.checkpoint_gb = 50.0;
    let starts = [0, 311, 622, 933, 1244, 1556];
    let at = (&market, starts.as_slice(), Rules::ZONES);
    jobs(c, "six zones/UP(S)", at, &job, UniformBySwitching::default);
    jobs(
        c,
        "six zones/UP(A)",
        at,
        &job,
        UniformByAvailability::default,
    );
    jobs(
        c,
        "six zones/UP(AP)",
        at,
        &job,
        UniformByAvailabilityAndPrice::default,
    );
    let planned = SkyNomadSettings::PLANNED_COST;
    jobs(c, "six zones/SkyNomad", at, &job, || SkyNomad::new(planned));
    let value = SkyNomadValue::PlannedCost;
    jobs(c, "six zones/SkyNomad(o)", at, &job, || {
        SkyNomad::oracle(&market, value)
    });
    runner(c, "six zones/lessee", &market, &starts, &job);
    let mut slow = c.benchmark_group("six zones");
    slow.sample_size(10);
    slow.bench_function("optimum", |b| {
        b.iter(|| least_cost(black_box(&job), &market, 622));
    });
    slow.finish();
    let market = v100(&V100_THREE);
    let deadline = 1106.0 * 195.0 / 3600.0;
    let mut job = Job::new(deadline / 1.5, deadline, 0.2).unwrap();
    job.checkpoint_gb = 50.0;
    let starts = [3318, 5530, 7742, 8848, 15484];
    let at = (&market, starts.as_slice(), Rules::ZONES);
    let ratio = SkyNomadSettings::RATE_RATIO;
    jobs(c, "V100, 1,106 ticks/SkyNomad", at, &job, || {
        SkyNomad::new(ratio)
    });
    c.bench_function("V100, 1,106 ticks/optimum", |b| {
        b.iter(|| least_cost(black_box(&job), &market, 5530));
    });
}

/// As many replays as a plan of 250 options at its 100 starts: three deadlines of the job on the eight series of 2022-10,
/// from every start in turn.
fn many(c: &mut Criterion) {
    if records().is_none() {
        return;
    }
    const REPLAYS: usize = 100_000;
    let markets = SERIES.map(aws_2022);
    let jobs = [52.0, 60.0, 70.0].map(|deadline| Job::new(48.0, deadline, 0.1).unwrap());
    let params = params();
    let half = |sets: &[Vec<Runner<'_>>], first: usize| {
        let mut cost = 0.0;
        for i in (first..REPLAYS / POLICIES.len()).step_by(2) {
            let job = i % jobs.len();
            let market = i / jobs.len() % markets.len();
            let ticks = (jobs[job].deadline_ms / markets[market].gap_ms) as usize;
            let start = i / 24 % (markets[market].ticks() - ticks);
            for policy in POLICIES {
                cost += sets[job][market].run(policy, start).cost;
            }
        }
        cost
    };
    let mut slow = c.benchmark_group("plan");
    slow.sample_size(10);
    slow.bench_function("100,000 replays", |b| {
        b.iter(|| {
            let each = |job| Runner::each(job, &markets, &params);
            let sets: Vec<Vec<Runner<'_>>> = jobs.iter().map(each).collect();
            std::thread::scope(|scope| {
                let other = scope.spawn(|| half(&sets, 1));
                half(&sets, 0) + other.join().unwrap()
            })
        });
    });
    slow.finish();
}

criterion_group!(benches, one_zone, six_zones, many);
criterion_main!(benches);
