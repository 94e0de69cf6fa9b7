//! A workload on a machine becomes a job in hours: the plan's prediction of its work, and what a start costs.

use super::failures;
use super::job::AskedJob;
use crate::args::SimulateArgs;
use crate::commands::{input, predict};
use crate::facts;
use lessee_catalog::Facts;
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_cost::{expected_run, piece_seconds, resolve_tariff};
use lessee_model::workload::{Job as Work, Workload};
use lessee_model::{Currency, Exit, Machine, Msg, Offer, Purchase};
use lessee_perf::PerfContext;
use lessee_plan::spot_job;
use lessee_report::Texts;
use lessee_report::simulate::NoteDoc;

/// The machine that the job runs on.
struct Chosen<'a> {
    name: String,
    machine: Machine,
    /// `None`: GPUs by name, of no provider.
    offer: Option<&'a Offer>,
}

pub(super) fn asked(
    args: &SimulateArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<AskedJob, Failure> {
    let facts = facts::load_reporting(settings, printer)?;
    let (_, workload) = input::workload(args.file.as_deref(), &args.fields, &facts, settings)?;
    if matches!(workload.job, Work::Serve(_)) {
        return Err(
            Failure::usage(Msg::new("simulate-serves")).hint(Msg::new("hint-simulate-serves"))
        );
    }
    let chosen = choose(args, &workload, &facts)?;
    let nodes = args.gang.unwrap_or(1);
    let cx = PerfContext {
        gpus: &facts.gpus,
        tables: &facts.perf,
        measured: None,
        detail: true,
    };
    let prediction =
        lessee_perf::predict(&workload.job, &workload.data, &chosen.machine, nodes, cx)
            .map_err(|why| Failure::usage(why.msg).exit(Exit::No))?;
    let (provider, region) = chosen
        .offer
        .map_or(("", "*"), |o| (&*o.provider, &*o.region));
    let tariff = resolve_tariff(&facts.tariffs, provider, region, chosen.machine.vcpus);
    let boot_s = tariff.boot.as_ref().map_or(0.0, |b| b.value.p50_s);
    let run = expected_run(&workload, &prediction, nodes, None, boot_s)
        .ok_or_else(|| Failure::usage(Msg::new("simulate-never-finishes")).exit(Exit::No))?;
    let setup = &workload.setup;
    let start_s = boot_s + setup.restart.0;
    let deadline = args
        .deadline_hours
        .map(|hours| hours * 3600.0)
        .or(workload.constraints.deadline.map(|d| d.0));
    let Some(deadline_s) = deadline else {
        return Err(Failure::usage(Msg::new("simulate-needs-deadline"))
            .hint(Msg::new("hint-simulate-needs-deadline")));
    };
    let work_s = args.job_hours.map_or(run.work_s, |hours| hours * 3600.0);
    let piece_s = piece_seconds(&workload, &prediction, nodes, work_s);
    let overhead_s = args.overhead_hours.map_or(start_s, |hours| hours * 3600.0);
    // the machine is set up once; the same job as that of `plan`
    let mut job = spot_job(work_s, piece_s, overhead_s, deadline_s - setup.machine.0)
        .map_err(|e| failures::job(&e))?;
    let size = workload.checkpoint.as_ref().map_or(0.0, |c| c.size.0);
    job.checkpoint_gb = args.checkpoint_gb.unwrap_or(size / 1e9);
    job.saves = super::job::saves(args).or(job.saves);
    job.billing_ms = super::job::billing_ms(args);
    let texts = printer.texts();
    let mut notes = vec![note(
        "from_workload",
        Msg::new("simulate-from-workload")
            .arg("machine", chosen.name.clone())
            .arg("nodes", nodes)
            .seconds("work", run.work_s)
            .seconds("p90", run.work_p90_s)
            .seconds("overhead", start_s)
            .seconds("boot", boot_s)
            .seconds("setup", setup.machine.0)
            .seconds("restart", setup.restart.0)
            .seconds("piece", piece_s.min(work_s)),
        texts,
    )];
    if !workload.constraints.spot {
        notes.push(note(
            "spot_not_allowed",
            Msg::new("simulate-no-spot"),
            texts,
        ));
    }
    if let Some(budget) = workload.constraints.budget {
        let msg = Msg::new("simulate-budget").arg("budget", texts.money(budget));
        notes.push(note("budget_not_compared", msg, texts));
    }
    let given: Vec<&str> = [
        ("--job-hours", args.job_hours),
        ("--overhead-hours", args.overhead_hours),
    ]
    .iter()
    .filter(|(_, hours)| hours.is_some())
    .map(|(flag, _)| *flag)
    .collect();
    if !given.is_empty() {
        let msg = Msg::new("simulate-hours-given").arg("flags", given.join(", "));
        notes.push(note("hours_given", msg, texts));
    }
    let (spot, on_demand) = prices(&chosen, &workload, texts, &mut notes);
    Ok(AskedJob {
        job,
        gang: nodes,
        spot_price: args.spot_price.or(spot),
        on_demand_price: args.on_demand_price.or(on_demand),
        machine: Some(chosen.name),
        notes,
    })
}

pub(super) fn note(code: &str, msg: Msg, texts: &Texts) -> NoteDoc {
    NoteDoc {
        code: code.to_owned(),
        trace: String::new(),
        zone: String::new(),
        text: texts.msg(&msg),
    }
}

fn choose<'a>(
    args: &SimulateArgs,
    workload: &Workload,
    facts: &'a Facts,
) -> Result<Chosen<'a>, Failure> {
    if let Some(name) = &args.offer {
        let offer = lessee_catalog::named(&facts.catalog, name)?;
        return Ok(Chosen {
            name: offer.key(),
            machine: facts.catalog.machine(offer).clone(),
            offer: Some(offer),
        });
    }
    let Some(filter) = workload.constraints.gpus.first() else {
        return Err(Failure::usage(Msg::new("simulate-needs-machine"))
            .hint(Msg::new("hint-simulate-needs-machine")));
    };
    let machine = predict::bare(filter, facts)?;
    Ok(Chosen {
        name: format!("{}:{}", machine.gpu.model, machine.gpu_count),
        machine,
        offer: None,
    })
}

/// Spot and on-demand price of one machine in USD an hour.
fn prices(
    chosen: &Chosen<'_>,
    workload: &Workload,
    texts: &Texts,
    notes: &mut Vec<NoteDoc>,
) -> (Option<f64>, Option<f64>) {
    let Some(offer) = chosen.offer else {
        return (None, None);
    };
    let mut price = |purchase: Purchase| {
        let price = offer.price(purchase)?.per_hour;
        match workload.money.fx.convert(price, Currency::USD) {
            Ok(usd) => Some(usd).filter(|m| m.amount > lessee_model::Fixed::ZERO),
            Err(_) => {
                let msg = Msg::new("simulate-price-not-usd")
                    .arg("purchase", texts.term("purchase", purchase.as_str()))
                    .arg("offer", offer.key())
                    .arg("currency", price.currency.as_str());
                notes.push(note("price_not_usd", msg, texts));
                None
            }
        }
    };
    let (spot, on_demand) = (price(Purchase::Spot), price(Purchase::OnDemand));
    let shown = |m: Option<lessee_model::Money>| {
        m.map_or_else(
            || texts.get("simulate-price-unknown"),
            |m| texts.unit_price(m),
        )
    };
    let msg = Msg::new("simulate-prices-of-offer")
        .arg("offer", offer.key())
        .arg("spot", shown(spot))
        .arg("ondemand", shown(on_demand));
    notes.push(note("prices_of_offer", msg, texts));
    let number = |m: lessee_model::Money| m.exact().parse::<f64>().ok();
    (spot.and_then(number), on_demand.and_then(number))
}
