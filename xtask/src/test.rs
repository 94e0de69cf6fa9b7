//! All that CI does, cheap checks first. A step that fails does not stop the next ones.

use crate::steps::{Outcome, Steps};
use crate::{
    bench, calibrate, examples, fuzz, generate, layers, licences, peers, probe_binary, readme, sh,
    tidy, wheel,
};
use anyhow::{Context, Result};
use serde_json::Value;
use std::process::ExitCode;

/// Seconds of fuzzing for each target.
const SHORT: u32 = 20;
const LONG: u32 = 600;

pub(crate) fn run(install: bool, full: bool) -> ExitCode {
    let ci = std::env::var("CI").is_ok_and(|v| v == "true" || v == "1");
    let mut steps = Steps::new(ci);
    if install {
        steps.step("install peers", || {
            peers::install().map(|()| Outcome::Passed)
        });
    }
    steps.step("format", || {
        passed(sh::cargo(&["fmt", "--all", "--", "--check"]))
    });
    steps.step("layers", layers::check);
    steps.step("tidy", tidy::check);
    steps.step("data licences", licences::check);
    steps.step("clippy", || {
        let args = [
            "clippy",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ];
        passed(sh::cargo(&args))
    });
    steps.step("tests", tests);
    steps.step("doc tests", || {
        passed(sh::cargo(&["test", "--workspace", "--doc", "--locked"]))
    });
    steps.step("release build", || {
        sh::release_binary().map(|_| Outcome::Passed)
    });
    steps.step("probe binary", probe_binary::check);
    steps.step("generated files", || generate::run(true));
    steps.step("README command", readme::command);
    steps.step("examples", examples::run);
    steps.step("benchmarks compile", benchmarks);
    steps.step("speed", || bench::run(false, true));
    steps.step("fuzzing", || {
        fuzz::run(if full { LONG } else { SHORT }, &[])
    });
    if full {
        steps.step("wheel", wheel::check);
        steps.step("calibration", calibrate::check);
    }
    steps.close()
}

fn passed(command: std::process::Command) -> Result<Outcome> {
    sh::run(command).map(|()| Outcome::Passed)
}

fn tests() -> Result<Outcome> {
    if peers::nextest() {
        let args = [
            "nextest",
            "run",
            "--workspace",
            "--locked",
            "--no-fail-fast",
            "--status-level",
            "fail",
        ];
        passed(sh::cargo(&args))
    } else {
        println!("    cargo-nextest is not installed: cargo test runs the same tests");
        passed(sh::cargo(&[
            "test",
            "--workspace",
            "--locked",
            "--no-fail-fast",
            "--all-targets",
        ]))
    }
}

/// Builds the benchmarks of the crates that have some; running them is `cargo bench`.
fn benchmarks() -> Result<Outcome> {
    let text = sh::capture(sh::cargo(&[
        "metadata",
        "--format-version",
        "1",
        "--no-deps",
        "--locked",
    ]))?;
    let metadata: Value = serde_json::from_str(&text).context("cargo metadata")?;
    let empty = Vec::new();
    let mut args = vec!["bench".to_owned(), "--no-run".into(), "--locked".into()];
    for package in metadata["packages"].as_array().unwrap_or(&empty) {
        for target in package["targets"].as_array().unwrap_or(&empty) {
            if target["kind"][0] == "bench" {
                args.extend(["-p", package["name"].as_str().unwrap_or("?")].map(str::to_owned));
                args.extend(["--bench", target["name"].as_str().unwrap_or("?")].map(str::to_owned));
            }
        }
    }
    if args.len() == 3 {
        anyhow::bail!("no crate has a [[bench]]");
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    passed(sh::cargo(&args))
}
