//! `cargo xtask compare --tables DIR`: lessee beside aiconfigurator and GenZ on the same measured rows.
//!
//! It does not fit anything: errors of lessee here are of coefficients that may have seen these rows; with a GPU
//! left out they stand in what `cargo xtask calibrate --score` prints. Rows that lie in a package of a peer and not
//! in DIR are not used. Start with [`run`]; [`crate::compare_rows`] picks the rows, `benches/compare.py` asks the
//! peers.

use crate::compare_rows::{self, Table};
use crate::measure;
use crate::sh;
use crate::steps::Outcome;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const REQUIREMENTS: &str = "testkit/requirements-compare.txt";
const DRIVER: &str = "benches/compare.py";
/// What the driver calls a peer, and what it is called here.
const PEERS: [(&str, &str); 2] = [
    ("aiconfigurator", "aiconfigurator 0.12.0"),
    ("genz", "GenZ 0.0.16"),
];
/// GenZ needs some tenths of a second a row: of longer tables it gets every n-th row of its families.
const GENZ_ROWS: usize = 60;
/// Reasons shown for each tool and table.
const REASONS: usize = 6;
/// Shorter tables do not tell the time of a prediction of lessee from the noise of its start.
const TIMED_ROWS: usize = 1000;
const RUNS: usize = 3;

/// What a tool says of the rows of a table, in their order.
struct Answers {
    name: &'static str,
    /// Row number to prediction; rows that it was not asked for are in neither map.
    predicted: BTreeMap<usize, f64>,
    refused: BTreeMap<usize, String>,
    /// Seconds of CPU a prediction, the median; of lessee the mean over the whole table.
    seconds: Option<f64>,
    remark: String,
}

pub(crate) fn run(args: &[String]) -> Result<Outcome> {
    let [flag, dir] = args else {
        bail!("compare --tables DIR");
    };
    if flag != "--tables" {
        bail!("compare --tables DIR");
    }
    let tables = compare_rows::tables(&sh::root().join(dir))?;
    if tables.is_empty() {
        return Ok(Outcome::Skipped(format!(
            "{dir} has none of the tables compared"
        )));
    }
    let python = match python()? {
        Ok(python) => python,
        Err(why) => return Ok(Outcome::Skipped(why)),
    };
    let binary = sh::release_binary()?;
    let home = sh::scratch("compare")?;
    for table in &tables {
        let mut tools = vec![lessee(&binary, &home, table)?];
        for (tool, name) in PEERS {
            tools.push(peer(&python, &home, table, tool, name)?);
        }
        show(table, &tools);
    }
    println!(
        "\nerror: |predicted / measured - 1| in %; inverse: |measured / predicted - 1|, the error of the time where \
         the row is a rate.\nCPU: of one prediction in a warm process, its start left out; of lessee with reading and \
         printing the table.\nlessee was fitted on these tables; without the GPU in question: cargo xtask calibrate \
         --score. aiconfigurator ships\nthe rows of the serving sweep as its own test sample."
    );
    Ok(Outcome::Passed)
}

/// Python with both packages under target/, or what is missing.
fn python() -> Result<Result<PathBuf, String>> {
    let venv = sh::target_dir().join("compare/venv");
    let python = venv.join("bin/python");
    let program = python.to_string_lossy().into_owned();
    let ready = || sh::works(&program, &["-c", "import aiconfigurator.cli.api, GenZ"]);
    if ready() {
        return Ok(Ok(python));
    }
    let suits =
        "import sys, venv; raise SystemExit(not (3, 11) <= sys.version_info[:2] <= (3, 13))";
    if !sh::works("python3", &["-c", suits]) {
        return Ok(Err(
            "there is no python3 of version 3.11 to 3.13 with the venv module".into(),
        ));
    }
    sh::run(sh::command(
        "python3",
        &["-m", "venv", &venv.to_string_lossy()],
    ))?;
    println!("    installing {REQUIREMENTS} under target/, some minutes the first time");
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--retries",
        "1",
    ];
    let mut install = sh::command(&python, &pip);
    install.args(["--requirement", REQUIREMENTS]);
    let out = sh::output(install)?;
    let said = String::from_utf8_lossy(&out.stderr);
    if !out.status.success() {
        let last = said.lines().last().unwrap_or("pip failed").trim();
        return Ok(Err(format!("{REQUIREMENTS} cannot be installed: {last}")));
    }
    if !ready() {
        return Ok(Err(format!(
            "{REQUIREMENTS} is installed, and cannot be imported"
        )));
    }
    Ok(Ok(python))
}

fn lessee(binary: &Path, home: &Path, table: &Table) -> Result<Answers> {
    let file = home.join(format!("{}.csv", table.name));
    table.write(&file, 0..table.rows.len())?;
    let command = |file: &Path| {
        sh::lessee(
            binary,
            home,
            &["predict", "--table", &file.to_string_lossy(), "-o", "csv"],
        )
    };
    let out = sh::output(command(&file))?;
    let mut answers = Answers::new("lessee");
    answers
        .read(&out.stdout, &(0..table.rows.len()).collect::<Vec<_>>())
        .with_context(|| {
            format!(
                "lessee predict --table: {}",
                String::from_utf8_lossy(&out.stderr)
            )
        })?;
    // the difference to a table of one row leaves the start of the process out; it needs many rows to be seen
    let first = answers.predicted.keys().next().copied();
    if let Some(first) = first.filter(|_| table.rows.len() >= TIMED_ROWS) {
        let (one, stdout) = (home.join("one.csv"), home.join("stdout"));
        table.write(&one, first..first + 1)?;
        let whole = measure::best_of(RUNS, &command(&file), &stdout)?.cpu_seconds;
        let start = measure::best_of(RUNS, &command(&one), &stdout)?.cpu_seconds;
        answers.seconds = Some((whole - start).max(0.0) / table.rows.len() as f64);
    }
    Ok(answers)
}

fn peer(
    python: &Path,
    home: &Path,
    table: &Table,
    tool: &str,
    name: &'static str,
) -> Result<Answers> {
    let mut answers = Answers::new(name);
    let asked = if tool == "genz" {
        let step = table.dense.len().div_ceil(GENZ_ROWS);
        if step > 1 && table.rows.len() > 2 * GENZ_ROWS {
            answers.remark = format!(", every {step}th row");
            table.dense.iter().copied().step_by(step).collect()
        } else {
            table.dense.clone()
        }
    } else {
        (0..table.rows.len()).collect()
    };
    let (rows, out) = (
        home.join(format!("{}-{tool}.csv", table.name)),
        home.join(format!("{tool}.out.csv")),
    );
    table.write(&rows, asked.iter().copied())?;
    let mut command = sh::command(python, &[DRIVER, tool]);
    command
        .arg(&rows)
        .arg(&out)
        .arg("data")
        .env("OMP_NUM_THREADS", "1")
        .env("HF_HUB_OFFLINE", "1");
    println!("    {name}: {} rows of {}", asked.len(), table.name);
    sh::run(command)?;
    let text = std::fs::read(&out).with_context(|| out.display().to_string())?;
    answers.read(&text, &asked)?;
    Ok(answers)
}

impl Answers {
    fn new(name: &'static str) -> Answers {
        Answers {
            name,
            predicted: BTreeMap::new(),
            refused: BTreeMap::new(),
            seconds: None,
            remark: String::new(),
        }
    }

    /// A table with `predicted`, `reason` and perhaps `cpu_seconds`, one line for each number of `asked`.
    fn read(&mut self, text: &[u8], asked: &[usize]) -> Result<()> {
        let mut reader = csv::Reader::from_reader(text);
        let headers = reader.headers()?.clone();
        let at = |name: &str| headers.iter().position(|h| h == name);
        let predicted = at("predicted").context("no column `predicted`")?;
        let reason = at("reason").context("no column `reason`")?;
        let cpu = at("cpu_seconds");
        let mut seconds = Vec::new();
        let mut lines = 0;
        for (record, row) in reader.records().zip(asked) {
            let record = record?;
            let cell = |i: usize| record.get(i).unwrap_or("");
            lines += 1;
            match cell(predicted).parse::<f64>() {
                Ok(x) if x.is_finite() && x > 0.0 => {
                    self.predicted.insert(*row, x);
                    seconds.extend(cpu.and_then(|i| cell(i).parse::<f64>().ok()));
                }
                _ => {
                    self.refused.insert(*row, cell(reason).to_owned());
                }
            }
        }
        if lines != asked.len() {
            bail!("{} answered {lines} rows of {}", self.name, asked.len());
        }
        seconds.sort_by(f64::total_cmp);
        self.seconds = seconds.get(seconds.len() / 2).copied();
        Ok(())
    }

    /// Errors over some rows, sorted; `inverse`: of the reciprocal.
    fn errors(&self, table: &Table, rows: &[usize], inverse: bool) -> Vec<f64> {
        let error = |row: &usize| {
            let (predicted, measured) = (self.predicted.get(row)?, table.measured(*row)?);
            let ratio = if inverse {
                measured / predicted
            } else {
                predicted / measured
            };
            Some(100.0 * (ratio - 1.0).abs())
        };
        let mut errors: Vec<f64> = rows.iter().filter_map(error).collect();
        errors.sort_by(f64::total_cmp);
        errors
    }
}

fn show(table: &Table, tools: &[Answers]) {
    for (family, rows) in &table.families {
        println!("\n==> {}: {family}, {} rows", table.name, rows.len());
        println!(
            "    {:<36} {:>5} {:>7} {:>7} {:>7} {:>8} {:>12}   on rows of all: {:>5} {:>7} {:>7} {:>7} {:>11}",
            "",
            "rows",
            "median",
            "mean",
            "p90",
            "inverse",
            "lessee there",
            "rows",
            "median",
            "mean",
            "p90",
            "CPU"
        );
        let able: Vec<&Answers> = tools
            .iter()
            .filter(|tool| rows.iter().any(|r| tool.predicted.contains_key(r)))
            .collect();
        let shared: Vec<usize> = rows
            .iter()
            .copied()
            .filter(|r| able.iter().all(|tool| tool.predicted.contains_key(r)))
            .collect();
        for tool in &able {
            let own: Vec<usize> = rows
                .iter()
                .copied()
                .filter(|r| tool.predicted.contains_key(r))
                .collect();
            let (errors, common) = (
                tool.errors(table, &own, false),
                tool.errors(table, &shared, false),
            );
            let inverse = median(&tool.errors(table, &own, true));
            let there = tools
                .first()
                .map(|lessee| lessee.errors(table, &own, false));
            println!(
                "    {:<36} {:>5} {:>7} {:>7} {:>7} {:>8} {:>12}   {:>22} {:>7} {:>7} {:>7} {:>11}",
                format!("{}{}", tool.name, tool.remark),
                errors.len(),
                shown(median(&errors)),
                shown(mean(&errors)),
                shown(share(&errors, 0.9)),
                shown(inverse),
                shown(there.and_then(|e| median(&e))),
                common.len(),
                shown(median(&common)),
                shown(mean(&common)),
                shown(share(&common, 0.9)),
                time(tool.seconds),
            );
        }
        for tool in tools {
            let mut why: BTreeMap<&str, usize> = BTreeMap::new();
            for row in rows {
                if let Some(reason) = tool.refused.get(row) {
                    *why.entry(reason).or_default() += 1;
                }
            }
            let mut why: Vec<_> = why.into_iter().collect();
            why.sort_by_key(|(reason, n)| (std::cmp::Reverse(*n), *reason));
            let why: Vec<String> = why
                .iter()
                .take(REASONS)
                .map(|(reason, n)| format!("{n} {reason}"))
                .collect();
            if !why.is_empty() {
                println!("      {} gives no answer: {}", tool.name, why.join("; "));
            }
        }
    }
}

/// Of sorted values, as [`share`] of a half.
fn median(sorted: &[f64]) -> Option<f64> {
    share(sorted, 0.5)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The value below which so large a share of the sorted values lies, between two values in proportion.
fn share(sorted: &[f64], share: f64) -> Option<f64> {
    let at = share * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (
        sorted.get(at.floor() as usize)?,
        sorted.get(at.ceil() as usize)?,
    );
    Some(below + (above - below) * at.fract())
}

fn shown(x: Option<f64>) -> String {
    x.map_or_else(|| "-".into(), |x| format!("{x:.1}"))
}

fn time(seconds: Option<f64>) -> String {
    match seconds {
        None => "-".into(),
        Some(s) if s < 1e-3 => format!("{:.1} us", s * 1e6),
        Some(s) => format!("{:.0} ms", s * 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_lie_between_values() {
        assert_eq!(share(&[], 0.5), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[1.0, 2.0]), Some(1.5));
        assert_eq!(share(&[0.0, 10.0, 20.0], 0.9), Some(18.0));
    }

    #[test]
    fn zero_and_blank_are_no_predictions() {
        let mut answers = Answers::new("x");
        let text = b"predicted,reason,cpu_seconds\n0,zero,1\n,none,\n2.5,,0.25\n";
        answers.read(text, &[4, 7, 9]).expect("read");
        assert_eq!(
            answers.predicted.into_iter().collect::<Vec<_>>(),
            [(9, 2.5)]
        );
        assert_eq!(answers.refused.len(), 2);
        assert_eq!(answers.seconds, Some(0.25));
        assert!(Answers::new("x").read(text, &[4, 7, 9, 11]).is_err());
    }
}
