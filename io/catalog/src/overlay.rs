//! One catalog laid over another: what the upper one states, the lower one no longer does.
//!
//! An offer without any price gives way to one of the same key, whichever side that is on.
//! Identifiers of machines in the lower catalog stay valid; machines that are in both are shared.

use crate::CatalogBuilder;
use lessee_model::{Catalog, MachineId, Offer};
use std::collections::HashMap;

/// Lays `top` over `base`. Prices of `base` that `top` states as well are dropped.
pub(crate) fn overlay(mut base: Catalog, top: Catalog) -> Catalog {
    let mut gone = vec![false; base.offers.len()];
    let mut unneeded = vec![false; top.offers.len()];
    // the index is built over the smaller side: usually 3,000 built-in offers under 128,000 of the user's
    if base.offers.len() <= top.offers.len() {
        let index = index(&base.offers);
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (over, offer) in (0u32..).zip(&top.offers) {
            for at in index.get(&key_hash(offer)).into_iter().flatten() {
                if same_key(&base.offers[*at as usize], offer) {
                    pairs.push((*at, over));
                }
            }
        }
        for (at, over) in pairs {
            let (at, over) = (at as usize, over as usize);
            let under = &mut base.offers[at];
            (gone[at], unneeded[over]) = cover(under, &top.offers[over], gone[at]);
        }
    } else {
        let index = index(&top.offers);
        for (at, offer) in base.offers.iter_mut().enumerate() {
            for over in index.get(&key_hash(offer)).into_iter().flatten() {
                let over = *over as usize;
                if same_key(offer, &top.offers[over]) {
                    (gone[at], unneeded[over]) = cover(offer, &top.offers[over], gone[at]);
                }
            }
        }
    }
    let mut gone = gone.into_iter();
    base.offers.retain(|_| gone.next() == Some(false));
    let mut machines = CatalogBuilder::new();
    for machine in base.machines {
        machines.machine(machine);
    }
    let ids: Vec<MachineId> = top
        .machines
        .into_iter()
        .map(|m| machines.machine(m))
        .collect();
    base.offers.reserve_exact(top.offers.len());
    let kept = top.offers.into_iter().zip(unneeded);
    base.offers
        .extend(kept.filter(|(_, out)| !out).map(|(mut offer, _)| {
            offer.machine = ids[offer.machine.0 as usize];
            offer
        }));
    Catalog {
        machines: machines.finish().machines,
        offers: base.offers,
    }
}

/// Takes from `under` the prices that `over` states as well. Whether the one and the other has to go:
/// the upper if it has no price at all, the lower if none is left to it.
fn cover(under: &mut Offer, over: &Offer, gone: bool) -> (bool, bool) {
    if over.prices.is_empty() {
        return (gone, true);
    }
    under.prices.retain(|p| over.price(p.purchase).is_none());
    (under.prices.is_empty(), false)
}

fn index(offers: &[Offer]) -> HashMap<u64, Vec<u32>> {
    let mut out: HashMap<u64, Vec<u32>> = HashMap::with_capacity(offers.len());
    for (i, offer) in offers.iter().enumerate() {
        out.entry(key_hash(offer)).or_default().push(i as u32);
    }
    out
}

fn same_key(a: &Offer, b: &Offer) -> bool {
    a.instance_type == b.instance_type && a.region == b.region && a.provider == b.provider
}

/// Eight bytes a step: an index over the keys of large catalogs is built on every start.
fn key_hash(offer: &Offer) -> u64 {
    let mut sum = 0u64;
    for part in [&offer.provider, &offer.region, &offer.instance_type] {
        for chunk in part.as_bytes().chunks(8) {
            let mut word = [0u8; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            sum =
                (sum.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
        sum ^= part.len() as u64;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use lessee_model::Purchase;

    #[test]
    fn an_offer_without_a_price_gives_way_to_one_of_its_key() {
        let facts = crate::builtin().expect("facts");
        let priced = Catalog {
            machines: facts.catalog.machines.clone(),
            offers: facts.catalog.offers[..3].to_vec(),
        };
        let mut bare = priced.clone();
        for offer in &mut bare.offers {
            offer.prices.clear();
        }
        let small = Catalog {
            machines: bare.machines.clone(),
            offers: bare.offers[..1].to_vec(),
        };
        for (base, top) in [(&priced, &bare), (&bare, &priced), (&priced, &small)] {
            let both = overlay(base.clone(), top.clone());
            assert_eq!(both.offers.len(), 3);
            assert!(
                both.offers
                    .iter()
                    .all(|o| o.price(Purchase::OnDemand).is_some())
            );
        }
        // and stays where nothing else is known of it
        let empty = Catalog {
            machines: Vec::new(),
            offers: Vec::new(),
        };
        assert_eq!(overlay(empty.clone(), bare.clone()).offers.len(), 3);
        assert_eq!(overlay(bare, empty).offers.len(), 3);
    }
}
