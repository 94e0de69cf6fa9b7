//! Every capture reads as the reading beside it says: our own small ones in `tests/data`, and the real ones where
//! they lie beside the checkout.
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests stop at the first surprise too"
)]

use lessee_probe_io::read::{Kind, read};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// The captures of a kind, each with the file of its right reading.
fn captures(folder: &Path) -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".expect.json") else {
            continue;
        };
        let capture = std::fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().path())
            .find(|p| {
                let other = p.file_name().unwrap().to_string_lossy().into_owned();
                *p != path
                    && other
                        .strip_prefix(stem)
                        .is_some_and(|r| r.starts_with('.') && r[1..].find('.').is_none())
            });
        found.push((
            capture.unwrap_or_else(|| panic!("no capture beside {name}")),
            path,
        ));
    }
    found.sort();
    found
}

/// How a capture's reading differs from the right one.
fn differences(capture: &Path, expect: &Path, kind: Kind) -> Vec<String> {
    let read = read(&std::fs::read(capture).unwrap());
    let right: Map<String, Value> =
        serde_json::from_slice(&std::fs::read(expect).unwrap()).unwrap();
    let name = format!(
        "{}/{}",
        kind.as_str(),
        capture.file_name().unwrap().to_string_lossy()
    );
    let mut all = Vec::new();
    if read.kind != Some(kind) {
        all.push(format!("{name}: read as {:?}", read.kind.map(Kind::as_str)));
    }
    for (key, value) in &right {
        if read.facts.get(key) != Some(value) {
            let got = read
                .facts
                .get(key)
                .map_or("absent".to_owned(), Value::to_string);
            all.push(format!("{name}: {key}\n   right {value}\n   read  {got}"));
        }
    }
    all
}

fn check(root: &Path) {
    let mut wrong = Vec::new();
    let mut count = 0;
    for kind in Kind::ALL.iter().filter(|k| k.is_read()) {
        let folder = root.join(kind.as_str());
        if !folder.is_dir() {
            eprintln!("skipped: no {}", folder.display());
            continue;
        }
        for (capture, expect) in captures(&folder) {
            count += 1;
            wrong.extend(differences(&capture, &expect, *kind));
        }
    }
    assert!(count > 0, "no captures under {}", root.display());
    assert!(
        wrong.is_empty(),
        "{} differences in {count} captures\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn our_own_captures_read_right() {
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data"));
}

#[test]
fn real_captures_read_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/probe/samples");
    if !root.is_dir() {
        eprintln!("skipped: no {}", root.display());
        return;
    }
    check(&root);
}
