//! Outputs of tools that somebody captured or pasted, recognised by their content and read into facts.
//!
//! Not here: running the tools (the machine may be another one, or gone), and judging: a problem that is listed is
//! one the capture itself states.
//!
//! Start at [`read()`]; the list of kinds is in `kinds/mod.rs`, and `docs/contributing/adding-a-capture-kind.md`
//! says how one more is added.

mod decode;
mod device;
mod health;
mod json;
mod kind;
mod kinds;
mod label;
mod labelled;
mod reading;
mod source;
mod value;

pub(crate) use kinds::ib_sysfs::counter as port_error;
pub(crate) use value::whole;

pub use decode::text as decoded;
pub use kind::Kind;
pub use reading::{Gpu, Link, Problem, Read, Reading, RemappedRows, Unread};

use source::Source;
use std::borrow::Cow;

/// Most captures of one input; what is pasted behind them stays with the last.
const MOST_CAPTURES: usize = 1000;

/// Longest input that is read, in bytes; what lies beyond is left and `input_cut` says so. Captures are kilobytes;
/// the bound keeps a log of gigabytes from filling the memory of the machine that is looked at.
pub const MAX_INPUT_BYTES: usize = 16 << 20;

/// The captures of one input, each from its first line on: people paste those of many machines into one file, and
/// `nvidia-smi -l` prints a table after the other. What stands before the first goes with it.
pub fn captures(bytes: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let kept = &bytes[..bytes.len().min(MAX_INPUT_BYTES)];
    let text = decode::text(kept);
    let mut starts = Vec::new();
    let (mut at, mut before) = (0, 0);
    for line in text.split_inclusive('\n') {
        // the frame of a table, and the line of XML above its root, are of the capture that they open
        let opens = line.starts_with("<?xml") || line.starts_with("<!");
        if is_title(line) {
            starts.push(before);
        }
        let start = at;
        at += line.len();
        if line.starts_with("+--") {
            before = start;
        } else if !opens {
            before = at;
        }
    }
    if starts.len() < 2 {
        return vec![Cow::Borrowed(bytes)];
    }
    starts.truncate(MOST_CAPTURES);
    starts[0] = 0;
    let ends = starts[1..].iter().copied().chain([text.len()]);
    let pieces = starts.iter().zip(ends);
    pieces
        .map(|(from, to)| Cow::Owned(text.as_bytes()[*from..to].to_vec()))
        .collect()
}

/// The line with which `nvidia-smi` begins.
fn is_title(line: &str) -> bool {
    line.contains("NVSMI LOG=")
        || line.starts_with("<nvidia_smi_log")
        || line.contains("NVIDIA-SMI ")
            && ["Driver Version:", "KMD Version:"]
                .iter()
                .any(|w| line.contains(w))
}

/// Reads one capture.
///
/// Never fails: what is not recognised has no [`Read::kind`], and each line that a reader does not understand is in
/// [`Read::not_understood`].
pub fn read(bytes: &[u8]) -> Read {
    let kept = &bytes[..bytes.len().min(MAX_INPUT_BYTES)];
    let text = decode::text(kept);
    let text = label::removed(&text).map_or(text, Cow::Owned);
    let source = Source::new(text);
    let mut read = Read::default();
    match kinds::REGISTRY.iter().find(|r| (r.recognise)(&source)) {
        Some(reader) => {
            read.kind = Some(reader.kind);
            (reader.read)(&source, &mut read);
        }
        None => {
            for (number, line) in source.lines().filter(|(_, l)| !l.trim().is_empty()) {
                read.not_understood(number, line);
            }
        }
    }
    if kept.len() < bytes.len() {
        let detail = format!("{} of {} bytes read", kept.len(), bytes.len());
        read.problem("input_cut", "file", detail);
    }
    read
}
