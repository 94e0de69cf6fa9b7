//! `probe read` and `probe watch` through the front door: captures of our own, and the published ones where they lie
//! beside the checkout.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stdout)]

mod common;

use common::Home;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Captures under a folder, `KIND/NAME.<ext>`, with the facts beside each.
fn captures(dir: &Path) -> Vec<(PathBuf, PathBuf)> {
    let mut out = Vec::new();
    for kind in std::fs::read_dir(dir).unwrap() {
        let kind = kind.unwrap().path();
        if !kind.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(kind).unwrap() {
            let file = file.unwrap().path();
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            if name.ends_with(".expect.json") {
                continue;
            }
            let facts = file.with_extension("expect.json");
            if facts.is_file() {
                out.push((file, facts));
            }
        }
    }
    out.sort();
    out
}

/// One call for all of them: the array holds an element for each, in order, with its kind and its facts.
fn all_read_right(dir: &Path) -> usize {
    let captures = captures(dir);
    assert!(!captures.is_empty(), "no captures in {}", dir.display());
    let home = Home::new();
    let files = captures.iter().map(|(f, _)| f.to_str().unwrap());
    let mut args = vec!["probe", "read"];
    args.extend(files);
    let answer = home.json(&args);
    let answer = answer.as_array().unwrap();
    assert_eq!(answer.len(), captures.len());
    let mut wrong = Vec::new();
    for (got, (file, facts)) in answer.iter().zip(&captures) {
        let kind = file
            .parent()
            .unwrap()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap();
        let text = std::fs::read_to_string(facts).unwrap();
        let want: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(got["file"], file.to_str().unwrap());
        if got["kind"] != kind {
            wrong.push(format!("{}: read as {}", file.display(), got["kind"]));
        }
        for (key, want) in want.as_object().unwrap() {
            if got["facts"].get(key) != Some(want) {
                wrong.push(format!(
                    "{} {key}: {:?}",
                    file.display(),
                    got["facts"].get(key)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    captures.len()
}

#[test]
fn own_captures_read_right() {
    assert!(all_read_right(&root().join("io/probe/tests/data")) >= 15);
}

#[test]
fn published_captures_read_right() {
    let dir = root().join("../shared/data/probe/samples");
    if !dir.is_dir() {
        println!("skipped: {} is not there", dir.display());
        return;
    }
    assert_eq!(all_read_right(&dir), 139);
}

#[test]
fn what_is_no_capture_cannot_be_told() {
    let home = Home::new();
    let file = home.file("letter.txt", "Dear renter,\nthe machine is very fast.\n");
    let run = home.run(&["probe", "read", &file]).exits(7);
    assert!(run.out.contains("known here"), "{}", run.out);
    let array = home.run(&["probe", "read", &file, "-o", "json"]).exits(7);
    let array: Value = serde_json::from_str(&array.out).unwrap();
    assert_eq!(array[0]["kind"], Value::Null);
    assert_eq!(array[0]["not_understood"].as_array().unwrap().len(), 2);
    let run = home.run(&["probe", "read", "/no/such/file"]).exits(2);
    assert!(run.err.contains("/no/such/file"), "{}", run.err);
    home.run(&["probe", "read", home.path("").to_str().unwrap()])
        .exits(2);
}

/// Work at full power, then a kernel that spins: utilisation stays, power and traffic go.
fn hung() -> String {
    let mut text = "t_s,util_gpu_pct,util_mem_pct,power_w,power_limit_w\n".to_owned();
    for t in 0..900 {
        let (util, traffic, power) = if t < 300 {
            (97, 55, 640)
        } else {
            (100, 0, 130)
        };
        text.push_str(&format!("{t},{util},{traffic},{power},700\n"));
    }
    text
}

#[test]
fn a_hang_is_named_with_its_time() {
    let home = Home::new();
    let file = home.file("hung.csv", hung());
    let doc = home.json(&["probe", "watch", "--from", &file]);
    assert_eq!(doc["schema"], "lessee/watch/v1");
    let gpu = &doc["gpus"][0];
    assert!(gpu["label"].as_str().unwrap().starts_with("HUNG"), "{gpu}");
    assert_eq!(gpu["confidence"], "high");
    let span = &gpu["spans"][0];
    assert!(
        (span["from_s"].as_f64().unwrap() - 300.0).abs() < 10.0,
        "{span}"
    );
    assert!(!span["cause"].as_str().unwrap().is_empty());
    for lang in ["en", "zh-CN"] {
        let run = home
            .run(&["probe", "watch", "--from", &file, "--lang", lang])
            .exits(0);
        let hung = if lang == "en" { "hung" } else { "挂起" };
        assert!(run.out.contains(hung), "{}", run.out);
        assert!(
            !run.out.contains("watch-"),
            "a message without a text: {}",
            run.out
        );
    }
}

#[test]
fn published_curves_are_read_right() {
    let dir = root().join("../shared/data/util");
    let Ok(text) = std::fs::read_to_string(dir.join("labels.json")) else {
        println!("skipped: {} is not there", dir.display());
        return;
    };
    let labels: Value = serde_json::from_str(&text).unwrap();
    let home = Home::new();
    let mut seen = 0;
    for entry in labels.as_array().unwrap() {
        let Some(file) = entry["file"].as_str() else {
            continue;
        };
        let path = dir.join(file);
        let mut args = vec!["probe", "watch", "--from", path.to_str().unwrap()];
        let step = entry["sample_s"].as_f64().map(|s| s.to_string());
        if let Some(step) = &step {
            args.extend(["--sample-seconds", step]);
        }
        let doc = home.json(&args);
        for gpu in doc["gpus"].as_array().unwrap() {
            assert_eq!(gpu["label"], entry["label"], "{file}: {gpu}");
        }
        seen += 1;
    }
    assert!(seen > 5);
}

/// A record without a time to speak of, or with a hole of a day, is never sure.
#[test]
fn times_that_cannot_be_are_never_sure() {
    let home = Home::new();
    let log = |name: &str, time: &dyn Fn(usize) -> f64| {
        let rows = (0..300).map(|i| format!("{},410,1830,91,{},74315\n", time(i), 74 + i % 4));
        let header = "t_s,power_w,sm_clock_mhz,util_gpu_pct,util_mem_pct,mem_used_mib\n";
        let file = home.file(name, header.to_owned() + &rows.collect::<String>());
        home.json(&["probe", "watch", "--from", &file])["gpus"][0].clone()
    };
    let good = log("good.csv", &|i| i as f64);
    assert_eq!(
        (&good["label"], &good["confidence"]),
        (&json!("HEALTHY_MEMORY_BOUND"), &json!("high"))
    );
    for (name, gpu) in [
        ("still.csv", log("still.csv", &|_| 0.0)),
        (
            "hole.csv",
            log("hole.csv", &|i| {
                i as f64 + if i < 150 { 0.0 } else { 97_200.0 }
            }),
        ),
    ] {
        assert_eq!(gpu["confidence"], "low", "{name}: {gpu:#}");
        assert!(
            gpu["why"].as_str().unwrap().contains("stand still"),
            "{name}: {gpu:#}"
        );
    }
}

#[test]
fn a_log_that_is_none_says_what_is_known() {
    let home = Home::new();
    let file = home.file("x.csv", "a,b\n1,2\n");
    let run = home.run(&["probe", "watch", "--from", &file]).exits(2);
    assert!(run.err.contains("dmon"), "{}", run.err);
    let file = home.file("hung.csv", hung());
    let run = home
        .run(&["probe", "watch", "--from", &file, "--gpu", "H10"])
        .exits(2);
    assert!(run.err.contains("H10"), "{}", run.err);
    home.run(&["probe", "watch", "--from", &file, "--sample-seconds", "0"])
        .exits(2);
}
