//! `catalog doctor`: which offers are suspect, one line a rule, provider and source.

use crate::facts;
use lessee_catalog::{DoctorRules, Finding};
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::{Exit, Msg};
use lessee_report::documents::{DoctorDoc, FindingDoc};
use lessee_report::{Cell, Column, Report, Table, Texts};

pub(crate) fn run(settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let facts = facts::load_reporting(settings, printer)?;
    let findings = lessee_catalog::doctor(
        &facts.catalog,
        &facts,
        &DoctorRules::builtin()?,
        settings.today(),
    );
    printer.report(report(&findings, printer.texts()))?;
    // what is built in is known and marked wherever it is shown; age alone is no defect
    let own_defect = findings
        .iter()
        .any(|f| f.snapshot.is_some() && f.code != "stale");
    Ok(if own_defect { Exit::No } else { Exit::Done })
}

fn report(findings: &[Finding], texts: &Texts) -> Report {
    let mut table = Table::new(vec![
        Column::left("code", texts.get("col-code"), 3),
        Column::left("what", texts.get("col-finding"), 0),
        Column::left("provider", texts.get("col-provider"), 0),
        Column::right("count", texts.get("col-rows"), 0),
        Column::left("oldest", texts.get("col-oldest"), 0),
        Column::left("snapshot", texts.get("col-origin"), 2),
        Column::left("examples", texts.get("col-examples"), 1),
        Column::left("source", texts.get("col-source"), 4),
    ]);
    for f in findings {
        table.push(vec![
            f.code.into(),
            texts.msg(&f.what).into(),
            f.provider.clone().into(),
            Cell::new(texts.number(f.count as f64)).raw(f.count.to_string()),
            f.oldest
                .map_or_else(Cell::unknown, |d| Cell::new(d.to_string())),
            match &f.snapshot {
                Some(name) => Cell::new(name.clone()),
                None => Cell::new(texts.get("origin-built-in")).raw("built-in"),
            },
            f.examples.join(", ").into(),
            f.source.clone().into(),
        ]);
    }
    let document = DoctorDoc {
        schema: "lessee/catalog-doctor/v1".to_owned(),
        findings: findings.iter().map(|f| finding(f, texts)).collect(),
    };
    let data = serde_json::to_value(document).unwrap_or_default();
    let mut report = Report::new(texts.get("catalog-doctor-title"), data, "findings");
    if findings.is_empty() {
        report.text(texts.get("catalog-doctor-none"));
    } else {
        report.table(table);
        let prices: u64 = findings.iter().map(|f| f.count).sum();
        let summary = Msg::new("catalog-doctor-summary")
            .arg("findings", findings.len())
            .arg("prices", prices as f64);
        report.text(texts.msg(&summary));
    }
    report
}

fn finding(f: &Finding, texts: &Texts) -> FindingDoc {
    FindingDoc {
        code: f.code.to_owned(),
        provider: f.provider.clone(),
        source: f.source.clone(),
        snapshot: f.snapshot.clone(),
        count: f.count,
        examples: f.examples.clone(),
        oldest: f.oldest,
        what: f.what.clone(),
        text: texts.msg(&f.what),
    }
}
