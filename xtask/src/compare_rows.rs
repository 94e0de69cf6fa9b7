//! The measured rows of `cargo xtask compare`, all in the columns of inference tables.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::Path;

const COLUMNS: [&str; 15] = [
    "source",
    "date",
    "gpu",
    "n_gpu",
    "tp",
    "model",
    "precision",
    "engine",
    "batch",
    "input_len",
    "output_len",
    "metric",
    "value",
    "unit",
    "note",
];
const GPUS: usize = 3;
const MODEL: usize = 5;
const METRIC: usize = 11;
const VALUE: usize = 12;

pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// Cells in the order of [`COLUMNS`].
    pub(crate) rows: Vec<Vec<String>>,
    /// Row numbers by what is measured, in the order shown.
    pub(crate) families: Vec<(String, Vec<usize>)>,
    /// Rows of dense models with a quantity that a roofline of operators has.
    pub(crate) dense: Vec<usize>,
}

/// The tables that `dir` has.
pub(crate) fn tables(dir: &Path) -> Result<Vec<Table>> {
    let inference = dir.join("perf/dev/inference");
    let mut tables = Vec::new();
    for (path, read) in [
        (
            inference.join("inferencex_silicon_agg.csv"),
            sweep as fn(&Path) -> Result<Table>,
        ),
        (dir.join("measured/serving/sc_vllm.csv"), served),
        (inference.join("xiongjiedai_llamacpp.csv"), single_stream),
    ] {
        if path.is_file() {
            tables.push(read(&path).with_context(|| path.display().to_string())?);
        }
    }
    Ok(tables)
}

impl Table {
    fn new(
        name: &'static str,
        rows: Vec<Vec<String>>,
        family: impl Fn(&[String]) -> (u8, String),
    ) -> Table {
        let mut families: BTreeMap<(u8, String), Vec<usize>> = BTreeMap::new();
        for (i, row) in rows.iter().enumerate() {
            families.entry(family(row)).or_default().push(i);
        }
        let families = families
            .into_iter()
            .map(|((_, name), rows)| (name, rows))
            .collect();
        let dense = (0..rows.len()).filter(|i| {
            rows.get(*i)
                .is_some_and(|r| is_dense(cell(r, MODEL)) && cell(r, METRIC) != "ttft_ms")
        });
        Table {
            name,
            dense: dense.collect(),
            families,
            rows,
        }
    }

    pub(crate) fn measured(&self, row: usize) -> Option<f64> {
        self.rows.get(row)?.get(VALUE)?.parse().ok()
    }

    pub(crate) fn write(&self, path: &Path, rows: impl IntoIterator<Item = usize>) -> Result<()> {
        let mut file = csv::Writer::from_path(path).with_context(|| path.display().to_string())?;
        file.write_record(COLUMNS)?;
        for row in rows {
            file.write_record(self.rows.get(row).context("row number")?)?;
        }
        Ok(file.flush()?)
    }
}

fn cell(row: &[String], column: usize) -> &str {
    row.get(column).map_or("", String::as_str)
}

/// The dense models of the three tables.
fn is_dense(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    ["-8b", "-32b", "-70b"]
        .iter()
        .any(|size| model.contains(size))
}

/// Lines of a CSV as maps from column to cell.
fn lines(path: &Path) -> Result<Vec<BTreeMap<String, String>>> {
    let mut reader = csv::Reader::from_path(path)?;
    Ok(reader.deserialize().collect::<Result<_, _>>()?)
}

/// Cells of a line in the order of [`COLUMNS`]; a column that it lacks is blank.
fn ordered(line: &BTreeMap<String, String>) -> Vec<String> {
    COLUMNS
        .iter()
        .map(|c| line.get(*c).cloned().unwrap_or_default())
        .collect()
}

/// Serving sweeps by concurrency: time per token and to the first token.
fn sweep(path: &Path) -> Result<Table> {
    let rows = lines(path)?.iter().map(ordered).collect();
    Ok(Table::new("inferencex_silicon_agg", rows, |row| {
        let dense = is_dense(cell(row, MODEL));
        let model = if dense {
            "dense models"
        } else {
            "mixtures of experts"
        };
        match (cell(row, METRIC), dense) {
            ("tpot_ms", true) => (0, format!("time per token, {model}")),
            ("tpot_ms", false) => (1, format!("time per token, {model}")),
            (_, true) => (2, format!("time to first token, {model}")),
            (_, false) => (3, format!("time to first token, {model}")),
        }
    }))
}

/// Llama 8B on rented machines: the highest valid output throughput of each machine and workload. Where the
/// saturating run brought no more than one request at a time, it failed, and the fixed rates were set by it.
fn served(path: &Path) -> Result<Table> {
    type Best = (f64, BTreeMap<String, String>);
    let mut alone: BTreeMap<[String; 3], f64> = BTreeMap::new();
    let mut full: BTreeMap<[String; 3], f64> = BTreeMap::new();
    let mut best: BTreeMap<[String; 3], Best> = BTreeMap::new();
    for line in lines(path)? {
        let get = |name: &str| line.get(name).cloned().unwrap_or_default();
        if get("model") != "llama-8b" || get("measurement") != "output_throughput" {
            continue;
        }
        let Ok(score) = get("score").parse::<f64>() else {
            continue;
        };
        let key = [get("vendor"), get("server"), get("workload")];
        match get("strategy").as_str() {
            "synchronous" => drop(alone.insert(key.clone(), score)),
            "throughput" => drop(full.insert(key.clone(), score)),
            _ => {}
        }
        if best.get(&key).is_none_or(|(before, _)| score > *before) {
            best.insert(key, (score, line));
        }
    }
    let mut rows = Vec::new();
    for (key, (_, line)) in best {
        let of = |runs: &BTreeMap<[String; 3], f64>| runs.get(&key).copied().unwrap_or(0.0);
        if of(&full) <= of(&alone) {
            continue;
        }
        let get = |name: &str| line.get(name).cloned().unwrap_or_default();
        let concurrency = get("concurrency").parse::<f64>().context("concurrency")?;
        let [vendor, server, workload] = &key;
        rows.push(vec![
            "SpareCores/sc-inspector-data (CC BY-SA 4.0)".into(),
            "2026-08".into(),
            get("gpu_model"),
            get("tensor_parallel"),
            get("tensor_parallel"),
            "llama-3.1-8b".into(),
            "bf16".into(),
            format!("vllm {}", get("vllm_version")),
            format!("{concurrency:.0}"),
            get("prompt_tokens"),
            get("output_tokens"),
            "output_tok_s".into(),
            get("score"),
            "tokens/s".into(),
            format!("{vendor}/{server} {workload}"),
        ]);
    }
    Ok(Table::new("sc_vllm", rows, |row| {
        let what = "best served throughput of Llama 8B";
        if cell(row, GPUS) == "1" {
            (0, format!("{what}, one GPU"))
        } else {
            (1, format!("{what}, several GPUs"))
        }
    }))
}

/// llama.cpp, one request, 16-bit weights, layers spread over the GPUs.
fn single_stream(path: &Path) -> Result<Table> {
    let lines = lines(path)?;
    let wanted = |l: &&BTreeMap<String, String>| {
        l.get("precision").is_some_and(|p| p == "F16")
            && l.get("metric").is_some_and(|m| m == "decode_tok_s")
    };
    let rows = lines.iter().filter(wanted).map(ordered).collect();
    Ok(Table::new("xiongjiedai_llamacpp", rows, |row| {
        if cell(row, GPUS) == "1" {
            (0, "batch-1 decode at 16 bit, one GPU".into())
        } else {
            (1, "batch-1 decode at 16 bit, several GPUs".into())
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_run_is_left_out_and_the_best_one_kept() {
        let dir = crate::sh::scratch("compare-test").expect("scratch");
        let path = dir.join("sc_vllm.csv");
        let head = "vendor,server,model,workload,prompt_tokens,output_tokens,strategy,concurrency,measurement,score,gpu_model,tensor_parallel,vllm_version\n";
        let line = |server: &str, strategy: &str, score: f64| {
            format!(
                "v,{server},llama-8b,chat,256,128,{strategy},63.6,output_throughput,{score},NVIDIA L4,1,0.27.1\n"
            )
        };
        let text = [
            head.to_owned(),
            line("good", "synchronous", 16.0),
            line("good", "constant", 290.0),
            line("good", "throughput", 373.0),
            line("bad", "synchronous", 16.0),
            line("bad", "throughput", 2.0),
        ];
        std::fs::write(&path, text.concat()).expect("write");
        let table = served(&path).expect("read");
        assert_eq!(table.rows.len(), 1);
        assert_eq!(table.measured(0), Some(373.0));
        assert_eq!(cell(table.rows.first().expect("row"), 8), "64");
        assert_eq!(table.dense, [0]);
    }
}
