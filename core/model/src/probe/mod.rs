//! `ProbeReport`, `lessee/probe/v1`: what was measured on a rented machine. Filled by the probe; read by
//! `plan --measured` and later by `accept`. Every figure states whether it was measured, only claimed by
//! the machine, unknown, or failed.
//!
//! Fields that older reports lack are optional. Start at [`ProbeReport`], then [`Reading`].

mod disk;
mod fabric;
mod feed;
mod gpu;
mod host;
mod judged;
mod load;
mod reading;
mod readings;
mod run;
mod wiring;

pub use disk::{Checkpoint, DiskReading, Latency, RandomRead, SmallFiles, Stream};
pub use fabric::{Fabric, Port};
pub use feed::{
    CacheCheck, CurvePoint, Damaged, DamagedSample, FeedGpu, FeedPass, FeedReading, FeedSettings,
    ParquetColumn, SampleSet, Stages, Stall, StepTime,
};
pub use gpu::{
    DriverReading, GpuReading, GpuStated, LinkReading, LinkWay, NvLink, RemappedRows, UnderLoad,
    Verified,
};
pub use host::{
    BlockDevice, BoxReading, Claims, CpuQuota, Grant, HostReading, NetReading, RoundTrips,
    S3Reading, SshTrip, StreamBandwidth,
};
pub use judged::{ExpectedRow, Judged, Kept, Promised, PromisedRow, Usual};
pub use load::{AllReduceReading, GpuTensor, Moment, Sustained, TensorLoad};
pub use reading::{Fact, Reading, reason_parts};
pub use readings::Named;
pub use run::{ProbeFinding, ProbeRun, Severity, StepRecord, StepStatus, Verdict};
pub use wiring::{ModelReading, StepShare, WiringReading};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbeReport {
    /// `lessee/probe/v1`
    pub schema: String,
    /// RFC 3339, UTC.
    pub measured_at: String,
    /// `provider/instance_type@region` or a name that the user gave; which offers this speaks for.
    #[serde(default)]
    pub offer: Option<String>,
    #[serde(default)]
    pub gpus: Vec<GpuReading>,
    #[serde(default)]
    pub links: Vec<LinkReading>,
    /// Bus bandwidth of an all-reduce over all GPUs, GB/s.
    #[serde(default)]
    pub all_reduce_bus_gbs: Option<Reading>,
    /// How it was measured.
    #[serde(default)]
    pub all_reduce: Option<AllReduceReading>,
    /// The load behind the GPUs' matrix rates.
    #[serde(default)]
    pub tensor: Option<TensorLoad>,
    /// Ports towards other machines.
    #[serde(default)]
    pub fabric: Option<Fabric>,
    #[serde(default)]
    pub wiring: Option<WiringReading>,
    /// Of the model that was named.
    #[serde(default)]
    pub model: Option<ModelReading>,
    #[serde(default)]
    pub feed: Option<FeedReading>,
    #[serde(default)]
    pub disk: Option<DiskReading>,
    #[serde(default)]
    pub host: Option<HostReading>,
    /// The way to the machine.
    #[serde(default)]
    pub net: Option<NetReading>,
    #[serde(default)]
    pub driver: Option<DriverReading>,
    /// The system around the GPUs, as it states itself.
    #[serde(default)]
    pub machine: Option<BoxReading>,
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// Worst first.
    #[serde(default)]
    pub findings: Vec<ProbeFinding>,
    /// Against an offer, and against what is usual.
    #[serde(default)]
    pub judged: Option<Judged>,
    #[serde(default)]
    pub run: Option<ProbeRun>,
}

impl ProbeReport {
    pub const SCHEMA: &str = "lessee/probe/v1";

    /// A report of which nothing is known yet.
    pub fn empty(measured_at: String) -> ProbeReport {
        ProbeReport {
            schema: ProbeReport::SCHEMA.to_owned(),
            measured_at,
            offer: None,
            gpus: Vec::new(),
            links: Vec::new(),
            all_reduce_bus_gbs: None,
            all_reduce: None,
            tensor: None,
            fabric: None,
            wiring: None,
            model: None,
            feed: None,
            disk: None,
            host: None,
            net: None,
            driver: None,
            machine: None,
            verdict: None,
            findings: Vec::new(),
            judged: None,
            run: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_reads_and_only_measured_values_count() {
        let text = include_str!("../../../../examples/probe-8xh100.json");
        let report: ProbeReport = serde_json::from_str(text).expect("the committed example");
        assert_eq!(report.gpus.len(), 8);
        let bandwidth = |i: usize| {
            report.gpus[i]
                .memory_bandwidth_gbs
                .as_ref()
                .and_then(Reading::measured)
        };
        assert_eq!(bandwidth(0), Some(2980.0));
        assert_eq!(bandwidth(5), None, "unknown is not a value");
        assert_eq!(
            report.links[1].gbs.measured(),
            None,
            "claimed is not measured"
        );
    }

    #[test]
    fn unknown_fields_are_refused() {
        let text = r#"{"schema":"lessee/probe/v1","measured_at":"2026-11-20T08:15:00Z","gpuz":[]}"#;
        assert!(serde_json::from_str::<ProbeReport>(text).is_err());
    }
}
