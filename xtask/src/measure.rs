//! CPU seconds and peak memory of one command, as the kernel counts them (`getrusage` of the children).
//!
//! Each command gets a fresh process of this tool as its parent, because the kernel keeps only one peak
//! for all children of a process.

use crate::steps::Outcome;
use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    /// User and system time of the process and all its threads.
    pub(crate) cpu_seconds: f64,
    pub(crate) wall_seconds: f64,
    /// Largest resident set, 1e6 bytes.
    pub(crate) peak_mb: f64,
}

/// Runs the command with stdout into a file and measures it.
pub(crate) fn of(command: &Command, stdout: &Path) -> Result<Measured> {
    let program = command.get_program().to_string_lossy().into_owned();
    let result = stdout.with_extension("usage.json");
    let mut outer = Command::new(std::env::current_exe().context("own path")?);
    outer
        .arg("measure")
        .arg(&result)
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(crate::sh::root())
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(stdout).with_context(|| stdout.display().to_string())?);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    let status = outer
        .status()
        .context("cannot start the measuring process")?;
    if !status.success() {
        bail!("`{program}` failed while it was measured");
    }
    let text = std::fs::read_to_string(&result).with_context(|| result.display().to_string())?;
    let read: Value = serde_json::from_str(&text).context("measurement")?;
    let number = |name: &str| read[name].as_f64().with_context(|| name.to_owned());
    Ok(Measured {
        cpu_seconds: number("cpu_seconds")?,
        wall_seconds: number("wall_seconds")?,
        peak_mb: number("peak_mb")?,
    })
}

/// The best of several runs: other work on the machine can only add.
pub(crate) fn best_of(runs: usize, command: &Command, stdout: &Path) -> Result<Measured> {
    let mut best = of(command, stdout)?;
    for _ in 1..runs {
        let next = of(command, stdout)?;
        best.cpu_seconds = best.cpu_seconds.min(next.cpu_seconds);
        best.wall_seconds = best.wall_seconds.min(next.wall_seconds);
        best.peak_mb = best.peak_mb.min(next.peak_mb);
    }
    Ok(best)
}

/// `xtask measure RESULT PROGRAM ARGS…`, run by [`of`].
pub(crate) fn inner(args: &[String]) -> Result<Outcome> {
    let [result, program, rest @ ..] = args else {
        bail!("measure RESULT PROGRAM ARGS");
    };
    let start = Instant::now();
    let status = Command::new(program)
        .args(rest)
        .status()
        .with_context(|| format!("cannot start `{program}`"))?;
    let wall = start.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("getrusage")?;
    let seconds = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + t.tv_usec() as f64 / 1e6;
    let read = json!({
        "cpu_seconds": seconds(usage.user_time()) + seconds(usage.system_time()),
        "wall_seconds": wall,
        // Linux counts in KiB
        "peak_mb": usage.max_rss() as f64 * 1024.0 / 1e6,
    });
    std::fs::write(result, read.to_string()).with_context(|| result.clone())?;
    if !status.success() {
        bail!("`{program}` ended with {status}");
    }
    Ok(Outcome::Passed)
}
