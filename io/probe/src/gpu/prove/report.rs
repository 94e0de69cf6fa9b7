//! Into `lessee/probe/v1`.

use super::{Proof, Rate};
use crate::gpu::Seen;
use crate::gpu::look::Look;
use lessee_model::ProbeReport;
use lessee_model::probe::{GpuReading, LinkReading, Reading};

/// Adds the GPUs and links of a look, and what was proved of them, to a report. GPUs that nothing was proved of are there
/// with the reason.
pub fn into_report(report: &mut ProbeReport, look: &Look, proof: Option<&Proof>) {
    for gpu in &look.gpus {
        let proved = proof.and_then(|p| p.gpus.iter().find(|g| g.index == Some(gpu.index)));
        let memory = gpu.memory_total_mib.get();
        report.gpus.push(GpuReading {
            index: gpu.index,
            name: gpu.name.value().cloned().unwrap_or_default(),
            memory_total_mib: memory.and_then(|mib| u32::try_from(mib).ok()),
            memory_bandwidth_gbs: proved.map(|p| reading(&p.memory)),
            tensor_tflops: None,
            host_to_device_gbs: proved.map(|p| reading(&p.to_device)),
            device_to_host_gbs: proved.map(|p| reading(&p.to_host)),
        });
    }
    for pair in &look.pairs {
        // the slower direction is what a ring of all GPUs waits for
        let ways = proof.map(|p| p.pairs.iter()).into_iter().flatten();
        let ways = ways.filter(|w| (w.from.min(w.to), w.from.max(w.to)) == (pair.a, pair.b));
        let slower = ways.map(|w| reading(&w.rate)).reduce(worse);
        report.links.push(LinkReading {
            a: pair.a,
            b: pair.b,
            kind: pair.by.to_owned(),
            gbs: slower.unwrap_or(Reading::Unknown {
                reason: "not_tried".to_owned(),
            }),
        });
    }
}

fn reading(rate: &Seen<Rate>) -> Reading {
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
