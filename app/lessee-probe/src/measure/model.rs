//! What joins the GPUs, in words, and what a training of the model that was named waits for, by the formulas of `plan`.

use crate::{Facts, MeasureArgs, ProbeFailure};
use jiff::tz::TimeZone;
use lessee_model::probe::{ModelReading, WiringReading};
use lessee_model::workload::{
    Job, ResolveContext, Workload, WorkloadError, parse_workload_with, resolve,
};
use lessee_model::{Msg, ProbeReport};
use lessee_perf::{PerfContext, measured_machine, step_msg, training_step, wiring};
use lessee_report::Texts;

/// A training of the model, with the defaults of a plan where nothing else was said. How long it goes on does not matter
/// to one step.
///
/// # Errors
/// A model that is not known, a length that makes no sense.
pub(super) fn asked(
    args: &MeasureArgs,
    facts: Facts<'_>,
) -> Result<Option<Workload>, ProbeFailure> {
    const MODEL: &str = "--model";
    let Some(model) = &args.model else {
        return Ok(None);
    };
    let mut flags = vec![("train.model", model.as_str())];
    flags.extend([
        ("kind", "train"),
        ("train.tokens", "1B"),
        ("train.samples", "1M"),
    ]);
    flags.extend(args.seq_len.as_deref().map(|n| ("train.seq_len", n)));
    let flags: Vec<(String, String)> = flags
        .into_iter()
        .map(|(field, value)| (field.to_owned(), value.to_owned()))
        .collect();
    let blamed = |mut error: WorkloadError| {
        if error.field.as_deref() == Some("train.seq_len") {
            error.place = "--seq-len".to_owned();
        }
        error.line = None;
        ProbeFailure::Model(error)
    };
    let typed = parse_workload_with("", MODEL, &flags).map_err(blamed)?;
    let context = ResolveContext {
        gpus: facts.gpus,
        models: facts.models,
        defaults: facts.defaults,
        place: MODEL,
        text: "",
        zone: &TimeZone::UTC,
    };
    resolve(&typed, context).map(Some).map_err(blamed)
}

/// Adds both to a report that is otherwise complete.
pub(super) fn into_report(
    report: &mut ProbeReport,
    asked: Option<&Workload>,
    facts: Facts<'_>,
    texts: &Texts,
) {
    if !report.gpus.is_empty() {
        let wiring = wiring(report);
        report.wiring = Some(WiringReading {
            kind: wiring.kind,
            slowest_pair_gbs: wiring.pair_gbs.map(|(slowest, _)| slowest),
            fastest_pair_gbs: wiring.pair_gbs.map(|(_, fastest)| fastest),
            text: texts.msg(&wiring.msg()),
        });
    }
    let Some(Workload {
        job: job @ Job::Train(training),
        data,
        ..
    }) = asked
    else {
        return;
    };
    let name = &*training.model.name;
    let context = PerfContext {
        gpus: facts.gpus,
        tables: facts.perf,
        measured: Some(report),
        detail: false,
    };
    let step = measured_machine(report, facts.gpus)
        .and_then(|machine| training_step(job, data, &machine, 1, context));
    let not = |code: &str, why: Msg| {
        let msg = Msg::new("probe-model-not")
            .arg("model", name)
            .arg("why", why);
        (Some(code.to_owned()), msg)
    };
    let (reason, text) = match &step {
        Ok(step) => (None, step_msg(step, name)),
        Err(_) if report.gpus.is_empty() => not("no_gpus", Msg::new("probe-model-no-gpus")),
        Err(why) => not(why.code, why.msg.clone()),
    };
    report.model = Some(ModelReading {
        model: name.to_owned(),
        seq_len: training.seq_len,
        step: step.ok(),
        reason,
        text: texts.msg(&text),
    });
}
