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
    let f = forecast(&job(), &[market(vec![Cell::Up; 1000])], &params(), 50).expect("forecast");
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
    let f = forecast(&job(), &[market(vec![Cell::Down; 1000])], &params(), 50).expect("forecast");
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
    let f = forecast(&job(), &[market(cells.collect())], &params(), 80).expect("forecast");
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
    let refused = forecast(&job(), &[market(vec![Cell::Up; 89])], &params(), 5);
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
        forecast(&job(), &[], &params(), 5),
        Err(GridError::NoSeries)
    );
}

#[test]
fn what_one_deadline_of_record_shows_is_not_clear() {
    // half of the starts save everything, half nothing: over one deadline's worth of record that is chance
    let saved: Vec<f64> = (0..100).map(|i| f64::from(i % 2) * 20.0).collect();
    let base = vec![30.0; 100];
    let other: Vec<f64> = saved.iter().map(|s| 30.0 - s).collect();
    let summary = |policy, costs: &[f64]| Summary {
        policy,
        cost: spread(costs),
        hours: spread(&[1.0]),
        on_time: 1.0,
        interruptions: spread(&[0.0]),
        mean: Parts::default(),
        p90: Parts::default(),
    };
    let both = [
        summary(PolicyName::OnDemand, &base),
        summary(PolicyName::Greedy, &other),
    ];
    let costs = [base, other];
    assert_eq!(recommend(&both, &costs, 1.0), 0);
    assert_eq!(recommend(&both, &costs, 20.0), 1);
    // and nobody who was late is recommended
    let mut late = both;
    late[1].on_time = 0.99;
    assert_eq!(recommend(&late, &costs, 20.0), 0);
}
