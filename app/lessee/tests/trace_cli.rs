//! `trace import|show|stats` through the front door: our own small records, and the published sets where they lie
//! beside the checkout. The traps of such data are tests here: what cannot be known is asked or said, never guessed.

mod common;

use common::{Home, records};
use serde_json::Value;

fn codes(doc: &Value) -> Vec<&str> {
    let remarks = doc["remarks"].as_array().expect("remarks");
    remarks.iter().filter_map(|r| r["code"].as_str()).collect()
}

const SERIES: &str = r#"{"metadata":{"gap_seconds":600},"data":[1,0,0,1,0,1,0,0,0,0,0,0]}"#;

#[test]
fn trap_1_polarity_is_asked_with_both_readings() {
    let home = Home::new();
    let file = home.file("us-west-2b_k80_1.json", SERIES);
    let asked = home.run(&["trace", "show", &file]);
    assert_eq!(asked.code, 2);
    for words in ["25.0 %", "75.0 %", "--polarity", "us-west-2b_k80_1.json"] {
        assert!(asked.err.contains(words), "{words}: {}", asked.err);
    }
    let share = |polarity| {
        let doc = home.json(&["trace", "show", &file, "--polarity", polarity]);
        doc["records"][0]["available_share"]
            .as_f64()
            .expect("a share")
    };
    assert_eq!((share("available"), share("unavailable")), (0.25, 0.75));
    let zh = home.run(&["trace", "show", &file, "--lang", "zh-CN"]);
    assert!(
        zh.err.contains("1 的含义") && zh.err.contains("--polarity"),
        "{}",
        zh.err
    );
    // the words of the file beat the user's
    let stated = home.file(
        "s.json",
        SERIES.replace("600}", "600,\"polarity\":\"1=available\"}"),
    );
    let against = home.run(&["trace", "show", &stated, "--polarity", "unavailable"]);
    assert_eq!(against.code, 2, "{}", against.err);
}

#[test]
fn traps_4_8_and_21_holes_irregular_times_and_nulls_are_kept() {
    let home = Home::new();
    let rows = "time,zone,available\n2026-01-01T00:00:00Z,a,1\n2026-01-01T00:03:15Z,a,1\n\
        2026-01-01T00:06:35Z,a,\n2026-01-01T00:09:50Z,a,0\n2026-01-01T03:00:00Z,a,1\n";
    let file = home.file("own.csv", rows);
    let doc = home.json(&["trace", "stats", &file]);
    let s = &doc["series"][0];
    // 0:00 to 6:35 up, to 9:50 unknown (null), 195 s down, then nobody looked until 3:00
    assert_eq!(s["known_seconds"], 395 + 195 + 195);
    assert_eq!(s["span_seconds"], 3 * 3600 + 195);
    assert_eq!(s["holes"][0]["from_seconds"], 395);
    assert_eq!(s["holes"][1]["from_seconds"], 590 + 195);
    assert_eq!(s["holes"][1]["to_seconds"], 3 * 3600);
    let strip = home.run(&["trace", "show", &file]).out;
    assert!(
        strip.contains('?') && strip.lines().all(|l| l.chars().count() <= 80),
        "{strip}"
    );
    let Some(counts) = records("h100-gcp-2025-10/counts.csv") else {
        return;
    };
    let doc = home.json(&["trace", "stats", &counts, "--gang", "16"]);
    for s in doc["series"].as_array().expect("zones") {
        let holes = s["holes"].as_array().expect("holes");
        assert_eq!(
            (holes.len(), &holes[0]["from_seconds"]),
            (1, &Value::from(746 * 600))
        );
        assert_eq!(holes[0]["to_seconds"], 756 * 600);
    }
    let Some(nulls) = records("aws-2022-10/us-west-2b_k80_1.json") else {
        return;
    };
    let doc = home.json(&["trace", "stats", &nulls]);
    assert!((doc["series"][0]["available_share"].as_f64().expect("share") - 0.253).abs() < 5e-4);
    assert_eq!(codes(&doc), ["unknown_samples"]);
}

#[test]
fn trap_5_one_of_sixteen_and_sixteen_of_sixteen_stand_side_by_side() {
    let Some(counts) = records("h100-gcp-2025-10/counts.csv") else {
        return;
    };
    let home = Home::new();
    let doc = home.json(&["trace", "stats", &format!("{counts}#europe-west1-c")]);
    let share = |i: usize| doc["series"][i]["available_share"].as_f64().expect("share");
    assert!((share(0) - 0.879).abs() < 6e-4 && (share(1) - 0.008).abs() < 6e-4);
    let wrong = home.run(&["trace", "stats", &format!("{counts}#europe-west1")]);
    assert!(
        wrong.code == 2 && wrong.err.contains("europe-west1-c"),
        "{}",
        wrong.err
    );
}

#[test]
fn trap_6_a_price_of_eight_gpus_is_flagged() {
    let home = Home::new();
    let file = home.file(
        "us-east4-a_h100_16/full.json",
        r#"{"metadata":{"gap_seconds":600,"source_dir":"x","zone":"us-east4-a","price_info":{"machine_type":"a3-highgpu-8g","on_demand_price":82.5}},"data":[0,1,0],"prices":[14.85,14.85,14.85]}"#,
    );
    let doc = home.json(&["trace", "stats", &file]);
    assert_eq!(codes(&doc), ["price_of_machine", "gang_unsaid"]);
    assert_eq!(doc["series"][0]["price"]["priced_for"], "a3-highgpu-8g");
    // known of the format: 1 = not available
    assert!(
        (doc["series"][0]["available_share"].as_f64().expect("share") - 2.0 / 3.0).abs() < 1e-9
    );
}

#[test]
fn trap_7_one_recording_under_three_names_is_named() {
    let home = Home::new();
    for zone in ["a", "b", "c"] {
        home.file(&format!("set/us-east-1{zone}_v100_1.json"), SERIES);
    }
    home.file(
        "set/us-east-1d_v100_1.json",
        SERIES.replace("[1,0,0,1", "[0,1,0,1"),
    );
    let set = home.path("set").to_str().expect("path").to_owned();
    let doc = home.json(&["trace", "stats", &set, "--polarity", "available"]);
    assert_eq!(
        doc["identical_zones"][0].as_array().expect("a group").len(),
        3
    );
    assert!(codes(&doc).contains(&"identical_zones"));
    let imported = home.json(&["trace", "import", &set, "--polarity", "available"]);
    assert_eq!(
        imported["traces"][0]["remarks"][0]["code"],
        "identical_zones"
    );
}

#[test]
fn trap_12_a_zone_without_prices_gets_none_of_another() {
    let home = Home::new();
    let rows = "date,availability\n2023-02-15 22:08:16,1\n2023-02-15 22:11:31,0\n";
    let file = home.file("us-east-1a_v100_1.csv", rows);
    home.file("spot_prices.json", r#"{"us-east-1c_v100_1":[1.2,1.3]}"#);
    let doc = home.json(&["trace", "stats", &file]);
    assert!(doc["series"][0]["price"].is_null());
    assert!(codes(&doc).contains(&"no_price_of_zone"));
}

#[test]
fn traps_18_and_25_a_probe_is_told_from_a_running_instance() {
    let home = Home::new();
    let probes = home.file(
        "p.csv",
        "tick,utc,us-east4-a\n0,2025-10-04T00:10:00Z,3\n1,2025-10-04T00:20:00Z,0\n",
    );
    let nodes = home.file("n.csv", "0,4\r\n60000,2\r\n120000,4\r\n");
    let doc = home.json(&["trace", "show", &probes, &nodes]);
    assert_eq!(doc["records"][0]["seen"], "probe");
    assert_eq!(doc["records"][1]["seen"], "running");
    assert_eq!(codes(&doc), ["asked_inferred", "asked_inferred"]);
}

#[test]
fn trap_20_a_price_row_is_not_a_change() {
    let home = Home::new();
    let row = |time: &str, price: &str| {
        format!(
            r#"{{"AvailabilityZone":"us-east-2c","InstanceType":"p3.2xlarge","ProductDescription":"Linux/UNIX","SpotPrice":"{price}","Timestamp":"{time}"}}"#
        )
    };
    let rows = [
        row("2020-01-04T00:00:00.000Z", "3.060000"),
        row("2020-01-03T00:00:00.000Z", "3.060000"),
        row("2020-01-02T00:00:00.000Z", "1.530000"),
        row("2020-01-01T00:00:00.000Z", "1.530000"),
    ];
    let file = home.file(
        "h.json",
        format!(r#"{{"SpotPriceHistory":[{}]}}"#, rows.join(",")),
    );
    let doc = home.json(&["trace", "stats", &file, "--on-demand-price", "3.06"]);
    let p = &doc["prices"][0];
    assert_eq!(
        (&p["rows"], &p["repeats"], &p["price"]["changes"]),
        (&4.into(), &2.into(), &1.into())
    );
    assert!((p["price"]["mean"].as_f64().expect("mean") - 2.04).abs() < 1e-9);
    assert!((p["price"]["at_on_demand_share"].as_f64().expect("share") - 1.0 / 3.0).abs() < 1e-9);
}

#[test]
fn trap_16_one_on_demand_price_is_not_that_of_every_machine() {
    let home = Home::new();
    let stated = SERIES.replace("600}", "600,\"polarity\":\"1=available\"}");
    let k80 = home.file("us-west-2a_k80_1.json", &stated);
    let v100 = home.file("us-west-2a_v100_8.json", &stated);
    let run = home.run(&["trace", "stats", &k80, &v100, "--on-demand-price", "3.06"]);
    assert!(
        run.code == 2 && run.err.contains("k80:1, v100:8"),
        "{}",
        run.err
    );
    assert_eq!(
        home.run(&["trace", "stats", &k80, "--on-demand-price", "0.9"])
            .code,
        0
    );
}

#[test]
fn trap_22_a_bucket_says_its_time_and_gives_a_wide_range() {
    let home = Home::new();
    let aws = home.file(
        "a.json",
        r#"{"spot_advisor":{"us-east-1":{"Linux":{"p3.2xlarge":{"s":68,"r":1}}}}}"#,
    );
    let azure = home.file("z.json", r#"{"data":[{"sku":{"name":"nc24ads"},"location":"eastus","properties":{"evictionRate":"5-10"}}]}"#);
    let doc = home.json(&["trace", "stats", &aws, &azure]);
    let b = |i: usize, key: &str| doc["buckets"][i][key].as_f64().expect("a number");
    assert_eq!((b(0, "per_hours"), b(1, "per_hours")), (720.0, 1.0));
    assert!(b(0, "hazard_high_per_hour") / b(0, "hazard_low_per_hour") > 100.0);
    assert!((b(1, "hazard_low_per_hour") - 0.0513).abs() < 1e-4);
    assert_eq!(codes(&doc), ["bucket_per_month", "bucket_per_hour"]);
    let table = home.run(&["trace", "stats", &aws, &azure]).out;
    assert!(
        table.contains("per month") && table.contains("per hour"),
        "{table}"
    );
}

#[test]
fn trap_23_node_logs_have_crlf_no_header_and_shared_milliseconds() {
    let home = Home::new();
    let file = home.file(
        "cluster.csv",
        "0,add,n1\r\n0,add,n2\r\n3600000,remove,n1\r\n3600000,add,n1\r\n7200000,remove,n2\r\n",
    );
    let doc = home.json(&["trace", "stats", &file]);
    let life = &doc["lives"][0]["lifetime"];
    assert_eq!((&life["lives"], &life["ends"]), (&3.into(), &2.into()));
    assert_eq!(codes(&doc), ["censored_lives"]);
    let broken = home.file("broken.csv", "0,add,n1\r\n5,remove,n9\r\n");
    let run = home.run(&["trace", "stats", &broken]);
    assert!(run.code == 2 && run.err.contains("line 2"), "{}", run.err);
}

#[test]
fn trap_24_a_slot_is_filled_again_and_again() {
    let home = Home::new();
    let log = "\
[2020-03-01T10:00:00.000Z] Created instance instance0 with 1 GPU(s) of type nvidia-tesla-v100 in zone us-west1-b
[2020-03-01T10:00:01.000Z] Instance instance0 running in zone us-west1-b
[2020-03-01T10:12:01.000Z] Instance instance0 not running in zone us-west1-b
[2020-03-01T10:12:09.000Z] Successfully deleted instance instance0
[2020-03-01T10:13:00.000Z] Instance instance0 creation failed
[2020-03-01T10:13:01.000Z] Instance instance0 not running in zone us-west1-b
[2020-03-01T10:24:00.000Z] Created instance instance0 with 1 GPU(s) of type nvidia-tesla-v100 in zone us-west1-b
[2020-03-01T10:36:00.000Z] Instance instance0 running in zone us-west1-b
";
    let file = home.file("keep.out", log);
    let doc = home.json(&["trace", "stats", &file]);
    let l = &doc["lives"][0];
    assert_eq!(
        (&l["machine"], &l["refused"]),
        (&"nvidia-tesla-v100:1".into(), &1.into())
    );
    assert_eq!(
        (&l["lifetime"]["lives"], &l["lifetime"]["ends"]),
        (&2.into(), &1.into())
    );
    assert_eq!(codes(&doc), ["interval_censored"]);
    let run = home.run(&["trace", "stats", &file]);
    assert!(run.out.contains("12 min"), "{}", run.out);
}

#[test]
fn what_is_imported_is_listed_shown_and_told_when_missing() {
    let home = Home::new();
    let none = home.run(&["trace", "show"]);
    assert!(
        none.code == 0 && none.out.contains("trace import"),
        "{}",
        none.out
    );
    let file = home.file(
        "mine.csv",
        "time,zone,available\n2026-01-01T00:00:00Z,a,1\n2026-01-01T00:10:00Z,a,0\n",
    );
    let dry = home.json(&["trace", "import", &file, "--dry-run"]);
    assert!(dry["traces"][0]["saved"].is_null());
    let saved = home.json(&["trace", "import", &file]);
    assert_eq!(saved["traces"][0]["saved"]["name"], "mine");
    let list = home.json(&["trace", "show"]);
    assert_eq!(
        (&list["traces"][0]["name"], &list["traces"][0]["records"]),
        (&"mine".into(), &1.into())
    );
    assert_eq!(
        home.json(&["trace", "show", "mine"])["records"][0]["zone"],
        "a"
    );
    assert_eq!(
        home.json(&["trace", "stats", "mine#a"])["series"][0]["available_share"],
        0.5
    );
    let wrong = home.run(&["trace", "show", "mime"]);
    assert!(
        wrong.code == 2 && wrong.err.contains("mine"),
        "{}",
        wrong.err
    );
    let gone = home.run(&["trace", "show", "there-is-none.csv"]);
    assert!(
        gone.code == 2 && gone.err.contains("there-is-none.csv"),
        "{}",
        gone.err
    );
    // a bad file among several changes nothing
    let cut = home.file("cut.json", r#"{"metadata":{"gap_seconds":600},"data":[1,0"#);
    let both = home.run(&["trace", "import", &file, &cut]);
    assert!(
        both.code == 2 && both.err.contains("cut.json"),
        "{}",
        both.err
    );
    assert_eq!(
        home.json(&["trace", "show"])["traces"]
            .as_array()
            .expect("list")
            .len(),
        1
    );
}

#[test]
fn pictures_stand_alone_say_what_they_show_and_keep_hostile_names_harmless() {
    let home = Home::new();
    let rows = "time,zone,available,price\n2026-01-01T00:00:00Z,<script>x&y,1,0.9\n\
        2026-01-01T00:10:00Z,<script>x&y,0,1.1\n2026-01-01T00:20:00Z,<script>x&y,1,1.1\n2026-01-01T00:30:00Z,<script>x&y,0,1.1\n";
    let file = home.file("own.csv", rows);
    for lang in ["en", "zh-CN"] {
        let svg = home.path(&format!("{lang}.svg"));
        let page = home.path(&format!("{lang}.html"));
        let args = [
            "trace",
            "stats",
            &file,
            "--lang",
            lang,
            "--export",
            svg.to_str().expect("path"),
            "--export",
            page.to_str().expect("path"),
        ];
        assert_eq!(home.run(&args).code, 0);
        for path in [&svg, &page] {
            let text = std::fs::read_to_string(path).expect("written");
            assert!(
                !text.contains("<script") && !text.contains("http://")
                    || text.matches("http").count()
                        == text.matches("http://www.w3.org/2000/svg").count()
            );
            assert!(
                text.contains("<title id=")
                    && text.contains("<desc id=")
                    && text.contains("role=\"img\"")
            );
            assert!(text.contains("prefers-color-scheme:dark") && text.contains("@media print"));
            let words = if lang == "en" {
                "When instances could be had"
            } else {
                "何时能取得实例"
            };
            assert!(text.contains(words), "{lang}");
        }
    }
    let none = home.run(&[
        "catalog",
        "list",
        "--limit",
        "1",
        "--export",
        home.path("x.svg").to_str().expect("path"),
    ]);
    assert!(
        none.code == 2 && none.err.contains("picture"),
        "{}",
        none.err
    );
}

#[test]
fn what_a_file_does_not_say_of_itself_is_told_at_import() {
    let home = Home::new();
    let rows = "time,zone,available\n2026-01-01T00:00:00Z,lab,1\n2026-01-01T00:10:00Z,lab,0\n";
    let file = home.file("mine.csv", rows);
    let about = [
        "--provider",
        "aws",
        "--region",
        "us-west-2",
        "--machine",
        "V100:8",
    ];
    let import = |more: &[&str]| home.run(&[&["trace", "import", &file], more].concat());
    import(&about).exits(0);
    let shown = home.json(&["trace", "show", "mine"]);
    let record = &shown["records"][0];
    assert_eq!(
        [&record["provider"], &record["region"], &record["machine"]],
        ["aws", "us-west-2", "V100:8"]
    );
    // what it says itself stands
    let said = home.file(
        "mine.csv",
        rows.replace("available", "available,machine")
            .replace(",1\n", ",1,p3.16xlarge\n")
            .replace(",0\n", ",0,p3.16xlarge\n"),
    );
    let against = home.run(&["trace", "import", &said, "--machine", "p3.2xlarge"]);
    assert_eq!(against.code, 2);
    assert!(
        against.err.contains("p3.16xlarge") && against.err.contains("--machine"),
        "{}",
        against.err
    );
    home.run(&["trace", "import", &said, "--machine", "P3.16xlarge"])
        .exits(0);
    assert_eq!(
        home.run(&["trace", "import", &said, "--provider", " "])
            .code,
        2
    );
}

#[test]
fn a_trace_of_another_file_is_not_replaced_unasked() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("a")).expect("folder");
    std::fs::create_dir_all(home.path("b")).expect("folder");
    let text = SERIES.replace("600}", "600,\"polarity\":\"1=available\"}");
    let first = home.file("a/p3.2xlarge.json", &text);
    let second = home.file("b/p3.2xlarge.json", &text);
    home.run(&["trace", "import", &first]).exits(0);
    // a name with a dot is a name
    home.run(&["trace", "show", "p3.2xlarge"]).exits(0);
    home.run(&["trace", "import", &second])
        .says(2, &["p3.2xlarge", "a/p3.2xlarge.json", "--name"]);
    home.run(&["trace", "import", &first]).exits(0);
    let replaced = home
        .run(&["trace", "import", &second, "--name", "p3.2xlarge"])
        .exits(0);
    assert!(
        replaced.err.contains("a/p3.2xlarge.json"),
        "{}",
        replaced.err
    );
    home.run(&["trace", "show", "no.such"])
        .says(2, &["no.such"]);
}
