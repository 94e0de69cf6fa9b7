//! What can go wrong with a trace, and how to mend it. Sentences live in `app/report/locales`.

use lessee_catalog::CatalogError;
use lessee_model::{Explain, Msg};

/// Everything that stops a file from being a trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read or written, or its bytes are no whole text: as with all files that are read.
    #[error(transparent)]
    Input(#[from] CatalogError),
    #[error("{file}: none of the known trace formats")]
    UnknownFormat { file: String, head: String },
    #[error("{file} is not a {format} trace")]
    NotThisFormat { file: String, format: &'static str },
    #[error("{file} line {line} column {column}: {what}")]
    Json {
        file: String,
        line: u64,
        column: u64,
        what: String,
    },
    #[error("{file} ({format}): no {field}")]
    MissingField {
        file: String,
        format: &'static str,
        field: &'static str,
    },
    /// `want`: `count`, `price`, `time`, `order`, `bucket`, `word`, ...: the sentence `trace-want-WANT`.
    #[error("{file}, {place}: `{text}` is no {want}")]
    BadValue {
        file: String,
        place: String,
        text: String,
        want: &'static str,
    },
    #[error("{file}, {zone}: does 1 mean available? {ones} of {samples} samples are 1")]
    PolarityUnknown {
        file: String,
        zone: String,
        /// Share of known samples that are 1.
        ones: f64,
        samples: usize,
    },
    #[error("{file}, {zone}: states 1 = {stated}, asked for 1 = {asked}")]
    PolarityConflict {
        file: String,
        zone: String,
        stated: &'static str,
        asked: &'static str,
    },
    #[error("{file}, {zone}: counts up to {most} cannot be read as unavailable")]
    CountsInverted {
        file: String,
        zone: String,
        most: u32,
    },
    #[error("{file}: no column or zone `{column}`")]
    NoColumn {
        file: String,
        column: String,
        known: Vec<String>,
    },
    #[error("{file}: {found} {what} for {expected} samples")]
    Lengths {
        file: String,
        what: &'static str,
        expected: usize,
        found: usize,
    },
    #[error("{file}: no samples")]
    NoSamples { file: String },
    #[error("{file}: prices without times")]
    NoTimes { file: String },
    #[error("{folder}: no trace among {files} files")]
    NoTraces { folder: String, files: usize },
    #[error("no trace `{name}`")]
    NoTrace {
        name: String,
        suggestion: Option<String>,
    },
}

impl TraceError {
    pub(crate) fn bad_value(
        file: &str,
        place: impl Into<String>,
        text: &str,
        want: &'static str,
    ) -> TraceError {
        TraceError::BadValue {
            file: file.to_owned(),
            place: place.into(),
            text: text.chars().take(60).collect(),
            want,
        }
    }
}

impl Explain for TraceError {
    fn msg(&self) -> Msg {
        match self {
            TraceError::Input(inner) => inner.msg(),
            TraceError::UnknownFormat { file, head } => Msg::new("error-trace-format")
                .arg("file", file.clone())
                .arg("head", head.clone()),
            TraceError::NotThisFormat { file, format } => Msg::new("error-trace-not-this-format")
                .arg("file", file.clone())
                .arg("format", *format),
            TraceError::Json {
                file,
                line,
                column,
                what,
            } => Msg::new("error-trace-json")
                .arg("file", file.clone())
                .arg("line", *line as f64)
                .arg("column", *column as f64)
                .arg("what", what.clone()),
            TraceError::MissingField {
                file,
                format,
                field,
            } => Msg::new("error-trace-field")
                .arg("file", file.clone())
                .arg("format", *format)
                .arg("field", *field),
            TraceError::BadValue {
                file,
                place,
                text,
                want,
            } => Msg::new("error-trace-value")
                .arg("file", file.clone())
                .arg("place", place.clone())
                .arg("text", text.clone())
                .arg("want", wanted(want)),
            TraceError::PolarityUnknown {
                file,
                zone,
                ones,
                samples,
            } => Msg::new("error-trace-polarity")
                .arg("file", file.clone())
                .arg("zone", zone.clone())
                .arg("samples", *samples)
                .arg("ones", percent(*ones))
                .arg("zeros", percent(1.0 - *ones)),
            TraceError::PolarityConflict {
                file,
                zone,
                stated,
                asked,
            } => Msg::new("error-trace-polarity-conflict")
                .arg("file", file.clone())
                .arg("zone", zone.clone())
                .arg("stated", *stated)
                .arg("asked", *asked),
            TraceError::CountsInverted { file, zone, most } => {
                Msg::new("error-trace-counts-inverted")
                    .arg("file", file.clone())
                    .arg("zone", zone.clone())
                    .arg("most", *most)
            }
            TraceError::NoColumn { file, column, .. } => Msg::new("error-trace-column")
                .arg("file", file.clone())
                .arg("column", column.clone()),
            TraceError::Lengths {
                file,
                what,
                expected,
                found,
            } => Msg::new("error-trace-lengths")
                .arg("file", file.clone())
                .arg("what", *what)
                .arg("expected", *expected)
                .arg("found", *found),
            TraceError::NoSamples { file } => {
                Msg::new("error-trace-no-samples").arg("file", file.clone())
            }
            TraceError::NoTimes { file } => {
                Msg::new("error-trace-no-times").arg("file", file.clone())
            }
            TraceError::NoTraces { folder, files } => Msg::new("error-trace-none")
                .arg("folder", folder.clone())
                .arg("files", *files),
            TraceError::NoTrace { name, .. } => {
                Msg::new("error-trace-missing").arg("name", name.clone())
            }
        }
    }

    fn hints(&self) -> Vec<Msg> {
        match self {
            TraceError::Input(inner) => inner.hints(),
            TraceError::UnknownFormat { .. } | TraceError::NotThisFormat { .. } => {
                vec![Msg::new("hint-trace-format")]
            }
            TraceError::PolarityUnknown { .. } => vec![Msg::new("hint-trace-polarity")],
            TraceError::PolarityConflict { .. } => vec![Msg::new("hint-trace-polarity-conflict")],
            TraceError::CountsInverted { .. } => vec![Msg::new("hint-trace-counts")],
            TraceError::NoColumn { column, known, .. } => {
                let names = known.iter().map(String::as_str);
                let mut hints = Vec::new();
                if let Some(word) = lessee_model::did_you_mean(column, names) {
                    hints.push(Msg::new("hint-did-you-mean").arg("word", word));
                }
                hints.push(Msg::new("hint-known-words").arg("words", known.join(", ")));
                hints
            }
            TraceError::Lengths { .. } => vec![Msg::new("hint-trace-lengths")],
            TraceError::NoTimes { .. } => vec![Msg::new("hint-trace-no-times")],
            TraceError::MissingField { .. }
            | TraceError::BadValue { .. }
            | TraceError::Json { .. } => {
                vec![Msg::new("hint-trace-documented")]
            }
            TraceError::NoSamples { .. } => vec![Msg::new("hint-import-empty")],
            TraceError::NoTraces { .. } => vec![Msg::new("hint-trace-format")],
            TraceError::NoTrace { suggestion, .. } => {
                let word = suggestion.iter();
                let mut hints: Vec<Msg> = word
                    .map(|s| Msg::new("hint-did-you-mean").arg("word", s.clone()))
                    .collect();
                hints.push(Msg::new("hint-trace-missing"));
                hints
            }
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// What a value should have been, as a message of its own.
fn wanted(want: &str) -> Msg {
    Msg::new(match want {
        "count" => "trace-want-count",
        "price" => "trace-want-price",
        "time" => "trace-want-time",
        "order" => "trace-want-order",
        "gap" => "trace-want-gap",
        "bucket" => "trace-want-bucket",
        "polarity" => "trace-want-polarity",
        "event" => "trace-want-event",
        "column" => "trace-want-column",
        "number" => "trace-want-number",
        _ => "trace-want-csv",
    })
}
