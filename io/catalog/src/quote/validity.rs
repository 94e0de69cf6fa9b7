//! Until when a quote holds: `报价日期：2026-11-20，有效期 30 天`, `valid until 2026-12-20`.
//!
//! What an expired quote means for its offers is not decided here: they keep their date, and the reader
//! is asked once for the whole file.

use super::ask::Ask;
use super::facts;
use super::lex::{self, T};
use super::names::Names;
use super::vocab::{Kw, Period};
use jiff::civil::Date;
use jiff::{Span, ToSpan};
use lessee_model::{AsOf, Fixed};

/// How long a quote holds, as its text says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Valid {
    For(Span),
    Until(AsOf),
}

const WORDS: &[&str] = &["有效", "截止", "valid", "expir"];

/// Parts of a folded line, those about validity marked; each is read on its own, so that the date of
/// one is not taken for the date of the other.
pub(crate) fn parts(folded: &str) -> impl Iterator<Item = (&str, bool)> {
    folded
        .split([',', ';', '。'])
        .flat_map(|clause| {
            let clause = clause.trim();
            // `报价日期: 2026-11-20 有效期: 30天`: a label further on begins a part of its own
            let second = ["报价有效期", "有效期", "报价日期", "valid"]
                .iter()
                .filter_map(|w| clause.find(w))
                .filter(|at| clause[..*at].contains(|c: char| c.is_ascii_digit()))
                .min();
            let (first, rest) = clause.split_at(second.unwrap_or(clause.len()));
            [first, rest]
        })
        .filter(|part| !part.trim().is_empty())
        .map(|part| (part, WORDS.iter().any(|w| part.contains(w))))
}

/// The validity that a part states: a date, or a number of days, weeks, months.
pub(crate) fn read(part: &str, names: &Names<'_>) -> Option<Valid> {
    let toks = lex::lex(part, names, false);
    if let Some(date) = facts::read(part, &toks, &[]).date {
        return Some(Valid::Until(date));
    }
    toks.iter().enumerate().find_map(|(i, tok)| {
        let T::Num(Some(n)) = tok.t else { return None };
        let n = super::unit::count_of(n).filter(|n| Fixed::from_int(i64::from(*n)) < YEARS)?;
        let unit = toks[i + 1..].iter().find(|t| !t.is_sym('-'))?;
        let n = i64::from(n);
        let span = match unit.kw()? {
            Kw::Period(Period::Day) => n.days(),
            Kw::Period(Period::Week) => n.weeks(),
            Kw::Period(Period::Month) => n.months(),
            _ => return None,
        };
        Some(Valid::For(span))
    })
}

/// The question about a date later than `today`: no quote is from tomorrow.
pub(crate) fn in_future(dated: Option<AsOf>, today: Option<Date>) -> Option<Ask> {
    let date = dated?;
    (date.earliest() > today?).then(|| {
        Ask::new("date_in_future", "quote-why-date-in-future").arg("date", date.to_string())
    })
}

/// More days than any quote holds: a number, but of something else.
const YEARS: Fixed = Fixed::from_int(1000);

/// The question about a quote that held only until before `today`.
pub(crate) fn expired(
    dated: Option<AsOf>,
    valid: Option<Valid>,
    today: Option<Date>,
) -> Option<Ask> {
    let until = match valid? {
        Valid::Until(date) => date.latest(),
        Valid::For(span) => dated?.latest().checked_add(span).ok()?,
    };
    (until < today?).then(|| {
        Ask::new("quote_expired", "quote-why-quote-expired").arg("until", until.to_string())
    })
}
