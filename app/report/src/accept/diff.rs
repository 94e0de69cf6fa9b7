//! Two acceptances: which findings became better, worse, are new or gone, and whose evidence changed.
//!
//! A finding is the same where check, rule and subject are; of several alike the first of one is that of the other. A new one
//! counts as worse where it fails: what was not looked at before has not become worse. One that is gone although its check
//! looked again is mended; where nobody looked any more, what had failed or was not known still is.

use super::{AcceptanceDoc, FindingDoc};
use crate::{Cell, Column, Report, Table, Texts, Tone, clean};
use lessee_accept::Verdict;
use lessee_model::Msg;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `accept diff -o json`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AcceptanceDiffDoc {
    /// `lessee/acceptance-diff/v1`
    pub schema: String,
    /// When the two were made.
    pub earlier_at: String,
    pub later_at: String,
    pub earlier_verdict: Verdict,
    pub later_verdict: Verdict,
    /// Findings that became worse, or are new and fail.
    pub worse: usize,
    pub better: usize,
    /// Findings that only the later has.
    pub new: usize,
    /// Findings of the earlier at which nobody looked any more.
    pub gone: usize,
    /// Of these, what had failed or was not known.
    pub gone_open: usize,
    pub unchanged: usize,
    /// All that is not unchanged.
    pub findings: Vec<DiffFindingDoc>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Changed {
    Worse,
    Better,
    New,
    Gone,
    /// The same verdict for another reason.
    Reason,
}

impl Changed {
    pub fn as_str(self) -> &'static str {
        match self {
            Changed::Worse => "worse",
            Changed::Better => "better",
            Changed::New => "new",
            Changed::Gone => "gone",
            Changed::Reason => "reason",
        }
    }
}

/// One finding in both.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DiffFindingDoc {
    pub check: String,
    pub rule: String,
    pub subject: String,
    pub change: Changed,
    pub earlier: Option<Verdict>,
    pub later: Option<Verdict>,
    pub earlier_reason: Option<String>,
    pub later_reason: Option<String>,
}

/// What changed from one to the other.
pub fn acceptance_diff(earlier: &AcceptanceDoc, later: &AcceptanceDoc) -> AcceptanceDiffDoc {
    let mut rest: Vec<&FindingDoc> = earlier.findings.iter().collect();
    let mut doc = AcceptanceDiffDoc {
        schema: "lessee/acceptance-diff/v1".to_owned(),
        earlier_at: earlier.generated_at.clone(),
        later_at: later.generated_at.clone(),
        earlier_verdict: earlier.verdict,
        later_verdict: later.verdict,
        worse: 0,
        better: 0,
        new: 0,
        gone: 0,
        gone_open: 0,
        unchanged: 0,
        findings: Vec::new(),
    };
    for new in &later.findings {
        let same = |old: &&FindingDoc| {
            old.check == new.check && old.rule == new.rule && old.subject == new.subject
        };
        let old = rest.iter().position(same).map(|at| rest.remove(at));
        let change = match old {
            None => Changed::New,
            Some(old) if new.verdict > old.verdict => Changed::Worse,
            Some(old) if new.verdict < old.verdict => Changed::Better,
            // in words they may differ only by the reader's language
            Some(old) if new.code != old.code => Changed::Reason,
            Some(_) => {
                doc.unchanged += 1;
                continue;
            }
        };
        match change {
            Changed::Worse => doc.worse += 1,
            Changed::Better => doc.better += 1,
            Changed::New | Changed::Gone | Changed::Reason => {}
        }
        if change == Changed::New {
            doc.new += 1;
            doc.worse += usize::from(new.verdict == Verdict::Fail);
        }
        doc.findings.push(row(change, old, Some(new)));
    }
    for old in rest {
        let change = match old.verdict > Verdict::Pass && looked_again(old, later) {
            true => Changed::Better,
            false => Changed::Gone,
        };
        match change {
            Changed::Better => doc.better += 1,
            _ => {
                doc.gone += 1;
                doc.gone_open += usize::from(old.verdict > Verdict::Warn);
            }
        }
        doc.findings.push(row(change, Some(old), None));
    }
    doc
}

/// Whether what a finding concerns was looked at again. The driver's own findings name it by its number, which an update
/// changes; a need and an item of a checklist are there whenever they were asked for.
fn looked_again(old: &FindingDoc, later: &AcceptanceDoc) -> bool {
    let mut again = later.findings.iter().filter(|f| f.check == old.check);
    match (old.check.as_str(), old.rule.as_str()) {
        (_, "need" | "checklist") => false,
        ("driver" | "env", _) => again.next().is_some(),
        _ => again.any(|f| f.subject == old.subject),
    }
}

fn row(change: Changed, old: Option<&FindingDoc>, new: Option<&FindingDoc>) -> DiffFindingDoc {
    let of = |get: fn(&FindingDoc) -> &String| new.or(old).map(get).cloned().unwrap_or_default();
    DiffFindingDoc {
        check: of(|f| &f.check),
        rule: of(|f| &f.rule),
        subject: of(|f| &f.subject),
        change,
        earlier: old.map(|f| f.verdict),
        later: new.map(|f| f.verdict),
        earlier_reason: old.map(|f| f.reason.clone()),
        later_reason: new.map(|f| f.reason.clone()),
    }
}

/// The page.
pub fn diff_report(doc: &AcceptanceDiffDoc, texts: &Texts) -> Report {
    let data = serde_json::to_value(doc).unwrap_or_default();
    let mut report = Report::new(texts.get("accept-diff-title"), data, "findings");
    let summary = Msg::new("accept-diff-summary")
        .arg("earlier", doc.earlier_at.as_str())
        .arg("later", doc.later_at.as_str())
        .arg("from", Msg::new(verdict_id(doc.earlier_verdict)))
        .arg("to", Msg::new(verdict_id(doc.later_verdict)));
    report.text(texts.msg(&summary));
    let counts = Msg::new("accept-diff-counts")
        .arg("worse", doc.worse)
        .arg("better", doc.better)
        .arg("new", doc.new)
        .arg("gone", doc.gone)
        .arg("unchanged", doc.unchanged);
    report.text(texts.msg(&counts));
    if doc.findings.is_empty() {
        return report;
    }
    let mut table = Table::new(vec![
        Column::left("change", texts.get("accept-col-change"), 0),
        Column::left("check", texts.get("accept-col-check"), 1),
        Column::left("subject", texts.get("accept-col-subject"), 0),
        Column::left("rule", texts.get("accept-col-rule"), 1),
        Column::left("earlier", texts.get("accept-col-earlier"), 0),
        Column::left("later", texts.get("accept-col-later"), 0),
    ]);
    let verdict = |v: Option<Verdict>| match v {
        Some(v) => Cell::new(texts.term("accept-verdict", v.as_str())).raw(v.as_str()),
        None => Cell::new("-").raw(""),
    };
    for f in &doc.findings {
        let tone = match f.change {
            Changed::Worse => Tone::Bad,
            Changed::Better => Tone::Good,
            Changed::New | Changed::Gone | Changed::Reason => Tone::Warn,
        };
        let change = texts.term("accept-change", f.change.as_str());
        table.push(vec![
            Cell::new(change).raw(f.change.as_str()).tone(tone),
            Cell::new(f.check.as_str()),
            Cell::new(clean(&f.subject)).raw(f.subject.as_str()),
            Cell::new(f.rule.as_str()),
            verdict(f.earlier),
            verdict(f.later),
        ]);
    }
    report.table(table);
    for f in &doc.findings {
        let change = texts.term("accept-change", f.change.as_str());
        report.heading(super::view::headed(&change, &f.subject, texts));
        let line = |id: &'static str, reason: &Option<String>| {
            reason
                .as_ref()
                .map(|text| texts.msg(&Msg::new(id).arg("text", text.as_str())))
        };
        let lines = [
            line("accept-line-earlier", &f.earlier_reason),
            line("accept-line-later", &f.later_reason),
        ];
        report.list(lines.into_iter().flatten().collect());
    }
    report
}

fn verdict_id(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "accept-verdict-pass",
        Verdict::Warn => "accept-verdict-warn",
        Verdict::Unknown => "accept-verdict-unknown",
        Verdict::Fail => "accept-verdict-fail",
    }
}
