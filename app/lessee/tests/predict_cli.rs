//! `predict` through the real binary: jobs on named GPUs, and whole tables of measurements.

mod common;

use common::{Home, example};
use serde_json::Value;
use std::path::PathBuf;

fn rate(doc: &Value, index: usize) -> f64 {
    doc["predictions"][index]["work"]["per_second"]
        .as_f64()
        .expect("a rate")
}

#[test]
fn gpus_named_on_the_command_line_stand_side_by_side() {
    let home = Home::new();
    let serve = example("serve-8b.toml");
    let doc = home.json(&["predict", &serve, "--gpu", "H100-SXM", "--gpu", "A10G"]);
    assert_eq!(doc["schema"], "lessee/prediction/v1");
    let work = &doc["predictions"][0]["work"];
    for key in ["low", "high", "bound_by", "memory", "terms", "layout"] {
        assert!(!work[key].is_null(), "{key}");
    }
    assert!(work["low"].as_f64() < work["per_second"].as_f64());
    assert!(work["per_second"].as_f64() < work["high"].as_f64());
    assert!(work["terms"].as_array().is_some_and(|t| t.len() >= 4));
    // 3,350 GB/s against 600: no objective turns that round
    assert!(rate(&doc, 0) > 4.0 * rate(&doc, 1));
}

#[test]
fn a_model_that_does_not_fit_is_refused_with_the_memory_it_needs() {
    let home = Home::new();
    let serve = example("serve-70b.toml");
    let run = home.run(&["predict", &serve, "--gpu", "L4", "-o", "json"]);
    assert_eq!(run.code, 1, "{}", run.err);
    let doc: Value = serde_json::from_str(&run.out).expect("JSON");
    let refused = &doc["predictions"][0]["refused"];
    assert_eq!(refused["code"], "does_not_fit", "{refused}");
    assert!(
        refused["text"].as_str().is_some_and(|t| t.contains("GB")),
        "{refused}"
    );
}

#[test]
fn a_probe_replaces_published_rates() {
    let home = Home::new();
    let serve = example("serve-8b.toml");
    let probe = |gbs: f64| {
        format!(
            r#"{{"schema": "lessee/probe/v1", "measured_at": "2026-11-20T08:15:00Z", "gpus": [{{"index": 0, "name": "NVIDIA H100 80GB HBM3", "memory_total_mib": 81559, "memory_bandwidth_gbs": {{"state": "measured", "value": {gbs}}}}}]}}"#
        )
    };
    let slow = home.file("slow.json", probe(1500.0));
    let fast = home.file("fast.json", probe(3000.0));
    let ask = |file: &str| {
        rate(
            &home.json(&["predict", &serve, "--gpu", "H100-SXM", "--measured", file]),
            0,
        )
    };
    assert!(ask(&fast) > 1.1 * ask(&slow));
}

#[test]
fn a_tuned_stack_serves_and_trains_faster_than_a_renter() {
    let home = Home::new();
    for (file, gpu) in [
        ("serve-8b.toml", "H100-SXM"),
        ("imagenet-resnet50.toml", "A100-80GB-SXM:8"),
    ] {
        let path = example(file);
        let ask = |more: &[&str]| home.json(&[&["predict", &path, "--gpu", gpu], more].concat());
        let (renter, tuned) = (ask(&[]), ask(&["--tier", "tuned"]));
        assert_eq!(renter["tier"], "renter");
        assert_eq!(tuned["tier"], "tuned");
        assert!(rate(&tuned, 0) > 1.1 * rate(&renter, 0), "{file}");
        let work = &tuned["predictions"][0]["work"];
        assert!(work["low"].as_f64() < work["per_second"].as_f64());
        assert!(work["per_second"].as_f64() < work["high"].as_f64());
    }
    // without the flag it is the renter's
    let serve = example("serve-8b.toml");
    let plain = ["predict", &serve, "--gpu", "A10G"];
    let said = home.json(&[&plain[..], &["--tier", "renter"]].concat());
    assert_eq!(rate(&home.json(&plain), 0), rate(&said, 0));
}

#[test]
fn a_job_without_tuned_runs_is_told_so_in_both_languages() {
    let home = Home::new();
    for file in ["pretrain-1.3b.toml", "render-2000.toml", "sweep-200.toml"] {
        let path = example(file);
        let args = ["predict", &path, "--gpu", "H100-SXM:8", "--tier", "tuned"];
        let run = home.run(&[&args[..], &["-o", "json"]].concat());
        assert_eq!(run.code, 1, "{file}: {}", run.err);
        let doc: Value = serde_json::from_str(&run.out).expect("JSON");
        assert_eq!(
            doc["predictions"][0]["refused"]["code"], "no_tuned",
            "{file}"
        );
        let run = home.run(&[&args[..], &["--lang", "zh-CN"]].concat());
        assert!(run.out.contains("厂商调优"), "{}", run.out);
    }
    // a table's rows name their engine: no tier can be given
    let table = home.file("rows.csv", ROWS);
    let run = home.run(&["predict", "--table", &table, "--tier", "tuned"]);
    assert_eq!(run.code, 2);
    let serve = example("serve-70b.toml");
    let run = home.run(&[
        "predict", &serve, "--gpu", "L4", "--tier", "tuned", "-o", "json",
    ]);
    let doc: Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!(doc["predictions"][0]["refused"]["code"], "does_not_fit");
}

const ROWS: &str = "\
source,date,gpu,n_gpu,tp,model,precision,engine,batch,input_len,output_len,metric,value,unit,note
own,2026-11,NVIDIA H100 80GB HBM3,1,1,meta-llama/Llama-3.1-8B-Instruct,fp8,trtllm,16,1024,1024,tpot_ms,9.0,ms,
own,2026-11,L9000,1,1,Llama-3.1-8B,fp8,vllm,16,1024,1024,tpot_ms,9.0,ms,\"a, note\"
own,2026-11,L4,1,1,Llama-3.1-8B,fp8,vllm,16,1024,many,tpot_ms,9.0,ms,
own,2026-11,L4,1,1,Llama-3.1-8B,fp8,vllm,16,1024,1024,smiles_per_hour,9.0,ms,
";

#[test]
fn a_table_gets_four_columns_and_keeps_its_own() {
    let home = Home::new();
    let table = home.file("rows.csv", ROWS);
    let run = home.run(&["predict", "--table", &table, "-o", "csv"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), 5);
    for (before, after) in ROWS.lines().zip(&lines) {
        assert!(after.starts_with(before), "{after}");
    }
    assert!(lines[0].ends_with(",predicted,low,high,reason"));
    let cells: Vec<f64> = lines[1]
        .rsplit(',')
        .skip(1)
        .take(3)
        .map(|cell| cell.parse().expect("a number"))
        .collect();
    let (high, low, predicted) = (cells[0], cells[1], cells[2]);
    assert!(
        low < predicted && predicted < high && predicted < 40.0,
        "{cells:?}"
    );
    assert!(lines[2].ends_with(",,,,no_spec"), "{}", lines[2]);
    assert!(lines[3].ends_with(",,,,number_unreadable"), "{}", lines[3]);
    assert!(lines[4].ends_with(",,,,unknown_metric"), "{}", lines[4]);
}

#[test]
fn a_table_in_json_says_how_its_measured_rows_compare() {
    let home = Home::new();
    let table = home.file("rows.csv", ROWS);
    let doc = home.json(&["predict", "--table", &table]);
    assert_eq!(doc["schema"], "lessee/prediction-table/v1");
    assert_eq!(doc["rows"].as_array().map(Vec::len), Some(4));
    let family = &doc["families"][0];
    assert_eq!(
        (family["predicted"].as_u64(), family["measured"].as_u64()),
        (Some(1), Some(1))
    );
    let row = &doc["rows"][0];
    let off = (row["predicted"].as_f64().expect("a number") / 9.0 - 1.0).abs();
    assert!((family["error_median"].as_f64().expect("an error") - off).abs() < 1e-9);
    assert_eq!(doc["rows"][1]["reason"]["code"], "no_spec");
    assert!(
        doc["rows"][1]["reason"]["text"]
            .as_str()
            .is_some_and(|t| t.contains("L9000"))
    );
}

#[test]
fn what_is_no_table_is_refused_with_its_place() {
    let home = Home::new();
    for (name, content, words) in [
        ("empty.csv", b"".to_vec(), "empty"),
        ("other.csv", b"a,b\n1,2\n".to_vec(), "line 1"),
        (
            "ragged.csv",
            b"gpu,metric,input_len\nL4,tpot_ms\n".to_vec(),
            "line 2",
        ),
        ("zeros.csv", vec![0; 10_000], "not text"),
    ] {
        let file = home.file(name, content);
        let run = home.run(&["predict", "--table", &file]);
        assert_eq!(run.code, 2, "{name}: {}{}", run.out, run.err);
        assert!(
            run.err.contains(name) && run.err.contains(words),
            "{name}: {}",
            run.err
        );
    }
    let run = home.run(&["predict", "--table", home.text()]);
    assert_eq!(run.code, 2, "{}", run.err);
    let run = home.run(&["predict", &example("serve-8b.toml")]);
    assert!(
        run.code == 2 && run.err.contains("--gpu H100:8"),
        "{}",
        run.err
    );
}

const CHAT: &str = "\
kind = \"serve\"

[serve]
model = \"llama-3.1-8b\"
precision = \"bf16\"
rate = 1.0
input_tokens = 256
output_tokens = 128
tpot_ms = 40.0
duration = \"730h\"
";

/// `docs/concepts/bandwidth-claim.md`: "for inference prefer L40S or A10 to A100, since bandwidth matters most".
#[test]
fn bandwidth_speaks_for_the_a100_and_fp8_for_the_l40s() {
    let home = Home::new();
    let chat = home.file("chat.toml", CHAT);
    let ask = |more: &[&str]| {
        let gpus = ["--gpu", "A10G", "--gpu", "L40S", "--gpu", "A100-PCIE-80GB"];
        home.json(&[&["predict", &chat], &gpus[..], more].concat())
    };
    let tight = ask(&["--serve-tpot-ms", "15"]);
    assert!(tight["predictions"][0]["work"].is_null() && tight["predictions"][1]["work"].is_null());
    assert_eq!(
        tight["predictions"][2]["work"]["bound_by"],
        "memory_bandwidth"
    );
    let middle = ask(&[]);
    let (a10g, l40s, a100) = (rate(&middle, 0), rate(&middle, 1), rate(&middle, 2));
    assert!(1.0 < a100 / l40s && a100 / l40s < 1.4, "{a100} {l40s}");
    assert!(a10g / l40s < 0.5, "{a10g} {l40s}");
    let narrow = ask(&["--serve-precision", "fp8", "--serve-tpot-ms", "100"]);
    assert!(rate(&narrow, 1) > 1.2 * rate(&narrow, 2));
}

/// Output tokens/s of an 8B model in BF16, chat of 256 and 128 tokens, vLLM 0.27.1 on rented machines of August 2026:
/// SpareCores/sc-inspector-data, CC BY-SA 4.0.
#[test]
fn measured_rented_machines_are_met() {
    let home = Home::new();
    let measured = [
        ("A10G", 689.0),
        ("L40S", 1668.0),
        ("A100-PCIE-80GB", 2051.0),
        ("H100-SXM5-80GB", 4886.0),
    ];
    let mut table =
        "gpu,n_gpu,tp,model,precision,engine,batch,input_len,output_len,metric,value,unit\n"
            .to_owned();
    for (gpu, value) in measured {
        table += &format!(
            "{gpu},1,1,llama-3.1-8b,bf16,vllm 0.27.1,64,256,128,output_tok_s,{value},tokens/s\n"
        );
    }
    let doc = home.json(&["predict", "--table", &home.file("rented.csv", table)]);
    for row in doc["rows"].as_array().expect("rows") {
        let (predicted, value) = (row["predicted"].as_f64(), row["measured"].as_f64());
        let off = predicted.expect("a number") / value.expect("a number") - 1.0;
        assert!(off.abs() < 0.2, "{row}");
    }
}

/// The measured tables, where they lie beside the project: nothing panics, nothing is absurd, and most rows are
/// answered.
#[test]
fn public_tables_are_answered() {
    let home = Home::new();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/perf/dev");
    let (mut rows, mut answered) = (0, 0);
    for folder in ["inference", "training", "render"] {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else {
            continue;
        };
        for path in entries.filter_map(|e| Some(e.ok()?.path())) {
            if path.extension().is_none_or(|e| e != "csv") {
                continue;
            }
            let doc = home.json(&["predict", "--table", path.to_str().expect("path")]);
            for row in doc["rows"].as_array().expect("rows") {
                rows += 1;
                let Some(predicted) = row["predicted"].as_f64() else {
                    assert!(row["reason"]["text"].is_string(), "{row}");
                    continue;
                };
                answered += 1;
                let (low, high) = (row["low"].as_f64(), row["high"].as_f64());
                assert!(predicted.is_finite() && predicted > 0.0, "{row}");
                assert!(low.is_some_and(|l| 0.0 < l && l <= predicted), "{row}");
                assert!(
                    high.is_some_and(|h| predicted <= h && h.is_finite()),
                    "{row}"
                );
            }
        }
    }
    if rows == 0 {
        eprintln!("skipped: no tables beside the project");
        return;
    }
    assert!(answered * 100 >= rows * 85, "{answered} of {rows}");
}
