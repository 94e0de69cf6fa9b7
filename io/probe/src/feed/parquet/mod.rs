//! Samples that are rows of a Parquet file, as Hugging Face's datasets keep pictures: one column of bytes is read, by groups
//! of rows and pages, the way a loader does that streams them.
//!
//! Own code and no crate: what is needed is small (a footer, pages of one kind of column), and the crates at hand believe
//! the sizes that a file claims, so that a kilobyte of a hostile file takes gigabytes. Codecs are crates (`codec.rs`). Tables
//! of numbers, lists, and writing are not here. Start at [`Table::open`].

mod codec;
mod footer;
mod header;
mod lengths;
mod page;
mod rle;
mod thrift;

use footer::{Chunk, Column, Footer};
use page::Cursor;
use std::fs::File;
use std::time::Duration;

/// Columns whose first value is looked at.
const PEEKED: usize = 8;

/// A file and the column of it that is read.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// `image.bytes`
    pub(super) column: String,
    /// Its values are pictures or arrays: a row that is none is damaged.
    pub(super) promises: bool,
    optional: u32,
    /// In the order of rows.
    chunks: Vec<Chunk>,
}

/// What a worker keeps between rows.
#[derive(Default)]
pub(super) struct Rows {
    at: Option<Cursor>,
    /// Of cursors that are gone.
    unpack: Duration,
}

impl Table {
    /// Chooses the column: the first by its name, then by its size, whose first value is a picture or an array; else the
    /// largest one.
    ///
    /// # Errors
    /// It is no Parquet file that can be read here, or has no column of bytes.
    pub(super) fn open(file: &File, bound: u64) -> Result<Table, String> {
        let footer = footer::read(file)?;
        let sizes = sizes(&footer);
        let mut candidates: Vec<(usize, &Column)> = footer.columns.iter().enumerate().collect();
        candidates.sort_by_key(|(at, c)| (rank(&c.name), std::cmp::Reverse(sizes[*at])));
        let pictured = candidates.iter().take(PEEKED).find(|(at, column)| {
            let first = footer.chunks.iter().find(|(of, _)| of == at);
            first.is_some_and(|(_, chunk)| is_picture(file, chunk, column.optional, bound))
        });
        let promises = pictured.is_some();
        let largest = candidates.iter().max_by_key(|(at, _)| sizes[*at]);
        let Some((at, column)) = pictured.or(largest) else {
            return Err("no column of bytes".to_owned());
        };
        let chunks = footer
            .chunks
            .iter()
            .filter(|(of, c)| of == at && c.rows > 0);
        let chunks: Vec<Chunk> = chunks.map(|(_, chunk)| *chunk).collect();
        if chunks.is_empty() {
            return Err(format!("no rows in the column {}", column.name));
        }
        chunks.iter().try_for_each(|c| codec::known(c.codec))?;
        Ok(Table {
            column: column.name.clone(),
            promises,
            optional: column.optional,
            chunks,
        })
    }

    /// The rows that it claims, as the number of each within the file and its mean size in bytes; at most `limit`.
    pub(super) fn rows(&self, limit: usize) -> impl Iterator<Item = (u64, u64)> {
        let rows = self.chunks.iter().flat_map(|c| {
            let mean = c.plain_len / c.rows.max(1);
            let end = c.first_row.saturating_add(c.rows);
            (c.first_row..end).map(move |row| (row, mean))
        });
        rows.take(limit)
    }

    fn chunk(&self, row: u64) -> Option<&Chunk> {
        let after = self.chunks.partition_point(|c| c.first_row <= row);
        let chunk = self.chunks.get(after.checked_sub(1)?)?;
        (row - chunk.first_row < chunk.rows).then_some(chunk)
    }

    /// About where a row lies in the file.
    pub(super) fn position(&self, row: u64) -> u64 {
        let Some(chunk) = self.chunk(row) else {
            return 0;
        };
        let share = (row - chunk.first_row) as f64 / chunk.rows.max(1) as f64;
        chunk.offset + (chunk.len as f64 * share) as u64
    }
}

impl Rows {
    /// Reads a row, onwards from the last one where that is possible.
    pub(super) fn read(
        &mut self,
        table: &Table,
        file: &File,
        row: u64,
        bound: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let chunk = table.chunk(row).ok_or("no such row")?;
        let within = row - chunk.first_row;
        if self.at.as_ref().is_some_and(|c| !c.reaches(chunk, within)) {
            self.forget();
        }
        let cursor = self
            .at
            .get_or_insert_with(|| Cursor::new(*chunk, table.optional, bound));
        match cursor.value(file, within, out) {
            Ok(true) => Ok(()),
            Ok(false) => Err("the row has no value".to_owned()),
            Err(why) => {
                // what it holds may be half of something
                self.forget();
                Err(why)
            }
        }
    }

    /// The bytes of the file that were read since this was asked.
    pub(super) fn taken(&mut self) -> Option<(u64, u64)> {
        self.at.as_mut()?.taken()
    }

    /// How long unpacking took since this was asked.
    pub(super) fn unpacked(&mut self) -> Duration {
        let own = self.at.as_mut().map(Cursor::unpacked);
        std::mem::take(&mut self.unpack) + own.unwrap_or_default()
    }

    /// Another file is open now.
    pub(super) fn forget(&mut self) {
        self.unpack = self.unpacked();
        self.at = None;
    }
}

/// Names that hold pictures, the surest first.
fn rank(name: &str) -> usize {
    let name = name.to_ascii_lowercase();
    let (parent, leaf) = name.rsplit_once('.').unwrap_or(("", &name));
    match (parent, leaf) {
        ("image" | "img" | "picture", "bytes") => 0,
        (_, "bytes") => 1,
        (_, "image" | "img" | "jpg" | "jpeg" | "png" | "webp" | "npy") => 2,
        (_, "data" | "content" | "image_bytes" | "image_data") => 3,
        _ => 4,
    }
}

/// Bytes of each column of bytes.
fn sizes(footer: &Footer) -> Vec<u64> {
    let mut sizes = vec![0_u64; footer.columns.len()];
    for (at, chunk) in &footer.chunks {
        sizes[*at] = sizes[*at].saturating_add(chunk.plain_len);
    }
    sizes
}

/// Whether the first value that is not missing, of the first few, is one.
fn is_picture(file: &File, chunk: &Chunk, optional: u32, bound: u64) -> bool {
    let mut cursor = Cursor::new(*chunk, optional, bound);
    let mut value = Vec::new();
    for row in 0..chunk.rows.min(16) {
        match cursor.value(file, row, &mut value) {
            Ok(true) => return super::decode::is_known(&value),
            Ok(false) => {}
            Err(_) => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests;
