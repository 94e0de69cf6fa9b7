//! The header of a page: what kind it is, how large, how many values it claims.

use super::page::{DATA_PAGE_V2, RLE};
use super::thrift::{Broken, Kind, Reader};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// A page header with the statistics of long values, at most.
const HEADER_MAX: usize = 1 << 20;
/// Most headers are below a hundred bytes.
const HEADER_USUAL: usize = 512;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Header {
    pub(super) kind: i64,
    pub(super) plain: i64,
    pub(super) packed: i64,
    pub(super) values: i64,
    pub(super) encoding: i64,
    pub(super) level_encoding: i64,
    /// Of version 2: bytes of levels, which are never compressed, and whether the rest is.
    pub(super) level_bytes: i64,
    pub(super) repetition_bytes: i64,
    pub(super) compressed: bool,
}

/// The header of the page at a place, and where its body begins.
pub(super) fn read(file: &File, at: u64, end: u64) -> Result<(Header, u64), String> {
    let mut room = HEADER_USUAL;
    loop {
        let mut bytes = vec![0; room.min((end - at) as usize)];
        file.read_exact_at(&mut bytes, at)
            .map_err(|e| e.to_string())?;
        let mut reader = Reader::new(&bytes);
        match parse(&mut reader) {
            Ok(header) => {
                let body = at + (bytes.len() - reader.left()) as u64;
                return Ok((header, body));
            }
            Err(Broken::Short) if bytes.len() == room && room < HEADER_MAX => room *= 16,
            Err(Broken::Short) => return Err("a page header cut off".to_owned()),
            Err(Broken::Wrong(what)) => return Err(format!("a page header with {what}")),
        }
    }
}

fn parse(reader: &mut Reader<'_>) -> Result<Header, Broken> {
    let mut header = Header {
        kind: -1,
        level_encoding: RLE,
        compressed: true,
        ..Header::default()
    };
    reader.fields(|r, id, kind| {
        match (id, kind) {
            (1, Kind::Int) => header.kind = r.int()?,
            (2, Kind::Int) => header.plain = r.int()?,
            (3, Kind::Int) => header.packed = r.int()?,
            (5 | 7 | 8, Kind::Struct) => r.fields(|r, field, kind| {
                match (id, field, kind) {
                    (_, 1, Kind::Int) => header.values = r.int()?,
                    (5 | 7, 2, Kind::Int) | (8, 4, Kind::Int) => header.encoding = r.int()?,
                    (5, 3, Kind::Int) => header.level_encoding = r.int()?,
                    (8, 5, Kind::Int) => header.level_bytes = r.int()?,
                    (8, 6, Kind::Int) => header.repetition_bytes = r.int()?,
                    (8, 7, Kind::False) => header.compressed = false,
                    _ => return Ok(false),
                }
                Ok(true)
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    // both together lie before the values
    if header.kind == DATA_PAGE_V2 {
        if header.level_bytes < 0 || header.repetition_bytes < 0 {
            return Err(Broken::Wrong("levels of a negative size"));
        }
        header.level_bytes = header.level_bytes.saturating_add(header.repetition_bytes);
    }
    Ok(header)
}
