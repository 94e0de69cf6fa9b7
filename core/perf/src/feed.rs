//! What keeps GPUs waiting: CPU cores that decode, storage that answers, a network that is too thin.
//!
//! cpu: vcpus / core-seconds per unit; object storage: the smaller of network x share / bytes per unit
//! and GET rate / files per unit, with GET rate = in flight per vCPU x vCPUs / latency up to the
//! provider's limit; disks: bandwidth and file rate. Constants: `[feed]` of `data/perf.toml`. A probe's
//! feed rate (the user's own samples through read, decode and batch) replaces all of it.

use crate::PerfContext;
use crate::spec::GIB;
use crate::sync::Net;
use lessee_model::{
    BoundBy, Machine,
    workload::{Data, DataStorage},
};

/// What one unit of work reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Appetite {
    pub(crate) cpu_seconds: f64,
    pub(crate) bytes: f64,
    pub(crate) files: f64,
}

impl Appetite {
    /// Spreads `reads` passes over the data set evenly over `units` of work. What lies on a disk of the
    /// machine and fits the page cache is read from the disk only once.
    pub(crate) fn new(
        data: &Data,
        reads: f64,
        units: f64,
        cpu_seconds: f64,
        machine: &Machine,
        cx: PerfContext<'_>,
    ) -> Appetite {
        let cache = machine.memory_gib.map_or(0.0, f64::from)
            * GIB
            * cx.tables.coefficients.feed.page_cache_share;
        let cached = data.storage != DataStorage::Object && data.size.0 <= cache;
        let passes = if cached { reads.min(1.0) } else { reads };
        let per_unit = |total: f64| {
            let x = total * passes / units;
            if x.is_finite() && x > 0.0 { x } else { 0.0 }
        };
        Appetite {
            cpu_seconds,
            bytes: per_unit(data.size.0),
            files: per_unit(data.files),
        }
    }
}

/// A ceiling on units per second of one machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ceiling {
    pub(crate) rate: f64,
    pub(crate) by: BoundBy,
    pub(crate) measured: bool,
}

/// The lowest ceiling, infinite where nothing limits.
pub(crate) fn ceiling(
    machine: &Machine,
    net: Net,
    what: Appetite,
    storage: DataStorage,
    cx: PerfContext<'_>,
    measured_counts: bool,
) -> Ceiling {
    let c = &cx.tables.coefficients.feed;
    let probed = cx
        .measured
        .filter(|_| measured_counts)
        .and_then(|report| report.feed.as_ref());
    if let Some(feed) = probed
        && let Some(rate) = feed.samples_per_second.measured()
    {
        let by = match feed.limited_by.as_deref() {
            Some("disk") => BoundBy::StorageFeed,
            _ => BoundBy::CpuFeed,
        };
        return Ceiling {
            rate,
            by,
            measured: true,
        };
    }
    let vcpus = machine
        .vcpus
        .map(f64::from)
        .filter(|v| v.is_finite() && *v > 0.0);
    let per = |supply: f64, each: f64| {
        if each > 0.0 {
            supply / each
        } else {
            f64::INFINITY
        }
    };
    let cpu = vcpus.map_or(f64::INFINITY, |v| per(v, what.cpu_seconds));
    let (bandwidth, files, thin) = match storage {
        DataStorage::Object => {
            let gets = vcpus.map_or(f64::INFINITY, |v| {
                v * c.object_gets_in_flight_per_vcpu / c.object_get_latency_s
            });
            (
                net.nominal * c.network_share,
                gets.min(c.object_gets_per_second_limit),
                BoundBy::Network,
            )
        }
        DataStorage::Block => (
            c.block_gbs * 1e9,
            c.disk_files_per_second,
            BoundBy::StorageFeed,
        ),
        DataStorage::Local => (
            c.local_gbs * 1e9,
            c.disk_files_per_second,
            BoundBy::StorageFeed,
        ),
    };
    let mut lowest = Ceiling {
        rate: cpu,
        by: BoundBy::CpuFeed,
        measured: false,
    };
    for (rate, by) in [
        (per(files, what.files), BoundBy::StorageFeed),
        (per(bandwidth, what.bytes), thin),
    ] {
        if rate < lowest.rate {
            lowest = Ceiling {
                rate,
                by,
                measured: false,
            };
        }
    }
    lowest
}
