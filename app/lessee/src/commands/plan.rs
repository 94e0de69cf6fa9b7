//! `plan FILE`: a workload in, ranked machines with the whole bill out; `--explain` and `--why-not` ask it why.

use super::input::{probe, without_nulls, workload};
use crate::args::{PlanArgs, TypedField};
use crate::facts;
use lessee_catalog::Facts;
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::{Exit, Msg, PlanDoc, ProbeReport, did_you_mean};
use lessee_plan::{
    Heard, Plan, PlanInput, Rules, SpotRecords, heard, measured_heard, model_spot, plan, why_not,
};
use lessee_report::plan::{PlanSource, explain_report, plan_doc, plan_report, why_not_report};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: PlanArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let facts = facts::load_reporting(settings, printer)?;
    if args.top == 0 {
        let msg = Msg::new("setting-bad-value")
            .arg("key", "--top")
            .arg("value", "0");
        return Err(Failure::usage(msg).hint(Msg::new("setting-examples").arg("examples", "1, 10")));
    }
    let mut fields = accepted(&args.accepted)?;
    // what is typed wins over what was found
    fields.extend(args.fields);
    let (typed, workload) = workload(args.file.as_deref(), &fields, &facts, settings)?;
    let measured = args
        .measured
        .iter()
        .map(|path| probe(path))
        .collect::<Result<Vec<_>, _>>()?;
    let (series, given) = if workload.constraints.spot || !args.trace.is_empty() {
        let polarity = args.polarity.as_deref();
        super::trace::series_to_replay(&args.trace, polarity, settings, printer)?
    } else {
        (Vec::new(), 0)
    };
    let records = SpotRecords {
        series: &series,
        given,
        policy: &facts.spot,
    };
    let input = PlanInput {
        catalog: &facts.catalog,
        gpus: &facts.gpus,
        perf: &facts.perf,
        tariffs: &facts.tariffs,
        workload: &workload,
        measured: &measured,
        spot: Some(records),
        today: settings.today(),
        rules: Rules::from_defaults(&facts.defaults),
    };
    let top = if args.all { usize::MAX } else { args.top };
    let mut plan = plan(input, top);
    if let Some(rank) = args.explain
        && let Some(option) = plan.options.iter().position(|o| o.rank == rank)
    {
        let modelled = model_spot(input, &plan.options[option]);
        if let Some(spot) = &mut plan.options[option].spot {
            spot.modelled = modelled;
        }
    }
    if let Some(wanted) = &args.why_not {
        return explain_absence(input, &plan, wanted, printer);
    }
    let texts = printer.texts();
    let source = PlanSource {
        catalog: &facts.catalog,
        workload: &workload,
        typed: without_nulls(serde_json::to_value(&typed).unwrap_or_default()),
        generated_at: settings.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    };
    let doc: PlanDoc = plan_doc(&plan, &source, texts);
    match args.explain {
        None => printer.report(plan_report(&doc, top, texts))?,
        Some(rank) => match explain_report(&doc, rank, texts) {
            Some(report) => printer.report(report)?,
            None => {
                let msg = Msg::new("plan-unknown-rank")
                    .arg("rank", rank)
                    .arg("count", doc.options.len());
                return Err(Failure::usage(msg));
            }
        },
    }
    tell_of_records(&records, given, &plan, &facts, printer);
    for (report, file) in measured.iter().zip(&args.measured) {
        tell_of_report(report, file, &plan, &facts, printer);
    }
    facts::tell_gpus_without_price(&facts, &workload.constraints.gpus, printer);
    Ok(verdict(&doc))
}

/// What acceptances say of the set-up, as fields of the workload.
fn accepted(files: &[PathBuf]) -> Result<Vec<TypedField>, Failure> {
    let mut fields = Vec::new();
    for path in files {
        let doc = super::accept::diff::document(path)?;
        let before = fields.len();
        let mut add = |field: &str, value: String| {
            fields.push(TypedField {
                flag: format!("accepted {}", path.display()),
                path: format!("setup.{field}"),
                value,
            });
        };
        if let Some(setup) = doc.environment.and_then(|e| e.setup) {
            add("image", setup.image);
            if let Some(hours) = setup.labour_hours {
                add("labour_hours", hours.to_string());
            }
        }
        if let Some(hours) = doc.support.and_then(|s| s.wait_hours_a_month) {
            add("support_wait_hours", hours.to_string());
        }
        if fields.len() == before {
            let msg = Msg::new("plan-accepted-nothing").arg("file", path.display().to_string());
            return Err(Failure::usage(msg).hint(Msg::new("hint-plan-accepted")));
        }
    }
    Ok(fields)
}

/// Whether a probe report decided anything.
fn tell_of_report(
    report: &ProbeReport,
    file: &Path,
    plan: &Plan,
    facts: &Facts,
    printer: &Printer,
) {
    let of = |id: &'static str| Msg::new(id).arg("file", file.display().to_string());
    match measured_heard(report, plan, &facts.catalog, &facts.gpus) {
        Heard::Shown => {}
        Heard::Hidden(offer) => {
            printer.warn(&of("plan-measured-hidden").arg("offer", offer.key()));
        }
        Heard::Nowhere => {
            let what = match (&report.offer, report.gpus.first()) {
                (Some(offer), _) => offer.clone(),
                (None, Some(gpu)) => format!("{} x {}", report.gpus.len(), gpu.name),
                (None, None) => "?".to_owned(),
            };
            printer.warn(&of("plan-measured-nowhere").arg("what", what));
        }
    }
}

/// Of the records that were asked for: which of them decided nothing.
fn tell_of_records(
    records: &SpotRecords<'_>,
    given: usize,
    plan: &Plan,
    facts: &Facts,
    printer: &Printer,
) {
    for series in &records.series[..given] {
        let about = &series.about;
        let of = |id: &'static str| {
            Msg::new(id)
                .arg("zone", about.zone.clone())
                .arg("source", about.source.clone())
        };
        let said = |text: &Option<String>| text.clone().unwrap_or_else(|| "?".to_owned());
        match heard(series, plan, &facts.catalog, &facts.gpus) {
            Heard::Shown => {}
            Heard::Hidden(offer) => {
                printer.warn(&of("trace-speaks-for-hidden").arg("offer", offer.key()));
            }
            Heard::Nowhere => printer.warn(
                &of("trace-speaks-for-none")
                    .arg("provider", said(&about.provider))
                    .arg("region", said(&about.region))
                    .arg("machine", said(&about.machine)),
            ),
        }
    }
}

/// Something ranked: yes. Else a clear no outweighs what cannot be told: where known offers failed the budget
/// or the deadline, or nothing is left to ask about, the answer is no.
fn verdict(doc: &PlanDoc) -> Exit {
    let failed = |code: &str| doc.rejected.by_reason.contains_key(code);
    if !doc.options.is_empty() {
        Exit::Done
    } else if doc.unranked.is_empty() || failed("over_budget") || failed("deadline_missed") {
        Exit::No
    } else {
        Exit::CannotTell
    }
}

fn explain_absence(
    input: PlanInput<'_>,
    plan: &Plan,
    wanted: &str,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let verdicts = why_not(input, plan, wanted);
    if verdicts.is_empty() {
        let failure = Failure::usage(Msg::new("why-not-unknown-offer").arg("offer", wanted));
        let name = |o: &lessee_model::Offer| format!("{}/{}", o.provider, o.instance_type);
        let names: Vec<String> = input.catalog.offers.iter().map(name).collect();
        return Err(
            match did_you_mean(wanted, names.iter().map(String::as_str)) {
                Some(word) => failure.hint(Msg::new("hint-did-you-mean").arg("word", word)),
                None => failure,
            },
        );
    }
    printer.report(why_not_report(
        &verdicts,
        input.workload.money.currency,
        printer.texts(),
    ))?;
    Ok(Exit::Done)
}
