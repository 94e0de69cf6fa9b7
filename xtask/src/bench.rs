//! CPU seconds and peak memory of the two commands that people wait for, over the built-in snapshot plus
//! 128,000 imported rows; with `--peers` beside SkyPilot and gpuhunt on the same rows, and of a replay on a spot
//! record beside the public simulator.

use crate::measure::{self, Measured};
use crate::steps::Outcome;
use crate::{peers, rows, sh};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What must be reached: name, CPU seconds, MB.
const PLAN: (&str, f64, f64) = ("lessee plan examples/finetune-8b.toml", 0.5, 250.0);
const LIST: (&str, f64, f64) = ("lessee catalog list --gpu H100", 0.05, 250.0);
/// A shared or busy machine counts more CPU seconds for the same work: `--check` allows this factor.
const SLACK: f64 = 2.0;
const RUNS: usize = 5;

pub(crate) fn run(with_peers: bool, check: bool) -> Result<Outcome> {
    let binary = sh::release_binary()?;
    let home = sh::scratch("bench")?;
    let out = home.join("stdout");
    let files = rows::write(&sh::target_dir().join("bench/rows"))?;
    println!("    {} rows in {} files", rows::ROWS, files.len());
    let mut import = 0.0;
    for file in &files {
        let file = file.to_string_lossy().into_owned();
        let command = sh::lessee(&binary, &home, &["catalog", "import", &file]);
        import += measure::of(&command, &out)
            .with_context(|| format!("importing {file}"))?
            .cpu_seconds;
    }
    println!("    {:<52} {import:>8.3} CPU-s", "import of all rows, once");

    let plan = sh::lessee(&binary, &home, &["plan", "examples/finetune-8b.toml"]);
    let list = sh::lessee(&binary, &home, &["catalog", "list", "--gpu", "H100"]);
    measure::of(&plan, &out).context("first plan")?; // fills the cache
    let plan = measure::best_of(RUNS, &plan, &out)?;
    let list = measure::best_of(RUNS, &list, &out)?;
    show(PLAN.0, plan);
    show(LIST.0, list);
    if with_peers {
        let python = beside(&home, plan, list)?;
        spot_beside(&binary, &python)?;
    }
    if check {
        let mut slow = Vec::new();
        for ((name, seconds, mb), got) in [(PLAN, plan), (LIST, list)] {
            if got.cpu_seconds > seconds * SLACK || got.peak_mb > mb {
                slow.push(format!("{name}: the aim is {seconds} CPU-s and {mb} MB"));
            }
        }
        if !slow.is_empty() {
            bail!("too slow or too large: {}", slow.join("; "));
        }
    }
    Ok(Outcome::Passed)
}

fn show(name: &str, m: Measured) {
    println!(
        "    {name:<52} {:>8.3} CPU-s {:>8.3} s wall {:>7.0} MB",
        m.cpu_seconds, m.wall_seconds, m.peak_mb
    );
}

/// The peers on the same rows. Two figures each: the whole process, as ours are, and the call alone
/// (imports of Python modules and a first, cold call left out), which flatters the peer. Gives the Python used.
fn beside(home: &Path, plan: Measured, list: Measured) -> Result<PathBuf> {
    let python = match peers::python() {
        Some(python) => python,
        None => peers::install_python()?,
    };
    let rows = sh::target_dir().join("bench/rows");
    let script = sh::root().join("benches/peers.py");
    for (task, name, ours, what) in [
        (
            "sky-list",
            "SkyPilot 0.14.1: list accelerators",
            list,
            "catalog list",
        ),
        (
            "sky-optimize",
            "SkyPilot 0.14.1: optimise one request",
            plan,
            "plan",
        ),
        (
            "gpuhunt-parse",
            "gpuhunt 0.1.34: query, parsing its rows",
            list,
            "catalog list",
        ),
    ] {
        let out = home.join(format!("{task}.json"));
        let mut command = sh::command(&python, &[]);
        command
            .arg(&script)
            .arg(task)
            .arg(&rows)
            .env("HOME", home)
            .env("SKYPILOT_DISABLE_USAGE_COLLECTION", "1");
        let whole = measure::of(&command, &out).with_context(|| name.to_owned())?;
        let text = std::fs::read_to_string(&out).with_context(|| name.to_owned())?;
        let last = text.lines().last().unwrap_or("");
        let said: Value = serde_json::from_str(last).with_context(|| format!("{name}: {text}"))?;
        let alone = said["cpu_seconds"].as_f64().unwrap_or(f64::NAN);
        show(name, whole);
        println!(
            "      over {} rows; the call alone {alone:.3} CPU-s; `{what}` takes 1/{:.1} of the process, 1/{:.1} of the call",
            said["rows"],
            whole.cpu_seconds / ours.cpu_seconds,
            alone / ours.cpu_seconds
        );
    }
    Ok(python)
}

/// The simulator is on no package index and the record not in this repository: the script says what is missing
/// and ends well. Costs that differ are its failure.
fn spot_beside(binary: &Path, python: &Path) -> Result<()> {
    let mut command = sh::command(python, &["-B"]); // the simulator's folder is the user's: nothing is written there
    command
        .arg(sh::root().join("benches/spot_peer.py"))
        .arg(binary);
    sh::run(command)
}
