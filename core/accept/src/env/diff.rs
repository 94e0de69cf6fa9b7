//! What changed between two environments, package by package. Places are compared by their prefix, and only where both
//! readings looked.

use super::cover::{Cover, LeftOut};
use super::{
    CondaPackage, Environment, Library, Package, PackageFrom, Python, PythonKind, SystemPackage,
    name_key,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// How something changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Added,
    Removed,
    /// Another version.
    Version,
    /// The same version, another build or other files.
    Content,
    /// The same version from elsewhere.
    From,
}

impl ChangeKind {
    pub fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
            ChangeKind::Version => "version",
            ChangeKind::Content => "content",
            ChangeKind::From => "from",
        }
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Change {
    /// `python`, `conda`, `system`, `library`, `driver`, `interpreter`.
    pub area: String,
    /// Prefix of the Python, or manager of the package.
    pub place: String,
    pub name: String,
    pub change: ChangeKind,
    pub was: Option<String>,
    pub is: Option<String>,
}

/// What changed, and what could not be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    pub changes: Vec<Change>,
    /// What only one of the two readings covers.
    pub left_out: Vec<LeftOut>,
    /// Something was compared at all.
    pub any: bool,
}

impl Compared {
    fn leave_out(&mut self, area: &str, place: &str) {
        self.left_out.push(LeftOut {
            area: area.to_owned(),
            place: place.to_owned(),
        });
    }
}

/// All changes from one environment to another, of what both readings cover.
pub fn changes(was: &Environment, is: &Environment) -> Compared {
    let mut out = Compared::default();
    let is = &renamed(was, is);
    let (then, now) = (Cover::of(was), Cover::of(is));
    match then.driver && now.driver {
        true => {
            out.any = true;
            one(
                "driver",
                "kernel",
                "nvidia",
                &was.driver,
                &is.driver,
                &mut out.changes,
            );
        }
        false if was.driver != is.driver => out.leave_out("driver", ""),
        false => {}
    }
    pythons((was, &then), (is, &now), &mut out);
    match then.system && now.system {
        true => {
            out.any = true;
            system(&was.system, &is.system, &mut out.changes);
        }
        false if was.system != is.system => out.leave_out("system", ""),
        false => {}
    }
    let mut found = Vec::new();
    libraries(&was.libraries, &is.libraries, &mut found);
    for change in found {
        let path = change.name.split_once(' ').map_or("", |(_, path)| path);
        match then.library(path) && now.library(path) {
            true => out.changes.push(change),
            false => out.leave_out("library", path),
        }
    }
    // of a reading that breaks off nobody knows what else was in it
    out.changes.retain(|c| match c.change {
        ChangeKind::Added => then.whole,
        ChangeKind::Removed => now.whole,
        ChangeKind::Version | ChangeKind::Content | ChangeKind::From => true,
    });
    out
}

/// Two lists of one Python are compared with each other, whatever the files are called.
fn renamed(was: &Environment, is: &Environment) -> Environment {
    let mut is = is.clone();
    if let ([a], [b]) = (&was.pythons[..], &mut is.pythons[..])
        && a.kind == PythonKind::Listed
        && b.kind == PythonKind::Listed
    {
        b.prefix.clone_from(&a.prefix);
    }
    is
}

fn pythons(
    (was, then): (&Environment, &Cover),
    (is, now): (&Environment, &Cover),
    out: &mut Compared,
) {
    let prefixes = |e: &Environment| -> BTreeMap<String, Python> {
        let pairs = e.pythons.iter().map(|p| (p.prefix.clone(), p.clone()));
        pairs.collect()
    };
    let (before, after) = (prefixes(was), prefixes(is));
    let none = Python::default();
    let mut all: Vec<&String> = before.keys().chain(after.keys()).collect();
    all.sort();
    all.dedup();
    for prefix in all {
        let (a, b) = (before.get(prefix), after.get(prefix));
        let kind = a.or(b).map(|p| p.kind).unwrap_or_default();
        if !(then.python(prefix, kind) && now.python(prefix, kind)) {
            out.leave_out("python", prefix);
            continue;
        }
        out.any = true;
        let version = |p: Option<&Python>| p.and_then(|p| p.version.clone());
        let (first, second) = (version(a), version(b));
        // one that is there in both, of which one reading does not say the version
        let unsaid = a.is_some() && b.is_some() && (first.is_none() || second.is_none());
        if !unsaid {
            one(
                "interpreter",
                prefix,
                "python",
                &first,
                &second,
                &mut out.changes,
            );
        }
        let (a, b) = (a.unwrap_or(&none), b.unwrap_or(&none));
        python(prefix, &a.packages, &b.packages, &mut out.changes);
        conda(prefix, &a.conda, &b.conda, &mut out.changes);
    }
}

fn one(
    area: &str,
    place: &str,
    name: &str,
    was: &Option<String>,
    is: &Option<String>,
    out: &mut Vec<Change>,
) {
    let change = match (was, is) {
        (a, b) if a == b => return,
        (None, _) => ChangeKind::Added,
        (_, None) => ChangeKind::Removed,
        _ => ChangeKind::Version,
    };
    out.push(Change {
        area: area.to_owned(),
        place: place.to_owned(),
        name: name.to_owned(),
        change,
        was: was.clone(),
        is: is.clone(),
    });
}

/// Compares two lists by a key; `differ` says how two of one key differ.
fn compare<T>(
    area: &str,
    place: &str,
    (was, is): (&[T], &[T]),
    key: impl Fn(&T) -> String,
    version: impl Fn(&T) -> String,
    differ: impl Fn(&T, &T) -> Option<ChangeKind>,
    out: &mut Vec<Change>,
) {
    let index = |list: &[T]| -> BTreeMap<String, usize> {
        list.iter()
            .enumerate()
            .map(|(at, t)| (key(t), at))
            .collect()
    };
    let (before, after) = (index(was), index(is));
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let a = before.get(name).map(|at| &was[*at]);
        let b = after.get(name).map(|at| &is[*at]);
        let change = match (a, b) {
            (Some(a), Some(b)) if version(a) != version(b) => Some(ChangeKind::Version),
            (Some(a), Some(b)) => differ(a, b),
            (None, _) => Some(ChangeKind::Added),
            (_, None) => Some(ChangeKind::Removed),
        };
        if let Some(change) = change {
            out.push(Change {
                area: area.to_owned(),
                place: place.to_owned(),
                name: name.clone(),
                change,
                was: a.map(&version),
                is: b.map(&version),
            });
        }
    }
}

/// Two facts of which one is not known do not differ.
fn other(a: &Option<String>, b: &Option<String>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a != b)
}

fn python(prefix: &str, was: &[Package], is: &[Package], out: &mut Vec<Change>) {
    let differ = |a: &Package, b: &Package| {
        if other(&a.content, &b.content) || other(&a.build, &b.build) {
            return Some(ChangeKind::Content);
        }
        let moved = a.from != b.from || other(&a.url, &b.url);
        // installed again from the same wheel on an index: only the note of its address is new
        let index = |f| matches!(f, PackageFrom::Index | PackageFrom::Url);
        let same = a.content.is_some() && a.content == b.content && index(a.from) && index(b.from);
        (moved && !same).then_some(ChangeKind::From)
    };
    let key = |p: &Package| name_key(&p.name);
    let version = |p: &Package| p.version.clone();
    compare("python", prefix, (was, is), key, version, differ, out);
}

fn conda(prefix: &str, was: &[CondaPackage], is: &[CondaPackage], out: &mut Vec<Change>) {
    let differ = |a: &CondaPackage, b: &CondaPackage| {
        let content = other(&a.build, &b.build) || other(&a.hash, &b.hash);
        content.then_some(ChangeKind::Content)
    };
    let key = |p: &CondaPackage| p.name.clone();
    let version = |p: &CondaPackage| p.version.clone();
    compare("conda", prefix, (was, is), key, version, differ, out);
}

fn system(was: &[SystemPackage], is: &[SystemPackage], out: &mut Vec<Change>) {
    let manager = was.first().or(is.first()).map(|p| p.manager);
    let place = match manager {
        Some(super::Manager::Rpm) => "rpm",
        Some(super::Manager::Apk) => "apk",
        Some(super::Manager::Dpkg) | None => "dpkg",
    };
    // of kernels and the like several versions stand side by side
    let mut many: BTreeMap<(&str, Option<&str>), usize> = BTreeMap::new();
    for list in [was, is] {
        let mut here: BTreeMap<(&str, Option<&str>), usize> = BTreeMap::new();
        for p in list {
            *here.entry((&p.name, p.arch.as_deref())).or_default() += 1;
        }
        for (key, n) in here {
            let most = many.entry(key).or_default();
            *most = (*most).max(n);
        }
    }
    let foreign = |p: &SystemPackage| {
        let twice = was
            .iter()
            .chain(is)
            .any(|o| o.name == p.name && o.arch != p.arch && o.arch.is_some());
        twice.then(|| p.arch.clone()).flatten()
    };
    let key = |p: &SystemPackage| {
        let name = match foreign(p) {
            Some(arch) => format!("{}:{arch}", p.name),
            None => p.name.clone(),
        };
        match many.get(&(p.name.as_str(), p.arch.as_deref())) {
            Some(n) if *n > 1 => format!("{name}={}", p.version),
            _ => name,
        }
    };
    let version = |p: &SystemPackage| p.version.clone();
    let differ = |a: &SystemPackage, b: &SystemPackage| {
        other(&a.content, &b.content).then_some(ChangeKind::Content)
    };
    compare("system", place, (was, is), key, version, differ, out);
}

fn libraries(was: &[Library], is: &[Library], out: &mut Vec<Change>) {
    let key = |l: &Library| format!("{} {}", l.kind.as_str(), l.path);
    let version = |l: &Library| l.version.clone();
    compare("library", "", (was, is), key, version, |_, _| None, out);
}
