//! Into `lessee/probe/v1`: the GPUs and links of a look, and what was proved of them.
//!
//! One more figure of a GPU is one more line in [`proved`]; of a pair, in [`link`]. Not here: findings.

use super::{GpuProof, PairProof, Proof, Rate, UnderLoad};
use crate::gpu::Seen;
use crate::gpu::look::{self, KernelLog, Look, Pair};
use lessee_model::ProbeReport;
use lessee_model::probe::{
    self, BoxReading, DriverReading, Fact, GpuReading, GpuStated, LinkReading, LinkWay, Reading,
};

/// Adds them to a report. GPUs that nothing was proved of are there with the reason, and so are those that CUDA has and
/// NVML does not show.
pub fn into_report(report: &mut ProbeReport, look: &Look, proof: Option<&Proof>) {
    report.driver = Some(driver(&look.driver, proof));
    report.machine = Some(machine(look));
    for gpu in &look.gpus {
        let found = proof.and_then(|p| p.gpus.iter().find(|g| g.index == Some(gpu.index)));
        let memory = gpu.memory_total_mib.get();
        let mut reading = GpuReading::new(gpu.index, gpu.name.value().cloned().unwrap_or_default());
        reading.memory_total_mib = memory.and_then(|mib| u32::try_from(mib).ok());
        reading.stated = Some(stated(gpu));
        if let Some(found) = found {
            proved(&mut reading, found);
        }
        report.gpus.push(reading);
    }
    let alone = proof.map(|p| p.gpus.iter()).into_iter().flatten();
    for gpu in alone.filter(|g| g.index.is_none()) {
        let name = gpu.name.value().cloned().unwrap_or_default();
        let mut reading = GpuReading::new(gpu.cuda_index, name);
        let memory = gpu.memory_total_mib.get();
        reading.memory_total_mib = memory.and_then(|mib| u32::try_from(mib).ok());
        proved(&mut reading, gpu);
        report.gpus.push(reading);
    }
    links(report, look, proof);
}

fn proved(reading: &mut GpuReading, gpu: &GpuProof) {
    reading.cuda_index = Some(gpu.cuda_index);
    reading.kernel = Some(gpu.kernel.clone().fact());
    reading.memory_bandwidth_gbs = Some(rate(&gpu.memory));
    reading.host_to_device_gbs = Some(rate(&gpu.to_device));
    reading.device_to_host_gbs = Some(rate(&gpu.to_host));
    reading.under_load = Some(under_load(&gpu.under_load));
}

fn under_load(load: &UnderLoad) -> probe::UnderLoad {
    let words = |set: std::collections::BTreeSet<&'static str>| set.into_iter().map(str::to_owned);
    probe::UnderLoad {
        pcie_generation: load.generation.clone().fact(),
        pcie_width: load.width.clone().fact(),
        clock_reasons: load
            .clock_reasons
            .clone()
            .map(|r| words(r).collect())
            .fact(),
        power_w: load.power_w.clone().fact(),
        temperature_c: load.temperature_c.clone().fact(),
        readings: load.readings,
    }
}

fn links(report: &mut ProbeReport, look: &Look, proof: Option<&Proof>) {
    let tried: Vec<&PairProof> = proof.map(|p| p.pairs.iter().collect()).unwrap_or_default();
    let ends = |way: &PairProof| (way.from.min(way.to), way.from.max(way.to));
    for pair in &look.pairs {
        let ways: Vec<&PairProof> = tried
            .iter()
            .copied()
            .filter(|w| ends(w) == (pair.a, pair.b))
            .collect();
        report.links.push(link((pair.a, pair.b), Some(pair), &ways));
    }
    // pairs that only CUDA knows
    for way in &tried {
        let (a, b) = ends(way);
        if !report.links.iter().any(|l| (l.a, l.b) == (a, b)) {
            let ways: Vec<&PairProof> = tried
                .iter()
                .copied()
                .filter(|w| ends(w) == (a, b))
                .collect();
            report.links.push(link((a, b), None, &ways));
        }
    }
}

fn link((a, b): (u32, u32), pair: Option<&Pair>, ways: &[&PairProof]) -> LinkReading {
    // the slower direction is what a ring of all GPUs waits for
    let slower = ways.iter().map(|w| rate(&w.rate)).reduce(worse);
    let gbs = slower.unwrap_or(Reading::Unknown {
        reason: "not_tried".to_owned(),
    });
    let kind = pair.map_or("unknown", |p| p.by);
    let mut link = LinkReading::new(a, b, kind.to_owned(), gbs);
    if let Some(pair) = pair {
        link.nvlinks = Some(pair.nvlinks.clone().fact());
        link.ancestor = Some(word(&pair.ancestor));
        link.peer_read = Some(word(&pair.read));
        link.peer_write = Some(word(&pair.write));
    }
    let way = |w: &&PairProof| LinkWay {
        from: w.from,
        to: w.to,
        gbs: rate(&w.rate),
        data: w.data.clone().fact(),
    };
    link.ways = ways.iter().map(way).collect();
    link
}

fn word(seen: &Seen<&'static str>) -> Fact<String> {
    seen.clone().map(str::to_owned).fact()
}

fn driver(driver: &look::Driver, proof: Option<&Proof>) -> DriverReading {
    let untried = || Seen::unknown("not_tried", "");
    DriverReading {
        kernel_version: driver.kernel_version.clone().fact(),
        version: driver.version.clone().fact(),
        nvml_version: driver.nvml_version.clone().fact(),
        cuda_version: driver.cuda_version.clone().fact(),
        cuda_library: driver.cuda_library.clone().fact(),
        nvml_gpus: driver.nvml_gpus.clone().fact(),
        cuda_gpus: proof.map_or_else(untried, |p| p.cuda_gpus.clone()).fact(),
        device_nodes: driver.device_nodes,
    }
}

fn machine(look: &Look) -> BoxReading {
    let host = &look.host;
    BoxReading {
        container_signs: host.container_signs.clone(),
        vm_signs: host.vm_signs.clone(),
        cpus_shown: host.cpus_shown.clone().fact(),
        cpu_quota: host.cpu_quota.clone().fact(),
        memory_total_mib: host.memory_total_mib.clone().fact(),
        shm_mib: host.shm_mib.clone().fact(),
        kernel_log_visible: host.kernel_log == KernelLog::Visible,
        interconnect: look.interconnect.as_str().to_owned(),
        block_devices: host.block_devices.clone(),
    }
}

fn stated(gpu: &look::Gpu) -> GpuStated {
    let words = |list: Vec<&'static str>| list.into_iter().map(str::to_owned).collect();
    let links = |list: Vec<look::NvLink>| list.into_iter().map(nvlink).collect();
    GpuStated {
        uuid_hash: gpu.uuid_hash.clone().fact(),
        serial_hash: gpu.serial_hash.clone().fact(),
        pci_address: gpu.pci_address.clone().fact(),
        compute_capability: gpu.compute_capability.clone().fact(),
        pcie_generation: gpu.link.generation.clone().fact(),
        pcie_width: gpu.link.width.clone().fact(),
        pcie_generation_max: gpu.link.generation_max.clone().fact(),
        pcie_width_max: gpu.link.width_max.clone().fact(),
        pcie_generation_card: gpu.link.generation_card.clone().fact(),
        ecc_on: gpu.ecc.on.clone().fact(),
        ecc_corrected: gpu.ecc.corrected.clone().fact(),
        ecc_uncorrected: gpu.ecc.uncorrected.clone().fact(),
        ecc_corrected_ever: gpu.ecc.corrected_ever.clone().fact(),
        ecc_uncorrected_ever: gpu.ecc.uncorrected_ever.clone().fact(),
        remapped_rows: gpu.remapped_rows.clone().fact(),
        retired_pages_single_bit: gpu.retired_pages_single_bit.clone().fact(),
        retired_pages_double_bit: gpu.retired_pages_double_bit.clone().fact(),
        retirement_pending: gpu.retirement_pending.clone().fact(),
        mig: gpu.mig.clone().fact(),
        virtualization: word(&gpu.virtualization),
        power_w: gpu.power_w.clone().fact(),
        power_limit_w: gpu.power_limit_w.clone().fact(),
        power_limit_default_w: gpu.power_limit_default_w.clone().fact(),
        clock_reasons: gpu.clock_reasons.clone().map(words).fact(),
        sm_clock_mhz: gpu.sm_clock_mhz.clone().fact(),
        sm_clock_max_mhz: gpu.sm_clock_max_mhz.clone().fact(),
        memory_clock_mhz: gpu.memory_clock_mhz.clone().fact(),
        memory_clock_max_mhz: gpu.memory_clock_max_mhz.clone().fact(),
        temperature_c: gpu.temperature_c.clone().fact(),
        compute_processes: gpu.compute_processes.clone().fact(),
        nvlinks: gpu.nvlinks.clone().map(links).fact(),
        fabric: gpu.fabric.clone().fact(),
    }
}

fn nvlink(link: look::NvLink) -> probe::NvLink {
    probe::NvLink {
        link: link.link,
        remote: word(&link.remote),
        active: link.active.fact(),
        version: link.version.fact(),
        remote_address: link.remote_address.fact(),
    }
}

fn rate(rate: &Seen<Rate>) -> Reading {
    match rate {
        Seen::Measured { value } | Seen::Claimed { value } => Reading::Measured {
            value: value.gbs,
            samples: value.samples.clone(),
        },
        Seen::Unknown { reason } => Reading::Unknown {
            reason: reason.to_string(),
        },
        Seen::Failed { reason } => Reading::Failed {
            reason: reason.to_string(),
        },
    }
}

fn worse(a: Reading, b: Reading) -> Reading {
    match (a.measured(), b.measured()) {
        (Some(x), Some(y)) if x <= y => a,
        (Some(_), Some(_)) | (Some(_), None) => b,
        (None, _) => a,
    }
}
