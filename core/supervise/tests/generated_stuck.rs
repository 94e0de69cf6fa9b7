//! Hundreds of curves for each label, each from its own seed: no progress, and what cannot be told.

#![allow(clippy::unwrap_used)]

mod common;

use common::{N, Now, REST, Rig, STEPS, all, one, spinning, training};
use lessee_supervise::curve::{Confidence, Label};

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
