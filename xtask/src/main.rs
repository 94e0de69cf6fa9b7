//! `cargo xtask TASK`: what CI and developers do, one file a task. Nothing of it ships.
//!
//! Start with [`test`], which calls nearly all the others in order.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer's tool talks to its terminal"
)]

mod bench;
mod calibrate;
mod compare;
mod compare_rows;
mod examples;
mod fuzz;
mod generate;
mod layers;
mod licences;
mod measure;
mod peers;
mod probe_binary;
mod readme;
mod reference;
mod release;
mod rows;
mod sh;
mod steps;
mod test;
mod tidy;
mod wheel;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask TASK

  test [--install] [--full]   all that CI does; --install first installs the peers on a bare Debian machine,
                              --full fuzzes each target for 10 minutes instead of 20 seconds, fits the
                              performance model anew where its tables are, and builds,
                              installs and tries the wheel
  layers                      core uses only core, io never app
  tidy                        file sizes, paths of one machine, left-over markers
  licences                    every fact has a source, every data file a licence
  generate [--check]          schemas/, docs/reference/, the output shown in the READMEs
  examples                    every example through the release binary, without network
  readme                      the command of the READMEs, as written there, without network
  wheel                       builds the wheel, installs it into an empty environment and tries it
  fuzz [SECONDS] [TARGET...]  each fuzz target, or those named, for so long (20)
  bench [--peers] [--check]   CPU seconds and memory of plan and catalog list; --peers: beside SkyPilot and gpuhunt,
                              and a spot replay beside the simulator in LESSEE_SKY_SPOT
  calibrate [--tables DIR] [--score|--check] [--family NAME]
                              fits the performance model, see xtask/calibrate
  compare --tables DIR        errors and times of lessee, aiconfigurator and GenZ on the same measured rows
  rows [DIR]                  only write the 128,000 rows of the benchmark (target/bench/rows)
  probe-binary                builds lessee-probe for glibc 2.17 with zig, and checks its symbols, size and that it runs
  release                     tarball, lessee-probe, checksums and (with maturin) a wheel in dist/
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| args.iter().any(|a| a == name);
    if flag("--help") || flag("-h") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    // a long task on a misspelt flag costs an hour
    let known: &[&str] = match args.first().map(String::as_str) {
        Some("test") => &["--install", "--full"],
        Some("generate") => &["--check"],
        Some("bench") => &["--peers", "--check"],
        Some(
            "layers" | "tidy" | "licences" | "examples" | "readme" | "wheel" | "probe-binary"
            | "release",
        ) => &[],
        // these read their arguments themselves
        _ => &args.iter().map(String::as_str).collect::<Vec<_>>(),
    };
    if let Some(unknown) = args.iter().skip(1).find(|a| !known.contains(&a.as_str())) {
        eprint!("error: `{unknown}` is no part of this task\n\n{HELP}");
        return ExitCode::from(2);
    }
    let done = match args.first().map(String::as_str) {
        Some("test") => return test::run(flag("--install"), flag("--full")),
        Some("layers") => layers::check(),
        Some("tidy") => tidy::check(),
        Some("licences") => licences::check(),
        Some("generate") => generate::run(flag("--check")),
        Some("examples") => examples::run(),
        Some("readme") => readme::command(),
        Some("wheel") => wheel::check(),
        Some("fuzz") => fuzz::command(&args[1..]),
        Some("calibrate") => calibrate::run(&args[1..]),
        Some("compare") => compare::run(&args[1..]),
        Some("bench") => bench::run(flag("--peers"), flag("--check")),
        Some("rows") => {
            let dir = args.get(1).map_or("target/bench/rows", String::as_str);
            rows::write(&sh::root().join(dir)).map(|_| steps::Outcome::Passed)
        }
        Some("probe-binary") => probe_binary::check(),
        Some("release") => release::run(),
        // not in the help: the inner half of `bench`
        Some("measure") => measure::inner(&args[1..]),
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(steps::Outcome::Passed) => ExitCode::SUCCESS,
        Ok(steps::Outcome::Skipped(why)) => {
            println!("skipped: {why}");
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("error: {e:#}");
            ExitCode::FAILURE
        }
    }
}
