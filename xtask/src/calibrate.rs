//! `cargo xtask calibrate`: hands over to the package of that name, optimised; a fit asks a formula some million
//! times.

use crate::sh;
use crate::steps::Outcome;
use anyhow::Result;

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
