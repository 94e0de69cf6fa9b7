//! Every example through the release binary, as a newcomer would run it: with empty settings and data of
//! its own, and without network.
//!
//! `examples/*.toml` with a `kind` are workloads, `buy*.toml` answer rent or own, a folder with a
//! `workload.toml` is a project whose quotes are imported first, `*.csv` are records of spot markets.

use crate::readme;
use crate::sh;
use crate::steps::Outcome;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};

pub(crate) fn run() -> Result<Outcome> {
    let binary = sh::release_binary()?;
    let mut failed = 0;
    let mut count = 0;
    let mut entries: Vec<PathBuf> = std::fs::read_dir(sh::root().join("examples"))
        .context("examples/")?
        .filter_map(|e| e.ok().map(|e| e.path()))
        .collect();
    entries.sort();
    for path in entries {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let done = if path.join("workload.toml").is_file() {
            project(&binary, &name)
        } else if name.starts_with("buy") {
            buy(&binary, &name)
        } else if name.starts_with("acceptance") {
            // the quote and the tickets beside it are parts of it
            if !name.ends_with(".toml") {
                continue;
            }
            acceptance(&binary, &name)
        } else if name.ends_with(".toml") {
            let home = sh::scratch("examples")?;
            workload(&binary, &home, &format!("examples/{name}"))
        } else if name.ends_with(".csv") {
            record(&binary, &name)
        } else {
            continue;
        };
        count += 1;
        match done {
            Ok(said) => println!("    {name}: {said}"),
            Err(e) => {
                println!("    {name}: failed: {e:#}");
                failed += 1;
            }
        }
    }
    println!("    {count} examples");
    if failed > 0 {
        bail!("{failed} of {count} examples failed");
    }
    Ok(Outcome::Passed)
}

/// The acceptance must judge each of its sections, and keep its documents.
fn acceptance(binary: &Path, name: &str) -> Result<String> {
    let home = sh::scratch("examples")?;
    let out = home.join("acceptance");
    let folder = out.to_string_lossy().into_owned();
    let args = [
        "accept",
        &format!("examples/{name}"),
        "--out",
        &folder,
        "-o",
        "json",
    ];
    // its verdict is its exit status, and is not ours to wish for
    let done = sh::without_network(sh::lessee(binary, &home, &args)).output()?;
    let json: Value = serde_json::from_slice(&done.stdout).context("no JSON")?;
    let findings = json["findings"].as_array().context("no `findings`")?;
    for check in ["driver", "failure", "budget", "offer", "support"] {
        if !findings.iter().any(|f| f["check"] == check) {
            bail!("no finding of {check}");
        }
    }
    let kept = std::fs::read_dir(&out).context("no documents")?.count();
    Ok(format!("{} findings, {kept} documents", findings.len()))
}

/// The plan must rank at least one option with a total, in JSON and as the table that people see.
fn workload(binary: &Path, home: &Path, file: &str) -> Result<String> {
    let json = ask(binary, home, &["plan", file, "-o", "json"])?;
    let options = json["options"].as_array().context("no `options`")?;
    let first = options.first().context("nothing is ranked")?;
    if first["rank"] != 1 {
        bail!("the first option has rank {}", first["rank"]);
    }
    let key = first["offer"]["key"].as_str().context("no offer key")?;
    let total = first["bill"]["total"]["amount"]
        .as_str()
        .context("no total")?;
    let currency = first["bill"]["total"]["currency"].as_str().unwrap_or("?");
    let table = shown(binary, home, &["plan", file])?;
    shown(binary, home, &["plan", file, "--explain", "1"])?;
    let instance = first["offer"]["instance_type"].as_str().unwrap_or(key);
    if !table.contains(instance) {
        bail!("the table does not show {instance}, which JSON ranks first");
    }
    Ok(format!(
        "{} ranked, first {key} for {total} {currency}",
        options.len()
    ))
}

fn buy(binary: &Path, name: &str) -> Result<String> {
    let home = sh::scratch("examples")?;
    let file = format!("examples/{name}");
    let json = ask(binary, &home, &["buy", &file, "-o", "json"])?;
    shown(binary, &home, &["buy", &file])?;
    let schema = json["schema"].as_str().context("no schema")?;
    Ok(schema.to_owned())
}

/// A record must be read, replayed, and speak for an offer of the built-in catalog.
fn record(binary: &Path, name: &str) -> Result<String> {
    let home = sh::scratch("examples")?;
    let file = format!("examples/{name}");
    let price = ["--on-demand-price", "3.06"];
    shown(
        binary,
        &home,
        &[&["trace", "stats", &file][..], &price].concat(),
    )?;
    let job = [
        "--job-hours",
        "48",
        "--deadline-hours",
        "60",
        "--overhead-hours",
        "0.2",
    ];
    let replay = [&["simulate", "--trace", &file, "--zones"][..], &job, &price].concat();
    shown(binary, &home, &replay)?;
    let replayed = ask(binary, &home, &[&replay[..], &["-o", "json"]].concat())?;
    let policies = replayed["policies"].as_array().context("no policies")?;
    let workload = "examples/imagenet-resnet50.toml";
    let plan = [
        "plan", workload, "--gpu", "V100", "--trace", &file, "-o", "json",
    ];
    let plan = ask(binary, &home, &plan)?;
    let options = plan["options"].as_array().context("no options")?;
    if !options.iter().any(|o| o["spot"]["basis"] == "measured") {
        bail!("no option was replayed on it");
    }
    Ok(format!("{} policies replayed", policies.len()))
}

/// Reads each quote twice: dry, then for good; then plans with the prices just imported.
fn project(binary: &Path, name: &str) -> Result<String> {
    let home = sh::scratch("examples")?;
    let quotes = sh::root().join("examples").join(name).join("quotes");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&quotes)
        .with_context(|| quotes.display().to_string())?
        .filter_map(|e| e.ok().map(|e| e.path()))
        .collect();
    files.sort();
    let mut offers = 0;
    for path in &files {
        let file = path.to_string_lossy().into_owned();
        let json = ask(
            binary,
            &home,
            &["catalog", "import", &file, "--dry-run", "-o", "json"],
        )?;
        let read = json["offers"].as_array().context("no `offers`")?.len();
        if read == 0 {
            bail!("{file}: no offer was read");
        }
        offers += read;
        shown(binary, &home, &["catalog", "import", &file])?;
    }
    let said = workload(binary, &home, &format!("examples/{name}/workload.toml"))?;
    Ok(format!(
        "{offers} offers from {} quotes; {said}",
        files.len()
    ))
}

/// What people see, in both languages; gives the English.
fn shown(binary: &Path, home: &Path, args: &[&str]) -> Result<String> {
    let chinese = [args, &["--lang", "zh-CN"]].concat();
    readme::capture(sh::without_network(sh::lessee(binary, home, &chinese)))
        .with_context(|| chinese.join(" "))?;
    readme::capture(sh::without_network(sh::lessee(binary, home, args)))
        .with_context(|| args.join(" "))
}

fn ask(binary: &Path, home: &Path, args: &[&str]) -> Result<Value> {
    let text = readme::capture(sh::without_network(sh::lessee(binary, home, args)))?;
    serde_json::from_str(&text)
        .with_context(|| format!("`lessee {}` printed no JSON", args.join(" ")))
}

#[cfg(test)]
mod tests {
    use lessee_model::{ProbeReport, workload};
    use std::path::PathBuf;

    fn examples() -> Vec<PathBuf> {
        let dir = crate::sh::root().join("examples");
        let entries = std::fs::read_dir(dir).expect("examples");
        entries.map(|e| e.expect("entry").path()).collect()
    }

    #[test]
    fn workloads_have_no_unknown_fields_and_no_bad_values() {
        let mut seen = 0;
        for mut path in examples() {
            if path.is_dir() {
                path = path.join("workload.toml");
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !name.ends_with(".toml") || name.starts_with("buy") || name.starts_with("acceptance")
            {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("text");
            let file = workload::parse_workload(&text, &name);
            assert!(file.is_ok(), "{name}: {file:?}");
            seen += 1;
        }
        assert!(seen >= 8, "{seen}");
    }

    #[test]
    fn the_probe_report_is_one() {
        let path = crate::sh::root().join("examples/probe-8xh100.json");
        let text = std::fs::read_to_string(path).expect("text");
        let report: ProbeReport = serde_json::from_str(&text).expect("a probe report");
        assert_eq!(report.schema, "lessee/probe/v1");
        assert_eq!(report.gpus.len(), 8);
    }
}
