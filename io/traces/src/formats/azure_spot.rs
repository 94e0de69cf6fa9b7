//! Azure Resource Graph, table `SpotResources`: `sku.name`, `location`, `properties.evictionRate`, as a bare list or
//! as the answer of `az graph query` (`{data: [...]}`); also with the names that people project to (`skuName`,
//! `evictionRate`, `spotEvictionRate`). The rate is a share *per hour*: `0-5`, `5-10`, `10-15`, `15-20`, `20+` %.

use super::Format;
use crate::remark::Remark;
use crate::source::Source;
use crate::{Options, Read, TraceError};
use lessee_model::Msg;
use lessee_spot::trace::{About, Bucket, Record};
use serde_json::Value;

const FORMAT: &str = "azure-spot";
const RATE: [&str; 2] = ["evictionRate", "spotEvictionRate"];

fn rows(json: &Value) -> Option<&Vec<Value>> {
    json.as_array().or_else(|| json.get("data")?.as_array())
}

fn rate(row: &Value) -> Option<&Value> {
    RATE.iter()
        .find_map(|k| row["properties"].get(k).or_else(|| row.get(k)))
}

pub(super) fn looks(source: &Source) -> bool {
    let rows = source.json.as_ref().and_then(rows);
    rows.is_some_and(|rows| rows.iter().any(|row| rate(row).is_some()))
}

pub(super) fn read(source: &Source, _options: &Options) -> Result<Read, TraceError> {
    let rows = source.json.as_ref().and_then(rows);
    let mut records = Vec::new();
    let mut others = 0usize;
    for (i, row) in rows.into_iter().flatten().enumerate() {
        let Some(value) = rate(row) else {
            others += 1;
            continue;
        };
        let place = |key: &str| format!("row {i}, {key}");
        let words = value.as_str().unwrap_or_default();
        let (low, high) = bucket(words)
            .ok_or_else(|| source.bad(place("evictionRate"), &value.to_string(), "bucket"))?;
        let machine = row["sku"]["name"].as_str().or(row["skuName"].as_str());
        let machine = machine.ok_or_else(|| source.missing(FORMAT, "sku.name"))?;
        let region = row["location"]
            .as_str()
            .ok_or_else(|| source.missing(FORMAT, "location"))?;
        records.push(Record::Bucket(Bucket {
            about: About {
                zone: region.to_owned(),
                region: Some(region.to_owned()),
                provider: Some("azure".to_owned()),
                machine: Some(machine.to_owned()),
                source: format!("{}#{region}", source.file),
            },
            low,
            high,
            per_h: 1.0,
            saving: None,
        }));
    }
    let mut remarks = vec![Remark::new(
        "bucket_per_hour",
        "",
        Msg::new("trace-remark-bucket-per-hour"),
    )];
    if others > 0 {
        let msg = Msg::new("trace-remark-rows-without-rate").arg("n", others);
        remarks.push(Remark::new("rows_without_rate", "", msg));
    }
    Ok(Read {
        format: Format::AzureSpot,
        file: source.file.clone(),
        records,
        remarks,
    })
}

/// `5-10`, `0-5%`, `20+` in per cent.
fn bucket(words: &str) -> Option<(f64, Option<f64>)> {
    let words: String = words.chars().filter(|c| *c != '%' && *c != ' ').collect();
    let share = |text: &str| {
        let x: f64 = text.parse().ok()?;
        (0.0..=100.0).contains(&x).then_some(x / 100.0)
    };
    if let Some(low) = words.strip_suffix('+') {
        return Some((share(low)?, None));
    }
    let (low, high) = words.split_once('-')?;
    let (low, high) = (share(low)?, share(high)?);
    (low < high).then_some((low, Some(high)))
}
