//! `from_region,to_region,price_usd_per_gb`: what it costs to move data between regions. Pairs that are not there
//! are unknown, not free.

use super::Format;
use crate::source::Source;
use crate::table::Table;
use crate::{Options, Read, TraceError};
use lessee_spot::trace::{About, Egress, Record};
use std::collections::HashMap;

pub(super) fn looks(source: &Source) -> bool {
    source.json.is_none() && source.head().trim() == "from_region,to_region,price_usd_per_gb"
}

pub(super) fn read(source: &Source, _options: &Options) -> Result<Read, TraceError> {
    let table = Table::read(&source.text, &source.file, true, 3)?;
    let mut pairs = Vec::with_capacity(table.rows.len());
    let mut known: HashMap<(&str, &str), f64> = HashMap::new();
    for row in &table.rows {
        let text = row.cells[2].as_str();
        // 0 is a price here: some pairs are free
        let price = text
            .parse::<f64>()
            .ok()
            .filter(|x| x.is_finite() && *x >= 0.0);
        let price = price.ok_or_else(|| table.bad(row, 2, "price"))?;
        let (from, to) = (row.cells[0].as_str(), row.cells[1].as_str());
        // the same pair at two prices: which one holds cannot be told
        if known.insert((from, to), price).is_some_and(|p| p != price) {
            return Err(table.bad(row, 2, "price"));
        }
        pairs.push((from.to_owned(), to.to_owned(), price));
    }
    if pairs.is_empty() {
        return Err(TraceError::NoSamples {
            file: source.file.clone(),
        });
    }
    Ok(Read {
        format: Format::Egress,
        file: source.file.clone(),
        records: vec![Record::Egress(Egress {
            about: About {
                zone: source.stem(),
                source: source.file.clone(),
                ..About::default()
            },
            pairs,
        })],
        remarks: Vec::new(),
    })
}
