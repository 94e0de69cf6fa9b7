//! The files of `--export`: looked at before the work begins, written whole or not at all.

use crate::Failure;
use lessee_model::Msg;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Whether each file can be written, and is none that the command line names as something else: a measurement that cannot be
/// kept is not begun, and no input is written over.
///
/// # Errors
/// A folder, a place that cannot be written, a file that is an input.
pub(crate) fn check(exports: &[&Path], argv: &[OsString]) -> Result<(), Failure> {
    for export in exports {
        if named(argv).any(|input| same(&input, export)) {
            let msg = Msg::new("export-onto-input").arg("path", export.display().to_string());
            return Err(Failure::usage(msg));
        }
        let place = place(export);
        let tried = match std::fs::metadata(&place) {
            Ok(meta) if meta.is_dir() => Err(ErrorKind::IsADirectory.into()),
            // a device or a pipe; to open a pipe would wait for its reader
            Ok(meta) if !meta.is_file() => Ok(()),
            found => {
                let existing = match found {
                    Ok(_) => OpenOptions::new().append(true).open(&place).map(drop),
                    Err(_) => Ok(()),
                };
                existing.and_then(|()| {
                    let beside = beside(&place);
                    File::create(&beside)?;
                    std::fs::remove_file(&beside)
                })
            }
        };
        tried.map_err(|e| Failure::write(export, &e))?;
    }
    Ok(())
}

/// The words of a command line that may name a file: whole, and what follows `=`; not those of `--export`, and nothing of
/// the program's own name.
fn named(argv: &[OsString]) -> impl Iterator<Item = PathBuf> {
    let mut of_export = false;
    let words = argv.iter().skip(1).filter(move |word| {
        let own = std::mem::replace(&mut of_export, *word == "--export");
        !own && !word.to_string_lossy().starts_with("--export=")
    });
    words.flat_map(|word| {
        let text = word.to_string_lossy();
        let value = text.split_once('=').map(|(_, value)| PathBuf::from(value));
        // an offer of a quote: FILE#NAME
        let quote = text.split_once('#').map(|(file, _)| PathBuf::from(file));
        [Some(PathBuf::from(word)), value, quote]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
    })
}

fn same(a: &Path, b: &Path) -> bool {
    let (Ok(a), Ok(b)) = (a.canonicalize(), b.canonicalize()) else {
        return false;
    };
    a == b && a.is_file()
}

/// Where a link leads: what it points at is written, the link stays.
fn place(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

/// Whole or not at all: a file beside it, with the same permissions, is renamed over it.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let place = place(path);
    let failed = |e| Failure::write(path, &e);
    let permissions = match std::fs::metadata(&place) {
        Ok(meta) if meta.is_dir() => return Err(failed(ErrorKind::IsADirectory.into())),
        Ok(meta) if !meta.is_file() => {
            let opened = OpenOptions::new().write(true).open(&place);
            return opened
                .and_then(|mut file| file.write_all(bytes))
                .map_err(failed);
        }
        found => found.ok().map(|meta| meta.permissions()),
    };
    let beside = beside(&place);
    let written = std::fs::write(&beside, bytes)
        .and_then(|()| match permissions {
            Some(permissions) => std::fs::set_permissions(&beside, permissions),
            None => Ok(()),
        })
        .and_then(|()| std::fs::rename(&beside, &place));
    written.map_err(|e| {
        let _ = std::fs::remove_file(&beside);
        failed(e)
    })
}
