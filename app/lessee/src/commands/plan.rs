//! `plan FILE`: a workload in, ranked machines with the whole bill out; `--explain` and `--why-not` ask it why.

use super::providers::{Written, name_providers};
use crate::args::{PlanArgs, TypedField};
use crate::facts;
use crate::failure::Failure;
use crate::output::Printer;
use crate::settings::Settings;
use lessee_catalog::Facts;
use lessee_model::workload::{
    ResolveContext, Workload, WorkloadError, WorkloadFile, locate, parse_workload_with, resolve,
    wording,
};
use lessee_model::{Currency, Exit, Msg, PlanDoc, ProbeReport, did_you_mean};
use lessee_plan::{Plan, PlanInput, Rules, plan, why_not};
use lessee_report::plan::{PlanSource, explain_report, plan_doc, plan_report, why_not_report};
use std::io::Read;
use std::path::Path;

/// A workload is text that a person wrote; anything larger is some other file.
const LARGEST_WORKLOAD: u64 = 4 << 20;
const LARGEST_PROBE: u64 = 64 << 20;

pub(crate) fn run(args: PlanArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let facts = facts::load_reporting(settings, printer)?;
    if args.top == 0 {
        let msg = Msg::new("setting-bad-value")
            .arg("key", "--top")
            .arg("value", "0");
        return Err(Failure::usage(msg).hint(Msg::new("setting-examples").arg("examples", "1, 10")));
    }
    let (typed, workload) = workload(args.file.as_deref(), &args.fields, &facts, settings)?;
    let measured = args
        .measured
        .iter()
        .map(|path| probe(path))
        .collect::<Result<Vec<_>, _>>()?;
    let input = PlanInput {
        catalog: &facts.catalog,
        gpus: &facts.gpus,
        perf: &facts.perf,
        tariffs: &facts.tariffs,
        workload: &workload,
        measured: &measured,
        today: settings.today(),
        rules: Rules::from_defaults(&facts.defaults),
    };
    let top = if args.all { usize::MAX } else { args.top };
    let plan = plan(input, top);
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
    facts::tell_gpus_without_price(&facts, &workload.constraints.gpus, printer);
    Ok(verdict(&doc))
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

/// The workload as typed and as resolved.
pub(super) fn workload(
    file: Option<&Path>,
    fields: &[TypedField],
    facts: &Facts,
    settings: &Settings,
) -> Result<(WorkloadFile, Workload), Failure> {
    let (text, place) = match file {
        Some(path) => (read_text(path, LARGEST_WORKLOAD)?, shown(path)),
        None if fields.is_empty() => return Err(Failure::usage(Msg::new("plan-needs-file"))),
        None => (String::new(), "<flags>".to_owned()),
    };
    let flags: Vec<(String, String)> = fields
        .iter()
        .map(|f| (f.path.clone(), f.value.clone()))
        .collect();
    let mut typed =
        parse_workload_with(&text, &place, &flags).map_err(|e| blame_flag(e, fields))?;
    let currency_given = typed.money.as_ref().is_some_and(|m| m.currency.is_some());
    if !currency_given && let Some(currency) = settings.currency.value {
        typed.money.get_or_insert_default().currency = Some(currency);
    }
    let cx = ResolveContext {
        gpus: &facts.gpus,
        models: &facts.models,
        defaults: &facts.defaults,
        place: &place,
        text: &text,
        zone: &settings.tz.value,
    };
    let mut workload = resolve(&typed, cx).map_err(|e| blame_flag(e, fields))?;
    let gap = facts.defaults.get("money.rate_gap");
    if let Some(defect) = workload.money.fx.defect(settings.today(), gap) {
        let field = "money.rates";
        let error = WorkloadError {
            line: locate(&text, field),
            field: Some(field.to_owned()),
            ..WorkloadError::new(&place, defect)
        };
        return Err(blame_flag(error, fields).into());
    }
    let written = Written {
        file: &typed,
        text: &text,
        place: &place,
    };
    name_providers(&mut workload, facts, &written).map_err(|e| blame_flag(e, fields))?;
    limits_have_rates(&workload)?;
    Ok((typed, workload))
}

/// A value that came from a flag is not to be looked for in the file.
fn blame_flag(mut error: WorkloadError, flags: &[TypedField]) -> WorkloadError {
    let Some(field) = error.field.clone() else {
        return error;
    };
    let under = |outer: &str, inner: &str| {
        inner
            .strip_prefix(outer)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let typed = flags
        .iter()
        .rev()
        .find(|f| under(&f.path, &field) || (error.line.is_none() && under(&field, &f.path)));
    if let Some(flag) = typed {
        error.place = format!("--{}", flag.flag);
        error.line = None;
    }
    error
}

/// A budget or a cap that cannot be compared would not limit anything: better no plan than a silent one.
fn limits_have_rates(workload: &Workload) -> Result<(), Failure> {
    let (c, money) = (&workload.constraints, &workload.money);
    for limit in [c.budget, c.max_price].into_iter().flatten() {
        if money.fx.rate(limit.currency, money.currency).is_err() {
            let msg = Msg::new("plan-limit-without-rate")
                .arg("limit", limit)
                .arg("from", limit.currency.as_str())
                .arg("to", money.currency.as_str());
            return Err(Failure::usage(msg).hint(rate_hint(limit.currency, money.currency)));
        }
    }
    Ok(())
}

fn rate_hint(from: Currency, to: Currency) -> Msg {
    let flag = format!(
        "--money-rates '[{{from=\"{from}\", to=\"{to}\", rate=..., as_of=\"2026-11-30\"}}]'"
    );
    Msg::new("hint-give-rate").arg("flag", flag)
}

pub(super) fn probe(path: &Path) -> Result<ProbeReport, Failure> {
    let text = read_text(path, LARGEST_PROBE)?;
    let unreadable = |detail: String| {
        Failure::usage(
            Msg::new("plan-probe-unreadable")
                .arg("file", shown(path))
                .arg("detail", detail),
        )
    };
    let report: ProbeReport = serde_json::from_str(&text).map_err(|e| {
        let place = format!("{}:{}:{}", shown(path), e.line(), e.column());
        let (problem, hint) = json_problem(&e);
        let msg = Msg::new("error-at")
            .arg("place", place)
            .arg("problem", problem);
        Failure {
            hints: hint
                .into_iter()
                .chain([Msg::new("hint-probe-schema")])
                .collect(),
            ..Failure::usage(msg)
        }
    })?;
    if report.schema != "lessee/probe/v1" {
        return Err(unreadable(format!("schema = {}", report.schema)));
    }
    Ok(report)
}

/// What is wrong with JSON text: its shape, or a value.
fn json_problem(error: &serde_json::Error) -> (Msg, Option<Msg>) {
    match error.classify() {
        serde_json::error::Category::Data => {
            let said = error.to_string();
            // the place is told apart from it
            wording(said.split(" at line ").next().unwrap_or(&said))
        }
        serde_json::error::Category::Eof => (Msg::new("json-ends-early"), None),
        _ => (Msg::new("json-broken"), None),
    }
}

fn shown(path: &Path) -> String {
    if path.as_os_str() == "-" {
        "<stdin>".to_owned()
    } else {
        path.display().to_string()
    }
}

/// A text file or stdin, whole, of reasonable size, in UTF-8.
fn read_text(path: &Path, largest: u64) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin()
            .lock()
            .take(largest + 1)
            .read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(largest + 1).read_to_end(&mut bytes))
    };
    read.map_err(|e| Failure::read(path, &e))?;
    if bytes.len() as u64 > largest {
        let msg = Msg::new("file-too-large")
            .arg("path", shown(path))
            .bytes("largest", largest as f64);
        return Err(Failure::usage(msg));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        Failure::usage(
            Msg::new("file-not-utf8")
                .arg("path", shown(path))
                .arg("offset", e.utf8_error().valid_up_to()),
        )
        .hint(Msg::new("hint-utf8"))
    })?;
    Ok(text
        .strip_prefix('\u{feff}')
        .map(str::to_owned)
        .unwrap_or(text))
}

/// Fields that were not typed do not belong into the document.
pub(super) fn without_nulls(value: serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Object(map) => serde_json::Value::Object(
            map.into_iter()
                .filter(|(_, v)| !v.is_null())
                .map(|(k, v)| (k, without_nulls(v)))
                .collect(),
        ),
        other => other,
    }
}
