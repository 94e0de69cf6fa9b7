//! Why the disk could not be tested at all. What fails in one step is a `Failed` reading of that step.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    #[error("{what} {path}: {source}; name a folder that can be written with --scratch")]
    File {
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error(
        "{free_mib} MiB free in {path}, at least {needed_mib} MiB are needed: make room or name another folder"
    )]
    NoSpace {
        path: PathBuf,
        free_mib: u64,
        needed_mib: u64,
    },
    #[error("{path} has {bytes} bytes, at least {needed} are needed to read from it")]
    TooSmall {
        path: PathBuf,
        bytes: u64,
        needed: u64,
    },
    #[error("{what} of {value} is not possible: {range}")]
    Option {
        what: &'static str,
        value: f64,
        range: &'static str,
    },
}
