//! `simulate` through the front door: our own small records, and the published sets where they lie beside the
//! checkout. The traps of such data that concern a replay are tests here.

mod common;

use common::{Home, example, records};
use serde_json::Value;
use std::collections::BTreeMap;

/// Ten-minute samples of one zone, as our own CSV.
fn record(samples: &str) -> String {
    let mut out = String::from("time,zone,available\n");
    for (i, c) in samples.chars().enumerate() {
        let up = if c == '?' {
            String::new()
        } else {
            c.to_string()
        };
        out.push_str(&format!("{},us-east-1a,{up}\n", 1_700_000_000 + 600 * i));
    }
    out
}

const PRICES: [&str; 4] = ["--spot-price", "1", "--on-demand-price", "3"];

/// `simulate` on one trace with hours of work, deadline and overhead.
fn args<'a>(trace: &'a str, hours: [&'a str; 3], more: &[&'a str]) -> Vec<&'a str> {
    let mut out = vec!["simulate", "--trace", trace];
    for (flag, value) in ["--job-hours", "--deadline-hours", "--overhead-hours"]
        .into_iter()
        .zip(hours)
    {
        out.extend([flag, value]);
    }
    out.extend(more);
    out
}

fn cost(job: &Value) -> f64 {
    assert_eq!(job["cost"]["currency"], "USD");
    job["cost"]["amount"]
        .as_str()
        .expect("text")
        .parse()
        .expect("a number")
}

fn codes(doc: &Value) -> Vec<&str> {
    let notes = doc["notes"].as_array().expect("notes");
    notes.iter().filter_map(|n| n["code"].as_str()).collect()
}

#[test]
fn a_job_costs_what_can_be_added_up_by_hand() {
    let home = Home::new();
    // six ticks up, three down, then up to the end
    let file = home.file("z.csv", record(&format!("111111000{}", "1".repeat(30))));
    let more = [
        &PRICES[..],
        &["--start-tick", "0,3", "--policy", "greedy,on-demand"],
    ]
    .concat();
    let doc = home.json(&args(&file, ["2", "5", "0.25"], &more));
    assert_eq!(doc["schema"], "lessee/simulate/v1");
    let jobs = doc["jobs"].as_array().expect("jobs");
    assert_eq!(jobs.len(), 4);
    let keys = [
        "policy",
        "trace",
        "start_tick",
        "cost",
        "on_demand_hours",
        "spot_hours",
        "wasted_hours",
        "interruptions",
        "moves",
        "finish_hours",
        "late",
    ];
    for key in keys {
        assert!(!jobs[0][key].is_null(), "{key}");
    }
    // 60 min of spot less 15 of start, lost; 75 min left and 15 of start: 9 ticks from tick 9 on
    let greedy = &jobs[0];
    assert_eq!(
        (&greedy["policy"], &greedy["trace"]),
        (&"greedy".into(), &file.as_str().into())
    );
    assert!((cost(greedy) - 15.0 / 6.0).abs() < 1e-9, "{greedy}");
    assert_eq!(greedy["interruptions"], 1);
    assert_eq!(greedy["wasted_hours"], 0.5);
    assert_eq!(greedy["spot_hours"], 2.5);
    assert_eq!(greedy["finish_hours"], 3.0);
    assert_eq!(greedy["late"], false);
    assert_eq!(jobs[2]["start_tick"], 3);
    // 2 h 15 min on whole ticks
    assert!(
        (cost(&jobs[1]) - 14.0 * 3.0 / 6.0).abs() < 1e-9,
        "{}",
        jobs[1]
    );
    let policy = &doc["policies"][1];
    assert_eq!(
        (&policy["policy"], &policy["saving"]),
        (&"on-demand".into(), &0.0.into())
    );
    assert!(codes(&doc).contains(&"overhead_not_whole_ticks"));
    let csv = home.run(&[&args(&file, ["2", "5", "0.25"], &more)[..], &["-o", "csv"]].concat());
    assert_eq!(csv.exits(0).out.lines().count(), 5);
}

#[test]
fn each_machine_is_rounded_up_to_what_is_billed() {
    let home = Home::new();
    // the same as above: machines of 60 and 90 minutes on spot, of 140 on demand
    let file = home.file("z.csv", record(&format!("111111000{}", "1".repeat(30))));
    let billed = |seconds: &[&str]| {
        let more = [
            &PRICES[..],
            &["--start-tick", "0", "--policy", "greedy,on-demand,optimum"],
            seconds,
        ]
        .concat();
        home.json(&args(&file, ["2", "5", "0.25"], &more))
    };
    let costs = |doc: &Value| [0, 1, 2].map(|i| (cost(&doc["jobs"][i]) * 1e6).round() / 1e6);
    let (ticks, hours) = (billed(&[]), billed(&["--billing-seconds", "3600"]));
    assert_eq!(costs(&ticks)[..2], [2.5, 7.0]);
    assert_eq!(costs(&hours)[..2], [1.0 + 2.0, 9.0]);
    assert_eq!(costs(&ticks)[2], costs(&hours)[2], "a bound");
    assert_eq!(hours["job"]["billing_seconds"], 3600.0);
    assert!(ticks["job"]["billing_seconds"].is_null());
    let parts = &hours["jobs"][0]["cost_parts"];
    assert_eq!(parts["spot"]["amount"], "3.00", "{parts}");
    // what a tick bills already is not billed again
    assert_eq!(costs(&billed(&["--billing-seconds", "60"])), costs(&ticks));
    for bad in ["0", "x", "nan", "1e300"] {
        let more = [&PRICES[..], &["--billing-seconds", bad]].concat();
        let run = home.run(&args(&file, ["2", "5", "0.25"], &more));
        assert!(
            run.code == 2 && run.err.contains("--billing-seconds"),
            "{bad}: {}",
            run.err
        );
    }
}

#[test]
fn a_checkpoint_that_takes_time_to_move_is_waited_for() {
    let home = Home::new();
    let zone = |name: &str, samples: &str| record(samples).replace("us-east-1a", name);
    // the first goes after an hour, the second is there from then on
    let a = home.file(
        "a.csv",
        zone("us-east-1a", &format!("111111{}", "0".repeat(40))),
    );
    let b = home.file(
        "b.csv",
        zone("eu-west-1a", &format!("000000{}", "1".repeat(40))),
    );
    let job = |more: &[&str]| {
        let fixed = [
            "--trace",
            &b,
            "--zones",
            "--start-tick",
            "0",
            "--policy",
            "greedy",
            "--checkpoint-gb",
            "100",
            "--transfer-price",
            "0.02",
        ];
        let more = [&PRICES[..], &fixed, more].concat();
        home.json(&args(&a, ["2", "6", "0"], &more))["jobs"][0].clone()
    };
    let (at_once, slow) = (job(&[]), job(&["--transfer-seconds", "18"]));
    assert_eq!((&at_once["moves"], &slow["moves"]), (&1.into(), &1.into()));
    assert_eq!(at_once["finish_hours"], 2.0);
    // 1,800 s paid for on the way, and 2 USD for 100 GB
    assert_eq!(slow["finish_hours"], 2.5);
    assert_eq!(slow["wasted_hours"], 0.5);
    assert!((cost(&at_once) - 4.0).abs() < 1e-9 && (cost(&slow) - 4.5).abs() < 1e-9);
}

#[test]
fn histories_that_could_have_been_are_drawn_and_called_so() {
    let home = Home::new();
    let file = home.file("z.csv", record(&"111110001111111000".repeat(40)));
    let draw = |n: &str, more: &[&str]| {
        let fixed = [
            "--resample",
            n,
            "--block-hours",
            "6",
            "--policy",
            "lessee,greedy",
        ];
        let more = [&PRICES[..], &fixed, more].concat();
        home.run(&args(
            &file,
            ["10", "16", "0.2"],
            &[&more[..], &["-o", "json"]].concat(),
        ))
    };
    let doc = draw("300", &[]).exits(0).json();
    assert_eq!(doc["jobs"].as_array().map(Vec::len), Some(600));
    assert!(codes(&doc).contains(&"drawn_from_record"));
    assert_eq!(doc["policies"][0]["late"], 0);
    assert_eq!(doc, draw("300", &[]).exits(0).json());
    // more histories than the record has room for, and so a wider range than its own starts show
    let costs: Vec<f64> = doc["jobs"]
        .as_array()
        .expect("jobs")
        .iter()
        .map(cost)
        .collect();
    let ends = costs.iter().fold((f64::MAX, 0.0), |(a, b), c| {
        (f64::min(a, *c), f64::max(b, *c))
    });
    assert!(ends.1 > 1.1 * ends.0, "{ends:?}");
    draw("300", &["--start-tick", "0"]).says(2, &["--start-tick"]);
    draw("1", &[]).says(2, &["--resample"]);
    draw("100000", &["--deadline-hours", "100"]).says(2, &[]);
    let brief = home.file("b.csv", record(&"1".repeat(20)));
    let run = home.run(&args(
        &brief,
        ["10", "16", "0.2"],
        &[&PRICES[..], &["--resample", "10"]].concat(),
    ));
    assert_eq!(run.code, 2, "{}", run.err);
}

#[test]
fn starts_are_chosen_and_said_and_one_job_can_be_explained() {
    let home = Home::new();
    let file = home.file("z.csv", record(&"1110".repeat(300)));
    let more = [
        &PRICES[..],
        &["--policy", "uniform-progress,optimum", "--explain"],
    ]
    .concat();
    let doc = home.json(&args(&file, ["2", "4", "0.1"], &more));
    let market = &doc["markets"][0];
    // 1,200 ticks less 24 of the deadline: 1,177 starts, each sixth
    assert_eq!(
        (&market["stride"], &market["starts"]),
        (&6.into(), &197.into())
    );
    assert!(codes(&doc).contains(&"starts_chosen"));
    let line = &doc["timeline"];
    assert_eq!(
        (&line["policy"], &line["start_tick"]),
        (&"uniform-progress".into(), &0.into())
    );
    let segments = line["segments"].as_array().expect("segments");
    assert_eq!(segments[0]["running"], "spot");
    assert!(segments.iter().any(|s| s["interrupted"] == true));
    let sum: f64 = segments.iter().map(cost).sum();
    assert!((sum - cost(line)).abs() < 1e-9);
    for (lang, words) in [("en", "What happened"), ("zh-CN", "抢占式被收回")] {
        let all = [
            &args(&file, ["2", "4", "0.1"], &more)[..],
            &["--lang", lang],
        ]
        .concat();
        let run = home.run(&all).exits(0);
        assert!(run.out.contains(words), "{}", run.out);
        let wide = run.out.lines().find(|l| {
            let width = |c: char| if c as u32 > 0x2e80 { 2 } else { 1 };
            l.chars().map(width).sum::<usize>() > 80
        });
        assert_eq!(wide, None);
    }
}

#[test]
fn what_cannot_be_kept_or_known_is_refused_with_a_way_out() {
    let home = Home::new();
    let file = home.file("z.csv", record(&"1".repeat(60)));
    let run = |hours, more: &[&str]| home.run(&args(&file, hours, more));
    // 13: infeasible, no cost
    let none = run(["10", "10", "0.1"], &PRICES);
    none.says(1, &["10 h of work", "0.1 h", "not even on demand"]);
    assert_eq!(none.out, "");
    // 9: longer than the record
    run(["10", "11", "0.1"], &PRICES).says(2, &["10 h long", "ticks: 60", "11 h"]);
    let late = [&PRICES[..], &["--start-tick", "0,31"]].concat();
    run(["2", "5", "0.1"], &late).says(2, &["tick 31", "last start that fits is tick 30"]);
    // 12: no prices
    run(["2", "5", "0.1"], &["--on-demand-price", "3"]).says(2, &["no spot price", "--spot-price"]);
    run(["2", "5", "0.1"], &["--spot-price", "3"]).says(2, &["on-demand price"]);
    // 5: one machine says nothing of four
    run(["2", "5", "0.1"], &[&PRICES[..], &["--gang", "4"]].concat())
        .says(2, &["at most 1", "whether 4"]);
    run(
        ["2", "5", "0.1"],
        &[&PRICES[..], &["--policy", "gredy"]].concat(),
    )
    .says(2, &["greedy"]);
    home.run(&["simulate", "--trace", &file])
        .says(2, &["--job-hours"]);
    home.run(&["simulate", "--job-hours", "1"])
        .says(2, &["--trace"]);
    let counts = home.file(
        "p.csv",
        "time,zone,available,price\n0,a,1,1\n600,a,1,\n1200,a,1,1\n1800,a,1,1\n",
    );
    home.run(&args(
        &counts,
        ["0.2", "0.4", "0"],
        &["--on-demand-price", "3", "--start-tick", "0"],
    ))
    .says(2, &["tick 1", "1970-01-01T00:10:00Z", "no spot price"]);
}

#[test]
fn figures_beyond_reason_are_refused_or_left_out() {
    let home = Home::new();
    let trace = home.file("up.csv", record(&"1".repeat(200)));
    let hours = ["20", "30", "0.2"];
    for flag in ["--spot-price", "--on-demand-price", "--transfer-price"] {
        home.run(&args(&trace, hours, &[flag, "1e308"]))
            .says(2, &[flag]);
    }
    // saves ten thousand times as frequent as ticks are counted, not walked through
    let more = [
        &PRICES[..],
        &["--save-every-hours", "0.000001", "--policy", "greedy"],
    ]
    .concat();
    let run = home.run(&args(&trace, hours, &more));
    assert_eq!(run.code, 0, "{}", run.err);
    // a day and a half in ticks of a second: the optimum would need gigabytes
    let mut seconds = String::from("time,zone,available\n");
    for i in 0..130_000 {
        seconds.push_str(&format!("{},z,1\n", 1_700_000_000 + i));
    }
    let trace = home.file("seconds.csv", &seconds);
    let more = [
        &PRICES[..],
        &["--start-tick", "0", "--policy", "optimum,greedy"],
    ]
    .concat();
    let doc = home.json(&args(&trace, hours, &more));
    assert!(codes(&doc).contains(&"optimum_too_large"));
    let named = |job: &Value| job["policy"] == "greedy";
    assert!(doc["jobs"].as_array().expect("jobs").iter().all(named));
}

/// Trap 10: a start of many ticks, ticks of 30 s, a start that ends within a tick.
#[test]
fn a_start_may_be_longer_than_a_tick_or_end_within_one() {
    let home = Home::new();
    let rows: String = (0..400).map(|i| format!("{},a,1\n", 30 * i)).collect();
    let file = home.file("z.csv", format!("time,zone,available\n{rows}"));
    let more = ["--policy", "greedy,on-demand,optimum", "--start-tick", "0"];
    let more = [&PRICES[..], &more].concat();
    for (overhead, ticks) in [("0.2", 144.0), ("0.204", 145.0), ("0", 120.0)] {
        let doc = home.json(&args(&file, ["1", "2.5", overhead], &more));
        let jobs = doc["jobs"].as_array().expect("jobs");
        for (job, price) in jobs.iter().zip([1.0, 3.0, 1.0]) {
            assert!((cost(job) - price * ticks / 120.0).abs() < 1e-9, "{job}");
        }
        let wasted = jobs[0]["wasted_hours"].as_f64().expect("hours");
        assert!((wasted - overhead.parse::<f64>().expect("hours")).abs() < 1e-6);
        let said = codes(&doc).contains(&"overhead_not_whole_ticks");
        assert_eq!(said, overhead == "0.204");
    }
}

#[test]
fn polarity_is_asked_about_and_both_readings_differ() {
    let home = Home::new();
    let data = "1,1,1,0".to_owned() + &",1,1,1,0".repeat(30);
    let json = format!("{{\"metadata\":{{\"gap_seconds\":600}},\"data\":[{data}]}}");
    let file = home.file("z.json", json);
    let hours = ["2", "10", "0.1"];
    home.run(&args(&file, hours, &PRICES))
        .says(2, &["--polarity"]);
    let cost_of = |polarity| {
        let more = [
            &PRICES[..],
            &[
                "--policy",
                "greedy",
                "--start-tick",
                "0",
                "--polarity",
                polarity,
            ],
        ];
        cost(&home.json(&args(&file, hours, &more.concat()))["jobs"][0])
    };
    assert!(cost_of("available") < cost_of("unavailable"));
}

#[test]
fn holes_and_nulls_are_not_available_and_windows_that_touch_them_say_so() {
    let home = Home::new();
    let file = home.file("z.csv", record(&format!("111??1{}", "1".repeat(40))));
    let more = [&PRICES[..], &["--policy", "greedy", "--start-tick", "0,6"]].concat();
    let doc = home.json(&args(&file, ["2", "5", "0"], &more));
    let jobs = doc["jobs"].as_array().expect("jobs");
    assert_eq!(jobs[0]["interruptions"], 1);
    assert!((jobs[0]["unknown_hours"].as_f64().expect("hours") - 1.0 / 3.0).abs() < 1e-9);
    assert_eq!(jobs[1]["unknown_hours"], 0.0);
    assert!(codes(&doc).contains(&"window_touches_hole"));
    assert_eq!(doc["markets"][0]["zones"][0]["unknown_ticks"], 2);
    // 8: a probe that is late is no hole, two that are missing are one
    let times = [0, 600, 1_400, 2_000, 3_800, 4_400, 5_000];
    let rows: String = times.iter().map(|t| format!("{t},a,1\n")).collect();
    let file = home.file("late.csv", format!("time,zone,available\n{rows}"));
    let more = [&PRICES[..], &["--start-tick", "0"]].concat();
    let doc = home.json(&args(&file, ["0.5", "1", "0"], &more));
    let market = &doc["markets"][0];
    assert_eq!(
        (&market["ticks"], &market["zones"][0]["unknown_ticks"]),
        (&9.into(), &2.into())
    );
}

#[test]
fn copies_of_one_recording_are_named_and_no_diversification() {
    let home = Home::new();
    let samples = "1101001110101011".repeat(4);
    let a = home.file("a.csv", record(&samples));
    let b = home.file(
        "b.csv",
        record(&samples).replace("us-east-1a", "us-east-1b"),
    );
    let more = [&["--trace", &b][..], &PRICES, &["--policy", "greedy"]].concat();
    let hours = ["2", "5", "0.1"];
    let zones = home.json(&args(&a, hours, &[&more[..], &["--zones"]].concat()));
    assert_eq!(
        zones["markets"][0]["zones"]
            .as_array()
            .expect("zones")
            .len(),
        1
    );
    assert!(codes(&zones).contains(&"identical_zones"));
    let each = home.json(&args(&a, hours, &more));
    assert_eq!(each["markets"].as_array().expect("markets").len(), 2);
    assert!(codes(&each).contains(&"identical_zones"));
}

#[test]
fn spot_at_or_above_on_demand_is_never_chosen() {
    let home = Home::new();
    let file = home.file("z.csv", record(&"1110".repeat(20)));
    let prices = [
        "--spot-price",
        "3",
        "--on-demand-price",
        "3",
        "--start-tick",
        "0",
    ];
    let doc = home.json(&args(&file, ["2", "5", "0.1"], &prices));
    assert!(codes(&doc).contains(&"spot_at_or_above_on_demand"));
    for job in doc["jobs"].as_array().expect("jobs") {
        assert_eq!(job["spot_hours"], 0.0, "{job}");
    }
}

#[test]
fn a_gang_of_sixteen_is_not_one_of_sixteen_and_prices_are_per_what() {
    let Some(counts) = records("h100-gcp-2025-10/counts.csv") else {
        return;
    };
    let home = Home::new();
    let zone = format!("{counts}#europe-west1-c");
    let share = |gang: &str| {
        let more = [
            &PRICES[..],
            &["--gang", gang, "--policy", "greedy", "--start-tick", "0"],
        ];
        let doc = home.json(&args(&zone, ["24", "48", "0.2"], &more.concat()));
        assert!(codes(&doc).contains(&"holes"));
        let zone = &doc["markets"][0]["zones"][0];
        assert_eq!(zone["unknown_ticks"], 10);
        zone["available_share"].as_f64().expect("share")
    };
    assert!((share("1") - 0.879).abs() < 0.001);
    assert!((share("16") - 0.008).abs() < 0.001);
    // 6: the price of eight GPUs beside a probe of one
    let full =
        records("h100-gcp-2025-10/merged_full/us-west1-a_h100_16/full.json").expect("beside it");
    home.run(&args(&full, ["24", "48", "0.2"], &[]))
        .says(2, &["a3-highgpu-8g", "--spot-price"]);
    let given = [&PRICES[..], &["--policy", "greedy", "--start-tick", "5"]].concat();
    home.json(&args(&full, ["24", "48", "0.2"], &given));
    // no column of that name
    home.run(&args(
        &format!("{counts}#mars-1"),
        ["24", "48", "0.2"],
        &PRICES,
    ))
    .says(2, &["mars-1"]);
}

#[test]
fn zones_of_one_job_share_their_clock_and_own_prices() {
    let (Some(a), Some(b)) = (
        records("v100-aws-2023-02/availability/us-east-2b_v100_1.csv"),
        records("v100-aws-2023-02/availability/us-west-2a_v100_1.csv"),
    ) else {
        return;
    };
    let home = Home::new();
    let more = [
        "--trace",
        &b,
        "--zones",
        "--on-demand-price",
        "3.06",
        "--start-tick",
        "0,98",
        "--checkpoint-gb",
        "50",
        "--transfer-price",
        "0.02",
        "--policy",
        "greedy,uniform-progress,optimum",
    ];
    let doc = home.json(&args(&a, ["24", "36", "0.2"], &more));
    let market = &doc["markets"][0];
    assert_eq!(market["zones"].as_array().expect("zones").len(), 2);
    assert!((market["tick_seconds"].as_f64().expect("s") - 195.0).abs() < 1e-9);
    let jobs = doc["jobs"].as_array().expect("jobs");
    assert_eq!(jobs.len(), 6);
    for three in jobs.chunks(3) {
        assert!(
            three.iter().all(|j| cost(&three[2]) <= cost(j) + 1e-9),
            "{three:?}"
        );
    }
    assert!(jobs.iter().any(|j| j["moves"].as_u64() > Some(0)));
}

#[test]
fn a_workload_on_a_machine_of_the_catalog_becomes_a_job() {
    let home = Home::new();
    let file = home.file("z.csv", record(&"111110".repeat(120)));
    let workload = example("imagenet-resnet50.toml");
    let base = [
        "simulate", &workload, "--trace", &file, "--policy", "greedy",
    ];
    fn with<'a>(base: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
        [base, more].concat()
    }
    let offer = [
        "--offer",
        "aws/p3.2xlarge",
        "--deadline-hours",
        "90",
        "--spot-price",
        "1",
    ];
    let doc = home.json(&with(&base, &offer));
    let predicted = home.json(&["predict", &workload, "--machine", "aws/p3.2xlarge"]);
    let seconds = predicted["predictions"][0]["work"]["duration_seconds"].as_f64();
    let hours = doc["job"]["work_hours"].as_f64().expect("hours");
    assert!(
        (hours - seconds.expect("seconds") / 3600.0).abs() < 1e-3,
        "{hours}"
    );
    // boot and restart at each start; set-up once, off the deadline
    let field = |name: &str| doc["job"][name].as_f64().expect("hours");
    assert!(
        (0.01..0.5).contains(&field("overhead_hours")),
        "{}",
        doc["job"]
    );
    assert!(
        (88.0..90.0).contains(&field("deadline_hours")),
        "{}",
        doc["job"]
    );
    assert!(field("save_every_hours") > 0.0, "{}", doc["job"]);
    assert!(doc["job"]["checkpoint_gb"].as_f64() > Some(0.0));
    for code in ["from_workload", "prices_of_offer"] {
        assert!(codes(&doc).contains(&code), "{code}");
    }
    assert_eq!(
        doc["markets"][0]["zones"][0]["on_demand_price"]["amount"],
        "3.06"
    );
    let given = [
        &offer[..],
        &["--job-hours", "10", "--overhead-hours", "0.5"],
    ]
    .concat();
    let doc = home.json(&with(&base, &given));
    assert_eq!(doc["job"]["work_hours"], 10.0);
    assert!(codes(&doc).contains(&"hours_given"));
    let limits = [&offer[..], &["--no-spot", "--budget", "5USD"]].concat();
    let doc = home.json(&with(&base, &limits));
    for code in ["spot_not_allowed", "budget_not_compared"] {
        assert!(codes(&doc).contains(&code), "{code}");
    }
    home.run(&with(&base, &PRICES))
        .says(2, &["--offer", "--gpu"]);
    home.run(&with(&base, &["--offer", "aws/p3.2xlarg"]))
        .says(2, &["p3.2xlarge"]);
    let serve = example("serve-8b.toml");
    home.run(&["simulate", &serve, "--trace", &file, "--gpu", "H100"])
        .says(2, &["no end"]);
}

/// The 1,080 jobs of the public leaderboard, by as many invocations as there are settings.
#[test]
fn the_means_of_the_benchmark() {
    let (Some(windows), Some(benchmark)) = (
        records("aws-2022-10/cbl_windows.csv"),
        records("aws-2022-10/benchmark_1080.csv"),
    ) else {
        return;
    };
    let rows = |path: &str| -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(path).expect("text");
        let lines = text.lines().skip(1);
        lines
            .map(|l| l.split(',').map(str::to_owned).collect())
            .collect()
    };
    let starts: BTreeMap<(String, String), String> = rows(&windows)
        .into_iter()
        .map(|r| ((r[0].clone(), r[1].clone()), r[2].clone()))
        .collect();
    // series, deadline, overhead -> start ticks
    let mut jobs: BTreeMap<(String, String, String), Vec<String>> = BTreeMap::new();
    for row in rows(&benchmark).iter().filter(|r| r[4] == "on_demand") {
        let key = (row[0].clone(), row[2].clone(), row[3].clone());
        let start = starts[&(row[0].clone(), row[1].clone())].clone();
        jobs.entry(key).or_default().push(start);
    }
    let home = Home::new();
    let mut sums: BTreeMap<String, (usize, f64)> = BTreeMap::new();
    for ((series, deadline, overhead), ticks) in &jobs {
        let trace = records(&format!("aws-2022-10/{series}.json")).expect("beside it");
        let ticks = ticks.join(",");
        let more = [
            "--spot-price",
            "0.9731",
            "--on-demand-price",
            "3.06",
            "--start-tick",
            &ticks,
            "--policy",
            "on-demand,greedy,uniform-progress,optimum",
        ];
        let doc = home.json(&args(&trace, ["48", deadline, overhead], &more));
        for job in doc["jobs"].as_array().expect("jobs") {
            assert_eq!(job["late"], false, "{job}");
            let policy = job["policy"].as_str().expect("policy").to_owned();
            let sum = sums.entry(policy).or_default();
            *sum = (sum.0 + 1, sum.1 + cost(job));
        }
    }
    for (policy, mean) in [
        ("on-demand", 147.39),
        ("greedy", 119.03),
        ("uniform-progress", 101.68),
        ("optimum", 92.16),
    ] {
        let (n, sum) = sums[policy];
        assert_eq!(n, 1080);
        assert!(
            (sum / n as f64 - mean).abs() < 0.01,
            "{policy}: {}",
            sum / n as f64
        );
    }
}
