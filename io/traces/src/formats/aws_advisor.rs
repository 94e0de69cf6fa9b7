//! AWS Spot Advisor (`spot-advisor-data.json`): region -> system -> instance type -> `r` (bucket 0 to 4) and `s`
//! (saving against on-demand, %). A bucket is a share of instances interrupted *in the trailing month*; how long the
//! counted instances ran is not published.

use super::Format;
use crate::remark::Remark;
use crate::source::Source;
use crate::{Options, Read, TraceError};
use lessee_model::Msg;
use lessee_spot::trace::{About, Bucket, Record};
use serde_json::Value;

/// `r` -> lower and upper share, by the legend of the advisor's page.
const BUCKETS: [(f64, Option<f64>); 5] = [
    (0.0, Some(0.05)),
    (0.05, Some(0.10)),
    (0.10, Some(0.15)),
    (0.15, Some(0.20)),
    (0.20, None),
];
/// Hours of the trailing month.
const MONTH_H: f64 = 720.0;

pub(super) fn looks(source: &Source) -> bool {
    let json = source.json.as_ref();
    json.is_some_and(|j| j.get("spot_advisor").is_some_and(Value::is_object))
}

pub(super) fn read(source: &Source, _options: &Options) -> Result<Read, TraceError> {
    let regions = source
        .json
        .as_ref()
        .and_then(|j| j["spot_advisor"].as_object());
    let mut records = Vec::new();
    for (region, systems) in regions.into_iter().flatten() {
        for (system, types) in systems.as_object().into_iter().flatten() {
            for (machine, row) in types.as_object().into_iter().flatten() {
                let place = |key: &str| format!("spot_advisor.{region}.{system}.{machine}.{key}");
                let bucket = row["r"]
                    .as_u64()
                    .and_then(|r| BUCKETS.get(usize::try_from(r).ok()?));
                let Some((low, high)) = bucket else {
                    return Err(source.bad(place("r"), &row["r"].to_string(), "bucket"));
                };
                let saving = match &row["s"] {
                    Value::Null => None,
                    v => Some(
                        v.as_f64()
                            .filter(|s| (0.0..=100.0).contains(s))
                            .ok_or_else(|| source.bad(place("s"), &v.to_string(), "number"))?
                            / 100.0,
                    ),
                };
                records.push(Record::Bucket(Bucket {
                    about: About {
                        zone: region.clone(),
                        region: Some(region.clone()),
                        provider: Some("aws".to_owned()),
                        machine: Some(machine.clone()),
                        source: format!("{}#{region} ({system})", source.file),
                    },
                    low: *low,
                    high: *high,
                    per_h: MONTH_H,
                    saving,
                }));
            }
        }
    }
    Ok(Read {
        format: Format::AwsAdvisor,
        file: source.file.clone(),
        records,
        remarks: vec![Remark::new(
            "bucket_per_month",
            "",
            Msg::new("trace-remark-bucket-per-month"),
        )],
    })
}
