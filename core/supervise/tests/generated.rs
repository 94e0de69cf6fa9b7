//! Hundreds of curves for each label, each from its own seed: in order, little used, idle.

#![allow(clippy::unwrap_used)]

mod common;

use common::{EXTRAS, N, Now, REST, Rig, STEPS, all, one, training};
use lessee_supervise::curve::{Label, Reading, Series};

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
