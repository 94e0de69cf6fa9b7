//! What becomes of a GPU machine when its host is maintained or fails, and what that costs this work.
//!
//! No provider's text offers live migration of GPU machines, so nothing here passes for "the job goes on": the best answer
//! is a restart elsewhere with a checkpoint that survived. Facts: `data/accept/failure.csv`.

use crate::finding::{Check, Finding, Verdict};
use crate::provider::{HostTerms, ProviderFacts};
use crate::table::Origin;
use lessee_model::{Arg, Money, Msg};

/// The machine that is meant, and what is known of the work on it.
#[derive(Clone, Debug, Default)]
pub struct FailureCase {
    pub provider: String,
    pub instance: Option<String>,
    /// Between two checkpoints, s.
    pub every_s: Option<f64>,
    /// To write one, s.
    pub save_s: Option<f64>,
    /// To start the program and load one, s; without a new machine's time to boot.
    pub restart_s: Option<f64>,
    /// Of all machines of the job.
    pub per_hour: Option<Money>,
}

impl FailureCase {
    fn subject(&self) -> String {
        match &self.instance {
            Some(instance) => format!("{}/{instance}", self.provider),
            None => self.provider.clone(),
        }
    }
}

/// Findings in the order in which they happen: planned work, failure, what survives, what it costs.
pub fn failure(case: &FailureCase, facts: &ProviderFacts) -> Vec<Finding> {
    let mut out = match facts.host(&case.provider, case.instance.as_deref()) {
        Some(terms) => vec![
            live_migration(terms),
            planned(terms),
            notice(terms, case),
            host_failure(terms),
            local_disk(terms),
        ],
        None => vec![
            unknown("live-migration", "accept-live-unknown", "accept-ask-live"),
            unknown(
                "planned-maintenance",
                "accept-planned-unknown",
                "accept-ask-planned",
            ),
            unknown("notice", "accept-notice-unknown", "accept-ask-notice"),
            unknown(
                "host-failure",
                "accept-failure-unknown",
                "accept-ask-failure",
            ),
            unknown("local-disk", "accept-disk-unknown", "accept-ask-disk"),
        ],
    };
    out.push(loss(case, facts));
    let subject = case.subject();
    out.into_iter().map(|c| c.finding(&subject)).collect()
}

fn unknown(rule: &'static str, reason: &'static str, ask: &'static str) -> Check {
    Check::new(rule, Verdict::Unknown, Msg::new(reason)).asking(Msg::new(ask))
}

/// What nobody has verified is a question.
pub(crate) fn sure(origin: &Origin, verdict: Verdict) -> Verdict {
    match origin.decides() {
        true => verdict,
        false => Verdict::Unknown,
    }
}

/// A reason, with a word before it where it is only said.
pub(crate) fn told(origin: &Origin, reason: Msg) -> Msg {
    match origin.decides() {
        true => reason,
        false => Msg::new("accept-only-said").arg("what", reason),
    }
}

fn check(rule: &'static str, origin: &Origin, verdict: Verdict, reason: Msg) -> Check {
    Check::new(rule, sure(origin, verdict), told(origin, reason)).from(origin)
}

fn live_migration(terms: &HostTerms) -> Check {
    if terms.live_migration == "unknown" {
        return unknown("live-migration", "accept-live-unknown", "accept-ask-live");
    }
    let reason = Msg::new("accept-live-none");
    check("live-migration", &terms.origin, Verdict::Warn, reason)
        .asking(Msg::new("accept-ask-live"))
}

fn planned(terms: &HostTerms) -> Check {
    if terms.planned == "unknown" {
        return unknown(
            "planned-maintenance",
            "accept-planned-unknown",
            "accept-ask-planned",
        );
    }
    let id = match terms.planned.as_str() {
        "scheduled_stop" => "accept-planned-scheduled-stop",
        "restart_elsewhere" => "accept-planned-restart-elsewhere",
        "redeploy" => "accept-planned-redeploy",
        "mail" => "accept-planned-mail",
        "offline" => "accept-planned-offline",
        "drain" => "accept-planned-drain",
        _ => "accept-planned-window",
    };
    let reason = Msg::new(id);
    check("planned-maintenance", &terms.origin, Verdict::Warn, reason)
        .asking(Msg::new("accept-ask-planned"))
}

fn notice(terms: &HostTerms, case: &FailureCase) -> Check {
    let Some(notice_s) = terms.notice_s else {
        let check = unknown("notice", "accept-notice-unknown", "accept-ask-notice");
        return check.from(&terms.origin);
    };
    let say = |id: &'static str| {
        Msg::new(id)
            .arg("notice", duration(notice_s))
            .arg("channel", Msg::new(channel(terms)))
    };
    let check = match case.save_s {
        None => check("notice", &terms.origin, Verdict::Pass, say("accept-notice")),
        Some(save_s) if save_s <= notice_s => {
            let reason = say("accept-notice-enough").arg("save", duration(save_s));
            check("notice", &terms.origin, Verdict::Pass, reason)
        }
        Some(save_s) => {
            let reason = say("accept-notice-short").arg("save", duration(save_s));
            check("notice", &terms.origin, Verdict::Warn, reason)
        }
    };
    check.asking(Msg::new("accept-ask-notice"))
}

fn channel(terms: &HostTerms) -> &'static str {
    match terms.channel.as_str() {
        "mail" => "accept-channel-mail",
        "mail_metadata" => "accept-channel-mail-metadata",
        "metadata" => "accept-channel-metadata",
        "kubernetes" => "accept-channel-kubernetes",
        "api" => "accept-channel-api",
        "console" => "accept-channel-console",
        _ => "accept-channel-unknown",
    }
}

fn host_failure(terms: &HostTerms) -> Check {
    let (verdict, id) = match terms.failure.as_str() {
        "restarted" => (Verdict::Pass, "accept-failure-restarted"),
        "replaced" => (Verdict::Pass, "accept-failure-replaced"),
        "not_recovered" => (Verdict::Warn, "accept-failure-not-recovered"),
        "manual" => (Verdict::Warn, "accept-failure-manual"),
        "stays" => (Verdict::Warn, "accept-failure-stays"),
        _ => {
            return unknown(
                "host-failure",
                "accept-failure-unknown",
                "accept-ask-failure",
            );
        }
    };
    let mut reason = Msg::new(id);
    if terms.unbilled_while_down {
        reason = Msg::new("accept-failure-unbilled").arg("what", reason);
    }
    check("host-failure", &terms.failure_origin, verdict, reason)
        .asking(Msg::new("accept-ask-failure"))
}

fn local_disk(terms: &HostTerms) -> Check {
    let id = match terms.local_disk.as_str() {
        "lost" => "accept-disk-lost",
        "stays_on_host" => "accept-disk-stays",
        _ => return unknown("local-disk", "accept-disk-unknown", "accept-ask-disk"),
    };
    check("local-disk", &terms.origin, Verdict::Warn, Msg::new(id))
        .asking(Msg::new("accept-ask-disk"))
}

/// Work that a failure without notice destroys: half an interval on average, a whole one at worst, and the time to come back.
/// Without the time to come back it is at least so much.
fn loss(case: &FailureCase, facts: &ProviderFacts) -> Check {
    let unknown = |id: &'static str| {
        Check::new("loss", Verdict::Unknown, Msg::new(id)).asking(Msg::new("accept-ask-loss"))
    };
    let Some(every_s) = case.every_s else {
        return unknown("accept-loss-unknown");
    };
    if let Some(save_s) = case.save_s.filter(|save| *save >= every_s) {
        let reason = Msg::new("accept-loss-save")
            .arg("save", duration(save_s))
            .arg("every", duration(every_s));
        return Check::new("loss", Verdict::Fail, reason)
            .asking(Msg::new("accept-ask-loss"))
            .from(&facts.limits.origin());
    }
    let back_s = case.restart_s.unwrap_or(0.0);
    let (mean_s, worst_s) = (every_s / 2.0 + back_s, every_s + back_s);
    let limit = facts.limits.failure.loss_warn_s;
    let verdict = match case.restart_s {
        _ if worst_s > limit => Verdict::Warn,
        Some(_) => Verdict::Pass,
        None => Verdict::Unknown,
    };
    let mut reason = Msg::new(match case.restart_s {
        Some(_) => "accept-loss",
        None => "accept-loss-at-least",
    })
    .arg("mean", duration(mean_s))
    .arg("worst", duration(worst_s))
    .arg("every", duration(every_s))
    .arg("limit", duration(limit));
    if case.restart_s.is_some() {
        reason = reason.arg("back", duration(back_s));
    }
    if let Some(price) = case.per_hour
        && let Some(money) = over(price, worst_s)
    {
        reason = Msg::new("accept-loss-money")
            .arg("what", reason)
            .arg("money", money);
    }
    let mut check = Check::new("loss", verdict, reason);
    if verdict != Verdict::Pass {
        check = check.asking(Msg::new("accept-ask-loss"));
    }
    check.from(&facts.limits.origin())
}

/// What `seconds` of a price per hour cost.
pub(crate) fn over(per_hour: Money, seconds: f64) -> Option<Money> {
    let hours = lessee_model::Fixed::from_f64(seconds / 3600.0)?;
    Some(per_hour.times(hours))
}

pub(crate) fn duration(seconds: f64) -> Arg {
    Arg::Seconds(seconds)
}
