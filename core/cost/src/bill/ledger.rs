//! The book that a bill is written in: turns quantity and price into a line in the bill's currency and keeps
//! the sums on which support, tax and exchange depend.

use super::Case;
use super::rates::Rates;
use super::sink::{Sink, SmallTotals};
use lessee_model::{BillLine, Fixed, LineKind, Money, Msg, Provenance, Quantified, Unknown};
use std::borrow::Cow;

/// What a line counts towards.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    /// The provider's charges, on which a support plan is a share.
    pub spend: bool,
    /// Tax comes on top.
    pub taxable: bool,
    /// Paid to somebody else, so that a foreign amount passes through the bank.
    pub paid: bool,
}

impl Class {
    /// Storage, traffic, requests, addresses: price lists are before tax.
    pub(crate) const PROVIDER: Class = Class {
        spend: true,
        taxable: true,
        paid: true,
    };
    /// The machine itself under a price that includes tax.
    pub(crate) const TAX_INCLUDED: Class = Class {
        taxable: false,
        ..Class::PROVIDER
    };
    /// Licences and the support plan.
    pub(crate) const OTHER: Class = Class {
        spend: false,
        ..Class::PROVIDER
    };
    /// Own people, tax and bank: nothing comes on top.
    pub(crate) const OWN: Class = Class {
        spend: false,
        taxable: false,
        paid: false,
    };
}

/// How much of what.
#[derive(Clone, Copy)]
pub(crate) struct Amount {
    pub quantity: Fixed,
    pub unit: &'static str,
}

pub(crate) struct Ledger<'a, S> {
    pub sink: S,
    pub rates: Rates<'a>,
    /// Charges of the provider so far.
    pub spend: SmallTotals,
    /// What tax comes on top of, so far.
    pub taxable: SmallTotals,
    /// Whether anybody will ask for the two sums.
    needs_spend: bool,
    needs_taxable: bool,
}

impl<'a, S: Sink> Ledger<'a, S> {
    pub(crate) fn new(case: &Case<'a>, sink: S) -> Ledger<'a, S> {
        let money = &case.workload.money;
        Ledger {
            sink,
            rates: Rates::new(money.currency, &money.fx),
            spend: SmallTotals::default(),
            taxable: SmallTotals::default(),
            needs_spend: money.support.is_some(),
            needs_taxable: money.tax > 0.0,
        }
    }

    /// A known line. The unit price is exchanged, not the amount, so that quantity x unit price = amount
    /// holds in the bill's currency. Nothing is written for a quantity of zero.
    #[inline]
    pub(crate) fn charge(
        &mut self,
        class: Class,
        kind: LineKind,
        of: Amount,
        price: Money,
        text: impl FnOnce() -> (Msg, Provenance),
    ) {
        if of.quantity <= Fixed::ZERO {
            return;
        }
        let unit_price = self.rates.convert(price);
        let amount = if unit_price.amount.is_zero() {
            Money::zero(unit_price.currency)
        } else {
            unit_price.times(of.quantity)
        };
        if class.spend && self.needs_spend {
            self.spend.add(amount);
        }
        if class.taxable && self.needs_taxable {
            self.taxable.add(amount);
        }
        if class.paid {
            self.rates.spent(price.currency, amount);
        }
        self.sink.known(amount, || {
            let (what, why) = text();
            BillLine {
                kind,
                what,
                quantity: of.quantity,
                unit: Cow::Borrowed(of.unit),
                unit_price: Some(unit_price),
                amount: Quantified::Known(amount),
                why,
            }
        });
    }

    /// A line whose price nobody published. `unknown` gives the reason, and the range per unit
    /// with its source.
    #[inline]
    pub(crate) fn missing(
        &mut self,
        kind: LineKind,
        of: Amount,
        unknown: impl FnOnce() -> Unknown,
        what: impl FnOnce() -> Msg,
    ) {
        if of.quantity <= Fixed::ZERO {
            return;
        }
        let rates = &mut self.rates;
        self.sink.unknown(|| {
            let unknown = unknown();
            let mut bound =
                |price: Option<Money>| price.map(|p| rates.convert(p).times(of.quantity));
            BillLine {
                kind,
                what: what(),
                quantity: of.quantity,
                unit: Cow::Borrowed(of.unit),
                unit_price: None,
                amount: Quantified::Unknown {
                    low: bound(unknown.low),
                    high: bound(unknown.high),
                    reason: unknown.reason,
                },
                why: unknown.why,
            }
        });
    }
}
