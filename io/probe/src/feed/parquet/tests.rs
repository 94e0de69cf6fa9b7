//! Small files written by hand, whole and hostile. Files of a real writer are in `tests/parquet_pyarrow.rs`.

use super::*;
use crate::feed::jpeg;
use proptest::prelude::*;

/// Writes Thrift's compact protocol.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Fields come one after the other, `step` beyond the last.
    fn int(&mut self, step: u8, value: i64) -> &mut Writer {
        self.0.push(step << 4 | 6);
        self.varint((value << 1 ^ value >> 63) as u64);
        self
    }

    fn text(&mut self, step: u8, text: &str) -> &mut Writer {
        self.0.push(step << 4 | 8);
        self.varint(text.len() as u64);
        self.0.extend(text.as_bytes());
        self
    }

    fn list(&mut self, step: u8, kind: u8, count: usize) -> &mut Writer {
        self.0.push(step << 4 | 9);
        self.0.push(0xF0 | kind);
        self.varint(count as u64);
        self
    }

    fn inner(&mut self, step: u8) -> &mut Writer {
        self.0.push(step << 4 | 12);
        self
    }

    fn end(&mut self) -> &mut Writer {
        self.0.push(0);
        self
    }
}

/// What a file claims, beside what is in it.
struct Claims {
    rows: i64,
    page_values: i64,
    page_size: i64,
    codec: i64,
}

/// A column `image.bytes` in one group of one page, required within an optional structure; `missing` rows have none.
fn file(values: &[Vec<u8>], missing: usize, claim: impl FnOnce(&mut Claims)) -> Vec<u8> {
    let rows = values.len() + missing;
    // definition level 1: the structure is there; runs of both
    let mut levels = Writer::default();
    levels.varint((values.len() as u64) << 1);
    levels.0.push(1);
    levels.varint((missing as u64) << 1);
    levels.0.push(0);
    let mut page = (levels.0.len() as u32).to_le_bytes().to_vec();
    page.extend(&levels.0);
    for value in values {
        page.extend((value.len() as u32).to_le_bytes());
        page.extend(value);
    }
    let mut claims = Claims {
        rows: rows as i64,
        page_values: rows as i64,
        page_size: page.len() as i64,
        codec: 0,
    };
    claim(&mut claims);
    let mut header = Writer::default();
    header
        .int(1, 0)
        .int(1, claims.page_size)
        .int(1, page.len() as i64);
    header
        .inner(2)
        .int(1, claims.page_values)
        .int(1, 0)
        .int(1, 3)
        .int(1, 3)
        .end()
        .end();
    let mut out = b"PAR1".to_vec();
    let at = out.len() as i64;
    out.extend(&header.0);
    out.extend(&page);
    let len = out.len() as i64 - at;
    let mut footer = Writer::default();
    footer.int(1, 2);
    footer.list(1, 12, 3);
    footer.text(4, "schema").int(1, 1).end();
    footer.int(3, 1).text(1, "image").int(1, 1).end();
    footer.int(1, 6).int(2, 0).text(1, "bytes").end();
    footer.int(1, claims.rows);
    footer.list(1, 12, 1).list(1, 12, 1);
    footer.int(2, at).inner(1);
    footer
        .int(1, 6)
        .int(3, claims.codec)
        .int(1, claims.page_values)
        .int(1, claims.page_size);
    footer.int(1, len).int(2, at).end().end();
    footer.int(1, 0).int(1, claims.rows).end().end();
    out.extend(&footer.0);
    out.extend((footer.0.len() as u32).to_le_bytes());
    out.extend(b"PAR1");
    out
}

fn on_disk(bytes: &[u8]) -> File {
    use std::io::Write as _;
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

const BOUND: u64 = 1 << 20;

fn pictures(count: u64) -> Vec<Vec<u8>> {
    (0..count).map(|i| jpeg(8, 8, i)).collect()
}

#[test]
fn rows_come_in_any_order_and_those_without_a_value_are_told() {
    let values = pictures(5);
    let file = on_disk(&file(&values, 2, |_| {}));
    let table = Table::open(&file, BOUND).unwrap();
    assert_eq!(
        (table.column.as_str(), table.promises),
        ("image.bytes", true)
    );
    assert_eq!(table.rows(100).count(), 7);
    assert_eq!(table.rows(3).count(), 3);
    let (mut rows, mut out) = (Rows::default(), Vec::new());
    for row in [0, 1, 4, 2, 0] {
        rows.read(&table, &file, row, BOUND, &mut out).unwrap();
        assert_eq!(out, values[row as usize], "{row}");
    }
    let (from, len) = rows.taken().unwrap();
    assert!(from == 4 && len > 100, "the page's place: {from} {len}");
    assert!(
        rows.read(&table, &file, 5, BOUND, &mut out)
            .unwrap_err()
            .contains("no value")
    );
    assert!(
        rows.read(&table, &file, 7, BOUND, &mut out)
            .unwrap_err()
            .contains("no such row")
    );
}

#[test]
fn claims_are_held_against_the_file_and_cost_nothing() {
    let values = pictures(3);
    let refused = |claim: fn(&mut Claims), row: u64, words: &str| {
        let file = on_disk(&file(&values, 0, claim));
        let table = Table::open(&file, BOUND).unwrap();
        let mut out = Vec::new();
        let why = Rows::default()
            .read(&table, &file, row, BOUND, &mut out)
            .unwrap_err();
        assert!(why.contains(words), "{why}");
        assert!(out.capacity() < 1 << 16);
    };
    refused(|c| c.rows = 1 << 60, 1 << 50, "ends at row 3");
    refused(
        |c| (c.rows, c.page_values) = (1 << 60, 1 << 40),
        1,
        "a page of 1099511627776 values",
    );
    refused(|c| c.page_values = 4, 0, "fewer levels");
    refused(|c| c.page_size = 1 << 40, 0, "over the bound");
    refused(
        |c| (c.page_size, c.codec) = (1 << 19, 1),
        0,
        "cannot become",
    );
    // rows that are claimed are listed no further than is asked for
    let file = on_disk(&file(&values, 0, |c| c.rows = i64::MAX));
    assert_eq!(Table::open(&file, BOUND).unwrap().rows(1000).count(), 1000);
}

#[test]
fn what_is_no_table_is_told() {
    let refused = |bytes: &[u8], words: &str| {
        let why = Table::open(&on_disk(bytes), BOUND).unwrap_err();
        assert!(why.contains(words), "{why}");
    };
    refused(b"", "too short");
    refused(b"PAR1 no footer", "does not end in PAR1");
    refused(b"PAR1\0\0\0\0\0\0\0\0PARE", "encrypted");
    refused(b"PAR1\xff\xff\xff\xffPAR1", "a footer of 4294967295 bytes");
    refused(b"PAR1\x19\x01\0\0\0PAR1", "cut off");
    let whole = file(&pictures(2), 0, |_| {});
    for cut in [1, 8, 20, whole.len() - 5] {
        assert!(Table::open(&on_disk(&whole[..whole.len() - cut]), BOUND).is_err());
    }
    refused(&file(&[], 0, |_| {}), "no rows");
    refused(&file(&pictures(1), 0, |c| c.codec = 4), "Brotli");
}

fn read_all(bytes: &[u8]) {
    let file = on_disk(bytes);
    let Ok(table) = Table::open(&file, BOUND) else {
        return;
    };
    let (mut rows, mut out) = (Rows::default(), Vec::new());
    for (row, _) in table.rows(20).collect::<Vec<_>>() {
        let _ = rows.read(&table, &file, row, BOUND, &mut out);
        assert!(out.len() as u64 <= BOUND);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damage_anywhere_is_no_panic(
        at in proptest::collection::vec((0.0..1.0_f64, any::<u8>()), 1..6),
        last in any::<bool>(),
    ) {
        let mut bytes = file(&pictures(4), 1, |_| {});
        let len = bytes.len();
        // footers are the smaller part and the more delicate one
        let from = if last { len - 90 } else { 0 };
        for (share, value) in at {
            let place = from + ((len - from) as f64 * share) as usize;
            bytes[place] = value;
        }
        read_all(&bytes);
    }

    #[test]
    fn any_bytes_as_a_footer_are_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut file = b"PAR1".to_vec();
        file.extend(&bytes);
        file.extend((bytes.len() as u32).to_le_bytes());
        file.extend(b"PAR1");
        read_all(&file);
    }
}
