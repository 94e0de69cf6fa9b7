//! Machines and prices of the built-in snapshot.

use super::ProviderInfo;
use super::rows::{Row, read};
use crate::CatalogError;
use crate::build::{CatalogBuilder, Interner};
use lessee_model::{
    AcceleratorClass, Catalog, Confidence, Form, GpuRef, GpuTable, Interconnect, Machine,
    MachineId, Market, Offer, Origin, Price, Provenance, Purchase, TaxNote,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

type Strings = RefCell<Interner>;

/// Machines by provider and instance type.
pub(super) type Types = HashMap<(Arc<str>, Arc<str>), MachineId>;

struct Known {
    id: MachineId,
    confidence: Confidence,
    note: Option<Arc<str>>,
}

pub(super) fn offers(
    strings: &Strings,
    providers: &[ProviderInfo],
    gpus: &GpuTable,
) -> Result<(Catalog, Types), CatalogError> {
    let mut out = CatalogBuilder::new();
    let mut known: HashMap<(Arc<str>, Arc<str>), Known> = HashMap::new();
    for (file, text) in [
        (
            "offers/machines.csv",
            include_str!("../../../../data/offers/machines.csv"),
        ),
        (
            "cc-by-sa/machines.csv",
            include_str!("../../../../data/cc-by-sa/machines.csv"),
        ),
    ] {
        read(file, text, strings, |r| {
            let machine = machine(&r, strings, gpus)?;
            let status = r.get("status")?;
            // the plain word is in Machine::status; what it was retired or replaced by is worth reading
            let note = match (status == &*machine.status, r.get("note")?) {
                (true, "") => None,
                (true, note) => Some(strings.borrow_mut().get(note)),
                (false, "") => Some(strings.borrow_mut().get(status)),
                (false, note) => Some(strings.borrow_mut().get(&format!("{status}; {note}"))),
            };
            let entry = Known {
                confidence: machine.confidence,
                note,
                id: out.machine(machine),
            };
            known.insert((r.text("provider")?, r.text("instance_type")?), entry);
            Ok(())
        })?;
    }
    prices(strings, providers, &known, &mut out)?;
    points(strings, providers, gpus, &mut out)?;
    let types = known.into_iter().map(|(key, k)| (key, k.id)).collect();
    Ok((out.finish(), types))
}

fn market(providers: &[ProviderInfo], provider: &str) -> Result<Market, String> {
    providers
        .iter()
        .find(|p| &*p.key == provider)
        .map(|p| p.market)
        .ok_or_else(|| format!("provider `{provider}` is not in providers.csv"))
}

/// Provenances of one file: few, and hashing the same one for every row is what would take the time.
#[derive(Default)]
struct Whys(Vec<Arc<Provenance>>);

impl Whys {
    fn get(&mut self, why: Provenance) -> Arc<Provenance> {
        if let Some(same) = self.0.iter().rev().take(8).find(|w| ***w == why) {
            return same.clone();
        }
        let new = Arc::new(why);
        self.0.push(new.clone());
        new
    }
}

fn prices(
    strings: &Strings,
    providers: &[ProviderInfo],
    known: &HashMap<(Arc<str>, Arc<str>), Known>,
    out: &mut CatalogBuilder,
) -> Result<(), CatalogError> {
    let mut whys = Whys::default();
    read(
        "offers/prices.csv",
        include_str!("../../../../data/offers/prices.csv"),
        strings,
        |r| {
            let key = (r.text("provider")?, r.text("instance_type")?);
            let Known {
                id,
                confidence,
                note,
            } = known
                .get(&key)
                .ok_or_else(|| format!("`{}` is not in machines.csv", key.1))?;
            let mut why = r.why()?;
            why.confidence = match *confidence {
                Confidence::Unverified => Confidence::Unverified,
                _ => why.confidence,
            };
            let why = whys.get(why);
            let mut prices = Vec::with_capacity(2);
            for (column, purchase) in [("on_demand", Purchase::OnDemand), ("spot", Purchase::Spot)]
            {
                if let Some(per_hour) = r.opt_money(column)? {
                    prices.push(plain_price(purchase, per_hour, why.clone()));
                }
            }
            out.push_offer(Offer {
                market: market(providers, &key.0)?,
                provider: key.0,
                region: r.text("region")?,
                instance_type: key.1,
                machine: *id,
                prices,
                origin: Origin::BuiltIn,
                original: None,
                note: note.clone(),
            });
            Ok(())
        },
    )
}

/// Price lists of clouds are before tax unless they say otherwise.
fn plain_price(purchase: Purchase, per_hour: lessee_model::Money, why: Arc<Provenance>) -> Price {
    Price {
        purchase,
        per_hour,
        upfront: None,
        high: None,
        tax: TaxNote::Excluded,
        why,
    }
}

fn points(
    strings: &Strings,
    providers: &[ProviderInfo],
    gpus: &GpuTable,
    out: &mut CatalogBuilder,
) -> Result<(), CatalogError> {
    let mut whys = Whys::default();
    read(
        "offers/points.csv",
        include_str!("../../../../data/offers/points.csv"),
        strings,
        |r| {
            // a newer price of the same type stands in the file as well
            if r.get("status")? == "superseded" {
                return Ok(());
            }
            let why = r.why()?;
            let gpu = GpuRef {
                model: r.text("gpu_model")?,
                form: r.opt::<Form>("gpu_form")?,
                memory_gb: r.opt("gpu_memory_gb")?,
            };
            let machine = Machine {
                class: class_of(gpus, &gpu),
                gpu,
                gpu_count: r.need("gpu_count")?,
                gpu_fraction: 1.0,
                usable_mib_each: None,
                vcpus: r.opt("vcpus")?,
                memory_gib: r.opt("memory_gib")?,
                local_disk_gb: r.opt("local_disk_gb")?,
                network_gbps: r.opt("network_gbps")?,
                interconnect: r.opt::<Interconnect>("interconnect")?,
                link_gbs: None,
                rdma: None,
                arch: r.opt_text("cpu_arch")?,
                gpu_access: None,
                status: r.text("status")?,
                confidence: why.confidence,
                host_confidence: why.confidence,
            };
            let provider = r.text("provider")?;
            let per_hour = r.opt_money("price")?.ok_or("price is blank")?;
            let purchase = r.need::<Purchase>("purchase").map_err(|_| "purchase")?;
            let machine = out.machine(machine);
            out.push_offer(Offer {
                market: market(providers, &provider)?,
                provider,
                region: r.text("region")?,
                instance_type: r.text("instance_type")?,
                machine,
                prices: vec![plain_price(purchase, per_hour, whys.get(why))],
                origin: Origin::BuiltIn,
                original: None,
                note: r.opt_text("note")?,
            });
            Ok(())
        },
    )
}

/// GPU or another accelerator, by who makes it.
pub(crate) fn class_of(gpus: &GpuTable, gpu: &GpuRef) -> AcceleratorClass {
    let vendor = gpus
        .specs
        .iter()
        .find(|s| s.model == gpu.model)
        .map_or("", |s| &*s.vendor);
    match vendor {
        "Google" | "AWS" | "Huawei" | "Intel" | "Cambricon" => AcceleratorClass::Npu,
        _ => AcceleratorClass::Gpu,
    }
}

fn machine(r: &Row<'_>, strings: &Strings, gpus: &GpuTable) -> Result<Machine, String> {
    let class = match r.get("accelerator_class")? {
        "gpu" => AcceleratorClass::Gpu,
        "npu" => AcceleratorClass::Npu,
        "fpga" => AcceleratorClass::Fpga,
        "media accelerator" => AcceleratorClass::Media,
        other => return Err(format!("accelerator_class: `{other}`")),
    };
    let other = class != AcceleratorClass::Gpu;
    let gpu = if other {
        let named = r.text("other_accelerator")?;
        gpus.resolve(&named).unwrap_or(GpuRef {
            model: named,
            form: None,
            memory_gb: None,
        })
    } else {
        GpuRef {
            model: r.text("gpu_model")?,
            form: r.opt::<Form>("gpu_form")?,
            memory_gb: r.opt("gpu_memory_gb")?,
        }
    };
    let local_disk = match r.opt::<f32>("local_nvme_gb")? {
        Some(gb) if gb > 0.0 => Some(gb),
        // a temporary disk is slower than NVMe but scratch all the same; GiB to GB
        nvme => r
            .opt::<f32>("local_temp_gib")?
            .map(|gib| gib * 1.073_741_8)
            .or(nvme),
    };
    Ok(Machine {
        class,
        gpu,
        gpu_count: if other {
            r.opt("other_accelerator_count")?.unwrap_or(0)
        } else {
            r.need("gpu_count")?
        },
        gpu_fraction: r.opt("gpu_fraction")?.unwrap_or(1.0),
        usable_mib_each: r.opt("usable_mib_each")?,
        vcpus: r.opt("vcpus")?,
        memory_gib: r.opt("memory_gib")?,
        local_disk_gb: local_disk,
        network_gbps: match r.opt("network_baseline_gbps")? {
            Some(sustained) => Some(sustained),
            None => r.opt("network_gbps")?,
        },
        interconnect: r.opt::<Interconnect>("interconnect")?,
        link_gbs: r.opt("link_gbs_per_gpu")?,
        rdma: r.opt_text("rdma")?,
        arch: r.opt_text("cpu_arch")?,
        gpu_access: r.opt_text("gpu_access")?,
        status: strings.borrow_mut().get(plain_status(r.get("status")?)),
        confidence: r.confidence("confidence_gpu")?,
        host_confidence: r.confidence("confidence_host")?,
    })
}

/// `retired 2023-09-06` -> `retired`: the word that rules decide on. The whole text stays in the note.
fn plain_status(text: &str) -> &'static str {
    if text.contains("retired") || text.starts_with("never generally") {
        "retired"
    } else if text.starts_with("preview") {
        "preview"
    } else if text.starts_with("undocumented") || text.starts_with("variant") {
        "variant"
    } else if text.starts_with("alias") {
        "alias"
    } else {
        "current"
    }
}
