//! Exchange: only by rates that the user gave, each with its date. There is no built-in rate.

use crate::{AsOf, Currency, Fixed, Money, MoneyError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One unit of `from` is worth `rate` units of `to`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FxRate {
    pub from: Currency,
    pub to: Currency,
    /// How many `to` one `from` buys.
    pub rate: f64,
    /// The day of the rate.
    pub as_of: AsOf,
    /// Where the rate was read.
    #[serde(default)]
    pub source: Option<String>,
}

/// The user's exchange rates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fx {
    pub rates: Vec<FxRate>,
}

impl Fx {
    /// The rate from one currency to another: given, or the inverse of a given one, or through one
    /// currency in between.
    ///
    /// # Errors
    /// [`MoneyError::NoRate`] if the given rates do not connect the two.
    pub fn rate(&self, from: Currency, to: Currency) -> Result<Fixed, MoneyError> {
        if from == to {
            return Ok(Fixed::ONE);
        }
        let missing = || MoneyError::NoRate { from, to };
        if let Some(rate) = self.direct(from, to) {
            return Fixed::from_f64(rate).ok_or_else(missing);
        }
        for middle in self.rates.iter().flat_map(|r| [r.from, r.to]) {
            if let (Some(a), Some(b)) = (self.direct(from, middle), self.direct(middle, to)) {
                return Fixed::from_f64(a * b).ok_or_else(missing);
            }
        }
        Err(missing())
    }

    fn direct(&self, from: Currency, to: Currency) -> Option<f64> {
        let usable = |x: f64| (x.is_finite() && x > 0.0).then_some(x);
        self.rates
            .iter()
            .find(|r| r.from == from && r.to == to)
            .and_then(|r| usable(r.rate))
            .or_else(|| {
                self.rates
                    .iter()
                    .find(|r| r.from == to && r.to == from)
                    .and_then(|r| usable(1.0 / r.rate))
            })
    }

    /// The rate entry that [`Fx::rate`] would use directly, for the footnote.
    pub fn entry(&self, from: Currency, to: Currency) -> Option<&FxRate> {
        self.rates
            .iter()
            .find(|r| (r.from == from && r.to == to) || (r.from == to && r.to == from))
    }

    /// # Errors
    /// [`MoneyError::NoRate`] without a rate between the two currencies.
    pub fn convert(&self, money: Money, to: Currency) -> Result<Money, MoneyError> {
        if money.currency == to {
            return Ok(money);
        }
        Ok(Money::new(
            money.amount.times(self.rate(money.currency, to)?),
            to,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_forward_back_and_through_a_third() {
        let fx = Fx {
            rates: vec![
                FxRate {
                    from: Currency::USD,
                    to: Currency::CNY,
                    rate: 8.0,
                    as_of: "2026-11-28".parse().expect("date"),
                    source: None,
                },
                FxRate {
                    from: Currency::EUR,
                    to: Currency::USD,
                    rate: 1.25,
                    as_of: "2026-11-28".parse().expect("date"),
                    source: None,
                },
            ],
        };
        let ten: Money = "10 EUR".parse().expect("money");
        assert_eq!(
            fx.convert(ten, Currency::CNY).expect("rate").exact(),
            "100.00"
        );
        let cny: Money = "80 CNY".parse().expect("money");
        assert_eq!(
            fx.convert(cny, Currency::USD).expect("rate").exact(),
            "10.00"
        );
        let gbp: Currency = "GBP".parse().expect("code");
        assert_eq!(
            fx.rate(gbp, Currency::USD),
            Err(MoneyError::NoRate {
                from: gbp,
                to: Currency::USD
            })
        );
    }
}
