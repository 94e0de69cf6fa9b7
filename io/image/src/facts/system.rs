//! The distribution and its packages: /etc/os-release, dpkg's status (also one file a package, as distroless images keep it),
//! apk's list. rpm keeps a database that only its own libraries read.

use super::metadata::hex;
use crate::tree::Tree;
use lessee_accept::env::{Manager, SystemPackage};
use sha2::{Digest, Sha256};

/// Name of the distribution, and the machine it is for.
pub(super) fn release(tree: &Tree) -> (Option<String>, Option<String>) {
    let text = tree
        .text("etc/os-release")
        .or_else(|| tree.text("usr/lib/os-release"));
    let name = text.as_deref().and_then(|text| {
        let line = text.lines().find_map(|l| l.strip_prefix("PRETTY_NAME="))?;
        Some(line.trim().trim_matches(['"', '\'']).to_owned())
    });
    let arch = dpkg(tree)
        .into_iter()
        .find_map(|p| p.arch.filter(|a| a != "all" && a != "noarch"));
    (name, arch.map(|a| machine(&a).to_owned()))
}

/// Debian's and Go's names of machines in those of Python.
pub(crate) fn machine(arch: &str) -> &str {
    match arch {
        "amd64" => "x86_64",
        "arm64" => "aarch64",
        other => other,
    }
}

pub(super) fn packages(tree: &Tree) -> Vec<SystemPackage> {
    let mut all = dpkg(tree);
    for package in &mut all {
        let names = [
            format!("var/lib/dpkg/info/{}.md5sums", package.name),
            format!(
                "var/lib/dpkg/info/{}:{}.md5sums",
                package.name,
                package.arch.as_deref().unwrap_or("")
            ),
        ];
        let sums = names.iter().find_map(|n| tree.bytes(n));
        package.content = sums.map(|b| hex(&Sha256::digest(b)));
    }
    if let Some(text) = tree.text("lib/apk/db/installed") {
        all.extend(apk(&text));
    }
    all
}

pub(super) fn dpkg(tree: &Tree) -> Vec<SystemPackage> {
    let mut all = Vec::new();
    if let Some(text) = tree.text("var/lib/dpkg/status") {
        all.extend(status(&text));
    }
    let single: Vec<String> = tree
        .below("var/lib/dpkg/status.d")
        .map(|(path, _)| path.to_owned())
        .collect();
    for path in single.iter().filter(|p| !p.ends_with(".md5sums")) {
        // these have no Status: what is there is installed
        let text = tree.text(path).unwrap_or_default();
        all.extend(stanzas(&text, false));
    }
    all
}

/// Installed packages of a status file.
pub(crate) fn status(text: &str) -> Vec<SystemPackage> {
    stanzas(text, true)
}

fn stanzas(text: &str, states: bool) -> Vec<SystemPackage> {
    let mut all = Vec::new();
    let mut current = SystemPackage::default();
    let mut installed = !states;
    // one more blank line closes the last stanza
    for line in text.lines().chain([""]) {
        if line.trim().is_empty() {
            let done = std::mem::take(&mut current);
            if installed && !done.name.is_empty() && !done.version.is_empty() {
                all.push(done);
            }
            installed = !states;
            continue;
        }
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim().to_owned();
        match key {
            "Package" => current.name = value,
            "Version" => current.version = value,
            "Architecture" => current.arch = Some(value),
            "Status" => installed = value.ends_with(" installed"),
            _ => {}
        }
    }
    all
}

/// `P:musl`, `V:1.2.5-r0`, `A:x86_64`, a blank line.
fn apk(text: &str) -> Vec<SystemPackage> {
    let mut all = Vec::new();
    let mut current = SystemPackage::default();
    for line in text.lines().chain([""]) {
        match line.split_once(':') {
            Some(("P", name)) => current.name = name.to_owned(),
            Some(("V", version)) => current.version = version.to_owned(),
            Some(("A", arch)) => current.arch = Some(arch.to_owned()),
            _ if line.is_empty() && !current.name.is_empty() => {
                current.manager = Manager::Apk;
                all.push(std::mem::take(&mut current));
            }
            _ => {}
        }
    }
    all
}
