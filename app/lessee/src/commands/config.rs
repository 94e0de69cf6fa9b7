//! `config show` and `config path`: what is in force, where it comes from, where things lie.

use crate::args::ConfigCommand;
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::{KEYS, Settings};
use lessee_model::{Exit, Msg};
use lessee_report::{Cell, Column, Report, Table};
use serde_json::json;
use std::path::Path;

pub(crate) fn run(
    command: &ConfigCommand,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    match command {
        ConfigCommand::Show(args) => show(args.origin, settings, printer),
        ConfigCommand::Path => path(settings, printer),
    }
}

fn show(with_origin: bool, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let texts = printer.texts();
    let mut columns = vec![
        Column::left("key", texts.get("col-setting"), 0),
        Column::left("value", texts.get("col-value"), 0),
    ];
    if with_origin {
        columns.push(Column::left("origin", texts.get("col-origin"), 0));
        columns.push(Column::left("variable", texts.get("col-variable"), 1));
    }
    let mut table = Table::new(columns);
    let mut list = Vec::new();
    for (key, variable) in KEYS {
        let (value, origin) = settings.layers.shown(key);
        let origin = origin.label();
        let shown = if value.is_empty() {
            Cell::unknown()
        } else {
            Cell::new(value)
        };
        let mut row = vec![key.into(), shown];
        let mut object = json!({"key": key, "value": value});
        if with_origin {
            object["origin"] = json!(origin);
            object["variable"] = json!(variable);
            row.push(origin.into());
            row.push(variable.into());
        }
        table.push(row);
        list.push(object);
    }
    let data = json!({"schema": "lessee/config/v1", "settings": list});
    let mut report = Report::new(texts.get("config-title"), data, "settings");
    report.table(table);
    printer.report(report)?;
    Ok(Exit::Done)
}

fn path(settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let texts = printer.texts();
    let mut table = Table::new(vec![
        Column::left("what", texts.get("col-what"), 0),
        Column::left("path", texts.get("col-path"), 0),
        Column::left("exists", texts.get("col-exists"), 0),
    ]);
    let mut list = Vec::new();
    let layers = &settings.layers;
    let mut put = |what: &'static str, path: &Path| {
        let exists = path.exists();
        let mark = texts.get(if exists { "yes" } else { "no" });
        table.push(vec![
            Cell::new(texts.term("path", what)).raw(what),
            path.display().to_string().into(),
            Cell::new(mark).raw(exists.to_string()),
        ]);
        list.push(json!({"what": what, "path": path.display().to_string(), "exists": exists}));
    };
    put("user_config", &layers.user_file);
    if let Some(project) = &layers.project_file {
        put("project_config", project);
    }
    put("catalog", &settings.data_dir.value);
    put("cache", &settings.cache_dir.value);
    let data = json!({"schema": "lessee/paths/v1", "paths": list});
    let mut report = Report::new(texts.get("config-path-title"), data, "paths");
    report.table(table);
    let folder = |path: &Path| path.display().to_string();
    report.text(
        texts.msg(
            &Msg::new("config-remove")
                .arg("catalog", folder(&settings.data_dir.value))
                .arg("cache", folder(&settings.cache_dir.value)),
        ),
    );
    printer.report(report)?;
    Ok(Exit::Done)
}
