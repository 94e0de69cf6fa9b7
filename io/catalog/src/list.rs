//! `catalog list` and `catalog show`: which prices match a filter, cheapest first.

use crate::{CatalogError, Facts};
use lessee_model::gpu::same_memory;
use lessee_model::{
    Bytes, Catalog, Confidence, Currency, GpuFilter, GpuRef, Machine, Money, Offer, Price,
    Purchase, Range, glob_match,
};
use std::collections::HashMap;

/// What the user asked for; an empty filter matches all. Lists match if one of their entries does.
#[derive(Clone, Debug, Default)]
pub struct ListFilter {
    pub gpus: Vec<GpuFilter>,
    /// Nominal memory of one device; 80 GB counts as 80e9 bytes.
    pub gpu_memory: Option<Range<Bytes>>,
    /// Globs over region names, or a continent: `eu`, `na`, `asia`, `cn` ...
    pub regions: Vec<String>,
    /// Keys, names or aliases of providers, or globs over keys.
    pub providers: Vec<String>,
    /// Per instance-hour; prices in other currencies do not match.
    pub max_price: Option<Money>,
    /// `true` = spot only, `false` = no spot.
    pub spot: Option<bool>,
    pub purchases: Vec<Purchase>,
}

/// Matches as indices into [`Catalog::offers`] and [`Offer::prices`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub rows: Vec<(usize, usize)>,
    /// Prices left out by a region filter because their source names no region (`*`).
    pub region_unknown: usize,
}

/// The matching prices. Each currency is a group of its own, the one with most rows first; in a group
/// the cheapest comes first, but what cannot be believed (price 0, a range, unverified) comes last.
///
/// # Errors
/// A GPU name in the filter is not known.
pub fn list(
    catalog: &Catalog,
    facts: &Facts,
    filter: &ListFilter,
) -> Result<Listing, CatalogError> {
    let machines = matching_machines(catalog, facts, filter)?;
    let providers: Vec<String> = filter
        .providers
        .iter()
        .map(|name| {
            facts
                .provider(name)
                .map_or_else(|| name.clone(), |p| p.key.to_string())
        })
        .collect();
    let mut by_provider: HashMap<&str, bool> = HashMap::new();
    let mut by_region: HashMap<(&str, &str), bool> = HashMap::new();
    let mut out = Listing::default();
    for (i, offer) in catalog.offers.iter().enumerate() {
        if !machines[offer.machine.0 as usize] {
            continue;
        }
        let wanted = |price: &Price| matches_price(price, filter);
        if !providers.is_empty()
            && !*by_provider
                .entry(&offer.provider)
                .or_insert_with(|| providers.iter().any(|p| glob_match(p, &offer.provider)))
        {
            continue;
        }
        if !filter.regions.is_empty() {
            if &*offer.region == "*" && !filter.regions.iter().any(|r| r == "*") {
                out.region_unknown += offer.prices.iter().filter(|p| wanted(p)).count();
                continue;
            }
            let matches = *by_region
                .entry((&offer.provider, &offer.region))
                .or_insert_with(|| matches_region(facts, offer, &filter.regions));
            if !matches {
                continue;
            }
        }
        let prices = offer.prices.iter().enumerate();
        out.rows
            .extend(prices.filter(|(_, p)| wanted(p)).map(|(j, _)| (i, j)));
    }
    sort(catalog, &mut out.rows);
    Ok(out)
}

/// Offers of a key `provider/instance_type@region`; region, provider or both may be left out, and the
/// letter case does not matter.
pub fn show(catalog: &Catalog, key: &str) -> Vec<usize> {
    let key = key.trim();
    let (head, region) = match key.rsplit_once('@') {
        Some((head, region)) => (head, Some(region)),
        None => (key, None),
    };
    let matches = |offer: &Offer, provider: Option<&str>, instance_type: &str| {
        provider.is_none_or(|p| offer.provider.eq_ignore_ascii_case(p))
            && offer.instance_type.eq_ignore_ascii_case(instance_type)
            && region.is_none_or(|r| offer.region.eq_ignore_ascii_case(r))
    };
    let found = |provider: Option<&str>, instance_type: &str| -> Vec<usize> {
        (0..catalog.offers.len())
            .filter(|i| matches(&catalog.offers[*i], provider, instance_type))
            .collect()
    };
    match head.split_once('/') {
        Some((provider, instance_type)) => {
            let exact = found(Some(provider), instance_type);
            // an instance type may contain a slash itself
            if exact.is_empty() {
                found(None, head)
            } else {
                exact
            }
        }
        None => found(None, head),
    }
}

fn matching_machines(
    catalog: &Catalog,
    facts: &Facts,
    filter: &ListFilter,
) -> Result<Vec<bool>, CatalogError> {
    let mut wanted: Vec<(GpuRef, Option<Range<u32>>)> = Vec::new();
    for gpu in &filter.gpus {
        match facts.gpus.resolve(&gpu.name) {
            Some(known) => wanted.push((known, gpu.count)),
            None => {
                // a name that only the user's own offers know
                let own = catalog
                    .machines
                    .iter()
                    .find(|m| m.gpu.model.eq_ignore_ascii_case(&gpu.name));
                match own {
                    Some(m) => wanted.push((
                        GpuRef {
                            model: m.gpu.model.clone(),
                            form: None,
                            memory_gb: None,
                        },
                        gpu.count,
                    )),
                    None => {
                        return Err(CatalogError::UnknownGpu {
                            name: gpu.name.clone(),
                            suggestion: facts.gpus.suggest(&gpu.name).map(str::to_owned),
                        });
                    }
                }
            }
        }
    }
    let memory = filter.gpu_memory;
    Ok(catalog
        .machines
        .iter()
        .map(|m| matches_machine(m, &wanted, memory))
        .collect())
}

/// The GPUs among these that no machine of the catalog has at a usable price, whatever their number:
/// asked for by a name that is known, but not for sale here. A name that nobody knows is left out.
pub fn gpus_without_price(
    catalog: &Catalog,
    gpus: &lessee_model::GpuTable,
    asked: &[GpuFilter],
) -> Vec<GpuRef> {
    let mut absent: Vec<GpuRef> = Vec::new();
    for gpu in asked.iter().filter_map(|g| gpus.resolve(&g.name)) {
        let priced = catalog.offers.iter().any(|offer| {
            matches_gpu(catalog.machine(offer), &gpu, None)
                && offer.prices.iter().any(|p| !p.per_hour.amount.is_zero())
        });
        if !priced && !absent.contains(&gpu) {
            absent.push(gpu);
        }
    }
    absent
}

/// What [`list`] asks of a machine, as far as it can be said before the user's offers are known; `None`
/// where nothing is asked of it, or where a GPU has a name that only those may know.
pub(crate) fn wanted_machine(
    facts: &Facts,
    filter: &ListFilter,
) -> Option<impl Fn(&Machine) -> bool + use<>> {
    if filter.gpus.is_empty() && filter.gpu_memory.is_none() {
        return None;
    }
    let wanted: Vec<(GpuRef, Option<Range<u32>>)> = filter
        .gpus
        .iter()
        .map(|gpu| Some((facts.gpus.resolve(&gpu.name)?, gpu.count)))
        .collect::<Option<_>>()?;
    let memory = filter.gpu_memory;
    Some(move |m: &Machine| matches_machine(m, &wanted, memory))
}

fn matches_machine(
    machine: &Machine,
    gpus: &[(GpuRef, Option<Range<u32>>)],
    memory: Option<Range<Bytes>>,
) -> bool {
    (gpus.is_empty()
        || gpus
            .iter()
            .any(|(gpu, count)| matches_gpu(machine, gpu, *count)))
        && memory.is_none_or(|range| {
            let gb = machine.gpu.memory_gb;
            gb.is_some_and(|gb| range.contains(Bytes::from_gb(gb)))
        })
}

/// Whether a machine has the GPU that was asked for. What the offer does not state does not exclude it.
fn matches_gpu(machine: &Machine, gpu: &GpuRef, count: Option<Range<u32>>) -> bool {
    machine.gpu.model == gpu.model
        && match (machine.gpu.form, gpu.form) {
            (Some(has), Some(wants)) => has == wants,
            _ => true,
        }
        && match (machine.gpu.memory_gb, gpu.memory_gb) {
            // a slice has less memory than its card and is still that card
            (Some(_), Some(_)) if machine.gpu_fraction < 0.999 => true,
            (Some(has), Some(wants)) => same_memory(has, wants),
            _ => true,
        }
        && count.is_none_or(|range| range.contains(u32::from(machine.gpu_count)))
}

fn matches_price(price: &Price, filter: &ListFilter) -> bool {
    let spot = price.purchase == Purchase::Spot;
    filter.spot.is_none_or(|wanted| wanted == spot)
        && (filter.purchases.is_empty() || filter.purchases.contains(&price.purchase))
        && filter.max_price.is_none_or(|max| {
            max.currency == price.per_hour.currency && price.per_hour.amount <= max.amount
        })
}

fn matches_region(facts: &Facts, offer: &Offer, patterns: &[String]) -> bool {
    patterns.iter().any(|pattern| {
        glob_match(pattern, &offer.region)
            || facts
                .region(&offer.provider, &offer.region)
                .is_some_and(|r| r.continent.eq_ignore_ascii_case(pattern))
    })
}

fn sort(catalog: &Catalog, rows: &mut [(usize, usize)]) {
    let price = |(i, j): &(usize, usize)| &catalog.offers[*i].prices[*j];
    let mut counts: HashMap<Currency, usize> = HashMap::new();
    for row in rows.iter() {
        *counts.entry(price(row).per_hour.currency).or_default() += 1;
    }
    let doubtful = |row: &(usize, usize)| {
        let p = price(row);
        p.per_hour.amount.is_zero()
            || p.high.is_some()
            || p.why.confidence == Confidence::Unverified
    };
    rows.sort_by_cached_key(|row| {
        let money = price(row).per_hour;
        let group = std::cmp::Reverse(counts.get(&money.currency).copied().unwrap_or(0));
        (group, money.currency, doubtful(row), money.amount, *row)
    });
}
