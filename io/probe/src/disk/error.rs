//! Why the disk could not be tested at all. What fails in one step is a `Failed` reading of that step.

use lessee_model::{Explain, Msg};
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    #[error("{what} {path}: {source}")]
    File {
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{free_mib} MiB free in {path}, at least {needed_mib} MiB are needed")]
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

impl Explain for DiskError {
    fn msg(&self) -> Msg {
        match self {
            DiskError::File { path, source, .. } => Msg::new("probe-disk-file")
                .arg("path", path.display().to_string())
                .arg("detail", source.to_string()),
            DiskError::NoSpace {
                path,
                free_mib,
                needed_mib,
            } => Msg::new("probe-disk-no-space")
                .arg("path", path.display().to_string())
                .arg("free", *free_mib as f64)
                .arg("needed", *needed_mib as f64),
            DiskError::TooSmall {
                path,
                bytes,
                needed,
            } => Msg::new("probe-disk-too-small")
                .arg("path", path.display().to_string())
                .bytes("bytes", *bytes as f64)
                .bytes("needed", *needed as f64),
            DiskError::Option { what, value, range } => Msg::new("probe-option")
                .arg("what", *what)
                .arg("value", *value)
                .arg("range", *range),
        }
    }

    fn hints(&self) -> Vec<Msg> {
        match self {
            DiskError::File { .. } | DiskError::NoSpace { .. } => {
                vec![Msg::new("hint-probe-folder")]
            }
            DiskError::TooSmall { .. } | DiskError::Option { .. } => Vec::new(),
        }
    }
}
