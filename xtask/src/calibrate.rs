//! `cargo xtask calibrate`: hands over to the package of that name, optimised; a fit asks a formula some million
//! times.

use crate::sh;
use crate::steps::Outcome;
use anyhow::Result;
use std::path::PathBuf;

/// Names the folder of tables that the repository may not carry; without it, the folder beside the repository.
const TABLES: &str = "LESSEE_TABLES";
const BESIDE: &str = "../shared/data";

/// That `data/calibration.toml` and the table in `docs/concepts/accuracy.md` are what a fit gives.
pub(crate) fn check() -> Result<Outcome> {
    let tables = std::env::var_os(TABLES).map_or_else(|| sh::root().join(BESIDE), PathBuf::from);
    if !tables.join("perf/dev").is_dir() {
        return Ok(Outcome::Skipped(format!(
            "there are no tables in {} ({TABLES} names another folder)",
            tables.display()
        )));
    }
    let tables = tables.display().to_string();
    run(&["--tables".to_owned(), tables, "--check".to_owned()])
}

pub(crate) fn run(args: &[String]) -> Result<Outcome> {
    let mut words = vec![
        "run",
        "--release",
        "--quiet",
        "--package",
        "calibrate",
        "--",
    ];
    words.extend(args.iter().map(String::as_str));
    sh::run(sh::cargo(&words))?;
    Ok(Outcome::Passed)
}
