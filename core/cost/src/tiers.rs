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

/// Cuts a volume into its tiers, lowest first; `free` units at the start cost nothing. The quantities add
/// up to the volume exactly.
pub fn tier_parts(tiers: &[Tier], volume: Fixed, free: Fixed) -> impl Iterator<Item = TierPart> {
    let free = free.max(Fixed::ZERO).min(volume.max(Fixed::ZERO));
    let currency = tiers.first().map_or(Currency::USD, |t| t.price.currency);
    let allowance = TierPart {
        quantity: free,
        price: Money::zero(currency),
        published: true,
    };
    let inside = tiers.iter().map(move |tier| TierPart {
        quantity: tier.to.map_or(volume, |to| to.min(volume)) - tier.from.max(free),
        price: tier.price,
        published: true,
    });
    let beyond = tiers.last().and_then(|last| {
        Some(TierPart {
            quantity: volume - last.to?.max(free),
            price: last.price,
            published: false,
        })
    });
    std::iter::once(allowance)
        .chain(inside)
        .chain(beyond)
        .filter(|part| part.quantity > Fixed::ZERO)
}

/// What a volume costs, in the tariff's currency: the sum of its parts. The part beyond the last published
/// bound is not in it (see [`TierPart::published`]).
pub fn tiered_cost(tiers: &Tiers, volume: Fixed, allowance_left: Fixed) -> Money {
    let currency = tiers
        .tiers
        .first()
        .map_or(Currency::USD, |t| t.price.currency);
    tier_parts(&tiers.tiers, volume, allowance_left)
        .filter(|part| part.published)
        .fold(Money::zero(currency), |sum, part| {
            Money::new(sum.amount + part.price.amount.times(part.quantity), currency)
        })
}
