//! Lambda's instance types: a map keyed by type, prices in cents for the whole machine.
//!
//! Traps: it is a map, not a list; `regions_with_capacity_available` is what can be had now, not where
//! the type is sold, so a type without any region stands under `*` and says so in its note.

use crate::http::shown;
use crate::identify::{bare_machine, complete, identify};
use crate::json::{Fields, Unreadable, bad_answer};
use crate::refresh::Session;
use crate::shelf::Priced;
use crate::skip::Skip;
use crate::{PriceApi, ProviderError};
use lessee_model::{Fixed, GpuRef, GpuTable, Purchase};

const PATH: &str = "/api/v1/instance-types";
/// Decimal GB in one GiB.
const GB_PER_GIB: f64 = 1.073_741_824;

pub(crate) async fn fetch(api: &PriceApi, session: &mut Session<'_>) -> Result<(), ProviderError> {
    let url = session.http.url(PATH)?;
    let answer = session.http.get_json(&url).await?;
    let types = Fields::of(&answer)
        .and_then(|top| Fields::of(top.get("data")?))
        .ok_or_else(|| {
            bad_answer(
                &shown(&url),
                "data",
                "an object keyed by instance type is expected here",
            )
        })?;
    for (key, value) in types.entries() {
        let entry = Fields::of(value);
        let kind = entry.and_then(|e| Fields::of(e.get("instance_type")?));
        let (Some(entry), Some(kind)) = (entry, kind) else {
            session.shelf.skip(Skip::Unreadable, key);
            continue;
        };
        if let Err(Unreadable(field)) = take(key, entry, kind, api, session) {
            session.shelf.skip(Skip::Unreadable, field);
        }
    }
    Ok(())
}

fn take(
    key: &str,
    entry: Fields<'_>,
    kind: Fields<'_>,
    api: &PriceApi,
    session: &mut Session<'_>,
) -> Result<(), Unreadable> {
    let name = kind.text("name").unwrap_or(key);
    let specs = kind
        .get("specs")
        .and_then(Fields::of)
        .ok_or(Unreadable("specs"))?;
    let count = specs.count("gpus")?.ok_or(Unreadable("specs.gpus"))?;
    if count == 0 {
        session.shelf.skip(Skip::NoGpu, name);
        return Ok(());
    }
    let Some(cents) = kind.amount("price_cents_per_hour")? else {
        session.shelf.skip(Skip::NoPrice, name);
        return Ok(());
    };
    let Some(gpu) = gpu_of(name, kind, session.facts.gpus) else {
        session.shelf.skip(Skip::UnknownGpu, name);
        return Ok(());
    };
    let mut machine = bare_machine(gpu, count);
    let positive = |field| specs.number(field).filter(|x| *x > 0.0);
    machine.vcpus = positive("vcpus").map(|n| n as f32);
    machine.memory_gib = positive("memory_gib").map(|n| n as f32);
    machine.local_disk_gb = positive("storage_gib").map(|gib| (gib * GB_PER_GIB) as f32);
    if let Some(arch @ ("x86_64" | "arm64")) = kind.text("architecture") {
        machine.arch = Some(arch.into());
    }
    let machine = complete(machine, session.known(api, name));
    let available: Vec<&str> = entry
        .array("regions_with_capacity_available")
        .unwrap_or_default()
        .iter()
        .filter_map(|region| Fields::of(region)?.text("name"))
        .collect();
    let usd_per_hour = cents.over(Fixed::from_int(100)).unwrap_or(Fixed::ZERO);
    let mut put = |region, note| {
        session.shelf.put(Priced {
            instance_type: name,
            region,
            purchase: Purchase::OnDemand,
            usd_per_hour,
            machine: &machine,
            note,
            why: None,
        });
    };
    if available.is_empty() {
        put("*", Some("regions_with_capacity_available=none"));
    }
    for region in available {
        put(region, None);
    }
    Ok(())
}

/// The GPU from its description, `H100 (80 GB SXM5)`, else from the type's name, `gpu_8x_h100_sxm5`.
fn gpu_of(name: &str, kind: Fields<'_>, gpus: &GpuTable) -> Option<GpuRef> {
    let described = kind.text("gpu_description").or_else(|| {
        // "8x H100 (80 GB SXM5)"
        let (count, gpu) = kind.text("description")?.split_once("x ")?;
        count.bytes().all(|b| b.is_ascii_digit()).then_some(gpu)
    });
    let in_name = name
        .strip_prefix("gpu_")
        .and_then(|rest| rest.split_once("x_"))
        .map(|(_, gpu)| gpu);
    let names: Vec<&str> = described.into_iter().chain(in_name).collect();
    identify(gpus, &names, None)
}
