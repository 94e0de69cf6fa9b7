//! GPUs: what they are, and what each was proved to do.

use super::rows::{number, optional, reason};
use lessee_model::probe::{Fact, GpuReading, Reading};
use lessee_model::{Msg, ProbeReport};
use lessee_report::{Cell, Column, Report, Table, Texts, Tone};

pub(super) fn section(report: &mut Report, doc: &ProbeReport, texts: &Texts) {
    if doc.gpus.is_empty() {
        return;
    }
    report.heading(texts.get("probe-gpus"));
    if let Some(line) = driver(doc, texts) {
        report.text(line);
    }
    report.table(table(&doc.gpus, texts));
    report.list(reasons(&doc.gpus, texts));
}

/// What the driver says of itself and of what joins the GPUs.
fn driver(doc: &ProbeReport, texts: &Texts) -> Option<String> {
    let driver = doc.driver.as_ref()?;
    let version = |fact: &Fact<String>| match fact.value() {
        Some(version) => version.clone(),
        None => texts.term("probe-known", "unknown"),
    };
    let line = Msg::new("probe-driver-line")
        .arg("driver", version(&driver.version))
        .arg("cuda", version(&driver.cuda_version));
    let mut line = texts.msg(&line);
    if let Some(machine) = &doc.machine {
        line.push(' ');
        line.push_str(&texts.term("probe-joined", &machine.interconnect));
    }
    Some(line)
}

fn table(gpus: &[GpuReading], texts: &Texts) -> Table {
    let right = |key, id, rank| Column::right(key, texts.get(id), rank);
    let reading = |of: &dyn Fn(&GpuReading) -> Option<&Reading>| -> Vec<Cell> {
        gpus.iter().map(|g| optional(of(g), texts)).collect()
    };
    let cells = |of: &dyn Fn(&GpuReading) -> Cell| -> Vec<Cell> { gpus.iter().map(of).collect() };
    let mib = |g: &GpuReading| {
        g.memory_total_mib
            .map_or_else(Cell::unknown, |m| number(f64::from(m), texts))
    };
    let mut columns: Vec<(Column, Vec<Cell>)> = vec![
        (
            right("gpu", "probe-col-index", 0),
            cells(&|g| Cell::new(g.index.to_string())),
        ),
        (
            Column::left("name", texts.get("probe-col-name"), 1),
            cells(&|g| Cell::new(short(&g.name)).raw(g.name.clone())),
        ),
        (
            right("memory_total_mib", "probe-col-memory", Column::MACHINES),
            cells(&mib),
        ),
        (
            Column::left("kernel", texts.get("probe-col-kernel"), 0),
            cells(&|g| kernel(g, texts)),
        ),
        (
            right("memory_bandwidth_gbs", "probe-col-memory-gbs", 0),
            reading(&|g| g.memory_bandwidth_gbs.as_ref()),
        ),
        (
            right("tensor_tflops", "probe-col-tensor", 0),
            // with a load there is a table of it
            reading(&|g| g.tensor_tflops.as_ref().filter(|_| g.tensor.is_none())),
        ),
        (
            right("host_to_device_gbs", "probe-col-to-device", 0),
            reading(&|g| g.host_to_device_gbs.as_ref()),
        ),
        (
            right("device_to_host_gbs", "probe-col-to-host", 0),
            reading(&|g| g.device_to_host_gbs.as_ref()),
        ),
        (
            Column::left("link_under_load", texts.get("probe-col-link"), 1),
            cells(&link),
        ),
    ];
    // what nobody measured has no column, unless it is what a proof is
    columns.retain(|(column, cells)| {
        column.key == "kernel"
            || cells
                .iter()
                .any(|c| !c.raw.is_empty() || c.tone == Tone::Bad)
    });
    let mut table = Table::new(columns.iter().map(|(c, _)| c.clone()).collect());
    for row in 0..gpus.len() {
        table.push(
            columns
                .iter()
                .map(|(_, cells)| cells[row].clone())
                .collect(),
        );
    }
    table
}

/// Every card is the same maker's here.
fn short(name: &str) -> &str {
    name.strip_prefix("NVIDIA ").unwrap_or(name)
}

fn kernel(gpu: &GpuReading, texts: &Texts) -> Cell {
    let (word, tone) = match &gpu.kernel {
        Some(Fact::Measured { value } | Fact::Claimed { value }) if value.wrong == 0 => {
            ("right", Tone::Good)
        }
        Some(Fact::Measured { .. } | Fact::Claimed { .. }) => ("wrong", Tone::Bad),
        Some(Fact::Failed { .. }) => ("failed", Tone::Bad),
        Some(Fact::Unknown { .. }) | None => ("not_tried", Tone::Warn),
    };
    Cell::new(texts.term("probe-kernel", word))
        .raw(word)
        .tone(tone)
}

/// Generation and lanes while copies ran, and at most where that is more.
fn link(gpu: &GpuReading) -> Cell {
    let one =
        |generation: Option<u32>, width: Option<u32>| Some(format!("{} x{}", generation?, width?));
    // without copies there was no load
    let copied = gpu.host_to_device_gbs.as_ref().and_then(Reading::measured);
    let load = gpu.under_load.as_ref().filter(|_| copied.is_some());
    let now = load.and_then(|l| {
        one(
            l.pcie_generation.value().copied(),
            l.pcie_width.value().copied(),
        )
    });
    let stated = gpu.stated.as_ref();
    let most = stated.and_then(|s| {
        one(
            s.pcie_generation_max.value().copied(),
            s.pcie_width_max.value().copied(),
        )
    });
    match (now, most) {
        (Some(now), Some(most)) if now != most => {
            Cell::new(format!("{now} < {most}")).tone(Tone::Warn)
        }
        (Some(now), _) => Cell::new(now),
        (None, _) => Cell::unknown(),
    }
}

/// Why figures are missing: each reason once, with the GPUs that it concerns.
fn reasons(gpus: &[GpuReading], texts: &Texts) -> Vec<String> {
    let mut by_reason: Vec<(String, Vec<String>)> = Vec::new();
    for gpu in gpus {
        let kernel = gpu.kernel.as_ref().and_then(Fact::reason);
        let tensor = match gpu.tensor {
            Some(_) => &None,
            None => &gpu.tensor_tflops,
        };
        let rest = [
            &gpu.memory_bandwidth_gbs,
            tensor,
            &gpu.host_to_device_gbs,
            &gpu.device_to_host_gbs,
        ];
        let rest = rest.into_iter().flatten().filter_map(Reading::reason);
        for why in kernel.into_iter().chain(rest) {
            let gpu = gpu.index.to_string();
            match by_reason.iter_mut().find(|(known, _)| known == why) {
                Some((_, gpus)) if gpus.contains(&gpu) => {}
                Some((_, gpus)) => gpus.push(gpu),
                None => by_reason.push((why.to_owned(), vec![gpu])),
            }
        }
    }
    let line = |(why, gpus): &(String, Vec<String>)| {
        let line = Msg::new("probe-gpu-reason")
            .arg("gpus", gpus.join(", "))
            .arg("why", reason(why, texts));
        texts.msg(&line)
    };
    by_reason.iter().map(line).collect()
}
