//! Links: how fast GPUs of one machine and machines of one cluster reduce gradients.
//!
//! NVLink and its kin: `formula::allreduce_nvlink`. PCIe is never predicted from the card, because the topology of
//! the host decides by more than a factor of ten: a central value with a range that reaches down to nearly
//! unusable (`formula::allreduce_pcie`). Between machines: the network of the whole machine times a share.

use crate::PerfContext;
use crate::formula::{allreduce_nvlink::Start, allreduce_pcie};
use crate::spec::Device;
use lessee_model::{Basis, Interconnect, Machine};

/// What carries an all-reduce inside a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BusKind {
    /// One GPU.
    Alone,
    /// NVLink, NVSwitch, Infinity Fabric.
    Link,
    Pcie,
    /// The probe ran an all-reduce.
    Measured,
}

/// All-reduce inside one machine. Bus bandwidths of long messages in byte/s.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bus {
    pub(crate) kind: BusKind,
    pub(crate) low: f64,
    pub(crate) mid: f64,
    pub(crate) high: f64,
    start: Start,
}

impl Bus {
    /// Seconds to all-reduce `bytes` over `n` GPUs at bus bandwidth `bus` (byte/s).
    pub(crate) fn all_reduce(&self, bytes: f64, n: f64, bus: f64) -> f64 {
        self.start.seconds(bytes, n, bus)
    }

    /// Where its figures come from.
    pub(crate) fn source<'a>(&self, cx: PerfContext<'a>) -> (&'a str, Basis) {
        let of = |family| {
            cx.tables
                .calibration
                .fit(family)
                .map_or("", |fit| fit.source.as_str())
        };
        match self.kind {
            BusKind::Measured => ("probe", Basis::Measured),
            BusKind::Pcie => (of("allreduce_pcie"), Basis::Assumed),
            BusKind::Link | BusKind::Alone => (of("allreduce_nvlink"), Basis::Modelled),
        }
    }
}

/// The bus over `n` GPUs of a machine.
pub(crate) fn bus(machine: &Machine, device: &Device<'_>, n: u32, cx: PerfContext<'_>) -> Bus {
    if n <= 1 {
        return Bus {
            kind: BusKind::Alone,
            low: f64::MAX,
            mid: f64::MAX,
            high: f64::MAX,
            start: Start::default(),
        };
    }
    let c = &cx.tables.calibration.allreduce_nvlink.coefficients;
    let start = c.start(&device.spec.arch);
    let positive = |x: f64| (x.is_finite() && x > 0.0).then_some(x);
    let fixed = |kind, bus: f64| Bus {
        kind,
        low: bus,
        mid: bus,
        high: bus,
        start,
    };
    let all_reduce = cx
        .measured
        .and_then(|report| report.all_reduce_bus_gbs.as_ref()?.measured());
    if let Some(gbs) = all_reduce {
        return fixed(BusKind::Measured, gbs * 1e9);
    }
    let of_machine = machine.link_gbs.map(f64::from).and_then(positive);
    let of_card = device.spec.link_total_bidir_gbs.and_then(positive);
    let wired = match machine.interconnect {
        _ if device.fraction < 0.999 => false,
        Some(Interconnect::None | Interconnect::Pcie) => false,
        // beyond a pair the traffic crosses PCIe
        Some(Interconnect::NvlinkBridge) => n == 2,
        Some(
            Interconnect::Nvlink
            | Interconnect::Xgmi
            | Interconnect::Nvswitch
            | Interconnect::Nvl72,
        ) => true,
        // not said: mezzanine modules are wired on their board, cards are not
        None => matches!(
            device.spec.form,
            lessee_model::Form::Sxm | lessee_model::Form::Oam | lessee_model::Form::Superchip
        ),
    };
    let mut wire = of_machine.or(of_card).filter(|_| wired);
    if let (Some(gbs), Some(report)) = (wire, cx.measured) {
        // a measured pair bounds what the label of the link promises
        let pair = report.links.iter().filter_map(|l| l.gbs.measured());
        wire = Some(
            pair.min_by(f64::total_cmp)
                .map_or(gbs, |m| gbs.min(2.0 * m)),
        );
    }
    let n = f64::from(n);
    if let Some(total) = wire {
        // labels sum both directions; an all-reduce uses one
        return fixed(BusKind::Link, c.bus(total / 2.0 * 1e9, n));
    }
    let of_slot = match machine.interconnect {
        Some(Interconnect::Pcie) => of_machine.map(|gbs| gbs / 2.0 * 1e9),
        _ => None,
    };
    let slot = of_slot.unwrap_or_else(|| {
        let assumed = &cx.tables.coefficients.allreduce.pcie;
        let generation = device.spec.pcie_gen.unwrap_or(assumed.generation);
        let lanes = device.spec.pcie_lanes.unwrap_or(assumed.lanes);
        cx.tables
            .calibration
            .host_copy
            .coefficients
            .one_way(generation, lanes)
    });
    let bus = allreduce_pcie::bus(&cx.tables.calibration, slot, n);
    Bus {
        kind: BusKind::Pcie,
        low: bus.low,
        mid: bus.mid,
        high: bus.high,
        start,
    }
}

/// Network of one machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Net {
    /// Byte/s that a collective reaches, all GPUs of the machine together.
    pub(crate) collective: f64,
    /// Nominal byte/s towards storage.
    pub(crate) nominal: f64,
    pub(crate) assumed: bool,
    base_s: f64,
}

impl Net {
    /// Seconds for `nodes` machines to all-reduce `bytes` once the GPUs inside each have reduced.
    pub(crate) fn all_reduce(&self, bytes: f64, nodes: f64) -> f64 {
        if nodes <= 1.0 || bytes <= 0.0 {
            return 0.0;
        }
        self.base_s * nodes + 2.0 * (nodes - 1.0) / nodes * bytes / self.collective
    }
}

/// The network of `machine`; where it is not known, the assumed rate of the coefficients.
pub(crate) fn net(machine: &Machine, cx: PerfContext<'_>) -> Net {
    let c = &cx.tables.coefficients.allreduce.node_to_node;
    let stated = machine
        .network_gbps
        .map(f64::from)
        .filter(|x| x.is_finite() && *x > 0.0);
    let gbps = stated.unwrap_or(c.assumed_gbps);
    let fabric = machine.rdma.as_deref().and_then(fabric_gbps).unwrap_or(0.0);
    let eff = if machine.rdma.is_some() {
        c.eff_rdma
    } else {
        c.eff_tcp
    };
    Net {
        collective: gbps.max(fabric) * eff * 1e9 / 8.0,
        nominal: gbps * 1e9 / 8.0,
        assumed: stated.is_none() && fabric == 0.0,
        base_s: c.base_us * 1e-6,
    }
}

/// Gbit/s of `8x InfiniBand HDR 200`: count times the first number after it. The network figure of
/// such machines is that of their Ethernet port alone.
fn fabric_gbps(text: &str) -> Option<f64> {
    let (count, rest) = text.split_once("x ")?;
    let count: f64 = count.trim().parse().ok().filter(|n| *n <= 64.0)?;
    let each = rest
        .split_whitespace()
        .find_map(|word| word.parse::<f64>().ok())
        .filter(|g| *g > 0.0 && *g <= 3200.0)?;
    Some(count * each)
}

#[cfg(test)]
mod tests {
    use super::fabric_gbps;

    #[test]
    fn a_fabric_is_read_only_where_count_and_rate_are_written() {
        assert_eq!(
            fabric_gbps("8x InfiniBand HDR 200 (GPUDirect)"),
            Some(1600.0)
        );
        assert_eq!(fabric_gbps("4x InfiniBand NDR 400"), Some(1600.0));
        for text in [
            "EFA",
            "EFA 400 (4x100), GPUDirect RDMA",
            "InfiniBand FDR",
            "nanx InfiniBand 5",
        ] {
            assert_eq!(fabric_gbps(text), None, "{text}");
        }
    }
}
