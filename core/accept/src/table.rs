//! A table of `data/compat` as text: a header, then rows; cells in double quotes may hold commas. Not a general CSV reader:
//! the tables are our own, so whatever does not fit is an error with its place.

use lessee_model::{AsOf, Confidence};
use thiserror::Error;

/// A table that is built in is broken.
#[derive(Debug, Error)]
#[error("{file}:{line}: {what}")]
pub struct TableError {
    pub file: &'static str,
    pub line: usize,
    pub what: String,
}

/// Where a fact is from, and how sure it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub source: String,
    pub as_of: AsOf,
    pub confidence: Confidence,
}

impl Origin {
    /// First-party, or of a named third party: may decide. Anything weaker becomes a question.
    pub(crate) fn decides(&self) -> bool {
        decides(self.confidence)
    }
}

pub(crate) fn decides(confidence: Confidence) -> bool {
    matches!(confidence, Confidence::Verified | Confidence::Secondary)
}

/// One row, cells by column name.
pub(crate) struct Row<'a> {
    header: &'a [String],
    cells: Vec<String>,
}

impl Row<'_> {
    pub(crate) fn get(&self, column: &str) -> Result<&str, String> {
        let at = self.header.iter().position(|h| h == column);
        at.and_then(|at| self.cells.get(at))
            .map(|cell| cell.trim())
            .ok_or_else(|| format!("no column {column}"))
    }

    /// `None` for a blank cell.
    pub(crate) fn opt<T: std::str::FromStr>(&self, column: &str) -> Result<Option<T>, String> {
        let cell = self.get(column)?;
        if cell.is_empty() {
            return Ok(None);
        }
        let wrong = |_| format!("{column}: `{cell}`");
        cell.parse().map(Some).map_err(wrong)
    }

    pub(crate) fn need<T: std::str::FromStr>(&self, column: &str) -> Result<T, String> {
        self.opt(column)?
            .ok_or_else(|| format!("{column} is blank"))
    }

    /// Members of a cell between `;`.
    pub(crate) fn list<T: std::str::FromStr>(&self, column: &str) -> Result<Vec<T>, String> {
        let cell = self.get(column)?;
        let parts = cell.split(';').map(str::trim).filter(|p| !p.is_empty());
        parts
            .map(|p| p.parse().map_err(|_| format!("{column}: `{p}`")))
            .collect()
    }

    /// How sure the column is that `confidence` does not speak of; blank = as the row.
    pub(crate) fn confidence(&self, column: &str) -> Result<Confidence, String> {
        match self.get(column)? {
            "" => self.confidence("confidence"),
            "verified" => Ok(Confidence::Verified),
            "secondary" => Ok(Confidence::Secondary),
            "general" => Ok(Confidence::General),
            "unverified" => Ok(Confidence::Unverified),
            other => Err(format!("{column}: `{other}`")),
        }
    }

    pub(crate) fn origin(&self) -> Result<Origin, String> {
        let source = self.get("source")?;
        if source.is_empty() {
            return Err("no source".to_owned());
        }
        if self.get("confidence")?.is_empty() {
            return Err("no confidence".to_owned());
        }
        Ok(Origin {
            source: source.to_owned(),
            as_of: self.need("as_of")?,
            confidence: self.confidence("confidence")?,
        })
    }
}

/// Runs `each` over the rows of a table.
pub(crate) fn read<T>(
    file: &'static str,
    text: &str,
    mut each: impl FnMut(&Row<'_>) -> Result<T, String>,
) -> Result<Vec<T>, TableError> {
    let mut lines = text.lines().enumerate();
    let header = match lines.next() {
        Some((_, line)) => cells(line),
        None => Vec::new(),
    };
    let mut out = Vec::new();
    for (at, line) in lines.filter(|(_, l)| !l.trim().is_empty()) {
        let wrong = |what| TableError {
            file,
            line: at + 1,
            what,
        };
        let cells = cells(line);
        if cells.len() != header.len() {
            let what = format!("{} cells, not {}", cells.len(), header.len());
            return Err(wrong(what));
        }
        let row = Row {
            header: &header,
            cells,
        };
        out.push(each(&row).map_err(wrong)?);
    }
    Ok(out)
}

fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => {
                if let Some(last) = cells.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_need_a_source_a_date_and_a_confidence() {
        let read = |row: &str| {
            let text = format!("a,source,as_of,confidence\n{row}\n");
            read("t", &text, |r| r.origin()).map_err(|e| e.to_string())
        };
        let good = read("1,\"x, y\",2026-11,verified").expect("a row");
        assert_eq!(good[0].source, "x, y");
        for (row, what) in [
            ("1,,2026,verified", "no source"),
            ("1,x,,verified", "as_of is blank"),
            ("1,x,soon,verified", "as_of: `soon`"),
            ("1,x,2026,", "no confidence"),
            ("1,x,2026,sure", "confidence: `sure`"),
            ("1,x,2026", "3 cells, not 4"),
        ] {
            assert_eq!(read(row), Err(format!("t:2: {what}")));
        }
    }
}
