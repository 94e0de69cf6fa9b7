//! `nvidia-smi nvlink -s`: a line a GPU, below it a line a link or one sentence.
//!
//! All links down is a fault where they are soldered (SXM boards) and normal where a bridge may be plugged in: it is
//! said here, and judged where the model is known.

use super::smi_error;
use crate::read::device::MAX_GPUS;
use crate::read::{Gpu, Read, source::Source, value};
use serde_json::{Value, json};

/// Most links of one GPU. Today's have 18.
const MAX_LINKS: usize = 256;

struct Entry<'a> {
    index: &'a str,
    name: &'a str,
    has_uuid: bool,
    active: Vec<u32>,
    inactive: Vec<u32>,
    speeds: Vec<&'a str>,
    message: Option<&'a str>,
}

/// `GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-...)`.
fn entry(line: &str) -> Option<Entry<'_>> {
    let at = line.find("GPU ")?;
    // before it at most a launcher's label
    if at > 12 {
        return None;
    }
    let (index, rest) = line[at + 4..].split_once(':')?;
    let index = index.trim();
    let fits = (1..=4).contains(&index.len()) && index.bytes().all(|b| b.is_ascii_digit());
    let (name, uuid) = match rest.rsplit_once("(UUID") {
        Some((name, _)) => (name, true),
        None => (rest, false),
    };
    let name = name.trim();
    (fits && !name.is_empty() && name.len() <= 120).then_some(Entry {
        index,
        name,
        has_uuid: uuid,
        active: Vec::new(),
        inactive: Vec::new(),
        speeds: Vec::new(),
        message: None,
    })
}

/// `Link 3: 25 GB/s`, `Link 3: <inactive>`: the number and the state.
fn link(line: &str) -> Option<(u32, &str)> {
    let at = line.find("Link ")?;
    if at > 24 {
        return None;
    }
    let (number, state) = line[at + 5..].split_once(':')?;
    let state = state.trim();
    let known = is_speed(state) || is_inactive(state);
    known.then_some((number.trim().parse().ok()?, state))
}

fn is_speed(state: &str) -> bool {
    state.len() <= 24 && state.ends_with("B/s") && value::number(state).is_some()
}

fn is_inactive(state: &str) -> bool {
    let bare = state.trim_matches(['<', '>']);
    ["inactive", "disabled", "not active", "off"]
        .iter()
        .any(|w| bare.eq_ignore_ascii_case(w))
}

/// A sentence about all links of a GPU.
fn message(line: &str) -> Option<&str> {
    let line = line.trim();
    let lower = line
        .get(..line.len().min(200))
        .unwrap_or("")
        .to_ascii_lowercase();
    let fits = lower.contains("nvlink") && !value::is_noise(line)
        || lower.starts_with("nvml: unable to retrieve");
    (fits && line.len() <= 200).then_some(line)
}

pub(crate) fn recognise(source: &Source) -> bool {
    // `nvidia-smi -L` prints the same first lines: something of links has to follow
    let mut lines = source.head_lines().skip_while(|l| entry(l).is_none());
    lines.next().is_some()
        && lines
            .find(|l| entry(l).is_none() && !l.trim().is_empty())
            .is_some_and(|l| link(l).is_some() || message(l).is_some())
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let mut entries: Vec<Entry> = Vec::new();
    for (number, line) in source.lines() {
        // a text that breaks off in a name leaves another name
        let whole = |e: &Entry| e.has_uuid || !source.is_open(number);
        if let Some(next) = entry(line).filter(|e| entries.len() < MAX_GPUS && whole(e)) {
            entries.push(next);
            continue;
        }
        if let Some(current) = entries.last_mut() {
            if let Some((id, state)) = link(line)
                && current.active.len() + current.inactive.len() < MAX_LINKS
            {
                if is_inactive(state) {
                    current.inactive.push(id);
                } else {
                    current.active.push(id);
                    if !current.speeds.contains(&state) {
                        current.speeds.push(state);
                    }
                }
                continue;
            }
            if let Some(said) = message(line).filter(|_| current.message.is_none()) {
                current.message = Some(said);
                continue;
            }
        }
        if !value::is_noise(line) && !smi_error::take(line, out) {
            out.not_understood(number, line);
        }
    }
    for entry in &entries {
        state(entry, out);
    }
}

fn state(entry: &Entry, out: &mut Read) {
    let links = entry.active.len() + entry.inactive.len();
    out.fact(
        &format!("gpu{}", entry.index),
        json!({
            "name": entry.name,
            "links": links,
            "active": entry.active.len(),
            "inactive": entry.inactive,
            "speeds": entry.speeds,
            "message": entry.message.map_or(Value::Null, |m| json!(value::shown(m, 200))),
        }),
    );
    let subject = format!("GPU{}", entry.index);
    let dead = entry
        .message
        .filter(|m| m.to_ascii_lowercase().contains("inactive"));
    if let Some(said) = dead {
        out.problem("nvlink_inactive", &subject, said);
    } else if !entry.inactive.is_empty() {
        out.problem(
            "nvlink_inactive",
            &subject,
            format!("{} of {links} links", entry.inactive.len()),
        );
    }
    if entry.speeds.len() > 1 {
        out.problem("nvlink_uneven", &subject, entry.speeds.join(", "));
    }
    if links == 0 && entry.message.is_none() {
        out.problem("incomplete_capture", &subject, "no line of links");
    }
    // a sentence about all of them gives no number of links
    let counted = |n: usize| (links > 0).then(|| u32::try_from(n).ok()).flatten();
    out.reading.gpus.push(Gpu {
        index: entry.index.parse().ok(),
        name: Some(entry.name.to_owned()),
        has_uuid: entry.has_uuid,
        nvlinks: counted(links),
        nvlinks_active: counted(entry.active.len()),
        mig: entry
            .message
            .filter(|m| m.contains("MIG mode"))
            .map(|_| true),
        ..Gpu::default()
    });
}
