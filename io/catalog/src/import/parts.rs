//! Parts that importers share: who the provider is, what the GPU is, what is built in of the machine.

use super::{Draft, ImportContext};
use crate::build::weaker;
use crate::builtin::offers::class_of;
use crate::offers_csv::price_cell;
use crate::{CatalogError, RowProblem};
use lessee_model::gpu::same_memory;
use lessee_model::{
    Basis, Confidence, Currency, Fixed, GpuRef, Interconnect, Machine, Market, Money, Msg, Price,
    Provenance, Purchase, TaxNote,
};
use std::collections::HashMap;
use std::sync::Arc;

/// The seller of all rows of a file.
pub(super) struct Seller {
    pub(super) key: Arc<str>,
    pub(super) market: Market,
}

/// By what the user said, else by the folder (`aws/vms.csv`) or the file name (`aws_vms.csv`, `aws.csv`).
pub(super) fn seller(file: &str, cx: &ImportContext<'_>) -> Result<Seller, CatalogError> {
    if let Some(named) = cx.provider {
        return Ok(seller_named(named, cx));
    }
    let mut parts = file.rsplit(['/', '\\']);
    let stem = parts.next().unwrap_or("");
    let stem = stem.split('.').next().unwrap_or("");
    let folder = parts.next().unwrap_or("");
    let bare = stem.strip_suffix("_vms").unwrap_or(stem);
    // a provider that nobody has heard of still has a name if the file follows the format's own pattern
    let unheard = (bare != stem && !bare.is_empty()).then_some(bare);
    let by_folder = (stem == "vms" && !folder.is_empty() && folder != ".").then_some(folder);
    [bare, folder]
        .into_iter()
        .filter_map(|name| cx.facts.provider(name))
        .map(|p| Seller {
            key: p.key.clone(),
            market: p.market,
        })
        .next()
        .or_else(|| {
            let name = unheard.or(by_folder)?;
            Some(seller_named(name, cx))
        })
        .ok_or_else(|| CatalogError::NoProvider {
            file: file.to_owned(),
        })
}

fn seller_named(name: &str, cx: &ImportContext<'_>) -> Seller {
    match cx.facts.provider(name) {
        Some(p) => Seller {
            key: p.key.clone(),
            market: p.market,
        },
        // of an unknown seller prices count as stale early
        None => Seller {
            key: Arc::from(name.trim().to_lowercase()),
            market: Market::GpuCloud,
        },
    }
}

/// The name of a file without folder and ending; never empty.
pub(super) fn file_stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if stem.trim().is_empty() || stem == "-" {
        "quote"
    } else {
        stem.trim()
    }
}

/// What a catalogue row says of its accelerators.
pub(super) struct Said<'a> {
    pub(super) name: &'a str,
    /// May be a fraction of one: 0.167.
    pub(super) count: f64,
    /// Memory of one device as the row states it, GB or GiB.
    pub(super) memory: Option<f64>,
}

/// The GPU of a row, how many, and how sure that is.
pub(super) struct Gpus {
    pub(super) gpu: GpuRef,
    pub(super) count: u16,
    pub(super) fraction: f32,
    pub(super) confidence: Confidence,
    pub(super) note: Option<String>,
}

/// Why a row's GPU is not accepted.
pub(super) struct Doubt {
    pub(super) code: &'static str,
    pub(super) why: Msg,
}

/// Names, counts and memory of GPUs, resolved once per spelling.
#[derive(Default)]
pub(super) struct GpuNames {
    resolved: HashMap<String, Option<GpuRef>>,
    asked: Vec<String>,
}

impl GpuNames {
    /// Identifies the GPU. A name that is not known is kept as written, unverified, and asked about once.
    pub(super) fn identify(
        &mut self,
        said: &Said<'_>,
        line: u64,
        draft: &mut Draft,
        cx: &ImportContext<'_>,
    ) -> Result<Gpus, Doubt> {
        let doubt = |code, why: Msg| Doubt { code, why };
        let (count, fraction) = split_count(said.count).ok_or_else(|| {
            doubt(
                "count_unreadable",
                Msg::new("import-why-count").arg("count", said.count),
            )
        })?;
        let known = self
            .resolved
            .entry(said.name.to_owned())
            .or_insert_with(|| cx.facts.gpus.resolve(said.name))
            .clone();
        let Some(known) = known else {
            if !self.asked.iter().any(|n| n == said.name) {
                self.asked.push(said.name.to_owned());
                draft.ask(
                    line,
                    said.name,
                    "gpu_unknown",
                    Msg::new("import-why-gpu-unknown").arg("gpu", said.name),
                );
            }
            return Ok(Gpus {
                gpu: GpuRef {
                    model: Arc::from(said.name),
                    form: None,
                    memory_gb: said.memory,
                },
                count,
                fraction,
                confidence: Confidence::Unverified,
                note: None,
            });
        };
        let mut out = Gpus {
            gpu: known,
            count,
            fraction,
            confidence: Confidence::Secondary,
            note: None,
        };
        let Some(stated) = said.memory.filter(|m| *m > 0.0) else {
            return Ok(out);
        };
        if fraction < 0.999 {
            // memory of the slice, not of the card
            out.gpu.memory_gb = Some(stated);
            return Ok(out);
        }
        let fits = |gb: f64| {
            cx.facts.gpus.specs.iter().any(|s| {
                s.model == out.gpu.model
                    && out.gpu.form.is_none_or(|f| f == s.form)
                    && same_memory(gb, s.memory_gb)
            })
        };
        let named = out.gpu.memory_gb;
        let agrees = |gb: f64| named.map_or_else(|| fits(gb), |n| same_memory(gb, n));
        if agrees(stated) {
            out.gpu.memory_gb = named.or_else(|| nominal(cx, &out.gpu, stated));
        } else if count > 1 && agrees(stated / f64::from(count)) {
            let each = stated / f64::from(count);
            out.gpu.memory_gb = named.or_else(|| nominal(cx, &out.gpu, each));
            out.note = Some(format!(
                "gpu memory {stated:.1} / {count} GPUs = {each:.1} each"
            ));
        } else {
            return Err(doubt(
                "memory_mismatch",
                Msg::new("import-why-memory")
                    .arg("gpu", said.name)
                    .arg("stated", (stated * 10.0).round() / 10.0)
                    .arg("count", f64::from(count)),
            ));
        }
        Ok(out)
    }
}

/// Memory as sold, where the row states what the driver or a GiB count says (79.6 for 80).
fn nominal(cx: &ImportContext<'_>, gpu: &GpuRef, stated: f64) -> Option<f64> {
    let near = cx
        .facts
        .gpus
        .specs
        .iter()
        .filter(|s| s.model == gpu.model && gpu.form.is_none_or(|f| f == s.form))
        .filter(|s| same_memory(stated, s.memory_gb))
        .map(|s| s.memory_gb)
        .min_by(|a, b| (a - stated).abs().total_cmp(&(b - stated).abs()));
    Some(near.unwrap_or(stated))
}

/// `8` -> (8, 1); `0.167` -> (1, 1/6). `None` for what is no count.
fn split_count(count: f64) -> Option<(u16, f32)> {
    if !(count.is_finite() && count > 0.0 && count <= 65_535.0) {
        return None;
    }
    let whole = count.round();
    if (count - whole).abs() < 1e-6 {
        return Some((whole as u16, 1.0));
    }
    // slices are one nth of a card; catalogues round them to three digits
    let parts = (1.0 / count).round();
    (count < 1.0 && (2.0..=64.0).contains(&parts) && (count * parts - 1.0).abs() < 0.02)
        .then(|| (1, (1.0 / parts) as f32))
}

/// A machine of which a catalogue tells GPU, vCPU and RAM.
pub(super) fn machine(
    gpus: &Gpus,
    vcpus: Option<f32>,
    memory_gib: Option<f32>,
    arch: Option<Arc<str>>,
    cx: &ImportContext<'_>,
) -> Machine {
    Machine {
        class: class_of(&cx.facts.gpus, &gpus.gpu),
        gpu: gpus.gpu.clone(),
        gpu_count: gpus.count,
        gpu_fraction: gpus.fraction,
        usable_mib_each: None,
        vcpus,
        memory_gib,
        local_disk_gb: None,
        network_gbps: None,
        interconnect: (gpus.count == 1).then_some(Interconnect::None),
        link_gbs: None,
        rdma: None,
        arch,
        gpu_access: None,
        status: Arc::from("current"),
        confidence: gpus.confidence,
        host_confidence: Confidence::Secondary,
    }
}

/// Fills what the row does not say from the built-in machine of the same name, if it is the same GPU.
pub(super) fn complete(machine: Machine, known: Option<&Machine>) -> Machine {
    let Some(known) = known else { return machine };
    let same = known.gpu.model == machine.gpu.model
        && known.gpu_count == machine.gpu_count
        && (known.gpu_fraction - machine.gpu_fraction).abs() < 0.02
        && match (known.gpu.form, machine.gpu.form) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        }
        && match (known.gpu.memory_gb, machine.gpu.memory_gb) {
            (Some(a), Some(b)) => same_memory(a, b),
            _ => true,
        };
    if !same {
        return machine;
    }
    Machine {
        gpu: known.gpu.clone(),
        gpu_fraction: known.gpu_fraction,
        usable_mib_each: known.usable_mib_each,
        vcpus: machine.vcpus.or(known.vcpus),
        memory_gib: machine.memory_gib.or(known.memory_gib),
        local_disk_gb: machine.local_disk_gb.or(known.local_disk_gb),
        network_gbps: machine.network_gbps.or(known.network_gbps),
        interconnect: known.interconnect.or(machine.interconnect),
        link_gbs: known.link_gbs,
        rdma: known.rdma.clone(),
        arch: machine.arch.or_else(|| known.arch.clone()),
        gpu_access: known.gpu_access.clone(),
        status: known.status.clone(),
        confidence: known.confidence,
        ..machine
    }
}

/// What a price cell holds.
pub(super) enum Cell {
    Blank,
    /// 0 means "missing" in every public catalogue.
    Zero,
    Price(Fixed),
    Bad(RowProblem),
}

pub(super) fn price(column: &str, text: &str) -> Cell {
    if text.is_empty() || text.eq_ignore_ascii_case("none") {
        return Cell::Blank;
    }
    match price_cell(column, text) {
        Ok(amount) if amount.is_zero() => Cell::Zero,
        Ok(amount) => Cell::Price(amount),
        Err(problem) => Cell::Bad(problem),
    }
}

/// Asks about a cell that is neither blank nor a price; `true` if there is a question now.
pub(super) fn ask_bad_cell(
    draft: &mut Draft,
    line: u64,
    raw: &str,
    column: &str,
    cell: &Cell,
) -> bool {
    match cell {
        Cell::Zero => draft.ask(
            line,
            raw,
            "price_zero",
            Msg::new("import-why-price-zero").arg("column", column),
        ),
        Cell::Bad(problem) => draft.ask(line, raw, problem.code, problem.msg()),
        _ => return false,
    }
    true
}

pub(super) fn published(
    purchase: Purchase,
    amount: Fixed,
    confidence: Confidence,
    source: &Arc<str>,
    cx: &ImportContext<'_>,
) -> Price {
    Price {
        purchase,
        per_hour: Money::new(amount, Currency::USD),
        upfront: None,
        high: None,
        tax: TaxNote::Excluded,
        why: Arc::new(Provenance::new(
            Basis::Published,
            weaker(confidence, Confidence::Secondary),
            source.clone(),
            cx.as_of,
        )),
    }
}

/// A number that a catalogue states for information; nonsense is as good as nothing.
pub(super) fn number(text: &str) -> Option<f32> {
    text.parse()
        .ok()
        .filter(|x: &f32| x.is_finite() && *x > 0.0)
}

/// `x86`, `x86_64`, `arm`, `arm64` in our words.
pub(super) fn arch(text: &str) -> Option<Arc<str>> {
    let text = text.to_ascii_lowercase();
    if text.starts_with("x86") || text == "amd64" {
        Some(Arc::from("x86_64"))
    } else if text.starts_with("arm") || text == "aarch64" {
        Some(Arc::from("arm64"))
    } else {
        None
    }
}
