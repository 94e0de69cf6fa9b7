//! Can the provider's budget stop the spending, how late does it notice, does a stopped machine stop the bill, and what may
//! be spent between the overrun and the stop. Facts: `data/accept/budget.csv`; what a stopped machine costs is the tariff's.

use crate::failure::{duration, over, sure, told};
use crate::finding::{Check, Finding, Verdict};
use crate::provider::{BudgetTerms, ProviderFacts};
use lessee_model::tariff::{BillingRule, Stopped};
use lessee_model::{Arg, Known, Money, Msg, Provenance, Sourced};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The spending that is to be capped.
#[derive(Clone, Debug)]
pub struct BudgetCase {
    pub provider: String,
    pub instance: Option<String>,
    /// Of all machines together.
    pub per_hour: Option<Money>,
    pub budget: Option<Money>,
    /// From the alert until somebody stops the machines, s; else this project's assumption.
    pub reaction_s: Option<f64>,
    /// What a stopped machine costs.
    pub billing: Known<BillingRule>,
}

/// The line of `lessee guard` that closes the gap, as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GuardLine {
    pub provider: String,
    pub instance: Option<String>,
    /// Null where no budget was named.
    pub budget: Option<Money>,
    pub per_hour: Option<Money>,
    /// Seconds between two looks at the instance list.
    pub poll_s: u32,
    /// Shares of the budget at which it warns.
    pub warn_at: Vec<f64>,
    /// `stop` where a stopped machine is not billed, `terminate` where only that ends the bill, `ask` where it is not known.
    pub action: String,
    /// Whether disks go on costing after the stop, so that the total must count them; null = not known.
    pub storage_billed_when_stopped: Option<bool>,
}

/// Findings, and the line of the guard.
pub fn budget(case: &BudgetCase, facts: &ProviderFacts) -> (Vec<Finding>, GuardLine) {
    let terms = facts.budget(&case.provider);
    let mut checks = match terms {
        Some(terms) => vec![alerts(terms), delay(terms, facts), stops(terms)],
        None => vec![
            unknown("alerts", "accept-alerts-unknown", "accept-ask-alerts"),
            unknown("alert-delay", "accept-lag-unknown", "accept-ask-lag"),
            unknown("hard-stop", "accept-stops-unknown", "accept-ask-stops"),
        ],
    };
    checks.push(stopped_compute(case));
    checks.push(stopped_storage(case));
    checks.push(worst_case(case, terms, facts));
    let subject = match &case.instance {
        Some(instance) => format!("{}/{instance}", case.provider),
        None => case.provider.clone(),
    };
    let findings = checks.into_iter().map(|c| c.finding(&subject)).collect();
    (findings, guard(case, facts))
}

fn unknown(rule: &'static str, reason: &'static str, ask: &'static str) -> Check {
    Check::new(rule, Verdict::Unknown, Msg::new(reason)).asking(Msg::new(ask))
}

fn alerts(terms: &BudgetTerms) -> Check {
    let (verdict, id) = match terms.alerts {
        true => (Verdict::Pass, "accept-alerts"),
        false => (Verdict::Warn, "accept-alerts-none"),
    };
    let o = &terms.origin;
    let check = Check::new("alerts", sure(o, verdict), told(o, Msg::new(id))).from(o);
    match verdict {
        Verdict::Pass if o.decides() => check,
        _ => check.asking(Msg::new("accept-ask-alerts")),
    }
}

fn delay(terms: &BudgetTerms, facts: &ProviderFacts) -> Check {
    let (low, Some(high)) = terms.lag_s else {
        let check = unknown("alert-delay", "accept-lag-unknown", "accept-ask-lag");
        return check.from(&terms.origin);
    };
    let reason = match low {
        Some(low) => Msg::new("accept-lag-range")
            .arg("low", duration(low))
            .arg("high", duration(high)),
        None => Msg::new("accept-lag").arg("high", duration(high)),
    };
    let verdict = match high > facts.limits.budget.lag_warn_s {
        true => Verdict::Warn,
        false => Verdict::Pass,
    };
    let o = &terms.lag_origin;
    let check = Check::new("alert-delay", sure(o, verdict), told(o, reason)).from(o);
    match verdict {
        Verdict::Pass if o.decides() => check,
        _ => check.asking(Msg::new("accept-ask-lag")),
    }
}

fn stops(terms: &BudgetTerms) -> Check {
    // a prepaid balance is a cap only while nothing refills it: never a plain pass
    let id = match terms.stops.as_str() {
        "balance" => "accept-stops-balance",
        "timer" => "accept-stops-timer",
        "action" => "accept-stops-action",
        _ => "accept-stops-no",
    };
    let mut reason = Msg::new(id);
    let caveat = match terms.caveat.as_str() {
        "action" => Some("accept-caveat-action"),
        "cap_unconfirmed" => Some("accept-caveat-cap-unconfirmed"),
        "runbook" => Some("accept-caveat-runbook"),
        "quota" => Some("accept-caveat-quota"),
        "auto_pay" => Some("accept-caveat-auto-pay"),
        "overdraft" => Some("accept-caveat-overdraft"),
        "timer" => Some("accept-caveat-timer"),
        "prepaid_hour" => Some("accept-caveat-prepaid-hour"),
        _ => None,
    };
    if let Some(caveat) = caveat {
        reason = Msg::new("accept-and")
            .arg("a", reason)
            .arg("b", Msg::new(caveat));
    }
    let o = &terms.origin;
    Check::new("hard-stop", sure(o, Verdict::Warn), told(o, reason))
        .from(o)
        .asking(Msg::new("accept-ask-stops"))
}

fn stopped_compute(case: &BudgetCase) -> Check {
    let rule = "stopped-machine";
    let Ok(billing) = &case.billing else {
        return unknown(rule, "accept-stopped-unknown", "accept-ask-stopped");
    };
    let (verdict, id) = match billing.value.stopped_compute {
        Stopped::Free => (Verdict::Pass, "accept-stopped-free"),
        Stopped::Billed => (Verdict::Fail, "accept-stopped-billed"),
        Stopped::NoStop => (Verdict::Warn, "accept-stopped-none"),
        Stopped::Unknown => {
            return unknown(rule, "accept-stopped-unknown", "accept-ask-stopped");
        }
    };
    let mut reason = Msg::new(id);
    if let (Some(en), Some(zh)) = (&billing.value.stop_note_en, &billing.value.stop_note_zh) {
        let note = Arg::Both {
            en: en.to_string(),
            zh: zh.to_string(),
        };
        reason = Msg::new("accept-and").arg("a", reason).arg("b", note);
    }
    of_billing(rule, (verdict, reason), "accept-ask-stopped", &billing.why)
}

/// By what is known of the billing; what nobody has verified is a question.
fn of_billing(
    rule: &'static str,
    (verdict, reason): (Verdict, Msg),
    ask: &'static str,
    why: &Provenance,
) -> Check {
    let (verdict, reason) = match crate::table::decides(why.confidence) {
        true => (verdict, reason),
        false => (
            Verdict::Unknown,
            Msg::new("accept-only-said").arg("what", reason),
        ),
    };
    let check = Check::new(rule, verdict, reason).known_by(why);
    match verdict {
        Verdict::Pass => check,
        _ => check.asking(Msg::new(ask)),
    }
}

fn stopped_storage(case: &BudgetCase) -> Check {
    let rule = "stopped-disks";
    let Ok(billing) = &case.billing else {
        return unknown(
            rule,
            "accept-stopped-disks-unknown",
            "accept-ask-stopped-disks",
        );
    };
    let (verdict, id) = match billing.value.stopped_storage {
        Stopped::Free => (Verdict::Pass, "accept-stopped-disks-free"),
        Stopped::Billed | Stopped::NoStop => (Verdict::Warn, "accept-stopped-disks-billed"),
        Stopped::Unknown => {
            return unknown(
                rule,
                "accept-stopped-disks-unknown",
                "accept-ask-stopped-disks",
            );
        }
    };
    of_billing(
        rule,
        (verdict, Msg::new(id)),
        "accept-ask-stopped-disks",
        &billing.why,
    )
}

/// What may be spent between the moment at which the budget is used up and the stop: the age of the billing data and the
/// time until somebody acts, or the delay of a cap that stops by itself. What is certain alone can be too much.
fn worst_case(case: &BudgetCase, terms: Option<&BudgetTerms>, facts: &ProviderFacts) -> Check {
    const RULE: &str = "worst-case";
    let limits = &facts.limits.budget;
    let reaction = case.reaction_s.unwrap_or(limits.reaction_s);
    // a timer is no cap: it has to be set at each start, and knows no money
    let by_itself = terms
        .filter(|t| t.stops != "timer")
        .and_then(|t| t.stop_delay_s);
    if let (Some(price), Some(budget)) = (case.per_hour, case.budget)
        && price.currency != budget.currency
    {
        let reason = Msg::new("accept-worst-currencies")
            .arg("budget", budget)
            .arg("price", price);
        return Check::new(RULE, Verdict::Unknown, reason).asking(Msg::new("accept-ask-price"));
    }
    let share = |cost: Money| {
        let budget = case.budget?.amount.to_f64();
        (budget > 0.0).then(|| cost.amount.to_f64() / budget)
    };
    let of_budget = |reason: Msg, share: Option<f64>| match share {
        Some(share) => Msg::new("accept-worst-share")
            .arg("what", reason)
            .arg("percent", (share * 100.0).round()),
        None => reason,
    };
    // until somebody acts: whatever the provider does, where nothing stops by itself
    let floor = case.per_hour.and_then(|p| over(p, reaction));
    let too_much = floor.and_then(share).filter(|s| *s > limits.overrun_fail);
    if let (None, Some(cost), Some(too_much)) = (by_itself, floor, too_much) {
        let reason = Msg::new("accept-worst-floor")
            .arg("reaction", duration(reaction))
            .arg("money", cost);
        return Check::new(RULE, Verdict::Fail, of_budget(reason, Some(too_much)))
            .from(&facts.limits.origin())
            .asking(Msg::new("accept-ask-guard"));
    }
    let Some(terms) = terms else {
        return unknown(RULE, "accept-worst-unknown", "accept-ask-lag");
    };
    if !terms.alerts && by_itself.is_none() {
        return unknown(RULE, "accept-worst-no-alert", "accept-ask-guard").from(&terms.origin);
    }
    let Some(lag) = terms.lag_s.1 else {
        return unknown(RULE, "accept-worst-unknown", "accept-ask-lag").from(&terms.origin);
    };
    let late = by_itself.unwrap_or(lag + reaction);
    let (id, origin) = match by_itself {
        Some(_) => ("accept-worst-cap", &terms.origin),
        None => ("accept-worst", &terms.lag_origin),
    };
    let reason = Msg::new(id)
        .arg("late", duration(late))
        .arg("lag", duration(lag))
        .arg("reaction", duration(reaction));
    let Some(cost) = case.per_hour.and_then(|p| over(p, late)) else {
        let reason = Msg::new("accept-worst-no-price").arg("what", reason);
        return Check::new(RULE, Verdict::Unknown, told(origin, reason))
            .from(origin)
            .asking(Msg::new("accept-ask-price"));
    };
    let reason = Msg::new("accept-worst-money")
        .arg("what", reason)
        .arg("money", cost);
    let share = share(cost);
    let verdict = match share {
        Some(share) if share > limits.overrun_fail => Verdict::Fail,
        Some(share) if share <= limits.overrun_warn => Verdict::Pass,
        _ => Verdict::Warn,
    };
    Check::new(
        RULE,
        sure(origin, verdict),
        told(origin, of_budget(reason, share)),
    )
    .from(origin)
    .asking(Msg::new("accept-ask-guard"))
}

fn guard(case: &BudgetCase, facts: &ProviderFacts) -> GuardLine {
    let limits = &facts.limits.budget;
    // what nobody has verified must not decide what is done to a machine
    let sure = |b: &&Sourced<BillingRule>| crate::table::decides(b.why.confidence);
    let billing = case.billing.as_ref().ok().filter(sure).map(|b| &b.value);
    let action = match billing.map(|b| b.stopped_compute) {
        Some(Stopped::Free) => "stop",
        Some(Stopped::NoStop | Stopped::Billed) => "terminate",
        Some(Stopped::Unknown) | None => "ask",
    };
    GuardLine {
        provider: case.provider.clone(),
        instance: case.instance.clone(),
        budget: case.budget,
        per_hour: case.per_hour,
        poll_s: limits.guard_poll_s,
        warn_at: limits.guard_warn_at.clone(),
        action: action.to_owned(),
        storage_billed_when_stopped: billing.and_then(|b| match b.stopped_storage {
            Stopped::Free => Some(false),
            Stopped::Billed | Stopped::NoStop => Some(true),
            Stopped::Unknown => None,
        }),
    }
}
