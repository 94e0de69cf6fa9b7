//! Marginal volume tariffs: every tier's price holds for the part of the volume inside its bounds.
//!
//! The monthly free allowance takes the first units off the bill and leaves the bounds where they are, as
//! AWS bills it: of 10 TB = 10,240 GB with 100 GB free, 10,140 GB cost the first tier's price. Not here:
//! which tariff applies (`tariff.rs`).

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

/// Cuts a volume into its tiers, lowest first, and hands each part to `each`; `free` units at the start cost
/// nothing. The quantities add up to the volume exactly. (A callback, not an iterator: this is the inner loop
/// of screening.)
#[inline]
pub fn tier_parts(tiers: &[Tier], volume: Fixed, free: Fixed, mut each: impl FnMut(TierPart)) {
    let Some(last) = tiers.last() else {
        return;
    };
    if volume <= Fixed::ZERO {
        return;
    }
    let mut at = Fixed::ZERO;
    if free > Fixed::ZERO {
        at = free.min(volume);
        each(TierPart {
            quantity: at,
            price: Money::zero(last.price.currency),
            published: true,
        });
    }
    for tier in tiers {
        let end = tier.to.map_or(volume, |to| to.min(volume));
        if end > at {
            each(TierPart {
                quantity: end - at,
                price: tier.price,
                published: true,
            });
            at = end;
        }
        if at >= volume {
            return;
        }
    }
    each(TierPart {
        quantity: volume - at,
        price: last.price,
        published: false,
    });
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
