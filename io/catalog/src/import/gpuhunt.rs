//! gpuhunt catalog v2: one row per zone and per spot flag, memory in GB per GPU.

use super::draft::Unpriced;
use super::parts::{
    Cell, GpuNames, Said, Seller, arch, ask_bad_cell, complete, machine, number, price, published,
    seller,
};
use super::{Draft, ImportContext, Imported};
use crate::table::Table;
use crate::{ImportError, OfferRow};
use lessee_model::{Msg, Purchase};
use std::collections::HashMap;
use std::sync::Arc;

/// instance type, region, way of paying
type Place = (Arc<str>, Arc<str>, Purchase);

/// The cheapest zone of a place.
struct Cheapest {
    row: OfferRow,
    line: u64,
    raw: String,
    zones: Vec<String>,
}

pub(super) fn import(
    text: &str,
    mut draft: Draft,
    cx: &ImportContext<'_>,
) -> Result<Imported, ImportError> {
    let file = draft.file().to_owned();
    let mut table = Table::open(text, &file)?;
    let instance_name = table.need("gpuhunt", "instance_name")?;
    let location = table.need("gpuhunt", "location")?;
    let price_column = table.need("gpuhunt", "price")?;
    let gpu_count = table.need("gpuhunt", "gpu_count")?;
    let gpu_name = table.need("gpuhunt", "gpu_name")?;
    let spot = table.need("gpuhunt", "spot")?;
    let [gpu_memory, cpu, memory, disk, cpu_arch, flags] = [
        "gpu_memory",
        "cpu",
        "memory",
        "disk_size",
        "cpu_arch",
        "flags",
    ]
    .map(|name| table.find(name));
    let Seller { key, market } = seller(&file, cx)?;
    let source: Arc<str> = Arc::from(format!("{file} (gpuhunt catalog)"));
    let mut names = GpuNames::default();
    let mut best: HashMap<Place, Cheapest> = HashMap::new();
    let mut order = Vec::new();
    while let Some(line) = table.advance()? {
        let count: f64 = match table.cell(gpu_count) {
            "" => 0.0,
            text => text.parse().unwrap_or(f64::NAN),
        };
        if count == 0.0 {
            draft.ignore();
            continue;
        }
        let raw = table.raw();
        let amount = match price("price", table.cell(price_column)) {
            Cell::Price(amount) => Some(amount),
            cell if ask_bad_cell(&mut draft, line, &raw, "price", &cell) => continue,
            _ => None,
        };
        let purchase = match table.cell(spot).to_ascii_lowercase().as_str() {
            "true" | "1" => Purchase::Spot,
            "false" | "0" | "" => Purchase::OnDemand,
            other => {
                let why = Msg::new("import-why-word-unknown")
                    .arg("column", "spot")
                    .arg("text", other);
                draft.ask(line, raw, "word_unknown", why);
                continue;
            }
        };
        let name = table.cell(gpu_name);
        let instance_type = table.cell(instance_name);
        // several form factors hide under one short name; the long one may be the instance's
        let longer = cx.facts.gpus.resolve(instance_type);
        let said = Said {
            name: if longer.is_some() {
                instance_type
            } else {
                name
            },
            count,
            memory: table.cell(gpu_memory).parse().ok(),
        };
        let gpus = match names.identify(&said, line, &mut draft, cx) {
            Ok(gpus) => gpus,
            Err(doubt) => {
                draft.ask(line, raw, doubt.code, doubt.why);
                continue;
            }
        };
        let mut m = machine(
            &gpus,
            number(table.cell(cpu)),
            number(table.cell(memory)),
            arch(table.cell(cpu_arch)),
            cx,
        );
        m.local_disk_gb = number(table.cell(disk));
        let m = complete(m, cx.facts.machine(&key, instance_type));
        let (region, zone) = region_of(&key, table.cell(location));
        let flag = table.cell(flags);
        // a marker such as a community host is another product, not a zone
        let instance_type: Arc<str> = if flag.is_empty() {
            Arc::from(instance_type)
        } else {
            Arc::from(format!("{instance_type} ({flag})"))
        };
        let place = (instance_type, region, purchase);
        let Some(amount) = amount else {
            draft.unpriced(Unpriced {
                provider: key.clone(),
                region: place.1,
                instance_type: place.0,
                market,
                machine: m,
            });
            continue;
        };
        let row = OfferRow {
            provider: key.clone(),
            region: place.1.clone(),
            instance_type: place.0.clone(),
            market,
            price: published(purchase, amount, m.confidence, &source, cx),
            machine: m,
            original: None,
            note: None,
        };
        match best.get_mut(&place) {
            Some(known) if zone.is_some() && known.row.machine == row.machine => {
                known.zones.extend(zone);
                if amount < known.row.price.per_hour.amount {
                    (known.row, known.line, known.raw) = (row, line, raw);
                }
            }
            Some(_) => draft.offer(row, line, raw, Vec::new()),
            None => {
                order.push(place.clone());
                let zones = zone.into_iter().collect();
                best.insert(
                    place,
                    Cheapest {
                        row,
                        line,
                        raw,
                        zones,
                    },
                );
            }
        }
    }
    for place in order {
        let Some(Cheapest {
            mut row,
            line,
            raw,
            zones,
        }) = best.remove(&place)
        else {
            continue;
        };
        let mut derivation = Vec::new();
        if !zones.is_empty() {
            row.note = Some(Arc::from(format!("zones: {}", zones.join(" "))));
        }
        if zones.len() > 1 {
            derivation.push(format!(
                "min over {} zones: {}",
                zones.len(),
                zones.join(" ")
            ));
        }
        draft.offer(row, line, raw, derivation);
    }
    Ok(draft.finish())
}

/// GCP rows name zones: `us-central1-a` is a zone of `us-central1`.
fn region_of(provider: &str, location: &str) -> (Arc<str>, Option<String>) {
    if location.is_empty() {
        return (Arc::from("*"), None);
    }
    if provider == "gcp"
        && let Some((region, zone)) = location.rsplit_once('-')
        && zone.len() == 1
        && zone.bytes().all(|b| b.is_ascii_lowercase())
    {
        return (Arc::from(region), Some(location.to_owned()));
    }
    (Arc::from(location), None)
}
