//! A CSV reader that is fed pieces of any size and hands out whole records. Files of gigabytes pass
//! through in constant memory.

use csv_core::{ReadRecordResult, Reader};

/// Longest record: hostile input must not grow the buffer without end.
const MAX_RECORD_BYTES: usize = 1 << 20;
const MAX_FIELDS: usize = 4096;

/// One record as bytes; fields are not promised to be UTF-8.
pub(crate) struct Record<'a> {
    bytes: &'a [u8],
    ends: &'a [usize],
    /// Counted from 1, empty lines not included.
    pub(crate) number: u64,
}

impl<'a> Record<'a> {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The field without surrounding blanks; empty if there is none or if it is not UTF-8.
    pub(crate) fn text(&self, column: usize) -> &'a str {
        let end = self.ends.get(column).copied().unwrap_or(0);
        let start = match column {
            0 => 0,
            n => self.ends.get(n - 1).copied().unwrap_or(end),
        };
        let field = self.bytes.get(start..end).unwrap_or_default();
        std::str::from_utf8(field).unwrap_or_default().trim()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordTooLong(pub(crate) u64);

pub(crate) struct CsvStream {
    reader: Reader,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// How much of `bytes` and `ends` the unfinished record fills.
    filled: (usize, usize),
    number: u64,
}

impl CsvStream {
    pub(crate) fn new() -> CsvStream {
        CsvStream {
            reader: Reader::new(),
            bytes: vec![0; 16 << 10],
            ends: vec![0; 256],
            filled: (0, 0),
            number: 0,
        }
    }

    /// Takes a piece and calls `each` for every record completed by it. An empty piece is the end.
    pub(crate) fn feed<E: From<RecordTooLong>>(
        &mut self,
        mut piece: &[u8],
        each: &mut dyn FnMut(Record<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let at_end = piece.is_empty();
        loop {
            let (bytes_filled, ends_filled) = self.filled;
            let (result, read, written, ended) = self.reader.read_record(
                piece,
                &mut self.bytes[bytes_filled..],
                &mut self.ends[ends_filled..],
            );
            piece = &piece[read..];
            self.filled = (bytes_filled + written, ends_filled + ended);
            match result {
                ReadRecordResult::InputEmpty if !at_end => return Ok(()),
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if self.bytes.len() < MAX_RECORD_BYTES => {
                    let double = self.bytes.len() * 2;
                    self.bytes.resize(double, 0);
                }
                ReadRecordResult::OutputEndsFull if self.ends.len() < MAX_FIELDS => {
                    let double = self.ends.len() * 2;
                    self.ends.resize(double, 0);
                }
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                    return Err(RecordTooLong(self.number + 1).into());
                }
                ReadRecordResult::Record => {
                    self.number += 1;
                    let (bytes, ends) = self.filled;
                    self.filled = (0, 0);
                    each(Record {
                        bytes: &self.bytes[..bytes],
                        ends: &self.ends[..ends],
                        number: self.number,
                    })?;
                    if piece.is_empty() && !at_end {
                        return Ok(());
                    }
                }
                ReadRecordResult::End => return Ok(()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], piece: usize) -> Result<Vec<Vec<String>>, RecordTooLong> {
        let mut stream = CsvStream::new();
        let mut rows = Vec::new();
        let mut each = |r: Record<'_>| {
            rows.push((0..r.len()).map(|c| r.text(c).to_owned()).collect());
            Ok(())
        };
        for part in text.chunks(piece) {
            stream.feed(part, &mut each)?;
        }
        stream.feed(&[], &mut each)?;
        Ok(rows)
    }

    #[test]
    fn records_do_not_depend_on_how_the_pieces_fall() {
        let text = b"a,b\n\"x, \"\"y\"\"\nz\", 2 \r\n\n3,";
        let whole = read(text, text.len()).expect("csv");
        assert_eq!(
            whole,
            [vec!["a", "b"], vec!["x, \"y\"\nz", "2"], vec!["3", ""]]
        );
        for piece in 1..text.len() {
            assert_eq!(read(text, piece).expect("csv"), whole, "pieces of {piece}");
        }
    }

    #[test]
    fn long_fields_grow_the_buffer_and_endless_ones_do_not() {
        let wide = format!("{},{}\n", "x".repeat(100_000), "y".repeat(300_000));
        assert_eq!(
            read(wide.as_bytes(), 7_000).expect("csv")[0][1].len(),
            300_000
        );
        let endless = vec![b'"'; 1]
            .into_iter()
            .chain(vec![b'x'; 3 << 20])
            .collect::<Vec<_>>();
        assert_eq!(read(&endless, 65_536), Err(RecordTooLong(1)));
        let commas = vec![b','; 10_000];
        assert_eq!(read(&commas, 1_000), Err(RecordTooLong(1)));
    }
}
