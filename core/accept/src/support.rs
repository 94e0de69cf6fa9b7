//! A log of tickets becomes the times in which support answered and solved, judged against what the contract promises.
//!
//! A ticket that is still open has waited at least until now: it counts with that time, so an unanswered one cannot make
//! support look quick. Percentiles are by the nearest-rank method (the smallest value that the share of tickets does not
//! exceed), so that each is a time that was really seen.

use crate::failure::duration;
use crate::finding::{Check, Finding, Verdict};
use crate::provider::ProviderFacts;
use lessee_model::Msg;

/// One ticket, times in seconds since it was asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ticket {
    /// `None` = not answered yet.
    pub answered_s: Option<f64>,
    /// `None` = not solved yet.
    pub solved_s: Option<f64>,
    /// From the question to now.
    pub age_s: f64,
}

/// What the contract promises.
#[derive(Clone, Copy, Debug, Default)]
pub struct Promise {
    pub answer_s: Option<f64>,
    pub solve_s: Option<f64>,
    /// Share of tickets for which it holds, in millionths, so that ranks are exact; `None` = this project's rule.
    pub share_ppm: Option<u32>,
}

/// All tickets, in millionths.
const WHOLE: u32 = 1_000_000;

/// Findings of a log, and the hours of waiting for a solution in a month, for `setup.support_wait_hours` of a plan.
pub fn support(
    tickets: &[Ticket],
    promise: &Promise,
    facts: &ProviderFacts,
) -> (Vec<Finding>, Option<f64>) {
    let limits = &facts.limits.support;
    let share = promise
        .share_ppm
        .unwrap_or((limits.share * f64::from(WHOLE)).round() as u32);
    let answers: Vec<Wait> = tickets
        .iter()
        .map(|t| wait(t.answered_s, t.age_s))
        .collect();
    let solutions: Vec<Wait> = tickets.iter().map(|t| wait(t.solved_s, t.age_s)).collect();
    let few = tickets.len() < limits.tickets_min;
    let mut checks = vec![
        judge("first-answer", &answers, promise.answer_s, share, few),
        judge("solved", &solutions, promise.solve_s, share, few),
    ];
    if few {
        let reason = Msg::new("accept-support-few")
            .arg("n", tickets.len())
            .arg("min", limits.tickets_min);
        checks.push(Check::new("tickets", Verdict::Unknown, reason).from(&facts.limits.origin()));
    }
    let month = waiting(tickets, limits.month_hours).filter(|_| !few);
    if let Some(hours) = month {
        let reason = Msg::new("accept-support-wait").arg("hours", (hours * 10.0).round() / 10.0);
        checks.push(Check::new("waiting", Verdict::Pass, reason).from(&facts.limits.origin()));
    }
    let findings = checks.into_iter().map(|c| c.finding("support")).collect();
    (findings, month)
}

/// A log from which nothing can be told.
pub fn log_unreadable(why: Msg) -> Finding {
    let reason = Msg::new("accept-log-unreadable").arg("what", why);
    Check::new("log", Verdict::Unknown, reason)
        .asking(Msg::new("accept-ask-log"))
        .finding("support")
}

/// Seconds, and whether they are over.
#[derive(Clone, Copy)]
struct Wait {
    seconds: f64,
    over: bool,
}

fn wait(ended_s: Option<f64>, age_s: f64) -> Wait {
    Wait {
        seconds: ended_s.unwrap_or(age_s),
        over: ended_s.is_some(),
    }
}

fn judge(
    rule: &'static str,
    waits: &[Wait],
    promised: Option<f64>,
    share: u32,
    few: bool,
) -> Check {
    let mut sorted = waits.to_vec();
    sorted.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let (Some(half), Some(at_share), Some(most)) = (
        percentile(&sorted, WHOLE / 2),
        percentile(&sorted, share),
        sorted.last(),
    ) else {
        return Check::new(rule, Verdict::Unknown, Msg::new("accept-support-none"))
            .asking(Msg::new("accept-ask-support"));
    };
    // an open ticket below the percentile would only move it up
    let open = waits.iter().filter(|w| !w.over).count();
    let mut reason = Msg::new("accept-support-times")
        .arg("n", waits.len())
        .arg("half", duration(half.seconds))
        .arg("percent", f64::from(share / 1000) / 10.0)
        .arg("share", duration(at_share.seconds))
        .arg("most", duration(most.seconds));
    if open > 0 {
        reason = Msg::new("accept-support-open")
            .arg("what", reason)
            .arg("n", open);
    }
    let Some(promised) = promised else {
        return Check::new(rule, Verdict::Unknown, reason).asking(Msg::new("accept-ask-support"));
    };
    let late = waits.iter().filter(|w| w.seconds > promised).count();
    let kept = 1.0 - late as f64 / waits.len() as f64;
    let enough =
        |count: usize| count as u64 * u64::from(WHOLE) >= u64::from(share) * waits.len() as u64;
    reason = Msg::new("accept-support-promise")
        .arg("what", reason)
        .arg("promised", duration(promised))
        .arg("kept", (kept * 1000.0).floor() / 10.0);
    let over_in_time = |w: &&Wait| w.over && w.seconds <= promised;
    let verdict = if !enough(waits.len() - late) {
        Verdict::Fail
    } else if waits.iter().any(|w| !w.over && w.seconds <= promised)
        && !enough(waits.iter().filter(over_in_time).count())
    {
        // those still open could yet break it
        Verdict::Warn
    } else {
        Verdict::Pass
    };
    let verdict = match verdict {
        Verdict::Pass if few => Verdict::Unknown,
        verdict => verdict,
    };
    let check = Check::new(rule, verdict, reason);
    match verdict {
        Verdict::Pass => check,
        _ => check.asking(Msg::new("accept-ask-support")),
    }
}

fn percentile(sorted: &[Wait], share: u32) -> Option<Wait> {
    let rank = (u64::from(share) * sorted.len() as u64).div_ceil(u64::from(WHOLE));
    let rank = usize::try_from(rank).unwrap_or(usize::MAX);
    sorted.get(rank.max(1) - 1).copied()
}

/// Hours of waiting until the solution, per month of the log; a log shorter than a week tells no month.
fn waiting(tickets: &[Ticket], month_hours: f64) -> Option<f64> {
    let first = tickets.iter().map(|t| t.age_s).fold(0.0, f64::max);
    let total: f64 = tickets.iter().map(|t| t.solved_s.unwrap_or(t.age_s)).sum();
    let hours = first / 3600.0;
    (hours >= 7.0 * 24.0).then(|| total / 3600.0 / hours * month_hours)
}
