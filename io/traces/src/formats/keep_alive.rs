//! Log of a script that keeps one preemptible machine a slot alive:
//!
//! ```text
//! [2020-03-01T10:11:21.000Z] Created instance instance0 with 1 GPU(s) of type nvidia-tesla-v100 in zone us-west1-b
//! [2020-03-01T10:11:22.000Z] Instance instance0 running in zone us-west1-b
//! [2020-03-01T10:27:04.000Z] Instance instance0 not running in zone us-west1-b
//! [2020-03-01T10:27:09.000Z] Successfully deleted instance instance0
//! [2020-03-01T10:28:04.000Z] Instance instance1 creation failed
//! ```
//!
//! `instance0` is a slot that is filled again and again, not a machine. A start is exact, an end is known only to lie
//! between two checks. The GPU stands only in the `Created` line, so a refused start has that of its slot's others.

use super::Format;
use crate::remark::Remark;
use crate::source::Source;
use crate::{Options, Read, TraceError, names, region_of};
use lessee_model::Msg;
use lessee_spot::trace::{About, Life, Lives, Record};
use std::collections::BTreeMap;

pub(super) fn looks(source: &Source) -> bool {
    source.json.is_none()
        && parse(source.head())
            .is_some_and(|(time, event)| names::time(time).is_some() && event.is_some())
}

enum Event<'a> {
    Created {
        slot: &'a str,
        machine: String,
        zone: &'a str,
    },
    Running {
        slot: &'a str,
    },
    Gone {
        slot: &'a str,
        zone: &'a str,
    },
    Refused {
        slot: &'a str,
    },
    Deleted {
        slot: &'a str,
    },
}

#[derive(Default)]
struct Slot {
    zone: Option<String>,
    machine: Option<String>,
    life: Option<Life>,
    lives: Vec<Life>,
    refused: Vec<i64>,
}

pub(super) fn read(source: &Source, _options: &Options) -> Result<Read, TraceError> {
    let mut slots: BTreeMap<&str, Slot> = BTreeMap::new();
    let mut start = None;
    let mut last = i64::MIN;
    for (i, line) in source
        .text
        .lines()
        .enumerate()
        .filter(|(_, l)| !l.trim().is_empty())
    {
        let place = || format!("line {}", i + 1);
        let (time, event) = parse(line).ok_or_else(|| source.bad(place(), line, "event"))?;
        let at = names::time(time)
            .ok_or_else(|| source.bad(place(), time, "time"))?
            .unix;
        let event = event.ok_or_else(|| source.bad(place(), line, "event"))?;
        let zero = *start.get_or_insert(at);
        if at < last {
            return Err(source.bad(place(), time, "order"));
        }
        last = at;
        let at = at - zero;
        match event {
            Event::Created {
                slot,
                machine,
                zone,
            } => {
                let s = slots.entry(slot).or_default();
                let moved = s.zone.as_deref().is_some_and(|z| z != zone)
                    || s.machine.as_deref().is_some_and(|m| m != machine);
                // two lives at once in a slot, or a slot that changes its kind: not the log that we know
                if s.life.is_some() || moved {
                    return Err(source.bad(place(), line, "event"));
                }
                s.zone = Some(zone.to_owned());
                s.machine = Some(machine);
                s.life = Some(Life {
                    name: slot.to_owned(),
                    from_s: at,
                    alive_s: at,
                    gone_s: None,
                });
            }
            Event::Running { slot } => {
                if let Some(life) = slots.entry(slot).or_default().life.as_mut() {
                    life.alive_s = at;
                }
            }
            Event::Gone { slot, zone } => {
                let s = slots.entry(slot).or_default();
                s.zone.get_or_insert_with(|| zone.to_owned());
                if let Some(mut life) = s.life.take() {
                    life.gone_s = Some(at);
                    s.lives.push(life);
                }
            }
            Event::Refused { slot } => slots.entry(slot).or_default().refused.push(at),
            Event::Deleted { slot } => {
                // what is deleted while it is thought to live did not end by itself, and nobody looked whether it still
                // lived; after a loss this is the clean-up
                if let Some(s) = slots.get_mut(slot) {
                    s.lives.extend(s.life.take());
                }
            }
        }
    }
    let span_s = start.map_or(0, |zero| last - zero);
    let mut remarks = Vec::new();
    // one record a zone and machine; a slot that never started has no machine
    let mut records: BTreeMap<(String, Option<String>), Lives> = BTreeMap::new();
    for (name, slot) in slots {
        let zone = slot.zone.unwrap_or_else(|| name.to_owned());
        let key = (zone.clone(), slot.machine.clone());
        let lives = records.entry(key).or_insert_with(|| Lives {
            about: About {
                region: region_of(&zone),
                source: format!("{}#{zone}", source.file),
                zone,
                provider: None,
                machine: slot.machine,
            },
            start,
            span_s,
            lives: Vec::new(),
            refused_s: Vec::new(),
        });
        lives.lives.extend(slot.lives);
        lives.lives.extend(slot.life);
        lives.refused_s.extend(slot.refused);
    }
    let ends: Vec<i64> = records
        .values()
        .flat_map(|l| &l.lives)
        .filter_map(|l| Some(l.gone_s? - l.alive_s))
        .collect();
    if let Some(widest) = ends.iter().copied().max() {
        let msg = Msg::new("trace-remark-interval-censored")
            .seconds("widest", widest as f64)
            .arg("n", ends.len());
        remarks.push(Remark::new("interval_censored", "", msg));
    }
    Ok(Read {
        format: Format::KeepAlive,
        file: source.file.clone(),
        records: records
            .into_values()
            .map(|mut lives| {
                lives.lives.sort_by_key(|l| l.from_s);
                lives.refused_s.sort_unstable();
                Record::Lives(lives)
            })
            .collect(),
        remarks,
    })
}

/// The time of a line, and what it says; `None` inside: words that we do not know.
fn parse(line: &str) -> Option<(&str, Option<Event<'_>>)> {
    let (time, rest) = line.trim().strip_prefix('[')?.split_once("] ")?;
    let words: Vec<&str> = rest.split(' ').collect();
    let event = match words.as_slice() {
        [
            "Created",
            "instance",
            slot,
            "with",
            n,
            "GPU(s)",
            "of",
            "type",
            gpu,
            "in",
            "zone",
            zone,
        ] => Some(Event::Created {
            slot,
            machine: format!("{gpu}:{n}"),
            zone,
        }),
        ["Instance", slot, "running", "in", "zone", _] => Some(Event::Running { slot }),
        ["Instance", slot, "not", "running", "in", "zone", zone] => {
            Some(Event::Gone { slot, zone })
        }
        ["Instance", slot, "creation", "failed"] => Some(Event::Refused { slot }),
        ["Successfully", "deleted", "instance", slot] => Some(Event::Deleted { slot }),
        _ => None,
    };
    Some((time, event))
}
