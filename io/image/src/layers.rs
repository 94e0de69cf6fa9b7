//! One tar stream, member by member, and one layer of an image out of it. Nothing is unpacked: of each member either its few
//! bytes are kept or they are passed over. Headers are read with the `tar` crate; the loop is our own, because a header that
//! announces a name of gigabytes must be refused before it is read.

use crate::tree::{MAX_FILE_BYTES, Node, Room, Tree, Want, cleaned, want};
use std::collections::BTreeSet;
use std::io::{self, Read};
use std::rc::Rc;
use tar::{EntryType, Header, PaxExtensions};

const BLOCK: u64 = 512;
/// Longest name or extended header, in bytes.
const MAX_NAME: u64 = 1 << 20;

/// What one member is.
#[derive(Debug)]
pub(crate) struct Member {
    /// Without leading slash; `None` where it leads out of the root.
    pub path: Option<String>,
    pub kind: EntryType,
    pub link: Option<String>,
    pub size: u64,
}

/// Members of a tar stream.
pub(crate) struct Members<R: Read> {
    inner: R,
    /// Content of the current member that has not been read, and padding behind it.
    left: u64,
    padding: u64,
    any: bool,
}

pub(crate) fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

impl<R: Read> Members<R> {
    pub(crate) fn new(inner: R) -> Members<R> {
        Members {
            inner,
            left: 0,
            padding: 0,
            any: false,
        }
    }

    /// The next member; its content is read from `self` before the next call.
    pub(crate) fn next(&mut self) -> io::Result<Option<Member>> {
        let (mut name, mut link, mut pax) = (None, None, Vec::new());
        loop {
            self.skip()?;
            let mut header = Header::new_old();
            match filled(&mut self.inner, header.as_mut_bytes())? {
                0 if self.any && name.is_none() && pax.is_empty() => return Ok(None),
                n if n < BLOCK as usize => return Err(io::ErrorKind::UnexpectedEof.into()),
                _ => {}
            }
            if header.as_bytes().iter().all(|b| *b == 0) {
                return match self.any {
                    true => Ok(None),
                    false => Err(bad("no tar")),
                };
            }
            check_sum(&header)?;
            self.any = true;
            let size = header.entry_size()?;
            let kind = header.entry_type();
            let extended = kind.is_gnu_longname()
                || kind.is_gnu_longlink()
                || kind.is_pax_local_extensions()
                || kind.is_pax_global_extensions();
            if extended {
                if size > MAX_NAME {
                    return Err(bad("a name longer than a megabyte"));
                }
                self.begin(size);
                let mut bytes = Vec::new();
                self.read_to_end(&mut bytes)?;
                if (bytes.len() as u64) < size {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                if kind.is_gnu_longname() {
                    name = Some(text(&bytes));
                } else if kind.is_gnu_longlink() {
                    link = Some(text(&bytes));
                } else if kind.is_pax_local_extensions() {
                    pax = bytes;
                }
                continue;
            }
            let mut member = Member {
                path: None,
                kind,
                link: link.or_else(|| header.link_name_bytes().map(|l| text(&l))),
                size,
            };
            let mut path = name.unwrap_or_else(|| text(&header.path_bytes()));
            for pair in PaxExtensions::new(&pax).filter_map(Result::ok) {
                match pair.key_bytes() {
                    b"path" => path = text(pair.value_bytes()),
                    b"linkpath" => member.link = Some(text(pair.value_bytes())),
                    b"size" => {
                        let size = pair.value().ok().and_then(|v| v.parse().ok());
                        member.size = size.ok_or_else(|| bad("a size that is none"))?;
                    }
                    _ => {}
                }
            }
            member.path = cleaned(&path);
            self.begin(match kind {
                EntryType::Link | EntryType::Symlink | EntryType::Directory => 0,
                _ => member.size,
            });
            return Ok(Some(member));
        }
    }

    fn begin(&mut self, size: u64) {
        self.left = size;
        self.padding = (BLOCK - size % BLOCK) % BLOCK;
    }

    fn skip(&mut self) -> io::Result<()> {
        let rest = self.left.checked_add(std::mem::take(&mut self.padding));
        let rest = rest.ok_or_else(|| bad("a size that is none"))?;
        self.left = 0;
        let passed = io::copy(&mut self.inner.by_ref().take(rest), &mut io::sink())?;
        match passed < rest {
            true => Err(io::ErrorKind::UnexpectedEof.into()),
            false => Ok(()),
        }
    }
}

/// The content of the current member.
impl<R: Read> Read for Members<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left)
            .unwrap_or(usize::MAX)
            .min(buf.len());
        let n = self.inner.read(&mut buf[..most])?;
        if n == 0 && most > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= n as u64;
        Ok(n)
    }
}

/// Reads until the buffer is full or the stream ends.
pub(crate) fn filled(from: &mut impl Read, buf: &mut [u8]) -> io::Result<usize> {
    let mut at = 0;
    while at < buf.len() {
        match from.read(&mut buf[at..]) {
            Ok(0) => break,
            Ok(n) => at += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(at)
}

fn check_sum(header: &Header) -> io::Result<()> {
    let bytes = header.as_bytes();
    let plain = bytes[..148].iter().chain(&bytes[156..]);
    let sum: u32 = plain.map(|b| u32::from(*b)).sum::<u32>() + 8 * 32;
    match header.cksum()? == sum {
        true => Ok(()),
        false => Err(bad("a header whose sum is wrong")),
    }
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// One layer: what it brings, and what it takes away from those below.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    pub tree: Tree,
    /// Files and folders that are gone.
    gone: Vec<String>,
    /// Folders whose content below is hidden.
    opaque: Vec<String>,
    folders: Vec<String>,
    /// Links to files of layers below.
    hard: Vec<(String, String)>,
    /// Files that are wanted too, as links to them were seen in an earlier pass.
    also: Rc<BTreeSet<String>>,
    /// Members that lead out of the root, or have names that are none.
    pub outside: usize,
}

impl Layer {
    /// One that keeps no more than there is room for in its whole archive.
    pub(crate) fn within(room: &Room, also: &Rc<BTreeSet<String>>) -> Layer {
        Layer {
            tree: Tree::within(room),
            also: also.clone(),
            ..Layer::default()
        }
    }

    fn want(&self, path: &str) -> Want {
        match self.also.contains(path) {
            true => Want::Content,
            false => want(path),
        }
    }

    /// Takes in one member, whose content comes from `content`.
    pub(crate) fn take(&mut self, member: &Member, content: &mut impl Read) -> io::Result<()> {
        let Some(path) = &member.path else {
            self.outside += 1;
            return Ok(());
        };
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if name == ".wh..wh..opq" {
            if self.tree.has_room(folder) {
                self.opaque.push(folder.to_owned());
            }
        } else if let Some(name) = name.strip_prefix(".wh.") {
            if self.tree.has_room(path) {
                self.gone.push(crate::tree::join(folder, name));
            }
        } else {
            self.keep(path, member, content)?;
        }
        Ok(())
    }

    fn keep(&mut self, path: &str, member: &Member, content: &mut impl Read) -> io::Result<()> {
        match member.kind {
            EntryType::Directory if self.tree.has_room(path) => {
                self.folders.push(path.to_owned());
            }
            EntryType::Symlink => {
                let target = member.link.clone().unwrap_or_default();
                self.tree.insert(path, Node::Link(target));
            }
            EntryType::Link => self.hard_link(path, member),
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                match self.want(path) {
                    Want::Nothing => {}
                    Want::Name => self.tree.insert(path, Node::Seen),
                    Want::Content if member.size > MAX_FILE_BYTES => {
                        self.tree.too_large.push(path.to_owned());
                    }
                    Want::Content => {
                        let mut bytes = Vec::new();
                        content.take(member.size).read_to_end(&mut bytes)?;
                        self.tree.insert(path, Node::Content(bytes));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn hard_link(&mut self, path: &str, member: &Member) {
        if self.want(path) == Want::Nothing {
            return;
        }
        let target = member.link.as_deref().and_then(cleaned);
        let Some(target) = target else {
            self.outside += 1;
            return;
        };
        match self.tree.node(&target).cloned() {
            Some(node) => self.tree.insert(path, node),
            None if self.tree.has_room(path) && self.tree.has_room(&target) => {
                self.hard.push((path.to_owned(), target));
            }
            None => {}
        }
    }

    /// Lays this layer over those below; returns links whose content was passed over: the file, and where it leads.
    pub(crate) fn over(mut self, below: &mut Tree) -> Vec<(String, String)> {
        for path in &self.gone {
            below.remove(path);
        }
        for folder in &self.opaque {
            below.clear(folder);
        }
        for folder in &self.folders {
            if matches!(below.node(folder), Some(Node::Link(_))) {
                below.remove(folder);
            }
        }
        let links: Vec<String> = self
            .tree
            .paths()
            .filter(|(_, node)| matches!(node, Node::Link(_)))
            .map(|(path, _)| path.to_owned())
            .collect();
        for path in links {
            below.clear(&path);
        }
        let mut open = Vec::new();
        for (path, target) in std::mem::take(&mut self.hard) {
            match below.node(&target).cloned() {
                Some(node) => below.insert(&path, node),
                None if want(&path) == Want::Content => open.push((path, target)),
                None => below.insert(&path, Node::Seen),
            }
        }
        below.cover(self.tree);
        open
    }
}
