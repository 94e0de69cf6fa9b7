//! `schema DOCUMENT`: the JSON Schema (2020-12) of each input and output, made from the types themselves.

use crate::args::SchemaArgs;
use crate::facts;
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_model::{Exit, Msg, PlanDoc, ProbeReport, WorkloadFile, did_you_mean};
use lessee_report::documents::{
    CatalogListDoc, DoctorDoc, ErrorDoc, ImportAnswer, OfferPricesDoc, WhyNotDoc,
};
use lessee_report::{Cell, Column, Report, Table};
use serde_json::{Value, json};

type Make = fn() -> schemars::Schema;

/// Name and type of each document; one more is one more line.
const DOCUMENTS: [(&str, Make); 28] = [
    // what people write
    ("workload", || schemars::schema_for!(WorkloadFile)),
    ("buy-input", || schemars::schema_for!(lessee_cost::BuyFile)),
    ("probe", || schemars::schema_for!(ProbeReport)),
    // what programs read
    ("plan", || schemars::schema_for!(PlanDoc)),
    ("prediction", || {
        schemars::schema_for!(lessee_report::predict::PredictionsDoc)
    }),
    ("prediction-table", || {
        schemars::schema_for!(lessee_report::predict_table::PredictionTableDoc)
    }),
    ("why-not", || schemars::schema_for!(WhyNotDoc)),
    ("buy", || schemars::schema_for!(lessee_cost::BuyReport)),
    ("catalog", || schemars::schema_for!(CatalogListDoc)),
    ("offer", || schemars::schema_for!(OfferPricesDoc)),
    ("import", || schemars::schema_for!(ImportAnswer)),
    ("catalog-diff", || {
        schemars::schema_for!(lessee_catalog::DiffDoc)
    }),
    ("catalog-doctor", || schemars::schema_for!(DoctorDoc)),
    ("watch", || schemars::schema_for!(lessee_probe::WatchDoc)),
    ("probe-diff", || {
        schemars::schema_for!(lessee_probe::ProbeDiff)
    }),
    ("trace-import", || {
        schemars::schema_for!(lessee_report::trace::TraceImportDoc)
    }),
    ("trace-list", || {
        schemars::schema_for!(lessee_report::trace::TraceListDoc)
    }),
    ("trace-show", || {
        schemars::schema_for!(lessee_report::trace::TraceShowDoc)
    }),
    ("trace-stats", || {
        schemars::schema_for!(lessee_report::trace::TraceStatsDoc)
    }),
    ("simulate", || {
        schemars::schema_for!(lessee_report::simulate::SimulationDoc)
    }),
    ("acceptance", || {
        schemars::schema_for!(lessee_report::accept::AcceptanceDoc)
    }),
    ("acceptance-file", || {
        schemars::schema_for!(crate::args::AcceptanceFile)
    }),
    ("acceptance-diff", || {
        schemars::schema_for!(lessee_report::accept::AcceptanceDiffDoc)
    }),
    ("latency-samples", || {
        schemars::schema_for!(lessee_accept::latency::LatencySamples)
    }),
    ("environment", || {
        schemars::schema_for!(lessee_accept::env::Environment)
    }),
    ("environment-diff", || {
        schemars::schema_for!(lessee_report::accept::EnvironmentDiffDoc)
    }),
    ("environment-rollback", || {
        schemars::schema_for!(lessee_report::accept::RollbackDoc)
    }),
    ("error", || schemars::schema_for!(ErrorDoc)),
];

pub(crate) fn run(args: &SchemaArgs, printer: &Printer) -> Result<Exit, Failure> {
    match args.document.as_deref() {
        None => list(printer)?,
        Some("models") => models(printer)?,
        Some(name) => {
            let Some((name, make)) = DOCUMENTS.iter().find(|(known, _)| *known == name) else {
                return Err(unknown(name));
            };
            let mut schema: Value = make().to_value();
            schema["$id"] = json!(format!("urn:lessee:schema:{name}:v1"));
            let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
            printer.data(&format!("{text}\n"))?;
        }
    }
    Ok(Exit::Done)
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = DOCUMENTS
        .iter()
        .map(|(n, _)| *n)
        .chain(["models"])
        .collect();
    let hint = match did_you_mean(name, names.iter().copied()) {
        Some(word) => Msg::new("hint-did-you-mean").arg("word", word),
        None => Msg::new("hint-known-words").arg("words", names.join(", ")),
    };
    Failure::usage(Msg::new("schema-unknown").arg("name", name)).hint(hint)
}

fn list(printer: &Printer) -> Result<(), Failure> {
    let texts = printer.texts();
    let mut table = Table::new(vec![
        Column::left("document", texts.get("col-document"), 0),
        Column::left("what", texts.get("col-what"), 0),
    ]);
    let names: Vec<&str> = DOCUMENTS
        .iter()
        .map(|(n, _)| *n)
        .chain(["models"])
        .collect();
    for name in &names {
        table.push(vec![(*name).into(), texts.term("schema", name).into()]);
    }
    let mut report = Report::new(
        texts.get("schema-title"),
        json!({"documents": names}),
        "documents",
    );
    report.table(table);
    printer.report(report)
}

fn models(printer: &Printer) -> Result<(), Failure> {
    let texts = printer.texts();
    let facts = facts::builtin()?;
    let mut table = Table::new(vec![
        Column::left("name", texts.get("col-model"), 0),
        Column::left("kind", texts.get("col-kind"), 0),
        Column::right("params_b", texts.get("col-params"), 0),
        Column::right("active_params_b", texts.get("col-active"), 1),
        Column::right("layers", texts.get("col-layers"), 1),
        Column::right("hidden", texts.get("col-hidden"), 1),
        Column::right("context", texts.get("col-context"), 1),
    ]);
    let number = |x: Option<f64>| match x {
        Some(x) => Cell::new(texts.number(x)).raw(x.to_string()),
        None => Cell::unknown(),
    };
    for model in &facts.models.models {
        let kind = json!(model.kind).as_str().unwrap_or("").to_owned();
        table.push(vec![
            model.name.to_string().into(),
            kind.into(),
            number(Some(model.params / 1e9)),
            number(Some(model.active_params / 1e9)),
            number(model.layers),
            number(model.hidden),
            number(model.context),
        ]);
    }
    let data = json!({"schema": "lessee/models/v1", "models": facts.models.models});
    let mut report = Report::new(texts.get("models-title"), data, "models");
    report.table(table);
    printer.report(report)
}
