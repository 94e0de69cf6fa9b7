//! Where lines go: added up, or added up and kept. See the module head of `bill` for why there are two.

use super::rates::Few;
use lessee_model::{BillLine, Currency, Money};

/// One sum per currency.
#[derive(Clone, Debug, Default)]
pub struct SmallTotals(Few<Money>);

impl SmallTotals {
    #[inline]
    pub(crate) fn add(&mut self, money: Money) {
        // nearly every bill has a single currency
        if let Some(sum) = self.0.head()
            && sum.currency == money.currency
        {
            sum.amount += money.amount;
            return;
        }
        let sum = self.0.entry(
            |m| m.currency == money.currency,
            || Money::zero(money.currency),
        );
        sum.amount += money.amount;
    }

    /// In the order in which the currencies first appeared.
    pub fn iter(&self) -> impl Iterator<Item = Money> {
        self.0.iter().copied()
    }

    /// The sum in one currency; zero if nothing was spent in it.
    pub fn of(&self, currency: Currency) -> Money {
        self.iter()
            .find(|m| m.currency == currency)
            .unwrap_or(Money::zero(currency))
    }

    /// The total, if nothing is left in another currency.
    pub fn only(&self, currency: Currency) -> Option<Money> {
        self.iter()
            .all(|m| m.currency == currency)
            .then(|| self.of(currency))
    }
}

/// Receives the lines of a bill in order. A line's text is only built by who wants it.
pub(crate) trait Sink {
    fn known(&mut self, amount: Money, line: impl FnOnce() -> BillLine);
    fn unknown(&mut self, line: impl FnOnce() -> BillLine);
}

/// Adds and forgets.
#[derive(Default)]
pub(crate) struct Adder {
    pub totals: SmallTotals,
    pub at_least: bool,
}

impl Sink for Adder {
    #[inline]
    fn known(&mut self, amount: Money, _: impl FnOnce() -> BillLine) {
        self.totals.add(amount);
    }
    #[inline]
    fn unknown(&mut self, _: impl FnOnce() -> BillLine) {
        self.at_least = true;
    }
}

/// Adds and keeps.
#[derive(Default)]
pub(crate) struct Recorder {
    pub adder: Adder,
    pub lines: Vec<BillLine>,
}

impl Sink for Recorder {
    fn known(&mut self, amount: Money, line: impl FnOnce() -> BillLine) {
        let line = line();
        self.adder.totals.add(amount);
        self.lines.push(line);
    }
    fn unknown(&mut self, line: impl FnOnce() -> BillLine) {
        self.adder.at_least = true;
        self.lines.push(line());
    }
}
