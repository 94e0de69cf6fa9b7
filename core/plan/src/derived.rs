//! Prices that no row of the catalog states: spot modelled from an advisor's savings, and commitments whose
//! discount the provider publishes for GPU machines. Both are marked as modelled wherever they appear.

use lessee_cost::commitment_discount;
use lessee_model::tariff::AdvisorRow;
use lessee_model::{Basis, Catalog, Confidence, Fixed, Price, Provenance, Purchase, TariffBook};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Derived prices, and which offer (by index) has which of them.
#[derive(Default)]
pub(crate) struct Derived {
    pub prices: Vec<Price>,
    pub of_offer: HashMap<u32, Vec<u32>>,
}

pub(crate) fn derive(catalog: &Catalog, tariffs: &TariffBook) -> Derived {
    let advisor: HashMap<(&str, &str, &str), &AdvisorRow> = tariffs
        .advisor
        .iter()
        .map(|row| ((&*row.provider, &*row.region, &*row.instance_type), row))
        .collect();
    let advised: HashSet<&str> = tariffs.advisor.iter().map(|row| &*row.provider).collect();
    let committed: HashSet<&str> = tariffs
        .commitments
        .iter()
        .filter(|r| r.gpu_specific && r.discount.is_some())
        .map(|r| &*r.provider)
        .collect();
    let mut out = Derived::default();
    for (index, offer) in catalog.offers.iter().enumerate() {
        let (advised, committed) = (
            advised.contains(&*offer.provider),
            committed.contains(&*offer.provider),
        );
        if !advised && !committed {
            continue;
        }
        let Some(on_demand) = offer.price(Purchase::OnDemand) else {
            continue;
        };
        let mut add = |price: Price| {
            out.of_offer
                .entry(index as u32)
                .or_default()
                .push(out.prices.len() as u32);
            out.prices.push(price);
        };
        if advised
            && offer.price(Purchase::Spot).is_none()
            && let Some(row) =
                advisor.get(&(&*offer.provider, &*offer.region, &*offer.instance_type))
            && let Some(rest) = Fixed::from_f64(1.0 - row.savings_pct / 100.0)
        {
            let source = format!("{} % below on demand: {}", row.savings_pct, row.why.source);
            add(Price {
                purchase: Purchase::Spot,
                per_hour: on_demand.per_hour.times(rest),
                high: on_demand.high.map(|h| h.times(rest)),
                why: Arc::new(weaker(source.into(), &on_demand.why, &row.why)),
                ..on_demand.clone()
            });
        }
        for purchase in [Purchase::Month, Purchase::Year1, Purchase::Year3] {
            if committed
                && offer.price(purchase).is_none()
                && let Some(discount) = commitment_discount(tariffs, &offer.provider, purchase)
                && let Some(rest) = Fixed::from_f64(1.0 - discount.discount.value)
            {
                let theirs = &discount.discount.why;
                let why = weaker(theirs.source.clone(), &on_demand.why, theirs);
                add(Price {
                    purchase,
                    per_hour: on_demand.per_hour.times(rest),
                    high: on_demand.high.map(|h| h.times(rest)),
                    upfront: discount.upfront.map(|share| share as f32),
                    why: Arc::new(why),
                    ..on_demand.clone()
                });
            }
        }
    }
    out
}

/// A derived price is no better founded than the weaker of its two sources, and no younger than the older.
fn weaker(source: Arc<str>, a: &Provenance, b: &Provenance) -> Provenance {
    let as_of = match (a.as_of, b.as_of) {
        (Some(x), Some(y)) => Some(if x.earliest() <= y.earliest() { x } else { y }),
        _ => None,
    };
    Provenance::new(
        Basis::Modelled,
        a.confidence.max(b.confidence).max(Confidence::Secondary),
        source,
        as_of,
    )
}
