//! The answer of `aws ec2 describe-spot-price-history`: newest first, prices as strings, and each price stated again
//! about once a day without a change. A row is not a change: repeats are counted and left out.
//! Zone names (`us-east-1a`) differ between accounts; zone ids do not, but do not stand in the answer.

use super::Format;
use crate::remark::Remark;
use crate::source::Source;
use crate::{Options, Read, TraceError, names, region_of};
use lessee_model::Msg;
use lessee_spot::trace::{About, PricePath, Record};
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn looks(source: &Source) -> bool {
    let json = source.json.as_ref();
    json.is_some_and(|j| j.get("SpotPriceHistory").is_some_and(Value::is_array))
}

pub(super) fn read(source: &Source, _options: &Options) -> Result<Read, TraceError> {
    let json = source.json.as_ref().unwrap_or(&Value::Null);
    let rows = json["SpotPriceHistory"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    // zone, machine, product -> rows as they come
    let mut paths: BTreeMap<[String; 3], Vec<(i64, f64)>> = BTreeMap::new();
    for (i, row) in rows.iter().enumerate() {
        let place = |key: &str| format!("SpotPriceHistory[{i}].{key}");
        let text = |key: &'static str| {
            row[key]
                .as_str()
                .ok_or_else(|| source.bad(place(key), &row[key].to_string(), "column"))
        };
        let price = text("SpotPrice")?;
        let price = price
            .parse::<f64>()
            .ok()
            .filter(|p| p.is_finite() && *p > 0.0)
            .ok_or_else(|| source.bad(place("SpotPrice"), price, "price"))?;
        let time = text("Timestamp")?;
        let at = names::time(time).ok_or_else(|| source.bad(place("Timestamp"), time, "time"))?;
        let key = ["AvailabilityZone", "InstanceType", "ProductDescription"];
        let key = [text(key[0])?, text(key[1])?, text(key[2])?].map(str::to_owned);
        paths.entry(key).or_default().push((at.unix, price));
    }
    let mut remarks = Vec::new();
    let products: Vec<&String> = paths.keys().map(|k| &k[2]).collect();
    let mixed = products.iter().any(|p| *p != products[0]);
    let mut records = Vec::new();
    let (mut repeats, mut rows_read) = (0, 0);
    for ([zone, machine, product], mut rows) in paths {
        // stable: of two rows at one moment the newer one, which stands first in the file, comes last
        rows.reverse();
        rows.sort_by_key(|(at, _)| *at);
        let count = rows.len();
        let until = rows.last().map_or(0, |(at, _)| *at);
        let mut changes: Vec<(i64, f64)> = Vec::new();
        for (at, price) in rows {
            if changes.last().is_some_and(|(last, _)| *last == at) {
                changes.pop();
            }
            if changes.last().is_none_or(|(_, last)| *last != price) {
                changes.push((at, price));
            }
        }
        repeats += count - changes.len();
        rows_read += count;
        let mut source_name = format!("{}#{zone}", source.file);
        if mixed {
            source_name.push_str(&format!(" ({product})"));
        }
        records.push(Record::Prices(PricePath {
            about: About {
                region: region_of(&zone),
                zone,
                provider: Some("aws".to_owned()),
                machine: Some(machine),
                source: source_name,
            },
            product: Some(product),
            changes,
            rows: count,
            until,
            holes: Vec::new(),
        }));
    }
    if repeats > 0 {
        let msg = Msg::new("trace-remark-repeats")
            .arg("repeats", repeats)
            .arg("rows", rows_read);
        remarks.push(Remark::new("repeated_prices", "", msg));
    }
    if json["NextToken"].as_str().is_some_and(|t| !t.is_empty()) {
        remarks.push(Remark::new(
            "more_pages",
            "",
            Msg::new("trace-remark-more-pages"),
        ));
    }
    Ok(Read {
        format: Format::AwsHistory,
        file: source.file.clone(),
        records,
        remarks,
    })
}
