//! Container archives in one pass, whatever the order of their members: `docker save`, an OCI layout in a tar, a root
//! filesystem in a tar, each perhaps packed with gzip or zstd. Nothing is unpacked onto a disk.
//!
//! Layers come before the list that orders them, so each is read into a small [`Layer`] of its own and laid upon the others
//! at the end. Bounded over all layers together: in what is unpacked, in how far it swells, in what is kept of names, contents
//! and JSON.

use crate::facts::hex;
use crate::layers::{Layer, Member, Members, bad, filled};
use crate::tree::{Room, Tree};
use crate::zstd::Zstd;
use flate2::read::MultiGzDecoder;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Most bytes that are unpacked of one archive.
const MAX_UNPACKED: u64 = 256 << 30;
/// From so many bytes on, more than `MAX_SWELLING` out of one is a bomb.
const SWELLING_FROM: u64 = 16 << 20;
const MAX_SWELLING: u64 = 200;
/// Longest list of layers.
const MAX_JSON: u64 = 8 << 20;
/// What a JSON takes in memory for each of its bytes, at most.
const JSON_SWELLS: usize = 16;
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
    /// Layers that are not those that the image's description names.
    pub other: Vec<String>,
    /// Links whose content was passed over: the file, and where it leads.
    pub links: Vec<(String, String)>,
    /// Images in it, by name, where there is more than one.
    pub images: Vec<String>,
    /// `amd64`, as the image states it.
    pub arch: Option<String>,
}

#[derive(Debug, Default)]
struct Parts {
    layers: HashMap<String, Layer>,
    /// SHA-256 of each layer as it is unpacked.
    sums: HashMap<String, String>,
    /// Of members that stand for others.
    links: HashMap<String, String>,
    json: HashMap<String, Value>,
    root: Layer,
    outside: usize,
    room: Room,
    also: Rc<BTreeSet<String>>,
}

impl Parts {
    fn new(also: BTreeSet<String>) -> Parts {
        let (room, also) = (Room::default(), Rc::new(also));
        Parts {
            root: Layer::within(&room, &also),
            room,
            also,
            ..Parts::default()
        }
    }
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

/// Reads an archive; `also` are files that are wanted beside those of which the path says so.
///
/// # Errors
/// It breaks off, is none, or swells beyond all bounds.
pub(crate) fn unpack(from: impl Read, also: BTreeSet<String>) -> io::Result<Unpacked> {
    let budget = Rc::new(Cell::new(MAX_UNPACKED));
    let mut parts = Parts::new(also);
    let (stream, packing) = opened(from, &budget)?;
    if packing == Packing::Other {
        return Err(bad("no archive"));
    }
    let mut stream = stream;
    let mut members = Members::new(&mut stream);
    while let Some(member) = members.next()? {
        part(&member, &mut members, &mut parts, &budget)?;
    }
    // to its end, where the packer's own sum is
    io::copy(&mut stream, &mut io::sink())?;
    assembled(parts)
}

/// Reads an OCI layout that lies in a folder, as skopeo and buildah write it.
///
/// # Errors
/// As [`unpack`].
pub(crate) fn unpack_layout(folder: &Path, also: BTreeSet<String>) -> io::Result<Unpacked> {
    let budget = Rc::new(Cell::new(MAX_UNPACKED));
    let mut parts = Parts::new(also);
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

/// A stream with the sum of what has been read.
struct Summed<R> {
    inner: R,
    sum: Sha256,
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.sum.update(&buf[..n]);
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
            if let Some(target) = crate::tree::cleaned(&format!("{folder}/{target}"))
                && parts.root.tree.has_room(path)
                && parts.root.tree.has_room(&target)
            {
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
        if parts
            .root
            .tree
            .takes(bytes.len().saturating_mul(JSON_SWELLS))
            && let Ok(value) = serde_json::from_slice(&bytes)
        {
            parts.json.insert(path.to_owned(), value);
        }
    } else if is_archive(&head) {
        let whole = io::Cursor::new(head).chain(content);
        let (stream, _) = opened(whole, budget)?;
        let mut stream = Summed {
            inner: stream,
            sum: Sha256::new(),
        };
        let mut members = Members::new(&mut stream);
        let mut layer = Layer::within(&parts.room, &parts.also);
        while let Some(member) = members.next()? {
            layer.take(&member, &mut members)?;
        }
        io::copy(&mut stream, &mut io::sink())?;
        if parts.root.tree.has_room(path) {
            let sum = format!("sha256:{}", hex(&stream.sum.finalize()));
            parts.sums.insert(path.to_owned(), sum);
            parts.layers.insert(path.to_owned(), layer);
        }
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
        tree: Tree::within(&parts.room),
        outside: parts.outside,
        ..Unpacked::default()
    };
    out.tree.full = parts.root.tree.full;
    let (layers, config) = match listed(&parts, &mut out.images) {
        Some(found) => found,
        None if parts.layers.is_empty() => {
            out.outside += parts.root.outside;
            out.links = parts.root.over(&mut out.tree);
            return Ok(out);
        }
        None => return Err(bad("layers, and no list that orders them")),
    };
    let config = config.and_then(|c| parts.json.get(&c));
    out.arch = config
        .and_then(|c| c.get("architecture"))
        .and_then(Value::as_str)
        .map(str::to_owned);
    let stated: Option<Vec<&str>> = config
        .and_then(|c| c["rootfs"]["diff_ids"].as_array())
        .map(|all| all.iter().map(|v| v.as_str().unwrap_or("")).collect());
    if let Some(stated) = stated {
        for (at, name) in layers.iter().enumerate() {
            let name = parts.links.get(name).unwrap_or(name);
            let sum = parts.sums.get(name);
            if sum.is_some_and(|s| stated.get(at) != Some(&s.as_str())) {
                out.other.push(name.clone());
            }
        }
        let lacking = stated.iter().skip(layers.len());
        out.missing.extend(lacking.map(|s| (*s).to_owned()));
    }
    for name in layers {
        let name = parts.links.get(&name).cloned().unwrap_or(name);
        match parts.layers.remove(&name) {
            Some(layer) => {
                out.outside += layer.outside;
                out.links.extend(layer.over(&mut out.tree));
            }
            // one and the same layer may be named twice
            None if parts.sums.contains_key(&name) => {}
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
