//! `probe` without a form: measures this machine, step after step, each within its cap.
//!
//! One more step is one more variant of `Step` with its cap in `data/probe-run.toml`, one more function in `steps.rs` or `gpus.rs`, and
//! one more section of `page/`. What is measured and how is in `io/probe`. Start at [`run`].

mod gpus;
mod model;
mod progress;
mod resolve;
mod run;
mod s3;
mod steps;

use crate::judge::{Promise, judge, unread};
use crate::{Answer, Facts, MeasureArgs, ProbeFailure, World, page};
use lessee_console::stop;
use lessee_model::ProbeReport;
use lessee_model::probe::{ProbeRun, Verdict};
use lessee_probe_io::Finding;
use lessee_probe_io::budget::Budget;
use lessee_report::Texts;
use run::Run;
use std::time::Instant;

/// # Errors
/// Flags that make no sense; nothing is measured then. That something could not be measured is no error: the report
/// says so, and the exit status follows from its findings.
pub(crate) fn run(
    args: &MeasureArgs,
    facts: Facts<'_>,
    world: &World<'_>,
    texts: &Texts,
) -> Result<Answer, ProbeFailure> {
    let start = Instant::now();
    let wanted = resolve::steps(args)?;
    resolve::check(args, &wanted, world.offline)?;
    let asked = model::asked(args, facts)?;
    let budget = Budget::built_in().map_err(|e| ProbeFailure::BuiltIn {
        detail: e.to_string(),
    })?;
    let plan = steps::Plan::new(args, &budget, world)?;
    let offer = args.offer.as_deref();
    let promise = offer.map(|o| Promise::of(o, facts.catalog)).transpose()?;
    stop::listen();
    let teller = progress::Teller::new(world.screen, texts);
    let mut report = ProbeReport::empty(world.measured_at.clone());
    report.offer.clone_from(&args.offer);
    let mut run = Run::new(wanted, &budget, args.quick, &stop::STOP, &teller);
    steps::all(&plan, &mut run, &mut report, texts)?;
    model::into_report(&mut report, asked.as_ref(), facts, texts);
    let (records, findings) = run.end();
    let said = |f: &Finding| f.said(texts.msg(&f.msg()));
    report.findings = findings.iter().map(said).collect();
    report.run = Some(ProbeRun {
        lessee: env!("CARGO_PKG_VERSION").to_owned(),
        quick: args.quick,
        seconds: start.elapsed().as_secs_f64(),
        steps: records,
    });
    let choice = promise.as_ref().map(|p| p.choose(&report, facts));
    let of = promise.as_ref().and_then(unread);
    judge(&mut report, choice, of.into_iter().collect(), facts, texts);
    Ok(Answer {
        exit: report
            .verdict
            .map_or(lessee_model::Exit::Bug, Verdict::exit),
        report: page::page(&report, texts),
    })
}
