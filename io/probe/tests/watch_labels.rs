//! Every labelled curve beside the repository gets its label, its time spans, and none of the readings that would be
//! wrong.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stdout)]

use lessee_probe_io::watch::{self, Options};
use lessee_supervise::curve::{self, Reading, Rules};
use serde_json::Value;
use std::path::PathBuf;

fn curves() -> Option<PathBuf> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/util");
    if dir.is_dir() {
        return Some(dir);
    }
    println!("skipped: {} is not there", dir.display());
    None
}

fn rules() -> Rules {
    Rules::from_toml(include_str!("../../../data/curve.toml")).unwrap()
}

fn readings(file: &str, sample_s: Option<f64>) -> Option<Vec<Reading>> {
    let text = std::fs::read_to_string(curves()?.join(file)).unwrap();
    let options = Options {
        sample_s,
        ..Options::default()
    };
    let recording = watch::read(file, &text, &options).unwrap();
    assert_eq!(
        recording.skipped, 0,
        "{file}: {:?}",
        recording.not_understood
    );
    Some(curve::read(&recording.series, &rules()))
}

fn entries() -> Vec<Value> {
    let Some(dir) = curves() else {
        return Vec::new();
    };
    let text = std::fs::read_to_string(dir.join("labels.json")).unwrap();
    let all: Vec<Value> = serde_json::from_str(&text).unwrap();
    all.into_iter()
        .filter(|e| e.get("file").is_some())
        .collect()
}

#[test]
fn labels() {
    let mut wrong = Vec::new();
    for e in entries() {
        let file = e["file"].as_str().unwrap();
        let found = readings(file, e["sample_s"].as_f64()).unwrap();
        for r in &found {
            println!(
                "{file} {} {:?} {:?} {:?}",
                r.gpu, r.label, r.confidence, r.why
            );
            if r.label.as_str() != e["label"] {
                wrong.push(format!("{file}: {} for {}", r.label.as_str(), e["label"]));
            }
            let sure = serde_json::to_value(r.confidence).unwrap();
            if sure != e["confidence"] {
                wrong.push(format!("{file}: {sure} for {}", e["confidence"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn never() {
    for e in entries() {
        let file = e["file"].as_str().unwrap();
        let found = readings(file, e["sample_s"].as_f64()).unwrap();
        for r in &found {
            for not in e["must_not"].as_array().unwrap() {
                let not = not.as_str().unwrap();
                let label = r.label.as_str();
                // IDLE_AFTER_LOAD is no IDLE, HEALTHY_TRAINING is HEALTHY
                let family = matches!(not, "HEALTHY" | "HUNG" | "STARVED");
                let is = label == not || (family && label.starts_with(not));
                assert!(!is, "{file}: {label}");
                let spans = r.spans.iter().filter(|s| s.label.as_str().starts_with(not));
                assert_eq!(spans.count(), 0, "{file}: {:?}", r.spans);
            }
        }
    }
}

#[test]
fn spans() {
    for e in entries() {
        let Some(want) = e.get("spans") else {
            continue;
        };
        let file = e["file"].as_str().unwrap();
        let found = readings(file, e["sample_s"].as_f64()).unwrap();
        let near = |a: f64, b: &Value, plus: f64| (a - b.as_f64().unwrap() - plus).abs() <= 5.0;
        for r in &found {
            let spans: Vec<_> = r.spans.iter().filter(|s| s.label == r.label).collect();
            for want in want.as_array().unwrap() {
                let every = want.get("every_s").map(|x| x.as_f64().unwrap());
                for (k, span) in spans.iter().enumerate() {
                    let plus = every.map_or(0.0, |s| s * k as f64);
                    let (from, to) = (span.from_s, span.to_s);
                    let fits = near(from, &want["from_s"], plus) && near(to, &want["to_s"], plus);
                    assert!(fits, "{file}: {from} to {to}");
                }
                assert_eq!(spans.len(), if every.is_some() { 6 } else { 1 }, "{file}");
            }
        }
    }
}

/// What processes use, as `pmon` prints it: the same machines at the same times.
#[test]
fn processes() {
    for (file, want) in [
        ("l40s-595-load", "ENCODER_ONLY"),
        ("h200-590-load", "HEALTHY_COMPUTE_BOUND"),
        ("h100-mig-590-load", "UNKNOWN_MIG"),
        ("h100-mig-590-idle", "UNKNOWN_MIG"),
        // no process is no figure: idleness is likely, and dmon would say so
        ("h200-590-idle", "UNKNOWN_MIG"),
    ] {
        let Some(found) = readings(&format!("nvidia-smi/{file}.pmon.txt"), None) else {
            return;
        };
        assert_eq!(found.len(), 1, "{file}");
        assert_eq!(found[0].label.as_str(), want, "{file}");
    }
}
