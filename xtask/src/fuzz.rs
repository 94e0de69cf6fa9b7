//! Each fuzz target for a number of seconds, starting from the committed corpus in fuzz/corpus/.
//! New inputs go to target/xtask/fuzz/, so that a run leaves the repository as it was; an input that
//! crashes a target lands in fuzz/artifacts/.

use crate::steps::Outcome;
use crate::{peers, sh};
use anyhow::{Context, Result, bail};

/// Test data that are good inputs too.
const FIXTURES: &[(&str, &str)] = &[("capture", "io/probe/tests/data")];

/// An input that takes longer is a finding, seconds.
const TIMEOUT: u32 = 20;
/// Memory that an input may cost before it is a finding, MiB.
const MEMORY: u32 = 2048;

/// `fuzz [SECONDS] [TARGET...]`
pub(crate) fn command(args: &[String]) -> Result<Outcome> {
    let seconds = args.first().map(|s| s.parse::<u32>());
    let seconds = seconds.transpose().context("SECONDS")?.unwrap_or(20);
    let only: Vec<&str> = args.iter().skip(1).map(String::as_str).collect();
    run(seconds, &only)
}

/// The targets of `only`, or all where it is empty.
pub(crate) fn run(seconds: u32, only: &[&str]) -> Result<Outcome> {
    if !peers::cargo_fuzz() {
        return Ok(Outcome::Skipped(
            "cargo-fuzz is not installed (cargo install --locked cargo-fuzz); the property tests ran".into(),
        ));
    }
    if !peers::cxx() {
        return Ok(Outcome::Skipped(
            "no C++ compiler for libFuzzer (apt-get install g++)".into(),
        ));
    }
    let list = sh::capture(fuzz(&["list"]))?;
    let mut targets: Vec<&str> = list.lines().filter(|l| !l.trim().is_empty()).collect();
    if targets.is_empty() {
        bail!("`cargo fuzz list` names no target");
    }
    if let Some(unknown) = only.iter().find(|name| !targets.contains(name)) {
        bail!("there is no target `{unknown}`: {}", targets.join(", "));
    }
    targets.retain(|t| only.is_empty() || only.contains(t));
    sh::run(fuzz(&["build", "--sanitizer", "none"]))?;
    // a target fuzzes on one core
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let queue = std::sync::Mutex::new(targets.into_iter());
    let next = || queue.lock().ok().and_then(|mut queue| queue.next());
    let work = || -> Result<Vec<String>> {
        let mut broken = Vec::new();
        while let Some(target) = next() {
            if !holds(target, seconds)? {
                broken.push(target.to_owned());
            }
        }
        Ok(broken)
    };
    let broken: Vec<Result<Vec<String>>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(|w| w.join());
        joined
            .map(|done| done.unwrap_or_else(|_| bail!("a worker panicked")))
            .collect()
    });
    let broken = broken.into_iter().collect::<Result<Vec<_>>>()?.concat();
    if broken.is_empty() {
        Ok(Outcome::Passed)
    } else {
        bail!("an input breaks: {}", broken.join(", "));
    }
}

/// Fuzzes one target; says how many inputs it took, the slowest of them and the memory, and shows what breaks it.
fn holds(target: &str, seconds: u32) -> Result<bool> {
    println!("    fuzzing {target} for {seconds} s");
    let found = sh::scratch(&format!("fuzz/{target}"))?;
    let corpus = sh::root().join("fuzz/corpus").join(target);
    let mut command = fuzz(&["run", "--sanitizer", "none", target]);
    command.arg(&found);
    let fixtures = FIXTURES.iter().filter(|(of, _)| *of == target);
    for dir in fixtures
        .map(|(_, dir)| sh::root().join(dir))
        .chain([corpus])
    {
        if dir.is_dir() {
            command.arg(&dir);
        }
    }
    command
        .arg("--")
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={TIMEOUT}"))
        .arg(format!("-rss_limit_mb={MEMORY}"))
        .arg("-print_final_stats=1");
    let out = sh::output(command).with_context(|| target.to_owned())?;
    let log = String::from_utf8_lossy(&out.stderr);
    let stat = |name: &str| {
        log.lines()
            .find_map(|l| l.strip_prefix("stat::")?.strip_prefix(name))
            .map_or("?", str::trim)
    };
    println!(
        "    {target}: {} inputs, the slowest {} s (whole seconds), at most {} MB",
        stat("number_of_executed_units:"),
        stat("slowest_unit_time_sec:"),
        stat("peak_rss_mb:")
    );
    if !out.status.success() {
        let tail: Vec<&str> = log.lines().rev().take(30).collect();
        for line in tail.iter().rev() {
            println!("      {line}");
        }
    }
    Ok(out.status.success())
}

/// `cargo fuzz` with the nightly compiler; where there is none, the stable one is told to accept the
/// same unstable options. The code under test has no `unsafe`, so no sanitizer is needed to see a fault.
fn fuzz(args: &[&str]) -> std::process::Command {
    let mut command = if peers::nightly() {
        sh::command("cargo", &["+nightly", "fuzz"])
    } else {
        let mut stable = sh::command("cargo", &["fuzz"]);
        stable.env("RUSTC_BOOTSTRAP", "1");
        stable
    };
    command.args(args);
    // `cargo xtask` runs under cargo, whose settings for this toolchain must not leak into the other
    for name in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN", "RUSTFLAGS"] {
        command.env_remove(name);
    }
    command
}
