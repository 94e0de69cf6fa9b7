//! NVIDIA's libraries outside Python, and the driver: by the files that state a version, else by the number in the name of
//! the shared object.

use super::shown;
use crate::tree::Tree;
use lessee_accept::env::{Library, LibraryKind};
use serde_json::Value;
use std::collections::BTreeSet;

/// Number of the loaded driver.
pub(super) fn driver(tree: &Tree) -> Option<String> {
    let text = tree.text("proc/driver/nvidia/version")?;
    let line = text.lines().find(|l| l.starts_with("NVRM version:"))?;
    line.split_whitespace()
        .find(|w| w.contains('.') && w.split('.').all(digits))
        .map(str::to_owned)
}

fn digits(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())
}

/// `Model:  NVIDIA A100-SXM4-80GB`, one file a card.
pub(super) fn gpus(tree: &Tree) -> Vec<String> {
    let mut out = Vec::new();
    for (path, _) in tree.below("proc/driver/nvidia/gpus") {
        let text = tree.text(path).unwrap_or_default();
        let model = text.lines().find_map(|l| l.strip_prefix("Model:"));
        out.extend(model.map(|m| m.trim().to_owned()));
    }
    out
}

pub(super) fn read(tree: &Tree, at: &str) -> Vec<Library> {
    let mut out = Vec::new();
    let mut found = |kind, version: String, path: &str| {
        out.push(Library {
            kind,
            version,
            path: shown(at, path),
        });
    };
    let mut stated: BTreeSet<(LibraryKind, String)> = BTreeSet::new();
    for (path, _) in tree.paths() {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let parent = folder.rsplit('/').next().unwrap_or("");
        match name {
            "version.json" if parent.starts_with("cuda") => {
                for (kind, version) in version_json(tree, path) {
                    found(kind, version, folder);
                }
            }
            "version.txt" if parent.starts_with("cuda") => {
                let json = format!("{folder}/version.json");
                let text = tree.text(path).filter(|_| !tree.has(&json));
                let version = text
                    .as_deref()
                    .and_then(|t| t.trim().strip_prefix("CUDA Version "));
                if let Some(version) = version {
                    found(LibraryKind::Cuda, version.to_owned(), folder);
                }
            }
            "cudnn_version.h" => {
                let text = tree.text(path).unwrap_or_default();
                if let Some(version) = defines(&text, "CUDNN") {
                    stated.insert((LibraryKind::Cudnn, version.clone()));
                    found(LibraryKind::Cudnn, version, path);
                }
            }
            "nccl.h" => {
                let text = tree.text(path).unwrap_or_default();
                if let Some(version) = defines(&text, "NCCL") {
                    stated.insert((LibraryKind::Nccl, version.clone()));
                    found(LibraryKind::Nccl, version, path);
                }
            }
            _ => {}
        }
    }
    for (path, _) in tree.paths() {
        // those of Python packages are told by the packages; stubs only serve to link
        if path.contains("-packages/") || path.contains("/stubs/") {
            continue;
        }
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let of = |stem: &str| {
            let version = name.strip_prefix(stem)?.strip_prefix(".so.")?;
            (version.contains('.') && version.split('.').all(digits)).then(|| version.to_owned())
        };
        if let Some(version) = of("libcuda") {
            let compat = folder.ends_with("/compat") || folder.contains("/compat/");
            let kind = match compat {
                true => LibraryKind::CudaCompat,
                false => LibraryKind::Libcuda,
            };
            found(kind, version, path);
        }
        for (stem, kind) in [
            ("libcudnn", LibraryKind::Cudnn),
            ("libnccl", LibraryKind::Nccl),
        ] {
            if let Some(version) = of(stem).filter(|v| !stated.contains(&(kind, v.clone()))) {
                stated.insert((kind, version.clone()));
                found(kind, version, path);
            }
        }
    }
    out
}

fn version_json(tree: &Tree, path: &str) -> Vec<(LibraryKind, String)> {
    let value: Option<Value> = tree
        .bytes(path)
        .and_then(|b| serde_json::from_slice(b).ok());
    let Some(value) = value else {
        return Vec::new();
    };
    let of = |key: &str, kind| {
        let version = value[key]["version"].as_str()?;
        Some((kind, version.to_owned()))
    };
    let both = [
        of("cuda", LibraryKind::Cuda),
        of("cuda_nvcc", LibraryKind::Nvcc),
    ];
    both.into_iter().flatten().collect()
}

/// `#define CUDNN_MAJOR 9` and its two companions.
fn defines(text: &str, prefix: &str) -> Option<String> {
    let number = |names: &[&str]| {
        text.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            let is = words.next() == Some("#define");
            let name = words.next()?.strip_prefix(prefix)?.strip_prefix('_')?;
            let value = words.next()?;
            (is && names.contains(&name) && digits(value)).then(|| value.to_owned())
        })
    };
    let major = number(&["MAJOR"])?;
    let minor = number(&["MINOR"])?;
    let patch = number(&["PATCHLEVEL", "PATCH"])?;
    Some(format!("{major}.{minor}.{patch}"))
}
