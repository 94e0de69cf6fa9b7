//! Amounts of money in running text with what they are for: `约 ¥1.2-1.3万/卡/月` and the like.
//!
//! An amount is taken as it is written. Whether it may become an offer is decided in `settle`.

use super::lex::{T, Tok};
use super::unit::{Unit, unit_at};
use super::vocab::{Kw, Period};
use lessee_model::{Fixed, Purchase};

/// An amount as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Amount {
    /// `None`: not readable as a number.
    pub(crate) value: Option<Fixed>,
    /// Upper end of a range.
    pub(crate) high: Option<Fixed>,
    pub(crate) range: bool,
    pub(crate) unit: Unit,
    pub(crate) approx: bool,
    /// 起, 低至, up to
    pub(crate) bound: bool,
    pub(crate) negative: bool,
    pub(crate) in_brackets: bool,
    /// Called a total: 合计, 总价
    pub(crate) total: bool,
    /// 月租, monthly before the amount: what it is for if its own unit does not say.
    pub(crate) label: Option<Period>,
    /// spot, 按量 beside the amount.
    pub(crate) buy: Option<Purchase>,
    /// Token range.
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// All amounts among the tokens. `cell`: a bare number is a price too, as in a column of prices.
pub(crate) fn amounts(toks: &[Tok], cell: bool) -> Vec<Amount> {
    let mut out: Vec<Amount> = Vec::new();
    let mut at = 0;
    let mut depth = 0i32;
    while at < toks.len() {
        match toks[at].t {
            T::Sym('(') => depth += 1,
            T::Sym(')') => depth -= 1,
            T::Num(_) => {
                let floor = out.last().map_or(0, |a| a.to);
                if let Some(mut amount) = amount_at(toks, at, floor, cell) {
                    amount.in_brackets = depth > 0;
                    // the first of two numbers is no price either
                    if two_numbers(toks, at, cell) {
                        out.pop_if(|first| first.to + 1 >= at);
                    }
                    at = amount.to;
                    out.push(amount);
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    out
}

/// `13 90 USD`, `8 100 USD`: one number or two? A cell that begins with sound groups was joined before.
fn two_numbers(toks: &[Tok], at: usize, cell: bool) -> bool {
    let before = |n: usize| at.checked_sub(n).map(|i| &toks[i]);
    let (Some(last), this) = (before(1), &toks[at]) else {
        return false;
    };
    match last.t {
        // the 8 of `H100 x8 26.5 USD` counts
        T::Num(_) if !cell && before(2).and_then(Tok::kw) == Some(Kw::Times) => false,
        T::Num(_) => cell || last.end - last.start <= 3 && last.end + 1 == this.start,
        // `2·65`, `13’900`
        T::Sym('·' | '’' | '‘' | '´' | '_' | '\'') => {
            before(2).is_some_and(|t| matches!(t.t, T::Num(_)) && t.end == last.start)
                && last.end == this.start
        }
        _ => false,
    }
}

fn amount_at(toks: &[Tok], at: usize, floor: usize, cell: bool) -> Option<Amount> {
    let T::Num(value) = toks[at].t else {
        return None;
    };
    if toks.get(at + 1).is_some_and(|t| {
        t.is_sym('%') || t.is_sym(':') && toks.get(at + 2).is_some_and(|n| matches!(n.t, T::Num(_)))
    }) {
        return None;
    }
    let mut amount = Amount {
        value,
        high: None,
        range: false,
        unit: Unit::default(),
        approx: false,
        bound: false,
        negative: false,
        in_brackets: false,
        total: false,
        label: None,
        buy: None,
        from: at,
        to: at + 1,
    };
    let mut labelled = false;
    let mut back = at;
    let before = |n: usize| at.checked_sub(n).map(|i| &toks[i]);
    let after = |n: usize| toks.get(at + n);
    let currency = |t: &Tok| matches!(t.t, T::Kw(Kw::Currency(_)));
    // `H100 x8 USD 26.50`: the number counts cards
    let counted = before(1).and_then(Tok::kw) == Some(Kw::Times)
        && before(2).is_none_or(|t| matches!(t.t, T::Gpu(_) | T::Kw(Kw::Giga) | T::Sym(')')));
    if counted {
        if after(1).is_some_and(currency) && after(2).is_some_and(|t| matches!(t.t, T::Num(_))) {
            return None;
        }
        amount.value = None;
    }
    if two_numbers(toks, at, cell) {
        amount.value = None;
    }
    // what stands before: sign, currency, `约`, `低至`, a label such as `月租`
    for step in 0..6 {
        let Some(i) = back.checked_sub(1).filter(|i| *i >= floor) else {
            break;
        };
        match &toks[i].t {
            T::Kw(Kw::Currency(c)) if amount.unit.currency.is_none() && step < 4 => {
                amount.unit.currency = Some(*c)
            }
            // `EUR USD 2.65`, `AUD $2.65`
            T::Kw(Kw::Currency(c)) if currency(&toks[i + 1]) => {
                amount.unit.clash |= amount.unit.currency != Some(*c);
            }
            T::Sym('-') if toks[i].end == toks[i + 1].start && stands_alone(toks, i) => {
                amount.negative = true;
            }
            T::Sym('~') | T::Kw(Kw::Approx) => amount.approx = true,
            T::Sym('<' | '>') | T::Kw(Kw::AtLeast | Kw::AtMost) => amount.bound = true,
            // `up to 3 USD`
            T::Kw(Kw::To) if !toks[i].wide => amount.bound = true,
            T::Sym(':') => {}
            // `max. 3 USD`
            T::Sym('.')
                if i > floor
                    && matches!(toks[i - 1].t, T::Kw(Kw::AtLeast | Kw::Approx | Kw::AtMost)) => {}
            T::Sym('=') | T::Kw(Kw::Price) => labelled = true,
            T::Word(false) | T::Text
                if i > floor
                    && matches!(toks[i - 1].t, T::Kw(Kw::AtLeast | Kw::Approx | Kw::AtMost)) => {}
            T::Kw(Kw::Buy(purchase)) if amount.buy.is_none() => amount.buy = Some(*purchase),
            T::Kw(Kw::Total) => {
                amount.total = true;
                labelled = true;
            }
            T::Kw(Kw::Label(period)) => {
                labelled = true;
                amount.label = Some(*period);
            }
            _ => break,
        }
        back = i;
    }
    let mut to = at + 1;
    to = tail(toks, to, &mut amount);
    // a range: `1.2-1.3`, `¥18,000-¥25,000`, `$2/h to $3/h`
    if let Some((high, end)) = upper(toks, to) {
        let mut second = Amount {
            unit: Unit::default(),
            ..amount.clone()
        };
        let end = tail(toks, end, &mut second);
        amount.range = true;
        amount.high = high;
        amount.unit = amount.unit.or(&second.unit);
        to = end;
    }
    if toks.get(to).is_some_and(|t| t.is_sym('%')) {
        return None;
    }
    // `(2.65) USD`, `($2.65)`: how accounts write what is below zero
    let closed = toks.get(to).is_some_and(|t| t.is_sym(')'));
    if closed && back > 0 && toks[back - 1].is_sym('(') {
        let outside =
            toks.get(to + 1).is_some_and(currency) || back > 1 && currency(&toks[back - 2]);
        if outside || cell && back == 1 {
            amount.negative = true;
            labelled = true;
        }
    }
    // `2.65 USD EUR`, `2.65 USD (EUR)`
    let open = usize::from(toks.get(to).is_some_and(|t| t.is_sym('(')));
    if amount.unit.currency.is_some()
        && toks.get(to + open).is_some_and(
            |t| matches!(t.t, T::Kw(Kw::Currency(c)) if amount.unit.currency != Some(c)),
        )
        && !toks
            .get(to + open + 1)
            .is_some_and(|t| matches!(t.t, T::Num(_)))
    {
        amount.unit.clash = true;
    }
    // what stands after: `起`, `左右`, `+`; but `(约 ...` speaks of the next amount
    if let Some(tok) = toks.get(to)
        && !toks
            .get(to + 1)
            .is_some_and(|n| matches!(n.t, T::Num(_) | T::Kw(Kw::Currency(_))) && !tok.is_sym('+'))
    {
        match &tok.t {
            T::Kw(Kw::AtLeast | Kw::AtMost) | T::Sym('+') => {
                amount.bound = true;
                to += 1;
            }
            T::Kw(Kw::Approx) => {
                amount.approx = true;
                to += 1;
            }
            _ => {}
        }
    }
    // `$1.75/hr spot`, `$1.75/hr (spot)`
    let open = usize::from(toks.get(to).is_some_and(|t| t.is_sym('(')));
    if let Some(Kw::Buy(purchase)) = toks.get(to + open).and_then(Tok::kw)
        && amount.buy.is_none()
        && (open == 0 || toks.get(to + 2).is_some_and(|t| t.is_sym(')')))
        && !toks
            .get(to + 1 + open)
            .is_some_and(|t| t.is_sym(':') || matches!(t.t, T::Num(_) | T::Kw(Kw::Currency(_))))
    {
        amount.buy = Some(purchase);
        to += 1 + open * 2;
    }
    let unit = &amount.unit;
    let priced =
        unit.currency.is_some() || unit.period.is_some() || unit.scope.is_some() || unit.thing;
    if !(priced || labelled || cell) {
        return None;
    }
    // `24GB`, `8卡`, `12个月` in a cell or behind a label
    if !priced
        && matches!(
            toks.get(to).and_then(Tok::kw),
            Some(
                Kw::Giga
                    | Kw::Tera
                    | Kw::Core
                    | Kw::Gbps
                    | Kw::Scope(_)
                    | Kw::Period(_)
                    | Kw::Thing
                    | Kw::Times
            )
        )
        && !(cell && at == 0 && matches!(toks.get(to).and_then(Tok::kw), Some(Kw::Period(_))))
    {
        return None;
    }
    amount.from = back;
    amount.to = to;
    Some(amount)
}

/// A dash that belongs to the number after it, not between two things.
fn stands_alone(toks: &[Tok], i: usize) -> bool {
    i == 0
        || toks[i - 1].end < toks[i].start
        || matches!(toks[i - 1].t, T::Kw(Kw::Currency(_)) | T::Sym(_))
}

/// Scale, currency and unit after a number; a unit alone in brackets counts too.
fn tail(toks: &[Tok], mut at: usize, amount: &mut Amount) -> usize {
    let plain = amount.unit.currency.is_some();
    let apart = toks
        .get(at)
        .is_some_and(|n| n.wide && toks[at - 1].end < n.start);
    at = unit_at(
        toks,
        at,
        plain && !apart && !counts(toks, at),
        &mut amount.unit,
    );
    if toks.get(at).is_some_and(|t| t.is_sym('(')) && amount.unit.period.is_none() {
        let mut unit = amount.unit;
        let end = unit_at(toks, at + 1, true, &mut unit);
        if end > at + 1 && toks.get(end).is_some_and(|t| t.is_sym(')')) {
            amount.unit = unit;
            at = unit_at(toks, end + 1, false, &mut amount.unit);
        }
    }
    at
}

/// `¥5 8卡` or `$3 x`: the word counts something, it is no unit.
fn counts(toks: &[Tok], at: usize) -> bool {
    matches!(
        toks.get(at).and_then(Tok::kw),
        Some(Kw::Giga | Kw::Tera | Kw::Core | Kw::Disk | Kw::Net | Kw::Gbps)
    )
}

fn upper(toks: &[Tok], at: usize) -> Option<(Option<Fixed>, usize)> {
    let joins = |t: &Tok| matches!(t.t, T::Sym('-' | '~') | T::Kw(Kw::To));
    if !toks.get(at).is_some_and(joins) {
        return None;
    }
    let mut at = at + 1;
    while toks
        .get(at)
        .is_some_and(|t| matches!(t.t, T::Kw(Kw::Currency(_)) | T::Sym('~' | '-')))
    {
        at += 1;
    }
    match toks.get(at)?.t {
        T::Num(n) => Some((n, at + 1)),
        _ => None,
    }
}
