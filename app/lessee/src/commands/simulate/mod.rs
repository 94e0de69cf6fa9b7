//! `simulate`: a job is replayed on recorded markets under several policies. Records are read by `io/traces`,
//! laid on ticks and replayed by `core/spot`; here the replays are spread over threads.

mod failures;
mod job;
mod markets;
mod replays;
mod workload;

use crate::args::SimulateArgs;
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::{Exit, Msg};
use lessee_report::simulate::{SimulatedMarket, Simulation, simulation_doc, simulation_report};
use lessee_spot::{PolicyName, Runner};

pub(crate) fn run(
    args: &SimulateArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let described = args.file.is_some() || !args.fields.is_empty() || args.offer.is_some();
    let asked = if described {
        workload::asked(args, settings, printer)?
    } else {
        job::asked(args)?
    };
    let mut policies = policies(&args.policy);
    let mut notes = asked.notes.clone();
    let markets = markets::read(args, &asked, settings, printer.texts(), &mut notes)?;
    let fits =
        |m: &SimulatedMarket| lessee_spot::optimum::is_small_enough(&asked.job, &m.grid.market);
    if policies.contains(&PolicyName::Optimum) && !markets.iter().all(fits) {
        policies.retain(|p| *p != PolicyName::Optimum);
        if policies.is_empty() {
            return Err(Failure::usage(Msg::new("simulate-optimum-too-large")).exit(Exit::No));
        }
        let msg = Msg::new("simulate-optimum-too-large");
        notes.push(workload::note("optimum_too_large", msg, printer.texts()));
    }
    let params = lessee_catalog::spot_params()?;
    let runners = Runner::each(&asked.job, markets.iter().map(|m| &m.grid.market), &params);
    let replays = replays::run(&markets, &runners, &policies, printer);
    let timeline = match (args.explain, policies.first(), markets.first()) {
        (true, Some(&policy), Some(market)) => {
            let (outcome, steps) = runners[0].timeline(policy, market.starts[0]);
            Some((policy, market.starts[0], outcome, steps))
        }
        _ => None,
    };
    let simulation = Simulation {
        job: &asked.job,
        gang: asked.gang,
        transfer_usd_per_gb: args.transfer_price,
        transfer_seconds_per_gb: args.transfer_seconds,
        markets: &markets,
        policies: &policies,
        replays: &replays,
        notes,
        timeline,
    };
    let doc = simulation_doc(simulation);
    printer.report(simulation_report(&doc, printer.texts()))?;
    Ok(Exit::Done)
}

/// In the order asked for, each once.
fn policies(names: &[String]) -> Vec<PolicyName> {
    let mut out = Vec::new();
    for name in names {
        let found = match name.as_str() {
            "all" => PolicyName::ALL.to_vec(),
            // the parser of the command line lets only known names through
            known => known.parse().into_iter().collect(),
        };
        for policy in found {
            if !out.contains(&policy) {
                out.push(policy);
            }
        }
    }
    out
}

/// What a flag that is missing would have said.
fn needed(flag: &'static str) -> Failure {
    Failure::usage(Msg::new("simulate-needs").arg("flag", flag))
        .hint(Msg::new("hint-simulate-needs"))
}
