//! `{metadata: {gap_seconds, ...}, data: [...]}`: samples at even distances, null = unknown.
//!
//! A sample is 0 or 1, or a count of instances. `metadata.polarity` says what a 1 means; where it is not there,
//! files with `price_info` and `source_dir` (SkyNomad's merged H100 series) are known to mean "not available"
//! (`andylizf/skynomad-artifact`, checked against its raw rounds). Prices stand in `prices`, one a sample, for
//! `metadata.price_info.machine_type`.

use super::Format;
use crate::polarity::{Polarity, Said, settle};
use crate::remark::Remark;
use crate::source::Source;
use crate::{Options, Read, TraceError, names, region_of};
use lessee_model::Msg;
use lessee_spot::trace::{Record, Seen, Series};
use serde_json::Value;

const FORMAT: &str = "availability-json";
/// A day: no recorder samples less often, and seconds times samples must stay in range.
const MAX_GAP: u64 = 86_400;

pub(super) fn looks(source: &Source) -> bool {
    let json = source.json.as_ref();
    json.is_some_and(|j| {
        j.get("data").is_some_and(Value::is_array)
            && j.get("metadata").is_some_and(Value::is_object)
    })
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Read, TraceError> {
    let json = source.json.as_ref().unwrap_or(&Value::Null);
    let meta = &json["metadata"];
    let data = json["data"]
        .as_array()
        .ok_or_else(|| source.missing(FORMAT, "data"))?;
    let mut remarks = Vec::new();
    let mut about = names::about(&source.stem(), &source.file);
    if let Some(zone) = meta["zone"].as_str() {
        zone.clone_into(&mut about.zone);
        about.region = region_of(zone);
    }
    if let Some(machine) = meta["machine"].as_str() {
        about.machine = Some(machine.to_owned());
    }
    let zone = about.zone.clone();
    let gap = match &meta["gap_seconds"] {
        Value::Null => return Err(source.missing(FORMAT, "metadata.gap_seconds")),
        v => match v.as_f64() {
            Some(s) if s >= 1.0 && s <= MAX_GAP as f64 && s.fract() == 0.0 => s as u32,
            _ => return Err(source.bad("metadata.gap_seconds", &v.to_string(), "gap")),
        },
    };
    let start = match &meta["start_time"] {
        Value::Null => None,
        v => {
            let text = v.as_str().unwrap_or_default();
            let at = names::time(text)
                .ok_or_else(|| source.bad("metadata.start_time", &v.to_string(), "time"))?;
            if !at.zoned {
                remarks.push(Remark::new(
                    "time_zone_unsaid",
                    &zone,
                    Msg::new("trace-remark-time-zone-unsaid"),
                ));
            }
            Some(at.unix)
        }
    };
    let said = match &meta["polarity"] {
        Value::Null if !meta["price_info"].is_null() && !meta["source_dir"].is_null() => {
            Said::Known(Polarity::Unavailable)
        }
        Value::Null => Said::Nobody,
        v => {
            let words = v.as_str().unwrap_or_default();
            Said::Stated(
                Polarity::of_words(words)
                    .ok_or_else(|| source.bad("metadata.polarity", &v.to_string(), "polarity"))?,
            )
        }
    };
    let mut values = Vec::with_capacity(data.len());
    for (i, v) in data.iter().enumerate() {
        values.push(
            sample(v).ok_or_else(|| source.bad(format!("data[{i}]"), &v.to_string(), "count"))?,
        );
    }
    let (up, asked) = settle(values, said, &zone, &source.file, options, &mut remarks)?;
    let unknown = up.iter().filter(|v| v.is_none()).count();
    if unknown > 0 {
        let msg = Msg::new("trace-remark-unknown-samples").arg("n", unknown);
        remarks.push(Remark::new("unknown_samples", &zone, msg));
    }
    let (price, on_demand, priced_for) = prices(source, json, data.len())?;
    flag_price(
        meta,
        priced_for.as_deref(),
        about.machine.as_deref(),
        &zone,
        &mut remarks,
    );
    if asked == 1
        && let Some(gang) = gang_in_name(about.machine.as_deref())
    {
        let msg = Msg::new("trace-remark-gang-unsaid").arg("n", gang);
        remarks.push(Remark::new("gang_unsaid", &zone, msg));
    }
    let series = Series {
        about,
        seen: Seen::Unsaid,
        asked,
        gap_s: gap,
        start,
        at_s: (0..up.len() as i64).map(|i| i * i64::from(gap)).collect(),
        up,
        price,
        on_demand,
        priced_for,
    };
    if series.up.is_empty() {
        return Err(TraceError::NoSamples {
            file: source.file.clone(),
        });
    }
    Ok(Read {
        format: Format::AvailabilityJson,
        file: source.file.clone(),
        records: vec![Record::Series(series)],
        remarks,
    })
}

/// A sample: null is unknown, never 0.
fn sample(value: &Value) -> Option<Option<u32>> {
    match value {
        Value::Null => Some(None),
        Value::Bool(b) => Some(Some(u32::from(*b))),
        Value::Number(n) => {
            let x = n.as_f64()?;
            ((0.0..=1e6).contains(&x) && x.fract() == 0.0).then_some(Some(x as u32))
        }
        _ => None,
    }
}

type Priced = (Vec<Option<f64>>, Option<f64>, Option<String>);

fn prices(source: &Source, json: &Value, samples: usize) -> Result<Priced, TraceError> {
    let info = &json["metadata"]["price_info"];
    let positive = |v: &Value| v.as_f64().filter(|x| x.is_finite() && *x > 0.0);
    let on_demand = match &info["on_demand_price"] {
        Value::Null => None,
        v => Some(positive(v).ok_or_else(|| {
            source.bad(
                "metadata.price_info.on_demand_price",
                &v.to_string(),
                "price",
            )
        })?),
    };
    let priced_for = info["machine_type"].as_str().map(str::to_owned);
    let Some(list) = json["prices"].as_array() else {
        return Ok((Vec::new(), on_demand, priced_for));
    };
    if list.len() != samples {
        return Err(TraceError::Lengths {
            file: source.file.clone(),
            what: "prices",
            expected: samples,
            found: list.len(),
        });
    }
    let mut price = Vec::with_capacity(list.len());
    for (i, v) in list.iter().enumerate() {
        price.push(match v {
            Value::Null => None,
            v => Some(
                positive(v)
                    .ok_or_else(|| source.bad(format!("prices[{i}]"), &v.to_string(), "price"))?,
            ),
        });
    }
    Ok((price, on_demand, priced_for))
}

/// Price per what? A price of a machine with several GPUs says nothing of what was probed.
fn flag_price(
    meta: &Value,
    priced_for: Option<&str>,
    machine: Option<&str>,
    zone: &str,
    remarks: &mut Vec<Remark>,
) {
    let Some(priced_for) = priced_for else { return };
    let parts = meta["price_info"]["components"].as_array();
    let of_parts = parts
        .into_iter()
        .flatten()
        .find(|c| c["label"] == "gpu")
        .and_then(|c| c["quantity"].as_f64());
    let gpus = of_parts.or_else(|| names::gpus_in_name(priced_for).map(f64::from));
    if let Some(gpus) = gpus
        && gpus > 1.0
        && machine != Some(priced_for)
    {
        let msg = Msg::new("trace-remark-price-of-machine")
            .arg("machine", priced_for)
            .arg("gpus", gpus);
        remarks.push(Remark::new("price_of_machine", zone, msg));
    }
}

/// `h100:16`: no machine has so many GPUs, so it is the size of a gang, and 0 or 1 does not tell "at least one"
/// from "all".
fn gang_in_name(machine: Option<&str>) -> Option<u32> {
    let (_, count) = machine?.rsplit_once(':')?;
    count.parse().ok().filter(|n| *n > 8)
}
