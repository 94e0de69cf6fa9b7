use super::*;

fn capacity(zones: &[&dyn Fn(usize) -> u32], ticks: usize) -> Capacity {
    Capacity {
        gap_ms: 600_000,
        zones: zones
            .iter()
            .map(|can| (0..ticks).map(|t| Some(can(t))).collect())
            .collect(),
    }
}

const COLD: i64 = 180_000;

fn fleet(target: u32, spare: u32, floor: u32) -> Fleet {
    Fleet {
        target,
        spare,
        floor,
        cold_start_ms: COLD,
        whole: 0.99,
    }
}

#[test]
fn plenty_of_spot_needs_no_on_demand_once_it_answers() {
    let all = capacity(&[&|_| 4, &|_| 4, &|_| 4], 100);
    let ticks = replay(&fleet(4, 2, 0), &all, 1);
    // the first start: both kinds are ordered, and answer after the cold start
    assert_eq!((ticks[0].spot, ticks[0].on_demand), (6, 4));
    assert_eq!(ticks[0].ready_ms, 600_000 - COLD);
    for tick in &ticks[1..] {
        assert_eq!((tick.spot, tick.on_demand, tick.ready_ms), (6, 0, 600_000));
    }
}

#[test]
fn zones_share_the_replicas_so_that_one_loss_is_not_felt() {
    let gone = |t: usize| if t == 60 { 0 } else { 9 };
    let all = capacity(&[&gone, &|_| 9, &|_| 9], 100);
    let ticks = replay(&fleet(4, 2, 0), &all, 7);
    // six in three zones: two of them are lost, four go on answering
    assert_eq!(ticks[60].lost, 2);
    assert_eq!(ticks[60].ready_ms, 600_000);
    assert_eq!(ticks[60].spot, 6);
}

#[test]
fn without_spare_a_loss_is_felt_for_one_cold_start() {
    let gone = |t: usize| if t == 90 { 0 } else { 9 };
    let all = capacity(&[&gone], 100);
    let ticks = replay(&fleet(4, 0, 0), &all, 7);
    assert_eq!(ticks[90].lost, 4);
    assert_eq!((ticks[90].spot, ticks[90].on_demand), (0, 4));
    assert_eq!(ticks[90].ready_ms, 600_000 - COLD);
    // with a floor for all of them nothing is felt
    let ticks = replay(&fleet(4, 0, 4), &all, 7);
    assert!(ticks[1..].iter().all(|t| t.ready_ms == 600_000));
}

/// The share that a service must be whole stood a second time in the hedge: who asked for less got on-demand for 0.99.
#[test]
fn on_demand_carries_the_service_up_to_the_share_that_was_asked_for() {
    let hedge = SpotHedge::new(1, Random(0));
    let asked = |whole: f64| Fleet {
        whole,
        ..fleet(4, 0, 0)
    };
    assert_eq!(hedge.on_demand(&asked(0.9), 4, 0.95), 0);
    assert_eq!(hedge.on_demand(&asked(0.99), 4, 0.95), 4);
    assert_eq!(hedge.on_demand(&asked(0.95), 4, 0.95), 4);
}

#[test]
fn nobody_measured_is_nothing_to_be_had() {
    let mut all = capacity(&[&|_| 9], 50);
    for cell in &mut all.zones[0][20..30] {
        *cell = None;
    }
    let ticks = replay(&fleet(2, 1, 0), &all, 3);
    assert!(
        ticks[20..30]
            .iter()
            .all(|t| t.spot == 0 && t.on_demand == 2)
    );
    assert_eq!(all.unknown(), 0.2);
}

#[test]
fn the_cheapest_hedge_that_is_whole_is_chosen() {
    // each zone is away a sixth of the time, one after the other
    let away = |k: usize| move |t: usize| if (t / 20 + k).is_multiple_of(6) { 0 } else { 9 };
    let zones: [&dyn Fn(usize) -> u32; 3] = [&away(0), &away(2), &away(4)];
    let all = capacity(&zones, 1200);
    let found = forecast(&all, 6, COLD, 3, 0.99, [1.0, 3.0]).expect("long enough");
    assert!(found.pays && found.mean.ready >= 0.99, "{found:?}");
    let cost = found.mean.spot + 3.0 * found.mean.on_demand;
    assert!((6.0..14.0).contains(&cost), "{found:?}");
    assert!(found.mean.lost_per_h > 0.0);
    assert_eq!((found.parts, found.hours), (10, 200.0));
    // spot as dear as on-demand never pays
    let dear = forecast(&all, 6, COLD, 3, 0.99, [3.0, 3.0]).expect("long enough");
    assert!(!dear.pays, "{dear:?}");
    // spot that is never there neither
    let none = forecast(&capacity(&[&|_| 0], 1200), 6, COLD, 3, 0.99, [1.0, 3.0]).expect("long");
    assert!(!none.pays && none.mean.spot == 0.0, "{none:?}");
    // too short to say anything
    assert_eq!(
        forecast(&capacity(&zones, 9), 6, COLD, 3, 0.99, [1.0, 3.0]),
        None
    );
}

#[test]
fn hedges_never_hold_more_than_asked_or_than_can_be_had() {
    let mut random = Random(5);
    for seed in 0..300 {
        let zones: Vec<Vec<Option<u32>>> = (0..1 + random.below(5))
            .map(|_| {
                (0..200)
                    .map(|_| (random.unit() > 0.1).then(|| random.below(5) as u32))
                    .collect()
            })
            .collect();
        let all = Capacity {
            gap_ms: 300_000,
            zones,
        };
        let target = 1 + random.below(8) as u32;
        let asked = fleet(
            target,
            random.below(4) as u32,
            random.below(u64::from(target) + 1) as u32,
        );
        for (at, tick) in replay(&asked, &all, seed).iter().enumerate() {
            let can: u32 = all.zones.iter().map(|z| z[at].unwrap_or(0)).sum();
            assert!(tick.spot <= can && tick.spot <= target + asked.spare - asked.floor);
            assert!(tick.on_demand >= asked.floor && tick.on_demand <= target);
            // whatever spot does, after one cold start on-demand is behind it
            assert!(tick.spot + tick.on_demand >= target.min(tick.spot + asked.floor));
            assert!((0..=300_000).contains(&tick.ready_ms));
        }
    }
}
