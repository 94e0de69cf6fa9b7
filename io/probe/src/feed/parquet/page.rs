//! The rows of one chunk, page after page, as they lie in the file.
//!
//! A page is unpacked as a whole and its values are told one after the other as places within it. Rows that are not wanted
//! are passed over by the counts of page headers, without unpacking. Not here: nested lists, encodings that no writer uses
//! for pictures.

use super::codec;
use super::footer::Chunk;
use super::header::{self, Header};
use super::lengths;
use super::rle::Rle;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// Values of a page, at most: what pages hold that are a column of samples, and no column of marks.
pub(super) const VALUES_MAX: usize = 1 << 20;

const DATA_PAGE: i64 = 0;
const DICTIONARY_PAGE: i64 = 2;
pub(super) const DATA_PAGE_V2: i64 = 3;
const PLAIN: i64 = 0;
const PLAIN_DICTIONARY: i64 = 2;
pub(super) const RLE: i64 = 3;
const DELTA_LENGTH: i64 = 6;
const RLE_DICTIONARY: i64 = 8;

/// Where a value lies, in the page or in the dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Missing,
    Bytes { at: u32, len: u32 },
}

/// A chunk and how far it is read.
pub(super) struct Cursor {
    chunk: Chunk,
    optional: u32,
    /// The largest page that is unpacked, bytes.
    bound: u64,
    /// Where the next page begins, and the row of the group that it begins with.
    next: u64,
    next_row: u64,
    dictionary: Vec<u8>,
    entries: Vec<Place>,
    page: Option<Page>,
    /// The range of the file that was read since somebody asked.
    read: Option<(u64, u64)>,
    unpack: Duration,
}

/// A page that is unpacked.
struct Page {
    bytes: Vec<u8>,
    first_row: u64,
    places: Vec<Place>,
    /// The places are in the dictionary.
    in_dictionary: bool,
}

impl Cursor {
    pub(super) fn new(chunk: Chunk, optional: u32, bound: u64) -> Cursor {
        Cursor {
            chunk,
            optional,
            bound,
            next: chunk.offset,
            next_row: 0,
            dictionary: Vec::new(),
            entries: Vec::new(),
            page: None,
            read: None,
            unpack: Duration::ZERO,
        }
    }

    /// Whether a row of this chunk can still be read without beginning anew.
    pub(super) fn reaches(&self, chunk: &Chunk, row: u64) -> bool {
        let first = self.page.as_ref().map_or(self.next_row, |p| p.first_row);
        self.chunk == *chunk && row >= first
    }

    /// The bytes of the file that were read since this was asked: where they begin, and how many.
    pub(super) fn taken(&mut self) -> Option<(u64, u64)> {
        self.read.take()
    }

    /// How long unpacking took since this was asked.
    pub(super) fn unpacked(&mut self) -> Duration {
        std::mem::take(&mut self.unpack)
    }

    /// Writes the value of a row of the group into `out`. False: it is missing.
    pub(super) fn value(
        &mut self,
        file: &File,
        row: u64,
        out: &mut Vec<u8>,
    ) -> Result<bool, String> {
        out.clear();
        while self.next_row <= row {
            self.page = None;
            self.next_page(file, row)?;
        }
        let page = self.page.as_ref().ok_or("a row before the page")?;
        let at = row.checked_sub(page.first_row).map(|at| at as usize);
        let place = at.and_then(|at| page.places.get(at));
        let (at, len) = match place.ok_or("a page with fewer values than it claims")? {
            Place::Missing => return Ok(false),
            Place::Bytes { at, len } => (*at as usize, *len as usize),
        };
        let bytes = match page.in_dictionary {
            true => &self.dictionary,
            false => &page.bytes,
        };
        let value = bytes
            .get(at..at + len)
            .ok_or("a value outside of its page")?;
        out.extend_from_slice(value);
        Ok(true)
    }

    /// Passes over the next page, or unpacks it where it holds the row or is the dictionary.
    fn next_page(&mut self, file: &File, row: u64) -> Result<(), String> {
        let end = self.chunk.offset + self.chunk.len;
        if self.next >= end {
            let rows = self.chunk.rows;
            return Err(format!(
                "the column ends at row {} of {rows}",
                self.next_row
            ));
        }
        let start = self.next;
        let (header, body) = header::read(file, start, end)?;
        let packed = u64::try_from(header.packed).ok();
        let packed = packed.filter(|len| body.checked_add(*len).is_some_and(|e| e <= end));
        let packed = packed.ok_or("a page that reaches beyond its column")?;
        self.next = body + packed;
        match header.kind {
            DATA_PAGE | DATA_PAGE_V2 => {
                let values =
                    u64::try_from(header.values).map_err(|_| "a page of less than no values")?;
                let first_row = self.next_row;
                self.next_row = first_row.saturating_add(values);
                if self.next_row <= row {
                    return Ok(());
                }
                let bytes = self.unpack(file, &header, body, packed)?;
                self.page = Some(self.page_of(&header, bytes, first_row, values)?);
            }
            DICTIONARY_PAGE => {
                if !matches!(header.encoding, PLAIN | PLAIN_DICTIONARY) {
                    return Err(format!("a dictionary in encoding {}", header.encoding));
                }
                let bytes = self.unpack(file, &header, body, packed)?;
                self.entries = plain(&bytes, 0, usize::MAX)?;
                self.dictionary = bytes;
            }
            // an index, which nobody writes here
            _ => return Ok(()),
        }
        // bytes from the first page that was unpacked on
        let from = self.read.map_or(start, |(from, _)| from.min(start));
        self.read = Some((from, self.next - from));
        Ok(())
    }

    fn unpack(
        &mut self,
        file: &File,
        header: &Header,
        body: u64,
        packed: u64,
    ) -> Result<Vec<u8>, String> {
        let size = u64::try_from(header.plain).map_err(|_| "a page of a negative size")?;
        if size.max(packed) > self.bound {
            return Err(format!(
                "a page of {size} bytes is over the bound of {}",
                self.bound
            ));
        }
        let mut bytes = vec![0; packed as usize];
        file.read_exact_at(&mut bytes, body)
            .map_err(|e| e.to_string())?;
        let start = Instant::now();
        // levels of version 2 lie before what is compressed
        let levels = match header.kind {
            DATA_PAGE_V2 => usize::try_from(header.level_bytes)
                .ok()
                .filter(|l| *l <= bytes.len()),
            _ => Some(0),
        };
        let levels = levels.ok_or("levels longer than their page")?;
        let (levels, packed) = bytes.split_at(levels);
        let codec = match header.compressed {
            true => self.chunk.codec,
            false => 0,
        };
        let size = (size as usize).checked_sub(levels.len());
        let mut out = levels.to_vec();
        codec::unpack(
            codec,
            packed,
            size.ok_or("levels longer than their page")?,
            &mut out,
        )?;
        self.unpack += start.elapsed();
        Ok(out)
    }

    fn page_of(
        &self,
        header: &Header,
        bytes: Vec<u8>,
        first_row: u64,
        values: u64,
    ) -> Result<Page, String> {
        let count = usize::try_from(values).ok().filter(|v| *v <= VALUES_MAX);
        let count = count.ok_or_else(|| format!("a page of {values} values"))?;
        let (levels, values_at) = self.levels(header, &bytes)?;
        let width = u32::BITS - self.optional.leading_zeros();
        let there: Option<Vec<bool>> = match (self.optional, levels) {
            (0, _) => None,
            (full, levels) => {
                let levels = Rle::new(&bytes[levels], width).ok_or("levels too wide")?;
                let there: Vec<bool> = levels.take(count).map(|level| level == full).collect();
                if there.len() < count {
                    return Err("a page with fewer levels than it claims".to_owned());
                }
                Some(there)
            }
        };
        let full = there
            .as_ref()
            .map_or(count, |t| t.iter().filter(|t| **t).count());
        let in_dictionary = matches!(header.encoding, PLAIN_DICTIONARY | RLE_DICTIONARY);
        let values = match header.encoding {
            PLAIN => plain(&bytes, values_at, full)?,
            PLAIN_DICTIONARY | RLE_DICTIONARY => self.indices(&bytes[values_at..], full)?,
            DELTA_LENGTH => lengths::places(&bytes, values_at, full)?,
            other => {
                return Err(format!(
                    "values in encoding {other}, which is not read here"
                ));
            }
        };
        if values.len() < full {
            return Err("a page with fewer values than it claims".to_owned());
        }
        let places = match there {
            None => values,
            Some(there) => {
                let mut values = values.into_iter();
                let one = |there: bool| match there {
                    true => values.next().unwrap_or(Place::Missing),
                    false => Place::Missing,
                };
                there.into_iter().map(one).collect()
            }
        };
        Ok(Page {
            // of no use beside a dictionary
            bytes: if in_dictionary { Vec::new() } else { bytes },
            first_row,
            places,
            in_dictionary,
        })
    }

    /// Where the levels of definition lie, and where values begin.
    fn levels(&self, header: &Header, bytes: &[u8]) -> Result<(Range<usize>, usize), String> {
        const SHORT: &str = "a page shorter than its levels";
        if header.kind == DATA_PAGE_V2 {
            let end = usize::try_from(header.level_bytes).unwrap_or(usize::MAX);
            let start = usize::try_from(header.repetition_bytes).unwrap_or(usize::MAX);
            return match start <= end && end <= bytes.len() {
                true => Ok((start..end, end)),
                false => Err(SHORT.to_owned()),
            };
        }
        if self.optional == 0 {
            return Ok((0..0, 0));
        }
        if header.level_encoding != RLE {
            return Err(format!("levels in encoding {}", header.level_encoding));
        }
        let len = word(bytes, 0).ok_or(SHORT)? as usize;
        let end = len
            .checked_add(4)
            .filter(|end| *end <= bytes.len())
            .ok_or(SHORT)?;
        Ok((4..end, end))
    }

    /// Values by their place in the dictionary.
    fn indices(&self, bytes: &[u8], count: usize) -> Result<Vec<Place>, String> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let (width, rest) = bytes.split_first().ok_or("a page without places")?;
        let places = Rle::new(rest, u32::from(*width)).ok_or("places too wide")?;
        let one = |at: u32| {
            let entry = self.entries.get(at as usize).copied();
            entry.ok_or_else(|| format!("place {at} of a dictionary of {}", self.entries.len()))
        };
        places.take(count).map(one).collect()
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

/// Values with their length before each, at most `count`.
fn plain(bytes: &[u8], mut at: usize, count: usize) -> Result<Vec<Place>, String> {
    let mut places = Vec::new();
    while places.len() < count && at < bytes.len() {
        let len = word(bytes, at).ok_or("a value cut off")?;
        let start = at + 4;
        at = start + len as usize;
        if at > bytes.len() || places.len() >= VALUES_MAX {
            return Err("values that do not fit into their page".to_owned());
        }
        let start = u32::try_from(start).map_err(|_| "a page too large")?;
        places.push(Place::Bytes { at: start, len });
    }
    Ok(places)
}
