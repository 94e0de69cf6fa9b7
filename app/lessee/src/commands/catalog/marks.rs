//! Marks beside a price: one letter each and a legend, so that nothing depends on colour.

use jiff::civil::Date;
use lessee_model::{Confidence, Offer, Origin, Price, Purchase, StaleAfter};
use lessee_report::Texts;

/// What the reader must know before trusting a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    Unverified,
    Stale,
    Undated,
    Range,
    Zero,
    Spot,
    Term,
    Own,
}

impl Mark {
    pub(crate) fn letter(self) -> char {
        match self {
            Mark::Unverified => 'U',
            Mark::Stale => 'S',
            Mark::Undated => 'D',
            Mark::Range => 'R',
            Mark::Zero => 'Z',
            Mark::Spot => 'P',
            Mark::Term => 'T',
            Mark::Own => 'Q',
        }
    }

    /// The word in JSON.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Mark::Unverified => "unverified",
            Mark::Stale => "stale",
            Mark::Undated => "undated",
            Mark::Range => "range",
            Mark::Zero => "zero",
            Mark::Spot => "spot",
            Mark::Term => "term",
            Mark::Own => "own",
        }
    }

    /// Says something against the price.
    pub(crate) fn doubtful(self) -> bool {
        !matches!(self, Mark::Spot | Mark::Term | Mark::Own)
    }
}

pub(crate) fn marks(offer: &Offer, price: &Price, today: Date, stale: StaleAfter) -> Vec<Mark> {
    let mut out = Vec::new();
    if price.why.confidence == Confidence::Unverified {
        out.push(Mark::Unverified);
    }
    match price.why.as_of {
        Some(date) if date.age_days(today) > stale.days(offer.market) => out.push(Mark::Stale),
        Some(_) => {}
        None => out.push(Mark::Undated),
    }
    if price.high.is_some() {
        out.push(Mark::Range);
    }
    if price.per_hour.amount.is_zero() {
        out.push(Mark::Zero);
    }
    match price.purchase {
        Purchase::OnDemand => {}
        Purchase::Spot => out.push(Mark::Spot),
        _ => out.push(Mark::Term),
    }
    if matches!(offer.origin, Origin::User(_)) {
        out.push(Mark::Own);
    }
    out
}

/// `U = not verified; S = old price ...` for the marks that occur.
pub(crate) fn legend(used: impl IntoIterator<Item = Mark>, texts: &Texts) -> Option<String> {
    let mut marks: Vec<Mark> = used.into_iter().collect();
    marks.sort_unstable();
    marks.dedup();
    let parts: Vec<String> = marks
        .iter()
        .map(|m| format!("{} = {}", m.letter(), texts.term("mark", m.code())))
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
