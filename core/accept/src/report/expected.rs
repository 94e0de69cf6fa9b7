//! Figures beside what GPUs of the same model give elsewhere. Of all GPUs of a model, and of all pairs joined alike, the
//! lowest is listed: it is what the others wait for.
//!
//! What a finding already says of a sibling is not said again. Slices, and GPUs that compute wrongly, have no usual figures.

use super::promised::{is_broken, is_slice};
use crate::{Expectation, Found, Metric, Yardstick};
use lessee_model::probe::{ExpectedRow, Fact, GpuReading, Reading, Severity, Usual};
use lessee_model::{GpuTable, ProbeReport};
use std::collections::BTreeMap;

/// Rows, and what follows from them.
pub fn expected(
    report: &ProbeReport,
    gpus: &GpuTable,
    yardstick: &Yardstick,
) -> (Vec<ExpectedRow>, Vec<Found>) {
    let mut groups: BTreeMap<Group, Vec<Figure>> = BTreeMap::new();
    of_gpus(report, &mut groups);
    of_pairs(report, &mut groups);
    of_all(report, &mut groups);
    let (mut rows, mut found) = (Vec::new(), Vec::new());
    for (group, figures) in &groups {
        let row = gpus
            .resolve(&group.gpu)
            .and_then(|gpu| yardstick.row(&gpu, group.metric, &group.conditions));
        one(group, figures, row, report, &mut rows, &mut found);
    }
    found.extend(unexpected(&rows));
    (rows, found)
}

/// Figures that have one row of the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    /// As the driver names it.
    gpu: String,
    metric: Metric,
    conditions: String,
    /// Times the figures of the table: links of a pair.
    times: u32,
}

struct Figure {
    subject: String,
    value: f64,
}

type Groups = BTreeMap<Group, Vec<Figure>>;

fn add(groups: &mut Groups, gpu: &str, metric: Metric, joined: (&str, u32), figure: Figure) {
    let group = Group {
        gpu: gpu.to_owned(),
        metric,
        conditions: joined.0.to_owned(),
        times: joined.1,
    };
    groups.entry(group).or_default().push(figure);
}

fn usable(gpu: &GpuReading) -> bool {
    !is_slice(gpu) && !is_broken(gpu)
}

fn of_gpus(report: &ProbeReport, groups: &mut Groups) {
    for gpu in report.gpus.iter().filter(|g| usable(g)) {
        for (metric, reading) in [
            (Metric::MemoryBandwidth, &gpu.memory_bandwidth_gbs),
            (Metric::Tensor, &gpu.tensor_tflops),
        ] {
            if let Some(value) = reading.as_ref().and_then(Reading::measured) {
                let subject = format!("gpu {}", gpu.index);
                let figure = Figure { subject, value };
                add(groups, &gpu.name, metric, ("", 1), figure);
            }
        }
    }
}

/// Pairs with NVLink. Copies over PCIe are judged by the link that is there.
fn of_pairs(report: &ProbeReport, groups: &mut Groups) {
    let find = |index: u32| report.gpus.iter().find(|g| g.index == index);
    for link in &report.links {
        let (Some(a), Some(b)) = (find(link.a), find(link.b)) else {
            continue;
        };
        let Some(value) = link.gbs.measured() else {
            continue;
        };
        let links = link.nvlinks.as_ref().and_then(Fact::value).copied();
        let joined = match (link.kind.as_str(), links) {
            ("nvswitch", _) => ("nvswitch", 1),
            ("nvlink", Some(n)) if n > 0 => ("nvlink", n),
            _ => continue,
        };
        if usable(a) && usable(b) && a.name == b.name {
            let subject = format!("gpu {} - gpu {}", link.a, link.b);
            add(
                groups,
                &a.name,
                Metric::Peer,
                joined,
                Figure { subject, value },
            );
        }
    }
}

/// The all-reduce, where all GPUs are of one model.
fn of_all(report: &ProbeReport, groups: &mut Groups) {
    let value = report
        .all_reduce_bus_gbs
        .as_ref()
        .and_then(Reading::measured);
    let (Some(value), Some(first)) = (value, report.gpus.first()) else {
        return;
    };
    let alike = report
        .gpus
        .iter()
        .all(|g| g.name == first.name && usable(g));
    if let (true, Some(machine)) = (alike, &report.machine) {
        let mut joined = format!("{} {}", report.gpus.len(), machine.interconnect);
        // the table has figures of NCCL: a ring of our own that is slower says nothing against the machine
        let method = report.all_reduce.as_ref().and_then(|r| r.method.as_deref());
        if let Some(other) = method.filter(|m| *m != "nccl") {
            joined = format!("{joined}, {other}");
        }
        let subject = "machine".to_owned();
        let figure = Figure { subject, value };
        add(groups, &first.name, Metric::AllReduce, (&joined, 1), figure);
    }
}

/// Findings that say of one GPU or pair that it is slower than its like.
const OF_SIBLINGS: [&str; 3] = ["memory_slow", "pair_slow", "tensor_slow"];

fn one(
    group: &Group,
    figures: &[Figure],
    row: Option<&Expectation>,
    report: &ProbeReport,
    rows: &mut Vec<ExpectedRow>,
    found: &mut Vec<Found>,
) {
    let told = |subject: &str| {
        let mut findings = report.findings.iter();
        findings.any(|f| f.subject == subject && OF_SIBLINGS.contains(&&*f.code))
    };
    let lowest = figures.iter().min_by(|a, b| a.value.total_cmp(&b.value));
    let Some(lowest) = lowest else {
        return;
    };
    let times = f64::from(group.times);
    let of = |mark: Option<f64>| mark.map(|m| m * times);
    let (floor, low) = match row {
        Some(row) => (of(row.floor), of(row.low)),
        None => (None, None),
    };
    let outcome = match row {
        None => Usual::NoExpectation,
        Some(_) if floor.is_some_and(|f| lowest.value < f) => Usual::BelowFloor,
        Some(_) if low.is_some_and(|l| lowest.value < l) => Usual::BelowUsual,
        Some(_) => Usual::Usual,
    };
    let (metric, unit) = (group.metric.as_str(), group.metric.unit());
    for (mark, severity, code) in [
        (floor, Severity::Fail, "below_expected"),
        (low, Severity::Warn, "below_usual"),
    ] {
        let Some((mark, row)) = mark.zip(row) else {
            continue;
        };
        let below = |f: &&Figure| f.value < mark && !told(&f.subject);
        let below: Vec<&Figure> = figures.iter().filter(below).collect();
        let worst = below.iter().min_by(|a, b| a.value.total_cmp(&b.value));
        let Some(worst) = worst else {
            continue;
        };
        let subject = match figures.len() == below.len() && figures.len() > 1 {
            true => "machine",
            false => &worst.subject,
        };
        let detail = format!(
            "{metric} {:.0} {unit}, {} of {} below {mark:.0} ({}, {})",
            worst.value,
            below.len(),
            figures.len(),
            group.gpu,
            row.why.source
        );
        found.push(Found::new(severity, code, subject, detail));
        break;
    }
    rows.push(ExpectedRow {
        metric: metric.to_owned(),
        gpu: group.gpu.clone(),
        subject: lowest.subject.clone(),
        measured: lowest.value,
        unit: unit.to_owned(),
        floor,
        low,
        typical: row.and_then(|r| of(r.typical)),
        high: row.and_then(|r| of(r.high)),
        outcome,
        source: row.map(|r| r.why.source.to_string()),
        as_of: row.and_then(|r| r.why.as_of.map(|d| d.to_string())),
    });
}

/// One note a model, with the figures that nothing is known to compare with.
fn unexpected(rows: &[ExpectedRow]) -> Vec<Found> {
    let mut by_gpu: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in rows.iter().filter(|r| r.outcome == Usual::NoExpectation) {
        by_gpu.entry(&row.gpu).or_default().push(&row.metric);
    }
    let note = |(gpu, mut metrics): (&str, Vec<&str>)| {
        metrics.dedup();
        Found::new(Severity::Note, "no_expectation", gpu, metrics.join(", "))
    };
    by_gpu.into_iter().map(note).collect()
}
