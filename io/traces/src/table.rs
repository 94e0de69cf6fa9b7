//! CSV with the line of each row, so that an error can say where.

use crate::TraceError;
use lessee_catalog::CatalogError;
use std::borrow::Cow;

/// A header and its rows, trimmed; comment lines (`#`) are left out.
pub(crate) struct Table {
    file: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

pub(crate) struct Row {
    pub(crate) line: u64,
    pub(crate) cells: Vec<String>,
}

impl Table {
    /// `least`: columns that the caller will look at by their place.
    ///
    /// # Errors
    /// A row with more or fewer fields than the first, or with fewer than `least`; a quote that is never closed.
    pub(crate) fn read(
        text: &str,
        file: &str,
        has_header: bool,
        least: usize,
    ) -> Result<Table, TraceError> {
        // the csv crate counts the line of a record before its CRLF is whole
        let text = match text.contains('\r') {
            true => Cow::Owned(text.replace("\r\n", "\n")),
            false => Cow::Borrowed(text),
        };
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .comment(Some(b'#'))
            .from_reader(text.as_bytes());
        let mut header: Vec<String> = Vec::new();
        let mut rows = Vec::new();
        let mut width = None;
        for record in reader.records() {
            let record =
                record.map_err(|e| TraceError::bad_value(file, "CSV", &e.to_string(), "csv"))?;
            let line = record.position().map_or(0, csv::Position::line);
            // a return within a line ends a row here, but not in the line by which the format was recognised
            let expected = *width.get_or_insert(record.len().max(least));
            if record.len() != expected {
                return Err(CatalogError::Fields {
                    file: file.to_owned(),
                    line,
                    expected,
                    found: record.len(),
                }
                .into());
            }
            let cells: Vec<String> = record.iter().map(str::to_owned).collect();
            if has_header && header.is_empty() {
                header = cells;
            } else {
                rows.push(Row { line, cells });
            }
        }
        Ok(Table {
            file: file.to_owned(),
            header,
            rows,
        })
    }

    /// Position of a column, capitals aside.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.header
            .iter()
            .position(|h| h.eq_ignore_ascii_case(name))
    }

    pub(crate) fn bad(&self, row: &Row, column: usize, want: &'static str) -> TraceError {
        let name = self
            .header
            .get(column)
            .cloned()
            .unwrap_or_else(|| (column + 1).to_string());
        let text = row.cells.get(column).map_or("", String::as_str);
        TraceError::bad_value(
            &self.file,
            format!("line {}, column {name}", row.line),
            text,
            want,
        )
    }

    /// A number of instances; a blank cell or `null` is unknown, not 0.
    pub(crate) fn count(&self, row: &Row, column: usize) -> Result<Option<u32>, TraceError> {
        match row.cells[column].as_str() {
            "" | "null" | "NA" => Ok(None),
            text => match text.parse::<u32>() {
                Ok(n) => Ok(Some(n)),
                Err(_) => Err(self.bad(row, column, "count")),
            },
        }
    }

    /// Milliseconds since the start of a log, not before `last`, below 2^32 seconds.
    pub(crate) fn milliseconds(
        &self,
        row: &Row,
        column: usize,
        last: i64,
    ) -> Result<i64, TraceError> {
        let ms = row.cells[column].parse::<i64>().ok();
        let ms = ms.filter(|ms| (0..=i64::from(u32::MAX) * 1000).contains(ms));
        match ms {
            None => Err(self.bad(row, column, "time")),
            Some(ms) if ms < last => Err(self.bad(row, column, "order")),
            Some(ms) => Ok(ms),
        }
    }

    /// A price above 0; a blank cell is unknown.
    pub(crate) fn price(&self, row: &Row, column: usize) -> Result<Option<f64>, TraceError> {
        let text = row.cells[column].as_str();
        if matches!(text, "" | "null" | "NA") {
            return Ok(None);
        }
        match text.parse::<f64>() {
            // no machine costs more than a million an hour: what is above is a slip
            Ok(x) if x > 0.0 && x <= 1e6 => Ok(Some(x)),
            _ => Err(self.bad(row, column, "price")),
        }
    }
}
