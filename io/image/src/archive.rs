//! Container archives in one pass, whatever the order of their members: `docker save`, an OCI layout in a tar, a root
//! filesystem in a tar, each perhaps packed with gzip or zstd. Nothing is unpacked onto a disk.
//!
//! Layers come before the list that orders them, so each is read into a small [`Layer`] of its own and laid upon the others
//! at the end. Bounded: in what is unpacked, in how far it swells, in what is kept.

use crate::layers::{Layer, Member, Members, bad, filled};
use crate::tree::Tree;
use crate::zstd::Zstd;
use flate2::read::MultiGzDecoder;
use serde_json::Value;
use std::cell::Cell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Most bytes that are unpacked of one archive.
const MAX_UNPACKED: u64 = 256 << 30;
/// From so many bytes on, more than `MAX_SWELLING` out of one is a bomb.
const SWELLING_FROM: u64 = 1 << 30;
const MAX_SWELLING: u64 = 200;
/// Longest list of layers.
const MAX_JSON: u64 = 8 << 20;
/// Most blobs of a layout in a folder.
const MAX_BLOBS: usize = 10_000;
/// How much of a stream tells what it is.
const HEAD: usize = 512;

/// An archive, read.
#[derive(Debug, Default)]
pub(crate) struct Unpacked {
    pub tree: Tree,
    /// Members that lead out of the root.
    pub outside: usize,
    /// Layers that the list names and the archive lacks.
    pub missing: Vec<String>,
    /// Images in it, by name, where there is more than one.
    pub images: Vec<String>,
    /// `amd64`, as the image states it.
    pub arch: Option<String>,
}

#[derive(Debug, Default)]
struct Parts {
    layers: HashMap<String, Layer>,
    /// Of members that stand for others.
    links: HashMap<String, String>,
    json: HashMap<String, Value>,
    root: Layer,
    outside: usize,
}

/// Whether a stream begins as an archive does.
pub(crate) fn is_archive(head: &[u8]) -> bool {
    packing(head) != Packing::Other
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Gzip,
    Zstd,
    Tar,
    Other,
}

fn packing(head: &[u8]) -> Packing {
    match head {
        [0x1f, 0x8b, ..] => Packing::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
        head if head.get(257..262) == Some(b"ustar") => Packing::Tar,
        _ => Packing::Other,
    }
}

/// Reads an archive.
///
/// # Errors
/// It breaks off, is none, or swells beyond all bounds.
pub(crate) fn unpack(from: impl Read) -> io::Result<Unpacked> {
    let budget = Rc::new(Cell::new(MAX_UNPACKED));
    let mut parts = Parts::default();
    let (stream, packing) = opened(from, &budget)?;
    if packing == Packing::Other {
        return Err(bad("no archive"));
    }
    let mut members = Members::new(stream);
    while let Some(member) = members.next()? {
        part(&member, &mut members, &mut parts, &budget)?;
    }
    assembled(parts)
}

/// Reads an OCI layout that lies in a folder, as skopeo and buildah write it.
///
/// # Errors
/// As [`unpack`].
pub(crate) fn unpack_layout(folder: &Path) -> io::Result<Unpacked> {
    let budget = Rc::new(Cell::new(MAX_UNPACKED));
    let mut parts = Parts::default();
    let mut files = vec![PathBuf::from("index.json"), PathBuf::from("manifest.json")];
    for kind in fs::read_dir(folder.join("blobs"))?.take(MAX_BLOBS) {
        let kind = kind?.file_name();
        let within = Path::new("blobs").join(kind);
        for blob in fs::read_dir(folder.join(&within))?.take(MAX_BLOBS) {
            files.push(within.join(blob?.file_name()));
        }
    }
    for path in files {
        let Ok(mut file) = File::open(folder.join(&path)) else {
            continue;
        };
        let member = Member {
            path: path.to_str().map(str::to_owned),
            kind: tar::EntryType::Regular,
            link: None,
            size: file.metadata()?.len(),
        };
        part(&member, &mut file, &mut parts, &budget)?;
    }
    assembled(parts)
}

/// A stream unpacked, and what it was packed with.
fn opened<'a>(
    from: impl Read + 'a,
    budget: &Rc<Cell<u64>>,
) -> io::Result<(Box<dyn Read + 'a>, Packing)> {
    let mut from = BufReader::with_capacity(64 << 10, from);
    let mut head = vec![0; HEAD];
    let n = filled(&mut from, &mut head)?;
    head.truncate(n);
    let kind = packing(&head);
    let packed = Rc::new(Cell::new(0));
    let whole = Counted {
        inner: io::Cursor::new(head).chain(from),
        count: packed.clone(),
    };
    let bounded = |inner: Box<dyn Read + 'a>, packed| -> Box<dyn Read + 'a> {
        Box::new(Bounded {
            inner,
            out: 0,
            packed,
            budget: budget.clone(),
        })
    };
    Ok(match kind {
        Packing::Gzip => (
            bounded(Box::new(MultiGzDecoder::new(whole)), Some(packed)),
            kind,
        ),
        Packing::Zstd => (bounded(Box::new(Zstd::new(whole)), Some(packed)), kind),
        Packing::Tar | Packing::Other => (bounded(Box::new(whole), None), kind),
    })
}

struct Counted<R> {
    inner: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.count.set(self.count.get() + n as u64);
        Ok(n)
    }
}

struct Bounded<'a> {
    inner: Box<dyn Read + 'a>,
    out: u64,
    packed: Option<Rc<Cell<u64>>>,
    budget: Rc<Cell<u64>>,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.out += n as u64;
        let left = self.budget.get().checked_sub(n as u64);
        self.budget
            .set(left.ok_or_else(|| bad("it unpacks to more than is looked at"))?);
        if let Some(packed) = &self.packed
            && self.out > SWELLING_FROM
            && self.out / MAX_SWELLING > packed.get()
        {
            return Err(bad("it swells like an archive made to fill disks"));
        }
        Ok(n)
    }
}

/// One member of the outer archive.
fn part(
    member: &Member,
    content: &mut impl Read,
    parts: &mut Parts,
    budget: &Rc<Cell<u64>>,
) -> io::Result<()> {
    let Some(path) = member.path.as_deref() else {
        parts.outside += 1;
        return Ok(());
    };
    if !may_be_part(path) || !member.kind.is_file() {
        if may_be_part(path) && member.kind.is_symlink() {
            let folder = path.rsplit_once('/').map_or("", |p| p.0);
            let target = member.link.as_deref().unwrap_or("");
            if let Some(target) = crate::tree::cleaned(&format!("{folder}/{target}")) {
                parts.links.insert(path.to_owned(), target);
            }
        }
        return parts.root.take(member, content);
    }
    let mut head = vec![0; HEAD];
    let n = filled(content, &mut head)?;
    head.truncate(n);
    if matches!(head.first(), Some(b'{' | b'[')) && member.size <= MAX_JSON {
        let mut bytes = head;
        content.read_to_end(&mut bytes)?;
        if let Ok(value) = serde_json::from_slice(&bytes) {
            parts.json.insert(path.to_owned(), value);
        }
    } else if is_archive(&head) {
        let whole = io::Cursor::new(head).chain(content);
        let (stream, _) = opened(whole, budget)?;
        let mut members = Members::new(stream);
        let mut layer = Layer::default();
        while let Some(member) = members.next()? {
            layer.take(&member, &mut members)?;
        }
        parts.layers.insert(path.to_owned(), layer);
    }
    Ok(())
}

/// Whether a member may be a layer or a list of layers, and no file of a root filesystem.
fn may_be_part(path: &str) -> bool {
    let depth = path.matches('/').count();
    let ends = |list: &[&str]| list.iter().any(|e| path.ends_with(e));
    (path.starts_with("blobs/") && depth == 2)
        || (depth == 1 && ends(&["/layer.tar"]))
        || (depth == 0 && ends(&[".json", ".tar", ".tar.gz", ".tgz", ".tar.zst"]))
}

fn assembled(mut parts: Parts) -> io::Result<Unpacked> {
    let mut out = Unpacked {
        outside: parts.outside,
        ..Unpacked::default()
    };
    let (layers, config) = match listed(&parts, &mut out.images) {
        Some(found) => found,
        None if parts.layers.is_empty() => {
            out.outside += parts.root.outside;
            parts.root.over(&mut out.tree);
            return Ok(out);
        }
        None => return Err(bad("layers, and no list that orders them")),
    };
    let config = config.and_then(|c| parts.json.get(&c));
    out.arch = config
        .and_then(|c| c.get("architecture"))
        .and_then(Value::as_str)
        .map(str::to_owned);
    for name in layers {
        let name = parts.links.get(&name).cloned().unwrap_or(name);
        match parts.layers.remove(&name) {
            Some(layer) => {
                out.outside += layer.outside;
                layer.over(&mut out.tree);
            }
            None => out.missing.push(name),
        }
    }
    Ok(out)
}

/// The layers of the image from the lowest up, and where its description is.
fn listed(parts: &Parts, images: &mut Vec<String>) -> Option<(Vec<String>, Option<String>)> {
    let strings = |v: &Value| -> Vec<String> {
        let all = v.as_array().into_iter().flatten();
        all.filter_map(Value::as_str)
            .filter_map(crate::tree::cleaned)
            .collect()
    };
    if let Some(list) = parts.json.get("manifest.json").and_then(Value::as_array) {
        if list.len() > 1 {
            let name = |i: &Value| strings(&i["RepoTags"]).join(" ");
            images.extend(list.iter().map(name));
        }
        let image = list.first()?;
        let config = image["Config"].as_str().and_then(crate::tree::cleaned);
        return Some((strings(&image["Layers"]), config));
    }
    let index = parts.json.get("index.json")?;
    let manifest = manifest(index, parts, images, 0)?;
    let layers = manifest["layers"].as_array()?;
    let paths = layers.iter().filter_map(|l| blob(&l["digest"]));
    Some((paths.collect(), blob(&manifest["config"]["digest"])))
}

/// The list of one image, through lists of lists.
fn manifest<'a>(
    index: &'a Value,
    parts: &'a Parts,
    images: &mut Vec<String>,
    depth: usize,
) -> Option<&'a Value> {
    let all = index["manifests"].as_array()?;
    // attestations stand beside images, for a platform `unknown`
    let real = |m: &&Value| m["platform"]["os"].as_str() != Some("unknown");
    let real: Vec<&Value> = all.iter().filter(real).collect();
    let amd64 = |m: &&&Value| m["platform"]["architecture"].as_str() == Some("amd64");
    if depth == 0 && real.len() > 1 {
        let name = |m: &&Value| {
            let given = m["annotations"]["org.opencontainers.image.ref.name"].as_str();
            given.or(m["digest"].as_str()).unwrap_or("?").to_owned()
        };
        images.extend(real.iter().map(name));
    }
    let chosen = real.iter().find(amd64).or(real.first())?;
    let found = parts.json.get(&blob(&chosen["digest"])?)?;
    match found.get("manifests") {
        Some(_) if depth < 4 => manifest(found, parts, images, depth + 1),
        Some(_) => None,
        None => Some(found),
    }
}

/// `sha256:abc` -> `blobs/sha256/abc`
fn blob(digest: &Value) -> Option<String> {
    let (kind, hex) = digest.as_str()?.split_once(':')?;
    crate::tree::cleaned(&format!("blobs/{kind}/{hex}"))
}
