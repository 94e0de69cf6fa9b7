//! The ways in: this machine, a mounted root, one Python environment, a file of any kind.

use crate::archive::{Unpacked, is_archive, unpack, unpack_layout};
use crate::facts;
use crate::lists::read_list;
use crate::tree::Tree;
use crate::walk::{Walked, take, walk};
use lessee_accept::env::{Environment, NoteCode, SourceKind, SourceRead};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::Path;
use thiserror::Error;

/// Longest list that is read, in bytes.
pub const MAX_LIST_BYTES: u64 = 64 << 20;
/// How much of a file tells whether it is an archive.
const HEAD: usize = 512;

/// What was asked for cannot be opened at all. Whatever is in it is never an error but a note.
#[derive(Debug, Error)]
#[error("{path}: {source}")]
pub struct ImageError {
    pub path: String,
    #[source]
    pub source: io::Error,
}

fn failed(path: &Path) -> impl Fn(io::Error) -> ImageError + '_ {
    move |source| ImageError {
        path: path.display().to_string(),
        source,
    }
}

/// This machine: its root, and what the kernel says of the driver.
///
/// # Errors
/// The root cannot be read.
pub fn read_machine(read_at: &str) -> Result<Environment, ImageError> {
    let root = Path::new("/");
    let mut walked = walk(root, true).map_err(failed(root))?;
    kernel(&mut walked.tree);
    let mut out = system(walked, "/", read_at, SourceKind::Live);
    out.arch = Some(std::env::consts::ARCH.to_owned());
    Ok(out)
}

/// `/proc` is left out of walks, as it is of this machine and not of a mounted root.
fn kernel(tree: &mut Tree) {
    let version = "proc/driver/nvidia/version";
    if Path::new("/").join(version).exists() {
        take(&Path::new("/").join(version), version, tree);
    }
    let gpus = "proc/driver/nvidia/gpus";
    let cards = fs::read_dir(Path::new("/").join(gpus));
    for card in cards.into_iter().flatten().filter_map(Result::ok) {
        let path = format!("{gpus}/{}/information", card.file_name().to_string_lossy());
        take(&Path::new("/").join(&path), &path, tree);
    }
}

/// The root of another system: mounted, or unpacked.
///
/// # Errors
/// The folder cannot be read.
pub fn read_root(root: &Path, read_at: &str) -> Result<Environment, ImageError> {
    let walked = walk(root, true).map_err(failed(root))?;
    let at = root.display().to_string();
    let mut out = system(walked, &at, read_at, SourceKind::Root);
    if out.is_bare() && out.notes.is_empty() {
        out.note(NoteCode::NotRecognised, &at, "");
    }
    Ok(out)
}

/// One Python environment: the folder above its `bin` and `lib`.
///
/// # Errors
/// The folder cannot be read.
pub fn read_venv(folder: &Path, read_at: &str) -> Result<Environment, ImageError> {
    let folder = &fs::canonicalize(folder).map_err(failed(folder))?;
    let walked = walk(folder, false).map_err(failed(folder))?;
    let at = folder.display().to_string();
    let mut out = system(walked, &at, read_at, SourceKind::Venv);
    out.arch = Some(std::env::consts::ARCH.to_owned());
    if out.pythons.is_empty() {
        out.note(NoteCode::NotRecognised, &at, "");
    }
    Ok(out)
}

fn system(walked: Walked, at: &str, read_at: &str, kind: SourceKind) -> Environment {
    let mut out = Environment::new(read_at.to_owned());
    out.sources.push(SourceRead {
        kind,
        path: at.to_owned(),
    });
    facts::read(&walked.tree, at, &mut out);
    if walked.cut {
        out.note(NoteCode::TooLarge, at, "");
    }
    if let Some(first) = &walked.first_closed {
        let detail = format!("{first} ({})", walked.closed);
        out.note(NoteCode::Skipped, at, detail);
    }
    out.sort();
    out
}

/// A file of any kind: an archive, a list, a saved environment; `shown` is how to call it. What it holds beyond the bounds,
/// or what is none of these, is said in a note.
pub fn read_input(from: impl Read, shown: &str, read_at: &str) -> Environment {
    let mut from = from;
    let mut head = vec![0; HEAD];
    let mut out = Environment::new(read_at.to_owned());
    match crate::layers::filled(&mut from, &mut head) {
        Ok(n) => head.truncate(n),
        Err(e) => {
            out.note(NoteCode::Damaged, shown, e.to_string());
            return out;
        }
    }
    if !is_archive(&head) {
        return list(Cursor::new(head).chain(from), shown, read_at);
    }
    out.sources.push(SourceRead {
        kind: SourceKind::Archive,
        path: shown.to_owned(),
    });
    let unpacked = unpack(Cursor::new(head).chain(from), BTreeSet::new());
    archive(unpacked, shown, &mut out);
    out.sort();
    out
}

/// A file of any kind, as [`read_input`] reads it. An archive is read once more where it holds hard links to files that
/// were passed over.
///
/// # Errors
/// It cannot be opened.
pub fn read_file(path: &Path, read_at: &str) -> Result<Environment, ImageError> {
    let shown = path.display().to_string();
    let mut file = File::open(path).map_err(failed(path))?;
    let again = file.metadata().is_ok_and(|m| m.is_file());
    let mut head = vec![0; HEAD];
    let n = crate::layers::filled(&mut file, &mut head).map_err(failed(path))?;
    head.truncate(n);
    if !again || !is_archive(&head) {
        return Ok(read_input(Cursor::new(head).chain(file), &shown, read_at));
    }
    let fresh = || File::open(path);
    let unpacked = with_links(|also| fresh().and_then(|f| unpack(f, also)));
    let mut out = Environment::new(read_at.to_owned());
    out.sources.push(SourceRead {
        kind: SourceKind::Archive,
        path: shown.clone(),
    });
    archive(unpacked, &shown, &mut out);
    out.sort();
    Ok(out)
}

/// Unpacks, and once more where hard links lead to files that were passed over.
fn with_links(unpack: impl Fn(BTreeSet<String>) -> io::Result<Unpacked>) -> io::Result<Unpacked> {
    let first = unpack(BTreeSet::new())?;
    if first.links.is_empty() {
        return Ok(first);
    }
    unpack(first.links.into_iter().map(|(_, target)| target).collect())
}

fn archive(unpacked: io::Result<Unpacked>, shown: &str, out: &mut Environment) {
    let unpacked = match unpacked {
        Ok(unpacked) => unpacked,
        Err(e) => {
            let code = match e.kind() {
                io::ErrorKind::UnexpectedEof => NoteCode::Truncated,
                _ => NoteCode::Damaged,
            };
            return out.note(code, shown, e.to_string());
        }
    };
    facts::read(&unpacked.tree, "", out);
    let arch = unpacked.arch.as_deref().map(facts::machine);
    out.arch = arch.map(str::to_owned).or(out.arch.take());
    if !unpacked.missing.is_empty() {
        out.note(NoteCode::Truncated, shown, unpacked.missing.join(", "));
    }
    if let Some(first) = unpacked.other.first() {
        let detail = format!("diff_id: {first} ({})", unpacked.other.len());
        out.note(NoteCode::Damaged, shown, detail);
    }
    if unpacked.outside > 0 {
        out.note(
            NoteCode::Damaged,
            shown,
            format!("../ ({})", unpacked.outside),
        );
    }
    if let Some((path, target)) = unpacked.links.first() {
        let detail = format!("{path} -> {target} ({})", unpacked.links.len());
        out.note(NoteCode::Damaged, shown, detail);
    }
    if !unpacked.images.is_empty() {
        out.note(NoteCode::Several, shown, unpacked.images.join(", "));
    }
    if out.is_bare() && out.notes.is_empty() {
        out.note(NoteCode::NotRecognised, shown, "");
    }
}

/// A folder of any kind: a Python environment, an OCI layout, else the root of a system.
///
/// # Errors
/// It cannot be read.
pub fn read_folder(folder: &Path, read_at: &str) -> Result<Environment, ImageError> {
    if folder.join("pyvenv.cfg").is_file() || folder.join("conda-meta").is_dir() {
        return read_venv(folder, read_at);
    }
    if !folder.join("oci-layout").is_file() {
        return read_root(folder, read_at);
    }
    let shown = folder.display().to_string();
    let mut out = Environment::new(read_at.to_owned());
    out.sources.push(SourceRead {
        kind: SourceKind::Archive,
        path: shown.clone(),
    });
    let unpacked = with_links(|also| unpack_layout(folder, also));
    archive(unpacked, &shown, &mut out);
    out.sort();
    Ok(out)
}

fn list(from: impl Read, shown: &str, read_at: &str) -> Environment {
    let mut bytes = Vec::new();
    let mut out = Environment::new(read_at.to_owned());
    match from.take(MAX_LIST_BYTES + 1).read_to_end(&mut bytes) {
        Err(e) => out.note(NoteCode::Damaged, shown, e.to_string()),
        Ok(n) if n as u64 > MAX_LIST_BYTES => {
            let detail = format!("> {MAX_LIST_BYTES} bytes");
            out.note(NoteCode::TooLarge, shown, detail);
        }
        Ok(_) => {
            let text = lessee_probe_io::decoded(&bytes);
            let control = text
                .chars()
                .filter(|c| *c == '\0' || *c == '\u{fffd}')
                .count();
            if control * 100 > text.chars().count() {
                out.note(NoteCode::Damaged, shown, "");
                return out;
            }
            let mut out = read_list(&text, shown, read_at);
            out.sort();
            return out;
        }
    }
    out
}
