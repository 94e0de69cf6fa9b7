//! What a release consists of: a tarball with the optimised binary, completions and man pages; `lessee-probe`, one file a
//! processor, where cargo-zigbuild is installed; a wheel for `pip install` where maturin is; and checksums.

use crate::steps::Outcome;
use crate::{peers, probe_binary, sh};
use anyhow::{Context, Result};
use std::path::Path;

pub(crate) fn run() -> Result<Outcome> {
    sh::run(sh::cargo(&[
        "build",
        "--profile",
        "dist",
        "--locked",
        "-p",
        "lessee",
    ]))?;
    let version = env!("CARGO_PKG_VERSION");
    let host = host()?;
    let name = format!("lessee-{version}-{host}");
    let dist = sh::root().join("dist");
    let stage = sh::scratch("release")?.join(&name);
    std::fs::create_dir_all(stage.join("completions")).context("stage")?;
    std::fs::create_dir_all(&dist).context("dist/")?;
    let binary = sh::target_dir().join("dist/lessee");
    std::fs::copy(&binary, stage.join("lessee")).context("the binary")?;
    for file in [
        "README.md",
        "README.zh-CN.md",
        "CHANGELOG.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "data/LICENSES.md",
    ] {
        let to = stage.join(file.replace("data/LICENSES.md", "DATA-LICENSES.md"));
        std::fs::copy(sh::root().join(file), to).with_context(|| file.to_owned())?;
    }
    let home = sh::scratch("release-home")?;
    for shell in ["bash", "fish", "zsh"] {
        let text = sh::capture(sh::lessee(&binary, &home, &["completions", shell]))?;
        std::fs::write(
            stage.join("completions").join(format!("lessee.{shell}")),
            text,
        )?;
    }
    let man = stage.join("man");
    std::fs::create_dir_all(&man).context("man pages")?;
    let man = man.to_string_lossy().into_owned();
    sh::capture(sh::lessee(&binary, &home, &["man", &man]))?;
    let tarball = dist.join(format!("{name}.tar.gz"));
    let mut tar = sh::command(
        "tar",
        &[
            "--sort=name",
            "--owner=0",
            "--group=0",
            "--numeric-owner",
            "-czf",
        ],
    );
    tar.arg(&tarball).arg("-C");
    tar.arg(stage.parent().unwrap_or(&stage)).arg(&name);
    sh::run(tar)?;
    println!("    {}", tarball.display());
    probes(&dist)?;
    let wheel = wheel()?;
    let sums = sh::capture({
        let mut command = sh::command(
            "bash",
            &[
                "-c",
                "cd dist && sha256sum -- *.tar.gz $(ls *.whl lessee-probe-* 2>/dev/null)",
            ],
        );
        command.env("LC_ALL", "C");
        command
    })?;
    std::fs::write(dist.join("SHA256SUMS"), sums).context("dist/SHA256SUMS")?;
    Ok(wheel)
}

/// The small binary, for each processor whose standard library is here.
fn probes(dist: &Path) -> Result<()> {
    let Some(zigbuild) = peers::zigbuild() else {
        println!("    no lessee-probe: cargo-zigbuild is not installed (testkit/peers.sh zig)");
        return Ok(());
    };
    let version = env!("CARGO_PKG_VERSION");
    for processor in probe_binary::processors() {
        let built = probe_binary::build(&zigbuild, processor)?;
        let to = dist.join(format!("lessee-probe-{version}-{processor}-linux"));
        std::fs::copy(&built, &to).with_context(|| to.display().to_string())?;
        println!("    {}", to.display());
    }
    Ok(())
}

/// `pip install lessee` puts the same binary on the path (maturin, `bindings = "bin"`).
fn wheel() -> Result<Outcome> {
    if !sh::works("maturin", &["--version"]) {
        return Ok(Outcome::Skipped(
            "no wheel: maturin is not installed (pip install maturin)".into(),
        ));
    }
    build_wheel(Path::new("maturin"), &sh::root().join("dist"))?;
    Ok(Outcome::Passed)
}

/// Builds the wheel into the folder `out`.
pub(crate) fn build_wheel(maturin: &Path, out: &Path) -> Result<()> {
    let mut maturin = sh::command(
        maturin,
        &[
            "build",
            "--profile",
            "dist",
            "--locked",
            "--strip",
            "--manifest-path",
            "app/lessee/Cargo.toml",
            "--out",
        ],
    );
    maturin.arg(out);
    sh::run(maturin)
}

/// The triple of this machine, as rustc names it.
fn host() -> Result<String> {
    let text = sh::capture(sh::command("rustc", &["-vV"]))?;
    let host = text.lines().find_map(|l| l.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}
