//! `zone,az_id,price_at_window_start,min,max,time_weighted_mean,price_changes_in_window`: what an archive of prices
//! said of a span, USD an hour. A cross-check of price paths, no path.

use super::Format;
use crate::source::Source;
use crate::table::{Row, Table};
use crate::{Options, Read, TraceError, names};
use lessee_spot::trace::{PriceSummary, Record};

const FORMAT: &str = "price-summary";

pub(super) fn looks(source: &Source) -> bool {
    source.json.is_none()
        && source
            .head()
            .starts_with("zone,az_id,price_at_window_start")
}

pub(super) fn read(source: &Source, _options: &Options) -> Result<Read, TraceError> {
    let table = Table::read(&source.text, &source.file, true, 0)?;
    let need = |name| {
        table
            .column(name)
            .ok_or_else(|| source.missing(FORMAT, name))
    };
    let columns = [
        need("price_at_window_start")?,
        need("min")?,
        need("time_weighted_mean")?,
        need("max")?,
    ];
    let (zone, id, changes) = (
        need("zone")?,
        need("az_id")?,
        need("price_changes_in_window")?,
    );
    let price = |row: &Row, column| {
        table
            .price(row, column)?
            .ok_or_else(|| table.bad(row, column, "price"))
    };
    let mut records = Vec::new();
    for row in &table.rows {
        let [first, min, mean, max] = columns;
        let summary = PriceSummary {
            about: names::about(
                &row.cells[zone],
                &format!("{}#{}", source.file, row.cells[zone]),
            ),
            zone_id: Some(row.cells[id].clone()).filter(|id| !id.is_empty()),
            first: price(row, first)?,
            min: price(row, min)?,
            mean: price(row, mean)?,
            max: price(row, max)?,
            changes: table
                .count(row, changes)?
                .ok_or_else(|| table.bad(row, changes, "count"))?,
        };
        if summary.min > summary.mean || summary.mean > summary.max {
            return Err(table.bad(row, mean, "price"));
        }
        records.push(Record::PriceSummary(summary));
    }
    Ok(Read {
        format: Format::PriceSummary,
        file: source.file.clone(),
        records,
        remarks: Vec::new(),
    })
}
