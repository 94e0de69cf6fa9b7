//! What a report states of itself, whoever made it: figures that failed, figures that cannot be, and nothing at all. A run's own
//! findings say more and are not said again.

use super::{Found, Rules};
use lessee_model::probe::{Reading, Severity};
use lessee_model::{GpuTable, ProbeReport};

/// A report in which nothing was found out says nothing for the machine. Where a finding says why, that is enough.
pub fn nothing(report: &ProbeReport) -> Option<Found> {
    let said = report
        .findings
        .iter()
        .any(|f| f.severity >= Severity::Unknown);
    (!said && !report.holds_anything())
        .then(|| Found::new(Severity::Unknown, "nothing_measured", "machine", "-"))
}

/// Of a report that was stored: what its figures say that its findings do not.
pub fn stated(report: &ProbeReport, gpus: &GpuTable, rules: &Rules) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for named in report.readings() {
        let subject = match named.gpus {
            [Some(a), Some(b)] => format!("gpu {a} - gpu {b}"),
            [Some(a), None] => format!("gpu {a}"),
            _ => named.part.to_owned(),
        };
        let key = named.name;
        let told = |code: &str| {
            report.findings.iter().any(|f| f.subject == subject)
                || found.iter().any(|f| f.code == code && f.subject == subject)
        };
        match named.reading {
            Reading::Failed { reason } if !told("figure_failed") => {
                let detail = format!("{key}: {reason}");
                let of = Found::new(Severity::Fail, "figure_failed", subject, detail);
                found.push(of);
            }
            Reading::Measured { value, .. } => {
                let most = match key {
                    "memory_bandwidth_gbs" => sheet(report, named.gpus[0], gpus),
                    _ => None,
                };
                let most = most.map(|m| m * rules.over_data_sheet);
                let low = *value < 0.0 || (*value == 0.0 && !named.may_be_zero);
                let high = most.is_some_and(|m| *value > m);
                if (low || high || !value.is_finite()) && !told("figure_impossible") {
                    let detail = match most.filter(|_| high) {
                        Some(most) => format!("{key} = {value:.4e}, at most {most:.0}"),
                        None => format!("{key} = {value}"),
                    };
                    let of = Found::new(Severity::Unknown, "figure_impossible", subject, detail);
                    found.push(of);
                }
            }
            _ => {}
        }
    }
    found
}

/// GB/s that the data sheet of this GPU names.
fn sheet(report: &ProbeReport, index: Option<u32>, gpus: &GpuTable) -> Option<f64> {
    let gpu = report.gpus.iter().find(|g| Some(g.index) == index)?;
    let named = gpus.resolve(&gpu.name)?;
    gpus.spec(&named)?.spec.mem_bw_gbs.filter(|b| *b > 0.0)
}
