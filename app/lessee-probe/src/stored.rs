//! Reports that were made before, maybe on another machine, and by anyone.

use crate::{ProbeFailure, input};
use lessee_model::ProbeReport;
use std::path::Path;

/// Raw samples of a day's feed test are a tenth of this.
const MAX_REPORT_BYTES: u64 = 256 << 20;

/// # Errors
/// The file cannot be read, is no JSON, or is not a report of this version.
pub(crate) fn read(path: &Path) -> Result<ProbeReport, ProbeFailure> {
    let bytes = input::bytes(path, MAX_REPORT_BYTES)?;
    if bytes.len() as u64 > MAX_REPORT_BYTES {
        return Err(ProbeFailure::TooLarge {
            path: path.display().to_string(),
            limit: MAX_REPORT_BYTES,
        });
    }
    let wrong = |detail: String| ProbeFailure::NoReport {
        path: path.display().to_string(),
        detail,
    };
    let report: ProbeReport = serde_json::from_slice(&bytes).map_err(|e| wrong(e.to_string()))?;
    match report.schema.as_str() {
        ProbeReport::SCHEMA if report.measured_at.parse::<jiff::Timestamp>().is_err() => {
            let time = clip(&report.measured_at);
            Err(wrong(format!("measured_at = {time}, no RFC 3339 time")))
        }
        ProbeReport::SCHEMA => Ok(report),
        other => Err(wrong(format!("schema = {}", clip(other)))),
    }
}

/// What is shown of a text that may be of any length.
fn clip(text: &str) -> String {
    text.chars().take(60).collect()
}
