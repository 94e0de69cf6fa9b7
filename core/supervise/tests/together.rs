//! Several GPUs side by side.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Now, REST, Rig, rules, spinning, training};
use lessee_supervise::curve::{Confidence, Label, Reading, Series, read};

const N: u64 = 60;

/// GPUs of one machine; `what` is asked with the GPU and the time.
fn machine(
    seed: u64,
    gpus: u32,
    seconds: f64,
    without: &[&'static str],
    what: impl Fn(u32, f64) -> Now,
) -> Vec<Series> {
    (0..gpus)
        .map(|g| {
            let mut rig = Rig::new(seed, &[1.0, 2.0]).without(without);
            // one machine, one sampler: only the noise differs
            rig.r.0 ^= u64::from(g) << 40;
            rig.sample(g, seconds, |_, t| what(g, t))
        })
        .collect()
}

fn labels(readings: &[Reading]) -> Vec<Label> {
    readings.iter().map(|r| r.label).collect()
}

fn late(seed: u64, without: &[&'static str]) -> (Vec<Series>, f64, usize) {
    let gpus = 4 + (seed % 13) as u32;
    let n = 1 + (seed % 2) as u32 * u32::from(gpus >= 8);
    let from = 60.0 + (seed % 7) as f64 * 20.0;
    let power = 0.2 + 0.015 * (seed % 10) as f64;
    let series = machine(seed, gpus, from + 150.0, without, |g, t| {
        if t < from {
            training(92.0, 40.0, 0.86)
        } else if g < n {
            REST
        } else {
            Now {
                traffic: 1.0,
                ..spinning(power)
            }
        }
    });
    (series, from, n as usize)
}

#[test]
fn one_rank_is_late() {
    for seed in 0..N {
        for without in [
            &[][..],
            &["rx", "core", "mem"],
            &["limit", "clock"],
            &["traffic"],
        ] {
            let (series, from, n) = late(seed, without);
            let found = read(&series, &rules());
            assert!(
                labels(&found).iter().all(|l| *l == Label::Straggler),
                "{seed} {without:?} {:?}",
                labels(&found)
            );
            // power alone, without memory traffic, is one signal
            let sure = !without.contains(&"traffic");
            assert_eq!(
                found[0].confidence == Confidence::High,
                sure,
                "{seed} {without:?}"
            );
            let start = series[0].samples[0].t_s;
            for r in &found {
                let s = r.spans.last().unwrap();
                assert!(
                    (s.from_s - start - from).abs() < 6.0,
                    "{seed}: {}",
                    s.from_s - start
                );
                let cause = if found.iter().position(|x| x.gpu == r.gpu).unwrap() < n {
                    "watch-cause-late"
                } else {
                    "watch-cause-waits"
                };
                assert_eq!(s.cause.id, cause);
            }
        }
    }
}

#[test]
fn late_by_utilisation_alone_is_never_sure() {
    for seed in 0..N {
        let (series, _, _) = late(seed, &["traffic", "power", "limit", "clock", "rx", "core"]);
        for r in read(&series, &rules()) {
            assert_eq!(r.label, Label::Straggler, "{seed}");
            assert!(r.confidence < Confidence::High);
        }
    }
}

#[test]
fn all_ranks_wait() {
    for seed in 0..N {
        let gpus = 2 + (seed % 15) as u32;
        let worked = seed % 3 > 0;
        let series = machine(seed, gpus, 400.0, &[], |_, t| {
            if worked && t < 200.0 {
                training(95.0, 40.0, 0.9)
            } else {
                spinning(0.22)
            }
        });
        for r in read(&series, &rules()) {
            assert_eq!(
                (r.label, r.confidence),
                (Label::HungCollective, Confidence::High),
                "{seed}"
            );
        }
    }
}

#[test]
fn a_gpu_that_nobody_uses_is_no_straggler() {
    for seed in 0..N {
        let series = machine(seed, 8, 300.0, &[], |g, _| {
            if g == 7 {
                REST
            } else {
                training(100.0, 30.0, 0.9)
            }
        });
        let found = labels(&read(&series, &rules()));
        assert!(
            found[..7].iter().all(|l| *l == Label::HealthyTraining),
            "{seed} {found:?}"
        );
        assert_eq!(found[7], Label::IdleHoldingMemory);
        // the same with a job that hangs on seven of eight
        let series = machine(seed, 8, 300.0, &[], |g, t| match (g, t < 100.0) {
            (7, _) => REST,
            (_, true) => training(96.0, 30.0, 0.9),
            _ => spinning(0.2),
        });
        let found = labels(&read(&series, &rules()));
        assert!(
            found[..7].iter().all(|l| *l == Label::HungCollective),
            "{seed} {found:?}"
        );
        assert_eq!(found[7], Label::IdleHoldingMemory);
    }
}

#[test]
fn one_stuck_kernel_beside_other_jobs() {
    for seed in 0..N {
        let series = machine(seed, 4, 300.0, &[], |g, _| {
            if g == 1 {
                spinning(0.2)
            } else {
                training(96.0, 40.0, 0.9)
            }
        });
        let found = labels(&read(&series, &rules()));
        assert_eq!(found[1], Label::HungBusySpin, "{seed}");
        assert!(
            found
                .iter()
                .filter(|l| **l == Label::HealthyTraining)
                .count()
                == 3
        );
    }
}

#[test]
fn short_waits_that_pass_are_neither() {
    for seed in 0..N {
        // rank 0 writes a checkpoint, the others wait for it: 15 s each 300 s
        let series = machine(seed, 8, 1500.0, &[], |g, t| match (g, t % 300.0 > 285.0) {
            (_, false) => training(97.0, 40.0, 0.9),
            (0, _) => Now {
                disk: 900.0,
                ..REST
            },
            _ => Now {
                disk: 900.0,
                ..spinning(0.25)
            },
        });
        for r in read(&series, &rules()) {
            assert_eq!(
                r.label,
                Label::PeriodicDipCheckpoint,
                "{seed} gpu {}",
                r.gpu
            );
        }
    }
}

#[test]
fn slower_than_the_cards_beside_it() {
    for seed in 0..N {
        let series = machine(seed, 8, 200.0, &["limit"], |g, _| {
            let c = if g == 3 { 0.6 } else { 1.0 };
            Now {
                clock: c,
                ..training(98.0, 40.0, 0.9 * c)
            }
        });
        let found = read(&series, &rules());
        for (g, r) in found.iter().enumerate() {
            let want = if g == 3 {
                Label::Throttled
            } else {
                Label::HealthyTraining
            };
            assert_eq!(r.label, want, "{seed} gpu {g}");
        }
        assert!(found[3].confidence < Confidence::High);
    }
}

#[test]
fn light_kernels_beside_an_unused_gpu() {
    for seed in 0..N {
        let series = machine(seed, 8, 200.0, &[], |g, _| {
            if g == 7 {
                REST
            } else {
                training(97.0, 7.0, 0.28)
            }
        });
        let found = labels(&read(&series, &rules()));
        assert!(
            found[..7].iter().all(|l| *l == Label::PartiallyUtilised),
            "{seed} {found:?}"
        );
        assert_eq!(found[7], Label::IdleHoldingMemory);
    }
}

#[test]
fn what_the_job_does_now_beats_what_is_over() {
    for seed in 0..N {
        let series = machine(seed, 8, 600.0, &[], |g, t| match (t, g) {
            (t, _) if t < 100.0 => training(95.0, 40.0, 0.9),
            (t, 5) if t < 200.0 => REST,
            (t, _) if t < 200.0 => spinning(0.25),
            (t, _) if t < 350.0 => training(95.0, 40.0, 0.9),
            _ => spinning(0.25),
        });
        for r in read(&series, &rules()) {
            assert_eq!(r.label, Label::HungCollective, "{seed}");
            assert!(r.spans.iter().any(|s| s.label == Label::Straggler));
        }
    }
}
