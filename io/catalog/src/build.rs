//! Rows become a catalog: equal strings, machines and provenances are kept once, prices of one place
//! are gathered in one offer.

use lessee_model::{
    AsOf, Catalog, Confidence, Machine, MachineId, Market, Offer, Origin, Price, Provenance,
};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// One price of one machine at one place: what importers produce.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferRow {
    pub provider: Arc<str>,
    /// `*` where the source names none.
    pub region: Arc<str>,
    pub instance_type: Arc<str>,
    pub machine: Machine,
    pub market: Market,
    pub price: Price,
    /// The line of a quote as it was written.
    pub original: Option<Arc<str>>,
    pub note: Option<Arc<str>>,
}

/// Strings kept once.
#[derive(Debug, Default)]
pub(crate) struct Interner(HashSet<Arc<str>>);

impl Interner {
    pub(crate) fn get(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let new: Arc<str> = Arc::from(text);
        self.0.insert(new.clone());
        new
    }

    /// `None` for an empty cell.
    pub(crate) fn opt(&mut self, text: &str) -> Option<Arc<str>> {
        (!text.is_empty()).then(|| self.get(text))
    }
}

/// Collects rows into a [`Catalog`].
#[derive(Debug, Default)]
pub struct CatalogBuilder {
    pub(crate) strings: Interner,
    machines: Vec<Machine>,
    by_hash: HashMap<u64, Vec<u32>>,
    provenances: HashSet<Arc<Provenance>>,
    offers: Vec<Offer>,
    /// provider, region, instance type -> offers of that key (one per machine)
    by_key: HashMap<u64, Vec<u32>>,
}

impl CatalogBuilder {
    pub fn new() -> CatalogBuilder {
        CatalogBuilder::default()
    }

    /// The identifier of a machine; equal machines share one.
    pub fn machine(&mut self, machine: Machine) -> MachineId {
        let hash = hash_machine(&machine);
        let same = self.by_hash.entry(hash).or_default();
        for id in same.iter() {
            if self.machines[*id as usize] == machine {
                return MachineId(*id);
            }
        }
        let id = self.machines.len() as u32;
        same.push(id);
        self.machines.push(machine);
        MachineId(id)
    }

    pub(crate) fn provenance(&mut self, why: Provenance) -> Arc<Provenance> {
        if let Some(known) = self.provenances.get(&why) {
            return known.clone();
        }
        let new = Arc::new(why);
        self.provenances.insert(new.clone());
        new
    }

    /// Adds one price. It joins the offer of the same key, machine and origin if there is one.
    pub fn push(&mut self, row: OfferRow, origin: &Origin) {
        let machine = self.machine(row.machine);
        let offer = Offer {
            provider: self.strings.get(&row.provider),
            region: self.strings.get(&row.region),
            instance_type: self.strings.get(&row.instance_type),
            machine,
            market: row.market,
            prices: vec![Price {
                why: self.provenance((*row.price.why).clone()),
                ..row.price
            }],
            origin: origin.clone(),
            original: row.original.map(|t| self.strings.get(&t)),
            note: row.note.map(|t| self.strings.get(&t)),
        };
        self.push_offer(offer);
    }

    /// Adds an offer whose machine came from [`CatalogBuilder::machine`].
    pub(crate) fn push_offer(&mut self, mut offer: Offer) {
        let mut hasher = DefaultHasher::new();
        offer.provider.hash(&mut hasher);
        offer.region.hash(&mut hasher);
        offer.instance_type.hash(&mut hasher);
        let same = self.by_key.entry(hasher.finish()).or_default();
        for id in same.iter() {
            let there = &mut self.offers[*id as usize];
            let joins = there.machine == offer.machine
                && there.provider == offer.provider
                && there.region == offer.region
                && there.instance_type == offer.instance_type
                && there.market == offer.market
                && there.origin == offer.origin
                && (offer.market == Market::Quote
                    || there.original == offer.original && there.note == offer.note)
                && offer
                    .prices
                    .iter()
                    .all(|p| there.price(p.purchase).is_none());
            if joins {
                // lines of a quote for one machine: every price keeps its line
                there.original = both(there.original.take(), offer.original, "\n");
                there.note = both(there.note.take(), offer.note, "; ");
                there.prices.append(&mut offer.prices);
                return;
            }
        }
        same.push(self.offers.len() as u32);
        self.offers.push(offer);
    }

    pub fn finish(self) -> Catalog {
        Catalog {
            machines: self.machines,
            offers: self.offers,
        }
    }
}

/// Two texts as one, a text that is already there not twice.
fn both(old: Option<Arc<str>>, new: Option<Arc<str>>, between: &str) -> Option<Arc<str>> {
    match (old, new) {
        (Some(old), Some(new)) if !old.contains(&*new) => {
            Some(Arc::from(format!("{old}{between}{new}")))
        }
        (old, new) => old.or(new),
    }
}

fn hash_machine(m: &Machine) -> u64 {
    let mut h = DefaultHasher::new();
    let float = |x: Option<f32>| x.map(f32::to_bits);
    m.class.hash(&mut h);
    m.gpu.model.hash(&mut h);
    m.gpu.form.hash(&mut h);
    m.gpu.memory_gb.map(f64::to_bits).hash(&mut h);
    m.gpu_count.hash(&mut h);
    m.gpu_fraction.to_bits().hash(&mut h);
    m.usable_mib_each.hash(&mut h);
    (float(m.vcpus), float(m.memory_gib), float(m.local_disk_gb)).hash(&mut h);
    (float(m.network_gbps), m.interconnect, float(m.link_gbs)).hash(&mut h);
    (&m.rdma, &m.arch, &m.gpu_access, &m.status).hash(&mut h);
    h.finish()
}

/// The weaker of two confidences: a price is no better known than the machine it buys.
pub(crate) fn weaker(a: Confidence, b: Confidence) -> Confidence {
    a.max(b)
}

/// The later of two dates, where there are any.
pub(crate) fn newer(a: Option<AsOf>, b: Option<AsOf>) -> Option<AsOf> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if a.earliest() >= b.earliest() { a } else { b }),
        (a, b) => a.or(b),
    }
}
