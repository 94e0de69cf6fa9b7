//! The Vast marketplace: every offer is one host's machine, or a part of it, at that host's price.
//!
//! Traps: `gpu_ram` is MiB of one GPU, `gpu_total_ram` of all; `min_bid` is where bids start, not what
//! one pays, so it is never a price; `gpu_frac` is a share of the host, not of a GPU; `cpu_ram` is the
//! host's, `cpu_cores_effective` the renter's; traffic costs what the host says, so it stands in the note.

use crate::ProviderError;
use crate::http::shown;
use crate::identify::{bare_machine, identify};
use crate::json::{Fields, Unreadable, rows};
use crate::refresh::Session;
use crate::shelf::Priced;
use crate::skip::Skip;
use lessee_model::{Confidence, Fixed, Form, GpuTable, Interconnect, Machine, Purchase};
use serde_json::json;
use std::collections::HashSet;

const PATH: &str = "/api/v0/bundles/";

pub(crate) async fn fetch(session: &mut Session<'_>) -> Result<(), ProviderError> {
    let url = session.http.url(PATH)?;
    let cap = session.options.limits.max_search_offers;
    let query = json!({
        "type": "on-demand",
        "verified": {"eq": true},
        "rentable": {"eq": true},
        "rented": {"eq": false},
        "order": [["dph_total", "asc"]],
        "limit": cap,
    });
    let answer = session.http.post_json(&url, &query).await?;
    let offers = rows(&answer, "offers", &shown(&url))?;
    let over = offers.len().saturating_sub(cap) as u64;
    if over > 0 {
        session.shelf.tally.skip_many(Skip::OverCap, over, "");
    }
    let mut seen = HashSet::new();
    for value in offers.iter().take(cap) {
        let Some(fields) = Fields::of(value) else {
            session.shelf.skip(Skip::Unreadable, "offers");
            continue;
        };
        match read(fields, session.facts.gpus) {
            Ok(Ok(offer)) if !seen.insert(offer.id.clone()) => {
                session.shelf.skip(Skip::Duplicate, &offer.id);
            }
            Ok(Ok(offer)) => {
                if fields.number("min_bid").is_some() {
                    session.shelf.skip(Skip::BidFloor, "min_bid");
                }
                session.shelf.put(Priced {
                    instance_type: &offer.id,
                    region: &offer.region,
                    purchase: Purchase::OnDemand,
                    usd_per_hour: offer.usd_per_hour,
                    machine: &offer.machine,
                    note: offer.note.as_deref(),
                    why: None,
                });
            }
            Ok(Err(reason)) => {
                let example = fields.text("gpu_name").unwrap_or_default();
                session.shelf.skip(reason, example);
            }
            Err(Unreadable(field)) => session.shelf.skip(Skip::Unreadable, field),
        }
    }
    Ok(())
}

struct HostOffer {
    id: String,
    region: String,
    usd_per_hour: Fixed,
    machine: Machine,
    note: Option<String>,
}

fn read(fields: Fields<'_>, gpus: &GpuTable) -> Result<Result<HostOffer, Skip>, Unreadable> {
    let id = fields
        .get("id")
        .and_then(|id| id.as_u64())
        .ok_or(Unreadable("id"))?;
    if fields.flag("is_bid") == Some(true) {
        return Ok(Err(Skip::BidFloor));
    }
    if fields.flag("rentable") == Some(false)
        || fields.flag("rented") == Some(true)
        || fields.text("verification").is_some_and(|v| v != "verified")
    {
        return Ok(Err(Skip::NotForRent));
    }
    let count = fields.count("num_gpus")?.ok_or(Unreadable("num_gpus"))?;
    if count == 0 {
        return Ok(Err(Skip::NoGpu));
    }
    let mib = fields
        .number("gpu_ram")
        .filter(|mib| (256.0..1e7).contains(mib));
    let name = fields.text("gpu_name").ok_or(Unreadable("gpu_name"))?;
    // sold as GB what is GiB: 24,576 MiB is a "24 GB" card
    let Some(gpu) = identify(gpus, &[name], mib.map(|mib| mib / 1024.0)) else {
        return Ok(Err(Skip::UnknownGpu));
    };
    let Some(usd_per_hour) = fields.amount("dph_total")? else {
        return Ok(Err(Skip::NoPrice));
    };
    let mut machine = bare_machine(gpu, count);
    machine.usable_mib_each = mib.map(|mib| mib as u32);
    host(fields, &mut machine);
    Ok(Ok(HostOffer {
        id: id.to_string(),
        region: region(fields),
        usd_per_hour,
        machine,
        note: note(fields),
    }))
}

/// What the host says of itself, nothing of which is checked.
fn host(fields: Fields<'_>, machine: &mut Machine) {
    let positive = |field| fields.number(field).filter(|x| *x > 0.0);
    let cores = positive("cpu_cores_effective");
    machine.vcpus = cores.map(|n| n as f32);
    // the renter gets memory in proportion to cores
    machine.memory_gib = match (positive("cpu_ram"), cores, positive("cpu_cores")) {
        (Some(mib), Some(mine), Some(all)) => Some((mib * (mine / all).min(1.0) / 1024.0) as f32),
        _ => None,
    };
    machine.local_disk_gb = positive("disk_space").map(|gb| gb as f32);
    // Mbit/s; the slower direction
    machine.network_gbps = match (positive("inet_down"), positive("inet_up")) {
        (Some(down), Some(up)) => Some((down.min(up) / 1000.0) as f32),
        _ => None,
    };
    if machine.gpu_count > 1 {
        machine.interconnect = match (fields.number("bw_nvlink"), machine.gpu.form) {
            (Some(0.0), _) => Some(Interconnect::Pcie),
            (Some(_), Some(Form::Sxm)) => Some(Interconnect::Nvlink),
            (Some(_), Some(Form::Pcie | Form::Nvl)) => Some(Interconnect::NvlinkBridge),
            _ => None,
        };
    }
    machine.arch = match fields.text("cpu_arch") {
        Some("amd64" | "x86_64") => Some("x86_64".into()),
        Some("arm64" | "aarch64") => Some("arm64".into()),
        _ => machine.arch.take(),
    };
    machine.gpu_access = Some("container".into());
    machine.host_confidence = Confidence::General;
}

/// The country of `Oregon, US`; hosts that do not say where they are stand under `*`.
fn region(fields: Fields<'_>) -> String {
    let place = fields.text("geolocation").unwrap_or_default();
    let country = place.rsplit(',').next().unwrap_or_default().trim();
    let is_code = country.len() == 2 && country.bytes().all(|b| b.is_ascii_alphabetic());
    if is_code {
        country.to_ascii_uppercase()
    } else {
        "*".to_owned()
    }
}

/// Prices and figures of this host that have no field of their own, by the feed's names.
fn note(fields: Fields<'_>) -> Option<String> {
    let parts: Vec<String> = [
        "inet_up_cost",
        "inet_down_cost",
        "storage_cost",
        "reliability",
        "min_bid",
    ]
    .into_iter()
    .filter_map(|field| {
        let value = crate::json::decimal(fields.get(field)?)?;
        Some(format!("{field}={value}"))
    })
    .collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}
