//! fio's JSON, one document or several after each other (`--status-interval`, logs of a harness).
//!
//! Figures are I/O operations a second; percentiles are of the completion latency, in microseconds here and
//! nanoseconds in the file (microseconds before fio 3).

use crate::read::{Read, json, source::Source};
use serde_json::{Value, json};

/// Most jobs that are listed.
const MAX_JOBS: usize = 10_000;

pub(crate) fn recognise(source: &Source) -> bool {
    let head = source.head();
    head.contains("\"fio version\"")
        || (head.contains("\"jobname\"") && head.contains("\"total_ios\""))
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let found = json::find(&source.text, &mut |number, line| {
        // fio and its harnesses write remarks around the JSON
        match line.trim_start().starts_with("fio:") {
            true => out.problem("tool_says", "fio", line.trim()),
            false => super::unread(number, line, out),
        }
    });
    found.say(out);
    let runs: Vec<&Value> = found
        .documents
        .iter()
        .filter(|d| d.get("jobs").is_some() || d.get("fio version").is_some())
        .collect();
    if found.documents.is_empty() {
        return;
    }
    out.fact("objects", runs.len());
    let version = runs.iter().find_map(|r| r["fio version"].as_str());
    if let Some(version) = version {
        out.fact("version", version);
    }
    let jobs: Vec<&Value> = runs
        .iter()
        .filter_map(|r| r["jobs"].as_array())
        .flatten()
        .take(MAX_JOBS)
        .collect();
    for job in &jobs {
        let error = job["error"].as_i64().unwrap_or(0);
        if error != 0 {
            out.problem("io_error", name(job), format!("error {error}"));
        }
        if let Some(direct) = option(job, &runs, "direct")
            && direct == "0"
        {
            out.problem(
                "page_cache",
                name(job),
                "direct=0: figures of memory, not of the disk",
            );
        }
    }
    // of one job that reads or writes, not both, the two figures people quote
    if let [job] = jobs.as_slice() {
        let busy: Vec<&Value> = ["read", "write", "trim"]
            .iter()
            .filter_map(|way| job.get(*way))
            .filter(|way| iops(way).is_some_and(|n| n > 0))
            .collect();
        if let [way] = busy.as_slice() {
            out.fact("iops", iops(way));
            if let Some(us) = p99_us(way) {
                out.fact("p99_us", us);
            }
        }
    }
    // read, write and trim, as fio names them
    let rows = jobs.iter().map(|job| {
        let ways = ["read", "write", "trim"].map(|way| job.get(way).and_then(iops));
        json!([name(job), ways[0], ways[1], ways[2]])
    });
    out.fact("jobs", Value::Array(rows.collect()));
}

fn name(job: &Value) -> &str {
    job["jobname"].as_str().unwrap_or_default()
}

/// An option of the job, or of all jobs of its run (told apart by whether there is one run).
fn option<'v>(job: &'v Value, runs: &[&'v Value], key: &str) -> Option<&'v str> {
    let own = job["job options"][key].as_str();
    let global = match runs {
        [run] => run["global options"][key].as_str(),
        _ => None,
    };
    own.or(global)
}

/// Rounded; what is no sensible count is none.
fn iops(way: &Value) -> Option<u64> {
    let rate = way["iops"].as_f64()?.round();
    (0.0..1e15).contains(&rate).then_some(rate as u64)
}

fn p99_us(way: &Value) -> Option<u64> {
    const P99: &str = "99.000000";
    if let Some(ns) = way["clat_ns"]["percentile"][P99].as_u64() {
        return Some(ns / 1000);
    }
    way["clat"]["percentile"][P99].as_u64()
}
