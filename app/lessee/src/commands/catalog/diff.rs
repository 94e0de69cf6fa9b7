//! `catalog diff OLD NEW`: prices that came, went, or moved.

use crate::args::DiffArgs;
use crate::facts;
use lessee_catalog::Change;
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::{Exit, Explain, Money, Msg};
use lessee_report::{Cell, Column, Report, Table, Texts};

pub(crate) fn run(
    args: &DiffArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let facts = facts::builtin()?;
    let store = facts::store(settings);
    let old = store.load(&args.old, &facts)?;
    let new = store.load(&args.new, &facts)?;
    for problem in old.problems.iter().chain(&new.problems) {
        printer.warn(&problem.msg());
    }
    let doc = lessee_catalog::diff(&old.catalog, &new.catalog);
    let texts = printer.texts();
    let mut table = Table::new(vec![
        Column::left("change", texts.get("col-change"), 0),
        Column::left("offer", texts.get("col-offer"), 0),
        Column::left("purchase", texts.get("col-purchase"), 0),
        Column::right("old", texts.get("col-old"), 0),
        Column::right("new", texts.get("col-new"), 0),
        Column::right("percent", texts.get("col-percent"), 0),
        Column::left("machine", texts.get("col-machine"), 1),
    ]);
    for (word, list) in [
        ("changed", &doc.changed),
        ("added", &doc.added),
        ("removed", &doc.removed),
    ] {
        list.iter()
            .for_each(|change| table.push(row(word, change, texts)));
    }
    let summary = Msg::new("diff-summary")
        .arg("changed", doc.changed.len())
        .arg("added", doc.added.len())
        .arg("removed", doc.removed.len())
        .arg("unchanged", doc.unchanged as f64);
    let data = serde_json::to_value(&doc).unwrap_or_default();
    let mut report = Report::new(format!("{} → {}", args.old, args.new), data, "changed");
    report.text(texts.msg(&summary));
    if !table.rows.is_empty() {
        report.table(table);
    }
    printer.report(report)?;
    Ok(Exit::Done)
}

fn row(word: &'static str, change: &Change, texts: &Texts) -> Vec<Cell> {
    let money = |m: Option<Money>| match m {
        Some(m) => Cell::new(texts.unit_price(m)).raw(m.exact()),
        None => Cell::unknown(),
    };
    let purchase = change.purchase.as_str();
    let machine = match &change.old_machine {
        Some(old) => format!("{old} → {}", change.machine),
        None => change.machine.clone(),
    };
    vec![
        Cell::new(texts.term("change", word)).raw(word),
        change.key.clone().into(),
        Cell::new(texts.term("purchase", purchase)).raw(purchase),
        money(change.old),
        money(change.new),
        change.percent.map_or_else(Cell::unknown, |p| {
            Cell::new(format!("{p:+.1} %")).raw(format!("{p:.4}"))
        }),
        machine.into(),
    ]
}
