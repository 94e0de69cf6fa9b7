//! `accept failure|budget|offer|support`, `accept FILE` and `accept diff` through the real binary.

mod common;

use common::{Home, Run};
use serde_json::{Value, json};

fn finding<'a>(doc: &'a Value, rule: &str, subject: &str) -> &'a Value {
    let all = doc["findings"].as_array().expect("findings");
    all.iter()
        .find(|f| f["rule"] == rule && (subject.is_empty() || f["subject"] == subject))
        .unwrap_or_else(|| panic!("no {rule} of {subject} in {doc:#}"))
}

fn verdict(doc: &Value, rule: &str) -> String {
    finding(doc, rule, "")["verdict"]
        .as_str()
        .expect("a verdict")
        .to_owned()
}

fn asked(home: &Home, args: &[&str]) -> (i32, Value) {
    let run: Run = home.run(&[args, &["-o", "json"]].concat());
    let doc = serde_json::from_str(&run.out).unwrap_or_else(|e| panic!("{e}: {run:?}"));
    (run.code, doc)
}

#[test]
fn a_failing_host_is_judged_by_type_and_priced() {
    let home = Home::new();
    let base = ["accept", "failure", "--provider", "aws", "--instance"];
    let (code, p5) = asked(&home, &[&base[..], &["p5.48xlarge"]].concat());
    assert_eq!(code, 7, "nobody says how long before");
    assert_eq!(verdict(&p5, "host-failure"), "warn");
    assert_eq!(
        finding(&p5, "host-failure", "")["code"],
        "failure_not_recovered"
    );
    let (_, p3) = asked(&home, &[&base[..], &["p3.16xlarge"]].concat());
    assert_eq!(verdict(&p3, "host-failure"), "pass");

    // an hour of notice is enough for a checkpoint of 90 s and not for one of two hours
    let gcp = [
        "accept",
        "failure",
        "--provider",
        "Google Cloud",
        "--price",
        "100 USD",
        "--machines",
        "2",
    ];
    let (code, quick) = asked(
        &home,
        &[
            &gcp[..],
            &["--every", "1h", "--save", "90s", "--restart", "0s"],
        ]
        .concat(),
    );
    assert_eq!((code, verdict(&quick, "notice").as_str()), (0, "pass"));
    let loss = finding(&quick, "loss", "")["reason"]
        .as_str()
        .expect("reason")
        .to_owned();
    assert!(
        loss.contains("30 min") && loss.contains("200.00 USD"),
        "{loss}"
    );
    let (_, slow) = asked(
        &home,
        &[&gcp[..], &["--every", "3h", "--save", "2h"]].concat(),
    );
    assert_eq!(verdict(&slow, "notice"), "warn");
    assert_eq!(verdict(&slow, "loss"), "warn");

    // what nobody verified is a question, and a provider that nobody knows too
    let (code, oci) = asked(&home, &["accept", "failure", "--provider", "oci"]);
    assert_eq!(
        (code, verdict(&oci, "host-failure").as_str()),
        (7, "unknown")
    );
    let (code, none) = asked(&home, &["accept", "failure", "--provider", "hetzner"]);
    assert_eq!(
        (code, verdict(&none, "live-migration").as_str()),
        (7, "unknown")
    );
    let wrong = home.run(&["accept", "failure", "--provider", "awz"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("aws"), "{}", wrong.err);
}

#[test]
fn an_overrun_is_summed_and_the_guard_is_data() {
    let home = Home::new();
    let azure = [
        "accept",
        "budget",
        "--provider",
        "azure",
        "--price",
        "100 USD",
        "--reaction",
        "1h",
    ];
    let (code, doc) = asked(&home, &[&azure[..], &["--budget", "1000 USD"]].concat());
    // 49 h until the alert, 1 h until somebody acts, 100 USD an hour
    let worst = finding(&doc, "worst-case", "");
    assert_eq!((code, worst["verdict"].as_str()), (1, Some("fail")));
    assert!(
        worst["reason"]
            .as_str()
            .is_some_and(|r| r.contains("5,000.00 USD") && r.contains("500 %"))
    );
    assert_eq!(verdict(&doc, "hard-stop"), "warn");
    assert_eq!(doc["guard"]["action"], "stop");
    assert_eq!(
        doc["guard"]["budget"],
        json!({"amount": "1000.00", "currency": "USD"})
    );
    let (_, large) = asked(&home, &[&azure[..], &["--budget", "1000000 USD"]].concat());
    assert_eq!(verdict(&large, "worst-case"), "pass");

    // a stopped machine that goes on costing must be released
    let (code, ali) = asked(
        &home,
        &[
            "accept",
            "budget",
            "--provider",
            "阿里云",
            "--price",
            "1 CNY",
        ],
    );
    assert_eq!(
        (code, verdict(&ali, "stopped-machine").as_str()),
        (1, "fail")
    );
    assert_eq!(ali["guard"]["action"], "terminate");
    // prepaid, minutes old: warned of, not failed
    let (code, runpod) = asked(
        &home,
        &[
            "accept",
            "budget",
            "--provider",
            "runpod",
            "--price",
            "20 USD",
        ],
    );
    assert_eq!(
        (code, verdict(&runpod, "alert-delay").as_str()),
        (0, "pass")
    );
    // without a price there is no sum
    let (code, bare) = asked(&home, &["accept", "budget", "--provider", "azure"]);
    assert_eq!(
        (code, verdict(&bare, "worst-case").as_str()),
        (7, "unknown")
    );
}

const QUOTE: &str = "Provider: Example\n8 x H100 SXM 80GB, dedicated GPU, 20.00 USD per hour, billed per second\n\
NVMe SSD, dedicated bandwidth\nPrice excluding VAT. No deposit. Cancel anytime.\nAvailability 99.9 %. Responds within 1 hour. Spare node.\n";

#[test]
fn the_words_of_a_quote_are_found_and_silence_is_a_question() {
    let home = Home::new();
    let quote = home.file("q.txt", QUOTE);
    let (code, doc) = asked(&home, &["accept", "offer", "--offer", &quote]);
    assert_eq!(code, 7, "nobody measured it");
    let of = |field: &str| finding(&doc, "contract", field)["verdict"].clone();
    assert_eq!(of("tax"), "warn", "excluding VAT is not VAT");
    assert_eq!(of("bandwidth"), "pass");
    assert_eq!(
        of("deposit"),
        "pass",
        "no deposit is not a deposit: {doc:#}"
    );
    assert_eq!(of("validity"), "warn");
    let silent = home.file("s.txt", "8 x H100 SXM 80GB, 20.00 USD per hour\n");
    let (_, doc) = asked(&home, &["accept", "offer", "--offer", &silent]);
    assert_eq!(finding(&doc, "contract", "tax")["verdict"], "unknown");
    assert_eq!(finding(&doc, "contract", "tax")["code"], "contract_silent");
    let chinese = home.file(
        "c.txt",
        "H100 SXM 80G 8卡 7.6 万元/台/月，不含税，押一付三，共享带宽，机械盘\n",
    );
    let (_, doc) = asked(&home, &["accept", "offer", "--offer", &chinese]);
    for field in ["tax", "deposit", "bandwidth", "disk_type", "billing_unit"] {
        assert_eq!(
            finding(&doc, "contract", field)["verdict"],
            "warn",
            "{field}"
        );
    }
}

#[test]
fn a_probed_machine_is_held_against_its_offer() {
    let home = Home::new();
    let report = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/probe-8xh100.json"
    );
    let kept = asked(
        &home,
        &[
            "accept",
            "offer",
            "--offer",
            "aws/p5.48xlarge",
            "--probe",
            report,
        ],
    )
    .1;
    assert_eq!(
        finding(&kept, "promise", "gpu_count")["verdict"],
        "pass",
        "{kept:#}"
    );
    let (code, other) = asked(
        &home,
        &[
            "accept",
            "offer",
            "--offer",
            "aws/p4d.24xlarge",
            "--probe",
            report,
        ],
    );
    assert_eq!(code, 1);
    assert_eq!(
        finding(&other, "promise", "gpu_model")["verdict"],
        "fail",
        "{other:#}"
    );
    assert_eq!(other["evidence"][0]["kind"], "probe");
}

const LOG: &str = "asked,first_answer,solved
2026-11-01T09:00:00Z,2026-11-01T09:20:00Z,2026-11-01T18:00:00Z
2026-11-04 10:00,2026-11-04 10:30,2026-11-05 10:00
2026/11/09 22:00,2026/11/09 22:10,2026/11/10 15:00
2026-11-15T09:00:00Z,2026-11-15T09:05:00Z,2026-11-15T10:00:00Z
2026-11-20T14:00:00Z,2026-11-20T14:40:00Z,2026-11-20T16:00:00Z
";

#[test]
fn tickets_become_percentiles_and_open_ones_count() {
    let home = Home::new();
    let args = ["--first-answer", "1h", "--solved", "25h"];
    let log = home.file("t.csv", LOG);
    let (code, doc) = asked(&home, &[&["accept", "support", &log][..], &args].concat());
    assert_eq!((code, verdict(&doc, "first-answer").as_str()), (0, "pass"));
    let reason = finding(&doc, "first-answer", "")["reason"]
        .as_str()
        .expect("reason")
        .to_owned();
    assert!(
        reason.contains("half within 20 min") && reason.contains("longest 40 min"),
        "{reason}"
    );
    // 9 + 24 + 17 + 1 + 2 h of waiting in 699 h of log, for 730 h
    let waiting = finding(&doc, "waiting", "")["reason"]
        .as_str()
        .expect("reason")
        .to_owned();
    assert!(waiting.contains("55.4"), "{waiting}");
    // one that nobody answers breaks the promise as soon as it is late
    let open = home.file("o.csv", format!("{LOG}2026-11-20T14:00:00Z,,\n"));
    let (code, doc) = asked(&home, &[&["accept", "support", &open][..], &args].concat());
    assert_eq!((code, verdict(&doc, "first-answer").as_str()), (1, "fail"));
    // and one that was asked a moment ago may yet
    let fresh = home.file("f.csv", format!("{LOG}2026-11-30T11:50:00Z,,\n"));
    let (code, doc) = asked(&home, &[&["accept", "support", &fresh][..], &args].concat());
    assert_eq!((code, verdict(&doc, "first-answer").as_str()), (0, "warn"));
}

#[test]
fn what_is_no_log_is_cannot_tell_with_a_reason() {
    let home = Home::new();
    for (name, content) in [
        ("empty", b"".to_vec()),
        ("binary", vec![0, 159, 146, 150, 0, 1, 2]),
        ("other", b"| GPU  Name |\n| 0 H100 |\n".to_vec()),
        ("cut", b"asked,first_answer,solved\n2026-11-".to_vec()),
        (
            "future",
            b"asked,first_answer,solved\n2027-11-01T00:00:00Z,,\n".to_vec(),
        ),
        (
            "backwards",
            b"asked,first_answer,solved\n2026-11-02T00:00:00Z,2026-11-01T00:00:00Z,\n".to_vec(),
        ),
    ] {
        let log = home.file(name, content);
        let (code, doc) = asked(&home, &["accept", "support", &log, "--solved", "1h"]);
        assert_eq!(
            (code, verdict(&doc, "log").as_str()),
            (7, "unknown"),
            "{name}"
        );
        let reason = finding(&doc, "log", "")["reason"].as_str().expect("reason");
        assert!(reason.len() > 20, "{name}: {reason}");
    }
}

const WHOLE: &str = r#"
name = "a & b"
[deal]
provider = "runpod"
price = "20 USD"
[driver]
driver = "580.65.06"
gpu = ["H100:8"]
need = ["torch==2.11.0"]
[budget]
budget = "1000 USD"
[offer]
offer = "q.txt"
[support]
log = "t.csv"
first_answer = "1h"
"#;

#[test]
fn a_whole_acceptance_keeps_its_documents_and_its_evidence() {
    let home = Home::new();
    home.file("q.txt", QUOTE);
    home.file("t.csv", LOG);
    let file = home.file("deal.toml", WHOLE);
    let (code, doc) = asked(&home, &["accept", &file]);
    assert_eq!(
        (code, doc["verdict"].as_str(), doc["check"].as_str()),
        (7, Some("unknown"), Some("all"))
    );
    let folder = home.path("deal-acceptance");
    let kept = std::fs::read_to_string(folder.join("acceptance-2026-11-30T120000Z.json"))
        .expect("document");
    assert_eq!(serde_json::from_str::<Value>(&kept).expect("JSON"), doc);
    for evidence in doc["evidence"].as_array().expect("evidence") {
        let path = folder
            .join("evidence")
            .join(evidence["sha256"].as_str().expect("hash"));
        let content = std::fs::read(&path).expect("evidence");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |p: &std::path::Path| {
                let meta = std::fs::metadata(p).expect("evidence");
                meta.permissions().mode() & 0o777
            };
            assert_eq!(mode(&path), 0o600);
            assert_eq!(mode(path.parent().expect("folder")), 0o700);
        }
        assert_eq!(
            content.len() as u64,
            evidence["bytes"].as_u64().expect("bytes")
        );
    }
    let quoted = finding(&doc, "contract", "tax")["evidence"][0].clone();
    let quote =
        std::fs::read_to_string(folder.join("evidence").join(quoted.as_str().expect("hash")));
    assert_eq!(quote.expect("quote"), QUOTE);
    let xml = std::fs::read_to_string(folder.join("acceptance-2026-11-30T120000Z.junit.xml"))
        .expect("JUnit");
    assert!(
        xml.contains("<testsuites name=\"a &amp; b\"") && xml.contains("<error type="),
        "{xml}"
    );
    let md =
        std::fs::read_to_string(folder.join("acceptance-2026-11-30T120000Z.md")).expect("Markdown");
    assert!(md.contains("Acceptance: a & b"), "{md}");
}

#[test]
fn a_second_acceptance_is_compared_with_the_first() {
    let home = Home::new();
    home.file("q.txt", QUOTE);
    home.file("t.csv", LOG);
    let file = home.file("deal.toml", WHOLE);
    let first = home.file("first.json", asked(&home, &["accept", &file]).1.to_string());
    let (code, same) = asked(&home, &["accept", "diff", &first, &first]);
    assert_eq!(
        (
            code,
            same["worse"].as_u64(),
            same["findings"].as_array().map(Vec::len)
        ),
        (0, Some(0), Some(0))
    );
    // the driver was rolled back, the tax is now in the price
    home.file("q.txt", QUOTE.replace("excluding VAT", "including VAT"));
    let file = home.file("deal.toml", WHOLE.replace("580.65.06", "535.183.01"));
    let second = home.file(
        "second.json",
        asked(&home, &["accept", &file]).1.to_string(),
    );
    let (code, diff) = asked(&home, &["accept", "diff", &first, &second]);
    assert_eq!(code, 1);
    let need = finding(&diff, "need", "torch==2.11.0");
    assert_eq!(
        (&need["change"], &need["later"]),
        (&json!("worse"), &json!("fail"))
    );
    assert_eq!(finding(&diff, "contract", "tax")["change"], "better");
    let page = home.run(&["accept", "diff", &first, &second, "--lang", "zh-CN"]);
    assert!(page.out.contains("变差"), "{}", page.out);
    let rubbish = home.file("r.json", "{\"schema\": \"lessee/plan/v1\"}");
    assert_eq!(home.run(&["accept", "diff", &first, &rubbish]).code, 2);
}

#[test]
fn a_file_that_is_no_acceptance_is_told_with_its_place() {
    let home = Home::new();
    for (content, what) in [
        ("[budgett]\n", "budgett"),
        ("name = \"x\"\n", "no check is named"),
        ("[budget]\nbudget = \"many\"\n", ":2:"),
        ("[support]\nlog = \"gone.csv\"\n", "gone.csv"),
    ] {
        let file = home.file("a.toml", content);
        let run = home.run(&["accept", &file]);
        assert_eq!(run.code, 2, "{content}: {run:?}");
        assert!(run.err.contains(what), "{content}: {}", run.err);
        assert!(
            !home.path("a-acceptance").exists(),
            "nothing is written: {content}"
        );
    }
}

#[test]
fn pages_fit_a_terminal_in_both_languages() {
    let home = Home::new();
    let quote = home.file("q.txt", QUOTE);
    for lang in ["en", "zh-CN"] {
        for args in [
            &["accept", "failure", "--provider", "azure", "--every", "1h"][..],
            &["accept", "budget", "--provider", "gcp", "--price", "10 USD"],
            &["accept", "offer", "--offer", &quote],
        ] {
            let run = home.run(&[args, &["--lang", lang]].concat());
            for line in run.out.lines() {
                let width: usize = line
                    .chars()
                    .map(|c| if c > '\u{2e80}' { 2 } else { 1 })
                    .sum();
                assert!(width <= 80, "{width}: {line}");
            }
        }
    }
}
