//! Other people's programs that the tests use: which are here, and how to get them on a bare Debian machine.

use crate::sh;
use anyhow::{Result, bail};
use std::path::PathBuf;

/// A runner that is faster than `cargo test`; without it `cargo test` runs the same tests.
pub(crate) fn nextest() -> bool {
    sh::works("cargo", &["nextest", "--version"])
}

pub(crate) fn cargo_fuzz() -> bool {
    sh::works("cargo", &["fuzz", "--version"])
}

pub(crate) fn nightly() -> bool {
    sh::works("rustc", &["+nightly", "--version"])
}

/// libFuzzer is C++.
pub(crate) fn cxx() -> bool {
    sh::works("c++", &["--version"])
}

/// Python with SkyPilot and gpuhunt, made by `testkit/peers.sh install`.
pub(crate) fn python() -> Option<PathBuf> {
    let python = sh::target_dir().join("peers/venv/bin/python");
    let program = python.to_string_lossy().into_owned();
    sh::works(&program, &["-c", "import gpuhunt, sky"]).then_some(python)
}

/// cargo-zigbuild with zig beside it, made by `testkit/peers.sh zig`, or one that is installed.
pub(crate) fn zigbuild() -> Option<PathBuf> {
    let own = sh::target_dir().join("peers/venv/bin/cargo-zigbuild");
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let installed = std::env::split_paths(&paths).map(|dir| dir.join("cargo-zigbuild"));
    std::iter::once(own).chain(installed).find(|p| p.is_file())
}

/// Installs what the tests of this repository need and this machine lacks.
pub(crate) fn install() -> Result<()> {
    if !cxx() {
        apt(&["g++"])?;
    }
    if !cargo_fuzz() {
        sh::run(sh::cargo(&["install", "--locked", "cargo-fuzz"]))?;
    }
    // ptxas and OpenCL on the processor, for the probe's kernels
    sh::run(sh::command("bash", &["testkit/peers.sh", "kernels"]))?;
    // pyarrow, which writes what the feed test reads
    sh::run(sh::command("bash", &["testkit/peers.sh", "files"]))?;
    // ping, proxies and TLS, for round trips
    sh::run(sh::command("bash", &["testkit/peers.sh", "network"]))?;
    // an S3 server
    sh::run(sh::command("bash", &["testkit/peers.sh", "s3"]))?;
    // web and SSH servers, certificates, LUKS headers
    sh::run(sh::command("bash", &["testkit/peers.sh", "security"]))?;
    // a linker for an old glibc, for the small binary
    sh::run(sh::command("bash", &["testkit/peers.sh", "zig"]))
}

/// SkyPilot and gpuhunt for `cargo xtask bench --peers`.
pub(crate) fn install_python() -> Result<PathBuf> {
    sh::run(sh::command("bash", &["testkit/peers.sh", "install"]))?;
    match python() {
        Some(python) => Ok(python),
        None => bail!("testkit/peers.sh ran, and SkyPilot or gpuhunt still cannot be imported"),
    }
}

fn apt(packages: &[&str]) -> Result<()> {
    if !sh::works("apt-get", &["--version"]) {
        bail!(
            "{} missing and there is no apt-get: install by hand",
            packages.join(", ")
        );
    }
    let root = sh::works("test", &["-w", "/var/lib/dpkg"]);
    let mut update = if root {
        sh::command("apt-get", &["-qq", "update"])
    } else {
        sh::command("sudo", &["-n", "apt-get", "-qq", "update"])
    };
    update.env("DEBIAN_FRONTEND", "noninteractive");
    sh::run(update)?;
    let mut install = if root {
        sh::command(
            "apt-get",
            &["-qq", "install", "-y", "--no-install-recommends"],
        )
    } else {
        sh::command(
            "sudo",
            &[
                "-n",
                "apt-get",
                "-qq",
                "install",
                "-y",
                "--no-install-recommends",
            ],
        )
    };
    install
        .args(packages)
        .env("DEBIAN_FRONTEND", "noninteractive");
    sh::run(install)
}
