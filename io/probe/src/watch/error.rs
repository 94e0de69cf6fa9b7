//! What can be wrong with a utilisation log.

use lessee_model::{Explain, Msg};

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WatchError {
    #[error("{file}: none of the known utilisation logs")]
    UnknownFormat { file: String, head: String },
    #[error("{file} line {line} column {column}: {what}")]
    Json {
        file: String,
        line: usize,
        column: usize,
        what: String,
    },
    #[error("{file}: no known metric, only {found}")]
    NoMetric { file: String, found: String },
    #[error("{file} ({format}): no samples")]
    NoSamples { file: String, format: &'static str },
    #[error("an interval of {seconds} s")]
    Interval { seconds: f64 },
    #[error("unknown GPU `{model}`")]
    UnknownGpu { model: String, near: Option<String> },
    #[error("the built-in curve.toml is broken: {what}")]
    Rules { what: String },
    #[error("no power limit known of {model}")]
    NoLimit { model: String },
}

impl WatchError {
    pub(super) fn unknown(file: &str, text: &str) -> WatchError {
        let line = text.lines().find(|l| !l.trim().is_empty()).unwrap_or("");
        WatchError::UnknownFormat {
            file: file.to_owned(),
            head: cut(line),
        }
    }
}

/// The beginning of a line, for messages.
pub(super) fn cut(line: &str) -> String {
    line.trim().chars().take(80).collect()
}

impl Explain for WatchError {
    fn msg(&self) -> Msg {
        match self {
            WatchError::UnknownFormat { file, head } => Msg::new("watch-error-format")
                .arg("file", file.clone())
                .arg("head", head.clone()),
            WatchError::Json {
                file,
                line,
                column,
                what,
            } => Msg::new("watch-error-json")
                .arg("file", file.clone())
                .arg("line", *line)
                .arg("column", *column)
                .arg("what", what.clone()),
            WatchError::NoMetric { file, found } => Msg::new("watch-error-metric")
                .arg("file", file.clone())
                .arg("found", found.clone()),
            WatchError::NoSamples { file, format } => Msg::new("watch-error-samples")
                .arg("file", file.clone())
                .arg("format", *format),
            WatchError::Interval { seconds } => {
                Msg::new("watch-error-interval").arg("seconds", *seconds)
            }
            WatchError::UnknownGpu { model, .. } => {
                Msg::new("watch-error-gpu").arg("model", model.clone())
            }
            WatchError::NoLimit { model } => {
                Msg::new("watch-error-limit").arg("model", model.clone())
            }
            WatchError::Rules { what } => Msg::new("watch-error-rules").arg("what", what.clone()),
        }
    }

    fn hints(&self) -> Vec<Msg> {
        match self {
            WatchError::UnknownFormat { .. } => vec![Msg::new("hint-watch-format")],
            WatchError::Json { .. } | WatchError::NoMetric { .. } => {
                vec![Msg::new("hint-watch-metric")]
            }
            WatchError::NoSamples { .. } => vec![Msg::new("hint-watch-samples")],
            WatchError::Interval { .. } => vec![Msg::new("hint-watch-interval")],
            WatchError::UnknownGpu { near, .. } => near
                .iter()
                .map(|near| Msg::new("hint-watch-gpu").arg("near", near.clone()))
                .collect(),
            WatchError::NoLimit { .. } => vec![Msg::new("hint-watch-limit")],
            WatchError::Rules { .. } => Vec::new(),
        }
    }
}
