//! `date,availability`: one launch probe a row; the header says that 1 is available. The dates name no zone and
//! are taken as UTC. `spot_prices.json` beside it or one folder above holds a price for each row, by index.

use super::{Format, tick_prices};
use crate::polarity::{Polarity, Said, settle};
use crate::remark::Remark;
use crate::source::Source;
use crate::table::Table;
use crate::{Options, Read, TraceError, names};
use lessee_model::Msg;
use lessee_spot::trace::{Record, Seen, Series};

pub(super) fn looks(source: &Source) -> bool {
    source.json.is_none() && source.head().eq_ignore_ascii_case("date,availability")
}

pub(super) fn read(source: &Source, options: &Options) -> Result<Read, TraceError> {
    let times = times(source)?;
    let about = names::about(&source.stem(), &source.file);
    let zone = about.zone.clone();
    let mut remarks = times.remarks(&zone);
    let said = Said::Stated(Polarity::Available);
    let (up, asked) = settle(
        times.values,
        said,
        &zone,
        &source.file,
        options,
        &mut remarks,
    )?;
    // a file of another length or without this zone is of another recording: no price rather than a wrong one
    let mut price = Vec::new();
    if let Some((place, found)) = tick_prices::beside(source)? {
        match found {
            Some(list) if list.len() == up.len() => price = list,
            Some(list) => {
                return Err(TraceError::Lengths {
                    file: place,
                    what: "prices",
                    expected: up.len(),
                    found: list.len(),
                });
            }
            None => {
                let msg = Msg::new("trace-remark-no-price-of-zone").arg("file", place);
                remarks.push(Remark::new("no_price_of_zone", &zone, msg));
            }
        }
    }
    let series = Series {
        about,
        seen: Seen::Probe,
        asked,
        gap_s: names::nominal_gap(&times.at_s),
        start: Some(times.start),
        at_s: times.at_s,
        up,
        price,
        on_demand: None,
        priced_for: None,
    };
    Ok(Read {
        format: Format::AvailabilityCsv,
        file: source.file.clone(),
        records: vec![Record::Series(series)],
        remarks,
    })
}

/// The rows of such a file, also for prices that are joined to them.
pub(super) struct Times {
    pub(super) start: i64,
    pub(super) at_s: Vec<i64>,
    values: Vec<Option<u32>>,
    zoned: bool,
}

impl Times {
    pub(super) fn remarks(&self, zone: &str) -> Vec<Remark> {
        if self.zoned {
            return Vec::new();
        }
        vec![Remark::new(
            "time_zone_unsaid",
            zone,
            Msg::new("trace-remark-time-zone-unsaid"),
        )]
    }
}

pub(super) fn times(source: &Source) -> Result<Times, TraceError> {
    let table = Table::read(&source.text, &source.file, true, 2)?;
    let mut out = Times {
        start: 0,
        at_s: Vec::with_capacity(table.rows.len()),
        values: Vec::with_capacity(table.rows.len()),
        zoned: true,
    };
    for row in &table.rows {
        let time = names::time(&row.cells[0]).ok_or_else(|| table.bad(row, 0, "time"))?;
        if out.at_s.is_empty() {
            out.start = time.unix;
        }
        let at = time.unix - out.start;
        if out.at_s.last().is_some_and(|last| *last >= at) {
            return Err(table.bad(row, 0, "order"));
        }
        out.zoned &= time.zoned;
        out.at_s.push(at);
        out.values.push(table.count(row, 1)?);
    }
    if out.at_s.is_empty() {
        return Err(TraceError::NoSamples {
            file: source.file.clone(),
        });
    }
    Ok(out)
}
