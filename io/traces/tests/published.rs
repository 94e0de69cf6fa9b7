//! The published sets, against the figures that their notes state.

mod common;

use common::{codes, only, plain, sets, share};
use lessee_traces::{Options, Polarity, TraceError, read};
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
