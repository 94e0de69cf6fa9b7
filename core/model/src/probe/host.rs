//! The box around the GPUs: cores, memory, what a hypervisor or a container leaves of them, and the way to it.

use super::{Fact, Reading};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the system says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoxReading {
    /// What shows that this is a container; empty where nothing does.
    pub container_signs: Vec<String>,
    /// What shows that this is a virtual machine.
    pub vm_signs: Vec<String>,
    /// Logical processors that the kernel shows.
    pub cpus_shown: Fact<u32>,
    pub cpu_quota: Fact<CpuQuota>,
    pub memory_total_mib: Fact<u64>,
    /// Size of `/dev/shm`, MiB.
    pub shm_mib: Fact<u64>,
    /// Without it earlier errors of GPUs cannot be seen.
    pub kernel_log_visible: bool,
    /// How the GPUs are joined: `single`, `nvswitch`, `nvlink_mesh`, `nvlink_pairs`, `pcie`, `unknown`.
    pub interconnect: String,
    /// Disks that the kernel shows, of any kind; none: it shows none.
    #[serde(default)]
    pub block_devices: Vec<BlockDevice>,
}

/// A disk as the kernel names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockDevice {
    /// `nvme0n1`, `vda`
    pub name: String,
    pub bytes: u64,
    /// As its maker names it; clouds tell their own disks from volumes by it.
    pub model: Option<String>,
}

/// How much processor time the cgroup grants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CpuQuota {
    Unlimited,
    Cores { cores: f64 },
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostReading {
    /// Cores that may really be used (cgroup quota).
    pub cores: Option<Reading>,
    pub memory_gib: Option<Reading>,
    /// STREAM triad, GB/s.
    pub stream_gbs: Option<Reading>,
    /// Clock under load, GHz: median over all threads, which run at once.
    #[serde(default)]
    pub ghz: Option<Reading>,
    /// Median of each thread, GHz.
    #[serde(default)]
    pub ghz_by_thread: Vec<f64>,
    /// Share of all processor time that the hypervisor gave to others while this ran, 0 to 1.
    #[serde(default)]
    pub steal: Option<Reading>,
    #[serde(default)]
    pub grant: Option<Grant>,
    #[serde(default)]
    pub claimed: Option<Claims>,
    /// By all threads.
    #[serde(default)]
    pub stream: Option<StreamBandwidth>,
    #[serde(default)]
    pub stream_one_thread: Option<StreamBandwidth>,
}

/// Processors that are there, against those that may be used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// Processors that the system shows.
    pub seen: Option<usize>,
    /// Those that this process may run on.
    pub affinity: Option<usize>,
    /// Processors' worth of time that the cgroups grant; none: no limit was found.
    pub quota: Option<f64>,
    /// Which file says so.
    pub quota_from: Option<String>,
    /// The least of all.
    pub granted: Option<f64>,
}

/// What the machine says of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    pub model: Option<String>,
    pub mhz: Option<f64>,
    pub sockets: Option<usize>,
    pub last_level_cache_bytes: Option<u64>,
    /// The processor says that it is virtual: the other claims are the hypervisor's.
    pub virtual_machine: bool,
}

/// STREAM's four loops; bytes are counted as STREAM does: what a store reads first is not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamBandwidth {
    pub threads: usize,
    /// Bytes of each of the three arrays.
    pub array_bytes: u64,
    /// Times the last level of cache, as the machine claims it.
    pub over_cache: Option<f64>,
    /// GB/s (1e9), medians of the runs.
    pub copy_gbs: Reading,
    pub scale_gbs: Reading,
    pub add_gbs: Reading,
    pub triad_gbs: Reading,
    /// The results were checked; false is a machine that computes wrongly.
    pub verified: bool,
}

/// The way to the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetReading {
    /// To the host that was named; none: none was.
    pub host: Option<RoundTrips>,
    /// Of the SSH connection in which the probe ran.
    pub ssh: Option<SshTrip>,
    /// To the bucket that was named; none: none was.
    #[serde(default)]
    pub s3: Option<S3Reading>,
}

/// Throughput to a bucket: random bytes that were deleted afterwards. MB/s (1e6 bytes); samples are single transfers, each
/// on the stream that it had.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct S3Reading {
    /// `https://s3.eu-central-1.amazonaws.com`
    pub endpoint: String,
    pub bucket: String,
    pub region: String,
    /// Transfers side by side where there are several.
    pub streams: usize,
    /// One object after the other, each by one request.
    pub put_mbs: Reading,
    /// Parts of one object, all streams together.
    pub put_parallel_mbs: Reading,
    pub get_mbs: Reading,
    pub get_parallel_mbs: Reading,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    /// Objects that could not be deleted.
    pub left_behind: Vec<String>,
}

/// TCP connections that were opened and closed at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundTrips {
    /// `HOST:PORT` as it was named.
    pub target: String,
    pub address: String,
    pub attempts: usize,
    pub failures: usize,
    /// What the failures were, and how many of each.
    pub reasons: BTreeMap<String, usize>,
    /// Median with all round trips, milliseconds.
    pub rtt_ms: Reading,
    pub min_ms: Option<f64>,
    pub p95_ms: Option<f64>,
    pub max_ms: Option<f64>,
    /// Mean difference of one round trip to the next, milliseconds.
    pub jitter_ms: Option<f64>,
}

/// The SSH connection's own round trip, as the kernel keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SshTrip {
    /// Smoothed, milliseconds.
    pub rtt_ms: Reading,
    /// Its mean deviation, milliseconds.
    pub deviation_ms: Reading,
    /// The connection ends at a private or local address: there is a proxy in the path, and this is the way to it only.
    pub proxy: bool,
}
