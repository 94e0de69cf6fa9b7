//! A CSV file as lines whose cells are asked for by the name of their column.

use anyhow::Result;
use csv::StringRecord;
use std::path::Path;

pub(super) struct Lines {
    /// Of the file, without folders.
    pub(super) name: String,
    headers: StringRecord,
    records: Vec<StringRecord>,
}

#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    headers: &'a StringRecord,
    record: &'a StringRecord,
}

impl Lines {
    pub(super) fn read(path: &Path) -> Result<Lines> {
        let mut reader = csv::Reader::from_path(path)?;
        Ok(Lines {
            name: path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            headers: reader.headers()?.clone(),
            records: reader.records().collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Line<'_>> {
        self.records.iter().map(|record| Line {
            headers: &self.headers,
            record,
        })
    }
}

impl<'a> Line<'a> {
    /// `None`: there is no such column.
    pub(super) fn get(self, column: &str) -> Option<&'a str> {
        let at = self.headers.iter().position(|h| h == column)?;
        self.record.get(at)
    }

    /// Without blanks around it; empty where there is no such column.
    pub(super) fn cell(self, column: &str) -> &'a str {
        self.get(column).unwrap_or("").trim()
    }
}
