//! Pythons of a tree and what is installed into each: folders `lib/pythonX.Y/site-packages` and `dist-packages`, virtual
//! environments by their `pyvenv.cfg`, conda environments by their `conda-meta`.

use super::{conda, metadata, shown};
use crate::tree::{Tree, join};
use lessee_accept::env::{
    Environment, NoteCode, Package, PackageFrom, Python, PythonKind, name_key,
};
use std::collections::{BTreeMap, BTreeSet};

/// Broken packages that are named.
const LISTED: usize = 5;

/// Where packages lie.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Site {
    prefix: String,
    /// `3.11`; empty for Debian's `python3`.
    minor: String,
    debian: bool,
    path: String,
}

/// All Pythons with packages.
pub(super) fn read(tree: &Tree, at: &str, out: &mut Environment) -> Vec<Python> {
    let mut pythons: BTreeMap<String, Python> = BTreeMap::new();
    for prefix in conda::prefixes(tree) {
        let mut python = conda::read(tree, &prefix);
        python.prefix = shown(at, &prefix);
        pythons.insert(prefix, python);
    }
    let sites = sites(tree);
    let default = debian_default(tree).or_else(|| {
        let own = |s: &&Site| s.prefix == "usr" && !s.minor.is_empty();
        sites.iter().find(own).map(|s| s.minor.clone())
    });
    for site in &sites {
        let own = owner(tree, site);
        let python = pythons.entry(own.clone()).or_insert_with(|| Python {
            prefix: shown(at, &own),
            ..Python::default()
        });
        describe(tree, &own, site, default.as_deref(), python);
        let mut broken = Vec::new();
        packages(tree, site, python, &mut broken);
        if !broken.is_empty() {
            let some: Vec<&str> = broken.iter().take(LISTED).map(String::as_str).collect();
            let detail = format!("{} ({})", some.join(", "), broken.len());
            out.note(NoteCode::Leftover, &shown(at, &site.path), detail);
        }
    }
    // one that has just been made, or lost all its packages
    let empty = tree
        .paths()
        .filter_map(|(p, _)| p.strip_suffix("pyvenv.cfg"));
    for prefix in empty.map(|p| p.trim_end_matches('/')) {
        if !pythons.contains_key(prefix) {
            let mut python = Python {
                prefix: shown(at, prefix),
                ..Python::default()
            };
            let site = Site {
                prefix: prefix.to_owned(),
                minor: String::new(),
                debian: false,
                path: join(prefix, "lib"),
            };
            describe(tree, prefix, &site, None, &mut python);
            pythons.insert(prefix.to_owned(), python);
        }
    }
    let seen: BTreeSet<String> = pythons.values().map(|p| p.prefix.clone()).collect();
    let mut all: Vec<Python> = pythons.into_values().collect();
    for python in &mut all {
        python.sees = python.sees.take().map(|base| {
            let here = shown(at, base.trim_start_matches('/'));
            if seen.contains(&here) { here } else { base }
        });
    }
    all.retain(|p| !p.packages.is_empty() || !p.conda.is_empty() || p.kind == PythonKind::Venv);
    all
}

fn sites(tree: &Tree) -> BTreeSet<Site> {
    let mut found = BTreeSet::new();
    for (path, _) in tree.paths() {
        let mut from = 0;
        while let Some(at) = path[from..].find("-packages/") {
            let end = from + at + "-packages".len();
            from = end;
            if let Some(site) = site(&path[..end]) {
                found.insert(site);
            }
        }
    }
    // the same folder by way of a link is one
    found
}

/// `opt/venv/lib/python3.11/site-packages`
fn site(path: &str) -> Option<Site> {
    let (above, last) = path.rsplit_once('/')?;
    let (lib, python) = above.rsplit_once('/').unwrap_or(("", above));
    let minor = python.strip_prefix("python")?;
    let debian = last == "dist-packages";
    if !debian && last != "site-packages" {
        return None;
    }
    let (prefix, lib) = lib.rsplit_once('/').unwrap_or(("", lib));
    if lib != "lib" && lib != "lib64" {
        return None;
    }
    let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if !digits(minor) {
        return None;
    }
    Some(Site {
        prefix: prefix.to_owned(),
        minor: match minor.contains('.') {
            true => minor.to_owned(),
            false => String::new(),
        },
        debian,
        path: path.to_owned(),
    })
}

/// The Python that a folder of packages belongs to. Debian's looks into `/usr/local` too; users' folders are their own.
fn owner(tree: &Tree, site: &Site) -> String {
    let local = site.prefix == "usr/local";
    let here = |minor: &str| {
        let names = [format!("python{minor}"), "python3".to_owned()];
        names
            .iter()
            .any(|n| tree.node(&format!("usr/local/bin/{n}")).is_some())
    };
    match local && (site.debian || !here(&site.minor)) {
        true => "usr".to_owned(),
        false => site.prefix.clone(),
    }
}

/// `usr/bin/python3 -> python3.11`
fn debian_default(tree: &Tree) -> Option<String> {
    let link = tree.resolved("usr/bin/python3")?;
    let name = link.rsplit('/').next()?.strip_prefix("python")?;
    name.contains('.').then(|| name.to_owned())
}

fn describe(tree: &Tree, own: &str, site: &Site, default: Option<&str>, python: &mut Python) {
    if let Some(config) = tree.text(&join(own, "pyvenv.cfg")) {
        python.kind = PythonKind::Venv;
        let value = |key: &str| {
            config.lines().find_map(|line| {
                let (k, v) = line.split_once('=')?;
                (k.trim() == key).then(|| v.trim().to_owned())
            })
        };
        let version = value("version").or_else(|| value("version_info"));
        // `version_info = 3.11.7.final.0` of virtualenv
        python.version = version.map(|v| v.split('.').take(3).collect::<Vec<_>>().join("."));
        if value("include-system-site-packages").as_deref() == Some("true") {
            let home = value("home").unwrap_or_default();
            python.sees = home.strip_suffix("/bin").map(str::to_owned);
        }
    } else if own.ends_with("/.local") {
        python.kind = PythonKind::User;
        python.sees = Some("usr".to_owned());
    }
    let minor = match site.minor.is_empty() {
        true => default.unwrap_or(""),
        false => &site.minor,
    };
    if python.version.is_none() && !minor.is_empty() {
        python.version = Some(patch_level(tree, own, minor).unwrap_or_else(|| minor.to_owned()));
    }
}

/// The whole version, of the header of an interpreter or of its package.
fn patch_level(tree: &Tree, own: &str, minor: &str) -> Option<String> {
    let header = tree.text(&join(own, &format!("include/python{minor}/patchlevel.h")));
    let from_header = header.as_deref().and_then(|text| {
        let line = text.lines().find(|l| l.contains("define PY_VERSION "))?;
        let version = line.split('"').nth(1)?;
        Some(version.trim_end_matches('+').to_owned())
    });
    from_header.or_else(|| {
        let status = super::system::dpkg(tree);
        let name = format!("python{minor}-minimal");
        let package = status.iter().find(|p| p.name == name && own == "usr")?;
        let end = package.version.find(['-', '+', '~']);
        Some(package.version[..end.unwrap_or(package.version.len())].to_owned())
    })
}

fn packages(tree: &Tree, site: &Site, python: &mut Python, broken: &mut Vec<String>) {
    let mut folders: BTreeSet<&str> = BTreeSet::new();
    for (path, _) in tree.below(&site.path) {
        let rest = &path[site.path.len() + 1..];
        let first = rest.split('/').next().unwrap_or(rest);
        let whole = &path[..site.path.len() + 1 + first.len()];
        if first.ends_with(".dist-info") || first.ends_with(".egg-info") {
            folders.insert(whole);
        } else if let Some(name) = first.strip_suffix(".egg-link") {
            let package = Package {
                name: name.to_owned(),
                version: "?".to_owned(),
                from: PackageFrom::Editable,
                ..Package::default()
            };
            python.packages.push(package);
        }
    }
    for folder in folders {
        let read = match folder.ends_with(".dist-info") {
            true => metadata::dist_info(tree, folder),
            false => metadata::egg_info(tree, folder),
        };
        match read {
            Ok(mut package) => {
                if site.debian && site.prefix == "usr" && package.from == PackageFrom::Index {
                    package.from = PackageFrom::System;
                }
                if name_key(&package.name) == "torch" {
                    let file = join(&site.path, "torch/version.py");
                    let own = tree.text(&file);
                    package.build = own.as_deref().and_then(metadata::torch_build);
                }
                python.packages.push(package);
            }
            // pip leaves these behind when it is interrupted
            Err(why) => {
                let name = folder.rsplit('/').next().unwrap_or(folder);
                broken.push(format!("{name}: {why}"));
            }
        }
    }
}
