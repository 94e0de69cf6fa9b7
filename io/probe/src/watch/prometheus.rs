//! Metrics of an exporter: the text exposition (one scrape, or many one after the other) and the JSON of a query.

use super::build::{Builder, gpu_id};
use super::columns::{self, Column, set};
use super::error::WatchError;
use lessee_supervise::curve::{GpuId, Sample};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};

type Labels = BTreeMap<String, String>;

/// Values of one GPU before they are put together: time, metric, value.
#[derive(Default)]
struct Points(HashMap<GpuId, Vec<(f64, Column, f64)>>);

impl Points {
    fn add(&mut self, gpu: &GpuId, t: f64, column: Column, value: f64) {
        if t.is_finite() && value.is_finite() {
            if let Some(points) = self.0.get_mut(gpu) {
                points.push((t, column, value));
            } else {
                self.0.insert(gpu.clone(), vec![(t, column, value)]);
            }
        }
    }

    /// Values of one time make a sample. Exporters stamp the metrics of a scrape alike, to the millisecond.
    fn into_samples(self, table: &mut Builder) {
        for (gpu, mut points) in self.0 {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let samples = table.gpu(gpu);
            for same in points.chunk_by(|a, b| (b.0 - a.0).abs() < 0.001) {
                let mut sample = Sample {
                    t_s: same[0].0,
                    ..Sample::default()
                };
                for (_, column, value) in same {
                    set(&mut sample, *column, *value);
                }
                samples.push(sample);
            }
        }
    }
}

/// Which GPU the labels speak of: index, else UUID; a MIG instance and a host of several are part of it.
fn gpu_of(labels: &Labels, hosts: bool) -> GpuId {
    let get = |names: &[&str]| {
        let found = names.iter().find_map(|n| labels.get(*n));
        found.map(String::as_str).filter(|v| !v.is_empty())
    };
    let gpu = get(&["gpu", "index", "minor_number", "UUID", "uuid", "device"]).unwrap_or("0");
    let mut id = match gpu_id(gpu) {
        GpuId::Index(i) => i.to_string(),
        GpuId::Name(name) => name,
    };
    if let Some(part) = get(&["GPU_I_ID"]) {
        id = format!("{id}/{part}");
    }
    if let Some(host) = get(HOST).filter(|_| hosts) {
        id = format!("{host}/{id}");
    }
    gpu_id(&id)
}

const HOST: &[&str] = &["Hostname", "hostname", "node", "instance"];

/// Do the labels name more than one host? Then an index alone names no GPU.
fn several_hosts<'a>(all: impl Iterator<Item = &'a Labels>) -> bool {
    let mut first: Option<&str> = None;
    for labels in all {
        let host = HOST.iter().find_map(|n| labels.get(*n)).map(String::as_str);
        match (first, host) {
            (Some(a), Some(b)) if a != b => return true,
            (None, host) => first = host,
            _ => {}
        }
    }
    false
}

/// A line of the exposition: name, labels, value, time in seconds.
type Line<'a> = (&'a str, Labels, f64, Option<f64>);

/// `NAME{a="b",c="d"} VALUE [TIME]`, with the escapes of the exposition format.
fn exposition(line: &str) -> Option<Line<'_>> {
    let end = line.find(['{', ' ', '\t'])?;
    let (name, rest) = line.split_at(end);
    let mut labels = BTreeMap::new();
    let mut rest = rest.trim_start();
    if let Some(mut inside) = rest.strip_prefix('{') {
        loop {
            inside = inside.trim_start_matches([',', ' ', '\t']);
            if let Some(after) = inside.strip_prefix('}') {
                rest = after;
                break;
            }
            let (key, after) = inside.split_once('=')?;
            let after = after.trim_start().strip_prefix('"')?;
            let mut value = String::new();
            let mut chars = after.char_indices();
            let close = loop {
                match chars.next()? {
                    (at, '"') => break at,
                    (_, '\\') => value.push(match chars.next()?.1 {
                        'n' => '\n',
                        other => other,
                    }),
                    (_, c) => value.push(c),
                }
            };
            labels.insert(key.trim().to_owned(), value);
            inside = &after[close + 1..];
        }
    }
    let mut words = rest.split_whitespace();
    let value = words.next()?.parse().ok()?;
    let time = words.next().and_then(|ms| ms.parse::<f64>().ok());
    Some((name, labels, value, time.map(|ms| ms / 1e3)))
}

pub(super) fn read_text(text: &str, table: &mut Builder) {
    let mut rows = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        match exposition(trimmed) {
            Some((name, labels, value, time)) => {
                if let Some(column) = columns::metric(name) {
                    rows.push((name, column, labels, value, time));
                }
            }
            None => table.skip(i + 1, line),
        }
    }
    let hosts = several_hosts(rows.iter().map(|r| &r.2));
    let timed = !rows.is_empty() && rows.iter().all(|r| r.4.is_some());
    let mut points = Points::default();
    // a metric of a GPU that comes again begins the next scrape
    let mut scrape = 0.0;
    let mut seen: HashSet<(&str, GpuId)> = HashSet::new();
    for (name, column, labels, value, time) in rows {
        let gpu = gpu_of(&labels, hosts);
        if !timed && !seen.insert((name, gpu.clone())) {
            scrape += 1.0;
            seen.clear();
            seen.insert((name, gpu.clone()));
        }
        points.add(
            &gpu,
            time.filter(|_| timed).unwrap_or(scrape),
            column,
            value,
        );
    }
    if timed {
        table.clock = true;
    } else {
        table.counted = true;
    }
    points.into_samples(table);
}

/// One answer, several in an array, or several one after the other.
pub(super) fn read_json(file: &str, text: &str, table: &mut Builder) -> Result<(), WatchError> {
    let mut series: Vec<(Labels, Vec<Value>)> = Vec::new();
    for document in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let document = document.map_err(|e| WatchError::Json {
            file: file.to_owned(),
            line: e.line(),
            column: e.column(),
            what: e.to_string(),
        })?;
        collect(document, &mut series);
    }
    let mut unknown: Vec<String> = Vec::new();
    let hosts = several_hosts(series.iter().map(|s| &s.0));
    let mut points = Points::default();
    for (labels, values) in &series {
        let name = labels.get("__name__").map_or("", String::as_str);
        let Some(column) = columns::metric(name) else {
            if unknown.len() < 8 && !unknown.iter().any(|n| n == name) {
                unknown.push(name.chars().take(80).collect());
            }
            continue;
        };
        let gpu = gpu_of(labels, hosts);
        for pair in values {
            let time = pair.get(0).and_then(Value::as_f64);
            let value = pair.get(1).and_then(|v| match v {
                Value::String(text) => text.parse().ok(),
                other => other.as_f64(),
            });
            if let (Some(time), Some(value)) = (time, value) {
                points.add(&gpu, time, column, value);
            }
        }
    }
    if points.0.is_empty() && !series.is_empty() {
        return Err(WatchError::NoMetric {
            file: file.to_owned(),
            found: unknown.join(", "),
        });
    }
    table.clock = true;
    points.into_samples(table);
    Ok(())
}

/// Takes the series out of an answer: `{data: {result: [...]}}`, `{result: [...]}`, or the bare array.
fn collect(document: Value, out: &mut Vec<(Labels, Vec<Value>)>) {
    match document {
        Value::Array(items) => items.into_iter().for_each(|item| collect(item, out)),
        Value::Object(mut fields) => {
            if let Some(inner) = fields.remove("data").or_else(|| fields.remove("result")) {
                collect(inner, out);
                return;
            }
            let labels = fields.remove("metric");
            let values = match (fields.remove("values"), fields.remove("value")) {
                (Some(Value::Array(values)), _) => values,
                (_, Some(value)) => vec![value],
                _ => return,
            };
            let Some(Value::Object(labels)) = labels else {
                return;
            };
            let text = |(k, v): (String, Value)| Some((k, v.as_str()?.to_owned()));
            out.push((labels.into_iter().filter_map(text).collect(), values));
        }
        _ => {}
    }
}
