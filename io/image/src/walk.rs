//! Folders into a [`Tree`]: level by level, links never followed, bounded, with places left out that hold no packages.

use crate::tree::{MAX_FILE_BYTES, Node, Tree, Want, join, want};
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Most entries that are looked at.
const MAX_LOOKED_AT: usize = 3_000_000;
/// Folders with more entries hold data, not packages.
const MAX_IN_FOLDER: usize = 50_000;
/// Folders below the root that are no part of the installed system.
const NOT_BELOW_ROOT: &[&str] = &["proc", "sys", "dev", "run", "tmp", "lost+found"];
/// Folders that hold no packages, wherever they are.
const NOT_ANYWHERE: &[&str] = &["node_modules", ".git", "__pycache__", "share/doc"];

/// What a walk met.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub tree: Tree,
    /// Not all folders were looked at.
    pub cut: bool,
    /// Folders and files that may not be read, and folders with too many entries: how many, and the first.
    pub closed: usize,
    pub first_closed: Option<String>,
}

impl Walked {
    fn leave_out(&mut self, path: &str) {
        self.closed += 1;
        self.first_closed.get_or_insert_with(|| path.to_owned());
    }
}

/// Reads what matters below `root`; `whole` for the root of a system.
///
/// # Errors
/// The folder itself cannot be read.
pub(crate) fn walk(root: &Path, whole: bool) -> io::Result<Walked> {
    let mut out = Walked::default();
    let mut queue = VecDeque::from([String::new()]);
    let mut looked_at = 0;
    while let Some(folder) = queue.pop_front() {
        let entries = match fs::read_dir(root.join(&folder)) {
            Ok(entries) => entries,
            Err(e) if folder.is_empty() => return Err(e),
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(_) => {
                out.leave_out(&folder);
                continue;
            }
        };
        let mut below = Vec::new();
        let packages = is_packages(&folder);
        for (at, entry) in entries.enumerate() {
            let Ok(entry) = entry else {
                out.leave_out(&folder);
                continue;
            };
            looked_at += 1;
            if looked_at > MAX_LOOKED_AT {
                out.cut = true;
                return Ok(out);
            }
            if at > MAX_IN_FOLDER && !packages && !folder.starts_with("var/lib/dpkg") {
                below.clear();
                out.leave_out(&folder);
                break;
            }
            // names that are no text name no package
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let path = join(&folder, &name);
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_symlink() {
                link(root, &path, &mut out.tree);
            } else if kind.is_dir() {
                if enters(&folder, &name, packages, whole) {
                    below.push(path);
                }
            } else if kind.is_file() && !file(root, &path, &mut out.tree) {
                out.leave_out(&path);
            }
        }
        queue.extend(below);
    }
    Ok(out)
}

fn is_packages(folder: &str) -> bool {
    folder.ends_with("site-packages") || folder.ends_with("dist-packages")
}

fn enters(folder: &str, name: &str, packages: bool, whole: bool) -> bool {
    if whole && folder.is_empty() && NOT_BELOW_ROOT.contains(&name) {
        return false;
    }
    if packages {
        // of the packages themselves only what names them and their build
        return name.ends_with("-info")
            || name.ends_with(".egg")
            || matches!(name, "torch" | "vllm");
    }
    let parent = folder.rsplit('/').next().unwrap_or("");
    if matches!(parent, "torch" | "vllm")
        && is_packages(folder.rsplit_once('/').map_or("", |f| f.0))
    {
        return false;
    }
    if matches!(name, "overlay2" | "containers") && folder.starts_with("var/lib") {
        return false;
    }
    let path = join(folder, name);
    NOT_ANYWHERE
        .iter()
        .all(|n| name != *n && !path.ends_with(&format!("/{n}")))
}

fn link(root: &Path, path: &str, tree: &mut Tree) {
    let target = fs::read_link(root.join(path)).ok();
    if let Some(target) = target.and_then(|t| t.into_os_string().into_string().ok()) {
        tree.insert(path, Node::Link(target));
    }
}

/// Whether it could be read, where it had to be.
fn file(root: &Path, path: &str, tree: &mut Tree) -> bool {
    match want(path) {
        Want::Nothing => {}
        Want::Name => tree.insert(path, Node::Seen),
        Want::Content => return take(&root.join(path), path, tree),
    }
    true
}

/// One file into the tree, if it is not too large. Whether it could be read.
pub(crate) fn take(from: &Path, path: &str, tree: &mut Tree) -> bool {
    let mut bytes = Vec::new();
    let read = File::open(from).and_then(|f| f.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes));
    match &read {
        Ok(n) if *n as u64 > MAX_FILE_BYTES => tree.too_large.push(path.to_owned()),
        Ok(_) => tree.insert(path, Node::Content(bytes)),
        Err(_) => tree.insert(path, Node::Seen),
    }
    read.is_ok()
}
