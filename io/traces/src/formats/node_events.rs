//! `ms,add|remove,NODE` without a header: nodes of one cluster that came and went. Both ends of a life are exact;
//! several events may share a millisecond. A removal of a node that is not there, or a second one of its name, is an
//! error: the log is not whole.

use super::Format;
use crate::remark::Remark;
use crate::source::Source;
use crate::table::Table;
use crate::{Options, Read, TraceError, names};
use lessee_model::Msg;
use lessee_spot::trace::{Life, Lives, Record};
use std::collections::HashMap;

pub(super) fn looks(source: &Source) -> bool {
    let mut cells = source.head().split(',').map(str::trim);
    source.json.is_none()
        && cells
            .next()
            .is_some_and(|c| !c.is_empty() && c.bytes().all(|b| b.is_ascii_digit()))
        && cells.next().is_some_and(|c| c == "add" || c == "remove")
        && cells.next().is_some()
        && cells.next().is_none()
}

pub(super) fn read(source: &Source, _options: &Options) -> Result<Read, TraceError> {
    let table = Table::read(&source.text, &source.file, false, 3)?;
    let mut open: HashMap<&str, usize> = HashMap::new();
    let mut lives: Vec<Life> = Vec::new();
    let mut last = 0i64;
    for row in &table.rows {
        let ms = table.milliseconds(row, 0, last)?;
        last = ms;
        let name = row.cells[2].as_str();
        match (row.cells[1].as_str(), open.get(name).copied()) {
            ("add", None) => {
                open.insert(name, lives.len());
                lives.push(Life {
                    name: name.to_owned(),
                    from_s: ms / 1000,
                    alive_s: ms / 1000,
                    gone_s: None,
                });
            }
            ("remove", Some(place)) => {
                open.remove(name);
                lives[place].alive_s = ms / 1000;
                lives[place].gone_s = Some(ms / 1000);
            }
            _ => return Err(table.bad(row, 1, "event")),
        }
    }
    // who is left lived to the end of the log
    for place in open.into_values() {
        lives[place].alive_s = last / 1000;
    }
    let still = lives.iter().filter(|l| l.gone_s.is_none()).count();
    let about = names::about(&source.stem(), &source.file);
    let msg = Msg::new("trace-remark-censored").arg("n", still);
    let remarks = match still {
        0 => Vec::new(),
        _ => vec![Remark::new("censored_lives", &about.zone, msg)],
    };
    Ok(Read {
        format: Format::NodeEvents,
        file: source.file.clone(),
        records: vec![Record::Lives(Lives {
            about,
            start: None,
            span_s: last / 1000,
            lives,
            refused_s: Vec::new(),
        })],
        remarks,
    })
}
