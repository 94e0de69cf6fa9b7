//! A trace as we keep it: JSON lines, a header and then one record a line. The header's `kind` leaves room for other
//! traces (requests) beside spot markets.

use super::Format;
use crate::remark::Remark;
use crate::source::Source;
use crate::{Options, Read, TraceError};
use lessee_catalog::CatalogError;
use lessee_spot::trace::Record;
use serde::{Deserialize, Serialize};

const SCHEMA: &str = "lessee/trace/v1";
const KIND: &str = "spot_market";

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    pub(crate) schema: String,
    pub(crate) kind: String,
    /// File or folder that was imported.
    pub(crate) source: String,
    /// Formats of its files.
    pub(crate) formats: Vec<String>,
    /// RFC 3339.
    pub(crate) imported_at: String,
    /// Records that follow: fewer mean that the file was cut.
    pub(crate) records: usize,
    /// Of the first sample's file to the last: in hex, so that two imports of one file are seen to be one.
    pub(crate) sha256: String,
    pub(crate) remarks: Vec<Remark>,
}

impl Header {
    pub(crate) fn new(source: String, formats: Vec<String>, imported_at: String) -> Header {
        Header {
            schema: SCHEMA.to_owned(),
            kind: KIND.to_owned(),
            source,
            formats,
            imported_at,
            records: 0,
            sha256: String::new(),
            remarks: Vec::new(),
        }
    }

    /// The header of a kept trace; `None`: the line is none.
    pub(crate) fn of_line(line: &str) -> Option<Header> {
        let header: Header = serde_json::from_str(line).ok()?;
        (header.schema == SCHEMA && header.kind == KIND).then_some(header)
    }
}

pub(super) fn looks(source: &Source) -> bool {
    source.lines && source.head().contains(SCHEMA)
}

pub(super) fn read(source: &Source, _options: &Options) -> Result<Read, TraceError> {
    let bad = |line: usize, what: String| TraceError::Json {
        file: source.file.clone(),
        line: line as u64,
        column: 1,
        what,
    };
    let mut lines = source.text.lines();
    let first = lines.next().unwrap_or("");
    let header: Header = serde_json::from_str(first).map_err(|e| bad(1, e.to_string()))?;
    if header.schema != SCHEMA || header.kind != KIND {
        return Err(source.bad(
            "schema, kind",
            &format!("{}, {}", header.schema, header.kind),
            "column",
        ));
    }
    let mut records = Vec::new();
    for (i, line) in lines.enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        let record: Record = serde_json::from_str(line).map_err(|e| bad(i + 2, e.to_string()))?;
        if let Some(why) = checked(&record) {
            return Err(bad(i + 2, why.to_owned()));
        }
        records.push(record);
    }
    if records.len() != header.records {
        return Err(CatalogError::Truncated {
            file: source.file.clone(),
            line: records.len() as u64 + 1,
        }
        .into());
    }
    Ok(Read {
        format: Format::Stored,
        file: source.file.clone(),
        records,
        remarks: header.remarks,
    })
}

/// No moment and no length of a record is this many seconds from 0: more than any date that can be written.
const MOST_S: i64 = 1 << 40;

/// What importers guarantee, of a record that somebody may have edited; `None`: it holds.
fn checked(record: &Record) -> Option<&'static str> {
    let price = |p: &f64| p.is_finite() && *p > 0.0;
    // seconds since the start of the record, and Unix times
    let since = |t: &i64| (0..MOST_S).contains(t);
    let unix = |t: &i64| t.unsigned_abs() < MOST_S as u64;
    match record {
        Record::Series(s) => {
            let in_range = s.at_s.iter().all(since) && s.start.iter().all(unix);
            if s.at_s.len() != s.up.len() || !(s.price.is_empty() || s.price.len() == s.up.len()) {
                Some("at_s, up and price differ in length")
            } else if !in_range || s.at_s.windows(2).any(|w| w[0] >= w[1]) {
                Some("at_s does not ascend from 0 or later, or a time is out of range")
            } else if s.asked == 0 || s.up.iter().flatten().any(|n| *n > s.asked) {
                Some("up is above asked")
            } else if !s.price.iter().flatten().chain(&s.on_demand).all(price) {
                Some("a price is not above 0")
            } else {
                None
            }
        }
        Record::Lives(l) => {
            let ordered = |l: &lessee_spot::trace::Life| {
                l.from_s <= l.alive_s && l.gone_s.is_none_or(|gone| l.alive_s <= gone)
            };
            let mut times = l
                .lives
                .iter()
                .flat_map(|l| [l.from_s, l.alive_s].into_iter().chain(l.gone_s));
            if !l.lives.iter().all(ordered) {
                Some("a life ends before it begins")
            } else if !times.all(|t| since(&t))
                || !l.refused_s.iter().all(since)
                || !since(&l.span_s)
                || !l.start.iter().all(unix)
            {
                Some("a time is out of range")
            } else {
                None
            }
        }
        Record::Prices(p) => {
            let ascend = p.changes.windows(2).all(|w| w[0].0 < w[1].0);
            let after = p.changes.last().is_none_or(|last| last.0 <= p.until);
            let ends = p.holes.iter().flat_map(|h| [h.0, h.1]);
            let holes = ends.clone().zip(ends.clone().skip(1)).all(|(a, b)| a <= b)
                && ends.clone().next_back().is_none_or(|end| end <= p.until)
                && ends.clone().all(|t| unix(&t));
            if !holes {
                Some("holes do not ascend to until")
            } else if !ascend || !after || !p.changes.iter().all(|c| price(&c.1)) {
                Some("changes do not ascend to until, or are no prices")
            } else if !p.changes.iter().all(|c| unix(&c.0)) || !unix(&p.until) {
                Some("a time is out of range")
            } else {
                None
            }
        }
        Record::Bucket(b) => {
            let share = |x: f64| (0.0..=1.0).contains(&x);
            let whole = share(b.low) && b.high.is_none_or(share) && b.per_h > 0.0;
            (!whole).then_some("a share is not within 0 to 1")
        }
        Record::ListPrice(l) => {
            let whole = l.spot.iter().chain(&l.on_demand).all(price) && l.since.iter().all(unix);
            (!whole).then_some("a price is not above 0, or its time is out of range")
        }
        Record::PriceSummary(p) => {
            (![p.first, p.min, p.mean, p.max].iter().all(price)).then_some("a price is not above 0")
        }
        Record::Egress(e) => {
            // some pairs are free
            let whole = |pair: &(String, String, f64)| pair.2.is_finite() && pair.2 >= 0.0;
            (!e.pairs.iter().all(whole)).then_some("a price is below 0")
        }
    }
}
