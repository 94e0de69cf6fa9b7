//! What GPUs give elsewhere, by model, and how much less than a promise is no breach of it.

use lessee_model::gpu::same_memory;
use lessee_model::{Form, GpuRef, Provenance};
use serde::Deserialize;
use std::str::FromStr;
use std::sync::Arc;

/// All that a report is held against, beside the offer.
#[derive(Clone, Debug)]
pub struct Yardstick {
    pub rules: Rules,
    pub table: Vec<Expectation>,
}

/// `data/probe-judge.toml`; shares of what was promised.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Memory of a GPU that error correction and the driver may keep.
    pub gpu_memory_kept: f64,
    /// From here on what they keep is told.
    pub gpu_memory_told: f64,
    /// Memory of the machine that firmware and kernel may keep.
    pub memory_kept: f64,
    pub disk_kept: f64,
    /// Words, in small letters, in the model of an NVMe device that is a volume on a network.
    pub remote_disks: Vec<String>,
    /// A change of a figure from report to report that is no news.
    pub diff_change: f64,
    /// A figure so many times that of the data sheet is none.
    pub over_data_sheet: f64,
}

impl Rules {
    /// # Errors
    /// What is wrong with the text.
    pub fn from_toml(text: &str) -> Result<Rules, String> {
        toml::from_str(text).map_err(|e| e.to_string())
    }
}

/// A figure that the table has expectations of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// Local memory, read and write together, GB/s.
    MemoryBandwidth,
    /// Dense matrix rate, TFLOP/s.
    Tensor,
    /// One direction from GPU to GPU, GB/s.
    Peer,
    /// Bus bandwidth over all GPUs of a machine, GB/s.
    AllReduce,
}

impl Metric {
    pub fn as_str(self) -> &'static str {
        match self {
            Metric::MemoryBandwidth => "memory_bandwidth",
            Metric::Tensor => "tensor",
            Metric::Peer => "peer",
            Metric::AllReduce => "all_reduce",
        }
    }

    pub fn unit(self) -> &'static str {
        match self {
            Metric::Tensor => "TFLOP/s",
            _ => "GB/s",
        }
    }
}

impl FromStr for Metric {
    type Err = ();
    fn from_str(text: &str) -> Result<Metric, ()> {
        use Metric::{AllReduce, MemoryBandwidth, Peer, Tensor};
        [MemoryBandwidth, Tensor, Peer, AllReduce]
            .into_iter()
            .find(|m| m.as_str() == text)
            .ok_or(())
    }
}

/// One row of `data/probe-expected.csv`.
#[derive(Clone, Debug)]
pub struct Expectation {
    pub gpu: Arc<str>,
    /// `None`: of any.
    pub form: Option<Form>,
    pub memory_gb: Option<f64>,
    pub metric: Metric,
    /// Of peers: `nvswitch`, or `nvlink`, whose figures are those of one link; of an all-reduce: GPUs and what joins them,
    /// `8 nvswitch`; else blank.
    pub conditions: Arc<str>,
    /// Below it something is wrong.
    pub floor: Option<f64>,
    pub low: Option<f64>,
    pub typical: Option<f64>,
    pub high: Option<f64>,
    pub why: Provenance,
}

impl Yardstick {
    /// The row of a GPU; of several the one that says most.
    pub(crate) fn row(
        &self,
        gpu: &GpuRef,
        metric: Metric,
        conditions: &str,
    ) -> Option<&Expectation> {
        let same = |row: &&Expectation| {
            let form = row.form.is_none_or(|f| Some(f) == gpu.form);
            let memory = row
                .memory_gb
                .is_none_or(|gb| gpu.memory_gb.is_some_and(|own| same_memory(gb, own)));
            row.metric == metric
                && *row.gpu == *gpu.model
                && &*row.conditions == conditions
                && form
                && memory
        };
        let said = |row: &&Expectation| (row.form.is_some(), row.memory_gb.is_some());
        self.table.iter().filter(same).max_by_key(said)
    }
}
