//! What providers do when a host fails, and what their budgets can stop: the tables of `data/accept`, read.
//! Who loads the text is `io/catalog`; the rules are in `failure.rs` and `budget.rs`.

use crate::table::{Origin, Row, TableError, read};
use lessee_model::{AsOf, Confidence, glob_match};
use serde::Deserialize;

/// The tables as text.
#[derive(Clone, Copy, Debug)]
pub struct ProviderSources<'a> {
    pub failure: &'a str,
    pub budget: &'a str,
    pub rules: &'a str,
}

/// What is known of providers, and this project's own limits.
#[derive(Clone, Debug)]
pub struct ProviderFacts {
    pub(crate) hosts: Vec<HostTerms>,
    pub(crate) budgets: Vec<BudgetTerms>,
    pub(crate) limits: Limits,
}

/// What becomes of a GPU machine when its host is maintained or fails.
#[derive(Clone, Debug)]
pub(crate) struct HostTerms {
    pub provider: String,
    /// Globs over the instance type.
    pub instances: Vec<String>,
    /// `none`, `unknown`
    pub live_migration: String,
    /// `scheduled_stop`, `restart_elsewhere`, `redeploy`, `mail`, `offline`, `drain`, `window`, `unknown`
    pub planned: String,
    pub notice_s: Option<f64>,
    /// How notice is given; blank = not known.
    pub channel: String,
    /// `restarted`, `not_recovered`, `manual`, `stays`, `replaced`, `unknown`
    pub failure: String,
    /// `lost`, `stays_on_host`, `unknown`
    pub local_disk: String,
    pub unbilled_while_down: bool,
    pub origin: Origin,
    pub failure_origin: Origin,
}

/// What a provider's budgets see and stop.
#[derive(Clone, Debug)]
pub(crate) struct BudgetTerms {
    pub provider: String,
    pub alerts: bool,
    /// Age of the billing data when the alert goes out, s.
    pub lag_s: (Option<f64>, Option<f64>),
    /// `action`, `balance`, `timer`, `no`
    pub stops: String,
    /// Until a cap that stops by itself has stopped, s.
    pub stop_delay_s: Option<f64>,
    /// Stable name of what must be known beside it; blank = nothing.
    pub caveat: String,
    pub origin: Origin,
    pub lag_origin: Origin,
}

/// `data/accept/rules.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limits {
    pub source: String,
    pub as_of: AsOf,
    pub failure: FailureLimits,
    pub budget: BudgetLimits,
    pub support: SupportLimits,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FailureLimits {
    pub loss_warn_s: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BudgetLimits {
    pub lag_warn_s: f64,
    pub reaction_s: f64,
    pub overrun_warn: f64,
    pub overrun_fail: f64,
    pub guard_poll_s: u32,
    pub guard_warn_at: Vec<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SupportLimits {
    pub tickets_min: usize,
    pub share: f64,
    pub month_hours: f64,
}

impl Limits {
    /// Where this project's own limits stand.
    pub(crate) fn origin(&self) -> Origin {
        Origin {
            source: self.source.clone(),
            as_of: self.as_of,
            confidence: Confidence::Verified,
        }
    }
}

impl ProviderFacts {
    /// Reads the tables.
    ///
    /// # Errors
    /// A row without a source, a date or a confidence, or with a cell that is not what its column holds.
    pub fn read(text: &ProviderSources<'_>) -> Result<ProviderFacts, TableError> {
        Ok(ProviderFacts {
            hosts: read("accept/failure.csv", text.failure, host)?,
            budgets: read("accept/budget.csv", text.budget, budget)?,
            limits: toml::from_str(text.rules).map_err(|e| TableError {
                file: "accept/rules.toml",
                line: e.span().map_or(1, |s| {
                    text.rules[..s.start.min(text.rules.len())]
                        .matches('\n')
                        .count()
                        + 1
                }),
                what: e.message().to_owned(),
            })?,
        })
    }

    /// The first row of the provider whose instances match.
    pub(crate) fn host(&self, provider: &str, instance: Option<&str>) -> Option<&HostTerms> {
        let fits = |row: &&HostTerms| {
            row.provider == provider
                && row.instances.iter().any(|glob| match instance {
                    Some(instance) => glob_match(glob, instance),
                    None => glob == "*",
                })
        };
        self.hosts.iter().find(fits)
    }

    pub(crate) fn budget(&self, provider: &str) -> Option<&BudgetTerms> {
        self.budgets.iter().find(|row| row.provider == provider)
    }

    /// Providers of which something is known, for messages.
    pub fn known(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.hosts.iter().map(|h| h.provider.as_str()).collect();
        all.extend(self.budgets.iter().map(|b| b.provider.as_str()));
        all.sort_unstable();
        all.dedup();
        all
    }
}

fn host(r: &Row<'_>) -> Result<HostTerms, String> {
    let origin = r.origin()?;
    Ok(HostTerms {
        provider: r.need("provider")?,
        instances: r.list("instances")?,
        live_migration: one_of(r, "live_migration", &["none", "unknown"])?,
        planned: one_of(
            r,
            "planned",
            &[
                "scheduled_stop",
                "restart_elsewhere",
                "redeploy",
                "mail",
                "offline",
                "drain",
                "window",
                "unknown",
            ],
        )?,
        notice_s: r.opt("notice_s")?,
        channel: one_of(
            r,
            "channel",
            &[
                "",
                "mail",
                "mail_metadata",
                "metadata",
                "kubernetes",
                "api",
                "console",
            ],
        )?,
        failure: one_of(
            r,
            "failure",
            &[
                "restarted",
                "not_recovered",
                "manual",
                "stays",
                "replaced",
                "unknown",
            ],
        )?,
        local_disk: one_of(r, "local_disk", &["lost", "stays_on_host", "unknown"])?,
        unbilled_while_down: r.get("unbilled_while_down")? == "yes",
        failure_origin: with(r, &origin, "failure_confidence")?,
        origin,
    })
}

fn budget(r: &Row<'_>) -> Result<BudgetTerms, String> {
    let origin = r.origin()?;
    Ok(BudgetTerms {
        provider: r.need("provider")?,
        alerts: one_of(r, "alerts", &["yes", "no"])? == "yes",
        lag_s: (r.opt("lag_low_s")?, r.opt("lag_high_s")?),
        stops: one_of(r, "stops", &["action", "balance", "timer", "no"])?,
        stop_delay_s: r.opt("stop_delay_s")?,
        caveat: one_of(
            r,
            "caveat",
            &[
                "",
                "action",
                "cap_unconfirmed",
                "runbook",
                "quota",
                "auto_pay",
                "overdraft",
                "timer",
                "prepaid_hour",
            ],
        )?,
        lag_origin: with(r, &origin, "lag_confidence")?,
        origin,
    })
}

fn with(r: &Row<'_>, origin: &Origin, column: &str) -> Result<Origin, String> {
    let confidence: Confidence = r.confidence(column)?;
    Ok(Origin {
        confidence,
        ..origin.clone()
    })
}

/// A cell with one of a few words: each has its own text for people.
fn one_of(r: &Row<'_>, column: &str, words: &[&str]) -> Result<String, String> {
    let cell = r.get(column)?;
    match words.contains(&cell) {
        true => Ok(cell.to_owned()),
        false => Err(format!("{column}: `{cell}`")),
    }
}
