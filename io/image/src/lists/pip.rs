//! `pip freeze`, `pip list` and `pip list --format=json`; uv prints the same.

use super::Listed;
use crate::facts::without_secrets;
use lessee_accept::env::{Package, PackageFrom, SourceKind};
use serde_json::Value;

pub(super) fn read(text: &str) -> Option<Listed> {
    json(text).or_else(|| table(text)).or_else(|| freeze(text))
}

fn is_name(name: &str) -> bool {
    let ok = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(ok)
}

/// Versions begin with a digit, or with `v` and a digit.
fn is_version(version: &str) -> bool {
    let bare = version.strip_prefix('v').unwrap_or(version);
    let ok = |c: char| c.is_ascii_alphanumeric() || ".+!-_".contains(c);
    bare.starts_with(|c: char| c.is_ascii_digit()) && version.chars().all(ok)
}

fn package(name: &str, version: &str) -> Package {
    Package {
        name: name.to_owned(),
        version: version.to_owned(),
        ..Package::default()
    }
}

fn json(text: &str) -> Option<Listed> {
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    let mut out = Listed::new(SourceKind::PipList);
    for row in value.as_array()? {
        let (name, version) = (row["name"].as_str()?, row["version"].as_str()?);
        let mut package = package(name, version);
        if row["editable_project_location"].is_string() {
            package.from = PackageFrom::Editable;
        }
        out.python.packages.push(package);
    }
    (!out.python.packages.is_empty()).then_some(out)
}

/// A header, a line of dashes, then a package a line.
fn table(text: &str) -> Option<Listed> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let ruler = lines.windows(2).position(|pair| {
        let mut words = pair[0].split_whitespace();
        let named = words.next() == Some("Package") && words.next() == Some("Version");
        named && pair[1].starts_with("---")
    })?;
    let mut out = Listed::new(SourceKind::PipList);
    for line in &lines[ruler + 2..] {
        let mut words = line.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (None, ..) => {}
            // pip's own remarks behind the list
            (Some("[notice]" | "WARNING:"), ..) => {}
            (Some(name), Some(version), third) if is_name(name) && is_version(version) => {
                let mut package = package(name, version);
                if third.is_some_and(|p| p.starts_with('/')) {
                    package.from = PackageFrom::Editable;
                }
                out.python.packages.push(package);
            }
            _ => out.missed(line),
        }
    }
    Some(out)
}

/// `name==version` a line. Recognised when more lines are of this kind than are not.
fn freeze(text: &str) -> Option<Listed> {
    let mut out = Listed::new(SourceKind::PipFreeze);
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            continue;
        }
        if let Some(comment) = line.strip_prefix('#') {
            // # Editable install with no version control (mine==1.0)
            let inside = comment
                .rsplit_once('(')
                .and_then(|(_, r)| r.strip_suffix(')'));
            if let Some((name, version)) = inside.and_then(|i| i.split_once("==")) {
                let mut package = package(name, version);
                package.from = PackageFrom::Editable;
                if !out.python.packages.iter().any(|p| p.name == name) {
                    out.python.packages.push(package);
                }
            }
            continue;
        }
        if is_option(line) {
            continue;
        }
        match one(line) {
            Some(package) => out.python.packages.push(package),
            // the folder of what the comment before it has named
            None if line.starts_with("-e /") => {}
            None => out.missed(line),
        }
    }
    let good = out.python.packages.len();
    (good > 0 && good > out.not_understood.len()).then_some(out)
}

/// Where packages come from is no package: `--index-url https://..`, `-f ..`.
fn is_option(line: &str) -> bool {
    ["--", "-i ", "-f "].iter().any(|o| line.starts_with(o)) && !line.starts_with("--editable")
}

fn one(line: &str) -> Option<Package> {
    if let Some(source) = line.strip_prefix("-e ") {
        let (url, name) = source.split_once("#egg=")?;
        let name = name.split('&').next().filter(|n| is_name(n))?;
        let mut package = package(name, "?");
        package.from = PackageFrom::Editable;
        package.url = Some(without_secrets(url));
        return Some(package);
    }
    if let Some((name, url)) = line.split_once(" @ ") {
        let name = name.split('[').next().unwrap_or(name).trim();
        if !is_name(name) || !url.contains(":") {
            return None;
        }
        let mut package = package(name, version_of_url(url).as_deref().unwrap_or("?"));
        package.from = match url {
            url if url.starts_with("file:") => PackageFrom::File,
            url if url.starts_with("git+") || url.starts_with("hg+") => PackageFrom::Vcs,
            _ => PackageFrom::Url,
        };
        package.hash = url
            .split_once("#sha256=")
            .map(|(_, h)| format!("sha256={h}"));
        package.url = Some(without_secrets(url));
        return Some(package);
    }
    let pinned = line.split(';').next().unwrap_or(line);
    let pinned = pinned
        .split(" --hash")
        .next()
        .unwrap_or(pinned)
        .trim_end_matches(['\\', ' ']);
    let (name, version) = pinned.split_once("==")?;
    let name = name.split('[').next().unwrap_or(name).trim();
    let version = version.trim_start_matches('=').trim();
    (is_name(name) && is_version(version)).then(|| package(name, version))
}

/// The version in the name of a wheel: `torch-2.6.0%2Bcu124-cp311-...whl`.
fn version_of_url(url: &str) -> Option<String> {
    let file = url.split(['#', '?']).next()?.rsplit('/').next()?;
    let version = file.strip_suffix(".whl")?.split('-').nth(1)?;
    let version = version.replace("%2B", "+").replace("%2b", "+");
    is_version(&version).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Option<Vec<String>> {
        let listed = read(text)?;
        let show = |p: &Package| format!("{} {}", p.name, p.version);
        Some(listed.python.packages.iter().map(show).collect())
    }

    #[test]
    fn each_form_of_pip_is_read() {
        let freeze = "# Editable install with no version control (mine==1.0)\n-e /srv/mine\nsix==1.16.0\ntorch @ https://u:p@x/torch-2.6.0%2Bcu124-cp311-cp311-linux_x86_64.whl#sha256=ab\n-e git+https://github.com/a/b@c0ffee#egg=other\n";
        let found = names(freeze).expect("a freeze");
        assert_eq!(
            found,
            ["mine 1.0", "six 1.16.0", "torch 2.6.0+cu124", "other ?"]
        );
        let table = "Package    Version Editable project location\n---------- ------- -------------------------\nsix        1.16.0\nmine       1.0     /srv/mine\n\n[notice] A new release of pip is available\n";
        assert_eq!(names(table).expect("a table"), ["six 1.16.0", "mine 1.0"]);
        let json = r#"[{"name": "six", "version": "1.16.0"}]"#;
        assert_eq!(names(json).expect("JSON"), ["six 1.16.0"]);
        for rubbish in [
            "hello world",
            "x = 1\ny == 2\nz = 3\n",
            "{}",
            "[1]",
            "NVIDIA-SMI 535.183.01",
        ] {
            assert_eq!(names(rubbish), None, "{rubbish}");
        }
    }
}
