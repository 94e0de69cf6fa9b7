//! Our own CSV: `time,zone,available[,price][,on_demand][,asked][,machine][,provider]`.
//!
//! `time` is RFC 3339, `YYYY-MM-DD HH:MM:SS` (UTC) or Unix seconds; `available` the number of instances that could
//! be had (0 or 1 of one), blank = unknown; `price` and `on_demand` USD an hour of one instance; `asked` how many
//! were asked for. Rows of a zone are in ascending time; zones may be mixed.

use super::Format;
use crate::polarity::{Polarity, Said, settle};
use crate::remark::Remark;
use crate::source::Source;
use crate::table::{Row, Table};
use crate::{Options, Read, TraceError, names};
use lessee_model::Msg;
use lessee_spot::trace::{About, Record, Seen, Series};
use std::collections::HashMap;

const FORMAT: &str = "plain";
const KNOWN: [&str; 8] = [
    "time",
    "zone",
    "available",
    "price",
    "on_demand",
    "asked",
    "machine",
    "provider",
];

pub(super) fn looks(source: &Source) -> bool {
    let head = source.head().to_ascii_lowercase();
    let has = |name| head.split(',').any(|c| c.trim() == name);
    source.json.is_none() && has("time") && has("zone") && has("available")
}

struct Zone {
    series: Series,
    values: Vec<Option<u32>>,
    priced: bool,
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Read, TraceError> {
    let table = Table::read(&source.text, &source.file, true, 0)?;
    for name in &table.header {
        let known = KNOWN.iter().any(|k| k.eq_ignore_ascii_case(name));
        let twice = table.header.iter().filter(|h| *h == name).count() > 1;
        if !known || twice {
            return Err(source.bad("header", name, "column"));
        }
    }
    let need = |name| {
        table
            .column(name)
            .ok_or_else(|| source.missing(FORMAT, name))
    };
    let (time, zone, available) = (need("time")?, need("zone")?, need("available")?);
    let mut zones: Vec<Zone> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut zoned = true;
    for row in &table.rows {
        let at = names::time(&row.cells[time]).ok_or_else(|| table.bad(row, time, "time"))?;
        zoned &= at.zoned;
        let name = row.cells[zone].as_str();
        if name.is_empty() {
            return Err(table.bad(row, zone, "column"));
        }
        let place = *places.entry(name).or_insert_with(|| {
            zones.push(new_zone(name, at.unix, source));
            zones.len() - 1
        });
        let z = &mut zones[place];
        let second = at.unix - z.series.start.unwrap_or(0);
        if z.series.at_s.last().is_some_and(|last| *last >= second) {
            return Err(table.bad(row, time, "order"));
        }
        z.series.at_s.push(second);
        z.values.push(table.count(row, available)?);
        more(&table, row, z)?;
    }
    let mut remarks = Vec::new();
    if !zoned {
        remarks.push(Remark::new(
            "time_zone_unsaid",
            "",
            Msg::new("trace-remark-time-zone-unsaid"),
        ));
    }
    let mut records = Vec::with_capacity(zones.len());
    for z in zones {
        let mut series = z.series;
        let zone = series.about.zone.clone();
        let said = Said::Stated(Polarity::Available);
        let (up, most) = settle(z.values, said, &zone, &source.file, options, &mut remarks)?;
        series.up = up;
        series.asked = series.asked.max(most);
        series.gap_s = names::nominal_gap(&series.at_s);
        if !z.priced {
            series.price = Vec::new();
        }
        records.push(Record::Series(series));
    }
    Ok(Read {
        format: Format::Plain,
        file: source.file.clone(),
        records,
        remarks,
    })
}

fn new_zone(name: &str, start: i64, source: &Source) -> Zone {
    Zone {
        series: Series {
            about: About {
                zone: name.to_owned(),
                region: names::region_of(name),
                provider: None,
                machine: None,
                source: format!("{}#{name}", source.file),
            },
            seen: Seen::Unsaid,
            asked: 1,
            gap_s: 0,
            start: Some(start),
            at_s: Vec::new(),
            up: Vec::new(),
            price: Vec::new(),
            on_demand: None,
            priced_for: None,
        },
        values: Vec::new(),
        priced: false,
    }
}

/// The columns that may be left out.
fn more(table: &Table, row: &Row, zone: &mut Zone) -> Result<(), TraceError> {
    let price = table
        .column("price")
        .map(|c| table.price(row, c))
        .transpose()?
        .flatten();
    zone.priced |= price.is_some();
    zone.series.price.push(price);
    if let Some(column) = table.column("on_demand")
        && let Some(price) = table.price(row, column)?
    {
        // one price a zone: a second one means that two things stand in one column
        if zone.series.on_demand.is_some_and(|known| known != price) {
            return Err(table.bad(row, column, "price"));
        }
        zone.series.on_demand = Some(price);
    }
    if let Some(column) = table.column("asked")
        && let Some(asked) = table.count(row, column)?
    {
        zone.series.asked = zone.series.asked.max(asked);
    }
    if let Some(column) = table.column("machine")
        && !row.cells[column].is_empty()
    {
        zone.series.about.machine = Some(row.cells[column].clone());
    }
    if let Some(column) = table.column("provider")
        && !row.cells[column].is_empty()
    {
        zone.series.about.provider = Some(row.cells[column].to_lowercase());
    }
    Ok(())
}
