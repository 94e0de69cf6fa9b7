//! What joins two GPUs, and what the whole of it amounts to.

use super::Gpu;
use crate::gpu::Seen;
use crate::gpu::sys::nvml::Nvml;
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct Pair {
    pub a: u32,
    pub b: u32,
    /// Active NVLinks from one to the other; behind switches those of the GPU that has fewer.
    pub nvlinks: Seen<u32>,
    /// `nvswitch`, `nvlink` or `pcie`
    pub by: &'static str,
    /// What they share on the way over PCIe: `board`, `switch`, `switches`, `bridge`, `node`, `system`.
    pub ancestor: Seen<&'static str>,
    /// Peer access as the driver states it: `ok`, `chipset_not_supported`, `disabled_by_regkey`, ...
    pub read: Seen<&'static str>,
    pub write: Seen<&'static str>,
}

/// The whole of the pairs, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Interconnect {
    /// One GPU.
    Single,
    /// Every GPU reaches every other one through NVSwitches.
    Nvswitch,
    /// Every GPU has links of its own to every other one.
    NvlinkMesh,
    /// Some pairs have NVLink, the others do not.
    NvlinkPairs,
    /// No NVLink between any.
    Pcie,
    Unknown,
}

impl Interconnect {
    pub fn as_str(self) -> &'static str {
        match self {
            Interconnect::Single => "single",
            Interconnect::Nvswitch => "nvswitch",
            Interconnect::NvlinkMesh => "nvlink_mesh",
            Interconnect::NvlinkPairs => "nvlink_pairs",
            Interconnect::Pcie => "pcie",
            Interconnect::Unknown => "unknown",
        }
    }
}

pub(super) fn pairs(nvml: &Nvml, gpus: &[Gpu]) -> Vec<Pair> {
    let handles: Vec<_> = gpus.iter().map(|g| nvml.device(g.index)).collect();
    let mut all = Vec::new();
    for (i, a) in gpus.iter().enumerate() {
        for (j, b) in gpus.iter().enumerate().skip(i + 1) {
            let both = || -> Result<_, crate::gpu::GpuError> {
                Ok((handles[i].clone()?, handles[j].clone()?))
            };
            let status = |by| Seen::from_driver(both().and_then(|(a, b)| nvml.p2p(a, b, by)));
            let level = both().and_then(|(a, b)| nvml.common_ancestor(a, b));
            let (by, nvlinks) = nvlinks(a, b, gpus);
            all.push(Pair {
                a: a.index,
                b: b.index,
                nvlinks,
                by,
                ancestor: Seen::from_driver(level).map(ancestor),
                read: status(0).map(access),
                write: status(1).map(access),
            });
        }
    }
    all
}

/// PCI addresses as NVML, CUDA and the kernel write them differ in the length of the domain and in case.
pub(crate) fn same_address(a: &str, b: &str) -> bool {
    let tail = |s: &str| {
        let s = s.to_ascii_lowercase();
        s.rfind(':')
            .and_then(|last| s[..last].rfind(':'))
            .map(|first| {
                (
                    s[..first].trim_start_matches('0').to_owned(),
                    s[first..].to_owned(),
                )
            })
    };
    tail(a).is_some() && tail(a) == tail(b)
}

/// How many NVLinks lead from one to the other, by the addresses and kinds of what is at their ends.
fn nvlinks(a: &Gpu, b: &Gpu, gpus: &[Gpu]) -> (&'static str, Seen<u32>) {
    let (Some(of_a), Some(of_b)) = (a.nvlinks.value(), b.nvlinks.value()) else {
        let why = a.nvlinks.reason().or(b.nvlinks.reason()).cloned();
        return match why {
            // the card has no NVLink at all: that is an answer
            Some(reason) if reason.code == "not_supported" => ("pcie", Seen::Claimed { value: 0 }),
            Some(reason) => ("unknown", Seen::Unknown { reason }),
            None => ("unknown", Seen::unknown("internal", "")),
        };
    };
    let count = |links: &[super::NvLink], test: &dyn Fn(&super::NvLink) -> bool| {
        let active = links.iter().filter(|l| l.active.get() == Some(true));
        active.filter(|l| test(l)).count() as u32
    };
    let other = b.pci_address.value().cloned().unwrap_or_default();
    let direct = count(of_a, &|l| {
        let remote = l.remote_address.value();
        remote.is_some_and(|remote| same_address(remote, &other))
    });
    if direct > 0 {
        return ("nvlink", Seen::Claimed { value: direct });
    }
    // an active link with nobody known at its end may lead anywhere, so that "none" would be a guess
    let to_nobody = |l: &super::NvLink| {
        let to_gpu = |remote: &String| {
            let mut addresses = gpus.iter().filter_map(|g| g.pci_address.value());
            addresses.any(|a| same_address(a, remote))
        };
        let kind_unknown = matches!(l.remote.get(), None | Some("unknown"));
        kind_unknown && !l.remote_address.value().is_some_and(to_gpu)
    };
    let to_switch = |l: &super::NvLink| l.remote.get() == Some("switch");
    let through = count(of_a, &to_switch).min(count(of_b, &to_switch));
    match through {
        0 if count(of_a, &to_nobody) > 0 => ("unknown", Seen::unknown("end_not_shown", "")),
        0 => ("pcie", Seen::Claimed { value: 0 }),
        n => ("nvswitch", Seen::Claimed { value: n }),
    }
}

fn ancestor(level: u32) -> &'static str {
    match level {
        0 => "board",
        10 => "switch",
        20 => "switches",
        30 => "bridge",
        40 => "node",
        50 => "system",
        _ => "unknown",
    }
}

fn access(status: u32) -> &'static str {
    match status {
        0 => "ok",
        1 => "chipset_not_supported",
        2 => "gpu_not_supported",
        3 => "topology_not_supported",
        4 => "disabled_by_regkey",
        5 => "not_supported",
        _ => "unknown",
    }
}

pub(super) fn interconnect(gpus: &[Gpu], pairs: &[Pair]) -> Interconnect {
    match gpus.len() {
        0 => return Interconnect::Unknown,
        1 => return Interconnect::Single,
        _ => {}
    }
    let all = |by: &str| pairs.iter().all(|p| p.by == by);
    let any = |by: &str| pairs.iter().any(|p| p.by == by);
    match () {
        () if all("nvswitch") => Interconnect::Nvswitch,
        () if all("nvlink") => Interconnect::NvlinkMesh,
        () if any("unknown") => Interconnect::Unknown,
        () if any("nvlink") || any("nvswitch") => Interconnect::NvlinkPairs,
        () => Interconnect::Pcie,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_compared_whatever_their_spelling() {
        assert!(same_address("00000000:1B:00.0", "0000:1b:00.0"));
        assert!(!same_address("00000000:1B:00.0", "0000:1c:00.0"));
        assert!(!same_address("00000001:1B:00.0", "0000:1b:00.0"));
        assert!(!same_address("", ""));
    }
}
