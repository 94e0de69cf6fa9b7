//! `measured/serving/sc_vllm.csv`: one value a line, many lines a run.
//!
//! A run at one request or at a fixed rate becomes `tpot_ms` and `ttft_ms` (medians), a saturated one `tpot_ms` only,
//! since its first tokens wait in a burst; each server, model and mix of lengths becomes `output_tok_s`, the highest
//! of its runs. Left out: pairs whose saturated run brought less than one
//! stream (it failed), and the 70B model, whose number format is not recorded and which no GPU count explains.

use super::lines::Lines;
use super::{Loaded, LoadedRow};
use anyhow::Result;
use lessee_perf::table::{Row, TableKind};
use std::collections::BTreeMap;
use std::path::Path;

const UNRECORDED: &str = "llama-70b";

#[derive(Default)]
struct Run {
    row: Row,
    strategy: String,
    /// Pair of server, model and lengths.
    pair: String,
    values: BTreeMap<String, f64>,
}

pub(super) fn read(path: &Path, loaded: &mut Loaded) -> Result<()> {
    let lines = Lines::read(path)?;
    let runs = runs(&lines);
    let mut pairs: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
    for run in runs.values() {
        pairs.entry(&run.pair).or_default().push(run);
    }
    for pair in pairs.values() {
        let output = |run: &&Run| run.values.get("output_throughput ").copied().unwrap_or(0.0);
        let of = |strategy: &str| {
            let runs = pair.iter().filter(|r| r.strategy == strategy);
            runs.map(output).fold(0.0, f64::max)
        };
        let failed = of("throughput") < of("synchronous");
        let mut push = |run: &Run, metric: &str, value: Option<f64>| {
            if value.is_some() {
                let row = Row {
                    metric: metric.to_owned(),
                    value,
                    ..run.row.clone()
                };
                loaded.rows.push(LoadedRow {
                    file: lines.name.clone(),
                    row,
                });
            }
        };
        for run in pair {
            let saturated = run.strategy == "throughput";
            if !(saturated && failed) {
                push(run, "tpot_ms", run.values.get("tpot p50").copied());
            }
            if !saturated {
                push(run, "ttft_ms", run.values.get("ttft p50").copied());
            }
        }
        let best = pair.iter().max_by(|a, b| output(a).total_cmp(&output(b)));
        if let Some(run) = best.filter(|_| !failed) {
            push(run, "output_tok_s", Some(output(run)));
        }
    }
    Ok(())
}

fn runs(lines: &Lines) -> BTreeMap<String, Run> {
    let mut runs: BTreeMap<String, Run> = BTreeMap::new();
    for line in lines.iter() {
        let cell = |name: &str| line.cell(name);
        if cell("model") == UNRECORDED {
            continue;
        }
        let pair = format!("{} {} {}", cell("server"), cell("model"), cell("workload"));
        // the rate is blank in many runs at a fixed rate: the measured concurrency tells them apart
        let key = format!(
            "{pair} {} {} {}",
            cell("strategy"),
            cell("target_rate"),
            cell("concurrency")
        );
        let run = runs.entry(key).or_insert_with(|| Run {
            row: Row {
                table: TableKind::Inference,
                source: "SpareCores/sc-inspector-data (CC BY-SA 4.0)".to_owned(),
                gpu: cell("gpu_model").to_owned(),
                n_gpu: cell("gpu_count").parse().ok(),
                tp: cell("tensor_parallel").parse().ok(),
                model: cell("model").to_owned(),
                precision: "bf16".to_owned(),
                engine: format!("vLLM {}", cell("vllm_version")),
                batch: cell("concurrency").to_owned(),
                input_len: cell("prompt_tokens").parse().ok(),
                output_len: cell("output_tokens").parse().ok(),
                note: format!("{}/{}", cell("vendor"), cell("server")),
                ..Row::default()
            },
            strategy: cell("strategy").to_owned(),
            pair,
            values: BTreeMap::new(),
        });
        if let Ok(value) = cell("score").parse() {
            run.values.insert(
                format!("{} {}", cell("measurement"), cell("percentile")),
                value,
            );
        }
    }
    runs
}
