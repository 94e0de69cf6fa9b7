//! The published sets, against the figures that their notes state.

mod common;

use common::{codes, only, plain, sets, share};
use lessee_spot::trace::{Lives, Record, Seen};
use lessee_traces::{Options, Polarity, TraceError, read, read_path};
use std::collections::BTreeSet;
use std::path::Path;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 6e-4
}

#[test]
fn availability_json_states_its_polarity_and_keeps_null() {
    let Some(sets) = sets() else { return };
    for (name, available) in [
        ("us-west-2a_k80_1", 0.954),
        ("us-west-2b_k80_1", 0.253),
        ("us-west-2b_v100_8", 0.342),
    ] {
        let read = plain(&sets.join(format!("aws-2022-10/{name}.json")));
        let series = only(&read);
        assert!(near(share(series, 1), available), "{name}");
        assert_eq!(
            (series.up.len(), series.gap_s, series.start),
            (1767, 600, None)
        );
        assert_eq!(series.up[..3], [None, None, None]);
        assert_eq!(series.about.region.as_deref(), Some("us-west-2"));
        assert_eq!(codes(&read), ["unknown_samples"]);
    }
    let file = sets.join("aws-2022-10/us-west-2a_k80_1.json");
    let against = Options {
        polarity: Some(Polarity::Unavailable),
        ..Options::default()
    };
    assert!(matches!(
        read(&file, &against),
        Err(TraceError::PolarityConflict { .. })
    ));
}

#[test]
fn merged_h100_is_inverted_and_its_price_is_of_eight_gpus() {
    let Some(sets) = sets() else { return };
    let read = plain(&sets.join("h100-gcp-2025-10/merged_full/us-east4-a_h100_16/full.json"));
    let series = only(&read);
    assert_eq!(series.about.zone, "us-east4-a");
    assert_eq!((series.up.len(), series.price.len()), (2114, 2114));
    assert!(near(share(series, 1), 0.862) || share(series, 1) > 0.8);
    assert!(series.price[0].is_some_and(|p| near(p, 14.8534)));
    assert_eq!(series.priced_for.as_deref(), Some("a3-highgpu-8g"));
    assert_eq!(codes(&read), ["price_of_machine", "gang_unsaid"]);
}

#[test]
fn probe_counts_keep_their_hole() {
    let Some(sets) = sets() else { return };
    let read = plain(&sets.join("h100-gcp-2025-10/counts.csv"));
    let zones: Vec<(&str, f64, f64)> = read
        .series()
        .map(|s| (s.about.zone.as_str(), share(s, 1), share(s, 16)))
        .collect();
    assert_eq!(zones.len(), 8);
    let europe = zones
        .iter()
        .find(|z| z.0 == "europe-west1-c")
        .expect("zone");
    assert!(near(europe.1, 0.879) && near(europe.2, 0.008), "{europe:?}");
    let first = read.series().next().expect("a zone");
    assert_eq!((first.asked, first.gap_s, first.up.len()), (16, 600, 2104));
    let holes: Vec<(i64, i64)> = first
        .at_s
        .windows(2)
        .filter(|w| w[1] - w[0] > 600)
        .map(|w| (w[0] / 600, w[1] / 600))
        .collect();
    assert_eq!(holes, [(745, 756)]);
    let one = format!(
        "{}#us-east4-a",
        sets.join("h100-gcp-2025-10/counts.csv").display()
    );
    assert_eq!(only(&plain(Path::new(&one))).about.zone, "us-east4-a");
    let none = format!(
        "{}#us-east4",
        sets.join("h100-gcp-2025-10/counts.csv").display()
    );
    assert!(matches!(
        lessee_traces::read(Path::new(&none), &Options::default()),
        Err(TraceError::NoColumn { .. })
    ));
}

#[test]
fn availability_csv_joins_its_prices_by_index() {
    let Some(sets) = sets() else { return };
    for (zone, available, min, max) in [
        ("us-east-1a", 0.167, 1.443, 1.846),
        ("us-west-2b", 0.905, 0.918, 1.034),
    ] {
        let read = plain(&sets.join(format!("v100-aws-2023-02/availability/{zone}_v100_1.csv")));
        let series = only(&read);
        assert!(near(share(series, 1), available), "{zone}");
        assert_eq!(
            (series.gap_s, series.up.len(), series.price.len()),
            (195, 20_158, 20_158)
        );
        let prices = series.price.iter().flatten().copied();
        assert!(near(prices.clone().fold(f64::MAX, f64::min), min), "{zone}");
        assert!(near(prices.fold(0.0, f64::max), max), "{zone}");
        let gaps: Vec<i64> = series.at_s.windows(2).map(|w| w[1] - w[0]).collect();
        assert_eq!(gaps.iter().copied().min(), Some(194));
        assert!(gaps.iter().copied().max().is_some_and(|g| g <= 280));
        assert_eq!(codes(&read), ["time_zone_unsaid"]);
    }
}

#[test]
fn counts_of_a_gang_have_one_meaning() {
    let Some(sets) = sets() else { return };
    let read = plain(&sets.join("v100-aws-4node-2023-08/us-east-2a_v100_1.json"));
    let series = only(&read);
    assert_eq!(series.asked, 4);
    assert!(near(share(series, 1), 0.749) && near(share(series, 4), 0.712));
    let read = plain(&sets.join("v100-aws-16node-2023-08/us-west-2a_v100_1.json"));
    assert!(near(share(only(&read), 1), 0.446) && near(share(only(&read), 16), 0.418));
}

#[test]
fn probe_rounds_of_a_folder_are_one_series_a_zone_in_utc() {
    let Some(sets) = sets() else { return };
    let folder = read_path(
        &sets.join("h100-gcp-2025-10/raw_sample"),
        &Options::default(),
    )
    .expect("rounds");
    assert_eq!(folder.reads.len(), 1);
    let rounds = &folder.reads[0];
    let counts = plain(&sets.join("h100-gcp-2025-10/counts.csv"));
    let mut compared = 0;
    for series in rounds.series() {
        assert_eq!((series.asked, series.seen), (16, Seen::Probe));
        let whole = counts.series().find(|s| s.about.zone == series.about.zone);
        let whole = whole.expect("the same zone");
        for (at, up) in series.at_s.iter().zip(&series.up) {
            let unix = series.start.expect("a start") + at;
            let place = whole
                .at_s
                .iter()
                .position(|t| whole.start.expect("a start") + t == unix);
            if let Some(place) = place {
                assert_eq!(whole.up[place], *up, "{} {unix}", series.about.zone);
                compared += 1;
            }
        }
    }
    assert!(compared >= 8, "{compared}");
}

#[test]
fn price_history_counts_changes_not_rows() {
    let Some(sets) = sets() else { return };
    let read = plain(&sets.join("aws-spot-price-2020/us-east-2/p3.2xlarge.json"));
    let paths: Vec<_> = read
        .records
        .iter()
        .map(|r| match r {
            Record::Prices(p) => p,
            other => panic!("{other:?}"),
        })
        .collect();
    let flat = paths
        .iter()
        .find(|p| p.about.zone == "us-east-2c")
        .expect("zone");
    assert_eq!(flat.changes.iter().map(|c| c.1).collect::<Vec<_>>(), [3.06]);
    assert!(flat.rows > 50, "{}", flat.rows);
    for path in paths {
        assert!(
            path.changes
                .windows(2)
                .all(|w| w[0].0 < w[1].0 && w[0].1 != w[1].1)
        );
        assert!(path.changes.len() < path.rows);
    }
    assert!(codes(&read).contains(&"repeated_prices"));
}

#[test]
fn logs_of_nodes() {
    let Some(sets) = sets() else { return };
    for (name, added, removed) in [("p3", 177, 167), ("g4dn", 79, 74)] {
        let read = plain(&sets.join(format!(
            "cluster-size-bamboo-parcae/bamboo_{name}-trace.csv"
        )));
        let [Record::Lives(lives)] = read.records.as_slice() else {
            panic!("{name}")
        };
        let gone = lives.lives.iter().filter(|l| l.gone_s.is_some()).count();
        assert_eq!((lives.lives.len(), gone), (added, removed));
        assert_eq!(codes(&read), ["censored_lives"]);
    }
    let read = plain(&sets.join("cluster-size-bamboo-parcae/parcae_p3.csv"));
    let series = only(&read);
    assert_eq!((series.asked, series.gap_s), (32, 0));
    assert!(series.at_s.windows(2).all(|w| w[0] < w[1]));
}

#[test]
fn a_slot_is_not_a_machine_and_an_end_is_an_interval() {
    let Some(sets) = sets() else { return };
    let read = plain(&sets.join("persistent-vm-2020-03/gcp_persistent_2020-03-01.out"));
    let all: Vec<&Lives> = read
        .records
        .iter()
        .filter_map(|r| match r {
            Record::Lives(l) => Some(l),
            _ => None,
        })
        .collect();
    assert_eq!(all.len(), 9);
    let lives = || all.iter().flat_map(|l| &l.lives);
    assert_eq!(lives().count(), 423);
    assert_eq!(lives().filter(|l| l.gone_s.is_some()).count(), 417);
    assert_eq!(all.iter().map(|l| l.refused_s.len()).sum::<usize>(), 513);
    // checks are about 12 minutes apart: no end is known better
    let widths: Vec<i64> = lives()
        .filter_map(|l| Some(l.gone_s? - l.alive_s))
        .collect();
    assert!(
        widths.iter().all(|w| (300..2_000).contains(w)),
        "{widths:?}"
    );
    assert_eq!(codes(&read), ["interval_censored"]);
}

#[test]
fn prices_lists_and_summaries() {
    let Some(sets) = sets() else { return };
    let read = plain(&sets.join("egress/aws_egress_pricing.csv"));
    let [Record::Egress(egress)] = read.records.as_slice() else {
        panic!()
    };
    assert_eq!(egress.pairs.len(), 1122);
    let read = plain(&sets.join("h100-gcp-2025-10/gcp_prices/us-east4_a3-highgpu-8g.json"));
    let [Record::ListPrice(price)] = read.records.as_slice() else {
        panic!()
    };
    assert_eq!((price.gpus, codes(&read).len()), (Some(8), 0));
    let read = plain(&sets.join("v100-aws-2023-02/spot_prices.json"));
    assert_eq!(read.records.len(), 6);
    let summary = plain(&sets.join("v100-aws-2023-02/v100_spot_price_archive_summary.csv"));
    // the archive and the series agree where the archive covers no more than the series
    for record in &summary.records {
        let Record::PriceSummary(s) = record else {
            panic!()
        };
        let path = read.records.iter().find(|r| r.about().zone == s.about.zone);
        if let Some(Record::Prices(path)) = path {
            let min = path.changes.iter().map(|c| c.1).fold(f64::MAX, f64::min);
            assert!(
                (min - s.min).abs() < 0.03,
                "{}: {min} {}",
                s.about.zone,
                s.min
            );
        }
    }
}

#[test]
fn every_file_of_the_sets_is_a_trace_or_none() {
    let Some(sets) = sets() else { return };
    let folder = read_path(&sets, &Options::default()).expect("the sets");
    let names: Vec<&str> = folder
        .skipped
        .iter()
        .filter_map(|f| f.rsplit('/').next())
        .collect();
    let results = |n: &&str| n.ends_with(".csv") || n.ends_with(".txt") || n.ends_with(".md");
    assert!(names.iter().all(results), "{names:?}");
    let formats: BTreeSet<&str> = folder.reads.iter().map(|r| r.format.as_str()).collect();
    assert_eq!(formats.len(), 12, "{formats:?}");
}
