//! The few files of a system that say what is installed, by path: what folders and archives are read into, whichever they
//! come from. Paths have no leading slash. Bounded in the size of each file and of all together.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Longest file whose content is kept, in bytes: RECORD of the largest packages has a few million.
pub(crate) const MAX_FILE_BYTES: u64 = 16 << 20;
/// Of all contents and names together.
const MAX_KEPT_BYTES: usize = 512 << 20;
/// What a name costs beside its own bytes.
const NAME_BYTES: usize = 128;
/// Longest chain of links that is followed.
const MAX_LINKS: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Content(Vec<u8>),
    /// There, and no more is wanted of it.
    Seen,
    Link(String),
}

/// What is wanted of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    Content,
    Name,
    Nothing,
}

/// The bytes that may still be kept, of one folder or of all layers of one archive.
#[derive(Clone, Debug)]
pub(crate) struct Room(Rc<Cell<usize>>);

impl Default for Room {
    fn default() -> Room {
        Room(Rc::new(Cell::new(MAX_KEPT_BYTES)))
    }
}

impl Room {
    /// Takes some of it, if there is as much.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        let left = self.0.get().checked_sub(bytes);
        self.0.set(left.unwrap_or(self.0.get()));
        left.is_some()
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    nodes: BTreeMap<String, Node>,
    room: Room,
    /// Files that were wanted and left out for their size.
    pub too_large: Vec<String>,
    /// The bounds were reached.
    pub full: bool,
}

impl Tree {
    pub(crate) fn within(room: &Room) -> Tree {
        Tree {
            room: room.clone(),
            ..Tree::default()
        }
    }

    pub(crate) fn insert(&mut self, path: &str, node: Node) {
        let content = match &node {
            Node::Content(bytes) => bytes.len(),
            Node::Link(target) => target.len(),
            Node::Seen => 0,
        };
        if self.takes(path.len() + content + NAME_BYTES) {
            self.nodes.insert(path.to_owned(), node);
        }
    }

    /// Whether a name can be kept.
    pub(crate) fn has_room(&mut self, name: &str) -> bool {
        self.takes(name.len() + NAME_BYTES)
    }

    /// Takes room, or says that the bounds were reached.
    pub(crate) fn takes(&mut self, bytes: usize) -> bool {
        let fits = self.room.take(bytes);
        self.full |= !fits;
        fits
    }

    pub(crate) fn node(&self, path: &str) -> Option<&Node> {
        self.nodes.get(path)
    }

    /// Takes away a file, or a folder with all that is below it.
    pub(crate) fn remove(&mut self, path: &str) {
        self.nodes.remove(path);
        self.clear(path);
    }

    /// Takes away what is below a folder.
    pub(crate) fn clear(&mut self, folder: &str) {
        let prefix = format!("{folder}/");
        let below: Vec<String> = self
            .nodes
            .range(prefix.clone()..)
            .take_while(|(path, _)| path.starts_with(&prefix))
            .map(|(path, _)| path.clone())
            .collect();
        for path in below {
            self.nodes.remove(&path);
        }
    }

    /// Lays another tree over this one.
    pub(crate) fn cover(&mut self, other: Tree) {
        // they have their room already
        self.nodes.extend(other.nodes);
        self.too_large.extend(other.too_large);
        self.full |= other.full;
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.nodes.iter().map(|(p, n)| (p.as_str(), n))
    }

    /// Those below a folder.
    pub(crate) fn below<'a>(
        &'a self,
        folder: &str,
    ) -> impl Iterator<Item = (&'a str, &'a Node)> + use<'a> {
        let prefix = match folder {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        self.nodes
            .range(prefix.clone()..)
            .take_while(move |(path, _)| path.starts_with(&prefix))
            .map(|(p, n)| (p.as_str(), n))
    }

    /// A file, links followed inside the tree.
    pub(crate) fn bytes(&self, path: &str) -> Option<&[u8]> {
        match self.nodes.get(&self.resolved(path)?)? {
            Node::Content(bytes) => Some(bytes),
            Node::Seen | Node::Link(_) => None,
        }
    }

    /// Text of a file, whatever its encoding: names and versions are ASCII.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        self.bytes(path)
            .map(|b| String::from_utf8_lossy(b).into_owned())
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.resolved(path)
            .is_some_and(|p| self.nodes.contains_key(&p))
    }

    /// Where a path leads to when links are followed; `None` for a loop. The path need not exist.
    pub(crate) fn resolved(&self, path: &str) -> Option<String> {
        let mut todo: Vec<String> = parts(path).rev().map(str::to_owned).collect();
        let mut done = String::new();
        let mut links = 0;
        while let Some(part) = todo.pop() {
            if part == ".." {
                let up = done.rfind('/').unwrap_or(0);
                done.truncate(up);
                continue;
            }
            let next = join(&done, &part);
            let Some(Node::Link(target)) = self.nodes.get(&next) else {
                done = next;
                continue;
            };
            links += 1;
            if links > MAX_LINKS {
                return None;
            }
            if target.starts_with('/') {
                done.clear();
            }
            todo.extend(parts(target).rev().map(str::to_owned));
        }
        Some(done)
    }
}

/// Parts of a path, without those that say nothing.
fn parts(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|p| !p.is_empty() && *p != ".")
}

pub(crate) fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// A path of an archive as this tree writes it; `None` where it leads out of the root.
pub(crate) fn cleaned(path: &str) -> Option<String> {
    let mut out: Vec<&str> = Vec::new();
    for part in parts(path) {
        match part {
            ".." => {
                out.pop()?;
            }
            part => out.push(part),
        }
    }
    Some(out.join("/"))
}

/// What is wanted of a file, by its path.
pub(crate) fn want(path: &str) -> Want {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let parent = folder.rsplit('/').next().unwrap_or("");
    if parent.ends_with(".dist-info") {
        return match name {
            "METADATA" | "RECORD" | "direct_url.json" | "INSTALLER" | "WHEEL" => Want::Content,
            _ => Want::Nothing,
        };
    }
    if parent.ends_with(".egg-info") || parent == "EGG-INFO" {
        return match name {
            "PKG-INFO" | "requires.txt" => Want::Content,
            _ => Want::Nothing,
        };
    }
    if parent == "conda-meta" {
        return match name.ends_with(".json") {
            true => Want::Content,
            false => Want::Name,
        };
    }
    if name.ends_with(".egg-info")
        || name.ends_with(".egg-link")
        || matches!(
            name,
            "pyvenv.cfg" | "os-release" | "cudnn_version.h" | "nccl.h" | "patchlevel.h"
        )
    {
        return Want::Content;
    }
    if name == "version.py" && matches!(parent, "torch" | "vllm") {
        return Want::Content;
    }
    if matches!(name, "version.json" | "version.txt") && parent.starts_with("cuda") {
        return Want::Content;
    }
    if matches!(
        path,
        "var/lib/dpkg/status" | "lib/apk/db/installed" | "proc/driver/nvidia/version"
    ) || folder == "var/lib/dpkg/status.d"
        || (folder == "var/lib/dpkg/info" && name.ends_with(".md5sums"))
        || (folder.starts_with("proc/driver/nvidia/gpus/") && name == "information")
    {
        return Want::Content;
    }
    let library = ["libcuda.so", "libcudnn.so", "libnccl.so", "libcudart.so"];
    let database = matches!(
        name,
        "rpmdb.sqlite" | "Packages.db" | "Packages" | "oci-layout"
    );
    let python = parent == "bin" && name.starts_with("python");
    match database || python || library.iter().any(|l| name.starts_with(l)) {
        true => Want::Name,
        false => Want::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_and_loops_are_not() {
        let mut tree = Tree::default();
        let link = |to: &str| Node::Link(to.to_owned());
        tree.insert("usr/local/cuda", link("/etc/alternatives/cuda"));
        tree.insert("etc/alternatives/cuda", link("../../usr/local/cuda-12.4"));
        let content = Node::Content(b"x".to_vec());
        tree.insert("usr/local/cuda-12.4/version.json", content);
        assert_eq!(tree.bytes("usr/local/cuda/version.json"), Some(&b"x"[..]));
        tree.insert("a", link("b"));
        tree.insert("b", link("a"));
        tree.insert("self", link("self/x"));
        assert_eq!(tree.resolved("a/c"), None);
        assert_eq!(tree.resolved("self"), None);
        // no way out of the root
        tree.insert("out", link("../../../../etc/passwd"));
        assert_eq!(tree.resolved("out").as_deref(), Some("etc/passwd"));
    }

    #[test]
    fn layers_share_the_room_of_their_archive() {
        let room = Room::default();
        let (mut first, mut second) = (Tree::within(&room), Tree::within(&room));
        assert!(first.takes(MAX_KEPT_BYTES - 200));
        second.insert("a", Node::Seen);
        second.insert("b", Node::Seen);
        assert!(second.has("a") && !second.has("b"));
        assert!(second.full && !first.full);
        // laying one upon the other takes no more
        first.cover(second);
        assert!(first.has("a") && first.full);
    }

    #[test]
    fn paths_of_archives_stay_inside() {
        assert_eq!(cleaned("./usr//lib/").as_deref(), Some("usr/lib"));
        assert_eq!(cleaned("/etc/../usr").as_deref(), Some("usr"));
        for path in ["../x", "a/../../x", "/.."] {
            assert_eq!(cleaned(path), None, "{path}");
        }
    }
}
