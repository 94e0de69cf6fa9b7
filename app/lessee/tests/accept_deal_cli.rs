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

/// Field, verdict and line: what renters are told, and what sounds like it.
#[test]
fn words_count_in_their_clause_and_negations_turn_them() {
    let home = Home::new();
    for (line, field, want) in [
        ("整机独享裸金属", "gpu_exclusive", "pass"),
        ("整机独享裸金属", "bandwidth", "unknown"),
        ("公网带宽 100Mbps 共享", "bandwidth", "warn"),
        ("100 Mbps dedicated", "bandwidth", "pass"),
        ("非独享带宽", "bandwidth", "warn"),
        ("未约定换机时间", "replacement", "warn"),
        ("故障 4 小时内换机", "replacement", "pass"),
        ("We do not replace failed machines", "replacement", "warn"),
        (
            "We replace failed machines within a day",
            "replacement",
            "pass",
        ),
        ("每停机一天按天双倍赔付", "sla_credit", "pass"),
        ("本合同不提供赔偿", "sla_credit", "warn"),
        ("停机 7 天后删除数据", "data_return", "warn"),
        (
            "Data is deleted 3 days after the end.",
            "data_return",
            "warn",
        ),
        ("含6%增值税专用发票", "tax", "pass"),
        ("以上价格不包含税费", "tax", "warn"),
        ("价格不含税", "tax", "warn"),
        ("Prices not including VAT", "tax", "warn"),
        ("Taxes included.", "tax", "pass"),
        ("No setup fee, VAT included", "tax", "pass"),
        ("不得提前退租", "early_exit", "warn"),
        ("随时退租", "early_exit", "pass"),
        ("无押金", "deposit", "pass"),
        ("数据盘 NVMe 7.68T", "disk_type", "pass"),
        ("故障响应: 2 小时", "response", "pass"),
        ("99.9 元/卡时", "sla", "unknown"),
        ("Uptime 99.5 % per month", "sla", "pass"),
        ("Uptime 99.5 % per month", "billing_unit", "unknown"),
        (
            "15.20 USD per GPU-hour, billed by the second",
            "billing_unit",
            "pass",
        ),
        ("62000 元/月", "billing_unit", "warn"),
        (
            "credits of 10 % of the monthly fee",
            "billing_unit",
            "unknown",
        ),
    ] {
        let priced = line.contains("USD") || line.contains('元');
        let text = match priced {
            true => format!("8 x H100 SXM 80GB, {line}\n"),
            false => format!("8 x H100 SXM 80GB, 20.00 USD per hour\n{line}\n"),
        };
        let quote = home.file("line.txt", text);
        let (_, doc) = asked(&home, &["accept", "offer", "--offer", &quote]);
        let found = finding(&doc, "contract", field);
        assert_eq!(found["verdict"], want, "{line}: {found:#}");
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
    // one breach, one finding
    let findings = other["findings"].as_array().expect("findings");
    let of_models = findings.iter().filter(|f| {
        f["verdict"] == "fail" && f["reason"].as_str().is_some_and(|r| r.contains("A100"))
    });
    assert_eq!(of_models.count(), 1, "{other:#}");
}

fn worst(doc: &Value) -> &Value {
    finding(doc, "worst-case", "")
}

#[test]
fn what_is_certain_alone_can_be_too_much() {
    let home = Home::new();
    let budget = |more: &[&str]| asked(&home, &[&["accept", "budget"], more].concat());
    // twelve hours until somebody acts, whatever the alert does
    let p5 = ["--provider", "aws", "--instance", "p5.48xlarge"];
    let (code, doc) = budget(&[&p5[..], &["--budget", "100 USD"]].concat());
    assert_eq!(
        (code, &worst(&doc)["verdict"]),
        (1, &Value::from("fail")),
        "{doc:#}"
    );
    // a timer that has to be set at each start is no cap
    let autodl = ["--provider", "autodl", "--price", "18 CNY"];
    let (_, doc) = budget(&[&autodl[..], &["--budget", "3000 CNY"]].concat());
    assert_ne!(worst(&doc)["verdict"], "pass");
    assert_ne!(worst(&doc)["code"], "worst_cap");
    let (code, doc) = budget(&[&autodl[..], &["--budget", "100 CNY"]].concat());
    assert_eq!((code, &worst(&doc)["verdict"]), (1, &Value::from("fail")));
    // nobody has verified what a stopped machine costs there
    assert_eq!(doc["guard"]["action"], "ask");
    assert_ne!(finding(&doc, "stopped-disks", "")["verdict"], "pass");
    // two currencies are not compared, and said
    let azure = ["--provider", "azure", "--price", "1 USD", "--budget"];
    let (code, doc) = budget(&[&azure[..], &["5000 EUR"]].concat());
    assert_eq!(
        (code, &worst(&doc)["code"]),
        (7, &Value::from("worst_currencies"))
    );
    home.run(&[&["accept", "budget"], &azure[..], &["0 USD"]].concat())
        .says(2, &["above 0"]);
}

#[test]
fn a_provider_that_nobody_knows_is_a_question() {
    let home = Home::new();
    let args = [
        "accept",
        "failure",
        "--provider",
        "示例算力",
        "--every",
        "30min",
    ];
    let (code, doc) = asked(&home, &[&args[..], &["--restart", "5min"]].concat());
    assert_eq!(code, 7);
    assert_eq!(
        finding(&doc, "local-disk", "示例算力")["verdict"],
        "unknown"
    );
    assert_eq!(finding(&doc, "loss", "")["verdict"], "pass");
    let file = home.file(
        "whole.toml",
        "[deal]\nprovider = \"示例算力\"\nprice = \"18 CNY\"\n[failure]\nevery = \"30min\"\n[budget]\nbudget = \"100 CNY\"\n",
    );
    let run = home.run(&["accept", &file, "-o", "json"]);
    let doc = run.exits(1).json();
    assert_eq!(worst(&doc)["verdict"], "fail");
    // a slip of the pen is not a new provider
    home.run(&[
        "accept",
        "failure",
        "--provider",
        "azzure",
        "--every",
        "30min",
    ])
    .says(2, &["azure"]);
}

#[test]
fn a_loss_that_is_not_whole_is_not_known() {
    let home = Home::new();
    let loss = |more: &[&str]| {
        let args = [&["accept", "failure", "--provider", "aws"], more].concat();
        let (_, doc) = asked(&home, &args);
        let found = finding(&doc, "loss", "");
        (found["verdict"].clone(), found["code"].clone())
    };
    assert_eq!(
        loss(&["--every", "55min"]),
        ("unknown".into(), "loss_at_least".into())
    );
    assert_eq!(
        loss(&["--every", "3h"]),
        ("warn".into(), "loss_at_least".into())
    );
    assert_eq!(loss(&["--every", "10min", "--restart", "1min"]).0, "pass");
    assert_eq!(
        loss(&["--every", "10min", "--save", "10h"]),
        ("fail".into(), "loss_save".into())
    );
    for (flag, value) in [
        ("--every", "0s"),
        ("--every", "99999999h"),
        ("--save", "9000h"),
    ] {
        home.run(&["accept", "failure", "--provider", "aws", flag, value])
            .says(2, &[flag]);
    }
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

/// A share of tickets is counted, not multiplied: 55 of 100 are 55 %.
#[test]
fn shares_of_tickets_are_exact_and_columns_have_names_in_both_languages() {
    let home = Home::new();
    let mut log = String::from("提问时间,首次答复,解决\n");
    for i in 0..100 {
        let minute = if i < 55 { "10" } else { "40" };
        log += &format!("2026-11-01 09:00,2026-11-01 09:{minute},2026-11-01 18:00\n");
    }
    let file = home.file("t.csv", &log);
    let args = [
        "accept",
        "support",
        &file,
        "--first-answer",
        "15min",
        "--solved",
        "10h",
    ];
    let (code, doc) = asked(&home, &[&args[..], &["--share", "55%"]].concat());
    assert_eq!(
        (code, verdict(&doc, "first-answer").as_str()),
        (0, "pass"),
        "{doc:#}"
    );
    let reason = finding(&doc, "first-answer", "")["reason"]
        .as_str()
        .expect("reason");
    assert!(reason.contains("10 min"), "{reason}");
    let (code, _) = asked(&home, &[&args[..], &["--share", "56%"]].concat());
    assert_eq!(code, 1);
    let broken = home.file(
        "b.csv",
        format!("{log}2026-11-02 09:00,\"2026-11-02 09:10,"),
    );
    let (code, doc) = asked(&home, &["accept", "support", &broken, "--solved", "10h"]);
    assert_eq!((code, verdict(&doc, "log").as_str()), (7, "unknown"));
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

/// A gate in a pipeline is not fooled by what is left out, nor closed by what is asked for the first time.
#[test]
fn what_is_not_looked_at_any_more_is_not_mended() {
    let home = Home::new();
    let driver = |name: &str, version: &str, needs: &[&str]| {
        let needs: Vec<&str> = needs.iter().flat_map(|n| ["--need", n]).collect();
        let args = ["accept", "driver", "--gpu", "A10", "--driver", version];
        home.file(
            name,
            asked(&home, &[&args[..], &needs].concat()).1.to_string(),
        )
    };
    let diff = |a: &str, b: &str| asked(&home, &["accept", "diff", a, b]);
    let failed = driver("failed.json", "450.80.02", &["torch==2.11.0"]);
    let other = driver("other.json", "450.80.02", &["numpy"]);
    let (code, doc) = diff(&failed, &other);
    assert_eq!(
        (code, doc["worse"].as_u64(), doc["gone_open"].as_u64()),
        (7, Some(0), Some(1))
    );
    // an update takes the remark on the old driver away
    let fixed = driver("fixed.json", "580.95.05", &["torch==2.11.0"]);
    let (code, doc) = diff(&failed, &fixed);
    assert_eq!((code, doc["gone_open"].as_u64()), (0, Some(0)), "{doc:#}");
    // more is asked now
    let more = driver(
        "more.json",
        "580.95.05",
        &["torch==2.11.0", "no-such-package"],
    );
    let (code, doc) = diff(&fixed, &more);
    assert_eq!(
        (code, doc["worse"].as_u64(), doc["new"].as_u64()),
        (0, Some(0), Some(1)),
        "{doc:#}"
    );
    let (code, _) = diff(&more, &failed);
    assert_eq!(code, 1);
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
