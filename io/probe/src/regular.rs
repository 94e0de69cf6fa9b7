//! Opening what a user names as a file.

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

/// Opens a regular file. Of a pipe nobody may ever write the other end, so it is refused before it is opened.
///
/// # Errors
/// It is none, or cannot be opened.
pub fn open_regular(path: &Path) -> Result<File> {
    open(path, false)
}

/// As [`open_regular`], or a block device.
pub(crate) fn open(path: &Path, device: bool) -> Result<File> {
    let kind = std::fs::metadata(path)?.file_type();
    #[cfg(unix)]
    let block = std::os::unix::fs::FileTypeExt::is_block_device(&kind);
    #[cfg(not(unix))]
    let block = false;
    match kind.is_file() || device && block {
        true => File::open(path),
        false if kind.is_dir() => Err(ErrorKind::IsADirectory.into()),
        false => Err(Error::new(ErrorKind::InvalidInput, "not a regular file")),
    }
}
