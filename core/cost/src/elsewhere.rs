//! Ranges over all providers, for what one provider does not publish: an unknown line says "between a and b
//! elsewhere". The bounds always come from the tariff rows, never from code.

use crate::sources;
use lessee_model::tariff::{BootRow, BootTime, StorageRow, TariffBook};
use lessee_model::{Basis, Confidence, Fixed, Known, Money, Msg, Provenance, Sourced, Unknown};

/// Lowest and highest of some prices, in the currency in which most of them are quoted.
fn range(prices: impl Iterator<Item = Money>) -> Option<(Money, Money)> {
    let prices: Vec<Money> = prices.collect();
    let count = |m: &Money| prices.iter().filter(|p| p.currency == m.currency).count();
    let main = prices
        .iter()
        .max_by_key(|m| (count(m), std::cmp::Reverse(m.currency)))?
        .currency;
    let same = || prices.iter().filter(|p| p.currency == main);
    let low = same().min_by_key(|m| m.amount)?;
    let high = same().max_by_key(|m| m.amount)?;
    Some((*low, *high))
}

pub(crate) fn unknown(
    id: &'static str,
    provider: &str,
    prices: impl Iterator<Item = Money>,
) -> Unknown {
    let bounds = range(prices);
    Unknown {
        reason: Msg::new(id).arg("provider", provider),
        low: bounds.map(|b| b.0),
        high: bounds.map(|b| b.1),
        why: bound(sources::ELSEWHERE),
    }
}

/// The source of a range that is lessee's own reasoning.
pub(crate) fn bound(source: &'static str) -> Provenance {
    Provenance::new(Basis::Modelled, Confidence::Unverified, source, None)
}

/// A zero that nobody verified says nothing about what anybody charges; any other value widens the range.
fn says_something(price: Money, why: &Provenance) -> bool {
    why.confidence < Confidence::Unverified || !price.amount.is_zero()
}

/// Traffic and address prices of one scope, all providers.
pub(crate) fn egress_prices(book: &TariffBook, scope: &str) -> impl Iterator<Item = Money> {
    book.egress
        .iter()
        .filter(move |r| *r.scope == *scope && says_something(r.price, &r.why))
        .map(|r| r.price)
}

/// Storage prices of one kind, all providers' default products, per GB-month or 1,000 requests.
pub(crate) fn storage_prices(book: &TariffBook, kind: &str) -> impl Iterator<Item = Money> {
    book.storage
        .iter()
        .filter(move |r| *r.kind == *kind && r.default && says_something(r.price, &r.why))
        .map(per_unit)
}

/// A row's price with TB brought down to GB.
pub(crate) fn per_unit(row: &StorageRow) -> Money {
    if row.unit.starts_with("TB") {
        let thousandth = Fixed::from_raw(Fixed::ONE.raw() / 1000);
        row.price.times(thousandth)
    } else {
        row.price
    }
}

/// Smallest and largest billing step over all providers.
pub(crate) fn rounding(book: &TariffBook) -> Option<(u32, u32)> {
    let steps = || {
        book.billing
            .iter()
            .filter_map(|r| Some(r.increment_s?.max(r.minimum_s.unwrap_or(0))))
    };
    let low = book.billing.iter().filter_map(|r| r.increment_s).min()?;
    Some((low, steps().max()?))
}

/// Boot time of a GPU machine: as measured at this provider, else with a CPU machine of the provider, else
/// the middle of the providers that were measured, marked as assumed, so that no provider gains by having
/// no figures.
pub(crate) fn boot(book: &TariffBook, provider: &str) -> Known<BootTime> {
    let time = |r: &BootRow| BootTime {
        p50_s: r.p50_s,
        p90_s: r.p90_s.max(r.p50_s),
    };
    let own = |kind: &str| {
        book.boot
            .iter()
            .find(|r| *r.provider == *provider && *r.kind == *kind)
    };
    if let Some(row) = own("gpu") {
        return Ok(Sourced::new(time(row), row.why.clone()));
    }
    if let Some(row) = own("cpu") {
        let why = Provenance {
            confidence: Confidence::Unverified,
            ..row.why.clone()
        };
        return Ok(Sourced::new(time(row), why));
    }
    let mut others: Vec<&BootRow> = book.boot.iter().filter(|r| *r.kind == *"gpu").collect();
    others.sort_by(|a, b| a.p50_s.total_cmp(&b.p50_s));
    let Some(middle) = others.get(others.len() / 2) else {
        return Err(Unknown::because(
            Msg::new("cost-unknown-boot").arg("provider", provider),
        ));
    };
    let p90_s = others.iter().map(|r| r.p90_s).fold(middle.p50_s, f64::max);
    Ok(Sourced::new(
        BootTime {
            p50_s: middle.p50_s,
            p90_s,
        },
        Provenance::new(
            Basis::Assumed,
            Confidence::Unverified,
            format!("{}; {}", sources::BOOT_ELSEWHERE, middle.why.source),
            middle.why.as_of,
        ),
    ))
}
