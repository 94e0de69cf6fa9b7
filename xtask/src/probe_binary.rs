//! `lessee-probe` as a renter copies it to a machine: one file for glibc 2.17 and later, built with zig as the linker, then
//! checked: the newest symbol it asks for, the libraries it needs, its size, and that it runs.

use crate::steps::Outcome;
use crate::{peers, sh};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// CentOS 7, and so every machine that an NVIDIA driver of these years runs on.
const GLIBC: (u32, u32) = (2, 17);
/// Libraries of every glibc system. All else is loaded when it is there, or not.
const NEEDED: [&str; 6] = [
    "libc.so.6",
    "libm.so.6",
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
    "ld-linux-x86-64.so.2",
];
const LARGEST: u64 = 12_000_000;

/// Builds it and checks it.
pub(crate) fn check() -> Result<Outcome> {
    let Some(zigbuild) = peers::zigbuild() else {
        return Ok(Outcome::Skipped(
            "no cargo-zigbuild and zig here: testkit/peers.sh zig".into(),
        ));
    };
    let binary = build(&zigbuild, "x86_64")?;
    let size = std::fs::metadata(&binary).context("the binary")?.len();
    if size > LARGEST {
        bail!("{size} bytes, more than {LARGEST}");
    }
    let headers = objdump("-p", &binary)?;
    let needed: Vec<&str> = headers
        .lines()
        .filter_map(|l| l.trim().strip_prefix("NEEDED"))
        .map(str::trim)
        .collect();
    if needed.is_empty() {
        bail!("it needs no library at all: then it cannot load the driver's either");
    }
    if let Some(other) = needed.iter().find(|l| !NEEDED.contains(l)) {
        bail!("it needs {other}");
    }
    let newest = newest_glibc(&objdump("-T", &binary)?).context("no symbol of glibc")?;
    if newest > GLIBC {
        bail!("it needs glibc {}.{}", newest.0, newest.1);
    }
    runs(&binary)?;
    println!(
        "    {}: {:.1} MB, glibc {}.{} and later",
        binary.display(),
        size as f64 / 1e6,
        newest.0,
        newest.1
    );
    Ok(Outcome::Passed)
}

/// Processors that it can be built for, as far as their standard library is installed (`rustup target add`).
pub(crate) fn processors() -> impl Iterator<Item = &'static str> {
    ["x86_64", "aarch64"].into_iter().filter(|processor| {
        let target = format!("{processor}-unknown-linux-gnu");
        let args = ["--print", "target-libdir", "--target", &target];
        let folder = sh::capture(sh::command("rustc", &args)).unwrap_or_default();
        Path::new(folder.trim()).is_dir()
    })
}

/// Builds it in a folder of its own, for its linker is another.
pub(crate) fn build(zigbuild: &Path, processor: &str) -> Result<PathBuf> {
    let folder = sh::target_dir().join("zig");
    let mut command = sh::command(
        zigbuild,
        &[
            "zigbuild",
            "--profile",
            "probe",
            "--locked",
            "-p",
            "lessee-probe",
        ],
    );
    let target = format!("{processor}-unknown-linux-gnu");
    let floor = format!("{target}.{}.{}", GLIBC.0, GLIBC.1);
    command.arg("--target").arg(floor);
    command.env("CARGO_TARGET_DIR", &folder);
    // zig is found beside cargo-zigbuild
    let beside = zigbuild.parent().unwrap_or(Path::new("."));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(beside.to_owned()).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(all).context("PATH")?);
    sh::run(command)?;
    Ok(folder.join(target).join("probe/lessee-probe"))
}

fn objdump(what: &str, binary: &Path) -> Result<String> {
    let mut command = sh::command("objdump", &[what]);
    command.arg(binary);
    sh::capture(command).context("objdump (of binutils)")
}

/// The newest `GLIBC_x.y` among the dynamic symbols.
fn newest_glibc(symbols: &str) -> Option<(u32, u32)> {
    let version = |text: &str| {
        let digits = text
            .split(|c: char| !c.is_ascii_digit() && c != '.')
            .next()?;
        let mut parts = digits.split('.').map_while(|p| p.parse().ok());
        Some((parts.next()?, parts.next().unwrap_or(0)))
    };
    symbols.split("GLIBC_").skip(1).filter_map(version).max()
}

/// It looks at this machine without settings and without root's help, and reads what was pasted.
fn runs(binary: &Path) -> Result<()> {
    let home = sh::scratch("probe-binary")?;
    let mut look = sh::lessee(binary, &home, &["--only", "look", "--quick", "-o", "json"]);
    let out = look.output().context("the binary does not start")?;
    let report: Value = serde_json::from_slice(&out.stdout).context("no report")?;
    if report["schema"] != "lessee/probe/v1" || report["machine"].is_null() {
        bail!("its report is none: {report}");
    }
    let paste = home.join("paste.txt");
    std::fs::write(
        &paste,
        "Failed to initialize NVML: Driver/library version mismatch\n",
    )?;
    let place = paste.to_string_lossy().into_owned();
    let read = sh::capture(sh::lessee(
        binary,
        &home,
        &["probe", "read", &place, "-o", "json"],
    ))?;
    let read: Value = serde_json::from_str(&read).context("no reading")?;
    if read[0]["reading"]["problems"]
        .as_array()
        .is_none_or(Vec::is_empty)
    {
        bail!("it reads nothing: {read}");
    }
    // what it leaves out so that it stays small, it says
    let mut bucket = sh::lessee(binary, &home, &["probe", "--s3", "s3://bucket"]);
    let out = bucket.output().context("the binary does not start")?;
    let said = String::from_utf8_lossy(&out.stderr);
    if out.status.code() != Some(2) || !said.contains("without --s3") {
        bail!("it does not say that it has no --s3: {said}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let symbols = "0000 DF *UND* 0000 (GLIBC_2.2.5) read\n0000 DF *UND* (GLIBC_2.17) clock_gettime\n\
            0000 DF *UND* (GLIBC_2.9) x\n";
        assert_eq!(newest_glibc(symbols), Some((2, 17)));
        assert_eq!(newest_glibc("(GLIBC_2.34) pthread_create"), Some((2, 34)));
        assert_eq!(newest_glibc("nothing"), None);
        assert!((2, 34) > GLIBC && (2, 9) < GLIBC);
    }
}
