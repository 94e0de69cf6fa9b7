//! A [`Tree`](crate::tree::Tree) of files into an environment: one file a kind of thing that is installed.

mod conda;
mod libraries;
mod metadata;
mod python;
mod system;

pub(crate) use conda::package as conda_record;
pub(crate) use metadata::{hex, without_secrets};
pub(crate) use system::{machine, status};

use crate::tree::{Node, Tree};
use lessee_accept::env::{Environment, NoteCode};

/// Most names that one note lists.
const LISTED: usize = 5;

/// All that a tree says; `at` is its place, before each path that is shown.
pub(crate) fn read(tree: &Tree, at: &str, out: &mut Environment) {
    let (os, arch) = system::release(tree);
    out.os = out.os.take().or(os);
    out.arch = out.arch.take().or(arch);
    out.driver = out.driver.take().or_else(|| libraries::driver(tree));
    out.gpus.extend(libraries::gpus(tree));
    out.system.extend(system::packages(tree));
    out.libraries.extend(libraries::read(tree, at));
    let pythons = python::read(tree, at, out);
    out.pythons.extend(pythons);
    if let Some((path, _)) = tree
        .paths()
        .find(|(p, n)| **n == Node::Seen && p.contains("lib") && p.contains("/rpm/"))
    {
        let note = "rpm -qa";
        out.note(NoteCode::Unreadable, &shown(at, path), note);
    }
    if !tree.too_large.is_empty() {
        let some: Vec<&str> = tree
            .too_large
            .iter()
            .take(LISTED)
            .map(String::as_str)
            .collect();
        out.note(NoteCode::TooLarge, at, some.join(", "));
    }
    if tree.full {
        out.note(NoteCode::TooLarge, at, "");
    }
}

/// A path of a tree as people know it.
pub(crate) fn shown(at: &str, path: &str) -> String {
    let at = at.trim_end_matches('/');
    match path {
        "" if at.is_empty() => "/".to_owned(),
        "" => at.to_owned(),
        path => format!("{at}/{path}"),
    }
}
