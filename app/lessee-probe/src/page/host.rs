//! Processor and memory.

use super::rows::Rows;
use lessee_model::probe::{Claims, HostReading, Reading};
use lessee_model::{Msg, ProbeReport};
use lessee_report::{Report, Texts};

pub(super) fn section(report: &mut Report, doc: &ProbeReport, texts: &Texts) {
    let Some(host) = &doc.host else {
        return;
    };
    report.heading(texts.get("probe-host-title"));
    if let Some(claimed) = &host.claimed {
        report.text(model(claimed, texts));
    }
    let mut rows = Rows::new(texts);
    let text = |id| texts.get(id);
    if let Some(seen) = host.grant.as_ref().and_then(|g| g.seen) {
        rows.claimed(text("probe-row-cores-seen"), Some(seen as f64), "");
    }
    rows.reading(text("probe-row-cores"), host.cores.as_ref(), "");
    rows.reading(text("probe-row-clock"), host.ghz.as_ref(), "GHz");
    let claimed_ghz = host.claimed.as_ref().and_then(|c| Some(c.mhz? / 1e3));
    rows.claimed(text("probe-row-clock-claimed"), claimed_ghz, "GHz");
    rows.reading(
        text("probe-row-steal"),
        percent(host.steal.as_ref()).as_ref(),
        "%",
    );
    rows.reading(text("probe-row-memory"), host.memory_gib.as_ref(), "GiB");
    rows.reading(text("probe-row-triad"), host.stream_gbs.as_ref(), "GB/s");
    let one = host.stream_one_thread.as_ref().map(|s| &s.triad_gbs);
    rows.reading(text("probe-row-triad-one"), one, "GB/s");
    per_gpu(&mut rows, host, doc.gpus.len(), texts);
    report.table(rows.table());
}

fn model(claimed: &Claims, texts: &Texts) -> String {
    let model = match &claimed.model {
        Some(model) => model.clone(),
        None => texts.term("probe-known", "unknown"),
    };
    let id = match claimed.virtual_machine {
        true => "probe-cpu-claimed-by-vm",
        false => "probe-cpu-claimed",
    };
    texts.msg(&Msg::new(id).arg("model", model))
}

/// A share as percent.
pub(super) fn percent(reading: Option<&Reading>) -> Option<Reading> {
    Some(match reading? {
        Reading::Measured { value, samples } => Reading::Measured {
            value: value * 100.0,
            samples: samples.iter().map(|s| s * 100.0).collect(),
        },
        other => other.clone(),
    })
}

fn per_gpu(rows: &mut Rows<'_>, host: &HostReading, gpus: usize, texts: &Texts) {
    if gpus < 2 {
        return;
    }
    let share = |reading: &Reading| match reading {
        Reading::Measured { value, .. } => Reading::once(value / gpus as f64),
        Reading::Claimed { value } => Reading::Claimed {
            value: value / gpus as f64,
        },
        other => other.clone(),
    };
    let cores = host.cores.as_ref().map(share);
    rows.reading(texts.get("probe-row-cores-gpu"), cores.as_ref(), "");
    let triad = host.stream_gbs.as_ref().map(share);
    rows.reading(texts.get("probe-row-triad-gpu"), triad.as_ref(), "GB/s");
}
