//! `catalog import FILE`: a quote or another catalog becomes a snapshot of the user's; what could not be read
//! for sure is asked, never guessed.

use crate::args::ImportArgs;
use crate::facts;
use lessee_catalog::{Format, ImportContext, Imported, SnapshotMeta};
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::quote::{ImportDoc, QuotedOffer};
use lessee_model::{AsOf, Currency, Exit, Msg};
use lessee_report::documents::{ImportAnswer, SavedDoc};
use lessee_report::{Block, Cell, Column, Report, Table, Texts};
use std::path::Path;

pub(crate) fn run(
    args: &ImportArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let facts = facts::builtin()?;
    let (bytes, place) = facts::read_bytes(&args.file)?;
    let cx = ImportContext {
        facts: &facts,
        provider: args.provider.as_deref(),
        as_of: file_date(&args.file, settings),
        currency: args.currency.as_deref().map(currency).transpose()?,
    };
    let format = args
        .format
        .as_deref()
        .and_then(|f| f.parse::<Format>().ok());
    let imported = lessee_catalog::import(&bytes, &place, &cx, format)?;
    let texts = printer.texts();
    let saved = if args.dry_run || imported.catalog.offers.is_empty() {
        None
    } else {
        Some(save(&imported, args, &place, settings)?)
    };
    let doc = imported.into_doc(|msg| texts.msg(msg));
    let found = !doc.offers.is_empty();
    printer.report(report(&doc, saved.as_ref(), args.dry_run, texts))?;
    Ok(if found { Exit::Done } else { Exit::No })
}

fn currency(text: &str) -> Result<Currency, Failure> {
    text.parse().map_err(|_| {
        let problem = Msg::new("setting-bad-value")
            .arg("key", "--currency")
            .arg("value", text);
        Failure::usage(problem).hint(Msg::new("setting-examples").arg("examples", "USD, CNY, EUR"))
    })
}

fn save(
    imported: &Imported,
    args: &ImportArgs,
    place: &str,
    settings: &Settings,
) -> Result<SavedDoc, Failure> {
    let name = args.name.clone().unwrap_or_else(|| name_of(&args.file));
    let meta = SnapshotMeta {
        source: place.to_owned(),
        format: imported.doc.format.clone(),
        imported_at: settings.now,
    };
    let store = facts::store(settings);
    let info = store.save(&name, &imported.catalog, &meta)?;
    Ok(SavedDoc {
        name,
        file: store.folder().join(&info.file).display().to_string(),
        rows: info.rows,
    })
}

/// The file's name without what a snapshot's name cannot have.
fn name_of(path: &Path) -> String {
    let stem = path
        .file_stem()
        .map(|s| s.to_string_lossy().into_owned())
        .unwrap_or_default();
    let usable = |c: char| {
        if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') {
            c
        } else {
            '-'
        }
    };
    let name: String = stem.chars().take(20).map(usable).collect();
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() {
        "stdin".to_owned()
    } else {
        name.to_owned()
    }
}

/// The date of a price that states none is the date of its file; of stdin it is today.
fn file_date(path: &Path, settings: &Settings) -> Option<AsOf> {
    let zone = settings.tz.value.clone();
    let modified = std::fs::metadata(path).and_then(|m| m.modified()).ok();
    let time = match modified {
        Some(time) => jiff::Timestamp::try_from(time).ok()?,
        None => settings.now,
    };
    Some(AsOf::from_date(time.to_zoned_datetime(zone).date()))
}

fn report(doc: &ImportDoc, saved: Option<&SavedDoc>, dry_run: bool, texts: &Texts) -> Report {
    let answer = ImportAnswer {
        import: doc.clone(),
        saved: saved.cloned(),
    };
    let data = serde_json::to_value(answer).unwrap_or_default();
    let mut report = Report::new(doc.file.clone(), data, "offers");
    let summary = Msg::new("import-summary")
        .arg("format", doc.format.as_str())
        .arg("encoding", doc.encoding.as_str())
        .arg("offers", doc.offers.len())
        .arg("questions", doc.questions.len())
        .arg("ignored", doc.ignored_lines as f64);
    report.text(texts.msg(&summary));
    if !doc.offers.is_empty() {
        report.table(offers(&doc.offers, texts));
    }
    if !doc.questions.is_empty() {
        report.heading(texts.get("import-questions"));
        report.table(questions(doc, texts));
    }
    match saved {
        Some(saved) => tell_saved(&mut report, saved.rows, &saved.name, &saved.file, texts),
        None if dry_run => report.text(texts.get("import-dry-run")),
        None => report.text(texts.get("import-nothing")),
    }
    report
}

/// What was saved, where, and how to be rid of it.
pub(super) fn tell_saved(report: &mut Report, rows: u64, name: &str, path: &str, texts: &Texts) {
    report.text(
        texts.msg(
            &Msg::new("import-saved")
                .arg("n", rows as f64)
                .arg("name", name),
        ),
    );
    let place = Msg::new("import-where").arg("path", path).arg("name", name);
    report.blocks.push(Block::Verbatim(texts.msg(&place)));
}

fn offers(offers: &[QuotedOffer], texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::right("line", texts.get("col-line-number"), 1),
        Column::left("provider", texts.get("col-provider"), 0),
        Column::left("region", texts.get("col-region"), 0),
        Column::left("gpu", texts.get("col-gpu"), 0),
        Column::right("count", texts.get("col-count"), 0),
        Column::left("purchase", texts.get("col-purchase"), 0),
        Column::right("price", texts.get("col-price"), 0),
        Column::left("derivation", texts.get("col-derivation"), 2),
        Column::left("original", texts.get("col-original"), 3),
    ]);
    for o in offers {
        let text = |x: &Option<String>| x.clone().map_or_else(Cell::unknown, Cell::new);
        let mut gpu = o.gpu.model.clone();
        gpu.extend(o.gpu.form.iter().map(|f| format!(" {f}")));
        gpu.extend(o.gpu.memory_gb_each.map(|gb| format!(" {gb}GB")));
        table.push(vec![
            Cell::new(o.line.to_string()),
            text(&o.provider),
            text(&o.region),
            gpu.into(),
            Cell::new(o.gpu.count.to_string()),
            Cell::new(texts.term("purchase", o.purchase.as_str())).raw(o.purchase.as_str()),
            Cell::new(texts.unit_price(o.price)).raw(o.price.exact()),
            o.derivation.join("; ").into(),
            o.original.clone().into(),
        ]);
    }
    table
}

fn questions(doc: &ImportDoc, texts: &Texts) -> Table {
    let mut table = Table::new(vec![
        Column::right("line", texts.get("col-line-number"), 0),
        Column::left("text", texts.get("col-original"), 0),
        Column::left("why", texts.get("col-why"), 0),
    ]);
    for q in &doc.questions {
        let line = if q.line == 0 {
            Cell::unknown()
        } else {
            Cell::new(q.line.to_string())
        };
        table.push(vec![line, q.text.clone().into(), q.why.clone().into()]);
    }
    table
}
