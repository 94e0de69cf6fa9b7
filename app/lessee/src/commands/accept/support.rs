//! `accept support`: a log of tickets as people keep it, a table with the times of question, first answer and solution.

use super::{Done, evidence};
use crate::args::SupportArgs;
use crate::facts;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, fmt::strtime};
use lessee_accept::{Outcome, Promise, Ticket, log_unreadable};
use lessee_console::{Failure, Settings};
use lessee_model::Msg;
use lessee_report::accept::{AcceptedSupportDoc, Beside};
use std::path::Path;

/// More tickets than this are another file.
const MOST: usize = 100_000;

const ASKED: &[&str] = &[
    "asked",
    "opened",
    "created",
    "created_at",
    "asked_at",
    "opened_at",
    "提问",
    "提问时间",
    "提交",
    "提交时间",
    "创建时间",
    "报障时间",
];
const ANSWERED: &[&str] = &[
    "first_answer",
    "answered",
    "first_response",
    "first_reply",
    "first_answer_at",
    "first_response_at",
    "first_reply_at",
    "首次回复",
    "首次回复时间",
    "首次答复",
    "首次答复时间",
    "首次响应",
    "首次响应时间",
];
const SOLVED: &[&str] = &[
    "solved",
    "resolved",
    "closed",
    "solved_at",
    "resolved_at",
    "closed_at",
    "解决",
    "解决时间",
    "完成时间",
    "关闭时间",
];

/// The check, and the hours of waiting in a month.
pub(super) fn check(args: &SupportArgs, settings: &Settings) -> Result<Done, Failure> {
    let Some(path) = &args.log else {
        return Err(Failure::usage(Msg::new("accept-needs-log")).hint(Msg::new("hint-accept-log")));
    };
    let share_ppm = args.share.as_deref().map(share_ppm).transpose()?;
    let promise = Promise {
        answer_s: args.first_answer.map(|s| s.0),
        solve_s: args.solved.map(|s| s.0),
        share_ppm,
    };
    let (bytes, from) = bytes(path)?;
    let read = lessee_catalog::read_input(&bytes, &from)
        .map_err(|e| lessee_model::Explain::msg(&e))
        .and_then(|text| tickets(&text.text, settings));
    let mut support = None;
    let findings = match read {
        Ok(tickets) => {
            let rules = lessee_catalog::provider_facts()?;
            let (findings, wait) = lessee_accept::support(&tickets, &promise, &rules);
            support = Some(AcceptedSupportDoc {
                tickets: tickets.len(),
                wait_hours_a_month: wait.map(|hours| (hours * 10.0).round() / 10.0),
            });
            findings
        }
        // whatever is in the file, it is an answer
        Err(why) => vec![log_unreadable(why)],
    };
    let outcome = Outcome::new("support", findings);
    Ok(Done {
        outcome: outcome.resting_on(evidence("tickets", from, &bytes, settings), bytes),
        beside: Beside {
            support,
            ..Beside::default()
        },
    })
}

/// Only a file that cannot be opened is an error; what is in it becomes a finding.
fn bytes(path: &Path) -> Result<(Vec<u8>, String), Failure> {
    match facts::read_bytes(path) {
        Ok(read) => Ok(read),
        Err(_) if path.is_file() => {
            let bytes = std::fs::read(path).map_err(|e| Failure::read(path, &e))?;
            Ok((bytes, path.display().to_string()))
        }
        Err(other) => Err(other),
    }
}

fn share_ppm(text: &str) -> Result<u32, Failure> {
    let wrong = || Failure::usage(Msg::new("accept-share").arg("text", text.to_owned()));
    let value: f64 = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map_err(|_| wrong())? / 100.0,
        None => text.trim().parse().map_err(|_| wrong())?,
    };
    match value > 0.0 && value <= 1.0 {
        true => Ok((value * 1e6).round().max(1.0) as u32),
        false => Err(wrong()),
    }
}

fn tickets(text: &str, settings: &Settings) -> Result<Vec<Ticket>, Msg> {
    // a file that breaks off within a quoted cell would lose what is after it
    if !text.matches('"').count().is_multiple_of(2) {
        return Err(Msg::new("accept-log-quote"));
    }
    let first = text.lines().next().unwrap_or("");
    let delimiter = [b'\t', b';', b',']
        .into_iter()
        .max_by_key(|d| first.matches(char::from(*d)).count());
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter.unwrap_or(b','))
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let header = reader
        .headers()
        .map_err(|e| Msg::new("accept-log-broken").arg("detail", e.to_string()))?
        .clone();
    let column = |names: &[&str]| {
        let same =
            |cell: &str| names.contains(&cell.trim().to_lowercase().replace(' ', "_").as_str());
        header.iter().position(same)
    };
    let missing = |name: &'static str| {
        Msg::new("accept-log-column")
            .arg("column", name)
            .arg("have", header.iter().collect::<Vec<_>>().join(", "))
    };
    let asked = column(ASKED).ok_or_else(|| missing("asked"))?;
    let answered = column(ANSWERED).ok_or_else(|| missing("first_answer"))?;
    let solved = column(SOLVED).ok_or_else(|| missing("solved"))?;
    let mut out = Vec::new();
    for record in reader.records() {
        let record =
            record.map_err(|e| Msg::new("accept-log-broken").arg("detail", e.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.iter().all(str::is_empty) {
            continue;
        }
        let wrong = |what: &str| {
            Msg::new("accept-log-cell")
                .arg("line", line as f64)
                .arg("text", what.chars().take(60).collect::<String>())
        };
        let time = |at: usize| match record.get(at).unwrap_or("") {
            "" | "-" => Ok(None),
            cell => moment(cell, &settings.tz.value)
                .map(Some)
                .ok_or_else(|| wrong(cell)),
        };
        let start = time(asked)?.ok_or_else(|| wrong(""))?;
        let since = |end: Timestamp| end.duration_since(start).as_secs_f64();
        let age_s = since(settings.now);
        let passed = |end: Option<Timestamp>| match end {
            // an answer before the question, or a time that has not come yet, is a slip that would flatter
            Some(end) if since(end) < 0.0 || since(end) > age_s => Err(wrong(&end.to_string())),
            Some(end) => Ok(Some(since(end))),
            None => Ok(None),
        };
        if age_s < 0.0 {
            return Err(wrong(&start.to_string()));
        }
        let (answered_s, solved_s) = (passed(time(answered)?)?, passed(time(solved)?)?);
        out.push(Ticket {
            // who solves has answered
            answered_s: answered_s.or(solved_s),
            solved_s,
            age_s,
        });
        if out.len() > MOST {
            return Err(Msg::new("accept-log-long").arg("most", MOST));
        }
    }
    match out.is_empty() {
        true => Err(Msg::new("accept-log-empty")),
        false => Ok(out),
    }
}

/// RFC 3339, or a local time as spreadsheets write it.
fn moment(cell: &str, zone: &TimeZone) -> Option<Timestamp> {
    if let Ok(time) = cell.parse::<Timestamp>() {
        return Some(time);
    }
    let civil = |time: DateTime| Some(time.to_zoned_datetime(zone.clone()).ok()?.timestamp());
    if let Ok(time) = cell.parse::<DateTime>() {
        return civil(time);
    }
    ["%Y-%m-%d %H:%M", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M"]
        .iter()
        .find_map(|format| strtime::parse(format, cell).ok()?.to_datetime().ok())
        .and_then(civil)
}
