//! Holds a report against an offer and against what is usual for its GPUs: of a run that has just ended, and of a report that
//! was made on another machine (`probe judge`).
//!
//! Not here: the comparisons (`core/accept`), which offer is meant (`offer`).

mod offer;

pub(crate) use offer::{Choice, Promise};

use crate::{Answer, Facts, ProbeFailure, ProbeJudgeArgs, page, stored};
use lessee_accept::Found;
use lessee_model::ProbeReport;
use lessee_model::probe::{Judged, Promised, Severity, Verdict};
use lessee_report::Texts;
use std::path::Path;

/// `probe judge REPORT`: the offer that is named, else the one that the report names.
///
/// # Errors
/// The report cannot be read, or it is not clear which offer is meant.
pub(crate) fn run(
    args: &ProbeJudgeArgs,
    facts: Facts<'_>,
    texts: &Texts,
) -> Result<Answer, ProbeFailure> {
    let report = judged(&args.report, args.offer.as_deref(), facts, texts)?;
    Ok(Answer {
        exit: report
            .verdict
            .map_or(lessee_model::Exit::Bug, Verdict::exit),
        report: page::page(&report, texts),
    })
}

/// A stored report, held against the offer that is named, else the one that it names itself.
///
/// # Errors
/// The report cannot be read, or it is not clear which offer is meant.
pub fn judged(
    report: &Path,
    offer: Option<&str>,
    facts: Facts<'_>,
    texts: &Texts,
) -> Result<ProbeReport, ProbeFailure> {
    let mut report = stored::read(report)?;
    let named = offer.or(report.offer.as_deref());
    let promise = named.map(|o| Promise::of(o, facts.catalog)).transpose()?;
    let choice = promise.as_ref().map(|p| p.choose(&report, facts));
    if let Some(Choice::Several(of)) = choice {
        return Err(ProbeFailure::OfferAmbiguous { offers: of });
    }
    report.findings.retain(|f| !lessee_accept::is_code(&f.code));
    let mut of = lessee_accept::stated(&report, facts.gpus, &facts.catalog.judge.rules);
    of.extend(promise.as_ref().and_then(unread));
    judge(&mut report, choice, of, facts, texts);
    Ok(report)
}

/// That a quote says more than was held against the report.
pub(crate) fn unread(promise: &Promise) -> Option<Found> {
    (promise.unread_lines > 0).then(|| Found::offer_unread(promise.unread_lines))
}

/// # Errors
/// Neither an offer nor a file has this name, or the file has no offer that could be read for sure.
pub fn offer_exists(name: &str, catalog: &lessee_catalog::Facts) -> Result<(), ProbeFailure> {
    Promise::of(name, catalog).map(|_| ())
}

/// Rows and findings of the comparisons into the report, beside those that are `found` already, and its verdict anew.
pub(crate) fn judge(
    report: &mut ProbeReport,
    choice: Option<Choice<'_>>,
    mut found: Vec<Found>,
    facts: Facts<'_>,
    texts: &Texts,
) {
    found.extend(lessee_accept::nothing(report));
    let yardstick = &facts.catalog.judge;
    let mut judged = Judged::default();
    match choice {
        None => {}
        Some(Choice::Several(of)) => found.push(Found::offer_ambiguous(&of)),
        Some(Choice::One { offer, of_several }) => {
            if of_several {
                found.push(Found::offer_chosen(&offer.name));
            }
            let rules = &yardstick.rules;
            let (rows, of) = lessee_accept::promised(report, &offer.machine, facts.gpus, rules);
            found.extend(of);
            judged.promised = Some(Promised {
                offer: offer.name.clone(),
                rows,
            });
            report.offer = Some(offer.key.clone());
        }
    }
    let (rows, of) = lessee_accept::expected(report, facts.gpus, yardstick);
    judged.expected = rows;
    found.extend(of);
    let said = found.iter().map(|f| f.said(texts.msg(&f.msg())));
    report.findings.extend(said);
    let weight = |f: &lessee_model::probe::ProbeFinding| std::cmp::Reverse::<Severity>(f.severity);
    report.findings.sort_by_key(weight);
    report.verdict = Some(Verdict::of(report.findings.iter().map(|f| f.severity)));
    report.judged = Some(judged);
}
