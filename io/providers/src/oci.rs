//! The data behind Oracle's cost estimator: shapes (what a machine consists of) and products (what a
//! part costs). A machine's price is the sum over its parts; it holds in every commercial region.
//!
//! Traps: the "ocpu" part of a GPU shape is priced per GPU; quantities may be fractional; preemptible
//! capacity is half the price, but only where the shape allows it; `gpuMemoryQty` is the total of all
//! GPUs, for some shapes that of one; names carry decorations ("(NVL72)"); the processor type is wrong
//! for some GPU shapes.

use crate::http::shown;
use crate::identify::{bare_machine, complete, identify};
use crate::json::{Fields, Unreadable, rows};
use crate::refresh::Session;
use crate::shelf::Priced;
use crate::skip::Skip;
use crate::{PriceApi, ProviderError};
use lessee_model::{Confidence, Fixed, GpuRef, GpuTable, Machine, Purchase};
use serde_json::Value;
use std::collections::HashMap;

const DATA: &str = "/a/ocom/docs/cloudestimator2/data";
/// Percent of the on-demand price, "Preemptible Instances" in Oracle's Compute documentation.
const PREEMPTIBLE_PERCENT: i64 = 50;

pub(crate) async fn fetch(api: &PriceApi, session: &mut Session<'_>) -> Result<(), ProviderError> {
    let shapes_url = session.http.url(&format!("{DATA}/shapes.json"))?;
    let products_url = session.http.url(&format!("{DATA}/products.json"))?;
    let shapes = session.http.get_json(&shapes_url).await?;
    let products = session.http.get_json(&products_url).await?;
    let prices = part_prices(rows(&products, "items", &shown(&products_url))?);
    let preemptible = session.shelf.derived(
        "preemptible capacity at 50 % of on demand",
        Confidence::Secondary,
    );
    for value in rows(&shapes, "items", &shown(&shapes_url))? {
        let Some(fields) = Fields::of(value) else {
            session.shelf.skip(Skip::Unreadable, "items");
            continue;
        };
        let name = shape_name(fields.text("name").unwrap_or_default());
        let shape = match read(fields, name, &prices, session.facts.gpus) {
            Ok(Ok(shape)) => shape,
            Ok(Err(reason)) => {
                session.shelf.skip(reason, name);
                continue;
            }
            Err(Unreadable(field)) => {
                session.shelf.skip(Skip::Unreadable, field);
                continue;
            }
        };
        let known = session.known(api, name);
        let Some(machine) = shape.machine.map(|m| complete(m, known.clone())).or(known) else {
            session.shelf.skip(Skip::UnknownGpu, name);
            continue;
        };
        if machine.gpu_count != shape.gpus {
            session.shelf.skip(Skip::CountDiffers, name);
            continue;
        }
        let mut put = |purchase, usd_per_hour, why| {
            session.shelf.put(Priced {
                instance_type: name,
                region: "*",
                purchase,
                usd_per_hour,
                machine: &machine,
                note: None,
                why,
            });
        };
        put(Purchase::OnDemand, shape.usd_per_hour, None);
        if shape.preemptible {
            let percent = Fixed::from_int(PREEMPTIBLE_PERCENT);
            let half = shape.usd_per_hour.times(percent).over(Fixed::from_int(100));
            put(
                Purchase::Spot,
                half.unwrap_or(Fixed::ZERO),
                Some(preemptible.clone()),
            );
        }
    }
    Ok(())
}

/// `BM.GPU.GB200.4 (NVL72)` is called `BM.GPU.GB200.4` when it is ordered.
fn shape_name(text: &str) -> &str {
    text.split_once('(').map_or(text, |(name, _)| name).trim()
}

/// USD per hour and unit of each part that is sold by the hour, pay as you go, at one price.
fn part_prices(products: &[Value]) -> HashMap<&str, Fixed> {
    let mut prices = HashMap::new();
    for product in products.iter().filter_map(Fields::of) {
        let hourly = product.text("pricetype").is_none_or(|t| t == "HOUR")
            && product.text("billingModel").is_none_or(|m| m == "UCM");
        let (Some(part), true) = (product.text("partNumber"), hourly) else {
            continue;
        };
        let usd = product
            .array("currencyCodeLocalizations")
            .unwrap_or_default()
            .iter()
            .filter_map(Fields::of)
            .find(|l| l.text("currencyCode") == Some("USD"));
        // several prices are volume tiers, which no single machine-hour has
        if let Some([one]) = usd.and_then(|l| l.array("prices"))
            && let Some(one) = Fields::of(one)
            && one.text("model").is_none_or(|m| m == "PAY_AS_YOU_GO")
            && let Ok(Some(price)) = one.amount("value")
        {
            prices.insert(part, price);
        }
    }
    prices
}

struct Shape {
    gpus: u16,
    usd_per_hour: Fixed,
    preemptible: bool,
    /// `None` if the name does not say which GPU it is.
    machine: Option<Machine>,
}

fn read(
    fields: Fields<'_>,
    name: &str,
    prices: &HashMap<&str, Fixed>,
    gpus: &GpuTable,
) -> Result<Result<Shape, Skip>, Unreadable> {
    let gpu_count = fields.count("gpuQty")?.unwrap_or(0);
    if gpu_count == 0 {
        return Ok(Err(Skip::NoGpu));
    }
    if fields.flag("hidden") == Some(true) || fields.text("status").is_some_and(|s| s != "ACTIVE") {
        return Ok(Err(Skip::NotForRent));
    }
    let mut usd_per_hour = Fixed::ZERO;
    let (mut ocpus, mut memory) = (None, fields.number("bundleMemoryQty"));
    let parts = fields.array("products").ok_or(Unreadable("products"))?;
    for part in parts {
        let part = Fields::of(part).ok_or(Unreadable("products"))?;
        let Some(price) = part
            .text("partNumber")
            .and_then(|number| prices.get(number))
        else {
            return Ok(Err(Skip::NoPrice));
        };
        let quantity = part.amount("qty")?;
        let kind = part.inner_text("type", "value");
        let quantity = match (kind, quantity) {
            (Some("ocpu"), quantity) => {
                ocpus = quantity;
                Fixed::from_int(i64::from(gpu_count))
            }
            (kind, Some(quantity)) => {
                if kind == Some("memory") {
                    memory = Some(quantity.to_f64());
                }
                quantity
            }
            (_, None) => return Ok(Err(Skip::NoPrice)),
        };
        usd_per_hour += price.times(quantity);
    }
    let machine = gpu_of(fields, name, gpu_count, gpus).map(|gpu| {
        let mut machine = bare_machine(gpu, gpu_count);
        let x86 = matches!(
            fields.inner_text("processorType", "value"),
            Some("amd" | "intel")
        );
        if x86 {
            machine.arch = Some("x86_64".into());
            // an OCPU of a hyperthreaded CPU is a core: two vCPUs
            machine.vcpus = ocpus.map(|n| 2.0 * n.to_f64() as f32);
        }
        machine.memory_gib = memory.filter(|gib| *gib > 0.0).map(|gib| gib as f32);
        machine.gpu_access = Some(
            if name.starts_with("BM.") {
                "bare metal"
            } else {
                "passthrough"
            }
            .into(),
        );
        machine
    });
    Ok(Ok(Shape {
        gpus: gpu_count,
        usd_per_hour,
        preemptible: fields.flag("allowPreemptible") == Some(true),
        machine,
    }))
}

/// The GPU in `BM.GPU.H100.8`, with the memory of one: the stated total divided, or the stated figure
/// itself where that is what such a GPU has.
fn gpu_of(fields: Fields<'_>, name: &str, count: u16, gpus: &GpuTable) -> Option<GpuRef> {
    let word = name.split('.').skip_while(|part| *part != "GPU").nth(1)?;
    // "A100-v2" is a second generation of the shape, not of the GPU
    let word = word.split_once("-v").map_or(word, |(model, _)| model);
    match fields.number("gpuMemoryQty").filter(|gb| *gb > 0.0) {
        None => identify(gpus, &[word], None),
        Some(stated) => identify(gpus, &[word], Some(stated / f64::from(count)))
            .or_else(|| identify(gpus, &[word], Some(stated))),
    }
}
