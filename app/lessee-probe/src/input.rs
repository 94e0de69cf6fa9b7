//! Files and pasted text.

use crate::ProbeFailure;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Reads a file, or the standard input for `-`; no more than `limit` bytes.
pub(crate) fn bytes(path: &Path, limit: u64) -> Result<Vec<u8>, ProbeFailure> {
    let failed = |error: std::io::Error| ProbeFailure::Read {
        path: path.display().to_string(),
        detail: error.to_string(),
    };
    let mut out = Vec::new();
    // one byte more tells a file that is too large from one that just fits
    if path == Path::new("-") {
        let input = std::io::stdin().lock();
        input
            .take(limit + 1)
            .read_to_end(&mut out)
            .map_err(failed)?;
    } else {
        let file = File::open(path).map_err(failed)?;
        file.take(limit + 1).read_to_end(&mut out).map_err(failed)?;
    }
    Ok(out)
}
