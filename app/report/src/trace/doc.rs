//! The JSON documents of `trace import` and `trace show`.

use crate::chart::rfc3339 as date;
use lessee_spot::stats::{availability, spans};
use lessee_spot::trace::{Record, Seen};
use schemars::JsonSchema;
use serde::Serialize;

/// `trace import -o json`; with `-o jsonl` each line is one of `traces`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TraceImportDoc {
    /// `lessee/trace-import/v1`
    pub schema: String,
    pub traces: Vec<TraceImportedDoc>,
}

/// One file or folder.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TraceImportedDoc {
    pub file: String,
    pub formats: Vec<String>,
    pub records: Vec<RecordDoc>,
    pub remarks: Vec<TraceRemarkDoc>,
    /// Files of the folder that are no traces.
    pub skipped: Vec<String>,
    /// Null with `--dry-run`.
    pub saved: Option<SavedTraceDoc>,
}

/// Where it was kept.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SavedTraceDoc {
    pub name: String,
    pub file: String,
}

/// `trace show -o json` without a name; with `-o jsonl` each line is one of `traces`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TraceListDoc {
    /// `lessee/trace-list/v1`
    pub schema: String,
    pub traces: Vec<TraceStoredDoc>,
}

/// One trace of the user's.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TraceStoredDoc {
    pub name: String,
    pub file: String,
    /// What was imported.
    pub source: String,
    pub formats: Vec<String>,
    /// RFC 3339, UTC.
    pub imported_at: String,
    /// Zones, logs, price paths and buckets in it.
    pub records: u64,
}

/// `trace show NAME -o json`; with `-o jsonl` each line is one of `records`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TraceShowDoc {
    /// `lessee/trace-show/v1`
    pub schema: String,
    pub records: Vec<RecordDoc>,
    pub remarks: Vec<TraceRemarkDoc>,
    /// Files of the folder that are no traces.
    pub skipped: Vec<String>,
}

/// Something that has to be known before a figure is trusted.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TraceRemarkDoc {
    /// `time_zone_unsaid`, `price_of_machine`, `identical_zones`, ...
    pub code: String,
    /// Empty: the whole file.
    pub zone: String,
    pub text: String,
}

/// One recording of one thing in one zone.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RecordDoc {
    /// `series`, `lives`, `prices`, `bucket`, `price_summary`, `list_price`, `egress`
    pub kind: String,
    pub zone: String,
    pub region: Option<String>,
    pub provider: Option<String>,
    pub machine: Option<String>,
    /// File and column.
    pub source: String,
    /// RFC 3339, UTC; null: the file names no date.
    pub start: Option<String>,
    pub span_seconds: Option<i64>,
    /// Samples, lives, price rows or pairs.
    pub entries: u64,
    /// Nominal distance of two samples; 0: recorded by change.
    pub gap_seconds: Option<u32>,
    /// Instances that were asked for.
    pub asked: Option<u32>,
    /// What a sample rests on: `probe` (a launch was tried; no instance lived), `running`, `unsaid`.
    pub seen: Option<String>,
    /// Share of known time with at least `--gang` instances.
    pub available_share: Option<f64>,
    /// Seconds of which nothing is known.
    pub unknown_seconds: Option<i64>,
    pub priced: bool,
}

/// A record for programs; `gang`: instances wanted at once.
pub fn record_doc(record: &Record, gang: u32) -> RecordDoc {
    let about = record.about();
    let mut doc = RecordDoc {
        kind: String::new(),
        zone: about.zone.clone(),
        region: about.region.clone(),
        provider: about.provider.clone(),
        machine: about.machine.clone(),
        source: about.source.clone(),
        start: None,
        span_seconds: None,
        entries: 1,
        gap_seconds: None,
        asked: None,
        seen: None,
        available_share: None,
        unknown_seconds: None,
        priced: false,
    };
    let kind = match record {
        Record::Series(s) => {
            let a = availability(&spans(s, gang));
            doc.start = s.start.map(date);
            doc.span_seconds = Some(a.span_s);
            doc.entries = s.up.len() as u64;
            doc.gap_seconds = Some(s.gap_s);
            doc.asked = Some(s.asked);
            let seen = match s.seen {
                Seen::Probe => "probe",
                Seen::Running => "running",
                Seen::Unsaid => "unsaid",
            };
            doc.seen = Some(seen.to_owned());
            doc.available_share = a.share();
            doc.unknown_seconds = Some(a.span_s - a.known_s);
            doc.priced = s.price.iter().any(Option::is_some);
            "series"
        }
        Record::Lives(l) => {
            doc.start = l.start.map(date);
            doc.span_seconds = Some(l.span_s);
            doc.entries = l.lives.len() as u64;
            "lives"
        }
        Record::Prices(p) => {
            let first = p.changes.first().map_or(p.until, |c| c.0);
            doc.start = Some(date(first));
            doc.span_seconds = Some(p.until - first);
            doc.entries = p.rows as u64;
            doc.priced = true;
            "prices"
        }
        Record::Bucket(_) => "bucket",
        Record::PriceSummary(_) => {
            doc.priced = true;
            "price_summary"
        }
        Record::ListPrice(p) => {
            doc.start = p.since.map(date);
            doc.priced = p.spot.is_some() || p.on_demand.is_some();
            "list_price"
        }
        Record::Egress(e) => {
            doc.entries = e.pairs.len() as u64;
            doc.priced = true;
            "egress"
        }
    };
    kind.clone_into(&mut doc.kind);
    doc
}
