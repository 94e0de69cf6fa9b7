//! `cargo xtask calibrate`: fits the formulas of `core/perf` to tables of measurements.
//!
//! What it is: the reproducible way from tables to `data/calibration.toml` and to the table of errors in
//! `docs/concepts/accuracy.md`. What it is not: part of the product; nothing here ships. Start at [`run`]: read
//! tables (`load`), sort rows by family, fit (`fit`), hold out a GPU or a model at a time (`hold_out`), write
//! (`write`, `docs`).
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer's tool talks to its terminal"
)]

mod docs;
mod families;
mod fit;
mod hold_out;
mod load;
mod sample;
mod write;

use anyhow::{Context, Result, bail};
use sample::Sample;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask calibrate [--tables DIR] [--family NAME]... [--score [--architectures]] [--check]

  fits every family that has rows and writes data/calibration.toml and the table in docs/concepts/accuracy.md
  --tables DIR    a folder with perf/dev/{inference,training,render}/*.csv and measured/serving/*.csv; without it
                  only what the repository carries is fitted
  --family NAME   only this family (may be repeated); the others keep their coefficients
  --score         writes nothing: prints the errors of every family beside the target
  --architectures with --score: leaves out one architecture at a time instead of one GPU
  --check         writes nothing: fails if the files are not what a fit gives
";

struct Options {
    tables: Option<PathBuf>,
    only: Vec<String>,
    score: bool,
    check: bool,
    architectures: bool,
}

fn options() -> Result<Option<Options>> {
    let mut o = Options {
        tables: None,
        only: Vec::new(),
        score: false,
        check: false,
        architectures: false,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--tables" => o.tables = Some(args.next().context("--tables needs a folder")?.into()),
            "--family" => o.only.push(args.next().context("--family needs a name")?),
            "--score" => o.score = true,
            "--check" => o.check = true,
            "--architectures" => o.architectures = true,
            "--help" | "-h" => return Ok(None),
            other => bail!("unknown argument {other}\n{HELP}"),
        }
    }
    if o.architectures && !o.score {
        bail!("--architectures needs --score");
    }
    Ok(Some(o))
}

fn main() -> ExitCode {
    match options() {
        Ok(None) => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Ok(Some(options)) => match run(&options) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("{error:#}");
                ExitCode::FAILURE
            }
        },
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::from(2)
        }
    }
}

/// The repository, from this package's place in it.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(options: &Options) -> Result<bool> {
    let root = root();
    let facts = lessee_catalog::builtin().context("built-in facts")?;
    let mut families = families::read(&root.join("xtask/calibrate/families.toml"))?;
    if options.architectures {
        let by_gpu = |family: &&mut families::Family| family.hold_out == families::HoldOut::Gpu;
        for family in families.values_mut().filter(by_gpu) {
            family.hold_out = families::HoldOut::Architecture;
        }
    }
    let loaded = load::tables(options.tables.as_deref(), &root)?;
    let (samples, refused) = sample::sort(&loaded.rows, &facts);
    if !loaded.rows.is_empty() {
        report_coverage(&loaded, &samples, &refused);
    }
    let path = root.join("data/calibration.toml");
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let mut file: toml::Table = toml::from_str(&before).context("data/calibration.toml")?;
    // a family without an entry yet starts from its starting values, so that the file always reads
    for (name, family) in &families {
        file.entry(name.clone())
            .or_insert_with(|| toml::Value::Table(family.starting_table()));
    }
    file.retain(|name, _| name == "schema" || families.contains_key(name));
    let mut scores = BTreeMap::new();
    for (name, family) in &families {
        let mine: Vec<&Sample> = samples.iter().filter(|s| s.family() == name).collect();
        if mine.is_empty() || !(options.only.is_empty() || options.only.contains(name)) {
            continue;
        }
        let fitted = fit::fit(name, family, &mine, &file, fit::Effort::Whole)?;
        let held = hold_out::errors(name, family, &mine, &file)?;
        fitted.put_into(&mut file, name);
        let score = hold_out::Score::of(name, family, &mine, &held, &file)?;
        println!("{}", score.line());
        write::put_fit(&mut file, name, family, &mine, &score);
        scores.insert(name.clone(), score);
    }
    if options.score {
        return Ok(true);
    }
    let text = write::file(&file);
    let page = root.join("docs/concepts/accuracy.md");
    let page_before = std::fs::read_to_string(&page).unwrap_or_default();
    let page_text = docs::with_table(&page_before, &scores)?;
    if options.check {
        let fresh = write::same(&text, &before)? && page_text == page_before;
        if !fresh {
            eprintln!(
                "data/calibration.toml or docs/concepts/accuracy.md is stale: run cargo xtask calibrate --tables DIR"
            );
        }
        return Ok(fresh);
    }
    std::fs::write(&path, text)?;
    std::fs::write(&page, page_text)?;
    Ok(true)
}

fn report_coverage(loaded: &load::Loaded, samples: &[Sample], refused: &[sample::Refusal]) {
    let total = loaded.rows.len();
    println!(
        "{total} rows, {} predicted ({:.1} %)",
        samples.len(),
        100.0 * samples.len() as f64 / total as f64
    );
    let mut by_reason: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for r in refused {
        *by_reason
            .entry((r.file.as_str(), r.code, r.what.as_str()))
            .or_default() += 1;
    }
    for ((file, code, what), n) in by_reason {
        println!("  not predicted: {n:5} {file} {code} {what}");
    }
    println!();
}
