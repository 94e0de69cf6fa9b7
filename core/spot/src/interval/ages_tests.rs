//! The intervals by age against closed forms, against each other and against their neighbours.

use super::*;
use crate::stats::survival;
use proptest::prelude::*;

/// Of `data/spot.toml`.
const EDGES: [f64; 5] = [0.0, 1.0 / 3.0, 1.0, 3.0, 8.0];
const RATES: [f64; 5] = [1.3, 0.65, 0.36, 0.18, 0.10];

fn heavy() -> Ages {
    Ages::new(&EDGES, &RATES).expect("rates")
}

fn saving(block_h: f64) -> Saving {
    Saving {
        restart_h: 0.05,
        ..Saving::blocking(block_h)
    }
}

#[test]
fn one_rate_is_lamberts_interval() {
    let ages = Ages::new(&EDGES, &[0.25; 5]).expect("rates");
    assert!((ages.mean_h() - 4.0).abs() < 1e-12);
    for (upload_usd, behind_h) in [(0.0, 0.0), (0.5, 0.0), (0.0, 0.1), (0.3, 0.2)] {
        let saving = Saving {
            upload_usd,
            behind_h,
            usd_per_h: 3.0,
            ..saving(0.02)
        };
        let tau = saving.interval_h(4.0).expect("an interval");
        let (hours, uploads) = saving.hours_per_hour(tau, 4.0, 0.0).expect("hours");
        let found = saving.schedule(&ages).expect("a schedule");
        let upload_h = upload_usd / 3.0;
        let worse = found.cost(upload_h) / (hours + upload_h * uploads) - 1.0;
        assert!(worse.abs() < 1e-6, "{worse}");
        // the programme by itself, not the single interval that it is compared with
        let value = found.cost(upload_h);
        let found = Programme::solve(&saving, &ages, value).schedule();
        assert!((found.cost(upload_h) / value - 1.0).abs() < 1e-4);
        assert!(
            (found.then_h / tau - 1.0).abs() < 1e-3,
            "{} {tau}",
            found.then_h
        );
        for (age, interval) in &found.steps {
            assert!(
                (interval / tau - 1.0).abs() < 0.15,
                "{age}: {interval} {tau}"
            );
        }
    }
}

#[test]
fn intervals_grow_with_age_where_old_machines_last() {
    let saving = saving(0.03);
    let found = saving.schedule(&heavy()).expect("a schedule");
    let (young, old) = (found.interval_h(0.05), found.interval_h(20.0));
    assert!(old > 1.8 * young, "{young} {old}");
    assert_eq!(old, found.then_h);
    let tail = saving.interval_h(10.0).expect("an interval");
    assert!((old / tail - 1.0).abs() < 1e-9);
    let single = saving.constant_interval(&heavy()).expect("an interval");
    assert!(found.hours_per_hour < single.hours_per_hour);
    let mean = saving.interval_h(heavy().mean_h()).expect("an interval");
    assert!(single.hours_per_hour <= saving.followed(&heavy(), &[], mean).hours_per_hour);
}

#[test]
fn no_step_can_be_moved_for_the_better() {
    let saving = saving(0.03);
    let found = saving.schedule(&heavy()).expect("a schedule");
    assert!(!found.steps.is_empty());
    for i in 0..found.steps.len() {
        for factor in [0.8, 0.9, 1.1, 1.25] {
            let mut steps = found.steps.clone();
            steps[i].1 *= factor;
            let moved = saving.followed(&heavy(), &steps, found.then_h);
            assert!(
                moved.hours_per_hour > found.hours_per_hour * (1.0 - 2e-4),
                "{i} {factor}"
            );
        }
    }
}

#[test]
fn lives_and_their_curve_say_the_same() {
    // exponential lives of 2 h, a third of them lost from sight
    let lives: Vec<Observed> = (0..3000)
        .map(|i| {
            let age = -2.0 * (1.0 - (f64::from(i) + 0.5) / 3000.0).ln() * 3600.0;
            Observed {
                from_s: 0.0,
                low_s: if i % 3 == 0 { age / 2.0 } else { age },
                high_s: (i % 3 != 0).then_some(age),
            }
        })
        .collect();
    let by_lives = Ages::of_lives(&lives).expect("rates");
    let by_curve = Ages::of_curve(&survival(&lives)).expect("rates");
    let saving = saving(0.02);
    let hours = |ages: &Ages| saving.schedule(ages).expect("a schedule").hours_per_hour;
    assert!((hours(&by_lives) / hours(&by_curve) - 1.0).abs() < 0.01);
    assert_eq!(Ages::of_lives(&lives[..1]), Err(IntervalError::NoEnds));
    assert_eq!(
        Ages::of_curve(&Curve::default()),
        Err(IntervalError::NoEnds)
    );
}

#[test]
fn classes_that_make_no_sense_are_refused() {
    let refused = |edges: &[f64], rates: &[f64]| Ages::new(edges, rates).unwrap_err();
    for (edges, rates) in [
        (&[0.0, 1.0][..], &[1.0][..]),
        (&[1.0], &[1.0]),
        (&[0.0, 2.0, 1.0], &[1.0; 3]),
        (&[], &[]),
    ] {
        assert!(matches!(refused(edges, rates), IntervalError::Classes(_)));
    }
    assert_eq!(refused(&[0.0, 1.0], &[1.0, 0.0]), IntervalError::NoEnds);
    let minus = refused(&[0.0, 1.0], &[-1.0, 1.0]);
    assert!(matches!(minus, IntervalError::Number { .. }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn never_worse_than_one_interval_for_all_ages(
        widths in prop::collection::vec(0.1f64..6.0, 0..5),
        rates in prop::collection::vec(prop_oneof![1 => Just(0.0), 5 => 0.02f64..3.0], 6),
        last in 0.02f64..1.0,
        block in 0.003f64..0.3, behind in prop_oneof![Just(0.0), 0.0f64..0.4],
        restart in 0.0f64..0.3, upload in prop_oneof![Just(0.0), 0.01f64..1.0],
    ) {
        let mut edges = vec![0.0];
        for width in &widths {
            edges.push(edges[edges.len() - 1] + width);
        }
        let mut per_h = rates[..edges.len()].to_vec();
        per_h[edges.len() - 1] = last;
        let ages = Ages::new(&edges, &per_h).expect("rates");
        let saving = Saving {
            block_h: block, behind_h: behind, upload_usd: upload, usd_per_h: 2.0, restart_h: restart, least_h: 0.02,
        };
        let found = saving.schedule(&ages).expect("a schedule");
        prop_assert!(found.steps.iter().all(|s| s.1 >= saving.floor_h()) && found.then_h >= saving.floor_h());
        prop_assert!(found.hours_per_hour >= 1.0);
        let mean = ages.mean_h();
        let own = saving.interval_h(mean).expect("an interval");
        for tau in [own, young(block, mean).expect("an interval"), daly(block, mean).expect("an interval")] {
            let single = saving.followed(&ages, &[], tau.max(saving.floor_h()));
            prop_assert!(found.cost(saving.upload_h()) <= single.cost(saving.upload_h()) * (1.0 + 1e-12));
        }
    }
}

/// The programme's grid misses a little where a class without losses ends: there `schedule` falls back on the best single
/// interval. How often that is needed is counted, on cases that are the same each time.
#[test]
fn the_programme_alone_is_seldom_worse_than_the_best_single_interval() {
    let mut random = crate::random::Random(11);
    let mut between = |low: f64, high: f64| low + (high - low) * random.unit();
    let (mut worse, mut better, cases) = (0, 0, 400);
    for case in 0..cases {
        let classes = 1 + case % 5;
        let mut edges = vec![0.0];
        for _ in 1..classes {
            edges.push(edges[edges.len() - 1] + between(0.1, 6.0));
        }
        let mut per_h: Vec<f64> = (0..classes)
            .map(|i| {
                if (case / 5 + i) % 6 == 0 {
                    0.0
                } else {
                    between(0.02, 3.0)
                }
            })
            .collect();
        per_h[classes - 1] = between(0.02, 1.0);
        let ages = Ages::new(&edges, &per_h).expect("rates");
        let saving = Saving {
            block_h: between(0.003, 0.3),
            behind_h: if case % 2 == 0 {
                0.0
            } else {
                between(0.0, 0.4)
            },
            upload_usd: if case % 3 == 0 {
                0.0
            } else {
                between(0.01, 1.0)
            },
            usd_per_h: 2.0,
            restart_h: between(0.0, 0.3),
            least_h: 0.02,
        };
        let upload_h = saving.upload_h();
        let single = saving.constant_interval(&ages).expect("an interval");
        let value = saving.schedule(&ages).expect("a schedule").cost(upload_h);
        let alone = Programme::solve(&saving, &ages, value).schedule();
        let ratio = alone.cost(upload_h) / single.cost(upload_h);
        worse += usize::from(ratio > 1.01);
        better += usize::from(ratio < 0.99);
    }
    println!("{worse} worse, {better} better of {cases}");
    assert!(
        worse * 50 <= cases && better * 4 >= cases,
        "{worse} {better} of {cases}"
    );
}
