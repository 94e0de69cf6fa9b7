//! The published sets, where they lie beside the checkout.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

use lessee_spot::trace::Series;
use lessee_traces::{Options, Read, read};
use std::path::{Path, PathBuf};

/// The folder of published sets, or `None` with a line that says so.
pub(crate) fn sets() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/traces/spot");
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("skipped: no {}", path.display());
    None
}

pub(crate) fn plain(path: &Path) -> Read {
    read(path, &Options::default()).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub(crate) fn only(read: &Read) -> &Series {
    let all: Vec<&Series> = read.series().collect();
    assert_eq!(all.len(), 1, "{}", read.file);
    all[0]
}

/// Share of known samples with at least `n`.
pub(crate) fn share(series: &Series, n: u32) -> f64 {
    let known = series.up.iter().flatten().count() as f64;
    series.up.iter().flatten().filter(|v| **v >= n).count() as f64 / known
}

pub(crate) fn codes(read: &Read) -> Vec<&str> {
    read.remarks.iter().map(|r| r.code.as_ref()).collect()
}
