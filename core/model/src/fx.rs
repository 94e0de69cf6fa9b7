//! Exchange: only by rates that the user gave, each with its date. There is no built-in rate.

use crate::{AsOf, Currency, Fixed, Money, MoneyError, Msg};
use jiff::civil::Date;
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

    /// The first thing that is wrong with the rates, as a message: a rate from a currency to itself, of a day
    /// that has not come, given twice, or so far from what the others say (more than `gap`, as a share) that
    /// the answer would depend on which of them is taken.
    pub fn defect(&self, today: Date, gap: f64) -> Option<Msg> {
        self.rates.iter().enumerate().find_map(|(i, rate)| {
            let before = &self.rates[..i];
            let (from, to) = (rate.from, rate.to);
            let pair = |id| {
                Msg::new(id)
                    .arg("from", from.as_str())
                    .arg("to", to.as_str())
            };
            if from == to {
                return Some(pair("rate-to-itself"));
            }
            if rate.as_of.earliest() > today {
                return Some(pair("rate-in-future").arg("date", rate.as_of.to_string()));
            }
            if before.iter().any(|r| r.from == from && r.to == to) {
                return Some(pair("rate-twice"));
            }
            // what the earlier rates already say of the two, by themselves or through a third currency
            let known = Fx {
                rates: before.to_vec(),
            };
            let other = known.rate(from, to).ok()?.to_f64();
            let apart = (rate.rate / other - 1.0).abs();
            (!apart.is_finite() || apart > gap).then(|| {
                pair("rate-contradiction")
                    .arg("rate", rate.rate)
                    .arg("other", other)
            })
        })
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

    fn rate(from: &str, to: &str, rate: f64, day: &str) -> FxRate {
        FxRate {
            from: from.parse().expect("code"),
            to: to.parse().expect("code"),
            rate,
            as_of: day.parse().expect("date"),
            source: None,
        }
    }

    #[test]
    fn rates_that_do_not_agree_are_named() {
        let today = jiff::civil::date(2026, 11, 30);
        let day = "2026-11-28";
        let defect = |rates: Vec<FxRate>| {
            let found = Fx { rates }.defect(today, 0.05);
            found.map(|msg| msg.id.to_string())
        };
        let usd_cny = || rate("USD", "CNY", 7.0, day);
        assert_eq!(defect(vec![usd_cny()]), None);
        // bank's buying and selling rates differ a little
        assert_eq!(defect(vec![usd_cny(), rate("CNY", "USD", 0.14, day)]), None);
        for (second, wanted) in [
            (rate("USD", "CNY", 7.0, day), "rate-twice"),
            (rate("USD", "CNY", 7.1, "2026-11-27"), "rate-twice"),
            (rate("CNY", "USD", 7.0, day), "rate-contradiction"),
            (rate("EUR", "EUR", 1.0, day), "rate-to-itself"),
            (rate("EUR", "USD", 1.1, "2026-12-01"), "rate-in-future"),
        ] {
            assert_eq!(defect(vec![usd_cny(), second]).as_deref(), Some(wanted));
        }
        // around three corners
        let two = || vec![usd_cny(), rate("EUR", "USD", 1.1, day)];
        let close = [two(), vec![rate("EUR", "CNY", 7.7, day)]].concat();
        assert_eq!(defect(close), None);
        let far = [two(), vec![rate("EUR", "CNY", 6.0, day)]].concat();
        assert_eq!(defect(far).as_deref(), Some("rate-contradiction"));
    }

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
