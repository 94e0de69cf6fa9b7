//! What changed between two catalogs: prices that came, went, or moved.

use lessee_model::offer::machine_label;
use lessee_model::{Catalog, Money, Offer, Price, Purchase};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// JSON of `catalog diff -o json`: `lessee/catalog-diff/v1`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DiffDoc {
    pub schema: String,
    pub added: Vec<Change>,
    pub removed: Vec<Change>,
    /// Largest move first.
    pub changed: Vec<Change>,
    pub unchanged: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// `provider/instance_type@region`
    pub key: String,
    pub purchase: Purchase,
    pub old: Option<Money>,
    pub new: Option<Money>,
    /// Per cent of the old price; null where it is 0 or the currencies differ.
    pub percent: Option<f64>,
    /// What the machine was, if it is another one now.
    pub old_machine: Option<String>,
    pub machine: String,
}

type Key<'a> = (&'a str, &'a str, &'a str, Purchase);

/// Compares by key and way of paying. Where one catalog has a key twice, its cheapest price counts.
pub fn diff(old: &Catalog, new: &Catalog) -> DiffDoc {
    let (before, after) = (prices(old), prices(new));
    let mut out = DiffDoc {
        schema: "lessee/catalog-diff/v1".to_owned(),
        added: Vec::new(),
        removed: Vec::new(),
        changed: Vec::new(),
        unchanged: 0,
    };
    let change = |offer: &Offer, purchase, machine: String| Change {
        key: offer.key(),
        purchase,
        old: None,
        new: None,
        percent: None,
        old_machine: None,
        machine,
    };
    for (key, (offer, price)) in &after {
        let machine = machine_label(new.machine(offer));
        let entry = change(offer, key.3, machine.clone());
        let Some((old_offer, old_price)) = before.get(key) else {
            out.added.push(Change {
                new: Some(price.per_hour),
                ..entry
            });
            continue;
        };
        let old_machine = machine_label(old.machine(old_offer));
        let other = old_machine != machine;
        if old_price.per_hour == price.per_hour && !other {
            out.unchanged += 1;
            continue;
        }
        out.changed.push(Change {
            old: Some(old_price.per_hour),
            new: Some(price.per_hour),
            percent: percent(old_price.per_hour, price.per_hour),
            old_machine: other.then_some(old_machine),
            ..entry
        });
    }
    for (key, (offer, price)) in &before {
        if !after.contains_key(key) {
            out.removed.push(Change {
                old: Some(price.per_hour),
                ..change(offer, key.3, machine_label(old.machine(offer)))
            });
        }
    }
    let size = |c: &Change| c.percent.map_or(f64::INFINITY, f64::abs);
    out.changed.sort_by(|a, b| size(b).total_cmp(&size(a)));
    out
}

fn prices(catalog: &Catalog) -> BTreeMap<Key<'_>, (&Offer, &Price)> {
    let mut out: BTreeMap<Key<'_>, (&Offer, &Price)> = BTreeMap::new();
    for offer in &catalog.offers {
        for price in &offer.prices {
            let key = (
                &*offer.provider,
                &*offer.instance_type,
                &*offer.region,
                price.purchase,
            );
            let entry = out.entry(key).or_insert((offer, price));
            if price.per_hour.amount < entry.1.per_hour.amount {
                *entry = (offer, price);
            }
        }
    }
    out
}

fn percent(old: Money, new: Money) -> Option<f64> {
    (old.currency == new.currency && !old.amount.is_zero())
        .then(|| (new.amount.to_f64() / old.amount.to_f64() - 1.0) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_found_with_their_size() {
        let old = crate::builtin().expect("facts").catalog;
        let mut new = old.clone();
        let gone = new.offers.remove(7);
        let money = &mut new.offers[100].prices[0].per_hour;
        money.amount = money.amount.times("1.5".parse().expect("number"));
        let (same, doc) = (diff(&old, &old), diff(&old, &new));
        assert_eq!(
            (same.added.len(), same.removed.len(), same.changed.len()),
            (0, 0, 0)
        );
        assert_eq!(doc.removed[0].key, gone.key());
        assert_eq!((doc.added.len(), doc.changed.len()), (0, 1));
        assert!((doc.changed[0].percent.expect("percent") - 50.0).abs() < 1e-9);
        assert_eq!(diff(&new, &old).added[0].key, gone.key());
    }
}
