//! Why a feed test could not run at all. A single damaged sample is none of these: it is counted and named.

use crate::finding::Finding;
use crate::gpu::TrainerError;
use lessee_model::{Explain, Msg};
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    #[error("the sample folder {path} cannot be read: {source}")]
    Folder { path: PathBuf, source: io::Error },
    #[error("no sample in {path}{}{}", if first.is_empty() { "" } else { "; left out: " }, first)]
    NoSamples {
        path: PathBuf,
        /// What was left out first, and why; may be empty.
        first: String,
    },
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
    #[error("a batch of {mib} MiB is more than the {limit_mib} MiB allowed")]
    BatchTooLarge { mib: u64, limit_mib: u64 },
    #[error("generated samples cannot be written to {path}: {source}")]
    Generate { path: PathBuf, source: io::Error },
    #[error("a GPU failed while it was fed: {0}")]
    Gpu(TrainerError),
}

impl FeedError {
    /// What follows beyond that the test came to nothing.
    pub fn findings(&self) -> Vec<Finding> {
        match self {
            FeedError::Gpu(error) => vec![error.finding()],
            _ => Vec::new(),
        }
    }
}

impl Explain for FeedError {
    fn msg(&self) -> Msg {
        match self {
            FeedError::Folder { path, source } => Msg::new("probe-feed-folder")
                .arg("path", path.display().to_string())
                .arg("detail", source.to_string()),
            FeedError::NoSamples { path, first } if first.is_empty() => {
                Msg::new("probe-feed-no-samples").arg("path", path.display().to_string())
            }
            FeedError::NoSamples { path, first } => Msg::new("probe-feed-all-left-out")
                .arg("path", path.display().to_string())
                .arg("first", first.clone()),
            FeedError::NoneUsable { path, tried, first } => Msg::new("probe-feed-none-usable")
                .arg("path", path.display().to_string())
                .arg("tried", *tried)
                .arg("first", first.clone()),
            FeedError::Option { what, value, range } => Msg::new("probe-option")
                .arg("what", *what)
                .arg("value", *value)
                .arg("range", *range),
            FeedError::BatchTooLarge { mib, limit_mib } => Msg::new("probe-feed-batch-large")
                .arg("mib", *mib as f64)
                .arg("limit", *limit_mib as f64),
            FeedError::Generate { path, source } => Msg::new("probe-feed-generate")
                .arg("path", path.display().to_string())
                .arg("detail", source.to_string()),
            FeedError::Gpu(error) => Msg::new("probe-feed-gpu")
                .arg("gpu", error.gpu.index.unwrap_or(error.gpu.cuda_index))
                .arg("detail", error.error.msg()),
        }
    }

    fn hints(&self) -> Vec<Msg> {
        match self {
            FeedError::Folder { .. } => vec![Msg::new("hint-probe-samples")],
            FeedError::Generate { .. } => vec![Msg::new("hint-probe-folder")],
            FeedError::NoSamples { .. }
            | FeedError::NoneUsable { .. }
            | FeedError::Option { .. }
            | FeedError::BatchTooLarge { .. }
            | FeedError::Gpu(_) => Vec::new(),
        }
    }
}
