//! What a run has cost until now, and what it will have cost at a later moment.

use lessee_model::{Fixed, Money};

const HOUR_MS: u64 = 3_600_000;

/// The cap, and what time costs.
#[derive(Clone, Debug)]
pub struct Budget {
    pub cap: Money,
    /// Of all that is billed by time: machine, disks, addresses. In the currency of the cap.
    pub per_hour: Money,
    /// Time is billed in steps of so many seconds, and at least so many.
    pub increment_s: u32,
    pub minimum_s: u32,
    /// Of one byte that leaves for the store.
    pub per_byte_out: Money,
    /// Shares of the cap at which somebody is told, rising: 0.5, 0.8, 1.0.
    pub tell_at: Vec<f64>,
}

/// Spending by time, from when the machine began to be billed.
#[derive(Clone, Debug)]
pub struct Meter {
    budget: Budget,
    /// Of earlier attempts.
    before: Money,
    /// Traffic and requests of this one.
    extras: Money,
    /// On the clock that never jumps; negative where the machine was billed before that clock began.
    billed_from_ms: i64,
}

impl Meter {
    pub fn new(budget: Budget, before: Money, billed_from_ms: i64) -> Meter {
        let extras = Money::zero(budget.cap.currency);
        Meter {
            budget,
            before,
            extras,
            billed_from_ms,
        }
    }

    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Adds traffic or requests.
    pub fn add(&mut self, amount: Money) {
        if amount.currency == self.extras.currency {
            self.extras.amount += amount.amount;
        }
    }

    /// What will have been spent at this time if the machine stops then: time rounded up as it is billed.
    pub fn at(&self, mono_ms: u64) -> Money {
        let now = i64::try_from(mono_ms).unwrap_or(i64::MAX);
        let elapsed = now
            .saturating_sub(self.billed_from_ms)
            .max(0)
            .unsigned_abs();
        let increment = u64::from(self.budget.increment_s.max(1)) * 1000;
        let billed = elapsed
            .max(u64::from(self.budget.minimum_s) * 1000)
            .div_ceil(increment)
            .saturating_mul(increment);
        // exact: a share of an hour in decimals is not
        let whole = self
            .budget
            .per_hour
            .amount
            .raw()
            .checked_mul(i128::from(billed));
        let time = whole.map_or(Fixed::MAX, |raw| Fixed::from_raw(raw / i128::from(HOUR_MS)));
        Money::new(
            self.before.amount + self.extras.amount + time,
            self.budget.cap.currency,
        )
    }

    /// Whether the cap holds if the machine is needed until then and so many bytes still leave it.
    pub fn allows(&self, until_ms: u64, bytes: u64) -> bool {
        let bytes = Fixed::from_f64(bytes as f64).unwrap_or(Fixed::MAX);
        let traffic = self.budget.per_byte_out.times(bytes).amount;
        self.at(until_ms).amount + traffic <= self.budget.cap.amount
    }

    /// How many of the shares in `tell_at` are reached.
    pub fn reached(&self, mono_ms: u64) -> usize {
        let spent = self.at(mono_ms).amount.to_f64();
        let cap = self.budget.cap.amount.to_f64();
        let shares = self.budget.tell_at.iter();
        shares.filter(|share| spent >= **share * cap).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd(text: &str) -> Money {
        text.parse().expect("money")
    }

    fn meter(increment_s: u32, minimum_s: u32) -> Meter {
        let budget = Budget {
            cap: usd("10 USD"),
            per_hour: usd("3.60 USD"),
            increment_s,
            minimum_s,
            per_byte_out: usd("0.0000000001 USD"),
            tell_at: vec![0.5, 0.8, 1.0],
        };
        Meter::new(budget, usd("1 USD"), -60_000)
    }

    #[test]
    fn time_is_rounded_up_as_it_is_billed() {
        let second = meter(1, 0);
        assert_eq!(second.at(0), usd("1.06 USD"));
        assert_eq!(second.at(1), usd("1.061 USD"));
        assert_eq!(second.at(540_000), usd("1.60 USD"));
        let hour = meter(3600, 0);
        assert_eq!(hour.at(0), usd("4.60 USD"));
        assert_eq!(hour.at(3_540_000), usd("4.60 USD"));
        assert_eq!(hour.at(3_540_001), usd("8.20 USD"));
        assert_eq!(meter(1, 600).at(0), usd("1.60 USD"));
    }

    #[test]
    fn the_cap_counts_what_is_still_to_come() {
        let mut meter = meter(3600, 0);
        meter.add(usd("0.40 USD"));
        // 1 + 0.40 + two hours
        assert!(meter.allows(7_000_000, 0));
        assert!(meter.allows(7_000_000, 14_000_000_000));
        assert!(!meter.allows(7_000_000, 14_000_000_001));
        assert!(!meter.allows(7_140_001, 0));
        assert_eq!(meter.reached(0), 1);
        assert_eq!(meter.reached(3_600_000), 2);
    }
}
