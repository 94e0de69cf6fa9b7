use super::*;
use crate::market::{Cell, Zone};

pub(crate) fn params() -> Params {
    Params::from_toml(include_str!("../../../../data/spot.toml")).expect("spot.toml")
}

fn market(cells: Vec<Cell>) -> Market {
    Market {
        gap_ms: 600_000,
        zones: vec![Zone {
            name: "z".to_owned(),
            region: "r".to_owned(),
            spot: vec![1.0; cells.len()],
            on_demand: 3.0,
            cells,
        }],
        egress: vec![0.0],
        transfer_ms_per_gb: vec![0.0],
    }
}

fn job() -> Job {
    Job::new(10.0, 15.0, 0.5).expect("job")
}

#[test]
fn always_up_is_spot_all_the_way() {
    let f = forecast(
        &job(),
        &[market(vec![Cell::Up; 1000])],
        Several::Histories,
        &params(),
        50,
    )
    .expect("forecast");
    let best = f.recommended();
    assert_ne!(best.policy, PolicyName::OnDemand);
    // ten and a half hours at 1
    assert!((best.cost.mean - 10.5).abs() < 1e-9, "{best:?}");
    assert_eq!((f.starts, best.on_time), (50, 1.0));
    assert_eq!(
        best.mean,
        Parts {
            spot: 10.5,
            ..Parts::default()
        }
    );
    assert_eq!(f.hours_between_losses(), None);
}

#[test]
fn never_up_is_on_demand() {
    let f = forecast(
        &job(),
        &[market(vec![Cell::Down; 1000])],
        Several::Histories,
        &params(),
        50,
    )
    .expect("forecast");
    let best = f.recommended();
    assert_eq!(best.policy, PolicyName::OnDemand);
    assert!((best.cost.mean - 31.5).abs() < 1e-9);
    assert!((best.mean.on_demand - 10.5).abs() < 1e-9 && best.mean.waiting == 0.0);
}

#[test]
fn parts_add_up_to_cost_and_duration() {
    let cells = (0..3000).map(|i| match (i / 17) % 3 {
        0 => Cell::Down,
        _ => Cell::Up,
    });
    let f = forecast(
        &job(),
        &[market(cells.collect())],
        Several::Histories,
        &params(),
        80,
    )
    .expect("forecast");
    for s in &f.policies {
        let paid = s.mean.spot + s.mean.on_demand;
        assert!(
            (paid - 10.5 - s.mean.lost).abs() < 1.0 / 6.0,
            "{:?}",
            s.policy
        );
        // whole ticks are billed
        let cost = s.mean.spot + 3.0 * s.mean.on_demand;
        assert!(
            s.cost.mean >= cost - 1e-9 && s.cost.mean - cost < 0.5,
            "{s:?}"
        );
        assert!((paid + s.mean.waiting - s.hours.mean).abs() < 1.0 / 6.0);
        assert!(s.cost.p05 <= s.cost.median && s.cost.median <= s.cost.p90);
        assert!(s.cost.p90 <= s.cost.p95 && s.on_time == 1.0);
    }
    assert!(f.recommended().cost.mean < 31.5);
}

#[test]
fn a_record_shorter_than_the_deadline_is_refused_by_its_length() {
    let refused = forecast(
        &job(),
        &[market(vec![Cell::Up; 89])],
        Several::Histories,
        &params(),
        5,
    );
    assert_eq!(
        refused,
        Err(GridError::TooShort {
            start: 0,
            have: 89,
            need: 90,
            gap_s: 600
        })
    );
    assert_eq!(
        forecast(&job(), &[], Several::Histories, &params(), 5),
        Err(GridError::NoSeries)
    );
}

/// Up for a while and away for a while, so that starts a tick apart save nearly the same.
fn half(ticks: usize) -> Market {
    market(
        (0..ticks)
            .map(|i| match i % 180 {
                0..60 => Cell::Down,
                _ => Cell::Up,
            })
            .collect(),
    )
}

#[test]
fn what_one_deadline_of_record_shows_is_not_clear() {
    // 90 ticks to the deadline: starts that overlap agree with each other, whatever the market
    for ticks in [90, 95, 150] {
        let f = forecast(&job(), &[half(ticks)], Several::Histories, &params(), 50).expect("one");
        assert!(f.policies.iter().any(|p| p.cost.mean < 31.0), "{f:?}");
        assert_eq!(f.recommended().policy, PolicyName::OnDemand, "{ticks}");
    }
    let f = forecast(&job(), &[half(3000)], Several::Histories, &params(), 50).expect("many");
    assert_ne!(f.recommended().policy, PolicyName::OnDemand);
}

#[test]
fn levels_of_one_history_are_not_several() {
    let levels = [half(150), half(150), half(150), half(150)];
    let one = forecast(&job(), &levels, Several::Levels, &params(), 50).expect("levels");
    assert!((one.independent - 150.0 / 90.0).abs() < 1e-9);
    assert_eq!(one.recommended().policy, PolicyName::OnDemand);
    let four = forecast(&job(), &levels, Several::Histories, &params(), 50).expect("histories");
    assert!((four.independent - 4.0 * 150.0 / 90.0).abs() < 1e-9);
}

#[test]
fn noise_is_not_clear_and_neither_is_one_stretch() {
    assert!(!clear(&[5.0]));
    assert!(!clear(&[]));
    assert!(!clear(&[-1.0, -1.0]));
    assert!(clear(&[5.0, 5.0]));
    assert!(!clear(&[20.0, 0.0]));
    let alternating: Vec<f64> = (0..20).map(|i| f64::from(i % 2) * 20.0).collect();
    assert!(clear(&alternating));
}

#[test]
fn nobody_who_was_late_is_recommended() {
    let summary = |policy, costs: &[f64], on_time| Summary {
        policy,
        cost: spread(costs),
        hours: spread(&[1.0]),
        on_time,
        interruptions: spread(&[0.0]),
        mean: Parts::default(),
        p90: Parts::default(),
    };
    let costs = [vec![30.0; 10], vec![10.0; 10]];
    let blocks: Vec<(usize, usize)> = (0..10).map(|i| (0, i)).collect();
    let both = |on_time| {
        [
            summary(PolicyName::OnDemand, &costs[0], 1.0),
            summary(PolicyName::Greedy, &costs[1], on_time),
        ]
    };
    assert_eq!(recommend(&both(1.0), &costs, &blocks), 1);
    assert_eq!(recommend(&both(0.99), &costs, &blocks), 0);
    // as cheap within 2 % and quicker is better; dearer than that is not
    for (dearer, best) in [(1.01, 2), (1.05, 1)] {
        let costs = [vec![30.0; 10], vec![10.0; 10], vec![10.0 * dearer; 10]];
        let mut three = both(1.0).to_vec();
        three.push(summary(PolicyName::UniformProgress, &costs[2], 1.0));
        three[1].hours = spread(&[40.0]);
        assert_eq!(recommend(&three, &costs, &blocks), best, "{dearer}");
    }
}
