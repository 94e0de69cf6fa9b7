//! A line of running text, cut into clauses and parts, each part with its prices judged.

use super::ask;
use super::facts::{self, Facts};
use super::lex::{T, Tok};
use super::offer::{mismatch, scaled};
use super::price::{Amount, amounts};
use super::prose::{LONG, Spoken, remember};
use super::row::{self, Around};
use super::settle::{Doc, Draft, Found, close, settle};
use super::unit::{Unit, unit_of};
use super::vocab::Kw;
use lessee_model::Fixed;

pub(crate) struct Clause {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) amounts: Vec<Amount>,
}

/// A part of a clause with its prices.
pub(crate) struct Group {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) amounts: Vec<Amount>,
}

pub(crate) struct Line<'a> {
    pub(crate) raw: &'a str,
    pub(crate) text: &'a str,
    pub(crate) toks: &'a [Tok],
    /// Of the whole line, so that a label before a colon is seen: `合同总金额：¥96 万元`.
    pub(crate) amounts: Vec<Amount>,
    pub(crate) number: u64,
    pub(crate) unit: Option<Unit>,
    pub(crate) not_machine: bool,
}

/// `...；燧原 S60 2.00（元/时）`: a unit alone in the last brackets is the unit of every bare number.
pub(crate) fn trailing_unit(toks: &[Tok]) -> Option<Unit> {
    if !toks.last()?.is_sym(')') {
        return None;
    }
    let open = toks.iter().rposition(|t| t.is_sym('('))?;
    let inner = &toks[open + 1..toks.len() - 1];
    let only_words = inner
        .iter()
        .all(|t| matches!(t.t, T::Kw(_) | T::Sym('/' | '·' | '-')));
    let unit = unit_of(inner, &[]);
    (only_words && unit.period.is_some()).then_some(unit)
}

impl Line<'_> {
    fn slice(&self, from: usize, to: usize) -> &str {
        match (
            self.toks.get(from),
            to.checked_sub(1).and_then(|i| self.toks.get(i)),
        ) {
            (Some(a), Some(b)) if a.start < b.end => &self.text[a.start..b.end],
            _ => "",
        }
    }

    fn facts(&self, from: usize, to: usize, amounts: &[Amount]) -> Facts {
        let base = self.toks[from].start;
        let shifted: Vec<Tok> = self.toks[from..to]
            .iter()
            .map(|t| Tok {
                t: t.t.clone(),
                start: t.start - base,
                end: t.end - base,
                wide: t.wide,
            })
            .collect();
        let local: Vec<Amount> = amounts
            .iter()
            .map(|a| Amount {
                from: a.from - from,
                to: a.to - from,
                ..a.clone()
            })
            .collect();
        facts::read(self.slice(from, to), &shifted, &local)
    }

    /// Amounts of a stretch, with token numbers of the whole line.
    fn amounts(&self, from: usize, to: usize) -> Vec<Amount> {
        let first = self.amounts.partition_point(|a| a.to <= from);
        let mut list: Vec<Amount> = self.amounts[first..]
            .iter()
            .take_while(|a| a.to <= to)
            .cloned()
            .collect();
        if list.is_empty() && self.unit.is_some() {
            // bare figures under a common unit: behind the name of the GPU
            list = amounts(&self.toks[from..to], true);
            list.retain(|a| a.from > 0);
            for a in &mut list {
                a.from += from;
                a.to += from;
            }
        }
        for a in &mut list {
            a.from = a.from.max(from);
            if let Some(unit) = &self.unit {
                a.unit = a.unit.or(unit);
            }
        }
        list
    }

    /// Clauses, and what holds for all of them.
    pub(crate) fn clauses(&self) -> (Vec<Clause>, Facts) {
        let toks = self.toks;
        let mut clauses = Vec::new();
        let mut shared = Facts::default();
        let mut from = 0;
        // what stands before the first colon, if it is no price itself
        let colon = toks.iter().take(24).position(|t| t.is_sym(':'));
        if let Some(colon) = colon.filter(|c| *c > 0)
            && self.amounts.first().is_none_or(|a| a.to > colon)
            && toks[..colon]
                .iter()
                .all(|t| !t.is_sym(';') && !t.is_sym('。'))
            && toks.get(colon + 1).is_none_or(|t| {
                t.start > toks[colon].end
                    || !matches!(t.t, T::Num(_))
                    || !matches!(toks[colon - 1].t, T::Gpu(_))
            })
        {
            shared = self.facts(0, colon, &[]);
            from = colon + 1;
        }
        let mut at = from;
        while at <= toks.len() {
            let end = toks.get(at).is_none_or(|t| {
                matches!(t.t, T::Sym(';' | '。'))
                    || t.is_sym('.') && toks.get(at + 1).is_none_or(|n| n.start > t.end)
            });
            if end {
                if at > from {
                    let amounts = self.amounts(from, at);
                    if amounts.is_empty() {
                        let f = self.facts(from, at, &[]);
                        merge(&mut shared, f);
                    }
                    clauses.push(Clause {
                        from,
                        to: at,
                        amounts,
                    });
                }
                from = at + 1;
            }
            at += 1;
        }
        // `excl. VAT` may have been cut at its point
        shared.tax = shared.tax.or_else(|| facts::read(self.text, &[], &[]).tax);
        if ![
            "日期", "报价", "as of", "as-of", "quoted", "updated", "更新",
        ]
        .iter()
        .any(|w| self.text.contains(w))
        {
            shared.date = None;
        }
        (clauses, shared)
    }

    pub(crate) fn groups(&self, clause: &Clause) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        if clause.amounts.is_empty() {
            return groups;
        }
        let mut left = clause.amounts.iter().cloned().peekable();
        let mut part = clause.from;
        let mut open: Option<Group> = None;
        let mut depth = 0i32;
        for at in clause.from..=clause.to {
            let tok = self.toks.get(at).filter(|_| at < clause.to);
            match tok.map(|t| &t.t) {
                Some(T::Sym('(')) => depth += 1,
                Some(T::Sym(')')) => depth -= 1,
                _ => {}
            }
            let cut = tok.is_none_or(|t| depth <= 0 && matches!(t.t, T::Sym(',' | '、' | '|')));
            if !cut {
                continue;
            }
            let mut here = Vec::new();
            while left.peek().is_some_and(|a| a.from < at) {
                here.extend(left.next());
            }
            let inside = here.iter().any(|a| a.to > at);
            if inside || part >= at && here.is_empty() {
                if let Some(open) = &mut open {
                    open.amounts.extend(here);
                    open.to = at;
                }
                part = at + 1;
                continue;
            }
            let begins = open.as_ref().is_some_and(|o| !o.amounts.is_empty())
                && !here.is_empty()
                && here.iter().all(|a| !a.total)
                && (self.distinct(part, at, &here)
                    || open
                        .as_ref()
                        .is_some_and(|o| self.counts_differ(o, part, at, &here)));
            if begins {
                groups.extend(open.take());
            }
            match &mut open {
                Some(open) => {
                    open.to = at;
                    open.amounts.extend(here);
                }
                None => {
                    open = Some(Group {
                        from: part,
                        to: at,
                        amounts: here,
                    })
                }
            }
            part = at + 1;
        }
        groups.extend(open);
        groups.retain(|g| !g.amounts.is_empty());
        groups
    }

    /// `1x $2.99/hr, 8x $23.92/hr`
    fn counts_differ(&self, open: &Group, from: usize, to: usize, amounts: &[Amount]) -> bool {
        let new = self.facts(from, to, amounts).counts;
        let old = self.facts(open.from, open.to, &open.amounts).counts;
        !new.is_empty() && !old.is_empty() && new != old
    }

    /// A part with a price and a subject of its own is an offer of its own.
    fn distinct(&self, from: usize, to: usize, amounts: &[Amount]) -> bool {
        let f = self.facts(from, to, amounts);
        !f.gpus.is_empty()
            || f.modelish.is_some()
            || f.provider.is_some()
            || f.region.is_some()
            || f.purchase.is_some()
            || f.subscription
            || !f.terms.is_empty()
            || amounts.iter().any(|a| a.label.is_some() || a.buy.is_some())
    }

    pub(crate) fn draft(&self, from: usize, to: usize) -> Draft {
        let original = if self.raw.len() <= LONG {
            self.raw.trim()
        } else {
            super::fold::clip_bytes(self.slice(from, to), LONG)
        };
        Draft {
            line: self.number,
            original: original.to_owned(),
            ..Draft::default()
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn settle_group(
        &self,
        group: Group,
        last: &mut Facts,
        shared: &Facts,
        around: &Around,
        spoken: &mut Spoken,
        doc: &Doc<'_>,
        found: &mut Found,
    ) {
        let mut draft = self.draft(group.from, group.to);
        let mut f = self.facts(group.from, group.to, &group.amounts);
        let skip: Vec<(usize, usize)> = group
            .amounts
            .iter()
            .map(|a| (a.from - group.from, a.to - group.from))
            .collect();
        let hint = unit_of(&self.toks[group.from..group.to], &skip);
        let own_gpu = !f.gpus.is_empty() || f.modelish.is_some();
        let machine_words = hint.scope.is_some()
            || self.toks[group.from..group.to].iter().any(|t| {
                matches!(
                    t.kw(),
                    Some(
                        Kw::Scope(_)
                            | Kw::Price
                            | Kw::Label(_)
                            | Kw::Single
                            | Kw::Subscription
                            | Kw::Buy(_)
                            | Kw::Total
                    )
                )
            });
        let own_provider = f.provider.is_some();
        f.month_hours = f.month_hours.or(shared.month_hours);
        // a date in passing does not date the price
        f.date = None;
        row::fill(&mut f, shared);
        f.region = f.region.or_else(|| shared.region.clone());
        f.loose_number |= shared.loose_number && shared.counts.is_empty() && !own_gpu;
        if !own_gpu && f.gpus.is_empty() {
            f.gpus = last.gpus.clone();
            f.gpu_memory_gb = f.gpu_memory_gb.or(last.gpu_memory_gb);
            f.modelish = last.modelish.clone();
            f.memory_conflict |= last.memory_conflict;
            if f.counts.is_empty() && !f.single && !own_provider {
                f.counts = last.counts.clone();
                f.count_at_gpu = last.count_at_gpu;
            }
        }
        let mut spoke = None;
        if f.gpus.is_empty()
            && f.modelish.is_none()
            && !self.not_machine
            && !f.not_machine
            && machine_words
            && !spoken.several
            && let Some((known, at)) = &spoken.facts
        {
            row::fill(&mut f, known);
            spoke = Some(*at);
        }
        if !self.not_machine {
            row::fill(&mut f, &around.facts);
        } else if f.provider.is_none() {
            f.provider = around.facts.provider.clone();
        }
        f.not_machine |= self.not_machine;
        let (totals, prices): (Vec<Amount>, Vec<Amount>) = group
            .amounts
            .into_iter()
            .partition(|a| a.total && a.unit.period.is_none() && a.label.is_none());
        let relevant = !f.gpus.is_empty() || f.modelish.is_some();
        if prices.is_empty() && !totals.is_empty() {
            self.contract_total(&totals, &draft, found);
            return;
        }
        let mut exact: Vec<Amount> = prices;
        for a in &mut exact {
            a.unit = a.unit.or(&hint).or(&around.unit);
        }
        // `1 万/卡/月，8 卡，共 8 万/月`
        if exact.len() > 1 && exact.iter().any(|a| !a.total) {
            draft.total = exact
                .iter()
                .find(|a| a.total)
                .cloned()
                .or_else(|| totals.first().cloned());
            exact.retain(|a| !a.total);
        } else {
            draft.total = totals.first().cloned();
        }
        if !relevant {
            let spoken_of = [
                "gpu",
                "显卡",
                "算力",
                "服务器",
                "server",
                "node",
                "instance",
                "整机",
                "机器",
            ]
            .iter()
            .any(|w| self.slice(group.from, group.to).contains(w));
            let thing = exact.iter().all(|a| a.unit.thing);
            if spoken_of && !f.not_machine && !thing {
                found.ask(&draft, ask::gpu_missing());
            } else {
                found.ignored_lines += 1;
            }
            return;
        }
        *last = f.clone();
        remember(&f, self.number, spoken);
        if let Some(at) = spoke {
            draft.notes.push(format!("GPU: line {at}"));
        }
        draft.prices = exact.into_iter().map(|a| row::plain_priced(a, 0)).collect();
        draft.facts = f;
        settle(draft, doc, found);
    }

    /// A total of a contract is compared with the machines read before it.
    fn contract_total(&self, totals: &[Amount], draft: &Draft, found: &mut Found) {
        let Some(total) = totals.first() else { return };
        let stated = scaled(total, total.value);
        let sums: Vec<Fixed> = found
            .monthly
            .iter()
            .flat_map(|(month, term)| {
                let n = Fixed::from_int(i64::from(*term));
                [month.amount, month.amount.times(n)]
            })
            .collect();
        if sums.is_empty() || sums.iter().any(|s| close(*s, stated)) {
            found.ignored_lines += 1;
            return;
        }
        let computed = sums.last().copied().unwrap_or_default();
        found.ask(draft, mismatch(stated, computed));
    }
}

fn merge(into: &mut Facts, f: Facts) {
    if into.gpus.is_empty() {
        into.gpus = f.gpus;
    }
    into.modelish = into.modelish.take().or(f.modelish);
    into.gpu_memory_gb = into.gpu_memory_gb.or(f.gpu_memory_gb);
    into.counts.extend(f.counts);
    into.counts.sort_unstable();
    into.counts.dedup();
    into.count_at_gpu |= f.count_at_gpu;
    into.single |= f.single;
    into.whole |= f.whole;
    into.machines = into.machines.or(f.machines);
    into.provider = into.provider.take().or(f.provider);
    into.region = into.region.take().or(f.region);
    into.purchase = into.purchase.or(f.purchase);
    into.subscription |= f.subscription;
    into.rhythm |= f.rhythm;
    into.memory_conflict |= f.memory_conflict;
    into.terms.extend(f.terms);
    into.terms.sort_unstable();
    into.terms.dedup();
    into.tax = into.tax.or(f.tax);
    into.on_request |= f.on_request;
    into.date = into.date.or(f.date);
    into.month_hours = into.month_hours.or(f.month_hours);
    into.loose_number |= f.loose_number;
    into.loose_figure |= f.loose_figure;
}
