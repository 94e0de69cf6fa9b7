//! Named steps, what became of them, and the closing line.

use anyhow::Result;
use std::process::ExitCode;
use std::time::Instant;

pub(crate) enum Outcome {
    Passed,
    /// Something that the step needs is not on this machine.
    Skipped(String),
}

#[derive(Default)]
pub(crate) struct Steps {
    /// A missing peer fails.
    strict: bool,
    passed: Vec<&'static str>,
    failed: Vec<(&'static str, String)>,
    skipped: Vec<(&'static str, String)>,
}

impl Steps {
    pub(crate) fn new(strict: bool) -> Steps {
        Steps {
            strict,
            ..Steps::default()
        }
    }

    /// Runs a step; the next ones run even if it fails, so that one run shows all that is wrong.
    pub(crate) fn step(&mut self, name: &'static str, work: impl FnOnce() -> Result<Outcome>) {
        println!("\n==> {name}");
        let start = Instant::now();
        let outcome = work();
        let took = start.elapsed().as_secs_f64();
        match outcome {
            Ok(Outcome::Passed) => {
                println!("    {name}: passed ({took:.1} s)");
                self.passed.push(name);
            }
            Ok(Outcome::Skipped(why)) if self.strict => {
                println!("    {name}: failed, since CI=true and {why}");
                self.failed.push((name, why));
            }
            Ok(Outcome::Skipped(why)) => {
                println!("    {name}: skipped, since {why}");
                self.skipped.push((name, why));
            }
            Err(e) => {
                println!("    {name}: failed ({took:.1} s): {e:#}");
                self.failed.push((name, format!("{e:#}")));
            }
        }
    }

    /// Lists what was skipped and what failed; the last line is `N passed, N failed[, N skipped]`.
    pub(crate) fn close(self) -> ExitCode {
        println!();
        for (name, why) in &self.skipped {
            println!("skipped: {name}: {why}");
        }
        for (name, why) in &self.failed {
            println!("failed: {name}: {}", why.lines().next().unwrap_or(""));
        }
        let skipped = match self.skipped.len() {
            0 => String::new(),
            n => format!(", {n} skipped"),
        };
        println!(
            "{} passed, {} failed{skipped}",
            self.passed.len(),
            self.failed.len()
        );
        if self.failed.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}
