//! Which kind of log a text is, by its content.

use super::{columns, dmon, table};

/// The kinds of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `nvidia-smi dmon`
    DmonText,
    /// `nvidia-smi pmon`
    PmonText,
    /// `dcgmi dmon`
    DcgmiText,
    /// Text exposition of an exporter, one scrape or many.
    PrometheusText,
    /// Answer of a query, a range or an instant.
    PrometheusJson,
    /// `nvidia-smi --query-gpu=... --format=csv`
    QueryCsv,
    /// The columns of this project.
    Csv,
    /// No text: sampled here and now.
    Live,
}

impl Format {
    /// As it is called in messages and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Format::DmonText => "nvidia-smi dmon",
            Format::PmonText => "nvidia-smi pmon",
            Format::DcgmiText => "dcgmi dmon",
            Format::PrometheusText => "prometheus text",
            Format::PrometheusJson => "prometheus json",
            Format::QueryCsv => "nvidia-smi csv",
            Format::Csv => "csv",
            Format::Live => "live",
        }
    }
}

/// Lines looked at: a log has its header at the top, below at most a few comments.
const LINES: usize = 400;

pub(super) fn recognise(text: &str) -> Option<Format> {
    if text.trim_start().starts_with(['{', '[']) {
        return Some(Format::PrometheusJson);
    }
    for line in text.lines().take(LINES) {
        let line = line.trim();
        if let Some(header) = dmon::header(line) {
            let process = header.contains(&"pid");
            return Some(if process {
                Format::PmonText
            } else {
                Format::DmonText
            });
        }
        if dmon::dcgmi_header(line).is_some() {
            return Some(Format::DcgmiText);
        }
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        let name = line.split(['{', ' ', '\t']).next().unwrap_or("");
        if columns::metric(name).is_some() && !line.contains(',') || line.contains("DCGM_FI_") {
            return Some(Format::PrometheusText);
        }
        if line.contains('{') && columns::metric(name).is_some() {
            return Some(Format::PrometheusText);
        }
        if let Some(header) = table::header(line) {
            return Some(if header.query {
                Format::QueryCsv
            } else {
                Format::Csv
            });
        }
    }
    None
}
