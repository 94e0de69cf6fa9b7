//! `accept budget`: can the spending be stopped, and what may be spent until it is.

use super::Done;
use super::deal::{deal, time_within};
use crate::args::BudgetArgs;
use crate::facts;
use lessee_accept::{BudgetCase, Outcome};
use lessee_console::{Failure, Printer, Settings};
use lessee_model::Msg;
use lessee_report::accept::Beside;

/// The check, and the line of the guard that closes the gap.
pub(super) fn check(
    args: &BudgetArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Done, Failure> {
    let (facts, _) = facts::load(settings)?;
    if let Some(budget) = args
        .budget
        .filter(|b| b.amount.is_negative() || b.amount.is_zero())
    {
        let msg = Msg::new("accept-budget-amount").arg("budget", budget);
        return Err(Failure::usage(msg));
    }
    time_within("--reaction", args.reaction, 0.0)?;
    let deal = deal(&args.deal, &facts, printer)?;
    let tariff =
        lessee_cost::resolve_tariff(&facts.tariffs, &deal.provider, &deal.region, deal.vcpus);
    let case = BudgetCase {
        provider: deal.provider,
        instance: deal.instance,
        per_hour: deal.per_hour,
        budget: args.budget,
        reaction_s: args.reaction.map(|s| s.0),
        billing: tariff.billing,
    };
    let (findings, guard) = lessee_accept::budget(&case, &lessee_catalog::provider_facts()?);
    Ok(Done {
        outcome: Outcome::new("budget", findings),
        beside: Beside {
            guard: Some(guard),
            ..Beside::default()
        },
    })
}
