//! Small records with every trap that a grid can fall into.

use super::*;
use crate::trace::{About, Seen};

fn series(zone: &str, samples: &[(i64, Option<u32>)]) -> Series {
    Series {
        about: About {
            zone: zone.to_owned(),
            region: Some("r".to_owned()),
            machine: Some("gpu:1".to_owned()),
            source: format!("file#{zone}"),
            ..About::default()
        },
        seen: Seen::Probe,
        asked: samples.iter().filter_map(|s| s.1).max().unwrap_or(1).max(1),
        gap_s: 100,
        start: Some(1_000),
        at_s: samples.iter().map(|s| s.0).collect(),
        up: samples.iter().map(|s| s.1).collect(),
        price: Vec::new(),
        on_demand: None,
        priced_for: None,
    }
}

const PRICED: Asked = Asked {
    gang: 1,
    spot_price: Some(1.0),
    on_demand_price: Some(3.0),
};

fn cells(grid: &Grid, zone: usize) -> String {
    let letter = |c: &Cell| match c {
        Cell::Up => '1',
        Cell::Down => '0',
        Cell::Unknown => '?',
    };
    grid.market.zones[zone].cells.iter().map(letter).collect()
}

#[test]
fn holes_and_nulls_stay_unknown_and_late_samples_do_not_make_holes() {
    let s = series(
        "a",
        &[
            (0, Some(1)),
            (100, None),
            (249, Some(0)),
            (390, Some(1)),
            (690, Some(1)),
        ],
    );
    let grid = market_of(&[&s], &[], PRICED).unwrap();
    // 149 and 141 s are late samples, 300 s are two that are missing
    assert_eq!(cells(&grid, 0), "1?01??1");
    let zone = "a".to_owned();
    assert_eq!(grid.notes, [Note::Holes { zone, ticks: 3 }]);
    assert_eq!(grid.market.gap_ms, 100_000);
}

#[test]
fn a_gang_needs_all_its_machines_and_pays_for_all() {
    let s = series("a", &[(0, Some(16)), (100, Some(15)), (200, Some(0))]);
    let asked = Asked { gang: 16, ..PRICED };
    let grid = market_of(&[&s], &[], asked).unwrap();
    assert_eq!(cells(&grid, 0), "100");
    assert_eq!(grid.market.zones[0].spot[0], 16.0);
    assert_eq!(grid.market.zones[0].on_demand, 48.0);
    let asked = Asked { gang: 17, ..PRICED };
    assert!(matches!(
        market_of(&[&s], &[], asked),
        Err(GridError::Gang {
            gang: 17,
            asked: 16,
            ..
        })
    ));
}

#[test]
fn zones_meet_by_calendar_and_else_by_index() {
    let a = series(
        "a",
        &[(0, Some(1)), (100, Some(0)), (200, Some(1)), (300, Some(0))],
    );
    let mut b = series("b", &[(0, Some(1)), (100, Some(1)), (200, Some(0))]);
    b.start = Some(1_140);
    let grid = market_of(&[&a, &b], &[], PRICED).unwrap();
    assert_eq!(
        (cells(&grid, 0).as_str(), cells(&grid, 1).as_str()),
        ("010", "110")
    );
    assert_eq!((grid.start, grid.market.ticks()), (Some(1_140), 3));
    assert_eq!(grid.notes, []);
    // tick 0 is the first sample, wherever its record counts from
    let mut c = b.clone();
    c.start = Some(940);
    c.at_s = vec![200, 300, 400];
    let grid = market_of(&[&a, &c], &[], PRICED).unwrap();
    assert_eq!(grid.start, Some(1_140));
    assert_eq!(cells(&grid, 0), "010");
    b.start = None;
    let grid = market_of(&[&a, &b], &[], PRICED).unwrap();
    assert_eq!((grid.notes, grid.start), (vec![Note::AlignedByIndex], None));
    b.start = Some(9_000);
    assert!(matches!(
        market_of(&[&a, &b], &[], PRICED),
        Err(GridError::NoCommonTime { .. })
    ));
    b.gap_s = 200;
    assert!(matches!(
        market_of(&[&a, &b], &[], PRICED),
        Err(GridError::Gaps { .. })
    ));
}

#[test]
fn one_recording_under_two_names_is_one_zone() {
    let samples: Vec<(i64, Option<u32>)> =
        (0..10).map(|i| (100 * i, Some((i % 2) as u32))).collect();
    let (a, b) = (series("a", &samples), series("b", &samples));
    let grid = market_of(&[&a, &b], &[], PRICED).unwrap();
    assert_eq!(grid.market.zones.len(), 1);
    let zones = vec!["file#a".to_owned(), "file#b".to_owned()];
    assert_eq!(grid.notes, [Note::Identical { zones }]);
}

/// Two recorders of one zone that differ in a sample were two zones: the job could flee from one to the other.
#[test]
fn two_records_of_one_zone_are_one_zone() {
    let record = |source: &str, ups: &[u32]| {
        let samples: Vec<(i64, Option<u32>)> = (0..)
            .map(|i| 100 * i)
            .zip(ups.iter().map(|u| Some(*u)))
            .collect();
        let mut s = series("a", &samples);
        s.about.source = source.to_owned();
        s
    };
    let long = record("long", &[1, 0, 1, 1, 0, 1]);
    let short = record("short", &[1, 1, 1, 1]);
    let grid = market_of(&[&short, &long], &[], PRICED).unwrap();
    assert_eq!(
        (grid.market.zones.len(), cells(&grid, 0)),
        (1, "101101".to_owned())
    );
    let note = |kept: &str, left: &str| Note::Identical {
        zones: vec![kept.to_owned(), left.to_owned()],
    };
    assert_eq!(grid.notes, [note("long", "short")]);
    // of equals the first
    let other = record("other", &[1, 1, 1, 0]);
    let grid = market_of(&[&short, &other], &[], PRICED).unwrap();
    assert_eq!(
        (cells(&grid, 0).as_str(), &grid.notes[..]),
        ("1111", &[note("short", "other")][..])
    );
    // another machine is another market, another time another record
    let mut machine = other.clone();
    machine.about.machine = Some("gpu:8".to_owned());
    assert_eq!(
        market_of(&[&short, &machine], &[], PRICED)
            .unwrap()
            .market
            .zones
            .len(),
        2
    );
    let mut later = other;
    later.start = Some(1_400);
    assert!(matches!(
        market_of(&[&short, &later], &[], PRICED),
        Err(GridError::NoCommonTime { .. })
    ));
}

#[test]
fn a_price_is_known_or_asked_for() {
    let mut s = series(
        "a",
        &[(0, Some(1)), (100, Some(0)), (200, Some(1)), (300, Some(1))],
    );
    let asked = Asked {
        spot_price: None,
        ..PRICED
    };
    assert!(matches!(
        market_of(&[&s], &[], asked),
        Err(GridError::NoPrice { .. })
    ));
    s.price = vec![Some(1.0), None, Some(3.5), None];
    let grid = market_of(&[&s], &[], asked).unwrap();
    let zone = &grid.market.zones[0];
    // where nothing can be had the last price is shown; where it can, a missing one is missing
    assert_eq!(zone.spot[..3], [1.0, 1.0, 3.5]);
    assert!(zone.spot[3].is_nan());
    let share = 0.25;
    let name = "a".to_owned();
    assert_eq!(grid.notes, [Note::SpotAtOrAbove { zone: name, share }]);
    let job = Job::new(100.0 / 3600.0, 200.0 / 3600.0, 0.0).unwrap();
    let wrong = check_window(&grid.market, 2, &job);
    assert!(
        matches!(wrong, Err(GridError::NoPriceAt { tick: 3, .. })),
        "{wrong:?}"
    );
    s.priced_for = Some("gpu:8".to_owned());
    assert!(matches!(
        market_of(&[&s], &[], asked),
        Err(GridError::PriceOfOther { .. })
    ));
    assert!(market_of(&[&s], &[], PRICED).is_ok());
    let none = Asked::default();
    s.priced_for = None;
    assert!(matches!(
        market_of(&[&s], &[], none),
        Err(GridError::NoOnDemand { .. })
    ));
}

#[test]
fn prices_by_change_are_joined_by_time_and_end_with_their_record() {
    let s = series(
        "a",
        &[(0, Some(1)), (100, Some(1)), (200, Some(1)), (300, Some(1))],
    );
    let path = PricePath {
        about: About {
            zone: "a".to_owned(),
            ..About::default()
        },
        changes: vec![(900, 1.0), (1_100, 2.0)],
        rows: 3,
        until: 1_250,
        product: None,
        holes: Vec::new(),
    };
    let asked = Asked {
        spot_price: None,
        ..PRICED
    };
    let grid = market_of(&[&s], &[&path], asked).unwrap();
    let spot = &grid.market.zones[0].spot;
    assert_eq!(spot[..3], [1.0, 2.0, 2.0]);
    assert!(spot[3].is_nan());
    let holed = PricePath {
        holes: vec![(1_100, 1_200)],
        ..path.clone()
    };
    let grid = market_of(&[&s], &[&holed], asked).unwrap();
    let spot = &grid.market.zones[0].spot;
    assert_eq!((spot[0], spot[2]), (1.0, 2.0));
    assert!(spot[1].is_nan());
    let mut other = path.clone();
    other.about.zone = "b".to_owned();
    assert!(matches!(
        market_of(&[&s], &[&other], asked),
        Err(GridError::NoPrice { .. })
    ));
}

/// A record that names no machine was given the price of whichever came first by name: sixteen GPUs' for one.
#[test]
fn prices_are_joined_where_it_is_clear_whose_they_are() {
    let path = |machine: Option<&str>, product: &str, price: f64| PricePath {
        about: About {
            zone: "a".to_owned(),
            machine: machine.map(str::to_owned),
            ..About::default()
        },
        product: Some(product.to_owned()),
        changes: vec![(900, price)],
        rows: 1,
        until: 9_000,
        holes: Vec::new(),
    };
    let big = path(Some("gpu:16"), "Linux", 16.0);
    let small = path(Some("gpu:1"), "Linux", 1.0);
    let windows = path(Some("gpu:1"), "Windows", 1.5);
    let unsaid = path(None, "Linux", 2.0);
    let asked = Asked {
        spot_price: None,
        ..PRICED
    };
    let joined = |machine: Option<&str>, paths: &[&PricePath]| {
        let mut s = series("a", &[(0, Some(1)), (100, Some(1))]);
        s.about.machine = machine.map(str::to_owned);
        let grid = market_of(&[&s], paths, asked)?;
        let note = grid.notes.into_iter().find_map(|n| match n {
            Note::JoinedPrices {
                machine, product, ..
            } => Some((machine, product)),
            _ => None,
        });
        Ok::<_, GridError>((grid.market.zones[0].spot[0], note.unwrap()))
    };
    let of = |machine: &str, product: &str| (Some(machine.to_owned()), Some(product.to_owned()));
    let own = joined(Some("gpu:1"), &[&big, &small, &windows]).unwrap();
    assert_eq!(own, (1.0, of("gpu:1", "Linux")));
    assert_eq!(
        joined(None, &[&big]).unwrap(),
        (16.0, of("gpu:16", "Linux"))
    );
    assert_eq!(joined(Some("gpu:1"), &[&unsaid]).unwrap().0, 2.0);
    assert!(matches!(
        joined(Some("gpu:1"), &[&big]),
        Err(GridError::NoPrice { .. })
    ));
    for (machine, paths) in [
        (None, [&big, &small]),
        (None, [&small, &windows]),
        (Some("gpu:1"), [&big, &unsaid]),
    ] {
        let refused = joined(machine, &paths);
        assert!(
            matches!(refused, Err(GridError::NoPrice { .. })),
            "{refused:?}"
        );
    }
    // two pages of one history are one
    let mut later = small.clone();
    later.changes = vec![(9_500, 3.0)];
    later.until = 9_900;
    assert_eq!(joined(Some("gpu:1"), &[&later, &small]).unwrap().0, 1.0);
}

#[test]
fn a_record_by_change_is_cut_into_ticks_that_hold_throughout() {
    let mut s = series(
        "a",
        &[
            (0, Some(2)),
            (450, Some(1)),
            (700, Some(2)),
            (1_500, Some(0)),
        ],
    );
    s.gap_s = 0;
    let asked = Asked { gang: 2, ..PRICED };
    let grid = market_of(&[&s], &[], asked).unwrap();
    assert_eq!(cells(&grid, 0), "10011");
    assert_eq!(grid.market.gap_ms, 300_000);
}

#[test]
fn a_window_must_reach_the_deadline_and_tells_its_holes() {
    let s = series(
        "a",
        &[(0, Some(1)), (100, None), (200, Some(1)), (300, Some(1))],
    );
    let market = market_of(&[&s], &[], PRICED).unwrap().market;
    let job = Job::new(100.0 / 3600.0, 300.0 / 3600.0, 0.0).unwrap();
    let window = check_window(&market, 1, &job).unwrap();
    assert_eq!((window.ticks, window.unknown), (3, 1));
    assert_eq!(
        check_window(&market, 2, &job),
        Err(GridError::TooShort {
            start: 2,
            have: 4,
            need: 3,
            gap_s: 100
        })
    );
    assert!(check_window(&market, usize::MAX, &job).is_err());
}

/// A first sample long before 0 asked for terabytes: the whole length is bounded, not only its end.
#[test]
fn a_record_is_no_longer_than_a_century_from_whichever_second_on() {
    let year = 31_557_600;
    for (from, to) in [(-9_000 * year, 0), (0, 9_000 * year), (i64::MIN, i64::MAX)] {
        for gap_s in [0, 1] {
            let mut s = series("a", &[(from, Some(1)), (to, Some(1))]);
            s.gap_s = gap_s;
            let made = market_of(&[&s], &[], PRICED);
            assert!(
                matches!(made, Err(GridError::TooLong { .. })) || (gap_s, to) == (0, 0),
                "{from} {to} {gap_s}: {made:?}"
            );
        }
    }
}
