//! `accept failure`: what becomes of the machine when its host fails, and what that costs this work.

use super::deal::{deal, time_within};
use crate::args::FailureArgs;
use crate::commands::input;
use crate::facts;
use lessee_accept::{FailureCase, Outcome};
use lessee_console::{Failure, Printer, Settings};

pub(super) fn check(
    args: &FailureArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Outcome, Failure> {
    let (facts, _) = facts::load(settings)?;
    time_within("--every", args.every, 1.0)?;
    time_within("--save", args.save, 0.0)?;
    time_within("--restart", args.restart, 0.0)?;
    let deal = deal(&args.deal, &facts, printer)?;
    let workload = match &args.workload {
        Some(path) => Some(input::workload(Some(path), &[], &facts, settings)?.1),
        None => None,
    };
    let checkpoint = workload.as_ref().and_then(|w| w.checkpoint.as_ref());
    let case = FailureCase {
        provider: deal.provider,
        instance: deal.instance,
        every_s: args
            .every
            .map(|s| s.0)
            .or_else(|| checkpoint.map(|c| c.every.0)),
        save_s: args.save.map(|s| s.0),
        restart_s: args
            .restart
            .map(|s| s.0)
            .or_else(|| workload.as_ref().map(|w| w.setup.restart.0)),
        per_hour: deal.per_hour,
    };
    let rules = lessee_catalog::provider_facts()?;
    Ok(Outcome::new(
        "failure",
        lessee_accept::failure(&case, &rules),
    ))
}
