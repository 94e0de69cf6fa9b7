//! The layer check: the folder is the layer. core/ uses core/ and a short list of pure crates, io/ uses
//! core/ and io/, app/ uses all three; nothing that ships uses xtask/ or testkit/. Dev-dependencies are free.

use crate::sh;
use crate::steps::Outcome;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::Path;

/// Crates without files, sockets, clocks or threads of their own (or with those features left off).
/// One more is added here after reading that this holds.
const PURE: &[&str] = &[
    "jiff",
    "pep508_rs",
    "rust_decimal",
    "schemars",
    "serde",
    "serde_json",
    "thiserror",
    "toml",
    "url",
];

pub(crate) fn check() -> Result<Outcome> {
    let text = sh::capture(sh::cargo(&[
        "metadata",
        "--format-version",
        "1",
        "--no-deps",
        "--locked",
    ]))?;
    let metadata: Value = serde_json::from_str(&text).context("cargo metadata")?;
    let wrong = violations(&metadata, &sh::root());
    if wrong.is_empty() {
        return Ok(Outcome::Passed);
    }
    for line in &wrong {
        println!("    {line}");
    }
    bail!("{} dependencies point the wrong way", wrong.len());
}

/// First folder of a path below the top, e.g. `core`.
fn layer(path: &str, root: &Path) -> Option<String> {
    let below = Path::new(path).strip_prefix(root).ok()?;
    let first = below.components().next()?;
    Some(first.as_os_str().to_string_lossy().into_owned())
}

fn violations(metadata: &Value, root: &Path) -> Vec<String> {
    let mut out = Vec::new();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for package in list(&metadata["packages"]) {
        let name = package["name"].as_str().unwrap_or("?").to_owned();
        let manifest = package["manifest_path"].as_str().unwrap_or("");
        let Some(own) = layer(manifest, root) else {
            continue;
        };
        for dependency in list(&package["dependencies"]) {
            if dependency["kind"].as_str() == Some("dev") {
                continue;
            }
            let on = dependency["name"].as_str().unwrap_or("?");
            let to = dependency["path"].as_str().and_then(|p| layer(p, root));
            if let Some(why) = forbidden(&own, on, to.as_deref()) {
                out.push(format!("{own}/: {name} -> {on}: {why}"));
            }
        }
    }
    out
}

/// Why a crate in the folder `own` may not use `on`, which lies in the folder `to` or comes from outside.
fn forbidden(own: &str, on: &str, to: Option<&str>) -> Option<&'static str> {
    match (own, to) {
        ("xtask" | "testkit", _) => None,
        ("core", None) if PURE.contains(&on) => None,
        ("core", None) => {
            Some("core is pure: not in the list of pure crates (xtask/src/layers.rs)")
        }
        ("core", Some("core")) => None,
        ("core", Some(_)) => Some("core uses only core"),
        ("io", None | Some("core" | "io")) => None,
        ("io", Some(_)) => Some("io uses only core and io"),
        ("app", None | Some("core" | "io" | "app")) => None,
        ("app", Some(_)) => Some("what ships uses neither xtask nor testkit"),
        _ => Some("a crate lies in core/, io/, app/, xtask/ or testkit/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(manifest: &str, dependency: Value) -> Vec<String> {
        let metadata = json!({"packages": [
            {"name": "it", "manifest_path": manifest, "dependencies": [dependency]}
        ]});
        violations(&metadata, Path::new("/r"))
    }

    #[test]
    fn the_direction_is_app_io_core() {
        let path = |to: &str| json!({"name": "x", "kind": null, "path": to});
        assert!(one("/r/app/a/Cargo.toml", path("/r/io/b")).is_empty());
        assert!(one("/r/io/a/Cargo.toml", path("/r/core/b")).is_empty());
        assert_eq!(one("/r/io/a/Cargo.toml", path("/r/app/b")).len(), 1);
        assert_eq!(one("/r/core/a/Cargo.toml", path("/r/io/b")).len(), 1);
        assert_eq!(one("/r/app/a/Cargo.toml", path("/r/testkit")).len(), 1);
        assert_eq!(one("/r/lib/a/Cargo.toml", path("/r/core/b")).len(), 1);
    }

    #[test]
    fn core_takes_only_pure_crates_and_tests_are_free() {
        let of = |name: &str, kind: Value| json!({"name": name, "kind": kind});
        assert!(one("/r/core/a/Cargo.toml", of("serde", Value::Null)).is_empty());
        assert_eq!(
            one("/r/core/a/Cargo.toml", of("tokio", Value::Null)).len(),
            1
        );
        assert_eq!(
            one("/r/core/a/Cargo.toml", of("tokio", json!("build"))).len(),
            1
        );
        assert!(one("/r/core/a/Cargo.toml", of("tokio", json!("dev"))).is_empty());
        assert!(one("/r/io/a/Cargo.toml", of("tokio", Value::Null)).is_empty());
    }
}
