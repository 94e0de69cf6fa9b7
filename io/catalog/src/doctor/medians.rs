//! What a GPU usually costs: the yardstick for prices that cannot be meant.

use super::DoctorRules;
use crate::Facts;
use lessee_model::{AcceleratorClass, Catalog, Currency, Machine, Offer, Origin, Price, Purchase};
use std::collections::{BTreeMap, HashMap};

/// What a GPU usually costs, per whole GPU and hour.
pub(super) struct Medians<'a> {
    /// Median over providers of their own medians.
    by_gpu: HashMap<GpuKey<'a>, f64>,
    /// types alike in all but size -> median over them
    by_family: HashMap<FamilyKey<'a>, f64>,
}

/// model, memory of the whole card in steps of 8 GB, purchase, currency
type GpuKey<'a> = (&'a str, i64, Purchase, Currency);

/// provider, region, family, GPU as in [`GpuKey`], CPUs per GPU as a power of two
type FamilyKey<'a> = (&'a str, &'a str, &'a str, GpuKey<'a>, Option<i32>);

impl<'a> Medians<'a> {
    pub(super) fn of(catalog: &'a Catalog, facts: &'a Facts, rules: &DoctorRules) -> Medians<'a> {
        let mut by_provider: HashMap<_, BTreeMap<&str, Vec<f64>>> = HashMap::new();
        let mut types: HashMap<FamilyKey<'a>, BTreeMap<&str, f64>> = HashMap::new();
        for (catalog, own) in [(&facts.catalog, false), (catalog, true)] {
            for offer in &catalog.offers {
                // the built-in prices stand in `catalog` too, unless it is a file alone
                let machine = catalog.machine(offer);
                for price in &offer.prices {
                    let Some(each) = per_gpu(machine, price) else {
                        continue;
                    };
                    if own != (offer.origin == Origin::BuiltIn) {
                        by_provider
                            .entry(gpu_key(machine, price))
                            .or_default()
                            .entry(&offer.provider)
                            .or_default()
                            .push(each);
                    }
                    if own {
                        types
                            .entry(family_key(offer, machine, price))
                            .or_default()
                            .insert(&offer.instance_type, each);
                    }
                }
            }
        }
        let by_gpu = by_provider
            .into_iter()
            .filter(|(_, providers)| providers.len() >= rules.bid_floor.min_providers)
            .filter_map(|(key, providers)| {
                let medians = providers.into_values().filter_map(median).collect();
                Some((key, median(medians)?))
            })
            .collect();
        let by_family = types
            .into_iter()
            .filter(|(_, types)| types.len() >= rules.family.min_types)
            .filter_map(|(key, types)| Some((key, median(types.into_values().collect())?)))
            .collect();
        Medians { by_gpu, by_family }
    }

    /// The usual price if this one is far below it.
    pub(super) fn bid_floor(
        &self,
        machine: &Machine,
        price: &Price,
        rules: &DoctorRules,
    ) -> Option<f64> {
        let each = per_gpu(machine, price)?;
        let usual = *self.by_gpu.get(&gpu_key(machine, price))?;
        (each < usual * rules.bid_floor.share_of_median).then_some(usual)
    }

    pub(super) fn odd_in_family(
        &self,
        offer: &Offer,
        machine: &Machine,
        price: &Price,
        rules: &DoctorRules,
    ) -> bool {
        let Some(each) = per_gpu(machine, price) else {
            return false;
        };
        self.by_family
            .get(&family_key(offer, machine, price))
            .is_some_and(|usual| {
                each < usual * rules.family.low || each > usual * rules.family.high
            })
    }
}

fn per_gpu(machine: &Machine, price: &Price) -> Option<f64> {
    let gpus = machine.gpu_equivalents();
    let amount = price.per_hour.amount.to_f64();
    (machine.class == AcceleratorClass::Gpu && gpus > 0.0 && amount > 0.0).then(|| amount / gpus)
}

fn gpu_key<'a>(machine: &'a Machine, price: &Price) -> GpuKey<'a> {
    // of a slice the memory of the whole card, to the next 8 GB: 80 and 79.6 are one product
    let whole = machine.gpu.memory_gb.unwrap_or(0.0) / f64::from(machine.gpu_fraction);
    (
        &*machine.gpu.model,
        (whole / 8.0).round() as i64,
        price.purchase,
        price.per_hour.currency,
    )
}

fn family_key<'a>(offer: &'a Offer, machine: &'a Machine, price: &Price) -> FamilyKey<'a> {
    (
        &*offer.provider,
        &*offer.region,
        family(&offer.instance_type),
        gpu_key(machine, price),
        machine
            .vcpus
            .filter(|cpus| *cpus > 0.0)
            .map(|cpus| (f64::from(cpus) / machine.gpu_equivalents()).log2().round() as i32),
    )
}

/// The series in a type's name: `g5` of `g5.48xlarge`, `Standard_ND` of `Standard_ND96isr_H100_v5`.
fn family(instance_type: &str) -> &str {
    let mut head = instance_type;
    if let Some(rest) = instance_type.strip_prefix("Standard_") {
        let letters = rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        return &rest[..letters];
    }
    if let Some(rest) = head.strip_prefix("ecs.") {
        head = rest;
    }
    let end = head.find(['.', '-', '_', ' ']).unwrap_or(head.len());
    &head[..end]
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => values.get(n / 2).copied(),
        _ => Some((values[n / 2 - 1] + values[n / 2]) / 2.0),
    }
}
