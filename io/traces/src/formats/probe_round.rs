//! One round of a prober: `scheduled_at`, `zones_probed`, and for each zone how many instances were requested and
//! created. Times carry their offset (`run_id` is local time and is not read). Several rounds of one folder become
//! one series a zone (`read.rs`).

use super::Format;
use crate::remark::Remark;
use crate::source::Source;
use crate::{Options, Read, TraceError, names};
use lessee_model::Msg;
use lessee_spot::trace::{Record, Seen, Series};
use serde_json::Value;

const FORMAT: &str = "probe-round";

pub(super) fn looks(source: &Source) -> bool {
    let json = source.json.as_ref();
    json.is_some_and(|j| j.get("zone_results").is_some_and(Value::is_object))
}

pub(super) fn read(source: &Source, _options: &Options) -> Result<Read, TraceError> {
    let json = source.json.as_ref().unwrap_or(&Value::Null);
    let time = ["scheduled_at", "started_at"]
        .iter()
        .find_map(|k| json[*k].as_str())
        .ok_or_else(|| source.missing(FORMAT, "scheduled_at"))?;
    let at = names::time(time)
        .filter(|t| t.zoned)
        .ok_or_else(|| source.bad("scheduled_at", time, "time"))?;
    let gap_s = json["interval_sec"]
        .as_u64()
        .filter(|s| (1..=86_400).contains(s))
        .ok_or_else(|| source.missing(FORMAT, "interval_sec"))?;
    let mut remarks = Vec::new();
    let whole = json["status"].as_str().is_none_or(|s| s == "success");
    let results = json["zone_results"].as_object();
    let mut zones: Vec<String> = results
        .into_iter()
        .flatten()
        .map(|(z, _)| z.clone())
        .collect();
    let probed = json["zones_probed"].as_array();
    for zone in probed.into_iter().flatten().filter_map(Value::as_str) {
        if !zones.iter().any(|z| z == zone) {
            zones.push(zone.to_owned());
        }
    }
    let mut records = Vec::new();
    for zone in &zones {
        let result = &json["zone_results"][zone.as_str()];
        let count = |key: &str| match &result[key] {
            Value::Null => Ok(None),
            v => match v.as_u64().and_then(|n| u32::try_from(n).ok()) {
                Some(n) => Ok(Some(n)),
                None => Err(source.bad(
                    format!("zone_results.{zone}.{key}"),
                    &v.to_string(),
                    "count",
                )),
            },
        };
        let created = count("instances_created")?;
        let asked = count("instances_requested")?;
        if let (Some(created), Some(asked)) = (created, asked)
            && created > asked
        {
            return Err(source.bad(
                format!("zone_results.{zone}.instances_created"),
                &created.to_string(),
                "count",
            ));
        }
        // a round that failed measured nothing: unknown, not 0
        let up = if whole { created } else { None };
        if up.is_none() {
            remarks.push(Remark::new(
                "round_failed",
                zone,
                Msg::new("trace-remark-round-failed"),
            ));
        }
        let mut about = names::about(zone, &format!("{}#{zone}", source.file));
        zone.clone_into(&mut about.zone);
        records.push(Record::Series(Series {
            about,
            seen: Seen::Probe,
            asked: asked.or(up).unwrap_or(1).max(1),
            gap_s: gap_s as u32,
            start: Some(at.unix),
            at_s: vec![0],
            up: vec![up],
            price: Vec::new(),
            on_demand: None,
            priced_for: None,
        }));
    }
    Ok(Read {
        format: Format::ProbeRound,
        file: source.file.clone(),
        records,
        remarks,
    })
}
