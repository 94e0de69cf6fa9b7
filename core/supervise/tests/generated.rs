//! Hundreds of curves for each label, each from its own seed.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Now, REST, Rig, rules, spinning, training};
use lessee_supervise::curve::{Confidence, Label, Reading, Series, read};

const N: u64 = 200;
const EXTRAS: &[&str] = &["limit", "clock", "mem", "rx", "core", "disk", "enc"];

fn one(series: Series) -> Reading {
    read(&[series], &rules()).remove(0)
}

/// All seeds must get the label.
#[track_caller]
fn all(label: Label, make: impl Fn(u64) -> Series) {
    let wrong: Vec<String> = (0..N)
        .filter_map(|seed| {
            let r = one(make(seed));
            let what = || format!("seed {seed}: {:?} {:?} {:?}", r.label, r.confidence, r.why);
            (r.label != label).then(what)
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} wrong: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(8)]
    );
}

const STEPS: &[f64] = &[0.5, 1.0, 2.0, 5.0, 10.0, 30.0];

#[test]
fn training_is_healthy() {
    all(Label::HealthyTraining, |seed| {
        let mut rig = Rig::new(seed, STEPS)
            .maybe_without(EXTRAS)
            .maybe_without(&["power"]);
        let (u, t) = (rig.r.within(88.0, 99.0), rig.r.within(28.0, 55.0));
        let p = rig.r.within(0.6, 0.99);
        let seconds = 100.0 * rig.step;
        rig.sample(0, seconds, |r, _| {
            // the boundary of a step or an epoch now and then
            if r.chance(0.02) {
                training(33.0, 33.0, p * 0.7)
            } else {
                training(u, t, p)
            }
        })
    });
}

#[test]
fn bound_by_arithmetic() {
    all(Label::HealthyComputeBound, |seed| {
        let mut rig = Rig::new(seed, STEPS)
            .maybe_without(EXTRAS)
            .maybe_without(&["power"]);
        let (t, p) = (rig.r.within(4.0, 18.0), rig.r.within(0.6, 1.0));
        let seconds = rig.r.within(10.0, 300.0) * rig.step;
        rig.sample(0, seconds, |_, _| training(100.0, t, p))
    });
}

#[test]
fn bound_by_memory() {
    all(Label::HealthyMemoryBound, |seed| {
        let mut rig = Rig::new(seed, STEPS)
            .maybe_without(EXTRAS)
            .maybe_without(&["power"]);
        let (u, t) = (rig.r.within(86.0, 99.0), rig.r.within(66.0, 92.0));
        // decoding sits far below the limit
        let p = rig.r.within(0.3, 0.75);
        let seconds = rig.r.within(10.0, 300.0) * rig.step;
        rig.sample(0, seconds, |_, _| training(u, t, p))
    });
}

#[test]
fn idle() {
    all(Label::Idle, |seed| {
        let mut rig = Rig::new(seed, STEPS)
            .maybe_without(EXTRAS)
            .maybe_without(&["power", "traffic"]);
        rig.mem_mib = rig.r.within(0.0, 700.0);
        let seconds = rig.r.within(6.0, 300.0) * rig.step;
        let clock = rig.r.within(0.1, 0.3);
        rig.sample(0, seconds, |_, _| Now { clock, ..REST })
    });
}

#[test]
fn idle_with_memory() {
    all(Label::IdleHoldingMemory, |seed| {
        let mut rig = Rig::new(seed, &[1.0, 15.0, 57.0])
            .maybe_without(&["power", "traffic", "limit", "clock", "rx", "core"]);
        let seconds = rig.r.within(200.0, 1500.0) * rig.step;
        rig.sample(0, seconds, |r, t| {
            let blip = t < 0.1 * seconds && r.chance(0.05);
            Now {
                util: if blip { r.within(1.0, 8.0) } else { 0.0 },
                ..REST
            }
        })
    });
}

#[test]
fn idle_after_work() {
    all(Label::IdleAfterLoad, |seed| {
        let mut rig = Rig::new(seed, STEPS)
            .maybe_without(EXTRAS)
            .maybe_without(&["power", "traffic"]);
        let work = rig.r.within(20.0, 400.0) * rig.step;
        let seconds = work + rig.r.within(15.0, 400.0) * rig.step;
        rig.sample(0, seconds, |_, t| {
            if t < work {
                training(95.0, 40.0, 0.8)
            } else {
                // the power decays for some seconds
                Now {
                    power: 0.13 + 0.1 * (-(t - work) / 5.0).exp(),
                    ..REST
                }
            }
        })
    });
}

#[test]
fn stuck_kernel() {
    all(Label::HungBusySpin, |seed| {
        let mut rig = Rig::new(seed, &[0.5, 1.0, 2.0, 5.0])
            .maybe_without(&["clock", "mem", "rx", "core", "disk", "enc"]);
        let p = rig.r.within(0.12, 0.3);
        let seconds = (rig.r.within(15.0, 600.0) * rig.step).max(15.0);
        rig.sample(0, seconds, |_, _| spinning(p))
    });
}

#[test]
fn collective_after_work() {
    all(Label::HungCollective, |seed| {
        let mut rig = Rig::new(seed, STEPS)
            .maybe_without(&["limit", "clock", "mem", "rx", "core", "disk", "enc"]);
        let p = rig.r.within(0.14, 0.3);
        let work = rig.r.within(20.0, 600.0) * rig.step;
        let seconds = work + (rig.r.within(15.0, 600.0) * rig.step).max(30.0);
        rig.sample(0, seconds, |_, t| {
            if t < work {
                training(96.0, 40.0, 0.85)
            } else {
                spinning(p)
            }
        })
    });
}

#[test]
fn a_hang_has_its_time() {
    for seed in 0..N {
        let mut rig = Rig::new(seed, &[1.0, 2.0]);
        let work = 60.0 + rig.r.within(0.0, 600.0);
        let series = rig.sample(0, work + 400.0, |_, t| {
            if t < work {
                training(96.0, 40.0, 0.85)
            } else {
                spinning(0.2)
            }
        });
        let r = one(series);
        assert_eq!(
            (r.label, r.confidence),
            (Label::HungCollective, Confidence::High)
        );
        let span = r.spans.last().unwrap();
        let off = span.from_s - rig.start() - work;
        assert!((-3.0..=6.0).contains(&off), "seed {seed}: {off}");
    }
}

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
fn video() {
    all(Label::EncoderOnly, |seed| {
        let mut rig = Rig::new(seed, STEPS)
            .maybe_without(&["power", "traffic", "limit", "clock", "mem", "rx", "core"]);
        let seconds = rig.r.within(6.0, 300.0) * rig.step;
        let (u, e) = (rig.r.within(0.0, 14.0), rig.r.within(35.0, 95.0));
        rig.sample(0, seconds, |_, _| Now {
            enc: e,
            ..training(u, 2.0, 0.3)
        })
    });
}

#[test]
fn partly_and_under_utilised() {
    for (from, to, label) in [
        (56.0, 74.0, Label::PartiallyUtilised),
        (6.0, 44.0, Label::Underutilised),
    ] {
        all(label, |seed| {
            let mut rig = Rig::new(seed, STEPS)
                .maybe_without(EXTRAS)
                .maybe_without(&["power", "traffic"]);
            let u = rig.r.within(from, to);
            let seconds = rig.r.within(10.0, 300.0) * rig.step;
            rig.sample(0, seconds, |_, _| training(u, u / 2.5, 0.2 + u / 200.0))
        });
    }
}

/// Serving: active and silent stretches, bursts in the active ones.
fn serving(seed: u64, on: f64, off: f64, level: f64, peak: f64) -> Series {
    let mut rig = Rig::new(seed, &[15.0, 30.0, 57.0])
        .maybe_without(&["power", "traffic", "limit", "clock", "core", "rx"]);
    let (mut active, mut left, mut last) = (false, off / 2.0, 0.0);
    rig.sample(0, 80_000.0, |r, t| {
        left -= t - last;
        last = t;
        if left <= 0.0 {
            active = !active;
            left = r.within(0.5, 1.5) * if active { on } else { off };
        }
        if active && r.chance(0.8) {
            let u = (1.0 + r.exponential(level)).min(peak);
            training(u, u / 3.0, 0.2 + u / 250.0)
        } else {
            REST
        }
    })
}

#[test]
fn serving_in_bursts() {
    all(Label::UnderutilisedBurstyServing, |seed| {
        serving(seed, 4000.0, 8000.0, 20.0, 77.0)
    });
    all(Label::HealthyBurstyServing, |seed| {
        serving(seed, 5000.0, 3600.0, 55.0, 98.5)
    });
}

#[test]
fn mig_cannot_be_told() {
    for seed in 0..N {
        let mut rig = Rig::new(seed, STEPS).without(&["util", "traffic", "enc", "rx", "core"]);
        let seconds = rig.r.within(5.0, 300.0) * rig.step;
        let p = rig.r.within(0.1, 0.9);
        let r = one(rig.sample(0, seconds, |_, _| Now { power: p, ..REST }));
        assert_eq!(r.label, Label::UnknownMig);
        assert!(p > 0.4 || r.confidence == Confidence::Low);
    }
}

#[test]
fn a_few_samples_prove_nothing() {
    for now in [
        training(97.0, 40.0, 0.9),
        REST,
        spinning(0.2),
        training(35.0, 10.0, 0.4),
    ] {
        for n in 1..5 {
            let mut rig = Rig::new(n, &[1.0]);
            let r = one(rig.sample(0, n as f64 - 0.5, |_, _| now));
            assert_eq!(
                r.confidence.min(Confidence::Possible),
                r.confidence,
                "{:?}",
                r.label
            );
            assert!(!r.label.as_str().starts_with("HUNG"));
        }
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
fn loading_before_the_work_is_no_fault_of_the_work() {
    all(Label::HealthyTraining, |seed| {
        let mut rig = Rig::new(seed, STEPS)
            .maybe_without(EXTRAS)
            .maybe_without(&["power"]);
        let load = rig.r.within(10.0, 200.0) * rig.step;
        let seconds = load + 100.0 * rig.step;
        rig.sample(0, seconds, |_, t| {
            if t < load {
                REST
            } else {
                training(95.0, 40.0, 0.8)
            }
        })
    });
}

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
fn light_kernels_are_not_hung() {
    for seed in 0..N {
        let mut rig =
            Rig::new(seed, STEPS).maybe_without(&["clock", "mem", "rx", "core", "disk", "enc"]);
        let (t, p) = (rig.r.within(3.5, 20.0), rig.r.within(0.2, 0.33));
        let seconds = 100.0 * rig.step;
        let r = one(rig.sample(0, seconds, |_, _| training(97.0, t, p)));
        assert_eq!(r.label, Label::PartiallyUtilised, "seed {seed}");
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

#[test]
fn a_hang_that_has_just_begun_is_only_possible() {
    for seed in 0..N {
        let mut rig = Rig::new(seed, &[1.0]);
        let series = rig.sample(0, 325.0, |_, t| {
            if t < 300.0 {
                training(96.0, 40.0, 0.85)
            } else {
                spinning(0.2)
            }
        });
        let r = one(series);
        assert_eq!(r.label, Label::HungCollective, "seed {seed}");
        assert_eq!(r.confidence, Confidence::Possible);
    }
}

#[test]
fn short_bursts_in_long_silence_are_no_idleness() {
    for seed in 0..N {
        let mut rig = Rig::new(seed, &[0.25, 0.5]).without(&["core", "disk"]);
        let (good, every) = (100.0, rig.step * rig.r.within(8.0, 20.0));
        let on = 2.0 * rig.step;
        let series = rig.sample(0, 250.0, |_, t| {
            if t < good || (t - good) % every < on {
                training(95.0, 40.0, 0.8)
            } else {
                REST
            }
        });
        let label = one(series).label;
        assert!(
            !label.as_str().starts_with("IDLE"),
            "seed {seed}: {label:?}"
        );
    }
}

#[test]
fn a_rank_that_waits_between_its_steps_is_not_hung() {
    for seed in 0..N {
        let mut rig = Rig::new(seed, &[0.25, 0.5]);
        let series = rig.sample(0, 300.0, |_, t| {
            if t % 4.0 < 1.0 {
                training(96.0, 40.0, 0.85)
            } else {
                spinning(0.2)
            }
        });
        let label = one(series).label;
        assert!(
            !label.as_str().starts_with("HUNG"),
            "seed {seed}: {label:?}"
        );
    }
}

/// As reported of 128 ranks: healthy at 98.55 %, tensor 0.324, DRAM 0.241; then 100 % and no step for 33.5 min.
#[test]
fn the_reported_hang_of_a_collective() {
    for powered in [true, false] {
        let mut rig = Rig::new(7, &[15.0]).without(&["traffic", "core", "rx", "disk"]);
        rig.limit = 1200.0;
        let mut series = rig.sample(0, 5000.0, |_, t| {
            if t < 3000.0 {
                training(98.0, 0.0, 0.82)
            } else {
                spinning(0.25)
            }
        });
        let start = rig.start();
        for s in &mut series.samples {
            let hung = s.t_s - start >= 3000.0;
            s.tensor_active_pct = Some(if hung { 0.0 } else { 32.4 });
            s.dram_active_pct = Some(if hung { 0.0 } else { 24.1 });
            s.power_w = s.power_w.filter(|_| powered);
        }
        let r = one(series.clone());
        assert_eq!(
            (r.label, r.confidence),
            (Label::HungCollective, Confidence::High)
        );
        series.samples.retain(|s| s.t_s - start < 3000.0);
        assert!(one(series).label.as_str().starts_with("HEALTHY"));
    }
}

#[test]
fn the_shape_of_the_json() {
    let mut rig = Rig::new(0, &[1.0]);
    rig.mem_mib = 4.0;
    let r = one(rig.sample(3, 60.0, |_, _| Now { clock: 0.2, ..REST }));
    let json = serde_json::to_value(&r).unwrap();
    assert_eq!(json["gpu"], 3);
    assert_eq!(json["label"], "IDLE");
    assert_eq!(json["confidence"], "high");
    assert_eq!(json["why"]["id"], "watch-why-idle");
    let span = &json["spans"][0];
    assert_eq!(span["label"], "IDLE");
    assert_eq!(span["cause"]["id"], "watch-cause-idle");
    assert!(span["from_s"].is_number() && span["to_s"].is_number());
    let back: Reading = serde_json::from_value(json).unwrap();
    assert_eq!(back, r);
}
