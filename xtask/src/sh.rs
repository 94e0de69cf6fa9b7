//! Running programs and finding things of this repository.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The top of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// A command that runs at the top of the repository.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    command
}

pub(crate) fn cargo(args: &[&str]) -> Command {
    command(
        std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
        args,
    )
}

fn shown(command: &Command) -> String {
    let mut out = command.get_program().to_string_lossy().into_owned();
    for arg in command.get_args() {
        out.push(' ');
        out.push_str(&arg.to_string_lossy());
    }
    out
}

/// Runs with the output on the terminal.
pub(crate) fn run(mut command: Command) -> Result<()> {
    let what = shown(&command);
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("cannot start `{what}`"))?;
    if !status.success() {
        bail!("`{what}` ended with {status}");
    }
    Ok(())
}

/// Runs and keeps the output, whatever the exit status.
pub(crate) fn output(mut command: Command) -> Result<Output> {
    let what = shown(&command);
    command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{what}`"))
}

/// Runs, expects success, gives stdout as text.
pub(crate) fn capture(command: Command) -> Result<String> {
    let what = shown(&command);
    let out = output(command)?;
    if !out.status.success() {
        bail!(
            "`{what}` ended with {}\n{}",
            out.status,
            String::from_utf8_lossy(&out.stderr)
        );
    }
    String::from_utf8(out.stdout)
        .with_context(|| format!("`{what}` printed something else than UTF-8"))
}

/// Whether the command can be started and ends well.
pub(crate) fn works(program: &str, args: &[&str]) -> bool {
    command(program, args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}

pub(crate) fn target_dir() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// A folder under target/ for this tool, emptied.
pub(crate) fn scratch(name: &str) -> Result<PathBuf> {
    let dir = target_dir().join("xtask").join(name);
    if dir.exists() {
        std::fs::remove_dir_all(&dir).with_context(|| format!("cannot empty {}", dir.display()))?;
    }
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    Ok(dir)
}

/// Builds the release binary and gives its path; `XTASK_LESSEE` names one that is built already.
pub(crate) fn release_binary() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("XTASK_LESSEE") {
        return Ok(root().join(path));
    }
    run(cargo(&["build", "--release", "--locked", "-p", "lessee"]))?;
    Ok(target_dir().join("release").join("lessee"))
}

/// The binary with settings, data and caches in `home` instead of the user's, in English and offline.
pub(crate) fn lessee(binary: &Path, home: &Path, args: &[&str]) -> Command {
    let mut command = command(binary, args);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("LESSEE_") {
            command.env_remove(name);
        }
    }
    command
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("XDG_DATA_HOME", home.join("data"))
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env("XDG_STATE_HOME", home.join("state"))
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        .env("NO_COLOR", "1")
        .env_remove("LC_ALL")
        .env_remove("LC_MESSAGES");
    command
}

/// Wraps a command so that it has no network at all, where the system allows that to a plain user.
pub(crate) fn without_network(inner: Command) -> Command {
    if !works("unshare", &["-rn", "true"]) {
        return inner;
    }
    let mut outer = command("unshare", &["-rn"]);
    outer.arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer
}

/// Paths of all files that git knows or would add, relative to the top, with `/`.
pub(crate) fn files() -> Result<Vec<String>> {
    let text = capture(command(
        "git",
        &[
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ],
    ))?;
    let mut files: Vec<String> = text
        .split('\0')
        .filter(|p| !p.is_empty() && root().join(p).is_file())
        .map(str::to_owned)
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}
