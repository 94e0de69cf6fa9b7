//! `ms,NODES` without a header: size of one cluster, written at each change. Of several rows at one second the last
//! holds. How many nodes were asked for is not stated: the largest size stands for it.

use super::Format;
use crate::remark::Remark;
use crate::source::Source;
use crate::table::Table;
use crate::{Options, Read, TraceError, names};
use lessee_model::Msg;
use lessee_spot::trace::{Record, Seen, Series};

pub(super) fn looks(source: &Source) -> bool {
    let cells: Vec<&str> = source.head().split(',').map(str::trim).collect();
    let number = |c: &&str| !c.is_empty() && c.bytes().all(|b| b.is_ascii_digit());
    source.json.is_none() && cells.len() == 2 && cells.iter().all(number)
}

pub(super) fn read(source: &Source, _options: &Options) -> Result<Read, TraceError> {
    let table = Table::read(&source.text, &source.file, false, 2)?;
    let mut at_s: Vec<i64> = Vec::new();
    let mut up: Vec<Option<u32>> = Vec::new();
    let mut last = 0i64;
    for row in &table.rows {
        let ms = table.milliseconds(row, 0, last)?;
        last = ms;
        let count = table
            .count(row, 1)?
            .ok_or_else(|| table.bad(row, 1, "count"))?;
        if at_s.last() == Some(&(ms / 1000)) {
            at_s.pop();
            up.pop();
        }
        at_s.push(ms / 1000);
        up.push(Some(count));
    }
    let asked = up.iter().flatten().copied().max().unwrap_or(1).max(1);
    let about = names::about(&source.stem(), &source.file);
    let msg = Msg::new("trace-remark-asked-inferred").arg("n", asked);
    let remarks = vec![Remark::new("asked_inferred", &about.zone, msg)];
    Ok(Read {
        format: Format::NodeCounts,
        file: source.file.clone(),
        records: vec![Record::Series(Series {
            about,
            seen: Seen::Running,
            asked,
            gap_s: 0,
            start: None,
            at_s,
            up,
            price: Vec::new(),
            on_demand: None,
            priced_for: None,
        })],
        remarks,
    })
}
