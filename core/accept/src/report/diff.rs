//! Two reports side by side: two machines, or one on two days. `lessee/probe-diff/v1`.
//!
//! A change is marked where it is larger than both the spread of the single runs and a share that is no news. GPUs are matched
//! by their hashed UUID where the reports share any, else by index; pairs likewise.

use crate::Rules;
use lessee_model::ProbeReport;
use lessee_model::probe::{GpuReading, LinkReading, ProbeFinding, Reading, Verdict};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProbeDiff {
    /// `lessee/probe-diff/v1`
    pub schema: String,
    pub a: DiffSide,
    pub b: DiffSide,
    /// GPUs were matched by hashed UUID; else by index.
    pub same_gpus: bool,
    /// Figures that either report has.
    pub rows: Vec<DiffRow>,
    /// What the machines say of themselves, where it differs.
    pub facts: Vec<DiffFact>,
    /// Findings that only `b` has, by code and subject.
    pub gained: Vec<ProbeFinding>,
    /// Findings that only `a` has.
    pub lost: Vec<ProbeFinding>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DiffSide {
    pub file: String,
    /// RFC 3339, UTC.
    pub measured_at: String,
    pub offer: Option<String>,
    pub verdict: Option<Verdict>,
    pub quick: Option<bool>,
}

/// One figure.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DiffRow {
    /// `gpu 3`, `gpu 0 - gpu 5`, `machine`, `cpu`, `memory`, `disk`, `feed`, `net`; as `a` counts GPUs.
    pub subject: String,
    /// The name of the figure in a report, its unit in it.
    pub figure: String,
    pub a: DiffValue,
    pub b: DiffValue,
    /// b / a - 1.
    pub change: Option<f64>,
    /// The larger one of the spreads of either's single runs, (highest - lowest) / median.
    pub spread: Option<f64>,
    /// A change beyond the spread and beyond what is no news, or a figure that only one report has.
    pub marked: bool,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DiffValue {
    pub value: Option<f64>,
    /// `measured`, `claimed`, `unknown`, `failed`; `absent`: the report does not have it.
    pub state: String,
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DiffFact {
    pub subject: String,
    /// `gpu`, `gpu_memory`, `driver`, `cuda`, `joined`, `shm`, `cpu_model`, `file_system`
    pub fact: String,
    pub a: Option<String>,
    pub b: Option<String>,
}

/// What is different in `b`; each with the name of its file.
pub fn diff(a: (&str, &ProbeReport), b: (&str, &ProbeReport), rules: &Rules) -> ProbeDiff {
    let pairs = matched(&a.1.gpus, &b.1.gpus);
    let mut out = ProbeDiff {
        schema: "lessee/probe-diff/v1".to_owned(),
        a: side(a),
        b: side(b),
        same_gpus: pairs.same,
        rows: Vec::new(),
        facts: Vec::new(),
        gained: only(&b.1.findings, &a.1.findings),
        lost: only(&a.1.findings, &b.1.findings),
    };
    let mut table = Table {
        rows: &mut out.rows,
        no_news: rules.diff_change,
    };
    let (a, b) = (a.1, b.1);
    for pair in &pairs.of {
        gpu(pair, &mut table, &mut out.facts);
    }
    links(a, b, &pairs, &mut table);
    let all = |r: &ProbeReport| r.all_reduce_bus_gbs.clone();
    table.row("machine", "all_reduce_bus_gbs", all(a), all(b));
    machine(a, b, &mut table);
    facts(a, b, &mut out.facts);
    out
}

fn side((file, report): (&str, &ProbeReport)) -> DiffSide {
    DiffSide {
        file: file.to_owned(),
        measured_at: report.measured_at.clone(),
        offer: report.offer.clone(),
        verdict: report.verdict,
        quick: report.run.as_ref().map(|r| r.quick),
    }
}

fn only(these: &[ProbeFinding], those: &[ProbeFinding]) -> Vec<ProbeFinding> {
    let alike = |f: &ProbeFinding, g: &ProbeFinding| (&f.code, &f.subject) == (&g.code, &g.subject);
    let new = |f: &&ProbeFinding| !those.iter().any(|g| alike(f, g));
    these.iter().filter(new).cloned().collect()
}

/// A GPU of either report, or of both.
type GpuPair<'a> = (Option<&'a GpuReading>, Option<&'a GpuReading>);

struct Matched<'a> {
    of: Vec<GpuPair<'a>>,
    same: bool,
}

fn uuid(gpu: &GpuReading) -> Option<&str> {
    gpu.stated.as_ref()?.uuid_hash.value().map(String::as_str)
}

fn matched<'a>(a: &'a [GpuReading], b: &'a [GpuReading]) -> Matched<'a> {
    let known: BTreeMap<&str, &GpuReading> = b.iter().filter_map(|g| Some((uuid(g)?, g))).collect();
    let same = a.iter().filter_map(uuid).any(|u| known.contains_key(u));
    let of_b: BTreeMap<u32, &GpuReading> = b.iter().map(|g| (g.index, g)).collect();
    let partner = |g: &GpuReading| match same {
        true => uuid(g).and_then(|u| known.get(u)).copied(),
        false => of_b.get(&g.index).copied(),
    };
    let mut of: Vec<GpuPair<'a>> = a.iter().map(|g| (Some(g), partner(g))).collect();
    let taken: Vec<u32> = of
        .iter()
        .filter_map(|(_, b)| Some(b.as_ref()?.index))
        .collect();
    of.extend(
        b.iter()
            .filter(|g| !taken.contains(&g.index))
            .map(|g| (None, Some(g))),
    );
    Matched { of, same }
}

struct Table<'a> {
    rows: &'a mut Vec<DiffRow>,
    no_news: f64,
}

impl Table<'_> {
    fn row(&mut self, subject: &str, figure: &str, a: Option<Reading>, b: Option<Reading>) {
        if a.is_none() && b.is_none() {
            return;
        }
        let spread = [&a, &b]
            .into_iter()
            .flatten()
            .filter_map(spread)
            .reduce(f64::max);
        let (a, b) = (value(a), value(b));
        let change = match (a.value, b.value) {
            (Some(a), Some(b)) if a != 0.0 => Some(b / a - 1.0).filter(|c| c.is_finite()),
            _ => None,
        };
        // what was 0 has no share of which it changed
        let from_zero = matches!((a.value, b.value), (Some(0.0), Some(b)) if b != 0.0);
        let beyond = self.no_news.max(spread.unwrap_or(0.0));
        let one_sided = a.value.is_some() != b.value.is_some();
        self.rows.push(DiffRow {
            subject: subject.to_owned(),
            figure: figure.to_owned(),
            marked: one_sided || from_zero || change.is_some_and(|c| c.abs() > beyond),
            a,
            b,
            change,
            spread,
        });
    }
}

fn value(reading: Option<Reading>) -> DiffValue {
    let state = match &reading {
        None => "absent",
        Some(Reading::Measured { .. }) => "measured",
        Some(Reading::Claimed { .. }) => "claimed",
        Some(Reading::Unknown { .. }) => "unknown",
        Some(Reading::Failed { .. }) => "failed",
    };
    DiffValue {
        value: match &reading {
            Some(Reading::Measured { value, .. } | Reading::Claimed { value }) => Some(*value),
            _ => None,
        },
        state: state.to_owned(),
        reason: reading.as_ref().and_then(|r| r.reason().map(str::to_owned)),
    }
}

/// Of single runs, where there are several.
fn spread(reading: &Reading) -> Option<f64> {
    let Reading::Measured { value, samples } = reading else {
        return None;
    };
    let low = samples.iter().copied().reduce(f64::min)?;
    let high = samples.iter().copied().reduce(f64::max)?;
    let spread = (high - low) / value;
    (samples.len() > 1 && spread.is_finite() && spread >= 0.0).then_some(spread)
}

fn gpu((a, b): &GpuPair<'_>, table: &mut Table<'_>, facts: &mut Vec<DiffFact>) {
    let Some(index) = a.or(*b).map(|g| g.index) else {
        return;
    };
    let subject = format!("gpu {index}");
    type Of = fn(&GpuReading) -> Option<Reading>;
    let figures: [(&str, Of); 4] = [
        ("memory_bandwidth_gbs", |g| g.memory_bandwidth_gbs.clone()),
        ("tensor_tflops", |g| g.tensor_tflops.clone()),
        ("host_to_device_gbs", |g| g.host_to_device_gbs.clone()),
        ("device_to_host_gbs", |g| g.device_to_host_gbs.clone()),
    ];
    for (figure, of) in figures {
        table.row(&subject, figure, a.and_then(of), b.and_then(of));
    }
    let name = |g: &Option<&GpuReading>| g.map(|g| g.name.clone());
    fact(&subject, "gpu", name(a), name(b), facts);
    let memory = |g: &Option<&GpuReading>| Some(format!("{} MiB", (*g)?.memory_total_mib?));
    fact(&subject, "gpu_memory", memory(a), memory(b), facts);
}

/// Pairs of `a`, each beside that of the same GPUs in `b`, and those that `b` alone has.
fn links(a: &ProbeReport, b: &ProbeReport, pairs: &Matched<'_>, table: &mut Table<'_>) {
    let mut to_b = BTreeMap::new();
    let mut to_a = BTreeMap::new();
    for (x, y) in &pairs.of {
        if let (Some(x), Some(y)) = (x, y) {
            to_b.insert(x.index, y.index);
            to_a.insert(y.index, x.index);
        }
    }
    let ends = |x: u32, y: u32| (x.min(y), x.max(y));
    let by_ends = |links: &'_ [LinkReading]| -> BTreeMap<(u32, u32), Reading> {
        links
            .iter()
            .map(|l| (ends(l.a, l.b), l.gbs.clone()))
            .collect()
    };
    let (of_a, mut of_b) = (by_ends(&a.links), by_ends(&b.links));
    for ((x, y), gbs) in of_a {
        let same = to_b.get(&x).zip(to_b.get(&y));
        let other = same.and_then(|(x, y)| of_b.remove(&ends(*x, *y)));
        table.row(&format!("gpu {x} - gpu {y}"), "peer_gbs", Some(gbs), other);
    }
    for ((x, y), gbs) in of_b {
        let own = |i: u32| to_a.get(&i).copied().unwrap_or(i);
        let (x, y) = ends(own(x), own(y));
        table.row(&format!("gpu {x} - gpu {y}"), "peer_gbs", None, Some(gbs));
    }
}

fn machine(a: &ProbeReport, b: &ProbeReport, table: &mut Table<'_>) {
    type Of = fn(&ProbeReport) -> Option<Reading>;
    let figures: [(&str, &str, Of); 23] = [
        ("cpu", "cores", |r| r.host.as_ref()?.cores.clone()),
        ("cpu", "ghz", |r| r.host.as_ref()?.ghz.clone()),
        ("cpu", "steal", |r| r.host.as_ref()?.steal.clone()),
        ("memory", "memory_gib", |r| {
            r.host.as_ref()?.memory_gib.clone()
        }),
        ("memory", "stream_gbs", |r| {
            r.host.as_ref()?.stream_gbs.clone()
        }),
        ("memory", "stream_one_thread_gbs", |r| {
            Some(
                r.host
                    .as_ref()?
                    .stream_one_thread
                    .as_ref()?
                    .triad_gbs
                    .clone(),
            )
        }),
        ("disk", "read_gbs", |r| r.disk.as_ref()?.read_gbs.clone()),
        ("disk", "write_gbs", |r| r.disk.as_ref()?.write_gbs.clone()),
        ("disk", "random_read_iops", |r| {
            r.disk.as_ref()?.random_read_iops.clone()
        }),
        ("disk", "small_files_per_second", |r| {
            r.disk.as_ref()?.small_files_per_second.clone()
        }),
        ("disk", "checkpoint_gbs", |r| {
            Some(r.disk.as_ref()?.checkpoint.as_ref()?.gbs.clone())
        }),
        ("feed", "samples_per_second", |r| {
            Some(r.feed.as_ref()?.samples_per_second.clone())
        }),
        ("feed", "samples_per_second_from_memory", |r| {
            r.feed.as_ref()?.samples_per_second_from_memory.clone()
        }),
        ("feed", "utilisation", |r| {
            r.feed.as_ref()?.utilisation.clone()
        }),
        ("feed", "utilisation_from_memory", |r| {
            r.feed.as_ref()?.utilisation_from_memory.clone()
        }),
        ("feed", "gpus_fed", |r| r.feed.as_ref()?.gpus_fed.clone()),
        ("feed", "cpu_s_per_sample", |r| {
            r.feed.as_ref()?.cpu_s_per_sample.clone()
        }),
        ("net", "rtt_ms", |r| {
            Some(r.net.as_ref()?.host.as_ref()?.rtt_ms.clone())
        }),
        ("net", "ssh_rtt_ms", |r| {
            Some(r.net.as_ref()?.ssh.as_ref()?.rtt_ms.clone())
        }),
        ("net", "s3_put_mbs", |r| {
            Some(r.net.as_ref()?.s3.as_ref()?.put_mbs.clone())
        }),
        ("net", "s3_put_parallel_mbs", |r| {
            Some(r.net.as_ref()?.s3.as_ref()?.put_parallel_mbs.clone())
        }),
        ("net", "s3_get_mbs", |r| {
            Some(r.net.as_ref()?.s3.as_ref()?.get_mbs.clone())
        }),
        ("net", "s3_get_parallel_mbs", |r| {
            Some(r.net.as_ref()?.s3.as_ref()?.get_parallel_mbs.clone())
        }),
    ];
    for (subject, figure, of) in figures {
        table.row(subject, figure, of(a), of(b));
    }
}

fn fact(
    subject: &str,
    fact: &str,
    a: Option<String>,
    b: Option<String>,
    facts: &mut Vec<DiffFact>,
) {
    if a != b {
        facts.push(DiffFact {
            subject: subject.to_owned(),
            fact: fact.to_owned(),
            a,
            b,
        });
    }
}

fn facts(a: &ProbeReport, b: &ProbeReport, facts: &mut Vec<DiffFact>) {
    type Of = fn(&ProbeReport) -> Option<String>;
    let of: [(&str, &str, Of); 6] = [
        ("driver", "driver", |r| {
            r.driver.as_ref()?.version.value().cloned()
        }),
        ("driver", "cuda", |r| {
            r.driver.as_ref()?.cuda_version.value().cloned()
        }),
        ("machine", "joined", |r| {
            Some(r.machine.as_ref()?.interconnect.clone())
        }),
        ("machine", "shm", |r| {
            let shm = r.machine.as_ref()?.shm_mib.value()?;
            Some(format!("{shm} MiB"))
        }),
        ("cpu", "cpu_model", |r| {
            r.host.as_ref()?.claimed.as_ref()?.model.clone()
        }),
        ("disk", "file_system", |r| {
            r.disk.as_ref()?.file_system.clone()
        }),
    ];
    for (subject, name, of) in of {
        fact(subject, name, of(a), of(b), facts);
    }
}
