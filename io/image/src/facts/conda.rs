//! Environments of conda: one JSON file a package in `conda-meta`.

use super::metadata::without_secrets;
use crate::tree::Tree;
use lessee_accept::env::{CondaPackage, Python, PythonKind};
use serde_json::Value;
use std::collections::BTreeSet;

/// Folders above `conda-meta`.
pub(super) fn prefixes(tree: &Tree) -> BTreeSet<String> {
    let of = |path: &str| {
        let (folder, _) = path.rsplit_once('/')?;
        let prefix = folder.strip_suffix("conda-meta")?;
        Some(prefix.trim_end_matches('/').to_owned())
    };
    tree.paths().filter_map(|(path, _)| of(path)).collect()
}

pub(super) fn read(tree: &Tree, prefix: &str) -> Python {
    let folder = crate::tree::join(prefix, "conda-meta");
    let mut python = Python {
        kind: PythonKind::Conda,
        ..Python::default()
    };
    for (path, _) in tree.below(&folder) {
        let value = tree
            .bytes(path)
            .and_then(|b| serde_json::from_slice::<Value>(b).ok());
        if let Some(package) = value.as_ref().and_then(package) {
            if package.name == "python" {
                python.version = Some(package.version.clone());
            }
            python.conda.push(package);
        }
    }
    python
}

/// One record, of `conda-meta` or of `conda list --json`.
pub(crate) fn package(value: &Value) -> Option<CondaPackage> {
    let text = |key: &str| {
        let text = value.get(key)?.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let sha256 = text("sha256").map(|h| format!("sha256={h}"));
    Some(CondaPackage {
        name: text("name")?,
        version: text("version")?,
        build: text("build_string").or_else(|| text("build")),
        channel: text("channel").map(|c| without_secrets(&c)),
        url: text("url").map(|u| without_secrets(&u)),
        hash: sha256.or_else(|| text("md5").map(|h| format!("md5={h}"))),
    })
}
