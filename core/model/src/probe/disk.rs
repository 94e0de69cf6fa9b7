//! The disk: random reads at several depths, streams, a checkpoint, small files.

use super::Reading;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The best of each; what is behind it follows.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiskReading {
    /// GB/s, sequential.
    pub read_gbs: Option<Reading>,
    pub write_gbs: Option<Reading>,
    /// 4 KiB random reads per second.
    pub random_read_iops: Option<Reading>,
    /// Small files opened and read per second.
    pub small_files_per_second: Option<Reading>,
    /// Where it was measured.
    #[serde(default)]
    pub folder: Option<String>,
    /// `ext4`, `overlay`, ...; the number of an unknown one.
    #[serde(default)]
    pub file_system: Option<String>,
    /// Size of the file under test.
    #[serde(default)]
    pub file_bytes: Option<u64>,
    /// Reads and writes went past the page cache.
    #[serde(default)]
    pub direct: Option<bool>,
    #[serde(default)]
    pub random: Vec<RandomRead>,
    #[serde(default)]
    pub read: Vec<Stream>,
    #[serde(default)]
    pub write: Option<Stream>,
    #[serde(default)]
    pub checkpoint: Option<Checkpoint>,
    #[serde(default)]
    pub small: Option<SmallFiles>,
}

/// Percentiles of latencies, microseconds; each occurred.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    pub count: usize,
    pub p50_us: f64,
    pub p90_us: f64,
    pub p99_us: f64,
    pub p999_us: f64,
    pub max_us: f64,
}

/// 4 KiB reads at random places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomRead {
    /// Threads, each with one read at a time.
    pub depth: usize,
    /// All reads over all time, as fio counts.
    pub mean_iops: f64,
    /// Median of ten parts of the run.
    pub iops: Reading,
    pub latency: Option<Latency>,
}

/// 1 MiB after 1 MiB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    pub threads: usize,
    pub bytes: u64,
    pub seconds: f64,
    /// GB/s (1e9).
    pub gbs: Reading,
}

/// Written through the page cache, as trainers do, and then made safe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    pub bytes: u64,
    pub write_s: f64,
    /// `fsync` of the file and of its folder, seconds.
    pub fsync_s: f64,
    /// Over both, GB/s (1e9).
    pub gbs: Reading,
}

/// Files opened, read and closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmallFiles {
    pub threads: usize,
    pub files: usize,
    pub bytes: u64,
    pub seconds: f64,
    pub per_second: Reading,
    /// Of open, read and close.
    pub latency: Option<Latency>,
    /// Files that could not be read.
    pub failed: usize,
    /// What was left out of the folder, and why.
    pub notes: Vec<String>,
}
