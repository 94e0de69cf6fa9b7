//! Files that are not what they seem: a clear error each, never a panic, never a guess. Needs no data beside.

use lessee_catalog::CatalogError;
use lessee_spot::trace::{Record, Series};
use lessee_traces::{
    Folder, Format, Options, Polarity, Read, TraceError, TraceStore, fuzz_read, read, read_bytes,
    read_path,
};
use proptest::prelude::*;
use std::path::Path;

fn of(text: &str) -> Result<Read, TraceError> {
    read_bytes(
        Path::new("none/us-east-1a_v100_1.json"),
        text.as_bytes(),
        &Options::default(),
    )
}

fn with(text: &str, polarity: Polarity) -> Result<Read, TraceError> {
    let options = Options {
        polarity: Some(polarity),
        ..Options::default()
    };
    read_bytes(Path::new("none/zone.json"), text.as_bytes(), &options)
}

fn series(read: &Read) -> &Series {
    read.series().next().expect("a series")
}

#[test]
fn zeros_and_ones_without_a_meaning_are_a_question() {
    let text = r#"{"metadata":{"gap_seconds":600},"data":[1,0,0,0,null]}"#;
    match of(text) {
        Err(TraceError::PolarityUnknown {
            ones,
            samples,
            zone,
            ..
        }) => {
            assert_eq!((ones, samples, zone.as_str()), (0.25, 4, "us-east-1a"));
        }
        other => panic!("{other:?}"),
    }
    let up = with(text, Polarity::Available).expect("said");
    assert_eq!(series(&up).up, [Some(1), Some(0), Some(0), Some(0), None]);
    let down = with(text, Polarity::Unavailable).expect("said");
    assert_eq!(series(&down).up, [Some(0), Some(1), Some(1), Some(1), None]);
    // all zeros and all ones are no less a question
    for data in ["[0,0]", "[1,1]"] {
        let text = format!(r#"{{"metadata":{{"gap_seconds":600}},"data":{data}}}"#);
        assert!(matches!(of(&text), Err(TraceError::PolarityUnknown { .. })));
    }
}

#[test]
fn a_users_word_against_the_files_own_is_refused_and_against_the_formats_is_told() {
    let stated = r#"{"metadata":{"gap_seconds":600,"polarity":"1 = not available"},"data":[1,0]}"#;
    assert_eq!(series(&of(stated).expect("stated")).up, [Some(0), Some(1)]);
    assert!(matches!(
        with(stated, Polarity::Available),
        Err(TraceError::PolarityConflict { .. })
    ));
    let known = r#"{"metadata":{"gap_seconds":600,"source_dir":"x","price_info":{}},"data":[1,0]}"#;
    assert_eq!(series(&of(known).expect("known")).up, [Some(0), Some(1)]);
    let other = with(known, Polarity::Available).expect("the user's word");
    assert_eq!(series(&other).up, [Some(1), Some(0)]);
    assert_eq!(other.remarks[0].code, "polarity_overruled");
    let counts = r#"{"metadata":{"gap_seconds":300},"data":[4,0]}"#;
    assert_eq!(series(&of(counts).expect("counts")).asked, 4);
    assert!(matches!(
        with(counts, Polarity::Unavailable),
        Err(TraceError::CountsInverted { most: 4, .. })
    ));
}

#[test]
fn cut_empty_binary_and_foreign_files() {
    let cut = r#"{"metadata":{"gap_seconds":600},"data":[1,0,"#;
    assert!(matches!(
        of(cut),
        Err(TraceError::Input(CatalogError::Truncated { .. }))
    ));
    assert!(matches!(
        of("{\"metadata\":{]}"),
        Err(TraceError::Json { .. })
    ));
    assert!(matches!(of(""), Err(TraceError::Input(_))));
    assert!(matches!(of("\u{1}\0\0"), Err(TraceError::Input(_))));
    assert!(matches!(
        of("name,price\na,1\n"),
        Err(TraceError::UnknownFormat { .. })
    ));
    assert!(matches!(of("{}"), Err(TraceError::UnknownFormat { .. })));
    assert!(matches!(
        of("[1,2"),
        Err(TraceError::Input(CatalogError::Truncated { .. }))
    ));
    assert!(matches!(
        of(r#"{"metadata":{"gap_seconds":600},"data":[]}"#),
        Err(TraceError::NoSamples { .. })
    ));
    let missing = Path::new("none/there-is-none.csv");
    assert!(matches!(
        read(missing, &Options::default()),
        Err(TraceError::Input(CatalogError::Io { .. }))
    ));
    let folder = tempfile::tempdir().expect("a folder");
    assert!(matches!(
        read(folder.path(), &Options::default()),
        Err(TraceError::Input(_))
    ));
    assert!(matches!(
        read_path(folder.path(), &Options::default()),
        Err(TraceError::NoTraces { files: 0, .. })
    ));
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(of(&deep).is_err());
}

#[test]
fn a_bad_cell_is_named_with_its_place() {
    let place = |text: &str| match of(text) {
        Err(TraceError::BadValue { place, want, .. }) => format!("{place}: {want}"),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        place(r#"{"metadata":{"gap_seconds":600},"data":[1,0.5]}"#),
        "data[1]: count"
    );
    assert_eq!(
        place(r#"{"metadata":{"gap_seconds":0},"data":[1]}"#),
        "metadata.gap_seconds: gap"
    );
    assert_eq!(
        place("date,availability\n2023-02-15 22:08:16,1\n2023-02-15 22:08:16,0\n"),
        "line 3, column date: order"
    );
    assert_eq!(
        place("time,zone,available,price\n2026-01-01T00:00:00Z,a,1,0\n"),
        "line 2, column price: price"
    );
    assert_eq!(place("time,zone,available,prize\n"), "header: column");
    assert_eq!(place("0,add,n1\n5,remove,n2\n"), "line 2, column 2: event");
    assert!(matches!(
        of("tick,utc,a\n0,2025-10-04T00:10:00Z,1\n1,2025-10-04T00:20:00Z\n"),
        Err(TraceError::Input(CatalogError::Fields { line: 3, .. }))
    ));
}

#[test]
fn our_own_csv_keeps_irregular_times_holes_and_blanks() {
    let text = "# probes of our own\r\ntime,zone,available,price,on_demand\r\n\
        2026-01-01T00:00:00Z,us-east-1a,1,0.9,3.06\r\n2026-01-01T00:00:00Z,us-east-1b,0,,\r\n\
        2026-01-01T00:10:00Z,us-east-1a,,1.1,\r\n2026-01-01T02:00:07Z,us-east-1a,0,,\r\n";
    let read = of(text).expect("plain");
    assert_eq!(read.format, Format::Plain);
    let zones: Vec<&Series> = read.series().collect();
    assert_eq!(zones[0].at_s, [0, 600, 7207]);
    assert_eq!(zones[0].up, [Some(1), None, Some(0)]);
    assert_eq!(zones[0].price, [Some(0.9), Some(1.1), None]);
    assert_eq!(zones[0].on_demand, Some(3.06));
    assert!(zones[1].price.is_empty() && zones[1].on_demand.is_none());
}

#[test]
fn prices_of_one_zone_are_never_used_for_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("write");
    let rows = "date,availability\n2023-02-15 22:08:16,1\n2023-02-15 22:11:31,0\n";
    write("us-east-1a_v100_1.csv", rows);
    write("us-east-1c_v100_1.csv", rows);
    write("spot_prices.json", r#"{"us-east-1c_v100_1":[1.2,1.3]}"#);
    let read = |name: &str| read(&folder.path().join(name), &Options::default());
    let other = read("us-east-1a_v100_1.csv").expect("read");
    assert!(series(&other).price.is_empty());
    assert!(other.remarks.iter().any(|r| r.code == "no_price_of_zone"));
    let own = read("us-east-1c_v100_1.csv").expect("read");
    assert_eq!(series(&own).price, [Some(1.2), Some(1.3)]);
    write("spot_prices.json", r#"{"us-east-1c_v100_1":[1.2]}"#);
    assert!(matches!(
        read("us-east-1c_v100_1.csv"),
        Err(TraceError::Lengths {
            expected: 2,
            found: 1,
            ..
        })
    ));
    write("spot_prices.json", r#"{"../../x":[1.2]}"#);
    assert!(matches!(
        read("spot_prices.json"),
        Err(TraceError::NoTimes { .. })
    ));
}

/// A null price was filled with the one before: eleven months at 1 USD, of which one row said so.
#[test]
fn a_null_price_is_not_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("write");
    let mut rows = "date,availability\n".to_owned();
    for minute in 0..8 {
        rows += &format!("1970-01-01 00:0{minute}:00,1\n");
    }
    write("us-east-1a_v100_1.csv", &rows);
    let prices = "[null,1.5,null,null,1.5,2.5,null,null]";
    write(
        "spot_prices.json",
        &format!(r#"{{"us-east-1a_v100_1":{prices}}}"#),
    );
    let read = read(&folder.path().join("spot_prices.json"), &Options::default()).expect("read");
    let Record::Prices(path) = &read.records[0] else {
        panic!("{:?}", read.records);
    };
    assert_eq!(path.changes, [(60, 1.5), (300, 2.5)]);
    assert_eq!(
        (path.holes.as_slice(), path.until, path.rows),
        (&[(120, 240)][..], 300, 3)
    );
    // as it is kept, and as it was kept before holes were
    let line = serde_json::to_string(&read.records[0]).expect("a line");
    let back: Record = serde_json::from_str(&line).expect("back");
    assert_eq!(back, read.records[0]);
    let old = line.replace(r#","holes":[[120,240]]"#, "");
    assert!(matches!(serde_json::from_str(&old), Ok(Record::Prices(p)) if p.holes.is_empty()));
}

#[test]
fn buckets_say_over_which_time_they_count() {
    let advisor = r#"{"ranges":[],"spot_advisor":{"us-east-1":{"Linux":{"p3.2xlarge":{"s":68,"r":4},"g4dn.xlarge":{"s":50,"r":0}}}}}"#;
    let read = of(advisor).expect("advisor");
    let bucket = |read: &Read, i: usize| match &read.records[i] {
        Record::Bucket(b) => (b.low, b.high, b.per_h, b.saving),
        other => panic!("{other:?}"),
    };
    assert_eq!(bucket(&read, 0), (0.2, None, 720.0, Some(0.68)));
    assert_eq!(bucket(&read, 1), (0.0, Some(0.05), 720.0, Some(0.5)));
    assert_eq!(read.remarks[0].code, "bucket_per_month");
    let azure = r#"{"count":2,"data":[{"sku":{"name":"standard_nc24ads_a100_v4"},"location":"eastus","properties":{"evictionRate":"5-10"}},
        {"skuName":"standard_nd96isr_h100_v5","location":"westus","spotEvictionRate":"20+"}]}"#;
    let read = of(azure).expect("azure");
    assert_eq!(bucket(&read, 0), (0.05, Some(0.1), 1.0, None));
    assert_eq!(bucket(&read, 1), (0.2, None, 1.0, None));
    assert_eq!(read.remarks[0].code, "bucket_per_hour");
    assert!(of(r#"{"data":[{"skuName":"a","location":"b","evictionRate":"often"}]}"#).is_err());
    assert!(of(r#"{"spot_advisor":{"r":{"Linux":{"a":{"r":7}}}}}"#).is_err());
}

const HEADS: [&str; 9] = [
    "",
    "date,availability\n",
    "tick,utc,a,b\n",
    "time,zone,available\n",
    "from_region,to_region,price_usd_per_gb\n",
    "{\"metadata\":{\"gap_seconds\":600},\"data\":[",
    "0,add,n1\n",
    "{\"SpotPriceHistory\":[",
    "[2020-03-01T10:11:21.000Z] Created instance i0 with 1 GPU(s) of type g in zone z\n",
];

proptest! {
    /// Whatever stands in a file, it is read or refused; what is read is in order and within what was asked for.
    #[test]
    fn any_text_is_read_or_refused(
        head in proptest::sample::select(HEADS.to_vec()),
        tail in "[-0-9a-z,.\\[\\]{}\":T Z\n]{0,200}",
        format in proptest::option::of(proptest::sample::select(Format::ALL.to_vec())),
        said in proptest::option::of(proptest::bool::ANY),
    ) {
        let polarity = said.map(|up| if up { Polarity::Available } else { Polarity::Unavailable });
        if let Ok(read) = fuzz_read(format, polarity, format!("{head}{tail}").as_bytes()) {
            prop_assert!(!read.records.is_empty());
            for s in read.series() {
                prop_assert!(s.at_s.windows(2).all(|w| w[0] < w[1]));
                prop_assert!(s.up.iter().flatten().all(|n| *n <= s.asked));
                prop_assert!(s.price.is_empty() || s.price.len() == s.up.len());
            }
        }
    }

    /// The two readings of a series add up to one.
    #[test]
    fn the_two_readings_are_each_others_complement(data in proptest::collection::vec(0u8..2, 1..50)) {
        let text = format!(r#"{{"metadata":{{"gap_seconds":60}},"data":{data:?}}}"#);
        let (a, b) = (with(&text, Polarity::Available).unwrap(), with(&text, Polarity::Unavailable).unwrap());
        let sums = series(&a).up.iter().zip(&series(&b).up).map(|(x, y)| x.unwrap() + y.unwrap());
        prop_assert!(sums.collect::<Vec<_>>().iter().all(|s| *s == 1));
    }
}

#[test]
fn what_is_kept_comes_back_and_what_was_cut_does_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = TraceStore::open(folder.path().join("traces"));
    assert!(store.list().expect("none yet").is_empty());
    let read = of(r#"{"metadata":{"gap_seconds":600,"polarity":"1=available"},"data":[1,null,0]}"#)
        .expect("a trace");
    let whole = Folder {
        reads: vec![read.clone()],
        skipped: Vec::new(),
    };
    let kept = store
        .save("mine", "x.json", &whole, "2026-11-30T00:00:00Z")
        .expect("kept");
    assert_eq!(store.list().expect("one"), std::slice::from_ref(&kept));
    let back = store.load("mine", None).expect("back");
    assert_eq!(
        (&back.records, &back.remarks),
        (&read.records, &read.remarks)
    );
    assert!(matches!(
        store.load("mime", None),
        Err(TraceError::NoTrace { suggestion: Some(s), .. }) if s == "mine"
    ));
    for name in ["../x", "", ".hidden", "a/b"] {
        assert!(store.save(name, "x", &whole, "t").is_err(), "{name}");
    }
    let text = std::fs::read_to_string(&kept.path).expect("text");
    std::fs::write(&kept.path, text.lines().next().expect("a header")).expect("cut");
    assert!(matches!(
        store.load("mine", None),
        Err(TraceError::Input(CatalogError::Truncated { .. }))
    ));
    std::fs::write(&kept.path, text.replace("[0,600,1200]", "[0,600,300]")).expect("changed");
    assert!(matches!(
        store.load("mine", None),
        Err(TraceError::Json { line: 2, .. })
    ));
}

/// A trace as we keep it, with one record: `about` is filled in.
fn kept(record: &str) -> Result<Read, TraceError> {
    let about = r#""about":{"zone":"us-east-1a","region":null,"provider":null,"machine":null,"source":"x"}"#;
    let header = r#"{"schema":"lessee/trace/v1","kind":"spot_market","source":"x","formats":["plain"],"imported_at":"2026-01-01T00:00:00Z","records":1,"sha256":"","remarks":[]}"#;
    let text = format!("{header}\n{}\n", record.replace("ABOUT", about));
    read_bytes(
        Path::new("none/x.jsonl"),
        text.as_bytes(),
        &Options::default(),
    )
}

/// Times that a record cannot have: each once asked for terabytes, ran for years or overflowed.
#[test]
fn a_kept_trace_has_times_that_can_be() {
    let series = |start: &str, at_s: &str| {
        kept(&format!(
            r#"{{"kind":"series",ABOUT,"seen":"unsaid","asked":1,"gap_s":1,"start":{start},"at_s":{at_s},"up":[1,1],"price":[],"on_demand":null,"priced_for":null}}"#
        ))
    };
    let lives = |start: &str, span: &str, life: [&str; 3], refused: &str| {
        let [from, alive, gone] = life;
        kept(&format!(
            r#"{{"kind":"lives",ABOUT,"start":{start},"span_s":{span},"lives":[{{"name":"a","from_s":{from},"alive_s":{alive},"gone_s":{gone}}}],"refused_s":[{refused}]}}"#
        ))
    };
    let prices = |changes: &str, until: &str| {
        kept(&format!(
            r#"{{"kind":"prices",ABOUT,"changes":{changes},"rows":2,"until":{until}}}"#
        ))
    };
    let since = |since: &str| {
        kept(&format!(
            r#"{{"kind":"list_price",ABOUT,"spot":1.0,"on_demand":3.0,"gpus":1,"since":{since}}}"#
        ))
    };
    let far = "9000000000000000";
    let life = ["0", "5", "9"];
    for good in [
        series("0", "[0,600]"),
        series("null", "[3,600]"),
        lives("0", "10", life, "3"),
        lives("null", "10", ["0", "5", "null"], ""),
        prices("[[0,1.0],[60,2.0]]", "60"),
        since("1700000000"),
    ] {
        good.expect("times that can be");
    }
    for bad in [
        series("0", "[-549755813888,0]"),
        series(far, "[0,600]"),
        series("-9000000000000000", "[0,600]"),
        series("0", "[0,9000000000000000]"),
        lives("0", "10", ["-9000000000000000", "0", "5"], ""),
        lives(far, "10", life, ""),
        lives("0", far, life, ""),
        lives("0", "-1", life, ""),
        lives("0", "10", ["0", "5", far], ""),
        lives("0", "10", ["0", far, "null"], ""),
        lives("0", "10", life, far),
        prices(
            "[[-9000000000000000000,1.0],[9000000000000000000,2.0]]",
            "9000000000000000001",
        ),
        prices("[[0,1.0],[60,2.0]]", far),
        prices("[[0,1.0],[60,2.0]]", "59"),
        prices("[[0,1.0],[60,2.0]],\"holes\":[[20,10]]", "60"),
        prices("[[0,1.0],[60,2.0]],\"holes\":[[20,61]]", "60"),
        since(far),
    ] {
        assert!(
            matches!(bad, Err(TraceError::Json { line: 2, .. })),
            "{bad:?}"
        );
    }
}

/// What its owner deletes did not end: its life is censored, and the slot is free again.
#[test]
fn a_machine_that_its_owner_deletes_is_no_loss() {
    let at = |minute: u32, words: &str| format!("[2020-03-01T10:{minute:02}:00.000Z] {words}\n");
    let created = "Created instance i0 with 1 GPU(s) of type v100 in zone us-west1-b";
    let running = "Instance i0 running in zone us-west1-b";
    let gone = "Instance i0 not running in zone us-west1-b";
    let deleted = "Successfully deleted instance i0";
    let text = [
        at(0, created),
        at(1, running),
        at(5, deleted),
        at(6, created),
        at(7, running),
        at(9, gone),
        // the clean-up after a loss is no second end
        at(9, deleted),
        at(10, created),
    ]
    .concat();
    let read = of(&text).expect("a log");
    let Record::Lives(lives) = &read.records[0] else {
        panic!("{:?}", read.records);
    };
    let ends: Vec<_> = lives
        .lives
        .iter()
        .map(|l| (l.from_s, l.alive_s, l.gone_s))
        .collect();
    assert_eq!(
        ends,
        [(0, 60, None), (360, 420, Some(540)), (600, 600, None)]
    );
}

#[test]
fn rows_shorter_than_a_format_needs_are_refused_in_every_format() {
    // found by fuzzing: the first line looks like a log of nodes, but a return within it ends the row
    let found = b"0,add\r,n0\n0105,000:20:n2\r\n";
    assert!(fuzz_read(None, None, found).is_err());
    for format in Format::ALL.iter().copied() {
        for text in [
            "1\n2\n",
            "a\n1\n",
            "\r",
            "1\r2\r",
            "a,b\rc,d\r",
            "\"1\n2\",3\n",
        ] {
            for said in [None, Some(Polarity::Available)] {
                // whatever the answer, it is one
                let _ = fuzz_read(Some(format), said, text.as_bytes());
            }
        }
    }
}
