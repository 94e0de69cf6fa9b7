//! Figures of the published sets, against those that were computed independently for their notes.

mod common;

use common::{only, plain, sets};
use lessee_spot::stats::{
    State, availability, correlation, duplicates, fits, observed_lives, observed_runs, of_path,
    of_series, runs, spans, survival,
};
use lessee_spot::trace::{Record, Series};

fn near(a: f64, b: f64, within: f64) -> bool {
    (a - b).abs() <= within
}

#[test]
fn eight_series_of_2022() {
    let Some(sets) = sets() else { return };
    // available, runs up, median up h, mean up h, longest outage h
    let rows = [
        ("us-west-2a_k80_1", 0.954, 43, 3.00, 6.52, 2.5),
        ("us-west-2a_k80_8", 0.549, 89, 0.83, 1.81, 16.3),
        ("us-west-2a_v100_1", 0.685, 88, 0.67, 2.29, 10.8),
        ("us-west-2a_v100_8", 0.333, 141, 0.33, 0.69, 19.8),
        ("us-west-2b_k80_1", 0.253, 44, 0.75, 1.69, 97.5),
        ("us-west-2b_k80_8", 0.586, 134, 0.67, 1.28, 15.3),
        ("us-west-2b_v100_1", 0.593, 90, 0.75, 1.94, 10.3),
        ("us-west-2b_v100_8", 0.342, 171, 0.17, 0.59, 21.2),
    ];
    for (name, share, up, median, mean, outage) in rows {
        let read = plain(&sets.join(format!("aws-2022-10/{name}.json")));
        let a = availability(&spans(only(&read), 1));
        assert!(
            near(a.share().expect("known"), share, 5.1e-4),
            "{name}: {:?}",
            a.share()
        );
        assert_eq!(a.up.count, up, "{name}");
        assert!(
            near(a.up.median_s / 3600.0, median, 5.1e-3),
            "{name}: {}",
            a.up.median_s
        );
        assert!(
            near(a.up.mean_s / 3600.0, mean, 5.1e-3),
            "{name}: {}",
            a.up.mean_s
        );
        assert!(
            near(a.down.longest_s as f64 / 3600.0, outage, 0.051),
            "{name}: {}",
            a.down.longest_s
        );
        // ticks 0 to 2 are unknown, not down
        assert_eq!(a.holes, [(0, 1800)], "{name}");
    }
}

#[test]
fn six_zones_of_2023_with_their_prices() {
    let Some(sets) = sets() else { return };
    // available, runs up, median and mean up h, longest outage h, price min, mean, max, changes
    let rows = [
        (
            "us-east-1a",
            0.167,
            253,
            0.33,
            0.72,
            80.2,
            [1.443, 1.654, 1.846],
            178,
        ),
        (
            "us-east-1c",
            0.467,
            344,
            0.49,
            1.48,
            23.3,
            [1.168, 1.278, 1.405],
            184,
        ),
        (
            "us-east-1d",
            0.447,
            294,
            0.54,
            1.66,
            56.2,
            [1.114, 1.235, 1.366],
            181,
        ),
        (
            "us-east-2b",
            0.682,
            175,
            1.08,
            4.26,
            20.8,
            [0.918, 0.928, 1.033],
            40,
        ),
        (
            "us-west-2a",
            0.883,
            159,
            1.03,
            6.06,
            8.1,
            [0.918, 0.945, 1.046],
            93,
        ),
        (
            "us-west-2b",
            0.905,
            95,
            1.41,
            10.40,
            7.2,
            [0.918, 0.947, 1.034],
            89,
        ),
    ];
    for (zone, share, up, median, mean, outage, price, changes) in rows {
        let read = plain(&sets.join(format!("v100-aws-2023-02/availability/{zone}_v100_1.csv")));
        let series = only(&read);
        let a = availability(&spans(series, 1));
        assert!(
            near(a.share().expect("known"), share, 6e-4),
            "{zone}: {:?}",
            a.share()
        );
        assert_eq!(a.up.count, up, "{zone}");
        // the notes count ticks of 195 s, here it is the clock
        assert!(
            near(a.up.median_s / 3600.0, median, 0.011),
            "{zone}: {}",
            a.up.median_s / 3600.0
        );
        assert!(
            near(a.up.mean_s / 3600.0, mean, 0.03),
            "{zone}: {}",
            a.up.mean_s / 3600.0
        );
        assert!(
            near(a.down.longest_s as f64 / 3600.0, outage, 0.3),
            "{zone}: {}",
            a.down.longest_s
        );
        assert!(a.holes.is_empty(), "{zone}");
        let p = of_series(series, Some(3.06)).expect("prices");
        for (got, want) in [p.min, p.mean, p.max].into_iter().zip(price) {
            assert!(near(got, want, 6e-4), "{zone}: {got} {want}");
        }
        assert_eq!(p.changes, changes, "{zone}");
        assert_eq!(p.at_on_demand, Some(0.0));
    }
}

#[test]
fn a_gang_of_sixteen_is_another_market_than_one_of_sixteen() {
    let Some(sets) = sets() else { return };
    let read = plain(&sets.join("h100-gcp-2025-10/counts.csv"));
    let zones: Vec<&Series> = read.series().collect();
    let rows = [
        ("us-central1-a", [0.983, 0.933, 0.856]),
        ("us-east4-a", [0.862, 0.767, 0.585]),
        ("europe-west1-c", [0.879, 0.427, 0.008]),
        ("europe-west3-c", [0.476, 0.0, 0.0]),
        ("asia-south2-b", [1.0, 0.999, 0.995]),
    ];
    for (zone, shares) in rows {
        let series = zones.iter().find(|s| s.about.zone == zone).expect("zone");
        for (need, share) in [1, 8, 16].into_iter().zip(shares) {
            let a = availability(&spans(series, need));
            assert!(
                near(a.share().expect("known"), share, 6e-4),
                "{zone} {need}: {:?}",
                a.share()
            );
            assert_eq!(a.holes.len(), 1, "the hole is no outage");
        }
    }
    // all pairs within -.19 to .27; the two zones of one region .19
    let mut all = Vec::new();
    for (i, a) in zones.iter().enumerate() {
        all.extend(zones[i + 1..].iter().filter_map(|b| correlation(a, b, 1)));
    }
    let (least, most) = (
        all.iter().copied().fold(1.0, f64::min),
        all.iter().copied().fold(-1.0, f64::max),
    );
    assert!(
        near(least, -0.19, 0.006) && near(most, 0.27, 0.006),
        "{least} {most}"
    );
    let central: Vec<&&Series> = zones
        .iter()
        .filter(|s| s.about.zone.starts_with("us-central1"))
        .collect();
    assert!(near(
        correlation(central[0], central[1], 1).expect("both vary"),
        0.19,
        0.006
    ));
    assert!(duplicates(&zones).is_empty());
}

#[test]
fn a_zone_at_the_on_demand_price_for_sixty_days() {
    let Some(sets) = sets() else { return };
    for (file, on_demand) in [("p3.2xlarge", 3.06), ("p3.8xlarge", 12.24)] {
        let read = plain(&sets.join(format!("aws-spot-price-2020/us-east-2/{file}.json")));
        for record in &read.records {
            let Record::Prices(path) = record else {
                panic!()
            };
            let f = of_path(path, Some(on_demand)).expect("figures");
            let at = f.at_on_demand.expect("known");
            if path.about.zone == "us-east-2c" {
                assert_eq!((at, f.changes), (1.0, 0), "{file}");
            } else {
                assert!(at < 0.5, "{file} {}: {at}", path.about.zone);
            }
        }
    }
}

#[test]
fn lives_are_heavy_tailed() {
    let Some(sets) = sets() else { return };
    let read = plain(&sets.join("v100-aws-2023-02/availability/us-west-2a_v100_1.csv"));
    let series = only(&read);
    let lives = observed_runs(&runs(&spans(series, 1), State::Up));
    let curve = survival(&lives);
    assert!(
        curve.ends >= 157
            && curve.quantile_s(0.5).expect("reached")
                < curve.restricted_mean_s().expect("lives") / 2.0
    );
    let all = fits(&lives, series.start);
    assert_eq!(all.len(), 4);
    let worst = all.last().expect("a fit");
    assert!(all[0].aic + 50.0 < worst.aic, "{all:?}");
    let read = plain(&sets.join("persistent-vm-2020-03/gcp_persistent_2020-03-01.out"));
    let Record::Lives(log) = &read.records[0] else {
        panic!()
    };
    let lives = observed_lives(log);
    assert!(!fits(&lives, log.start).is_empty());
}
