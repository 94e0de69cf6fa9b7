//! The file under test: our own, unlinked as soon as it is open, so that not even SIGKILL leaves it; or one of the user's,
//! opened for reading only. With O_DIRECT where the file system allows it.

use super::DiskError;
use crate::scratch;
use rustix::fs::{Advice, OFlags, fadvise};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

pub(super) const BLOCK: usize = 4096;
pub(super) const CHUNK: usize = 1 << 20;

pub(super) struct TestFile {
    /// With O_DIRECT, unless that was refused.
    file: File,
    /// Why O_DIRECT is not used.
    pub(super) refused: Option<String>,
    /// Of our own: may be written, and its blocks are stamped.
    pub(super) own: bool,
    /// What may be read.
    pub(super) len: u64,
}

impl TestFile {
    pub(super) fn create(dir: &Path) -> Result<TestFile, DiskError> {
        let path = dir.join(scratch::unique());
        let fail = |what| {
            let path = path.clone();
            move |source| DiskError::File { what, path, source }
        };
        let mut how = OpenOptions::new();
        how.read(true).write(true);
        let plain = how
            .clone()
            .create_new(true)
            .open(&path)
            .map_err(fail("creating"))?;
        let direct = how.custom_flags(direct_flag()).open(&path);
        std::fs::remove_file(&path).map_err(fail("unlinking"))?;
        // a first block, because some file systems refuse only when it is used
        let mut block = Aligned::new(BLOCK);
        let used = direct.and_then(|file| {
            file.write_all_at(block.bytes(), 0)?;
            Ok(file)
        });
        Ok(TestFile::with(plain, used, true, 0))
    }

    pub(super) fn open(path: &Path) -> Result<TestFile, DiskError> {
        let fail = |source| DiskError::File {
            what: "opening",
            path: path.to_owned(),
            source,
        };
        let plain = File::open(path).map_err(fail)?;
        let len = plain.metadata().map_err(fail)?.len();
        if len < CHUNK as u64 {
            return Err(DiskError::TooSmall {
                path: path.to_owned(),
                bytes: len,
                needed: CHUNK as u64,
            });
        }
        let mut block = Aligned::new(BLOCK);
        let mut how = OpenOptions::new();
        let direct = how.read(true).custom_flags(direct_flag()).open(path);
        let used = direct.and_then(|file| {
            file.read_exact_at(block.bytes(), 0)?;
            Ok(file)
        });
        Ok(TestFile::with(plain, used, false, len))
    }

    fn with(plain: File, direct: io::Result<File>, own: bool, len: u64) -> TestFile {
        let (file, refused) = match direct {
            Ok(file) => (file, None),
            Err(e) => (plain, Some(e.to_string())),
        };
        TestFile {
            file,
            refused,
            own,
            len,
        }
    }

    pub(super) fn write(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, at)
    }

    /// Reads, and checks the stamp of our own blocks: a disk that is fast and wrong has failed.
    pub(super) fn read(&self, bytes: &mut [u8], at: u64) -> io::Result<()> {
        self.file.read_exact_at(bytes, at)?;
        match bytes.first_chunk() {
            Some(first) if self.own && u64::from_le_bytes(*first) != stamp(at) => {
                Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the disk gave back other data than was written",
                ))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Without O_DIRECT: what was written must not come from memory.
    pub(super) fn forget(&self) {
        if self.refused.is_some() {
            let _ = fadvise(&self.file, 0, None, Advice::DontNeed);
        }
    }
}

/// The first bytes of the block at this offset: no two blocks are equal, so that nothing is gained by deduplication.
pub(super) fn stamp(at: u64) -> u64 {
    (at / BLOCK as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn direct_flag() -> i32 {
    OFlags::DIRECT.bits() as i32
}

/// A buffer that begins at a page, as O_DIRECT wants it: a page too long, used from its first boundary.
pub(super) struct Aligned {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl Aligned {
    pub(super) fn new(len: usize) -> Aligned {
        let bytes = vec![0u8; len + BLOCK];
        // the vector is never grown, so its place in memory stays; a refusal would only cost O_DIRECT
        let start = bytes.as_ptr().align_offset(BLOCK).min(BLOCK);
        Aligned { bytes, start, len }
    }

    pub(super) fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_at_a_page_and_our_file_has_no_name() {
        let mut buffer = Aligned::new(CHUNK);
        assert_eq!(buffer.bytes().as_ptr() as usize % BLOCK, 0);
        assert_eq!(buffer.bytes().len(), CHUNK);
        let dir = tempfile::tempdir().unwrap();
        let file = TestFile::create(dir.path()).unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        buffer.bytes()[..8].copy_from_slice(&stamp(0).to_le_bytes());
        file.write(buffer.bytes(), 0).unwrap();
        file.read(buffer.bytes(), 0).unwrap();
        // another block's data at this place
        file.write(buffer.bytes(), CHUNK as u64).unwrap();
        let wrong = file.read(buffer.bytes(), CHUNK as u64).unwrap_err();
        assert!(wrong.to_string().contains("other data"));
    }

    #[test]
    fn a_users_file_must_be_there_and_large_enough() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("small");
        assert!(matches!(TestFile::open(&path), Err(DiskError::File { .. })));
        std::fs::write(&path, b"x").unwrap();
        let refused = TestFile::open(&path);
        assert!(matches!(refused, Err(DiskError::TooSmall { .. })));
    }
}
