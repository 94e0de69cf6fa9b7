//! `plan` on records of spot markets, through the front door: small records of our own, and the published sets where
//! they lie beside the checkout.

mod common;

use common::{Home, Run, records};
use serde_json::Value;

const OFFERS: &str =
    "provider,region,instance_type,gpu,gpu_count,purchase,price_per_hour,currency,as_of
aws,us-west-2,p3.2xlarge,V100 16GB,1,on_demand,3.06,USD,2026-11-20
aws,us-west-2,p3.2xlarge,V100 16GB,1,spot,0.9731,USD,2026-11-20
";

/// 40 hours on one GPU, saved every 20 minutes.
const HOURS: &str = r#"
kind = "hours"
[hours]
gpu = "V100"
gpus = 1
gpu_hours = 40
[checkpoint]
every = "20min"
size = "50GB"
[constraints]
gpus = ["V100"]
providers = ["aws"]
regions = ["us-west-2"]
deadline = "60h"
spot = true
"#;

/// Our own CSV: `hours` of ticks of 10 minutes; up while `up` says so.
fn record(zone: &str, machine: &str, hours: usize, up: impl Fn(usize) -> bool) -> String {
    let mut text = "time,zone,available,machine\n".to_owned();
    for tick in 0..hours * 6 {
        let time = 1_700_000_000 + tick * 600;
        text.push_str(&format!("{time},{zone},{},{machine}\n", u8::from(up(tick))));
    }
    text
}

/// Two hours up, one away.
fn two_of_three(tick: usize) -> bool {
    tick % 18 < 12
}

fn home() -> (Home, String) {
    let home = Home::new();
    home.import("offers", OFFERS);
    let workload = home.file("hours.toml", HOURS);
    (home, workload)
}

fn plan(home: &Home, workload: &str, more: &[&str]) -> Value {
    home.json(&[&["plan", workload], more].concat())
}

/// The option that is paid in this way.
fn option<'a>(plan: &'a Value, purchase: &str) -> Option<&'a Value> {
    let options = plan["options"].as_array().expect("options");
    options.iter().find(|o| o["purchase"] == purchase)
}

fn number(value: &Value) -> f64 {
    let text = value.as_str().map(str::to_owned);
    value
        .as_f64()
        .or_else(|| text?.parse().ok())
        .unwrap_or_else(|| panic!("no number: {value}"))
}

fn total(option: &Value) -> f64 {
    number(&option["bill"]["total"]["amount"])
}

#[test]
fn a_record_that_speaks_for_the_offer_decides_its_bill() {
    let (home, workload) = home();
    let rate = plan(&home, &workload, &[]);
    let file = home.file(
        "r.csv",
        record("us-west-2a", "p3.2xlarge", 600, two_of_three),
    );
    let replayed = plan(&home, &workload, &["--trace", &file]);
    let (rate, spot) = (
        option(&rate, "spot").expect("by the rate"),
        option(&replayed, "spot").expect("replayed"),
    );
    let judged = &spot["spot"];
    assert_eq!(judged["basis"], "measured");
    assert_eq!(judged["starts"], 100);
    assert_ne!(judged["policy"], "on-demand");
    assert_eq!(judged["meets_deadline_share"], 1.0);
    assert!(judged["source"].as_str().expect("source").contains("r.csv"));
    // a third of the time is waited for or paid on demand; the rate of the advisor knows nothing of that
    let away = number(&judged["waiting_hours_mean"]) + number(&judged["on_demand_hours_mean"]);
    assert!((8.0..25.0).contains(&away), "{judged}");
    assert!(total(spot) > total(rate) && total(spot) < 40.0 * 3.06);
    // what is lost is in the lines, to the hour
    let lines = spot["bill"]["lines"].as_array().expect("lines");
    let hours = |kind: &str| -> f64 {
        let of = lines.iter().filter(|l| l["kind"] == kind);
        of.filter(|l| l["unit"] == "instance-hour")
            .map(|l| number(&l["quantity"]))
            .sum()
    };
    let lost = number(&judged["lost_hours_mean"]);
    assert!((hours("interruption") - lost).abs() < 0.01, "{lines:?}");
    let duration = number(&spot["work"]["duration_seconds"]) / 3600.0;
    assert!(duration <= 60.0);
    assert_eq!(spot["interruptions"], judged["interruptions_mean"]);
    assert!(number(&judged["checkpoint_interval_seconds"]) > 60.0);
    // 50 GB at 1 GB/s or the network's rate fit into the two minutes of AWS; in the background a save stops nothing
    let saves = &judged["saves"];
    assert!(
        (50.0..=120.0).contains(&number(&saves["save_seconds"])),
        "{saves}"
    );
    assert_eq!(
        (number(&saves["notice_seconds"]), &saves["fits_notice"]),
        (120.0, &Value::Bool(true))
    );
    assert!(number(&saves["background_every_seconds"]) < number(&saves["stopping_every_seconds"]));
    // the same again, to the byte but for nothing
    assert_eq!(
        replayed["options"],
        plan(&home, &workload, &["--trace", &file])["options"]
    );
}

#[test]
fn without_a_record_the_range_of_the_rate_is_told() {
    let (home, workload) = home();
    let plan = plan(&home, &workload, &[]);
    let spot = option(&plan, "spot").expect("spot");
    let judged = &spot["spot"];
    assert_ne!(judged["basis"], "measured");
    assert_eq!(judged["policy"], Value::Null);
    assert_eq!(judged["meets_deadline_share"], Value::Null);
    let low = number(&judged["cost_low"]["amount"]);
    assert!(low < total(spot), "{judged}");
    if let Some(high) = judged["cost_high"].as_object() {
        assert!(number(&high["amount"]) > total(spot));
    }
    assert!(
        option(&plan, "on_demand")
            .expect("on demand")
            .get("spot")
            .is_none()
    );
}

#[test]
fn the_users_own_traces_are_used_without_being_named() {
    let (home, workload) = home();
    let file = home.file(
        "mine.csv",
        record("us-west-2a", "V100:1", 600, two_of_three),
    );
    home.run(&["trace", "import", &file]).exits(0);
    let plan = plan(&home, &workload, &[]);
    let spot = option(&plan, "spot").expect("spot");
    assert_eq!(spot["spot"]["basis"], "measured");
}

#[test]
fn a_record_of_another_place_or_machine_speaks_for_nothing_and_is_told_of() {
    let (home, workload) = home();
    for (zone, machine) in [
        ("us-east-1a", "p3.2xlarge"),
        ("us-west-2a", "p3.16xlarge"),
        ("us-west-2a", "V100:8"),
        ("us-west-2a", "A100:1"),
        ("us-west-2a", ""),
        ("lab", "p3.2xlarge"),
    ] {
        let file = home.file("r.csv", record(zone, machine, 600, two_of_three));
        let run = home.run(&["plan", &workload, "--trace", &file, "-o", "json"]);
        let spot = run.json();
        let spot = option(&spot, "spot").expect("spot");
        assert_ne!(spot["spot"]["basis"], "measured", "{zone} {machine}");
        // the built-in catalog may know an offer elsewhere that it speaks for
        if zone == "lab" || machine.is_empty() {
            assert!(run.err.contains("speaks for no offer"), "{}", run.err);
        }
    }
    // a provider that is said wins over the shape of the name
    let other = record("us-west-2a", "p3.2xlarge", 600, two_of_three)
        .replace("available,machine", "available,machine,provider")
        .replace(",p3.2xlarge\n", ",p3.2xlarge,alibaba\n");
    let file = home.file("r.csv", other);
    let spot = plan(&home, &workload, &["--trace", &file]);
    assert_ne!(
        option(&spot, "spot").expect("spot")["spot"]["basis"],
        "measured"
    );
}

#[test]
fn a_record_for_what_is_not_shown_is_told_of() {
    let (home, workload) = home();
    let file = home.file(
        "r.csv",
        record("us-west-2a", "p3.2xlarge", 600, two_of_three),
    );
    let args = ["plan", &workload, "--trace", &file];
    assert!(!home.run(&args).exits(0).err.contains("decided nothing"));
    let run = home.run(&[&args[..], &["--no-spot"]].concat());
    assert!(
        run.err.contains("decided nothing") && run.err.contains("aws/p3.2xlarge@us-west-2"),
        "{}",
        run.err
    );
}

#[test]
fn spot_that_is_never_there_is_not_ranked() {
    let (home, workload) = home();
    let file = home.file(
        "r.csv",
        record("us-west-2a", "p3.2xlarge", 600, |t| t % 60 == 0),
    );
    let plan = plan(&home, &workload, &["--trace", &file]);
    assert!(option(&plan, "spot").is_none());
    assert!(option(&plan, "on_demand").is_some());
    let unranked = plan["unranked"].as_array().expect("unranked");
    let told = |u: &&Value| u["purchase"] == "spot" && u["reason"]["code"] == "spot_does_not_pay";
    assert!(unranked.iter().any(|u| told(&u)), "{unranked:?}");
    let why = home.run(&[
        "plan",
        &workload,
        "--trace",
        &file,
        "--why-not",
        "aws/p3.2xlarge@us-west-2",
    ]);
    assert_eq!(why.code, 0, "{}", why.err);
}

#[test]
fn what_cannot_be_replayed_says_why() {
    let (home, workload) = home();
    let short = home.file(
        "short.csv",
        record("us-west-2a", "p3.2xlarge", 30, two_of_three),
    );
    let plan = plan(&home, &workload, &["--trace", &short]);
    let spot = option(&plan, "spot").expect("spot");
    assert_ne!(spot["spot"]["basis"], "measured");
    let warnings = spot["warnings"].as_array().expect("warnings");
    let text = warnings
        .iter()
        .find(|w| w["code"] == "spot_not_replayed")
        .and_then(|w| w["text"].as_str())
        .expect("told");
    assert!(text.contains("it lasts"), "{text}");
}

#[test]
fn prices_alone_are_no_record_to_replay() {
    let (home, workload) = home();
    let file = home.file(
        "history.json",
        r#"{"SpotPriceHistory": [{"AvailabilityZone": "us-west-2a", "InstanceType": "p3.2xlarge",
           "ProductDescription": "Linux/UNIX", "SpotPrice": "0.97", "Timestamp": "2026-01-01T00:00:00Z"}]}"#,
    );
    let run = home.run(&["plan", &workload, "--trace", &file]);
    run.says(2, &["no record of availability"]);
}

#[test]
fn both_languages_tell_the_policy_and_the_rule() {
    let (home, workload) = home();
    let file = home.file(
        "r.csv",
        record("us-west-2a", "p3.2xlarge", 600, two_of_three),
    );
    for (lang, words) in [
        (
            "en",
            ["policy", "Deadline of the replay", "A record speaks for"],
        ),
        ("zh-CN", ["策略", "回放的期限", "才适用于该报价"]),
    ] {
        let show = |more: &[&str]| -> Run {
            let args = ["plan", &workload, "--trace", &file, "--lang", lang];
            home.run(&[&args, more].concat()).exits(0)
        };
        assert!(show(&[]).out.contains(words[0]));
        let plain = show(&["--explain", "1"]).out.replace("\n  ", "");
        let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        for word in words {
            assert!(plain.contains(word), "{word}: {plain}");
        }
    }
}

#[test]
fn frames_lose_one_frame_and_the_fleet_works_while_any_can_be_had() {
    let (home, _) = home();
    let workload = home.file(
        "render.toml",
        r#"
kind = "render"
[render]
frames = 2000
gpu = "V100"
seconds_per_frame = 120.0
[constraints]
gpus = ["V100"]
providers = ["aws"]
regions = ["us-west-2"]
deadline = "60h"
min_nodes = 2
max_nodes = 2
spot = true
"#,
    );
    // never two at once: as one machine after the other, half of the work is on demand
    let both = |up: u8, asked: u8| {
        let text = record("us-west-2a", "p3.2xlarge", 600, |_| true);
        text.replace("available,machine", "available,machine,asked")
            .replace(",1,p3.2xlarge\n", &format!(",{up},p3.2xlarge,{asked}\n"))
    };
    let file = home.file("two.csv", both(2, 2));
    let run = home.run(&["plan", &workload, "--trace", &file, "-o", "json"]);
    let two = run.exits(0).json();
    let two = option(&two, "spot").expect("spot");
    assert_eq!(two["spot"]["basis"], "measured", "{two}");
    assert_eq!(number(&two["spot"]["on_demand_hours_mean"]), 0.0);
    let file = home.file("one.csv", both(1, 2));
    let one = plan(&home, &workload, &["--trace", &file]);
    let one = option(&one, "spot").expect("spot");
    assert!(number(&one["spot"]["on_demand_hours_mean"]) > 1.0, "{one}");
    assert!(total(one) > total(two));
    assert_eq!(one["spot"]["checkpoint_interval_seconds"], Value::Null);
}

#[test]
fn the_published_v100_record_costs_more_than_its_advisor_says() {
    let Some(file) = records("aws-2022-10/us-west-2a_v100_1.json") else {
        return;
    };
    let (home, workload) = home();
    let more = ["--trace", &file, "--polarity", "available"];
    let replayed = plan(&home, &workload, &more);
    let rate = plan(&home, &workload, &[]);
    let (spot, rate) = (
        option(&replayed, "spot").expect("spot"),
        option(&rate, "spot").expect("spot"),
    );
    assert_eq!(spot["spot"]["policy"], "lessee");
    assert_eq!(spot["spot"]["meets_deadline_share"], 1.0);
    assert!(total(spot) > 1.2 * total(rate), "{spot}");
    assert!(number(&spot["spot"]["interruptions_mean"]) > 5.0);
}

#[test]
fn the_published_h100_counts_speak_for_a_gang_in_their_region() {
    let Some(counts) = records("h100-gcp-2025-10/counts.csv") else {
        return;
    };
    let home = Home::new();
    home.import(
        "offers",
        "provider,region,instance_type,gpu,gpu_count,purchase,price_per_hour,currency,as_of
gcp,us-central1,a3-highgpu-1g,H100 SXM 80GB,1,on_demand,11.06,USD,2026-11-20
gcp,us-central1,a3-highgpu-1g,H100 SXM 80GB,1,spot,2.25,USD,2026-11-20
",
    );
    // the counts name zones, not machines: said here
    let counts = std::fs::read_to_string(counts).expect("counts");
    let mut text = "time,zone,available,asked,machine\n".to_owned();
    for line in counts.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        for (zone, at) in [("us-central1-a", 2), ("us-central1-c", 3)] {
            text.push_str(&format!(
                "{},{zone},{},16,a3-highgpu-1g\n",
                cells[1], cells[at]
            ));
        }
    }
    let file = home.file("h100.csv", text);
    let workload = home.file(
        "hours.toml",
        HOURS
            .replace("V100", "H100")
            .replace("\"aws\"", "\"gcp\"")
            .replace("us-west-2", "us-central1")
            .replace("gpus = 1", "gpus = 4")
            .replace("gpu_hours = 40", "gpu_hours = 80")
            .replace("60h", "40h"),
    );
    let plan = plan(&home, &workload, &["--trace", &file, "--all"]);
    let options = plan["options"].as_array().expect("options");
    let gang = options
        .iter()
        .find(|o| {
            o["purchase"] == "spot"
                && o["nodes"] == 4
                && o["offer"]["key"] == "gcp/a3-highgpu-1g@us-central1"
        })
        .unwrap_or_else(|| panic!("{:?}", plan["unranked"]));
    assert_eq!(gang["spot"]["basis"], "measured");
    assert_eq!(gang["spot"]["meets_deadline_share"], 1.0);
}

#[test]
fn without_a_record_one_option_is_explained_on_generated_markets() {
    let (home, workload) = home();
    let rank = option(&plan(&home, &workload, &[]), "spot").expect("spot")["rank"].to_string();
    let explained = plan(&home, &workload, &["--explain", &rank]);
    let modelled = &explained["spot"]["modelled"];
    let (low, high) = (
        number(&modelled["machine_cost_low"]["amount"]),
        number(&modelled["machine_cost_high"]["amount"]),
    );
    assert!(low > 30.0 && high > low && high < 40.0 * 3.06, "{modelled}");
    assert_eq!(modelled["meets_deadline_share"], 1.0);
    assert_eq!(
        explained,
        plan(&home, &workload, &["--explain", &rank]),
        "the same each time"
    );
    let shown = home.run(&["plan", &workload, "--explain", &rank]).exits(0);
    assert!(
        shown.out.contains("Modelled, not measured"),
        "{}",
        shown.out
    );
}

/// A service of an 8B model on V100 machines, a month long.
const SERVE: &str = r#"
kind = "serve"
[serve]
model = "llama-3.1-8b"
precision = "fp16"
rate = 8.0
input_tokens = 300
output_tokens = 100
tpot_ms = 200.0
ttft_ms = 5000.0
duration = "720h"
min_replicas = 4
[constraints]
gpus = ["V100"]
providers = ["aws"]
regions = ["us-west-2"]
spot = true
"#;

const NODES: &str =
    "provider,region,instance_type,gpu,gpu_count,purchase,price_per_hour,currency,as_of
aws,us-west-2,p3.8xlarge,V100 16GB,4,on_demand,12.24,USD,2026-11-20
aws,us-west-2,p3.8xlarge,V100 16GB,4,spot,3.89,USD,2026-11-20
";

#[test]
fn a_service_is_hedged_over_zones() {
    let home = Home::new();
    home.import("nodes", NODES);
    let workload = home.file("serve.toml", SERVE);
    // three zones, each away one hour in six, one after the other; a fourth zone's record would be of one machine as well
    let files: Vec<String> = (0..3)
        .map(|zone| {
            let name = format!("us-west-2{}", ["a", "b", "c"][zone]);
            let text = record(&name, "p3.8xlarge", 1200, |tick| {
                !(tick / 6 + 2 * zone).is_multiple_of(6)
            });
            home.file(&format!("{name}.csv"), text)
        })
        .collect();
    let more: Vec<&str> = files.iter().flat_map(|f| ["--trace", f]).collect();
    let hedged = plan(&home, &workload, &more);
    let spot = option(&hedged, "spot").expect("spot on its record");
    let on_demand = option(&hedged, "on_demand").expect("on demand");
    let (judged, hedge) = (&spot["spot"], &spot["spot"]["hedge"]);
    assert_eq!(judged["basis"], "measured");
    assert_eq!(judged["policy"], "spot-hedge");
    assert_eq!(judged["meets_deadline_share"], Value::Null);
    let machines = number(&spot["nodes"]);
    assert_eq!(number(&hedge["machines"]), machines);
    assert!(number(&hedge["ready_share"]) >= 0.99, "{hedge}");
    let (on_spot, instead) = (
        number(&hedge["spot_mean"]),
        number(&hedge["on_demand_mean"]),
    );
    // records of one machine a zone hold three at most, and two and a half on average
    assert!(
        on_spot <= 2.51 && on_spot + instead >= machines - 0.01,
        "{hedge}"
    );
    assert!(total(spot) < total(on_demand));
    // machine time in the bill is what the hedge pays for: boot and set-up apart
    let hours = 30.0 * 24.0;
    let lines = spot["bill"]["lines"].as_array().expect("lines");
    let at = |price: f64| -> f64 {
        let of = lines.iter().filter(|l| l["unit"] == "instance-hour");
        of.filter(|l| l["kind"] == "compute" || l["kind"] == "interruption")
            .filter(|l| (number(&l["unit_price"]["amount"]) - price).abs() < 1e-9)
            .map(|l| number(&l["quantity"]))
            .sum()
    };
    assert!(
        (at(12.24) / (instead * hours) - 1.0).abs() < 0.01,
        "{lines:?}"
    );
    assert!(
        (at(3.89) / (on_spot * hours) - 1.0).abs() < 0.01,
        "{lines:?}"
    );
    let text = home
        .run(&[&["plan", &workload, "--explain", "1"], more.as_slice()].concat())
        .exits(0);
    assert!(text.out.contains("spot-hedge"), "{}", text.out);
}

#[test]
fn a_service_on_spot_that_never_comes_stays_on_demand() {
    let home = Home::new();
    home.import("nodes", NODES);
    let workload = home.file("serve.toml", SERVE);
    let file = home.file(
        "never.csv",
        record("us-west-2a", "p3.8xlarge", 600, |_| false),
    );
    let plan = plan(&home, &workload, &["--trace", &file]);
    assert!(option(&plan, "spot").is_none());
    let brief = home.file("brief.csv", record("us-west-2a", "p3.8xlarge", 1, |_| true));
    let run = home
        .run(&["plan", &workload, "--trace", &brief, "-o", "json"])
        .exits(0);
    assert!(run.out.contains("could not be replayed"), "{}", run.out);
}

#[test]
fn what_was_asked_for_wins_over_what_is_stored() {
    let (home, workload) = home();
    let file = home.file(
        "asked.csv",
        record("us-west-2a", "p3.2xlarge", 600, two_of_three),
    );
    let alone = plan(&home, &workload, &["--trace", &file]);
    // another zone, sampled twice as often, of another year: together they are no market
    let mut other = "time,zone,available,machine\n".to_owned();
    for tick in 0..4000 {
        let time = 1_600_000_000 + tick * 300;
        other.push_str(&format!("{time},us-west-2c,1,p3.2xlarge\n"));
    }
    let other = home.file("other.csv", other);
    home.run(&["trace", "import", &other]).exits(0);
    let beside = plan(&home, &workload, &["--trace", &file]);
    assert_eq!(alone["options"], beside["options"]);
    // of the stored ones alone the newest counts, and not what lies years before it
    home.run(&["trace", "import", &file]).exits(0);
    let stored = plan(&home, &workload, &[]);
    let spot = option(&stored, "spot").expect("replayed");
    assert_eq!(spot["spot"]["basis"], "measured", "{}", spot["spot"]);
    let source = spot["spot"]["source"].as_str().expect("source");
    assert!(
        source.contains("us-west-2a") && !source.contains("us-west-2c"),
        "{source}"
    );
}

#[test]
fn a_record_that_cannot_be_replayed_is_no_missing_record() {
    let (home, workload) = home();
    let brief = home.file(
        "brief.csv",
        record("us-west-2a", "p3.2xlarge", 5, two_of_three),
    );
    let run = home.run(&["plan", &workload, "--trace", &brief]).exits(0);
    assert!(run.out.contains("could not be replayed"), "{}", run.out);
    assert!(!run.out.contains("No record speaks"), "{}", run.out);
    let chinese = home
        .run(&["plan", &workload, "--trace", &brief, "--lang", "zh-CN"])
        .exits(0);
    assert!(chinese.out.contains("无法回放"), "{}", chinese.out);
}

#[test]
fn what_has_a_record_is_never_ranked_by_its_rate() {
    // more machines with records than are replayed, each never to be had
    let home = Home::new();
    let mut offers =
        "provider,region,instance_type,gpu,gpu_count,purchase,price_per_hour,currency,as_of\n"
            .to_owned();
    let mut traces = Vec::new();
    for i in 0..20 {
        let machine = format!("v{i}.xlarge");
        for (purchase, price) in [("on_demand", 3.0 + f64::from(i) / 100.0), ("spot", 0.9)] {
            offers.push_str(&format!(
                "aws,us-west-2,{machine},V100 16GB,1,{purchase},{price},USD,2026-11-20\n"
            ));
        }
        let text = record("us-west-2a", &machine, 300, |_| false);
        traces.push(home.file(&format!("{machine}.csv"), text));
    }
    home.import("offers", &offers);
    let workload = home.file("hours.toml", HOURS);
    let more: Vec<&str> = traces.iter().flat_map(|t| ["--trace", t]).collect();
    let plan = plan(&home, &workload, &more);
    for o in plan["options"].as_array().expect("options") {
        let mine = o["offer"]["instance_type"]
            .as_str()
            .is_some_and(|t| t.starts_with('v'));
        assert!(!(mine && o["purchase"] == "spot"), "{o}");
    }
    let codes: Vec<&str> = plan["unranked"]
        .as_array()
        .expect("unranked")
        .iter()
        .filter_map(|u| u["reason"]["code"].as_str())
        .collect();
    assert!(codes.contains(&"spot_does_not_pay") && codes.contains(&"spot_not_replayed"));
    // one machine, one reason
    for u in plan["unranked"].as_array().expect("unranked") {
        if u["purchase"] == "spot" && u["reason"]["code"] == "ask_for_quote" {
            let key = &u["key"];
            let all = plan["unranked"].as_array().expect("unranked").iter();
            assert_eq!(
                all.filter(|o| o["key"] == *key && o["purchase"] == "spot")
                    .count(),
                1
            );
        }
    }
}
