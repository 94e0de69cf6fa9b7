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

/// Longest input that is read, in bytes; what lies beyond is left and `input_cut` says so. Captures are kilobytes;
/// the bound keeps a log of gigabytes from filling the memory of the machine that is looked at.
pub const MAX_INPUT_BYTES: usize = 16 << 20;

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
