//! Reading delimited text with a header, with the file's own line numbers in every complaint.
//!
//! Columns are found by name, in any order. A record with the wrong number of fields is never repaired:
//! it would shift prices into other columns.

use crate::CatalogError;
use csv::StringRecord;

pub(crate) struct Table<'a> {
    file: &'a str,
    header: Vec<String>,
    reader: csv::Reader<&'a [u8]>,
    record: StringRecord,
    /// Byte length of the text: a short record that reaches it is a cut file.
    length: u64,
}

/// Letters and digits only, lower case: `List Unit Price`, `list_unit_price` and `ListUnitPrice` are one.
pub(crate) fn plain(name: &str) -> String {
    lessee_model::gpu::plain_name(name)
}

impl<'a> Table<'a> {
    /// # Errors
    /// The text has an open quote, or does not end with a line break: programs that write these formats
    /// always end the last line, so a missing end means that the file was cut, perhaps inside a price.
    pub(crate) fn open(text: &'a str, file: &'a str) -> Result<Table<'a>, CatalogError> {
        if let Some(line) = open_quote(text, b',') {
            return Err(CatalogError::OpenQuote {
                file: file.to_owned(),
                line,
            });
        }
        if !text.ends_with(['\n', '\r']) {
            return Err(CatalogError::Truncated {
                file: file.to_owned(),
                line: text.lines().count().max(1) as u64,
            });
        }
        Table::open_unchecked(text, file)
    }

    pub(crate) fn open_unchecked(text: &'a str, file: &'a str) -> Result<Table<'a>, CatalogError> {
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .buffer_capacity(1 << 16)
            .from_reader(text.as_bytes());
        let header: Vec<String> = match reader.headers() {
            Ok(names) => names.iter().map(|n| n.trim().to_owned()).collect(),
            Err(_) => Vec::new(),
        };
        if header.is_empty() {
            return Err(CatalogError::Empty {
                file: file.to_owned(),
            });
        }
        Ok(Table {
            file,
            header,
            reader,
            record: StringRecord::new(),
            length: text.len() as u64,
        })
    }

    pub(crate) fn header(&self) -> &[String] {
        &self.header
    }

    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let wanted = plain(name);
        self.header.iter().position(|h| plain(h) == wanted)
    }

    /// The position of a column without which nothing can be read.
    pub(crate) fn need(
        &self,
        format: &'static str,
        name: &'static str,
    ) -> Result<usize, CatalogError> {
        self.find(name).ok_or_else(|| CatalogError::MissingColumn {
            file: self.file.to_owned(),
            format,
            column: name,
            suggestion: lessee_model::did_you_mean(name, self.header.iter().map(String::as_str))
                .map(str::to_owned),
        })
    }

    /// Moves to the next record and returns its line; `None` at the end.
    pub(crate) fn advance(&mut self) -> Result<Option<u64>, CatalogError> {
        match self.reader.read_record(&mut self.record) {
            Ok(false) => Ok(None),
            Ok(true) => {
                let line = self.record.position().map_or(0, csv::Position::line);
                let (expected, found) = (self.header.len(), self.record.len());
                if found == expected {
                    return Ok(Some(line));
                }
                let file = self.file.to_owned();
                if found < expected && self.reader.position().byte() >= self.length {
                    return Err(CatalogError::Truncated { file, line });
                }
                Err(CatalogError::Fields {
                    file,
                    line,
                    expected,
                    found,
                })
            }
            // the text is valid UTF-8 and reading from memory cannot fail: only a broken record is left
            Err(e) => Err(CatalogError::Fields {
                file: self.file.to_owned(),
                line: e.position().map_or(0, csv::Position::line),
                expected: self.header.len(),
                found: 0,
            }),
        }
    }

    /// A cell of the current record without surrounding blanks; empty for an absent column.
    pub(crate) fn cell(&self, column: impl Into<Option<usize>>) -> &str {
        column
            .into()
            .and_then(|c| self.record.get(c))
            .map_or("", str::trim)
    }

    /// The current record as one line, shortened: what is shown beside a question.
    pub(crate) fn raw(&self) -> String {
        let mut out = String::new();
        for (i, cell) in self.record.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            out.push_str(cell);
            if out.len() > 300 {
                break;
            }
        }
        out.chars().take(300).collect()
    }
}

/// The line of a quote that is opened at the start of a field and never closed; `sep` divides fields.
pub(crate) fn open_quote(text: &str, sep: u8) -> Option<u64> {
    let bytes = text.as_bytes();
    let mut opened = None;
    let mut skip = None;
    for (at, _) in text.match_indices('"') {
        if skip == Some(at) {
            continue;
        }
        if opened.is_some() {
            if bytes.get(at + 1) == Some(&b'"') {
                // doubled: a quotation mark within the field
                skip = Some(at + 1);
            } else {
                opened = None;
            }
        } else if at == 0 || matches!(bytes[at - 1], b'\n' | b'\r') || bytes[at - 1] == sep {
            opened = Some(at);
        }
    }
    let at = opened?;
    Some(1 + bytes[..at].iter().filter(|b| **b == b'\n').count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_files_are_told_from_odd_lines() {
        let cut = "a,b,c\n1,2,3\n4,5\n";
        let mut table = Table::open(cut, "f").expect("header");
        assert_eq!(table.advance().expect("row"), Some(2));
        assert!(matches!(
            table.advance(),
            Err(CatalogError::Truncated { line: 3, .. })
        ));
        let odd = "a,b,c\n1,2\n4,5,6\n";
        let mut table = Table::open(odd, "f").expect("header");
        assert!(matches!(
            table.advance(),
            Err(CatalogError::Fields {
                line: 2,
                expected: 3,
                found: 2,
                ..
            })
        ));
        assert!(matches!(
            Table::open("a,b\n1,2", "f"),
            Err(CatalogError::Truncated { line: 2, .. })
        ));
    }

    #[test]
    fn an_open_quote_names_its_line() {
        assert_eq!(open_quote("a,b\n\"x\ny\",1\n", b','), None);
        assert_eq!(open_quote("a,b\n1,\"x\n2,3\n", b','), Some(2));
        assert_eq!(open_quote("a,b\n5\" disk,1\n", b','), None);
        assert_eq!(open_quote("a\n\"he said \"\"yes\"\"\"\n", b','), None);
    }
}
