//! `spot_prices.json`: zone -> USD an hour by index, without times. The times are those of `ZONE.csv` beside it
//! or in `availability/`; prices of one zone are never used for another.

use super::{Format, availability_csv};
use crate::source::Source;
use crate::{Options, Read, TraceError, names};
use lessee_spot::trace::{About, PricePath, Record};
use serde_json::Value;
use std::path::Path;

const NAME: &str = "spot_prices.json";

pub(super) fn looks(source: &Source) -> bool {
    let object = source.json.as_ref().and_then(Value::as_object);
    object.is_some_and(|o| {
        !o.is_empty()
            && o.values().all(|v| {
                v.as_array()
                    .is_some_and(|a| a.first().is_none_or(|x| x.is_number() || x.is_null()))
            })
    })
}

pub(super) fn read(source: &Source, _options: &Options) -> Result<Read, TraceError> {
    let folder = source.path.parent().unwrap_or(Path::new("."));
    let object = source.json.as_ref().and_then(Value::as_object);
    let mut records = Vec::new();
    let mut remarks = Vec::new();
    for (key, list) in object.into_iter().flatten() {
        let prices = parsed(source, key, list)?;
        let file = format!("{key}.csv");
        // a key is a name inside these folders, never a path out of them
        let plain = !key.contains(['/', '\\']) && !key.starts_with('.');
        let beside = [folder.join("availability").join(&file), folder.join(&file)];
        let Some(path) = beside.iter().find(|p| plain && p.is_file()) else {
            return Err(TraceError::NoTimes {
                file: source.file.clone(),
            });
        };
        let bytes = lessee_catalog::read_path(path)?;
        let times = availability_csv::times(&Source::new(path, &bytes)?)?;
        if times.at_s.len() != prices.len() {
            return Err(TraceError::Lengths {
                file: source.file.clone(),
                what: "prices",
                expected: times.at_s.len(),
                found: prices.len(),
            });
        }
        let about = names::about(key, &format!("{}#{key}", source.file));
        remarks.extend(times.remarks(&about.zone));
        let times = times.at_s.iter().map(|at| times.start + at);
        records.push(Record::Prices(path_of(about, times.zip(prices))));
    }
    Ok(Read {
        format: Format::TickPrices,
        file: source.file.clone(),
        records,
        remarks,
    })
}

/// Rows of a time and a price, which may be null: nobody knows it until the next one, and after the last one for good.
fn path_of(about: About, rows: impl Iterator<Item = (i64, Option<f64>)>) -> PricePath {
    let mut path = PricePath {
        about,
        product: None,
        changes: Vec::new(),
        rows: 0,
        until: 0,
        holes: Vec::new(),
    };
    let mut null_since = None;
    for (at, price) in rows {
        match price {
            None if path.changes.is_empty() => {}
            None => {
                null_since.get_or_insert(at);
            }
            Some(price) => {
                path.rows += 1;
                path.holes.extend(null_since.take().map(|from| (from, at)));
                if path.changes.last().is_none_or(|(_, last)| *last != price) {
                    path.changes.push((at, price));
                }
                path.until = at;
            }
        }
    }
    path
}

fn parsed(source: &Source, key: &str, list: &Value) -> Result<Vec<Option<f64>>, TraceError> {
    let list = list.as_array().map_or(&[][..], Vec::as_slice);
    let one = |(i, v): (usize, &Value)| match v {
        Value::Null => Ok(None),
        v => match v.as_f64().filter(|x| x.is_finite() && *x > 0.0) {
            Some(x) => Ok(Some(x)),
            None => Err(source.bad(format!("{key}[{i}]"), &v.to_string(), "price")),
        },
    };
    list.iter().enumerate().map(one).collect()
}

type Found = Option<(String, Option<Vec<Option<f64>>>)>;

/// The file of prices that belongs to a series, and the list of its zone in it. `None`: there is no such file.
pub(super) fn beside(series: &Source) -> Result<Found, TraceError> {
    let folder = series.path.parent().unwrap_or(Path::new("."));
    // above it only from the folder whose name says that it is a part of a set
    let mut places = vec![folder.join(NAME)];
    if folder.file_name().is_some_and(|n| n == "availability") {
        places.extend(folder.parent().map(|p| p.join(NAME)));
    }
    let Some(path) = places.into_iter().find(|p| p.is_file()) else {
        return Ok(None);
    };
    let bytes = lessee_catalog::read_path(&path)?;
    let source = Source::new(&path, &bytes)?;
    let key = series.stem();
    let list = source.json.as_ref().and_then(|j| j.get(&key));
    let list = list.map(|list| parsed(&source, &key, list)).transpose()?;
    Ok(Some((source.file.clone(), list)))
}
