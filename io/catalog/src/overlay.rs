//! One catalog laid over another: what the upper one states, the lower one no longer does.
//!
//! Identifiers of machines in the lower catalog stay valid; machines that are in both are shared.

use crate::CatalogBuilder;
use lessee_model::{Catalog, MachineId, Offer, Purchase};
use std::collections::HashMap;

/// Lays `top` over `base`. Prices of `base` that `top` states as well are dropped.
pub(crate) fn overlay(mut base: Catalog, top: Catalog) -> Catalog {
    // the index is built over the smaller side: usually 3,000 built-in offers under 128,000 of the user's
    if base.offers.len() <= top.offers.len() {
        let index = index(&base.offers);
        let mut taken: Vec<(u32, Purchase)> = Vec::new();
        for offer in &top.offers {
            for at in index.get(&key_hash(offer)).into_iter().flatten() {
                if same_key(&base.offers[*at as usize], offer) {
                    taken.extend(offer.prices.iter().map(|p| (*at, p.purchase)));
                }
            }
        }
        for (at, purchase) in taken {
            base.offers[at as usize]
                .prices
                .retain(|p| p.purchase != purchase);
        }
    } else {
        let index = index(&top.offers);
        for offer in &mut base.offers {
            for at in index.get(&key_hash(offer)).into_iter().flatten() {
                let over = &top.offers[*at as usize];
                if same_key(offer, over) {
                    offer.prices.retain(|p| over.price(p.purchase).is_none());
                }
            }
        }
    }
    base.offers.retain(|o| !o.prices.is_empty());
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
    base.offers.extend(top.offers.into_iter().map(|mut offer| {
        offer.machine = ids[offer.machine.0 as usize];
        offer
    }));
    Catalog {
        machines: machines.finish().machines,
        offers: base.offers,
    }
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
