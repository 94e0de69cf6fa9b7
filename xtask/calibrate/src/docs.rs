//! The table of errors in `docs/concepts/accuracy.md`, between two marks.

use crate::families::HoldOut;
use crate::hold_out::Score;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fmt::Write;

const BEGIN: &str = "<!-- begin: cargo xtask calibrate -->\n";
const END: &str = "<!-- end: cargo xtask calibrate -->";

/// The page with a fresh table; unchanged when nothing was fitted.
pub(crate) fn with_table(page: &str, scores: &BTreeMap<String, Score>) -> Result<String> {
    if scores.is_empty() {
        return Ok(page.to_owned());
    }
    let (head, rest) = page
        .split_once(BEGIN)
        .context("docs/concepts/accuracy.md: begin mark")?;
    let (_, tail) = rest
        .split_once(END)
        .context("docs/concepts/accuracy.md: end mark")?;
    let mut table = String::from(
        "| family | rows | left out | median error | 90th percentile | inside the range | worst GPU | target |\n\
         |---|---:|---|---:|---:|---:|---|---|\n",
    );
    for s in scores.values() {
        let left_out = match s.hold_out {
            HoldOut::Gpu => "one GPU",
            HoldOut::Model => "one model",
            HoldOut::Size => "one size",
            HoldOut::Architecture => "one architecture",
        };
        let target = s.target.map_or_else(
            || "none".to_owned(),
            |t| {
                format!(
                    "{t:.0} %{}",
                    if s.median * 100.0 <= t {
                        ""
                    } else {
                        ", missed"
                    }
                )
            },
        );
        writeln!(
            table,
            "| `{}` | {} | {left_out} | {:.1} % | {:.1} % | {:.0} % | {} ({:.0} %) | {target} |",
            s.name,
            s.held,
            s.median * 100.0,
            s.p90 * 100.0,
            s.coverage * 100.0,
            s.worst.0,
            s.worst.1 * 100.0,
        )?;
    }
    Ok(format!("{head}{BEGIN}{table}{END}{tail}"))
}
