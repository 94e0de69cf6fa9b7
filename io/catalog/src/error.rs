//! What can go wrong with files of offers, and how to mend it. Sentences live in `app/report/locales`.

use lessee_model::{Exit, Explain, Msg};
use std::path::PathBuf;

/// The name under which importers return it.
pub type ImportError = CatalogError;

/// Everything that stops a file or a folder from being used. What concerns single rows of an import
/// is a question instead, see [`crate::Imported`].
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    #[error("built-in {file} line {line}: {what}")]
    BuiltIn {
        file: &'static str,
        line: u64,
        what: String,
    },
    #[error("{file} is empty")]
    Empty { file: String },
    #[error("{file} is a directory")]
    Directory { file: String },
    #[error("{file}: {size} bytes are more than {limit}")]
    TooLarge { file: String, size: u64, limit: u64 },
    /// `kind`: `gzip`, `zip`, `pdf`, `zstd`
    #[error("{file} is {kind}, not text")]
    Packed { file: String, kind: &'static str },
    #[error("{file} is not text: NUL byte at offset {offset}")]
    NotText { file: String, offset: u64 },
    #[error("{file} line {line}: neither UTF-8 nor UTF-16 nor GBK")]
    Encoding { file: String, line: u64 },
    #[error("{file}: none of the known formats")]
    UnknownFormat { file: String, header: String },
    #[error("{file}: no column {column}")]
    MissingColumn {
        file: String,
        format: &'static str,
        column: &'static str,
        suggestion: Option<String>,
    },
    /// A table of measurements; `what`: the columns that would tell its kind, or the reader's words.
    #[error("{file} line {line}: {what}")]
    Table {
        file: String,
        line: u64,
        what: String,
    },
    #[error("{file} line {line}: the file stops in the middle")]
    Truncated { file: String, line: u64 },
    #[error("{file} line {line}: {found} fields instead of {expected}")]
    Fields {
        file: String,
        line: u64,
        expected: usize,
        found: usize,
    },
    #[error("{file} line {line}: a quote is opened and never closed")]
    OpenQuote { file: String, line: u64 },
    #[error("{file}: the provider is not named")]
    NoProvider { file: String },
    #[error("`{name}` is not a name for a snapshot")]
    SnapshotName { name: String },
    #[error("no snapshot `{name}`")]
    NoSnapshot {
        name: String,
        suggestion: Option<String>,
    },
    #[error("{path}: {what}")]
    Manifest { path: PathBuf, what: String },
    #[error("snapshot {file} line {line}: {problem}")]
    Stored {
        file: String,
        line: u64,
        problem: RowProblem,
    },
    #[error("`{name}` is not a known GPU")]
    UnknownGpu {
        name: String,
        suggestion: Option<String>,
    },
    #[error("no offer `{name}`")]
    NoOffer {
        name: String,
        suggestion: Option<String>,
    },
    /// `action`: `read`, `write`, `lock`, `remove`
    #[error("cannot {action} {path}: {source}")]
    Io {
        path: PathBuf,
        action: &'static str,
        source: std::io::Error,
    },
}

/// The disk, the quota or the largest size of a file is used up.
pub(crate) fn no_room(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// What is wrong with one cell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: `{text}` ({code})")]
pub struct RowProblem {
    pub column: String,
    /// The cell as written, shortened.
    pub text: String,
    /// `price_unreadable`, `price_negative`, `number_unreadable`, `word_unknown`, `missing`
    pub code: &'static str,
}

impl RowProblem {
    pub fn new(column: &str, text: &str, code: &'static str) -> RowProblem {
        RowProblem {
            column: column.to_owned(),
            text: text.chars().take(60).collect(),
            code,
        }
    }

    /// The sentence behind [`RowProblem::code`].
    pub fn msg(&self) -> Msg {
        let id = match self.code {
            "price_negative" => "import-why-price-negative",
            "price_unreadable" => "import-why-price-unreadable",
            "number_unreadable" => "import-why-number-unreadable",
            "word_unknown" => "import-why-word-unknown",
            _ => "import-why-missing",
        };
        Msg::new(id)
            .arg("column", self.column.clone())
            .arg("text", self.text.clone())
    }
}

impl Explain for CatalogError {
    fn msg(&self) -> Msg {
        match self {
            CatalogError::BuiltIn { file, line, what } => Msg::new("error-catalog-builtin")
                .arg("file", *file)
                .arg("line", *line as f64)
                .arg("what", what.clone()),
            CatalogError::Empty { file } => Msg::new("error-input-empty").arg("file", file.clone()),
            CatalogError::Directory { file } => {
                Msg::new("error-input-directory").arg("file", file.clone())
            }
            CatalogError::TooLarge { file, size, limit } => Msg::new("error-input-too-large")
                .arg("file", file.clone())
                .bytes("size", *size as f64)
                .bytes("limit", *limit as f64),
            CatalogError::Packed { file, kind } => Msg::new("error-input-packed")
                .arg("file", file.clone())
                .arg("kind", *kind),
            CatalogError::NotText { file, offset } => Msg::new("error-input-not-text")
                .arg("file", file.clone())
                .arg("offset", *offset as f64),
            CatalogError::Encoding { file, line } => Msg::new("error-input-encoding")
                .arg("file", file.clone())
                .arg("line", *line as f64),
            CatalogError::Table { file, line, what } => Msg::new("error-measurements")
                .arg("file", file.clone())
                .arg("line", *line as f64)
                .arg("what", what.clone()),
            CatalogError::UnknownFormat { file, header } => Msg::new("error-import-format")
                .arg("file", file.clone())
                .arg("header", header.clone()),
            CatalogError::MissingColumn {
                file,
                format,
                column,
                ..
            } => Msg::new("error-import-column")
                .arg("file", file.clone())
                .arg("format", *format)
                .arg("column", *column),
            CatalogError::Truncated { file, line } => Msg::new("error-import-truncated")
                .arg("file", file.clone())
                .arg("line", *line as f64),
            CatalogError::Fields {
                file,
                line,
                expected,
                found,
            } => Msg::new("error-import-fields")
                .arg("file", file.clone())
                .arg("line", *line as f64)
                .arg("expected", *expected)
                .arg("found", *found),
            CatalogError::OpenQuote { file, line } => Msg::new("error-import-open-quote")
                .arg("file", file.clone())
                .arg("line", *line as f64),
            CatalogError::NoProvider { file } => {
                Msg::new("error-import-no-provider").arg("file", file.clone())
            }
            CatalogError::SnapshotName { name } => {
                Msg::new("error-snapshot-name").arg("name", name.clone())
            }
            CatalogError::NoSnapshot { name, .. } => {
                Msg::new("error-snapshot-missing").arg("name", name.clone())
            }
            CatalogError::Manifest { path, what } => Msg::new("error-snapshot-manifest")
                .arg("path", path.display().to_string())
                .arg("what", what.clone()),
            CatalogError::Stored {
                file,
                line,
                problem,
            } => Msg::new("error-snapshot-row")
                .arg("file", file.clone())
                .arg("line", *line as f64)
                .arg("why", problem.msg()),
            CatalogError::UnknownGpu { name, .. } => {
                Msg::new("error-gpu-unknown").arg("name", name.clone())
            }
            CatalogError::NoOffer { name, .. } => {
                Msg::new("why-not-unknown-offer").arg("offer", name.clone())
            }
            CatalogError::Io {
                path,
                action,
                source,
            } => {
                // one whole sentence per action: languages do not share word order
                let id = match *action {
                    "write" => "error-io-write",
                    "lock" => "error-io-lock",
                    "remove" => "error-io-remove",
                    _ => "error-io-read",
                };
                Msg::new(id)
                    .arg("path", path.display().to_string())
                    .arg("cause", source.to_string())
            }
        }
    }

    fn hints(&self) -> Vec<Msg> {
        let did_you_mean = |suggestion: &Option<String>| {
            suggestion
                .iter()
                .map(|s| Msg::new("hint-did-you-mean").arg("word", s.clone()))
                .collect()
        };
        match self {
            CatalogError::Empty { .. } => vec![Msg::new("hint-import-empty")],
            CatalogError::Directory { .. } => vec![Msg::new("hint-input-directory")],
            CatalogError::TooLarge { .. } => vec![Msg::new("hint-input-too-large")],
            CatalogError::Packed { .. } => vec![Msg::new("hint-input-packed")],
            CatalogError::NotText { .. } => vec![Msg::new("hint-input-not-text")],
            CatalogError::Encoding { .. } => vec![Msg::new("hint-input-encoding")],
            CatalogError::Table { .. } => vec![Msg::new("hint-measurements")],
            CatalogError::UnknownFormat { .. } => vec![Msg::new("hint-import-format")],
            CatalogError::MissingColumn { suggestion, .. } => {
                let mut hints: Vec<Msg> = did_you_mean(suggestion);
                hints.push(Msg::new("hint-import-column"));
                hints
            }
            CatalogError::Truncated { .. } => vec![Msg::new("hint-import-truncated")],
            CatalogError::Fields { .. } => vec![Msg::new("hint-import-fields")],
            CatalogError::OpenQuote { .. } => vec![Msg::new("hint-import-open-quote")],
            CatalogError::NoProvider { .. } => vec![Msg::new("hint-import-no-provider")],
            CatalogError::SnapshotName { .. } => vec![Msg::new("hint-snapshot-name")],
            CatalogError::NoSnapshot { suggestion, .. }
            | CatalogError::UnknownGpu { suggestion, .. }
            | CatalogError::NoOffer { suggestion, .. } => did_you_mean(suggestion),
            CatalogError::Manifest { .. } => vec![Msg::new("hint-snapshot-manifest")],
            CatalogError::Stored { .. } => vec![Msg::new("hint-snapshot-row")],
            CatalogError::Io { source, .. } if no_room(source) => vec![Msg::new("hint-no-room")],
            CatalogError::BuiltIn { .. } | CatalogError::Io { .. } => Vec::new(),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            CatalogError::BuiltIn { .. } => Exit::Bug,
            _ => Exit::Usage,
        }
    }
}
