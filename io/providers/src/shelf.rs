//! Where a provider's file puts what it read: offers by type and region, the tally of what was dropped.
//! It checks what holds for every feed: a price is more than zero, names are names, a region was asked for.

use crate::json::is_name;
use crate::skip::{Skip, Tally};
use crate::{FetchedOffer, PriceApi};
use lessee_model::{
    AsOf, Basis, Confidence, Currency, Fixed, Machine, MachineId, Money, Offer, Origin, Price,
    Provenance, Purchase, glob_match,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One price of a machine somewhere, as read.
pub(crate) struct Priced<'m> {
    pub(crate) instance_type: &'m str,
    pub(crate) region: &'m str,
    pub(crate) purchase: Purchase,
    /// For the whole machine and one hour, in USD.
    pub(crate) usd_per_hour: Fixed,
    pub(crate) machine: &'m Machine,
    pub(crate) note: Option<&'m str>,
    /// `None` = as the feed states it.
    pub(crate) why: Option<Arc<Provenance>>,
}

pub(crate) struct Shelf<'a> {
    api: &'static PriceApi,
    regions: &'a [String],
    why: Arc<Provenance>,
    provider: Arc<str>,
    origin: Origin,
    offers: BTreeMap<(String, String), FetchedOffer>,
    pub(crate) tally: Tally,
}

impl<'a> Shelf<'a> {
    pub(crate) fn new(api: &'static PriceApi, regions: &'a [String], now: AsOf) -> Shelf<'a> {
        Shelf {
            api,
            regions,
            why: Arc::new(Provenance::new(
                Basis::Published,
                Confidence::Verified,
                api.source,
                Some(now),
            )),
            provider: api.name.into(),
            origin: Origin::User(format!("{}-{now}", api.name).into()),
            offers: BTreeMap::new(),
            tally: Tally::default(),
        }
    }

    pub(crate) fn wants_region(&self, region: &str) -> bool {
        region == "*"
            || self.regions.is_empty()
            || self
                .regions
                .iter()
                .any(|pattern| glob_match(pattern, region))
    }

    pub(crate) fn skip(&mut self, reason: Skip, example: &str) {
        self.tally.skip(reason, example);
    }

    /// Source and date of this feed, for a price that follows from it by a rule.
    pub(crate) fn derived(&self, rule: &str, confidence: Confidence) -> Arc<Provenance> {
        Arc::new(Provenance::new(
            Basis::Modelled,
            confidence,
            format!("{}; {rule}", self.api.source),
            self.why.as_of,
        ))
    }

    /// The price of `purchase` taken so far.
    pub(crate) fn price(
        &self,
        instance_type: &str,
        region: &str,
        purchase: Purchase,
    ) -> Option<Fixed> {
        let key = (instance_type.to_owned(), region.to_owned());
        let price = self.offers.get(&key)?.offer.price(purchase)?;
        Some(price.per_hour.amount)
    }

    pub(crate) fn put(&mut self, priced: Priced<'_>) {
        let Priced {
            instance_type,
            region,
            ..
        } = priced;
        if !is_name(instance_type) || !is_name(region) {
            return self.skip(Skip::Unreadable, instance_type);
        }
        if !self.wants_region(region) {
            return self.skip(Skip::OtherRegion, region);
        }
        if priced.usd_per_hour <= Fixed::ZERO {
            return self.skip(Skip::ZeroPrice, instance_type);
        }
        let price = Price {
            purchase: priced.purchase,
            per_hour: Money::new(priced.usd_per_hour, Currency::USD),
            upfront: None,
            high: None,
            tax: self.api.tax,
            why: priced.why.unwrap_or_else(|| self.why.clone()),
        };
        let key = (instance_type.to_owned(), region.to_owned());
        let fetched = self.offers.entry(key).or_insert_with(|| FetchedOffer {
            machine: priced.machine.clone(),
            offer: Offer {
                provider: self.provider.clone(),
                region: region.into(),
                instance_type: instance_type.into(),
                machine: MachineId(0),
                market: self.api.market,
                prices: Vec::new(),
                origin: self.origin.clone(),
                original: None,
                note: priced.note.map(Into::into),
            },
        });
        let prices = &mut fetched.offer.prices;
        match prices.iter_mut().find(|p| p.purchase == price.purchase) {
            None => prices.push(price),
            Some(old) => {
                // the dearer one: a total must not look better than it may turn out
                if price.per_hour.amount > old.per_hour.amount {
                    *old = price;
                }
                self.tally.skip(Skip::Duplicate, instance_type);
            }
        }
    }

    pub(crate) fn into_parts(self) -> (Vec<FetchedOffer>, Tally) {
        let mut offers: Vec<FetchedOffer> = self.offers.into_values().collect();
        for fetched in &mut offers {
            fetched.offer.prices.sort_by_key(|p| p.purchase);
        }
        (offers, self.tally)
    }
}
