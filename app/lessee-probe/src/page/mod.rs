//! A probe's report for people: the verdict, what it rests on, then the figures. From the document alone, so that a report
//! of another day reads the same.
//!
//! One section a file; a section that has nothing to say adds nothing. Not here: what findings mean (`io/probe`).

mod disk;
mod feed;
mod gpus;
mod host;
mod judged;
mod links;
mod net;
mod ports;
pub(crate) mod rows;
mod tensor;

use lessee_model::probe::{ProbeFinding, Severity, StepRecord, StepStatus, Verdict};
use lessee_model::{Msg, ProbeReport};
use lessee_report::{Cell, Column, Report, Table, Texts, Tone};
use rows::reason;

/// Findings that people are shown; programs get all.
const SHOWN: usize = 30;

pub(crate) fn page(doc: &ProbeReport, texts: &Texts) -> Report {
    let data = serde_json::to_value(doc).unwrap_or_default();
    let mut report = Report::new(texts.get("probe-title"), data, "findings");
    verdict(&mut report, doc, texts);
    findings(&mut report, &doc.findings, texts);
    judged::section(&mut report, doc, texts);
    gpus::section(&mut report, doc, texts);
    tensor::section(&mut report, doc, texts);
    links::section(&mut report, doc, texts);
    ports::section(&mut report, doc, texts);
    host::section(&mut report, doc, texts);
    disk::section(&mut report, doc, texts);
    feed::section(&mut report, doc, texts);
    net::section(&mut report, doc, texts);
    steps(&mut report, doc, texts);
    report
}

fn verdict(report: &mut Report, doc: &ProbeReport, texts: &Texts) {
    let of = |severity| {
        doc.findings
            .iter()
            .filter(|f| f.severity == severity)
            .count()
    };
    let msg = match doc.verdict {
        Some(Verdict::Delivers) => match of(Severity::Warn) {
            0 => Msg::new("probe-verdict-delivers"),
            n => Msg::new("probe-verdict-delivers-warned").arg("n", n),
        },
        Some(Verdict::DoesNotDeliver) => {
            Msg::new("probe-verdict-does-not-deliver").arg("n", of(Severity::Fail))
        }
        Some(Verdict::CannotTell) => {
            Msg::new("probe-verdict-cannot-tell").arg("n", of(Severity::Unknown))
        }
        None => return,
    };
    report.text(texts.msg(&msg));
    let Some(run) = &doc.run else {
        return;
    };
    // neither what was left out nor what was never reached
    let made = |s: &&StepRecord| {
        let reached = s.seconds > 0.0 || s.status == StepStatus::Done;
        s.status != StepStatus::Skipped && reached
    };
    let names: Vec<String> = run
        .steps
        .iter()
        .filter(made)
        .map(|s| texts.term("probe-step", &s.step))
        .collect();
    // what was left out says nothing for the machine, but one GPU has nothing to add up
    let left_out = |s: &StepRecord| !made(&s) && s.reason.as_deref() != Some("one_gpu");
    if run.steps.iter().any(left_out) && !names.is_empty() {
        let only = Msg::new("probe-measured-only").arg("steps", names.join(", "));
        report.text(texts.msg(&only));
    }
}

fn findings(report: &mut Report, findings: &[ProbeFinding], texts: &Texts) {
    if findings.is_empty() {
        return;
    }
    report.heading(texts.get("probe-findings"));
    let line = |f: &ProbeFinding| {
        let weight = texts.term("probe-severity", f.severity.as_str());
        let line = Msg::new("probe-finding")
            .arg("severity", weight)
            .arg("text", f.text.clone());
        texts.msg(&line)
    };
    let mut lines: Vec<String> = findings.iter().take(SHOWN).map(line).collect();
    if findings.len() > SHOWN {
        lines.push(texts.msg(&Msg::new("probe-more").arg("n", findings.len() - SHOWN)));
    }
    report.list(lines);
}

fn steps(report: &mut Report, doc: &ProbeReport, texts: &Texts) {
    let Some(run) = &doc.run else {
        return;
    };
    report.heading(texts.get("probe-steps"));
    let mut table = Table::new(vec![
        Column::left("step", texts.get("probe-col-step"), 0),
        Column::left("status", texts.get("probe-col-status"), 0),
        Column::right("seconds", texts.get("probe-col-time"), 0),
        Column::right("cap_s", texts.get("probe-col-cap"), 0),
        Column::left("reason", texts.get("probe-col-why"), 0),
    ]);
    for step in &run.steps {
        let tone = match step.status {
            StepStatus::Done => Tone::Plain,
            StepStatus::Skipped => Tone::Dim,
            StepStatus::Cut | StepStatus::Stopped => Tone::Warn,
            StepStatus::Failed => Tone::Bad,
        };
        let seconds = |s: f64| Cell::new(texts.seconds(s)).raw(s.to_string());
        table.push(vec![
            Cell::new(texts.term("probe-step", &step.step)).raw(step.step.clone()),
            Cell::new(texts.term("probe-status", step.status.as_str()))
                .raw(step.status.as_str())
                .tone(tone),
            match step.status {
                StepStatus::Skipped => Cell::unknown(),
                _ => seconds(step.seconds),
            },
            seconds(step.cap_s),
            match &step.reason {
                Some(why) => Cell::new(reason(why, texts)).raw(why.clone()),
                None => Cell::new(""),
            },
        ]);
    }
    report.table(table);
    let kind = match run.quick {
        true => "probe-run-quick",
        false => "probe-run-full",
    };
    report.text(
        texts.msg(
            &Msg::new(kind)
                .seconds("seconds", run.seconds)
                .arg("version", run.lessee.clone())
                .arg("time", doc.measured_at.clone()),
        ),
    );
}
