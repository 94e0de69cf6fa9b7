//! A list price of one Google machine in one region, by part (`components`: vCPU, memory, GPU): `price` and
//! `on_demand_price` in USD an hour of the whole machine. One moment, no history.

use super::Format;
use crate::remark::Remark;
use crate::source::Source;
use crate::{Options, Read, TraceError, names};
use lessee_model::Msg;
use lessee_spot::trace::{About, ListPrice, Record};
use serde_json::Value;

const FORMAT: &str = "gcp-price";

pub(super) fn looks(source: &Source) -> bool {
    let json = source.json.as_ref();
    json.is_some_and(|j| {
        j.get("components").is_some_and(Value::is_array) && j.get("machine_type").is_some()
    })
}

pub(super) fn read(source: &Source, _options: &Options) -> Result<Read, TraceError> {
    let json = source.json.as_ref().unwrap_or(&Value::Null);
    let text = |key: &'static str| {
        json[key]
            .as_str()
            .ok_or_else(|| source.missing(FORMAT, key))
    };
    let (region, machine) = (text("region")?, text("machine_type")?);
    for (key, want) in [("currency", "USD"), ("price_unit", "h")] {
        if text(key)? != want {
            return Err(source.bad(key, text(key)?, "price"));
        }
    }
    let price = |key: &str| match &json[key] {
        Value::Null => Ok(None),
        v => match v.as_f64().filter(|x| x.is_finite() && *x > 0.0) {
            Some(x) => Ok(Some(x)),
            None => Err(source.bad(key, &v.to_string(), "price")),
        },
    };
    let (spot, on_demand) = (price("price")?, price("on_demand_price")?);
    let mut remarks = Vec::new();
    let parts = json["components"].as_array().map_or(&[][..], Vec::as_slice);
    let total: f64 = parts
        .iter()
        .filter_map(|c| c["component_total"].as_f64())
        .sum();
    if let Some(spot) = spot
        && !parts.is_empty()
        && (total - spot).abs() > 0.01 * spot
    {
        let msg = Msg::new("trace-remark-parts-differ")
            .arg("total", total)
            .arg("price", spot);
        remarks.push(Remark::new("parts_differ", region, msg));
    }
    let of_parts = parts.iter().find(|c| c["label"] == "gpu");
    let gpus = of_parts
        .and_then(|c| c["quantity"].as_f64())
        .filter(|n| (1.0..=1024.0).contains(n))
        .map(|n| n as u32)
        .or_else(|| names::gpus_in_name(machine));
    let since = json["effective_time"].as_str().and_then(names::time);
    Ok(Read {
        format: Format::GcpPrice,
        file: source.file.clone(),
        records: vec![Record::ListPrice(ListPrice {
            about: About {
                zone: region.to_owned(),
                region: Some(region.to_owned()),
                provider: Some("gcp".to_owned()),
                machine: Some(machine.to_owned()),
                source: source.file.clone(),
            },
            spot,
            on_demand,
            gpus,
            since: since.map(|t| t.unix),
        })],
        remarks,
    })
}
