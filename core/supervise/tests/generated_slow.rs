//! Hundreds of curves for each label, each from its own seed: slower than paid for.

#![allow(clippy::unwrap_used)]

mod common;

use common::{N, Now, REST, Rig, all, one, spinning, training};
use lessee_supervise::curve::{Confidence, Label, Series};

#[test]
fn throttled() {
    all(Label::Throttled, |seed| {
        let mut rig = Rig::new(seed, &[0.5, 1.0, 2.0, 5.0, 10.0])
            .maybe_without(&["limit", "mem", "rx", "core", "disk", "enc", "power"]);
        let good = rig.r.within(30.0, 300.0) * rig.step;
        let seconds = good + rig.r.within(60.0, 300.0) * rig.step;
        let low = rig.r.within(0.45, 0.82);
        let fall = rig.r.within(1.0, 30.0) * rig.step;
        rig.sample(0, seconds, |_, t| {
            let c = if t < good {
                1.0
            } else {
                (1.0 - (t - good) / fall).max(low)
            };
            Now {
                clock: c,
                ..training(100.0, 40.0, 0.97 * c)
            }
        })
    });
}

#[test]
fn at_the_power_limit_a_lower_clock_is_no_throttling() {
    for seed in 0..N {
        let mut rig = Rig::new(seed, &[1.0, 5.0]);
        let series = rig.sample(0, 300.0, |_, t| {
            // light work at a high clock, then heavy work at the limit
            let (clock, power) = if t < 100.0 { (1.0, 0.7) } else { (0.75, 0.995) };
            Now {
                clock,
                ..training(98.0, 40.0, power)
            }
        });
        let r = one(series);
        assert_eq!(r.label, Label::HealthyTraining, "seed {seed}");
    }
}

fn steps(seed: u64, without: &[&'static str]) -> Series {
    let mut rig = Rig::new(seed, &[0.05, 0.1, 0.2]).without(without);
    let period = rig.step * rig.r.within(8.0, 20.0);
    let duty = rig.r.within(0.15, 0.5);
    let mut start = 0.0;
    let mut length = period;
    let seconds = 40.0 * period;
    rig.sample(0, seconds, |r, t| {
        if t >= start + length {
            start = t;
            length = period * r.within(0.95, 1.05);
        }
        if t - start < duty * length {
            Now {
                rx: 60.0,
                core: 100.0,
                ..training(92.0, 35.0, 0.6)
            }
        } else {
            Now {
                rx: 4.0,
                core: 100.0,
                ..REST
            }
        }
    })
}

#[test]
fn starved_by_its_loader() {
    all(Label::StarvedCpu, |seed| steps(seed, &[]));
    all(Label::StarvedCpu, |seed| {
        steps(seed, &["rx", "mem", "disk", "limit", "power"])
    });
}

#[test]
fn starved_without_a_core_in_the_log_is_never_sure() {
    all(Label::StarvedCpu, |seed| {
        steps(seed, &["core", "rx", "disk"])
    });
    for seed in 0..N {
        let r = one(steps(seed, &["core", "rx", "disk"]));
        assert!(r.confidence < Confidence::High);
    }
}

#[test]
fn starved_seen_by_a_slow_sampler() {
    all(Label::StarvedCpu, |seed| {
        let mut rig =
            Rig::new(seed, &[1.0, 2.0, 5.0]).maybe_without(&["rx", "mem", "disk", "limit"]);
        let u = rig.r.within(15.0, 60.0);
        let seconds = 120.0 * rig.step;
        rig.sample(0, seconds, |r, _| {
            let u = (u + 8.0 * r.normal()).clamp(4.0, 80.0);
            Now {
                rx: 20.0,
                core: 100.0,
                ..training(u, u / 3.0, 0.3)
            }
        })
    });
}

fn saves(seed: u64, without: &[&'static str]) -> (Series, f64, f64) {
    let mut rig = Rig::new(seed, &[1.0, 2.0]).without(without);
    let period = rig.r.within(60.0, 600.0);
    let length = rig.r.within((0.03 * period).max(8.0), 0.2 * period);
    let spins = rig.r.chance(0.3);
    let disk = rig.r.within(200.0, 3000.0);
    let mut next = period - length;
    let series = rig.sample(0, 6.0 * period, |r, t| {
        if t > next + length {
            next += period * r.within(0.97, 1.03);
        }
        if t < next {
            training(97.0, 45.0, 0.9)
        } else if spins {
            // ranks that wait for the one that writes
            Now {
                disk,
                core: 70.0,
                ..spinning(0.2)
            }
        } else {
            Now {
                disk,
                core: 70.0,
                ..REST
            }
        }
    });
    (series, period, length)
}

#[test]
fn saves_checkpoints() {
    all(Label::PeriodicDipCheckpoint, |seed| saves(seed, &[]).0);
    all(Label::PeriodicDipCheckpoint, |seed| {
        saves(seed, &["rx", "core", "mem", "clock"]).0
    });
    for seed in 0..N {
        let (series, period, length) = saves(seed, &[]);
        let r = one(series);
        assert_eq!(r.confidence, Confidence::High, "seed {seed}");
        assert!(
            (5..=7).contains(&r.spans.len()),
            "seed {seed}: {}",
            r.spans.len()
        );
        for s in &r.spans[1..r.spans.len() - 1] {
            assert!(
                (s.to_s - s.from_s - length).abs() < 8.0,
                "seed {seed}, period {period}"
            );
        }
    }
}

#[test]
fn dips_without_a_disk_in_the_log_are_never_sure() {
    for seed in 0..N {
        let r = one(saves(seed, &["disk", "core", "rx"]).0);
        assert_eq!(r.label, Label::PeriodicDipCheckpoint, "seed {seed}");
        assert!(r.confidence < Confidence::High);
    }
}

#[test]
fn dips_without_writes_are_no_checkpoints() {
    for seed in 0..N {
        let (mut series, _, _) = saves(seed, &[]);
        series
            .samples
            .iter_mut()
            .for_each(|s| s.disk_write_mb_s = Some(0.5));
        let r = one(series);
        assert_eq!(r.label, Label::HealthyTraining, "seed {seed}");
        assert!(!r.spans.is_empty());
    }
}

#[test]
fn a_hot_card_swings_between_clocks() {
    all(Label::Throttled, |seed| {
        let mut rig = Rig::new(seed, &[0.5, 1.0, 2.0]).maybe_without(EXTRAS_BUT_CLOCK);
        let half = rig.r.within(4.0, 8.0);
        rig.sample(0, 400.0, |_, t| {
            let c = if t > 100.0 && ((t / half) as u64).is_multiple_of(2) {
                0.65
            } else {
                1.0
            };
            Now {
                clock: c,
                ..training(100.0, 40.0, 0.9 * c)
            }
        })
    });
}

const EXTRAS_BUT_CLOCK: &[&str] = &["limit", "mem", "rx", "core", "disk", "enc"];

#[test]
fn starved_after_a_good_time_has_its_time() {
    for seed in 0..N {
        let mut rig = Rig::new(seed, &[0.1, 0.2]);
        let good = rig.r.within(10.0, 40.0);
        let series = rig.sample(0, good + 60.0, |_, t| {
            let busy = t < good || (t - good) % 2.0 > 1.4;
            let core = if t < good { 70.0 } else { 100.0 };
            if busy {
                Now {
                    core,
                    ..training(95.0, 40.0, 0.8)
                }
            } else {
                Now {
                    core,
                    rx: 3.0,
                    ..REST
                }
            }
        });
        let r = one(series);
        assert_eq!(r.label, Label::StarvedCpu, "seed {seed}");
        let off = r.spans[0].from_s - rig.start() - good;
        assert!((-1.0..=2.0).contains(&off), "seed {seed}: {off}");
    }
}

#[test]
fn a_limit_that_somebody_lowers_slows_the_card() {
    for seed in 0..N {
        let mut rig = Rig::new(seed, &[1.0, 5.0]);
        let mut series = rig.sample(0, 600.0, |_, t| {
            let (clock, power) = if t < 200.0 { (1.0, 0.97) } else { (0.7, 0.5) };
            Now {
                clock,
                ..training(98.0, 40.0, power)
            }
        });
        let start = rig.start();
        for s in series.samples.iter_mut().filter(|s| s.t_s - start >= 200.0) {
            s.power_limit_w = Some(rig.limit / 2.0);
        }
        assert_eq!(one(series).label, Label::Throttled, "seed {seed}");
    }
}
