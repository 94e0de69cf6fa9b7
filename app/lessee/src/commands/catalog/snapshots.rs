//! `catalog snapshots` and `catalog remove NAME`: the user's own tables.

use crate::args::RemoveArgs;
use crate::facts;
use lessee_console::Failure;
use lessee_console::Settings;
use lessee_console::{Printer, ask};
use lessee_model::{Exit, Msg};
use lessee_report::{Cell, Column, Report, Table};
use serde_json::json;

pub(crate) fn run(settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let texts = printer.texts();
    let store = facts::store(settings);
    let all = store.snapshots()?;
    let mut table = Table::new(vec![
        Column::left("name", texts.get("col-name"), 0),
        Column::left("imported_at", texts.get("col-imported"), 0),
        Column::right("rows", texts.get("col-rows"), 0),
        Column::left("format", texts.get("col-format"), 1),
        Column::left("source", texts.get("col-source"), 2),
        Column::left("file", texts.get("col-file"), 3),
    ]);
    for info in &all {
        let local = info
            .imported_at
            .to_zoned_datetime(settings.tz.value.clone());
        table.push(vec![
            info.name.clone().into(),
            Cell::new(local.strftime("%Y-%m-%d %H:%M %:z").to_string())
                .raw(info.imported_at.to_string()),
            Cell::new(texts.number(info.rows as f64)).raw(info.rows.to_string()),
            info.format.clone().into(),
            info.source.clone().into(),
            info.file.clone().into(),
        ]);
    }
    let data = json!({"schema": "lessee/snapshots/v1", "folder": store.folder().display().to_string(), "snapshots": all});
    let mut report = Report::new(texts.get("snapshots-title"), data, "snapshots");
    if all.is_empty() {
        report.text(texts.get("snapshots-none"));
    } else {
        report.table(table);
    }
    report.text(
        texts.msg(&Msg::new("snapshots-folder").arg("path", store.folder().display().to_string())),
    );
    printer.report(report)?;
    Ok(Exit::Done)
}

pub(crate) fn remove(
    args: &RemoveArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let store = facts::store(settings);
    let newest = store.find(&args.name)?;
    if !args.yes {
        let question = Msg::new("snapshots-ask")
            .arg("name", newest.name.as_str())
            .arg("rows", newest.rows as f64);
        if !ask(printer, &question)? {
            printer.note(&Msg::new("snapshots-kept"));
            return Ok(Exit::No);
        }
    }
    let gone = store.remove(&args.name)?;
    let files: Vec<String> = gone
        .iter()
        .map(|s| store.folder().join(&s.file).display().to_string())
        .collect();
    let mut report = Report::new(
        args.name.clone(),
        json!({"schema": "lessee/removed/v1", "files": files}),
        "files",
    );
    report.text(
        printer
            .texts()
            .msg(&Msg::new("snapshots-removed").arg("name", args.name.as_str())),
    );
    report.list(files);
    printer.report(report)?;
    Ok(Exit::Done)
}
