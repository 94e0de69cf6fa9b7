//! The wheel as a user of pip meets it: built with maturin, installed into an empty environment without
//! an index, and asked for a plan.

use crate::steps::Outcome;
use crate::{release, sh};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// The release of maturin that `app/lessee/pyproject.toml` asks for.
const MATURIN: &str = "maturin==1.*";

pub(crate) fn check() -> Result<Outcome> {
    let tools = sh::scratch("wheel/tools")?;
    let Some(pip) = environment(&tools) else {
        return Ok(Outcome::Skipped(
            "no wheel: python3 or its venv module is missing".into(),
        ));
    };
    let quiet = ["install", "--quiet", "--disable-pip-version-check"];
    let mut install = sh::command(&pip, &quiet);
    install.arg(MATURIN);
    if sh::run(install).is_err() {
        return Ok(Outcome::Skipped(format!(
            "no wheel: pip cannot install {MATURIN}"
        )));
    }
    let out = sh::scratch("wheel/out")?;
    release::build_wheel(&tools.join("bin/maturin"), &out)?;
    let wheel = only_file(&out)?;

    let user = sh::scratch("wheel/user")?;
    let pip = environment(&user).context("a second environment")?;
    let mut install = sh::command(&pip, &quiet);
    install.arg("--no-index").arg(&wheel);
    sh::run(install)?;
    let home = sh::scratch("wheel/home")?;
    let args = ["plan", "examples/finetune-8b.toml", "-o", "json"];
    let plan = sh::without_network(sh::lessee(&user.join("bin/lessee"), &home, &args));
    let plan: serde_json::Value = serde_json::from_str(&sh::capture(plan)?).context("a plan")?;
    if plan["options"][0]["rank"] != 1 {
        bail!("the installed wheel ranks nothing");
    }
    println!("    {} installs and plans", wheel.display());
    Ok(Outcome::Passed)
}

/// Makes a virtual environment and gives its pip.
fn environment(dir: &Path) -> Option<PathBuf> {
    let place = dir.to_string_lossy().into_owned();
    sh::works("python3", &["-m", "venv", &place]).then(|| dir.join("bin/pip"))
}

fn only_file(dir: &Path) -> Result<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir)?
        .filter_map(|e| e.ok().map(|e| e.path()))
        .collect();
    match (files.pop(), files.len()) {
        (Some(file), 0) => Ok(file),
        _ => bail!("{}: one wheel was expected", dir.display()),
    }
}
