//! A file as importers see it: its name, its text, and its JSON where it is JSON.

use crate::TraceError;
use lessee_catalog::CatalogError;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Larger traces are refused: the largest public one is a hundredth of this.
pub(crate) const MAX_TRACE: u64 = 128 * 1024 * 1024;

pub(crate) struct Source {
    pub(crate) path: PathBuf,
    /// As shown in errors.
    pub(crate) file: String,
    pub(crate) text: String,
    pub(crate) json: Option<Value>,
    /// One JSON value a line.
    pub(crate) lines: bool,
}

impl Source {
    /// # Errors
    /// Empty, binary, packed, too large, in no known encoding; JSON that stops or is broken.
    pub(crate) fn new(path: &Path, bytes: &[u8]) -> Result<Source, TraceError> {
        let file = path.display().to_string();
        if bytes.len() as u64 > MAX_TRACE {
            return Err(CatalogError::TooLarge {
                file,
                size: bytes.len() as u64,
                limit: MAX_TRACE,
            }
            .into());
        }
        let text = lessee_catalog::read_input(bytes, &file)?.text;
        let lines = text.starts_with('{')
            && text
                .lines()
                .next()
                .is_some_and(|l| l.contains("\"lessee/trace/"));
        let json = match !lines && text.trim_start().starts_with(['{', '[']) {
            false => None,
            true => match serde_json::from_str(&text) {
                Ok(value) => Some(value),
                // `[2020-03-01...] Created instance`: a log, not JSON
                Err(_) if !json_like(&text) => None,
                Err(e) if e.is_eof() => {
                    return Err(CatalogError::Truncated {
                        file,
                        line: e.line() as u64,
                    }
                    .into());
                }
                Err(e) => {
                    return Err(TraceError::Json {
                        file,
                        line: e.line() as u64,
                        column: e.column() as u64,
                        what: e.to_string(),
                    });
                }
            },
        };
        Ok(Source {
            path: path.to_owned(),
            file,
            text,
            json,
            lines,
        })
    }

    /// The first line that is not a comment.
    pub(crate) fn head(&self) -> &str {
        let mut lines = self.text.lines().map(str::trim);
        lines
            .find(|l| !l.is_empty() && !l.starts_with('#'))
            .unwrap_or("")
    }

    /// The name that stands for a zone where the file names none: without extension; of `ZONE/full.json` the folder.
    pub(crate) fn stem(&self) -> String {
        let stem = |p: &Path| {
            p.file_stem()
                .map(|s| s.to_string_lossy().into_owned())
                .unwrap_or_default()
        };
        let own = stem(&self.path);
        match self.path.parent().and_then(Path::file_name) {
            Some(folder) if own == "full" => folder.to_string_lossy().into_owned(),
            _ => own,
        }
    }

    pub(crate) fn missing(&self, format: &'static str, field: &'static str) -> TraceError {
        TraceError::MissingField {
            file: self.file.clone(),
            format,
            field,
        }
    }

    pub(crate) fn bad(
        &self,
        place: impl Into<String>,
        text: &str,
        want: &'static str,
    ) -> TraceError {
        TraceError::bad_value(&self.file, place, text, want)
    }
}

/// Whether text that does not parse was meant as JSON: an object, or an array whose first item is one of JSON's.
fn json_like(text: &str) -> bool {
    let text = text.trim_start();
    match text.strip_prefix('[') {
        None => true,
        Some(rest) => {
            let first_line = rest.lines().next().unwrap_or("");
            rest.trim_start().starts_with(['{', '"', ']'])
                || rest.trim().is_empty()
                || first_line
                    .chars()
                    .all(|c| c.is_ascii_digit() || " ,.nul]".contains(c))
        }
    }
}
