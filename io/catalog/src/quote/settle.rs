//! From what was read to an offer per instance-hour, or to the question that stands in its way.
//!
//! Nothing is guessed here. A price is an offer or a question; only where a GPU is sold with several
//! memories is it both: the offer is kept as unverified and the question asks to confirm it.

use super::ask::{self, Ask, QuoteQuestion};
use super::facts::{Facts, Tax};
use super::identify;
use super::names::Names;
use super::offer::offer;
use super::price::Amount;
use super::validity;
use jiff::civil::Date;
use lessee_model::quote::QuotedOffer;
use lessee_model::{AsOf, Confidence, Currency, Fixed, Money, Purchase};

/// What holds for the whole text.
pub(crate) struct Doc<'a> {
    pub(crate) names: &'a Names<'a>,
    pub(crate) month_hours: u32,
    pub(crate) month_stated: bool,
    pub(crate) default_provider: Option<String>,
    pub(crate) default_currency: Option<Currency>,
    /// Currencies written anywhere in the text.
    pub(crate) seen: Vec<Currency>,
    pub(crate) as_of: Option<AsOf>,
    pub(crate) today: Option<Date>,
    pub(crate) confidence: Confidence,
    /// Months of a contract, where one clause states the term of all.
    pub(crate) term: Option<u32>,
}

/// One amount with what its column or label says of it.
#[derive(Clone, Debug)]
pub(crate) struct Priced {
    pub(crate) amount: Amount,
    pub(crate) purchase: Option<Purchase>,
    pub(crate) term: Option<u32>,
    /// From a column called 单价 or unit price.
    pub(crate) unit_price: bool,
    pub(crate) list_price: bool,
    pub(crate) tax: Option<Tax>,
    pub(crate) cell: usize,
}

/// Everything read about one machine before it is judged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) line: u64,
    pub(crate) original: String,
    pub(crate) facts: Facts,
    pub(crate) prices: Vec<Priced>,
    pub(crate) total: Option<Amount>,
    /// What stands where the GPU should.
    pub(crate) gpu_text: String,
    /// From a row of a table or a list: silence about it would be a loss.
    pub(crate) in_table: bool,
    pub(crate) instance_type: Option<String>,
    /// A type of machine is named or described, so the price is of the machine.
    pub(crate) instance_named: bool,
    /// The name comes from a column of items, where services stand too.
    pub(crate) item: bool,
    /// 数量 without a word of what.
    pub(crate) quantity: Option<u32>,
    /// The count is taken from it: cards or machines?
    pub(crate) soft_count: bool,
    /// The whole column of it reads as sizes of machines: where machines are priced, it counts cards.
    pub(crate) counts_cards: bool,
    pub(crate) currency: Option<Currency>,
    /// A price column holds something that is no number.
    pub(crate) unreadable: bool,
    pub(crate) notes: Vec<String>,
}

/// What an import has found so far.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) offers: Vec<QuotedOffer>,
    pub(crate) questions: Vec<QuoteQuestion>,
    pub(crate) ignored_lines: u64,
    /// Price of a machine a month and its term, for the totals that a contract states later.
    pub(crate) monthly: Vec<(Money, u32)>,
}

impl Found {
    pub(crate) fn ask(&mut self, draft: &Draft, ask: Ask) {
        let question = ask.at(draft.line, &draft.original, false);
        // two cells of a row with the same doubt are one question
        if self.questions.last() != Some(&question) {
            self.questions.push(question);
        }
    }
}

/// Judges a draft.
pub(crate) fn settle(mut draft: Draft, doc: &Doc<'_>, found: &mut Found) {
    if draft.prices.is_empty() {
        if draft.facts.on_request && (draft.in_table || !draft.facts.gpus.is_empty()) {
            found.ask(&draft, ask::on_request());
        } else if draft.unreadable {
            found.ask(&draft, ask::number_unreadable());
        } else {
            found.ignored_lines += 1;
        }
        return;
    }
    let things = draft.prices.iter().filter(|p| p.amount.unit.thing).count();
    draft.prices.retain(|p| !p.amount.unit.thing);
    if draft.prices.is_empty() {
        if things > 0 && (draft.in_table || !draft.facts.gpus.is_empty()) {
            found.ask(&draft, ask::not_a_machine());
        } else {
            found.ignored_lines += 1;
        }
        return;
    }
    if draft.facts.on_request && draft.in_table {
        found.ask(&draft, ask::on_request());
    }
    let mut confirm = Vec::new();
    let picked = pick(&draft, found);
    if picked.is_empty() {
        return;
    }
    let Some(gpu) = identify::gpu(&draft, doc, found, &mut confirm) else {
        return;
    };
    let mut made: Vec<QuotedOffer> = Vec::new();
    let mut clashing: Vec<Purchase> = Vec::new();
    for priced in &picked {
        match offer(&draft, priced, &picked, &gpu, doc) {
            Ok(offer) => match made.iter().find(|o| o.purchase == offer.purchase) {
                None => made.push(offer),
                Some(same) if nearly(same.price, offer.price) => {}
                Some(_) => clashing.push(offer.purchase),
            },
            Err(ask) => found.ask(&draft, ask),
        }
    }
    for purchase in clashing {
        if made.iter().any(|o| o.purchase == purchase) {
            made.retain(|o| o.purchase != purchase);
            found.ask(&draft, ask::price_conflict());
        }
    }
    if made.is_empty() {
        return;
    }
    let dated = draft.facts.date.or(doc.as_of);
    confirm.extend(draft.facts.date_unread.then(ask::date_unclear));
    confirm.extend(validity::in_future(draft.facts.date, doc.today));
    confirm.extend(validity::expired(dated, draft.facts.valid, doc.today));
    confirm.dedup_by(|a, b| a.code == b.code);
    for offer in &mut made {
        if !confirm.is_empty() {
            offer.confidence = Confidence::Unverified;
        }
    }
    for ask in confirm {
        found
            .questions
            .push(ask.at(draft.line, &draft.original, true));
    }
    for offer in made {
        let month = Money::new(
            offer
                .price
                .amount
                .times(Fixed::from_int(i64::from(doc.month_hours))),
            offer.price.currency,
        );
        let term = one(&draft.facts.terms).or(doc.term).unwrap_or(1);
        if found.monthly.len() < 64 {
            found.monthly.push((month, term));
        }
        found.offers.push(offer);
    }
}

fn nearly(a: Money, b: Money) -> bool {
    a.currency == b.currency && close(a.amount, b.amount)
}

/// Equal within half a percent: totals are rounded by hand.
pub(crate) fn close(a: Fixed, b: Fixed) -> bool {
    let (x, y) = (a.to_f64(), b.to_f64());
    (x - y).abs() <= 0.005 * x.abs().max(y.abs())
}

pub(crate) fn one(list: &[u32]) -> Option<u32> {
    match list {
        [n] => Some(*n),
        _ => None,
    }
}

/// The exact amounts of each cell or clause; asks about the others.
fn pick(draft: &Draft, found: &mut Found) -> Vec<Priced> {
    let mut out: Vec<Priced> = Vec::new();
    let mut cells: Vec<usize> = draft.prices.iter().map(|p| p.cell).collect();
    cells.dedup();
    for cell in cells {
        let here = || draft.prices.iter().filter(move |p| p.cell == cell);
        let exact = |p: &&Priced| !p.amount.approx && !p.amount.bound && !p.amount.range;
        let first = here().find(exact);
        for p in here() {
            let a = &p.amount;
            // `$0.50/h (~¥3.5)`: the second only translates the first
            let aside = first.is_some_and(|f| {
                a.from != f.amount.from
                    && a.in_brackets
                    && (a.unit.currency != f.amount.unit.currency || !exact(&p))
            });
            if aside {
                continue;
            }
            let ask = if a.value.is_none() {
                Some(ask::number_unreadable())
            } else if a.range {
                Some(
                    ask::range()
                        .arg("low", plain(a.value))
                        .arg("high", plain(a.high)),
                )
            } else if a.bound {
                Some(ask::from_price())
            } else if a.approx {
                Some(ask::approximate())
            } else if a.negative {
                Some(ask::price_negative())
            } else if a.value.is_some_and(Fixed::is_zero) {
                Some(ask::price_zero())
            } else {
                None
            };
            match ask {
                // both of `~$0.20 (~¥1.4)` are one doubt
                Some(ask)
                    if found
                        .questions
                        .last()
                        .is_some_and(|q| q.line == draft.line && q.code == ask.code) => {}
                Some(ask) => found.ask(draft, ask),
                None => out.push(p.clone()),
            }
        }
        let currency = |p: &Priced| p.amount.unit.currency;
        let kept: Vec<&Priced> = out.iter().filter(|p| p.cell == cell).collect();
        let conflict = kept.windows(2).any(|w| {
            currency(w[0]).is_some() && currency(w[1]).is_some() && currency(w[0]) != currency(w[1])
        });
        if conflict {
            out.retain(|p| p.cell != cell);
            found.ask(draft, ask::currency_conflict());
        }
    }
    out
}

fn plain(n: Option<Fixed>) -> String {
    n.map(|n| n.to_string()).unwrap_or_default()
}
