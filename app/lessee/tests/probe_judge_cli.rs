//! A report against an offer, against what is usual, and against another report, through the front door: GPUs that a fake
//! driver library plays, and reports in files. Never how fast anything is.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Home, Run, check, example};
use lessee_fake_gpu::{STATE_VARIABLE, State, install};
use serde_json::{Value, json};

const QUOTE: &str = "provider,region,gpu,count,price,unit\n\
                     acme,north,H100 SXM 80GB,8,20.00,USD per node hour\n\
                     acme,north,A100 SXM 80GB,8,12.00,USD per node hour\n";

/// A report of this program on a machine that is played.
fn measured(home: &Home, state: &State, more: &[&str]) -> Run {
    home.file("state.json", serde_json::to_string(state).unwrap());
    let lib = home.path("lib");
    if !lib.exists() {
        std::fs::create_dir(&lib).unwrap();
        install(&lib, &[]).unwrap();
    }
    let steps = ["--only", "look,gpu", "--device-mib", "1"];
    let args = [&["probe", "--quick"], &steps[..], more].concat();
    let mut command = home.command(&args);
    command
        .env("LD_LIBRARY_PATH", lib)
        .env(STATE_VARIABLE, home.path("state.json"));
    Run::of(command)
}

/// Eight H100 SXM with all that an offer states of such a machine, as a report of another day has it.
fn report() -> Value {
    let gpu = |index: u32| {
        json!({
            "index": index,
            "name": "NVIDIA H100 80GB HBM3",
            "memory_total_mib": 81559,
            "memory_bandwidth_gbs": {"state": "measured", "value": 2980.0, "samples": [2970.0, 2980.0, 2990.0]},
        })
    };
    let known = |value: Value| json!({"state": "claimed", "value": value});
    json!({
        "schema": "lessee/probe/v1",
        "measured_at": "2026-11-20T08:15:00Z",
        "gpus": (0..8).map(gpu).collect::<Vec<_>>(),
        "links": [{"a": 0, "b": 1, "kind": "nvswitch", "gbs": {"state": "measured", "value": 390.0}}],
        "all_reduce_bus_gbs": {"state": "measured", "value": 470.0},
        "host": {
            "cores": known(json!(192.0)),
            "memory_gib": known(json!(2000.0)),
            "stream_gbs": {"state": "measured", "value": 370.0, "samples": [330.0, 370.0, 410.0]},
        },
        "machine": {
            "container_signs": [],
            "vm_signs": ["sys_vendor: Amazon EC2"],
            "cpus_shown": known(json!(192)),
            "cpu_quota": known(json!({"kind": "unlimited"})),
            "memory_total_mib": known(json!(2_048_000)),
            "shm_mib": known(json!(1_024_000)),
            "kernel_log_visible": false,
            "interconnect": "nvswitch",
            "block_devices": [{"name": "nvme1n1", "bytes": 30_400_000_000_000_u64, "model": "Amazon EC2 NVMe Instance Storage"}],
        },
    })
}

struct Judged {
    doc: Value,
}

impl Judged {
    #[track_caller]
    fn of(home: &Home, report: &Value, offer: &str, code: i32) -> Judged {
        home.file("report.json", report.to_string());
        let args = [
            "probe",
            "judge",
            "report.json",
            "--offer",
            offer,
            "-o",
            "json",
        ];
        Judged {
            doc: home.run(&args).exits(code).json(),
        }
    }

    fn codes(&self, severity: &str) -> Vec<String> {
        let all = self.doc["findings"].as_array().unwrap().iter();
        let of = all.filter(|f| f["severity"] == severity);
        of.map(|f| f["code"].as_str().unwrap().to_owned()).collect()
    }

    fn row(&self, what: &str) -> &Value {
        let rows = self.doc["judged"]["promised"]["rows"].as_array().unwrap();
        rows.iter().find(|r| r["what"] == what).unwrap()
    }

    fn detail(&self, code: &str) -> &str {
        let findings = self.doc["findings"].as_array().unwrap();
        let found = findings.iter().find(|f| f["code"] == code).unwrap();
        found["detail"].as_str().unwrap()
    }
}

#[test]
fn a_machine_that_is_as_promised() {
    let home = Home::new();
    let judged = Judged::of(&home, &report(), "aws/p5.48xlarge", 0);
    assert_eq!(judged.doc["verdict"], "delivers");
    for what in [
        "gpu_model",
        "gpu_count",
        "gpu_memory",
        "gpu_link",
        "vcpus",
        "memory",
    ] {
        assert_eq!(judged.row(what)["outcome"], "kept", "{what}");
    }
    assert_eq!(judged.row("network")["outcome"], "not_measured");
    let expected = judged.doc["judged"]["expected"].as_array().unwrap();
    assert_eq!(
        expected.len(),
        3,
        "memory, a pair, the all-reduce: {expected:#?}"
    );
    assert!(
        expected.iter().all(|r| r["outcome"] == "usual"),
        "{expected:#?}"
    );
    let schema = home.run(&["schema", "probe"]).exits(0).json();
    let mut wrong = Vec::new();
    check(&judged.doc, &schema, &schema, "probe", &mut wrong);
    wrong.retain(|w| w.contains("not in the schema"));
    assert_eq!(wrong, [""; 0]);

    // judged once more the same, and the report itself says for which offer it speaks
    let again = Judged::of(&home, &judged.doc, "aws/p5.48xlarge", 0);
    assert_eq!(again.doc["findings"], judged.doc["findings"]);
    home.file("again.json", again.doc.to_string());
    let page = home.run(&["probe", "judge", "again.json"]).exits(0).out;
    assert!(page.contains("Promised by aws/p5.48xlarge"), "{page}");
    assert!(page.lines().all(|l| l.chars().count() <= 80), "{page}");
}

/// Each promise by itself, broken.
#[test]
fn what_is_less_or_other_than_promised() {
    let home = Home::new();
    let broken = |change: &dyn Fn(&mut Value), code: &str, detail: &str| {
        let mut report = report();
        change(&mut report);
        let judged = Judged::of(&home, &report, "aws/p5.48xlarge", 1);
        assert_eq!(judged.codes("fail"), [code]);
        assert_eq!(judged.detail(code), detail);
    };
    let each = |report: &mut Value, key: &str, value: Value| {
        for gpu in report["gpus"].as_array_mut().unwrap() {
            gpu[key] = value.clone();
        }
    };
    broken(
        &|r| {
            r["gpus"].as_array_mut().unwrap().pop();
        },
        "gpu_count_short",
        "promised 8, seen 7",
    );
    broken(
        &|r| each(r, "name", json!("NVIDIA H100 PCIe")),
        "gpu_form_differs",
        "promised H100 SXM 80 GB, seen NVIDIA H100 PCIe",
    );
    broken(
        &|r| r["gpus"][3]["name"] = json!("NVIDIA H20"),
        "gpu_model_differs",
        "promised H100 SXM 80 GB, seen NVIDIA H20",
    );
    broken(
        &|r| r["gpus"][5]["memory_total_mib"] = json!(40_960),
        "gpu_memory_short",
        "promised 80 GiB, seen 40 GiB",
    );
    broken(
        &|r| r["machine"]["interconnect"] = json!("pcie"),
        "gpu_link_weaker",
        "promised nvswitch, seen pcie",
    );
    broken(
        &|r| r["host"]["cores"]["value"] = json!(96.0),
        "vcpus_short",
        "promised 192, seen 96",
    );
    broken(
        &|r| r["host"]["memory_gib"]["value"] = json!(1000.0),
        "memory_short",
        "promised 2048 GiB, seen 1000 GiB",
    );
    broken(
        &|r| r["machine"]["block_devices"][0]["bytes"] = json!(1_000_000_000_000_u64),
        "disk_short",
        "promised 30400 GB, seen 1000 GB",
    );
}

/// A volume on a network is no local disk, and what may be one is not known.
#[test]
fn volumes_of_a_cloud_are_no_local_disks() {
    let home = Home::new();
    for model in [
        json!("Amazon Elastic Block Store"),
        json!("nvme_card-pd"),
        json!(null),
    ] {
        let mut report = report();
        report["machine"]["block_devices"][0]["model"] = model;
        let judged = Judged::of(&home, &report, "aws/p5.48xlarge", 7);
        assert_eq!(judged.row("local_disk")["outcome"], "not_seen");
    }
}

#[test]
fn error_correction_keeps_some_memory_and_what_is_not_seen_is_not_known() {
    let home = Home::new();
    let mut report = report();
    for gpu in report["gpus"].as_array_mut().unwrap() {
        gpu["memory_total_mib"] = json!(77_824);
    }
    let judged = Judged::of(&home, &report, "aws/p5.48xlarge", 0);
    assert!(
        judged
            .codes("note")
            .contains(&"gpu_memory_reserved".to_owned())
    );

    report["host"] = Value::Null;
    report["machine"] = Value::Null;
    let judged = Judged::of(&home, &report, "aws/p5.48xlarge", 7);
    assert_eq!(judged.codes("unknown"), ["promise_not_seen"]);
    let detail = judged.detail("promise_not_seen");
    for what in ["gpu_link nvswitch", "vcpus 192", "memory 2048 GiB"] {
        assert!(detail.contains(what), "{detail}");
    }
    // what the quote does not state is not judged
    home.file("quote.csv", QUOTE);
    Judged::of(&home, &report, "quote.csv#2", 0);
}

#[test]
fn a_quote_with_several_machines() {
    let home = Home::new();
    home.file("quote.csv", QUOTE);
    let mut report = report();
    let judged = Judged::of(&home, &report, "quote.csv", 0);
    assert!(
        judged
            .detail("offer_chosen")
            .starts_with("quote.csv#2 H100")
    );
    Judged::of(&home, &report, "quote.csv#3", 1);
    report["gpus"].as_array_mut().unwrap().truncate(4);
    home.file("four.json", report.to_string());
    let judge = |offer: &str| home.run(&["probe", "judge", "four.json", "--offer", offer]);
    judge("quote.csv").says(2, &["quote.csv#2 H100", "quote.csv#3 A100", "FILE#LINE"]);
    judge("quote.csv#9").says(2, &["line 9", "2, 3"]);
    judge("aws/p5.48xlrge").says(2, &["aws/p5.48xlrge", "aws/p5.48xlarge"]);
    judge("none.csv").says(2, &["none.csv", "FILE#LINE"]);
    home.file(
        "empty.csv",
        "provider,region,gpu,count,price,unit\nacme,north,H100,8,on request,\n",
    );
    judge("empty.csv").says(2, &["empty.csv", "--dry-run"]);
    home.file("picture.csv", b"\x89PNG\r\n\0\0\0\r");
    judge("picture.csv").says(2, &["picture.csv"]);
}

#[test]
fn figures_below_those_of_the_model() {
    let home = Home::new();
    let mut report = report();
    home.file("quote.csv", QUOTE);
    for gpu in report["gpus"].as_array_mut().unwrap() {
        gpu["memory_bandwidth_gbs"] = json!({"state": "measured", "value": 1500.0});
    }
    let judged = Judged::of(&home, &report, "quote.csv", 1);
    assert_eq!(judged.codes("fail"), ["below_expected"]);
    let detail = judged.detail("below_expected");
    assert!(
        detail.starts_with("memory_bandwidth 1500 GB/s, 8 of 8 below 2230"),
        "{detail}"
    );
    report["gpus"][2]["memory_bandwidth_gbs"]["value"] = json!(2600.0);
    for i in [0, 1, 3, 4, 5, 6, 7] {
        report["gpus"][i]["memory_bandwidth_gbs"]["value"] = json!(2980.0);
    }
    let judged = Judged::of(&home, &report, "quote.csv", 0);
    assert_eq!(judged.codes("warn"), ["below_usual"]);
    assert_eq!(judged.doc["findings"][0]["subject"], "gpu 2");
    report["links"][0]["gbs"]["value"] = json!(200.0);
    let judged = Judged::of(&home, &report, "quote.csv", 1);
    assert_eq!(judged.codes("fail"), ["below_expected"]);
    assert_eq!(judged.doc["findings"][0]["subject"], "gpu 0 - gpu 1");
    // nothing is known of this model
    for gpu in report["gpus"].as_array_mut().unwrap() {
        gpu["name"] = json!("NVIDIA H20");
    }
    home.file("report.json", report.to_string());
    let run = home
        .run(&["probe", "judge", "report.json", "--lang", "zh-CN"])
        .exits(0);
    assert!(run.out.contains("NVIDIA H20：这里不知道"), "{}", run.out);
    assert!(!run.out.contains("judge-found"), "{}", run.out);
}

#[test]
fn a_run_is_judged_as_it_ends() {
    let home = Home::new();
    home.file("quote.csv", QUOTE);
    let run = measured(
        &home,
        &State::nvswitch(),
        &["--offer", "quote.csv", "-o", "json"],
    );
    let doc = run.exits(0).json();
    assert_eq!(doc["offer"], "acme/H100-SXM-80GB-8x@north");
    assert_eq!(doc["judged"]["promised"]["rows"][0]["outcome"], "kept");
    let expected = doc["judged"]["expected"].as_array().unwrap();
    assert!(
        expected
            .iter()
            .any(|r| r["metric"] == "memory_bandwidth" && r["outcome"] == "usual")
    );
    let run = measured(
        &home,
        &State::pcie(),
        &["--offer", "quote.csv#2", "-o", "json"],
    );
    let doc = run.exits(1).json();
    let fails = doc["findings"].as_array().unwrap().iter();
    let fails: Vec<&str> = fails
        .filter(|f| f["severity"] == "fail")
        .map(|f| f["code"].as_str().unwrap())
        .collect();
    assert_eq!(fails, ["gpu_count_short", "gpu_form_differs"]);
    // a mistake in the call: nothing is measured
    measured(&home, &State::pcie(), &["--offer", "aws/p5.48xlrge"]).says(2, &["p5.48xlarge"]);
}

#[test]
fn what_was_not_asked_for_is_listed_and_decides_nothing() {
    let home = Home::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let args = [
        "probe",
        "--quick",
        "--only",
        "net",
        "--host",
        &host,
        "--offer",
        "aws/p5.48xlarge",
        "-o",
        "json",
    ];
    let doc = home.run(&args).exits(0).json();
    let rows = doc["judged"]["promised"]["rows"].as_array().unwrap();
    assert!(rows.len() >= 7);
    for row in rows {
        let outcome = match row["what"].as_str().unwrap() {
            "network" => "not_measured",
            _ => "not_asked",
        };
        assert_eq!(row["outcome"], outcome, "{row}");
    }
}

/// The table of offers has rows that nobody has verified: they accuse no machine.
#[test]
fn what_nobody_has_verified_is_a_warning() {
    let home = Home::new();
    let mut report = report();
    report["gpus"].as_array_mut().unwrap().truncate(4);
    let judged = Judged::of(&home, &report, "dataoorts/gc2.h100-80-8", 0);
    assert!(judged.codes("warn").contains(&"gpu_count_short".to_owned()));
    assert_eq!(judged.row("gpu_count")["outcome"], "broken");
}

/// The offers of the user's own snapshots are found like those that are built in.
#[test]
fn an_imported_quote_is_an_offer() {
    let home = Home::new();
    home.file("quote.csv", QUOTE);
    home.run(&["catalog", "import", "quote.csv"]).exits(0);
    let judged = Judged::of(&home, &report(), "acme/H100-SXM-80GB-8x", 0);
    assert_eq!(judged.row("gpu_count")["outcome"], "kept");
    assert_eq!(judged.doc["offer"], "acme/H100-SXM-80GB-8x");
}

#[test]
fn two_reports_side_by_side() {
    let home = Home::new();
    let a = report();
    let mut b = report();
    b["measured_at"] = json!("2026-11-21T08:15:00Z");
    b["gpus"][1]["memory_bandwidth_gbs"] = json!({"state": "measured", "value": 1490.0});
    b["gpus"][2]["memory_bandwidth_gbs"] = json!({"state": "unknown", "reason": "out_of_time"});
    b["host"]["stream_gbs"] = json!({"state": "measured", "value": 340.0});
    b["findings"] = json!([{
        "code": "memory_slow", "severity": "fail", "subject": "gpu 1", "detail": "", "text": "Slow memory."
    }]);
    home.file("a.json", a.to_string());
    home.file("b.json", b.to_string());
    let doc = home
        .run(&["probe", "diff", "a.json", "b.json", "-o", "json"])
        .exits(0)
        .json();
    let row = |subject: &str, figure: &str| {
        let rows = doc["rows"].as_array().unwrap();
        let found = rows
            .iter()
            .find(|r| r["subject"] == subject && r["figure"] == figure);
        found.unwrap().clone()
    };
    let halved = row("gpu 1", "memory_bandwidth_gbs");
    assert_eq!(
        (&halved["change"], &halved["marked"]),
        (&json!(-0.5), &json!(true))
    );
    let lost = row("gpu 2", "memory_bandwidth_gbs");
    assert_eq!(
        (&lost["change"], &lost["marked"]),
        (&Value::Null, &json!(true))
    );
    assert_eq!(row("gpu 0", "memory_bandwidth_gbs")["marked"], false);
    // eight percent less, where single runs spread by twenty
    assert_eq!(row("memory", "stream_gbs")["marked"], false);
    assert_eq!(doc["gained"][0]["code"], "memory_slow");
    assert_eq!(doc["lost"], json!([]));
    let schema = home.run(&["schema", "probe-diff"]).exits(0).json();
    let mut wrong = Vec::new();
    check(&doc, &schema, &schema, "probe-diff", &mut wrong);
    assert_eq!(wrong, [""; 0]);
    let page = home
        .run(&["probe", "diff", "a.json", "b.json"])
        .exits(0)
        .out;
    assert!(
        page.contains("-50 %") && page.contains("Slow memory."),
        "{page}"
    );
    assert!(page.lines().all(|l| l.chars().count() <= 80), "{page}");

    // the same cards in other slots
    let with =
        |order: [usize; 8]| {
            let machine = &mut State::nvswitch();
            machine.gpus = order.map(|i| machine.gpus[i].clone()).to_vec();
            machine.gpus.iter_mut().zip(0..).for_each(|(gpu, slot)| {
                gpu.pci = format!("00000000:{:02X}:00.0", 0x18 + 0x10 * slot)
            });
            let run = measured(&home, machine, &["-o", "json"]);
            run.exits(0).out
        };
    home.file("a.json", with([0, 1, 2, 3, 4, 5, 6, 7]));
    home.file("b.json", with([1, 0, 2, 3, 4, 5, 6, 7]));
    let doc = home
        .run(&["probe", "diff", "a.json", "b.json", "-o", "json"])
        .exits(0)
        .json();
    assert_eq!(doc["same_gpus"], true);
    assert_eq!(doc["facts"], json!([]));
}

#[test]
fn files_that_are_no_reports() {
    let home = Home::new();
    home.file("good.json", report().to_string());
    let bad = |content: &[u8], words: &[&str]| {
        home.file("bad.json", content);
        for args in [
            &["diff", "good.json", "bad.json"][..],
            &["judge", "bad.json"],
        ] {
            home.run(&[&["probe"], args].concat()).says(2, words);
        }
    };
    bad(b"", &["bad.json"]);
    bad(b"{", &["bad.json"]);
    bad(b"[1, 2]", &["bad.json"]);
    bad(b"\xff\xfe\0", &["bad.json"]);
    bad(&[b'['; 100_000], &["bad.json"]);
    bad(
        br#"{"schema": "lessee/plan/v1", "measured_at": ""}"#,
        &["bad.json", "lessee/plan/v1"],
    );
    let mut odd = report();
    odd["gpuz"] = json!(1);
    bad(odd.to_string().as_bytes(), &["bad.json", "gpuz"]);
    home.run(&["probe", "diff", "good.json", "none.json"])
        .says(2, &["none.json"]);
    // figures without sense are no reason to fail
    let mut odd = report();
    odd["gpus"][0]["memory_bandwidth_gbs"] =
        json!({"state": "measured", "value": 0.0, "samples": [-1e308, 1e308]});
    odd["gpus"][1]["index"] = json!(0);
    odd["links"][0] = json!({"a": 4_294_967_295_u32, "b": 7, "kind": "\u{1b}[31m", "gbs": {"state": "measured", "value": -1e308}});
    home.file("odd.json", odd.to_string());
    home.run(&["probe", "diff", "odd.json", "good.json"])
        .exits(0);
    home.run(&["probe", "diff", "good.json", "odd.json"])
        .exits(0);
}

#[test]
fn a_plan_takes_what_was_measured_for_the_offer_that_is_named() {
    let home = Home::new();
    let mut report = report();
    report["offer"] = json!("aws/p5.48xlarge");
    home.file("whole.json", report.to_string());
    for gpu in report["gpus"].as_array_mut().unwrap() {
        gpu["memory_bandwidth_gbs"] = json!({"state": "measured", "value": 1490.0});
    }
    home.file("half.json", report.to_string());
    let plan = example("finetune-8b.toml");
    let seconds = |probe: &str| {
        let doc = home.json(&["plan", &plan, "--all", "--measured", probe]);
        let mut seconds = std::collections::BTreeMap::new();
        for option in doc["options"].as_array().unwrap() {
            let key = option["offer"]["key"].as_str().unwrap().to_owned();
            let purchase = option["purchase"].as_str().unwrap().to_owned();
            let took = option["work"]["duration_seconds"].as_f64().unwrap();
            seconds.insert((key, option["nodes"].as_u64(), purchase), took);
        }
        seconds
    };
    let (whole, half) = (seconds("whole.json"), seconds("half.json"));
    let mut slower = 0;
    for (option, took) in &whole {
        match option.0.starts_with("aws/p5.48xlarge@") {
            true => {
                assert!(half[option] > 1.05 * took, "{option:?}");
                slower += 1;
            }
            // it speaks for no other machine
            false => assert_eq!(half.get(option), Some(took), "{option:?}"),
        }
    }
    assert!(slower > 0);
}

/// The committed example without its offer, with one change.
fn changed(home: &Home, change: impl Fn(&mut Value)) -> (i32, Value) {
    let text = std::fs::read_to_string(common::example("probe-8xh100.json")).expect("example");
    let mut report: Value = serde_json::from_str(&text).expect("JSON");
    report["offer"] = Value::Null;
    for gpu in report["gpus"].as_array_mut().expect("GPUs") {
        gpu["tensor_tflops"] = Value::Null;
    }
    change(&mut report);
    let file = home.file("changed.json", report.to_string());
    let run = home.run(&["probe", "judge", &file, "-o", "json"]);
    (run.code, run.json())
}

fn codes(doc: &Value) -> Vec<&str> {
    let findings = doc["findings"].as_array().expect("findings");
    findings
        .iter()
        .map(|f| f["code"].as_str().expect("code"))
        .collect()
}

#[test]
fn what_a_stored_report_says_of_itself_counts() {
    let home = &Home::new();
    let (code, doc) = changed(home, |_| {});
    assert_eq!(code, 0, "{doc:#}");
    let bandwidth = |reading: Value| {
        changed(home, |report| {
            for gpu in report["gpus"].as_array_mut().expect("GPUs") {
                gpu["memory_bandwidth_gbs"] = reading.clone();
            }
        })
    };
    let failed = json!({"state": "failed", "reason": "wrong_results: 3"});
    let (code, doc) = bandwidth(failed.clone());
    assert_eq!((code, codes(&doc)[0]), (1, "figure_failed"));
    for value in [-5.0, 0.0, 5000.0, 1e300] {
        let (code, doc) = bandwidth(json!({"state": "measured", "value": value}));
        assert_eq!((code, codes(&doc)[0]), (7, "figure_impossible"), "{value}");
    }
    let (code, doc) = changed(home, |r| r["all_reduce_bus_gbs"] = failed.clone());
    assert_eq!((code, codes(&doc)), (1, vec!["figure_failed"]));
    let (code, doc) = changed(home, |r| r["disk"]["read_gbs"] = failed.clone());
    assert_eq!((code, codes(&doc)), (1, vec!["figure_failed"]));
    // a share that is 0 is one
    let (code, _) = changed(home, |r| {
        r["host"]["steal"] = json!({"state": "measured", "value": 0.0});
    });
    assert_eq!(code, 0);
}

#[test]
fn nothing_measured_is_cannot_tell() {
    let home = &Home::new();
    let empty = json!({"schema": "lessee/probe/v1", "measured_at": "2026-11-20T08:15:00Z"});
    let run = home.run(&[
        "probe",
        "judge",
        &home.file("empty.json", empty.to_string()),
    ]);
    run.exits(7);
    let run = home.run(&["probe", "--quick", "--only", "net", "-o", "json"]);
    assert_eq!(codes(&run.exits(7).json()), ["nothing_measured"]);
    let undated = json!({"schema": "lessee/probe/v1", "measured_at": "yesterday"});
    let run = home.run(&[
        "probe",
        "judge",
        &home.file("undated.json", undated.to_string()),
    ]);
    run.says(2, &["undated.json", "measured_at = yesterday"]);
}
