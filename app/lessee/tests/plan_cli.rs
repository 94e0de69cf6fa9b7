//! `plan` and `buy` through the real binary, in folders of their own and at a fixed time.

mod common;

use common::{Home, example};
use serde_json::Value;
use std::collections::BTreeSet;

const EXAMPLES: [&str; 8] = [
    "finetune-8b.toml",
    "pretrain-1.3b.toml",
    "imagenet-resnet50.toml",
    "sweep-200.toml",
    "serve-8b.toml",
    "serve-70b.toml",
    "render-2000.toml",
    "project-cny/workload.toml",
];

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Exact, in units of 1e-12; more digits than that do not occur.
fn exact(text: &str) -> i128 {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    assert!(part.len() <= 12, "{text}");
    sign * format!("{whole}{part:0<12}")
        .parse::<i128>()
        .expect("digits")
}

fn amount(money: &Value) -> i128 {
    exact(text(&money["amount"]))
}

fn total(option: &Value) -> i128 {
    amount(&option["bill"]["total"])
}

fn keys(value: &Value) -> BTreeSet<&str> {
    let object = value.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
}

/// The keys that are promised to programs, and those that were added to them.
#[track_caller]
fn has_keys(value: &Value, promised: &str, added: &str) {
    let wanted: BTreeSet<&str> = promised
        .split(' ')
        .chain(added.split_whitespace())
        .collect();
    assert_eq!(keys(value), wanted);
}

#[track_caller]
fn check_bill(bill: &Value, place: &str) {
    let mut sum = 0;
    for line in list(bill, "lines") {
        assert!(!text(&line["basis"]).is_empty() && !text(&line["source"]).is_empty());
        if line["amount"].is_null() {
            assert!(!text(&line["reason"]).is_empty(), "{place}: {line}");
            assert_eq!(bill["at_least"], true, "{place}: {line}");
            continue;
        }
        sum += amount(&line["amount"]);
        if !line["unit_price"].is_null() {
            let (quantity, price) = (exact(text(&line["quantity"])), amount(&line["unit_price"]));
            let product = quantity as f64 * price as f64 / 1e24;
            let got = amount(&line["amount"]) as f64 / 1e12;
            let near = 1e-12_f64.max(product.abs() * 1e-14);
            assert!((product - got).abs() <= near * 1.01, "{place}: {line}");
        }
    }
    assert_eq!(sum, amount(&bill["total"]), "{place}: total");
}

#[test]
fn every_example_is_planned_and_its_bills_add_up() {
    let home = Home::new();
    for name in EXAMPLES {
        let plan = home.json(&["plan", &example(name)]);
        has_keys(
            &plan,
            "schema generated_at catalog workload options rejected pareto",
            "unranked assumptions warnings",
        );
        assert_eq!(plan["schema"], "lessee/plan/v1");
        assert_eq!(plan["generated_at"], common::NOW);
        let options = list(&plan, "options");
        let ranks: Vec<u64> = options
            .iter()
            .map(|o| o["rank"].as_u64().expect("rank"))
            .collect();
        assert_eq!(
            ranks,
            (1..=ranks.len() as u64).collect::<Vec<_>>(),
            "{name}"
        );
        let pareto = list(&plan, "pareto");
        assert!(!pareto.is_empty());
        for rank in pareto {
            assert!(ranks.contains(&rank.as_u64().expect("rank")), "{name}");
        }
        for option in options {
            check_bill(&option["bill"], name);
        }
        let first = &options[0];
        assert_ne!(first["offer"]["confidence"], "unverified", "{name}");
        let compute = list(&first["bill"], "lines");
        let compute = compute.iter().find(|l| l["kind"] == "compute");
        assert_ne!(compute.expect("compute")["basis"], "modelled", "{name}");
    }
}

#[test]
fn the_keys_of_the_document_are_those_promised() {
    let home = Home::new();
    let plan = home.json(&["plan", &example("finetune-8b.toml")]);
    let option = &list(&plan, "options")[0];
    has_keys(&plan["catalog"], "offers as_of", "");
    has_keys(&plan["rejected"], "count by_reason", "");
    has_keys(
        option,
        "rank offer nodes purchase work bill cost_per_unit warnings",
        "interruptions spot",
    );
    has_keys(
        &option["offer"],
        "key provider region instance_type gpu vcpus memory_gib",
        "interconnect network_gbps price_per_hour price_as_of price_source confidence",
    );
    has_keys(
        &option["offer"]["gpu"],
        "model form count memory_gb_each usable_mib_each",
        "fraction",
    );
    has_keys(
        &option["work"],
        "unit per_second low high bound_by duration_seconds duration_p90_seconds",
        "basis memory layout terms",
    );
    has_keys(
        &option["bill"],
        "currency at_least lines total total_p90",
        "months totals",
    );
    has_keys(&option["cost_per_unit"], "unit amount", "");
    for line in list(&option["bill"], "lines") {
        let known = "kind quantity unit unit_price amount basis source as_of";
        let added = if line["amount"].is_null() {
            "what confidence reason"
        } else {
            "what confidence"
        };
        let mut got = keys(line);
        got.remove("low");
        got.remove("high");
        assert_eq!(got, known.split(' ').chain(added.split(' ')).collect());
    }
}

#[test]
fn explain_names_every_line_and_why_not_answers() {
    let home = Home::new();
    let file = example("finetune-8b.toml");
    let plan = home.json(&["plan", &file]);
    let args = ["plan", &file, "--explain", "1", "-o", "md"];
    let explained = home.run(&args).exits(0).out;
    for line in list(&list(&plan, "options")[0]["bill"], "lines") {
        assert!(explained.contains(text(&line["what"])), "{line}");
        assert!(explained.contains(text(&line["source"])), "{line}");
    }
    home.run(&["plan", &file, "--explain", "4000"]).exits(2);
    let why = home.json(&["plan", &file, "--why-not", "aws/p4d.24xlarge"]);
    assert_eq!(why["schema"], "lessee/why-not/v1");
    for verdict in list(&why, "verdicts") {
        assert!(text(&verdict["key"]).starts_with("aws/p4d.24xlarge@"));
        assert!(!text(&verdict["text"]).contains('['), "{verdict}");
    }
    let wrong = home.run(&["plan", &file, "--why-not", "aws/p4d.24xlarg"]);
    assert!(wrong.exits(2).err.contains("aws/p4d.24xlarge"));
}

#[test]
fn fields_are_flags_and_a_misspelt_one_is_shown_with_its_place() {
    let home = Home::new();
    let file = example("finetune-8b.toml");
    let of = |more: &[&str]| {
        let args = [
            &[
                "plan",
                &file,
                "--provider",
                "aws",
                "--gpu",
                "H100:8",
                "--no-spot",
            ][..],
            more,
        ];
        let plan = home.json(&args.concat());
        list(&plan, "options")[0].clone()
    };
    let (plain, large) = (of(&[]), of(&["--data-size", "2TB"]));
    assert!(total(&large) > total(&plain));
    let lora = of(&["--finetune-method", "lora"]);
    let seconds = |o: &Value| o["work"]["duration_seconds"].as_f64().expect("seconds");
    assert!(seconds(&lora) < seconds(&plain));

    let source = std::fs::read_to_string(&file).expect("example");
    let broken = home.file("typo.toml", source.replace("seq_len", "seq_lenn"));
    let run = home.run(&["plan", &broken]).exits(2);
    let line = 1 + source
        .lines()
        .position(|l| l.starts_with("seq_len"))
        .expect("the field");
    assert!(
        run.err.contains(&format!("typo.toml:{line}:1")),
        "{}",
        run.err
    );
    assert!(
        run.err.contains("seq_len`") || run.err.contains("seq_len?"),
        "{}",
        run.err
    );
    home.run(&["plan", &file, "--provider", "aws", "--region", "nowhere-*"])
        .exits(1);
    // some that could do it have no price: whether one of those is within the budget cannot be told
    home.run(&["plan", &file, "--budget", "1 USD"]).exits(1);
}

#[test]
fn hostile_workloads_are_refused_with_their_place() {
    let home = Home::new();
    let good = std::fs::read_to_string(example("finetune-8b.toml")).expect("example");
    for (name, content) in [
        ("zeros.toml", vec![0; 1 << 16]),
        ("empty.toml", Vec::new()),
        (
            "negative.toml",
            good.replace("\"200MB\"", "\"-200MB\"").into_bytes(),
        ),
        (
            "nan.toml",
            good.replace("epochs = 3", "epochs = nan").into_bytes(),
        ),
        (
            "huge.toml",
            good.replace("epochs = 3", "epochs = 1e400").into_bytes(),
        ),
        ("latin.toml", b"name = \"caf\xe9\"\n".to_vec()),
    ] {
        let path = home.file(name, content);
        let run = home.run(&["plan", &path]).exits(2);
        assert!(run.err.contains(name), "{name}: {}", run.err);
        assert!(run.out.is_empty());
    }
    let folder = home.text();
    assert!(home.run(&["plan", folder]).exits(2).err.contains(folder));
    home.run(&["plan", "no-such.toml"]).exits(2);
    home.run(&["plan"]).exits(2);
}

#[test]
fn chinese_has_no_missing_text() {
    let home = Home::new();
    let file = example("project-cny/workload.toml");
    for more in [&[][..], &["--explain", "1"]] {
        let args = [&["plan", &file, "--lang", "zh-CN"], more].concat();
        let out = home.run(&args).exits(0).out;
        for line in out.lines() {
            // a missing text is shown as its identifier in brackets
            let raw = line.split('[').skip(1).filter_map(|p| p.split(']').next());
            for word in raw {
                assert!(word.chars().all(|c| c.is_ascii_digit()), "{line}");
            }
        }
        // sources are cited in their own language, and only the derivation shows them all
        let english = out.contains(" the ") || out.contains(" of ");
        assert!(!english || more.contains(&"--explain"), "{out}");
    }
}

fn quote(price: &str, unit: &str) -> String {
    format!(
        "provider,region,gpu,count,price,unit\nacme,north,H100 SXM 80GB,8,{price},{unit} per node hour\n"
    )
}

#[test]
fn an_own_price_wins_and_a_newer_one_replaces_it() {
    let home = Home::new();
    let file = example("finetune-8b.toml");
    home.import("acme", &quote("2.00", "USD"));
    let plan = home.json(&["plan", &file]);
    let first = &list(&plan, "options")[0];
    assert_eq!(first["offer"]["provider"], "acme");
    assert_eq!(text(&first["offer"]["price_per_hour"]["amount"]), "2.00");
    home.import("acme", &quote("160.00", "USD"));
    let plan = home.json(&["plan", &file, "--all"]);
    let options = list(&plan, "options");
    assert_ne!(options[0]["offer"]["provider"], "acme");
    for option in options.iter().filter(|o| o["offer"]["provider"] == "acme") {
        let price = text(&option["offer"]["price_per_hour"]["amount"]);
        assert_eq!(price, "160.00", "the older price is gone");
    }
}

#[test]
fn a_price_in_another_currency_needs_a_dated_rate() {
    let home = Home::new();
    let file = example("finetune-8b.toml");
    home.import("acme", &quote("10.00", "CNY"));
    let plan = home.json(&["plan", &file]);
    let unranked = list(&plan, "unranked").iter();
    let mut acme = unranked.filter(|u| text(&u["key"]).starts_with("acme/"));
    assert!(acme.any(|u| u["reason"]["code"] == "no_exchange_rate"));
    let ranked = |plan: &Value| {
        list(plan, "options")
            .iter()
            .any(|o| o["offer"]["provider"] == "acme")
    };
    assert!(!ranked(&plan));
    let source = std::fs::read_to_string(&file).expect("example");
    let rate = "\n[[money.rates]]\nfrom = \"CNY\"\nto = \"USD\"\nrate = 0.14\nas_of = \"2026-11-28\"\nsource = \"bank\"\n";
    let with_rate = home.file("rate.toml", source + rate);
    let plan = home.json(&["plan", &with_rate]);
    assert!(ranked(&plan));
    for option in list(&plan, "options") {
        assert_eq!(option["bill"]["currency"], "USD");
    }
}

#[test]
fn a_measurement_changes_the_speed_of_its_offer() {
    let home = Home::new();
    let file = example("finetune-8b.toml");
    let args = [
        "plan",
        &file,
        "--provider",
        "aws",
        "--gpu",
        "H100:8",
        "--all",
    ];
    let probe = example("probe-8xh100.json");
    let before = home.json(&args);
    let after = home.json(&[&args[..], &["--measured", &probe]].concat());
    let speed = |plan: &Value| {
        let options = list(plan, "options").iter();
        let mut of = options.filter(|o| o["offer"]["instance_type"] == "p5.48xlarge");
        of.next().expect("the offer")["work"]["per_second"].as_f64()
    };
    assert_ne!(speed(&before), speed(&after));
    // a report that decides nothing says so
    let run = home.run(&["plan", &file, "--top", "1", "--measured", &probe]);
    assert!(
        run.err.contains("decided nothing") && run.err.contains("p5.48xlarge"),
        "{}",
        run.err
    );
    // and one of another GPU is not used
    let serve = example("serve-8b.toml");
    let predict = |more: &[&str]| {
        let args = [&["predict", &serve, "--gpu", "L40S", "-o", "json"], more].concat();
        let run = home.run(&args);
        (
            run.json()["predictions"][0]["work"]["per_second"].clone(),
            run.err,
        )
    };
    let (alone, _) = predict(&[]);
    let (beside, said) = predict(&["--measured", &probe]);
    assert_eq!(alone, beside);
    assert!(said.contains("L40S") && said.contains("not used"), "{said}");
    let bad = home.file("probe.json", "{\"schema\": \"lessee/plan/v1\"}");
    home.run(&["plan", &file, "--measured", &bad]).exits(2);
}

#[test]
fn buy_answers_and_its_lines_add_up() {
    let home = Home::new();
    let answer = home.json(&["buy", &example("buy-8xh100.toml")]);
    assert_eq!(answer["schema"], "lessee/buy/v1");
    for (lines, sum) in [("capex_lines", "capex"), ("opex_lines", "opex_per_year")] {
        let added: i128 = list(&answer, lines)
            .iter()
            .map(|l| amount(&l["amount"]))
            .sum();
        assert_eq!(added, amount(&answer[sum]), "{lines}");
    }
    assert!(!list(&answer, "sensitivity").is_empty());
    let folder = home.text();
    home.run(&["buy", folder]).exits(2);
}

#[test]
fn a_start_makes_months_those_of_the_providers_calendar() {
    let home = Home::new();
    let plan = |more: &[&str]| {
        let file = example("finetune-8b.toml");
        home.json(&[&["plan", &file, "--constraints-providers", "gcp"], more].concat())
    };
    let months = |plan: &Value| plan["options"][0]["bill"]["months"].clone();
    let without = months(&plan(&[]));
    assert_eq!(
        (&without["rule"], &without["hours"]),
        (&"hours".into(), &730.into())
    );
    // midnight in Shanghai is still the day before at Google
    let with = plan(&["--start", "2027-02-01", "--tz", "Asia/Shanghai"]);
    let said = months(&with);
    assert_eq!(said["rule"], "calendar");
    assert_eq!(said["zone"], "America/Los_Angeles");
    assert_eq!(said["start"], "2027-01-31T16:00:00Z");
    assert!(
        text(&said["text"]).contains("2027-01-31 08:00 -08:00"),
        "{said}"
    );
    assert_eq!(with["workload"]["start"], "2027-02-01");
    let file = example("finetune-8b.toml");
    for lang in ["en", "zh-CN"] {
        let args = ["plan", &file, "--explain", "1", "--lang", lang];
        let run = home.run(&args).exits(0);
        assert!(
            run.out.contains("730") && run.out.contains("--start"),
            "{}",
            run.out
        );
        let args = ["plan", &file, "--start", "tomorrow", "--lang", lang];
        home.run(&args)
            .says(2, &["--start", "tomorrow", "2027-01-28"]);
    }
}
