//! `measured/serving/sc_llamacpp_gpu.csv`: one run of llama-bench a line; `decode_tok_s` or `prefill_tok_s`.
//!
//! Servers with the same GPUs become one row, their median. Left out: runs with layers on the CPU.

use super::lines::Lines;
use super::{Loaded, LoadedRow};
use crate::fit::quantile;
use anyhow::Result;
use lessee_perf::table::{Row, TableKind};
use std::collections::BTreeMap;
use std::path::Path;

/// Files of the table, by a part of their name, and the network in them.
const FILES: [(&str, &str); 6] = [
    ("SmolLM-135M", "smollm-135m"),
    ("qwen1_5-0_5b", "qwen1.5-0.5b"),
    ("gemma-2b", "gemma-2b"),
    ("llama-7b", "llama-2-7b"),
    ("phi-4", "phi-4"),
    ("Llama-3.3-70B", "llama-3.3-70b"),
];

/// As many layers as there are.
const ALL_LAYERS: &str = "999";

pub(super) fn read(path: &Path, loaded: &mut Loaded) -> Result<()> {
    let lines = Lines::read(path)?;
    let mut groups: BTreeMap<String, (Row, Vec<f64>)> = BTreeMap::new();
    for line in lines.iter() {
        let cell = |name: &str| line.cell(name);
        let network = FILES
            .iter()
            .find(|(part, _)| cell("model").starts_with(part));
        let (Some((_, model)), ALL_LAYERS) = (network, cell("n_gpu_layers")) else {
            continue;
        };
        let tokens = |name: &str| cell(name).parse::<f64>().unwrap_or(0.0);
        let (prompt, answer) = (tokens("n_prompt"), tokens("n_gen"));
        let metric = match (prompt > 0.0, answer > 0.0) {
            (false, true) => "decode_tok_s",
            (true, false) => "prefill_tok_s",
            _ => continue,
        };
        let Ok(value) = cell("avg_ts").parse::<f64>() else {
            continue;
        };
        let (gpu, n_gpu) = (cell("gpu_model"), cell("gpu_count"));
        let key = format!("{gpu} {n_gpu} {model} {prompt} {answer}");
        let group = groups.entry(key).or_insert_with(|| {
            let row = Row {
                table: TableKind::Inference,
                source: "SpareCores/sc-inspector-data (CC BY-SA 4.0)".to_owned(),
                date: cell("test_time").get(..7).unwrap_or("").to_owned(),
                gpu: gpu.to_owned(),
                n_gpu: n_gpu.parse().ok(),
                model: (*model).to_owned(),
                precision: "Q4_K_M".to_owned(),
                engine: "llama.cpp".to_owned(),
                batch: "1".to_owned(),
                input_len: Some(prompt),
                output_len: Some(answer),
                metric: metric.to_owned(),
                note: format!("{}/{}", cell("vendor"), cell("server")),
                ..Row::default()
            };
            (row, Vec::new())
        });
        group.1.push(value);
    }
    for (row, mut values) in groups.into_values() {
        let value = Some(quantile(&mut values, 0.5));
        loaded.rows.push(LoadedRow {
            file: lines.name.clone(),
            row: Row { value, ..row },
        });
    }
    Ok(())
}
