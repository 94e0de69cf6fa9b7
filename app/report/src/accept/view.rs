//! An acceptance as a page: all verdicts in a table, worst first, then what is behind each that is no plain pass.

use super::latency::round_trips;
use super::{AcceptanceDoc, AcceptedMachineDoc, FindingDoc};
use crate::{Block, Cell, Column, Report, Table, Texts, Tone, clean};
use lessee_accept::{Evidence, GuardLine, Verdict};
use lessee_model::Msg;

/// One thing, and what it is of: with the colon of the language.
pub(super) fn headed(what: &str, of: &str, texts: &Texts) -> String {
    texts.msg(&Msg::new("accept-headed").arg("what", what).arg("of", of))
}

/// The page of an acceptance.
pub fn acceptance_report(doc: &AcceptanceDoc, texts: &Texts) -> Report {
    let data = serde_json::to_value(doc).unwrap_or_default();
    let mut report = Report::new(texts.term("accept-title", &doc.check), data, "findings");
    // what is kept and sent on must say by itself what it is
    if let Some(name) = &doc.name {
        report.heading(headed(&report.title, name, texts));
        report.text(doc.generated_at.as_str());
    }
    let verdict = texts.term("accept-verdict", doc.verdict.as_str());
    report.text(texts.msg(&Msg::new("accept-overall").arg("verdict", verdict)));
    if let Some(shown) = &doc.machine {
        report.text(machine(shown, texts));
    }
    for notice in &doc.notices {
        report.text(notice.as_str());
    }
    let mut worst_first: Vec<&FindingDoc> = doc.findings.iter().collect();
    worst_first.sort_by_key(|f| (std::cmp::Reverse(f.verdict), f.rule != "need"));
    // of this check the figures side by side are the answer
    if doc.check != "latency" {
        report.table(table(&worst_first, texts));
    }
    if !doc.latency.is_empty() {
        report.heading(texts.get("accept-latency-heading"));
        report.table(round_trips(doc, texts));
        report.text(texts.get("accept-latency-legend"));
    }
    let mut passed = Vec::new();
    for f in &worst_first {
        // what is good needs a line, not a heading; a need that passes has its install line
        if f.verdict == Verdict::Pass && f.rule != "need" {
            let of = format!("{} ({})", f.subject, f.rule);
            passed.push(headed(&of, &f.reason, texts));
            continue;
        }
        let verdict = texts.term("accept-verdict", f.verdict.as_str());
        // the rule tells findings on one subject apart; a need is its own
        report.heading(match f.rule.as_str() {
            "need" => headed(&verdict, &f.subject, texts),
            rule => headed(&verdict, &format!("{} ({rule})", f.subject), texts),
        });
        report.list(lines(f, texts));
        // to be copied, so never broken
        if let Some(install) = &f.install {
            report.text(texts.get("accept-line-install"));
            report
                .blocks
                .push(Block::Verbatim(format!("  {}", clean(install))));
        }
    }
    if !passed.is_empty() {
        report.heading(texts.term("accept-verdict", Verdict::Pass.as_str()));
        report.list(passed);
    }
    if let Some(env) = &doc.environment {
        super::environment::blocks(env, texts, &mut report);
    }
    if let Some(guard) = &doc.guard {
        report.heading(texts.get("accept-guard"));
        report.text(texts.get("accept-guard-note"));
        report.blocks.push(Block::Verbatim(guard_lines(guard)));
    }
    if doc.check == "all" {
        report.heading(texts.get("accept-evidence"));
        let line = |e: &Evidence| {
            let from = clean(&e.from);
            format!("{} ({from}), {}, SHA-256 {}", e.kind, e.taken_at, e.sha256)
        };
        report.list(doc.evidence.iter().map(line).collect());
    }
    if doc.not_judged > 0 {
        report.text(texts.msg(&Msg::new("accept-others").arg("n", doc.not_judged)));
    }
    if doc
        .findings
        .iter()
        .any(|f| f.rule == "need" && f.check == "driver")
    {
        report.text(texts.get("accept-legend"));
    }
    report
}

/// The guard as its section of a configuration, to be copied.
fn guard_lines(guard: &GuardLine) -> String {
    let mut lines = vec!["  [guard]".to_owned()];
    let mut put = |key: &str, value: String| lines.push(format!("  {key} = {value}"));
    put("provider", format!("{:?}", clean(&guard.provider)));
    if let Some(instance) = &guard.instance {
        put("instance", format!("{:?}", clean(instance)));
    }
    for (key, money) in [("budget", guard.budget), ("per_hour", guard.per_hour)] {
        if let Some(money) = money {
            put(
                key,
                format!("\"{} {}\"", money.exact(), money.currency.as_str()),
            );
        }
    }
    put("poll_s", guard.poll_s.to_string());
    let shares: Vec<String> = guard.warn_at.iter().map(f64::to_string).collect();
    put("warn_at", format!("[{}]", shares.join(", ")));
    put("action", format!("{:?}", clean(&guard.action)));
    if let Some(billed) = guard.storage_billed_when_stopped {
        put("storage_billed_when_stopped", billed.to_string());
    }
    lines.join("\n")
}

fn machine(machine: &AcceptedMachineDoc, texts: &Texts) -> String {
    if machine.driver.is_none() && machine.gpus.is_empty() {
        return texts.get("accept-machine-unknown");
    }
    let gpus: Vec<String> = machine
        .gpus
        .iter()
        .map(|g| format!("{} x {}", g.count, g.name))
        .collect();
    let driver = machine.driver.as_deref().unwrap_or("?");
    let msg = Msg::new("accept-machine")
        .arg("driver", driver)
        .arg("gpus", gpus.join(", "));
    texts.msg(&msg)
}

fn table(findings: &[&FindingDoc], texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::left("verdict", texts.get("accept-col-verdict"), 0),
        Column::left("subject", texts.get("accept-col-subject"), 0),
        Column::left("rule", texts.get("accept-col-rule"), 1),
        Column::machines("reason", texts.get("accept-col-reason")),
        Column::machines("source", texts.get("accept-col-source")),
        Column::machines("as_of", texts.get("accept-col-as-of")),
        Column::machines("ask", texts.get("accept-col-ask")),
        Column::machines("install", texts.get("accept-col-install")),
    ]);
    let text = |t: &Option<String>| Cell::new(t.as_deref().unwrap_or(""));
    for f in findings {
        let tone = match f.verdict {
            Verdict::Pass => Tone::Good,
            Verdict::Warn | Verdict::Unknown => Tone::Warn,
            Verdict::Fail => Tone::Bad,
        };
        let verdict = texts.term("accept-verdict", f.verdict.as_str());
        table.push(vec![
            Cell::new(verdict).raw(f.verdict.as_str()).tone(tone),
            Cell::new(clean(&f.subject)).raw(f.subject.as_str()),
            Cell::new(f.rule.as_str()),
            Cell::new(f.reason.as_str()),
            text(&f.source),
            text(&f.as_of),
            text(&f.ask),
            text(&f.install),
        ]);
    }
    table
}

fn lines(f: &FindingDoc, texts: &Texts) -> Vec<String> {
    let line = |id: &'static str, text: &str| texts.msg(&Msg::new(id).arg("text", text));
    let mut lines = vec![f.reason.clone()];
    lines.extend(f.ask.as_ref().map(|t| line("accept-line-ask", t)));
    if let Some(source) = &f.source {
        let dated = match &f.as_of {
            Some(date) => format!("{source} ({date})"),
            None => source.clone(),
        };
        lines.push(line("accept-line-source", &dated));
    }
    lines
}
