//! Marginal volume tariffs: every tier's price holds for the part of the volume inside its bounds.
//!
//! The monthly free allowance takes the first units off the bill and leaves the bounds where they are, as
//! AWS bills it: of 10 TB = 10,240 GB with 100 GB free, 10,140 GB cost the first tier's price. Allowance and
//! tiers are those of one month; a longer run starts again every month. Not here: which tariff applies
//! (`tariff.rs`).

use lessee_model::tariff::{Tier, Tiers};
use lessee_model::{Currency, Fixed, Money};

/// The part of a volume that falls into one tier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TierPart {
    /// In the tariff's unit (GB or GiB).
    pub quantity: Fixed,
    /// Per unit; zero for the free allowance.
    pub price: Money,
    /// False beyond the last published bound: nobody said what that part costs, and `price` is the last
    /// published one, an upper bound as long as prices fall with volume.
    pub published: bool,
}

/// Months in each of which the same volume moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MonthVolume {
    /// How many such months.
    pub months: u64,
    /// In each of them, in the tariff's unit.
    pub volume: Fixed,
    /// Units at the start of each that cost nothing.
    pub free: Fixed,
}

/// Cuts a volume into its tiers, lowest first, and hands each part to `each`; `free` units at the start cost
/// nothing. The quantities add up to the volume exactly.
#[inline]
pub fn tier_parts(tiers: &[Tier], volume: Fixed, free: Fixed, each: impl FnMut(TierPart)) {
    let once = MonthVolume {
        months: 1,
        volume,
        free,
    };
    monthly_tier_parts(tiers, &[once], each);
}

/// The same over several months: each month starts again at the first tier, and the parts that fall into the
/// same tier are handed over as one, so that quantity x price stays exact. (A callback, not an iterator: this
/// is the inner loop of screening.)
#[inline]
pub fn monthly_tier_parts(tiers: &[Tier], parts: &[MonthVolume], mut each: impl FnMut(TierPart)) {
    let Some(last) = tiers.last() else {
        return;
    };
    // what of all months lies between two bounds; `None` = without end
    let between = |from: Fixed, to: Option<Fixed>| {
        let mut sum = Fixed::ZERO;
        for part in parts {
            let end = to.map_or(part.volume, |to| to.min(part.volume));
            let start = from.max(part.free);
            if end > start {
                sum += times(end - start, part.months);
            }
        }
        sum
    };
    let mut hand_over = |quantity: Fixed, price: Money, published: bool| {
        if quantity > Fixed::ZERO {
            each(TierPart {
                quantity,
                price,
                published,
            });
        }
    };
    let mut free = Fixed::ZERO;
    for part in parts {
        let units = part.free.min(part.volume).max(Fixed::ZERO);
        free += times(units, part.months);
    }
    hand_over(free, Money::zero(last.price.currency), true);
    let mut at = Fixed::ZERO;
    for tier in tiers {
        hand_over(between(at, tier.to), tier.price, true);
        let Some(to) = tier.to else {
            return;
        };
        at = to;
    }
    hand_over(between(at, None), last.price, false);
}

fn times(x: Fixed, n: u64) -> Fixed {
    Fixed::from_raw(x.raw().saturating_mul(i128::from(n)))
}

/// What a volume costs, in the tariff's currency: the sum of its parts. The part beyond the last published
/// bound is not in it (see [`TierPart::published`]).
pub fn tiered_cost(tiers: &Tiers, volume: Fixed, allowance_left: Fixed) -> Money {
    let currency = tiers
        .tiers
        .first()
        .map_or(Currency::USD, |t| t.price.currency);
    let mut sum = Fixed::ZERO;
    tier_parts(&tiers.tiers, volume, allowance_left, |part| {
        if part.published {
            sum += part.price.amount.times(part.quantity);
        }
    });
    Money::new(sum, currency)
}
