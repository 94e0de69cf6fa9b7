//! What a price is per: `万元/台/月` and the like, and how many GPUs the machine of the unit has.

use super::lex::{T, Tok};
use super::vocab::{Kw, Period, Scope};
use lessee_model::{Currency, Fixed};

/// What a unit says: `万元/台/月` is 10,000 CNY per machine and month. Every part may be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Unit {
    pub(crate) currency: Option<Currency>,
    pub(crate) scale: Option<i64>,
    pub(crate) scope: Option<Scope>,
    pub(crate) period: Option<Period>,
    /// Per token, gigabyte, core, frame.
    pub(crate) thing: bool,
    /// GPUs of the machine, of `万元/8卡整机/月`.
    pub(crate) count: Option<u32>,
    /// Two parts contradict each other (`元/时/月`).
    pub(crate) clash: bool,
}

impl Unit {
    /// What this leaves open is filled from `other`.
    pub(crate) fn or(self, other: &Unit) -> Unit {
        Unit {
            currency: self.currency.or(other.currency),
            scale: self.scale.or(other.scale),
            scope: self.scope.or(other.scope),
            period: self.period.or(other.period),
            thing: self.thing || (self.period.is_none() && other.thing),
            count: self.count.or(other.count),
            clash: self.clash || other.clash,
        }
    }

    fn set_period(&mut self, period: Period) {
        self.clash |= self.period.is_some_and(|p| p != period);
        self.period = self.period.or(Some(period));
    }

    fn set_scope(&mut self, scope: Scope) {
        match (self.scope, scope) {
            // `元/8卡整机/月`: the cards say how large the machine is
            (Some(Scope::Gpu), Scope::Machine) if self.count.is_some() => {
                self.scope = Some(Scope::Machine);
            }
            (Some(old), new) if old != new => self.clash = true,
            _ => self.scope = Some(scope),
        }
    }
}

/// A unit from token `at` on; returns where it ends. `open`: the first word needs no `/` before it.
pub(super) fn unit_at(toks: &[Tok], mut at: usize, open: bool, unit: &mut Unit) -> usize {
    let mut linked = open;
    loop {
        let Some(tok) = toks.get(at) else { return at };
        let touching = at == 0 || toks[at - 1].end == tok.start;
        match &tok.t {
            // the point of `元/卡.时`, not the end of a sentence
            T::Sym('.') if !(touching && toks.get(at + 1).is_some_and(|n| n.start == tok.end)) => {
                return at;
            }
            T::Sym('/' | '·' | '.') | T::Kw(Kw::Per) => {
                let mut next = at + 1;
                // `/ 8卡整机 /`, `每1台`
                if let Some(T::Num(Some(n))) = toks.get(next).map(|t| &t.t) {
                    let mut word = next + 1;
                    while toks.get(word).is_some_and(|t| t.is_sym('-')) {
                        word += 1;
                    }
                    match toks.get(word).and_then(Tok::kw) {
                        Some(Kw::Scope(Scope::Gpu)) if *n != Fixed::ONE => {
                            unit.count = count_of(*n);
                            unit.set_scope(Scope::Gpu);
                            at = word + 1;
                            linked = true;
                            continue;
                        }
                        Some(Kw::Scope(_) | Kw::Period(_)) if *n == Fixed::ONE => next = word,
                        // `per 8 nodes per month`, `/ 3 months`: of several at once
                        Some(Kw::Scope(_) | Kw::Period(_)) => {
                            unit.clash = true;
                            at = word + 1;
                            linked = true;
                            continue;
                        }
                        // `/1M tokens`, `per 1k requests`
                        _ if [word, word + 1].iter().any(|i| {
                            matches!(
                                toks.get(*i).and_then(Tok::kw),
                                Some(Kw::Thing | Kw::Giga | Kw::Tera)
                            )
                        }) =>
                        {
                            unit.thing = true;
                            return word + 1;
                        }
                        _ => return at,
                    }
                }
                if !toks.get(next).and_then(Tok::kw).is_some_and(is_unit_word) {
                    let named =
                        !tok.is_sym('.') && matches!(toks.get(next).map(|t| &t.t), Some(T::Gpu(_)));
                    if named {
                        unit.set_scope(Scope::Gpu);
                        at = next + 1;
                        linked = true;
                        continue;
                    }
                    return at;
                }
                at = next;
                linked = true;
                continue;
            }
            T::Sym('-') | T::Kw(Kw::Times)
                if unit.period.is_some() != unit.scope.is_some()
                    && matches!(
                        toks.get(at + 1).and_then(Tok::kw),
                        Some(Kw::Period(_) | Kw::Scope(_))
                    ) =>
            {
                at += 1;
                linked = true;
                continue;
            }
            T::Word(false)
                if linked
                    && unit.period.is_none()
                    && unit.scope.is_none()
                    && toks
                        .get(at + 1)
                        .and_then(Tok::kw)
                        .is_some_and(|k| matches!(k, Kw::Period(_))) =>
            {
                // `$2 an hour`
                at += 1;
                continue;
            }
            // the sign of the next number: `8 $19.92`
            T::Kw(Kw::Currency(_))
                if toks.get(at + 1).is_some_and(|n| {
                    matches!(n.t, T::Num(_)) && n.start == tok.end && tok.end - tok.start < 3
                }) =>
            {
                return at;
            }
            T::Kw(kw) => match kw {
                Kw::Currency(c) if unit.currency.is_none() || unit.currency == Some(*c) => {
                    unit.currency = Some(*c);
                    // `2.49 USD hr` is a rate; `12000元 季付33000元` goes on to something else
                    linked = !toks
                        .get(at + 1)
                        .is_some_and(|n| n.wide && tok.end < n.start);
                }
                Kw::Scale(n) if unit.scale.is_none() && (unit.period.is_none() || linked) => {
                    unit.scale = Some(*n);
                }
                Kw::Period(p) if linked => unit.set_period(*p),
                Kw::Scope(s)
                    if linked || (*s == Scope::Machine && touching && unit.scope.is_some()) =>
                {
                    unit.set_scope(*s);
                }
                Kw::Label(p) if linked && unit.period.is_none() => unit.set_period(*p),
                Kw::Thing | Kw::Core | Kw::Giga | Kw::Tera | Kw::Gbps | Kw::Disk | Kw::Net
                    if linked =>
                {
                    unit.thing = true
                }
                _ => return at,
            },
            // `8万一个月`, folded to `8万1个月`
            T::Num(Some(n))
                if *n == Fixed::ONE
                    && touching
                    && unit.period.is_none()
                    && (unit.currency.is_some() || unit.scale.is_some())
                    && matches!(toks.get(at + 1).and_then(Tok::kw), Some(Kw::Period(_))) =>
            {
                linked = true;
            }
            _ => return at,
        }
        // after `/h` another word needs its own `/`, `per` or must touch (`卡时`, `gpu hour`)
        if matches!(tok.t, T::Kw(Kw::Period(_))) {
            linked = false;
        }
        at += 1;
    }
}

fn is_unit_word(kw: Kw) -> bool {
    matches!(
        kw,
        Kw::Period(_)
            | Kw::Scope(_)
            | Kw::Thing
            | Kw::Core
            | Kw::Giga
            | Kw::Tera
            | Kw::Gbps
            | Kw::Disk
            | Kw::Net
            | Kw::Currency(_)
    )
}

pub(crate) fn count_of(n: Fixed) -> Option<u32> {
    let whole = n.raw() / Fixed::ONE.raw();
    (n.raw() % Fixed::ONE.raw() == 0 && (1..=4096).contains(&whole))
        .then(|| u32::try_from(whole).ok())
        .flatten()
}

/// All of a unit that is spread over a title or a remark: `单价(万元/台/月)`, `每卡每月`, `Price per hour`.
pub(crate) fn unit_of(toks: &[Tok], skip: &[(usize, usize)]) -> Unit {
    let mut unit = Unit::default();
    let mut at = 0;
    while at < toks.len() {
        if let Some((_, end)) = skip.iter().find(|(from, to)| (*from..*to).contains(&at)) {
            at = *end;
            continue;
        }
        let first = &toks[at];
        let end = match &first.t {
            T::Sym('/') | T::Kw(Kw::Per | Kw::Currency(_)) => unit_at(toks, at, true, &mut unit),
            T::Kw(Kw::Scale(_))
                if toks
                    .get(at + 1)
                    .and_then(Tok::kw)
                    .is_some_and(|k| matches!(k, Kw::Currency(_)))
                    || toks.get(at + 1).is_some_and(|t| t.is_sym('/')) =>
            {
                unit_at(toks, at, true, &mut unit)
            }
            T::Kw(Kw::Label(p)) => {
                unit.set_period(*p);
                at + 1
            }
            T::Kw(Kw::Single) => {
                unit.set_scope(Scope::Gpu);
                at + 1
            }
            T::Kw(Kw::Scope(s))
                if toks.get(at + 1).is_some_and(|t| t.is_sym('/'))
                    && toks
                        .get(at + 2)
                        .and_then(Tok::kw)
                        .is_some_and(|k| matches!(k, Kw::Period(_))) =>
            {
                unit.set_scope(*s);
                at + 1
            }
            T::Kw(Kw::Thing) => {
                unit.thing = true;
                at + 1
            }
            _ => at + 1,
        };
        at = end.max(at + 1);
    }
    unit
}
