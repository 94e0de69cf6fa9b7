//! What joins the GPUs of a probed machine, in a word and in figures, and the machine that a probe describes.

use crate::nofit::NoFit;
use lessee_model::offer::AcceleratorClass;
use lessee_model::{Confidence, GpuTable, Interconnect, Machine, Msg, ProbeReport};

/// The whole of the links.
#[derive(Clone, Debug, PartialEq)]
pub struct Wiring {
    pub gpus: usize,
    /// `None`: not said of all pairs.
    pub kind: Option<Interconnect>,
    /// Slowest and fastest measured pair, GB/s in one direction.
    pub pair_gbs: Option<(f64, f64)>,
    /// Measured bus bandwidth of an all-reduce, GB/s.
    pub all_reduce_bus_gbs: Option<f64>,
}

/// Reads the links of a report.
pub fn wiring(report: &ProbeReport) -> Wiring {
    let n = report.gpus.len();
    let pairs = report.links.len();
    let all = |kind: &str| pairs > 0 && report.links.iter().all(|l| l.kind == kind);
    let any = |kind: &str| report.links.iter().any(|l| l.kind == kind);
    let kind = match n {
        0 => None,
        1 => Some(Interconnect::None),
        // a pair that is not listed, or of which nobody says how it is joined, may be anything
        _ if pairs < n * (n - 1) / 2 || any("unknown") => None,
        _ if all("nvswitch") => Some(Interconnect::Nvswitch),
        _ if all("nvlink") => Some(Interconnect::Nvlink),
        _ if all("xgmi") => Some(Interconnect::Xgmi),
        _ if all("pcie") => Some(Interconnect::Pcie),
        _ if any("nvlink") || any("nvswitch") => Some(Interconnect::NvlinkBridge),
        _ => None,
    };
    let measured = || report.links.iter().filter_map(|l| l.gbs.measured());
    let slowest = measured().reduce(f64::min);
    Wiring {
        gpus: n,
        kind,
        pair_gbs: slowest.zip(measured().reduce(f64::max)),
        all_reduce_bus_gbs: report
            .all_reduce_bus_gbs
            .as_ref()
            .and_then(|r| r.measured()),
    }
}

impl Wiring {
    /// The verdict for people, with what was measured.
    pub fn msg(&self) -> Msg {
        let id = match self.kind {
            Some(Interconnect::None) => return Msg::new("perf-wiring-single"),
            Some(Interconnect::Nvswitch | Interconnect::Nvl72) => "perf-wiring-nvswitch",
            Some(Interconnect::Nvlink | Interconnect::Xgmi) => "perf-wiring-mesh",
            Some(Interconnect::NvlinkBridge) => "perf-wiring-pairs",
            Some(Interconnect::Pcie) => "perf-wiring-pcie",
            None => "perf-wiring-unknown",
        };
        let pairs = match self.pair_gbs {
            Some((low, high)) if high - low > 0.5 => format!("{low:.0} – {high:.0}"),
            Some((low, _)) => format!("{low:.0}"),
            None => "?".to_owned(),
        };
        let sum = self.all_reduce_bus_gbs;
        Msg::new(id)
            .arg("gpus", self.gpus)
            .arg("pairs", pairs)
            .arg("sum", sum.map_or("?".to_owned(), |s| format!("{s:.0}")))
    }
}

/// The machine that a report describes, for formulas: its GPUs by the name of the first, and what joins them. What the
/// report does not say is not known.
///
/// # Errors
/// `no_spec`: no GPU in the report, or one that is not in the table.
pub fn measured_machine(report: &ProbeReport, gpus: &GpuTable) -> Result<Machine, NoFit> {
    let name = report.gpus.first().map_or("", |g| g.name.as_str());
    let gpu = gpus.resolve(name).ok_or_else(|| {
        NoFit::new(
            "no_spec",
            Msg::new("perf-no-spec").arg("gpu", name.to_owned()),
        )
    })?;
    let host = report.host.as_ref();
    let value = |r: &Option<lessee_model::probe::Reading>| match r {
        Some(
            lessee_model::probe::Reading::Measured { value, .. }
            | lessee_model::probe::Reading::Claimed { value },
        ) => Some(*value as f32),
        _ => None,
    };
    Ok(Machine {
        class: AcceleratorClass::Gpu,
        gpu,
        gpu_count: u16::try_from(report.gpus.len()).unwrap_or(u16::MAX),
        gpu_fraction: 1.0,
        usable_mib_each: None,
        vcpus: host.and_then(|h| value(&h.cores)),
        memory_gib: host.and_then(|h| value(&h.memory_gib)),
        local_disk_gb: None,
        network_gbps: None,
        interconnect: wiring(report).kind,
        link_gbs: None,
        rdma: None,
        arch: None,
        gpu_access: None,
        status: "current".into(),
        confidence: Confidence::Verified,
        host_confidence: Confidence::Verified,
    })
}
