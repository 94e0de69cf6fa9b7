//! What `plan` and `predict` both read: the workload from a file and flags, a probe report.

use super::providers::{Written, name_providers};
use crate::args::TypedField;
use lessee_catalog::Facts;
use lessee_console::Failure;
use lessee_console::Settings;
use lessee_model::workload::{
    ResolveContext, Workload, WorkloadError, WorkloadFile, locate, parse_workload_with, resolve,
    wording,
};
use lessee_model::{Currency, Msg, ProbeReport};
use std::io::Read;
use std::path::Path;

/// A workload is text that a person wrote; anything larger is some other file.
const LARGEST_WORKLOAD: u64 = 4 << 20;
const LARGEST_PROBE: u64 = 64 << 20;

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
