//! Why a feed test could not run at all. A single damaged sample is none of these: it is counted and named.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    #[error(
        "the sample folder {path} cannot be read: {source}; name a readable folder with --samples"
    )]
    Folder { path: PathBuf, source: io::Error },
    #[error(
        "no sample in {path}: JPEG, PNG, WebP, .npy, .tar shards or other plain files are looked for"
    )]
    NoSamples { path: PathBuf },
    #[error("none of the {tried} samples tried in {path} could be used; the first: {first}")]
    NoneUsable {
        path: PathBuf,
        tried: usize,
        first: String,
    },
    #[error("{what} of {value} is not possible: {range}")]
    Option {
        what: &'static str,
        value: f64,
        range: &'static str,
    },
    #[error(
        "a batch of {mib} MiB is more than the {limit_mib} MiB allowed: lower the batch size or the image side"
    )]
    BatchTooLarge { mib: u64, limit_mib: u64 },
    #[error(
        "generated samples cannot be written to {path}: {source}; name another folder or give --samples"
    )]
    Generate { path: PathBuf, source: io::Error },
}
