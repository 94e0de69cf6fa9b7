//! `probe --samples` over Parquet as pyarrow writes it, through the front door. All shapes are in `io/probe`.

#![allow(clippy::unwrap_used)]

mod common;

use common::Home;
use lessee_testkit::python;
use serde_json::json;
use std::process::Command;

const WRITE: &str = r#"
import sys, pathlib
import pyarrow as pa, pyarrow.parquet as pq
root = pathlib.Path(sys.argv[1])
pictures = [p.read_bytes() for p in sorted((root / "pictures").iterdir())]
struct = pa.array([{"bytes": b, "path": None} for b in pictures], pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
(root / "samples").mkdir()
pq.write_table(pa.table({"image": struct, "label": list(range(len(pictures)))}), root / "samples" / "train-00000.parquet")
pq.write_table(pa.table({"image": struct}), root / "samples" / "brotli.parquet", compression="brotli")
pq.write_table(pa.table({"x": [1.0]}), root / "samples" / "numbers.parquet")
"#;

#[test]
fn rows_are_samples_the_column_is_named_and_what_is_left_out_told() {
    let Some(python) = python::with("pyarrow.parquet", "files") else {
        return;
    };
    let home = Home::new();
    for i in 0..20_u64 {
        home.file(
            &format!("pictures/{i:02}.jpg"),
            lessee_probe_io::feed::jpeg(64, 48, i),
        );
    }
    let mut write = Command::new(python);
    write.args(["-c", WRITE]).arg(home.text());
    assert!(write.status().unwrap().success());
    let samples = home.path("samples");
    let args = [
        "probe",
        "--quick",
        "--only",
        "feed",
        "--workers",
        "1",
        "--batch",
        "4",
        "--side",
        "32",
        "--samples",
        samples.to_str().unwrap(),
    ];
    let set = home.run(&[&args[..], &["-o", "json"]].concat());
    let set = &set.exits(0).json()["feed"];
    assert_eq!(set["set"]["samples"], 20);
    assert_eq!(set["damaged"]["count"], 0);
    let columns = set["set"]["parquet"].as_array().unwrap();
    assert!(
        columns.contains(&json!({"column": "image.bytes", "files": 1})),
        "{columns:?}"
    );
    let notes = set["set"]["notes"].to_string();
    assert!(
        notes.contains("brotli.parquet: compressed by Brotli"),
        "{notes}"
    );
    assert!(
        notes.contains("numbers.parquet: no column of bytes"),
        "{notes}"
    );
    for (lang, words) in [
        ("en", "read from Parquet: image.bytes"),
        ("zh-CN", "字节列：image.bytes"),
    ] {
        let run = home.run(&[&args[..], &["--lang", lang]].concat()).exits(0);
        assert!(run.out.contains(words), "{}", run.out);
    }

    // alone, it is said and not only left out
    std::fs::remove_file(samples.join("train-00000.parquet")).unwrap();
    let run = home.run(&args).exits(7);
    assert!(run.out.contains("Brotli"), "{}", run.out);
}
