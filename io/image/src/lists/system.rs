//! `dpkg -l`, dpkg's status file, `dpkg-query -W`, `rpm -qa`.

use super::Listed;
use crate::facts::status;
use lessee_accept::env::{Manager, SourceKind, SystemPackage};

pub(super) fn read(text: &str) -> Option<Listed> {
    status_file(text)
        .or_else(|| table(text))
        .or_else(|| query(text))
        .or_else(|| rpm(text))
}

fn status_file(text: &str) -> Option<Listed> {
    let mut lines = text.lines().filter(|l| !l.trim().is_empty());
    lines.next().filter(|l| l.starts_with("Package: "))?;
    text.lines().find(|l| l.starts_with("Status: "))?;
    let mut out = Listed::new(SourceKind::DpkgStatus);
    out.system = status(text);
    // a file that was cut ends inside a stanza
    if !text.ends_with("\n\n") && !text.ends_with('\n') {
        out.missed(text.lines().last().unwrap_or(""));
    }
    Some(out)
}

/// The table, known by its ruler, which no language translates. On a narrow terminal dpkg cuts what does not fit: a cell
/// that fills its column may be cut, so its version is not believed.
fn table(text: &str) -> Option<Listed> {
    let ruler = text.lines().find(|l| l.starts_with("+++-="))?;
    let widths: Vec<usize> = ruler.split('-').map(str::len).collect();
    let narrow = ruler.len() <= MAX_TERMINAL;
    let mut out = Listed::new(SourceKind::DpkgList);
    let rows = text.lines().skip_while(|l| !l.starts_with("+++-=")).skip(1);
    for line in rows.filter(|l| !l.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let row = (words.next(), words.next(), words.next(), words.next());
        let (Some(state), Some(name), Some(version), Some(arch)) = row else {
            out.missed(line);
            continue;
        };
        if !(2..=3).contains(&state.len()) || !state.is_ascii() {
            out.missed(line);
            continue;
        }
        // i in the second place: installed
        if state.as_bytes()[1] != b'i' {
            continue;
        }
        let cut = |text: &str, column: usize| {
            narrow && widths.get(column).is_some_and(|w| text.len() >= *w)
        };
        if cut(name, 1) || cut(version, 2) {
            out.missed(line);
            continue;
        }
        let name = name.split(':').next().unwrap_or(name);
        out.system.push(SystemPackage {
            name: name.to_owned(),
            version: version.to_owned(),
            arch: Some(arch.to_owned()),
            ..SystemPackage::default()
        });
    }
    Some(out)
}

/// A table no wider than this was fitted to a terminal; into a file or a pipe dpkg writes it whole.
const MAX_TERMINAL: usize = 80;
/// `name[:arch]<tab>version`, what `dpkg-query -W` prints.
fn query(text: &str) -> Option<Listed> {
    let mut out = Listed::new(SourceKind::DpkgList);
    for line in text.lines().filter(|l| !l.trim().is_empty()) {
        let (name, version) = line.split_once('\t')?;
        let name = name.split(':').next().unwrap_or(name);
        let ok = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        if name.is_empty() || !name.chars().all(ok) || version.contains('\t') {
            return None;
        }
        // known, and removed
        if version.trim().is_empty() {
            continue;
        }
        version.trim().chars().next().filter(char::is_ascii_digit)?;
        out.system.push(SystemPackage {
            name: name.to_owned(),
            version: version.trim().to_owned(),
            ..SystemPackage::default()
        });
    }
    (!out.system.is_empty()).then_some(out)
}

/// `name-version-release.arch` a line; recognised when more lines are of this kind than are not.
fn rpm(text: &str) -> Option<Listed> {
    const MACHINES: [&str; 6] = ["x86_64", "noarch", "aarch64", "i686", "ppc64le", "s390x"];
    let mut out = Listed::new(SourceKind::RpmList);
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let one = line.rsplit_once('.').and_then(|(rest, arch)| {
            let (rest, release) = rest.rsplit_once('-')?;
            let (name, version) = rest.rsplit_once('-')?;
            let good = MACHINES.contains(&arch)
                && !name.is_empty()
                && !name.contains(char::is_whitespace)
                && version.starts_with(|c: char| c.is_ascii_digit());
            good.then(|| SystemPackage {
                manager: Manager::Rpm,
                name: name.to_owned(),
                version: format!("{version}-{release}"),
                arch: Some(arch.to_owned()),
                content: None,
            })
        });
        match one {
            Some(package) => out.system.push(package),
            // keys that signed packages have no machine
            None if line.starts_with("gpg-pubkey-") => {}
            None => out.missed(line),
        }
    }
    let good = out.system.len();
    (good > 0 && good > out.not_understood.len()).then_some(out)
}
