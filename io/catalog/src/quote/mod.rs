//! Quotes as people get them: tables, lists, sentences, contracts, in English and Chinese.
//!
//! A quote becomes offers with one price per instance-hour and the line it came from, and questions
//! about everything that cannot be read for sure. What this is not: a reader of machine-made catalogues
//! (`import` beside this module) nor a judge of whether a price is good. Start with [`import_quote`];
//! `lex` -> `price` and `facts` -> `table`, `prose`, `tree` -> `settle` is the way of a line.

mod ask;
mod cells;
mod clause;
mod facts;
mod fold;
mod header;
mod identify;
mod lex;
mod names;
mod offer;
mod pairs;
mod phrases;
mod price;
mod prose;
mod remarks;
mod row;
mod scan;
mod settle;
mod sizes;
mod table;
mod tree;
mod unit;
mod validity;
mod vocab;

pub use ask::QuoteQuestion;

use jiff::civil::Date;
use lessee_model::quote::QuotedOffer;
use lessee_model::{AsOf, Confidence, Currency, GpuTable};
use names::Names;
use settle::{Doc, Found};

/// What the importer must know besides the text.
#[derive(Clone, Copy, Debug)]
pub struct QuoteContext<'a> {
    pub gpus: &'a GpuTable,
    /// Key of a provider and the other names by which people call it.
    pub providers: &'a [(String, Vec<String>)],
    /// Used where the text names no provider.
    pub default_provider: Option<&'a str>,
    /// Used where an amount shows no currency.
    pub default_currency: Option<Currency>,
    /// Hours of a month where the text does not say (730).
    pub month_hours: u32,
    /// Date of the quote where the text does not say.
    pub as_of: Option<AsOf>,
    /// The day of the import: a quote whose validity ended before it is asked about.
    pub today: Option<Date>,
}

/// What a quote gave.
#[derive(Clone, Debug, Default)]
pub struct QuoteImport {
    pub offers: Vec<QuotedOffer>,
    pub questions: Vec<QuoteQuestion>,
    /// Lines that carry no price of a machine.
    pub ignored_lines: u64,
    /// Hours a month was taken for.
    pub month_hours: u32,
}

/// The line in which a table with separators stops within a cell or a row; `None`: the text is whole.
pub(crate) fn cut_at(text: &str, cx: &QuoteContext<'_>) -> Option<u64> {
    let names = Names::new(cx.gpus, cx.providers);
    let lines: Vec<&str> = text.split('\n').collect();
    table::cut_line(&lines, &names)
}

/// Reads a quote. `file` is only a name: its ending tells YAML and JSON, a date in it dates the quote.
///
/// Never fails: what cannot be read becomes a question. Time is linear in the length of the text.
pub fn import_quote(text: &str, file: &str, cx: &QuoteContext<'_>) -> QuoteImport {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let names = Names::new(cx.gpus, cx.providers);
    let lines: Vec<&str> = text.split('\n').map(|l| l.trim_end_matches('\r')).collect();
    let scan = remarks::scan(&lines, file, &names);
    let future = validity::in_future(scan.as_of, cx.today);
    let doc = Doc {
        names: &names,
        month_hours: scan.month_hours.unwrap_or(cx.month_hours.max(1)),
        month_stated: scan.month_hours.is_some(),
        default_provider: cx.default_provider.map(str::to_owned),
        default_currency: cx.default_currency,
        seen: scan.currencies,
        as_of: scan
            .as_of
            .or(cx.as_of.filter(|_| scan.date_unread.is_none())),
        today: cx.today,
        confidence: match future.is_some() || scan.date_unread.is_some() {
            true => Confidence::Unverified,
            false => scan.confidence,
        },
        term: scan.term,
    };
    let mut found = Found::default();
    let tree = tree::looks_like(text, file) && text.len() <= 4_000_000;
    let as_tree = tree && {
        let mut attempt = Found::default();
        let read = tree::read(text, &lines, &doc, &mut attempt);
        let useful = !attempt.offers.is_empty() || !attempt.questions.is_empty();
        if read && useful {
            found = attempt;
        } else if !read && file.to_ascii_lowercase().ends_with("ml") {
            // a damaged YAML file is named as such, and its lines are still read below
            found.questions = attempt.questions;
        }
        read && useful
    };
    if !as_tree {
        scan::blocks(&lines, &doc, &mut found);
    }
    if let Some(tax) = scan.tax {
        for offer in found.offers.iter_mut().filter(|o| o.tax == "unknown") {
            offer.tax = tax.to_owned();
        }
    }
    scan::merge_same(&mut found);
    let expired = validity::expired(scan.as_of, scan.valid, cx.today);
    let unread = scan
        .date_unread
        .map(|i| ask::date_unclear().at(i as u64 + 1, lines[i], false));
    let unfinished = (!as_tree && table::unfinished(text, file, &lines, &names))
        .then(|| ask::last_line_unfinished().at(0, lines.last().unwrap_or(&""), false));
    let file = |ask: ask::Ask| ask.at(0, "", false);
    let whole = [expired.map(file), future.map(file), unread, unfinished];
    if !found.offers.is_empty() {
        found.questions.splice(0..0, whole.into_iter().flatten());
    }
    QuoteImport {
        offers: found.offers,
        questions: found.questions,
        ignored_lines: found.ignored_lines,
        month_hours: doc.month_hours,
    }
}
