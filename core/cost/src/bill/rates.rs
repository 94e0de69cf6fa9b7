//! The user's exchange rates, looked up once per case, with what was spent in each foreign currency.

use lessee_model::{Currency, Fixed, Fx, Money};

/// A short list: the first four inline, more only where a bill really meets more.
#[derive(Clone, Debug)]
pub(crate) struct Few<T> {
    first: [Option<T>; 4],
    more: Vec<T>,
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Few {
            first: [None, None, None, None],
            more: Vec::new(),
        }
    }
}

impl<T> Few<T> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().flatten().chain(&self.more)
    }

    #[inline]
    pub(crate) fn head(&mut self) -> Option<&mut T> {
        self.first[0].as_mut()
    }

    /// The entry that `is` accepts, or a new one.
    pub(crate) fn entry(&mut self, is: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> &mut T {
        // by index, because a borrow returned early would hold through the insertion below
        for i in 0..self.first.len() {
            match &self.first[i] {
                Some(found) if is(found) => return self.first[i].get_or_insert_with(new),
                Some(_) => {}
                None => return self.first[i].insert(new()),
            }
        }
        let at = match self.more.iter().position(is) {
            Some(at) => at,
            None => {
                self.more.push(new());
                self.more.len() - 1
            }
        };
        &mut self.more[at]
    }
}

/// One foreign currency of a case.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Foreign {
    pub currency: Currency,
    /// Into the bill's currency; `None` = the user gave none, so amounts stay as they are.
    pub rate: Option<Fixed>,
    /// Spent, in the bill's currency.
    pub spent: Fixed,
}

pub(crate) struct Rates<'a> {
    pub to: Currency,
    fx: &'a Fx,
    pub foreign: Few<Foreign>,
}

impl<'a> Rates<'a> {
    pub(crate) fn new(to: Currency, fx: &'a Fx) -> Rates<'a> {
        Rates {
            to,
            fx,
            foreign: Few::default(),
        }
    }

    fn entry(&mut self, currency: Currency) -> &mut Foreign {
        let (to, fx) = (self.to, self.fx);
        self.foreign.entry(
            |f| f.currency == currency,
            || Foreign {
                currency,
                rate: fx.rate(currency, to).ok(),
                spent: Fixed::ZERO,
            },
        )
    }

    /// A price in the bill's currency, or unchanged without a rate.
    #[inline]
    pub(crate) fn convert(&mut self, money: Money) -> Money {
        if money.currency == self.to {
            return money;
        }
        match self.entry(money.currency).rate {
            Some(rate) => Money::new(money.amount.times(rate), self.to),
            None => money,
        }
    }

    /// Notes that `amount` was paid in `original` currency.
    #[inline]
    pub(crate) fn spent(&mut self, original: Currency, amount: Money) {
        if original != self.to && amount.currency == self.to {
            self.entry(original).spent += amount.amount;
        }
    }
}
