//! A folder of our own on the disk under test, gone when it is dropped: on success, on an error, and on Ctrl-C where the
//! caller turns it into the stop flag. Only SIGKILL leaves it; its name says whose it is. Single big files do not need
//! this: they are unlinked as soon as they are open (`disk/file.rs`).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(0);

#[derive(Debug)]
pub(crate) struct ScratchDir(PathBuf);

impl ScratchDir {
    /// Never an existing folder, so that nothing of the user's can be deleted with it.
    pub(crate) fn create(parent: &Path) -> io::Result<ScratchDir> {
        let path = parent.join(unique());
        std::fs::create_dir(&path)?;
        Ok(ScratchDir(path))
    }

    /// Refuses what would take more than a quarter of the free space: the disk is the user's.
    pub(crate) fn room_for(&self, bytes: u64) -> io::Result<()> {
        let space = rustix::fs::statvfs(&self.0)?;
        let free = space.f_bavail.saturating_mul(space.f_frsize);
        match bytes <= free / 4 {
            true => Ok(()),
            false => Err(io::Error::new(
                io::ErrorKind::StorageFull,
                format!(
                    "{} MiB wanted, {} MiB free, of which a quarter may be used",
                    bytes >> 20,
                    free >> 20
                ),
            )),
        }
    }

    /// Brings all that was written to the disk: the page cache can only drop what is there.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(std::fs::File::open(&self.0)?)?)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        // nothing can be done about a failure here, and the step's own result matters more
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A name that no other run uses: the process, a counter, and the clock against a reused process number.
pub(crate) fn unique() -> String {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| d.as_nanos());
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!(".lessee-probe-{}-{next}-{now:x}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_a_quarter_of_the_space_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let dir = ScratchDir::create(parent.path()).unwrap();
        assert!(dir.room_for(1).is_ok());
        let refused = dir.room_for(u64::MAX).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
    }
}
