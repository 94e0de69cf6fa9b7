//! The files below a folder: regular, not empty, not hidden, links not followed. Read only.

use std::io;
use std::path::{Path, PathBuf};

const DEPTH_MAX: usize = 16;
const NOTES_MAX: usize = 20;

/// At most `limit` files with their sizes. Only the top folder must be readable; below it, what is not is noted and passed
/// over.
pub(crate) fn walk(
    dir: &Path,
    limit: usize,
    found: &mut Vec<(PathBuf, u64)>,
    notes: &mut Vec<String>,
) -> io::Result<()> {
    below(dir, 0, limit, found, notes)
}

fn below(
    dir: &Path,
    depth: usize,
    limit: usize,
    found: &mut Vec<(PathBuf, u64)>,
    notes: &mut Vec<String>,
) -> io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if hidden || found.len() >= limit {
            continue;
        }
        if kind.is_dir() && depth < DEPTH_MAX {
            if let Err(e) = below(&entry.path(), depth + 1, limit, found, notes)
                && notes.len() < NOTES_MAX
            {
                notes.push(format!("{}: {e}", entry.path().display()));
            }
        } else if kind.is_file()
            && let Ok(meta) = entry.metadata()
            && meta.len() > 0
        {
            found.push((entry.path(), meta.len()));
        }
    }
    Ok(())
}
