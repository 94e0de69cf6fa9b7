//! Is every requirement of what is installed met? What `pip check` asks, without Python: Requires-Dist and Requires-Python
//! of each package (PEP 508 with markers, PEP 440), against the packages beside it.

use super::{Environment, Package, Python, name_key};
use pep508_rs::pep440_rs::{Version, VersionSpecifiers};
use pep508_rs::{MarkerEnvironment, MarkerEnvironmentBuilder, Requirement, VersionOrUrl};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use url::Url;

/// A requirement that is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unmet {
    /// Whose it is: name and version.
    pub of: String,
    /// As `pip install` takes it.
    pub wants: String,
    /// What is there instead.
    pub has: Option<String>,
    pub kind: UnmetKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnmetKind {
    Missing,
    /// Missing here, but this Python sees packages of another that was not read.
    Unseen,
    Version,
    Python,
}

/// What came of a check.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checked {
    pub unmet: Vec<Unmet>,
    /// Requirements that were looked at.
    pub looked_at: usize,
    /// Packages of which only name and version are known.
    pub unknown: usize,
    /// Requirements or versions that are not written as Python's packages write them.
    pub unreadable: Vec<String>,
    /// Who requires whom, by name.
    pub edges: BTreeMap<String, BTreeSet<String>>,
}

/// Longest requirement that is read, in bytes.
const LONGEST: usize = 4096;
/// Deepest marker: the parser calls itself for each parenthesis.
const DEEPEST: usize = 64;
/// Most yes-or-no terms (`extra == ..`, `.. in ..`) of one marker: what the parser builds may double with every second one.
const MOST_TERMS: usize = 16;
/// How much of an unreadable text is shown, in characters.
const SHOWN: usize = 120;

/// A requirement, if it is one that a parser can be handed: whoever made an image wrote it.
pub(crate) fn parsed(text: &str) -> Option<Requirement<Url>> {
    // the parser cuts what follows a word by bytes, within a letter of another script too
    if !text.is_ascii() {
        return None;
    }
    let mut depth = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return None;
        }
    }
    let marker = text.split_once(';').map_or("", |(_, m)| m);
    let words = marker.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let terms = words.filter(|w| matches!(*w, "extra" | "in")).count();
    if text.len() > LONGEST || terms > MOST_TERMS {
        return None;
    }
    Requirement::from_str(text).ok()
}

/// Checks one Python; those that it sees come out of the environment.
pub(crate) fn check(python: &Python, env: &Environment) -> Checked {
    let mut out = Checked::default();
    let base = python.sees.as_deref();
    let seen = base.and_then(|b| env.pythons.iter().find(|p| p.prefix == b));
    let blind = base.is_some() && seen.is_none();
    let mut there: BTreeMap<String, &Package> = BTreeMap::new();
    let all = seen
        .iter()
        .flat_map(|p| &p.packages)
        .chain(&python.packages);
    for package in all {
        // its own come last and win
        there.insert(name_key(&package.name), package);
    }
    let markers = markers(python, env);
    for package in &python.packages {
        let Some(requires) = &package.requires else {
            out.unknown += 1;
            continue;
        };
        let of = format!("{} {}", package.name, package.version);
        if let Some(unmet) = python_fits(package, python, &of) {
            out.unmet.push(unmet);
        }
        for text in requires {
            let Some(requirement) = parsed(text) else {
                let shown: String = text.chars().take(SHOWN).collect();
                out.unreadable.push(format!("{of}: {shown}"));
                continue;
            };
            if let Some(markers) = &markers
                && !requirement.evaluate_markers(markers, &[])
            {
                continue;
            }
            // without a version of Python a marker cannot be told
            if markers.is_none() && !requirement.marker.is_true() {
                continue;
            }
            out.looked_at += 1;
            let name = name_key(requirement.name.as_ref());
            out.edges
                .entry(name_key(&package.name))
                .or_default()
                .insert(name.clone());
            met(
                &requirement,
                &of,
                there.get(&name).copied(),
                blind,
                &mut out,
            );
        }
    }
    out
}

fn met(
    requirement: &Requirement<Url>,
    of: &str,
    there: Option<&Package>,
    blind: bool,
    out: &mut Checked,
) {
    let specifiers = match &requirement.version_or_url {
        Some(VersionOrUrl::VersionSpecifier(s)) => Some(s),
        Some(VersionOrUrl::Url(_)) | None => None,
    };
    let spec = specifiers.map(ToString::to_string).unwrap_or_default();
    let wants = format!("{}{}", requirement.name, spec.replace(", ", ","));
    let Some(package) = there else {
        out.unmet.push(Unmet {
            of: of.to_owned(),
            wants,
            has: None,
            kind: match blind {
                true => UnmetKind::Unseen,
                false => UnmetKind::Missing,
            },
        });
        return;
    };
    let Some(specifiers) = specifiers else {
        return;
    };
    let Ok(version) = Version::from_str(&package.version) else {
        out.unreadable
            .push(format!("{} {}", package.name, package.version));
        return;
    };
    if !specifiers.contains(&version) {
        out.unmet.push(Unmet {
            of: of.to_owned(),
            wants,
            has: Some(package.version.clone()),
            kind: UnmetKind::Version,
        });
    }
}

/// Requires-Python. Where only `3.11` is known, one patch release that fits is enough.
fn python_fits(package: &Package, python: &Python, of: &str) -> Option<Unmet> {
    let wants = package.requires_python.as_deref()?;
    let has = python.version.as_deref()?;
    let specifiers = VersionSpecifiers::from_str(wants).ok()?;
    let fits = patch_levels(has)
        .filter_map(|v| Version::from_str(&v).ok())
        .any(|v| specifiers.contains(&v));
    (!fits).then(|| Unmet {
        of: of.to_owned(),
        wants: format!("python{wants}"),
        has: Some(has.to_owned()),
        kind: UnmetKind::Python,
    })
}

fn patch_levels(version: &str) -> impl Iterator<Item = String> + use<> {
    let known = version.matches('.').count() >= 2;
    let version = version.to_owned();
    (0..=99_u32)
        .take(if known { 1 } else { 100 })
        .map(move |n| match known {
            true => version.clone(),
            false => format!("{version}.{n}"),
        })
}

fn markers(python: &Python, env: &Environment) -> Option<MarkerEnvironment> {
    let version = python.version.as_deref()?;
    let minor: String = version.split('.').take(2).collect::<Vec<_>>().join(".");
    let full = match version.matches('.').count() {
        0 | 1 => format!("{minor}.0"),
        _ => version.to_owned(),
    };
    MarkerEnvironment::try_from(MarkerEnvironmentBuilder {
        implementation_name: "cpython",
        implementation_version: &full,
        os_name: "posix",
        platform_machine: env.arch.as_deref().unwrap_or("x86_64"),
        platform_python_implementation: "CPython",
        platform_release: "",
        platform_system: "Linux",
        platform_version: "",
        python_full_version: &full,
        python_version: &minor,
        sys_platform: "linux",
    })
    .ok()
}

/// Everything that some packages need, directly or through others.
pub(crate) fn closure<'a>(
    of: impl Iterator<Item = &'a str>,
    edges: &BTreeMap<String, BTreeSet<String>>,
) -> BTreeSet<String> {
    let mut todo: Vec<String> = of.map(name_key).collect();
    let mut done = BTreeSet::new();
    while let Some(name) = todo.pop() {
        if done.insert(name.clone()) {
            todo.extend(edges.get(&name).into_iter().flatten().cloned());
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_requirements_are_no_requirements() {
        let open = format!("b; {}", "(".repeat(30_000));
        let shallow = format!(
            "b; {}os_name == 'posix'{}",
            "(".repeat(3_000),
            ")".repeat(3_000)
        );
        let wide: Vec<String> = (0..40)
            .map(|n| format!("(extra == 'a{n}' and extra == 'b{n}')"))
            .collect();
        let wide = format!("b; {}", wide.join(" or "));
        for text in [open, shallow, wide, "b ".repeat(5_000)] {
            assert!(parsed(&text).is_none());
        }
        let usual = "greenlet!=0.4.17; (platform_machine == \"aarch64\" or (platform_machine == \"x86_64\" or platform_machine == \"WIN32\")) and extra == \"asyncio\"";
        assert!(parsed(usual).is_some());
    }
}
