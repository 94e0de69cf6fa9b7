//! Prices in sentences, contract clauses, invoice lines and one-line price lists.
//!
//! A line is cut into clauses at `；` and sentence ends and into parts at commas; what stands before the
//! first colon (`H100 80G：...`) and clauses without a price speak for the whole line.

use super::ask;
use super::clause::{Line, trailing_unit};
use super::facts::{self, Facts};
use super::fold::fold;
use super::lex;
use super::price::amounts;
use super::row::{self, Around};
use super::settle::{Doc, Draft, Found, settle};
use super::unit::{Unit, unit_of};
use super::vocab::Kw;

/// Lines longer than this are kept by the clause instead of the whole.
pub(crate) const LONG: usize = 2_000;

/// The last GPU that running text spoke of, for a price in a later sentence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spoken {
    pub(crate) facts: Option<(Facts, u64)>,
    /// More than one GPU was named: none of them may be taken.
    pub(crate) several: bool,
}

/// Without the mark of a list, a quotation or a numbered clause.
pub(crate) fn unmarked(folded: &str) -> &str {
    let t = folded
        .trim_start()
        .trim_start_matches(['>', '•', '●'])
        .trim_start();
    let t = t
        .strip_prefix("- ")
        .or_else(|| t.strip_prefix("* "))
        .or_else(|| t.strip_prefix("+ "))
        .unwrap_or(t);
    let digits = t
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b'.')
        .count();
    let (mark, rest) = t.split_at(digits);
    let section =
        mark.contains('.') && mark.starts_with(|c: char| c.is_ascii_digit()) && mark.len() <= 8;
    if section && rest.starts_with(' ') && (mark.ends_with('.') || !next_is_unit(rest)) {
        return rest.trim_start();
    }
    match rest.chars().next() {
        Some(c @ (')' | '、')) if (1..=2).contains(&digits) => rest[c.len_utf8()..].trim_start(),
        _ => t,
    }
}

/// `2.5 USD` is a price, `2.5 GPU型号` a clause.
fn next_is_unit(rest: &str) -> bool {
    let rest = rest.trim_start();
    super::vocab::currency_sign(rest).is_some_and(|_| !rest.starts_with(['$', '¥']))
        || matches!(
            super::vocab::chinese(rest),
            Some((Kw::Currency(_) | Kw::Scale(_), _))
        )
        || rest
            .split(|c: char| !c.is_ascii_alphabetic())
            .next()
            .and_then(super::vocab::english)
            .is_some_and(|k| matches!(k, Kw::Currency(_) | Kw::Per))
}

/// Reads one line of running text.
pub(crate) fn line(raw: &str, number: u64, around: &mut Around, doc: &Doc<'_>, found: &mut Found) {
    let mut spoken = Spoken::default();
    read(raw, number, around, &mut spoken, doc, found);
}

/// Reads one line of running text that may go on from lines before it.
pub(crate) fn read(
    raw: &str,
    number: u64,
    around: &mut Around,
    spoken: &mut Spoken,
    doc: &Doc<'_>,
    found: &mut Found,
) {
    let folded = fold(raw);
    let text = unmarked(&folded);
    let toks = lex::lex(text, doc.names, true);
    let whole = Line {
        raw,
        text,
        amounts: amounts(&toks, false),
        toks: &toks,
        number,
        unit: trailing_unit(&toks),
        not_machine: ["授权", "licen", "cpu渲染", "存储费", "流量费"]
            .iter()
            .any(|w| text.contains(w)),
    };
    let (clauses, shared) = whole.clauses();
    let priced = clauses.iter().filter(|c| !c.amounts.is_empty()).count();
    if priced == 0 {
        if shared.on_request && (!shared.gpus.is_empty() || shared.modelish.is_some()) {
            let draft = whole.draft(0, toks.len());
            settle(
                Draft {
                    facts: shared,
                    ..draft
                },
                doc,
                found,
            );
            return;
        }
        // `2×A100 15000.00 含税`: a figure, but for what?
        let money = ["费", "价", "租", "税", "price", "cost", "rent", "rate"]
            .iter()
            .any(|w| text.contains(w))
            || toks.len() <= 6;
        if shared.loose_figure && money && !shared.gpus.is_empty() && !whole.not_machine {
            found.ask(&whole.draft(0, toks.len()), ask::unit_unknown());
            return;
        }
        remember(&shared, number, spoken);
        if around.unit == Unit::default() || text.contains("单位") || text.contains("unit") {
            let unit = unit_of(&toks, &[]);
            if unit != Unit::default()
                && ["单位", "unit", "prices in", "all prices", "价格均"]
                    .iter()
                    .any(|w| text.contains(w))
            {
                around.unit = unit;
                let rest = Facts {
                    gpus: Vec::new(),
                    modelish: None,
                    ..shared
                };
                row::fill(&mut around.facts, &rest);
            }
        }
        found.ignored_lines += 1;
        return;
    }
    let mut last = shared.clone();
    for clause in &clauses {
        for group in whole.groups(clause) {
            whole.settle_group(group, &mut last, &shared, around, spoken, doc, found);
        }
    }
}

pub(crate) fn remember(f: &Facts, number: u64, spoken: &mut Spoken) {
    match f.gpus.as_slice() {
        [] => {
            // `数量：8 卡` after the line with the name
            if let (Some((known, _)), false) = (&mut spoken.facts, f.counts.is_empty())
                && known.counts.is_empty()
            {
                known.counts = f.counts.clone();
            }
        }
        [gpu] => match &spoken.facts {
            Some((known, _)) if known.gpus.first().is_some_and(|g| g.model != gpu.model) => {
                spoken.several = true
            }
            _ => spoken.facts = Some((f.clone(), number)),
        },
        _ => spoken.several = true,
    }
}

/// What a heading says of everything below it.
pub(crate) fn heading(folded: &str, doc: &Doc<'_>) -> (Facts, Unit) {
    let toks = lex::lex(folded, doc.names, false);
    let found = amounts(&toks, false);
    let skip: Vec<(usize, usize)> = found.iter().map(|a| (a.from, a.to)).collect();
    let mut f = facts::read(folded, &toks, &found);
    f.loose_number = false;
    let unit = unit_of(&toks, &skip);
    (
        f,
        Unit {
            scope: None,
            ..unit
        },
    )
}
