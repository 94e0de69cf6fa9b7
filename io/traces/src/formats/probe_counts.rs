//! `tick,utc,ZONE,ZONE,...`: instances that started, of those requested, one column a zone. Higher is more
//! available. Ticks that are not there are a hole, not zeros.

use super::Format;
use crate::remark::Remark;
use crate::source::Source;
use crate::table::Table;
use crate::{Options, Read, TraceError, names};
use lessee_model::Msg;
use lessee_spot::trace::{Record, Seen, Series};

pub(super) fn looks(source: &Source) -> bool {
    source.json.is_none() && source.head().starts_with("tick,utc,")
}

pub(super) fn read(source: &Source, _options: &Options) -> Result<Read, TraceError> {
    let table = Table::read(&source.text, &source.file, true, 2)?;
    let mut at = Vec::with_capacity(table.rows.len());
    for row in &table.rows {
        let time = names::time(&row.cells[1]).ok_or_else(|| table.bad(row, 1, "time"))?;
        if at.last().is_some_and(|last| *last >= time.unix) {
            return Err(table.bad(row, 1, "order"));
        }
        at.push(time.unix);
    }
    let Some(start) = at.first().copied() else {
        return Err(TraceError::NoSamples {
            file: source.file.clone(),
        });
    };
    let at_s: Vec<i64> = at.iter().map(|t| t - start).collect();
    let mut series = Vec::new();
    for column in 2..table.header.len() {
        let zone = &table.header[column];
        let up = table
            .rows
            .iter()
            .map(|row| table.count(row, column))
            .collect::<Result<Vec<_>, _>>()?;
        series.push(Series {
            about: names::about(zone, &format!("{}#{zone}", source.file)),
            seen: Seen::Probe,
            asked: 0,
            gap_s: names::nominal_gap(&at_s),
            start: Some(start),
            at_s: at_s.clone(),
            up,
            price: Vec::new(),
            on_demand: None,
            priced_for: None,
        });
    }
    // every zone was asked for the same number; the file does not state it
    let asked = series
        .iter()
        .flat_map(|s| s.up.iter().flatten())
        .copied()
        .max();
    let asked = asked.unwrap_or(1).max(1);
    series.iter_mut().for_each(|s| s.asked = asked);
    let msg = Msg::new("trace-remark-asked-inferred").arg("n", asked);
    Ok(Read {
        format: Format::ProbeCounts,
        file: source.file.clone(),
        records: series.into_iter().map(Record::Series).collect(),
        remarks: vec![Remark::new("asked_inferred", "", msg)],
    })
}
