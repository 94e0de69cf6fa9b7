//! Which offers are suspect, and why: one finding per rule, provider and source.
//!
//! Nothing is changed or hidden here; planning decides for itself what it ranks. Each rule is a function
//! over one offer or one provider; thresholds are in `data/doctor.toml`. Start at [`doctor`].

mod medians;

use crate::{CatalogError, Facts};
use jiff::civil::Date;
use lessee_model::gpu::same_memory;
use lessee_model::{
    AcceleratorClass, AsOf, Catalog, Confidence, GpuRef, Machine, MachineId, Market, Msg, Offer,
    Origin, Price, Purchase, StaleAfter,
};
use medians::Medians;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Thresholds, see the file for their sources.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoctorRules {
    #[serde(rename = "schema")]
    _schema: String,
    bid_floor: BidFloor,
    family: Family,
    cartesian: Cartesian,
}

#[derive(Clone, Debug, Deserialize)]
struct BidFloor {
    share_of_median: f64,
    min_providers: usize,
}

#[derive(Clone, Debug, Deserialize)]
struct Family {
    low: f64,
    high: f64,
    min_types: usize,
}

#[derive(Clone, Debug, Deserialize)]
struct Cartesian {
    min_types: usize,
    min_regions: usize,
}

impl DoctorRules {
    /// # Errors
    /// [`CatalogError::BuiltIn`] only.
    pub fn builtin() -> Result<DoctorRules, CatalogError> {
        toml::from_str(include_str!("../../../../data/doctor.toml")).map_err(|e| {
            CatalogError::BuiltIn {
                file: "doctor.toml",
                line: 0,
                what: e.to_string(),
            }
        })
    }
}

/// One line of trouble.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Stable: `price_missing`, `price_zero`, `no_date`, `stale`, `cartesian`, `memory_total`, `memory_odd`,
    /// `gpu_mismatch`, `family_price`, `spot_above_on_demand`, `bid_floor`, `gpu_unknown`, `unverified`,
    /// `not_current`
    pub code: &'static str,
    pub provider: String,
    /// Where the prices come from; empty where there is none.
    pub source: String,
    /// Name of the user's snapshot; `None` = built in.
    pub snapshot: Option<String>,
    /// Prices concerned; for `price_missing` offers.
    pub count: u64,
    /// Up to three keys.
    pub examples: Vec<String>,
    /// Oldest date among them.
    pub oldest: Option<AsOf>,
    pub what: Msg,
}

/// Looks for known kinds of defects. `today` decides what is stale.
pub fn doctor(catalog: &Catalog, facts: &Facts, rules: &DoctorRules, today: Date) -> Vec<Finding> {
    let mut found = Found::default();
    let medians = Medians::of(catalog, facts, rules);
    let stale = StaleAfter::from_defaults(&facts.defaults);
    let mut judged: HashMap<(&str, &str, MachineId), Defects> = HashMap::new();
    for offer in &catalog.offers {
        let machine = catalog.machine(offer);
        if offer.prices.is_empty() {
            found.add_from("price_missing", offer, "", None, || {
                Msg::new("doctor-price-missing")
            });
        }
        for price in &offer.prices {
            one_price(&mut found, offer, machine, price, (today, stale));
            if let Some(usual) = medians.bid_floor(machine, price, rules) {
                found.add("bid_floor", offer, price, || {
                    Msg::new("doctor-bid-floor").arg("usual", usual)
                });
            }
            if medians.odd_in_family(offer, machine, price, rules) {
                found.add("family_price", offer, price, || {
                    Msg::new("doctor-family-price")
                });
            }
        }
        if let Some(price) = offer.prices.first() {
            let same = (&*offer.provider, &*offer.instance_type, offer.machine);
            let defects = judged
                .entry(same)
                .or_insert_with(|| one_machine(offer, machine, facts));
            for (code, what) in defects {
                found.add(code, offer, price, || what.clone());
            }
        }
        let amount = |p| offer.price(p).map(|p| p.per_hour);
        if let (Some(spot), Some(plain)) = (amount(Purchase::Spot), amount(Purchase::OnDemand))
            && spot.currency == plain.currency
            && spot.amount > plain.amount
            && !plain.amount.is_zero()
            && let Some(price) = offer.price(Purchase::Spot)
        {
            found.add("spot_above_on_demand", offer, price, || {
                Msg::new("doctor-spot-above-on-demand")
            });
        }
    }
    cartesian(&mut found, catalog, rules);
    found.findings.into_values().collect()
}

type Place = (&'static str, String, String, Option<String>);

/// Findings gathered by rule, provider, source and snapshot.
#[derive(Default)]
struct Found {
    findings: BTreeMap<Place, Finding>,
}

impl Found {
    fn add(
        &mut self,
        code: &'static str,
        offer: &Offer,
        price: &Price,
        what: impl FnOnce() -> Msg,
    ) {
        self.add_from(code, offer, &price.why.source, price.why.as_of, what);
    }

    fn add_from(
        &mut self,
        code: &'static str,
        offer: &Offer,
        source: &str,
        as_of: Option<AsOf>,
        what: impl FnOnce() -> Msg,
    ) {
        let snapshot = match &offer.origin {
            Origin::BuiltIn => None,
            Origin::User(name) => Some(name.to_string()),
        };
        let place = (
            code,
            offer.provider.to_string(),
            source.to_owned(),
            snapshot.clone(),
        );
        let finding = self.findings.entry(place).or_insert_with(|| Finding {
            code,
            provider: offer.provider.to_string(),
            source: source.to_owned(),
            snapshot,
            count: 0,
            examples: Vec::new(),
            oldest: None,
            what: what(),
        });
        finding.count += 1;
        if finding.examples.len() < 3 {
            let key = offer.key();
            if !finding.examples.contains(&key) {
                finding.examples.push(key);
            }
        }
        finding.oldest = match (finding.oldest, as_of) {
            (Some(a), Some(b)) => Some(if a.earliest() <= b.earliest() { a } else { b }),
            (a, b) => a.or(b),
        };
    }
}

fn one_price(
    found: &mut Found,
    offer: &Offer,
    machine: &Machine,
    price: &Price,
    (today, stale): (Date, StaleAfter),
) {
    if price.per_hour.amount.is_zero() {
        found.add("price_zero", offer, price, || Msg::new("doctor-price-zero"));
    }
    match price.why.as_of {
        None => found.add("no_date", offer, price, || Msg::new("doctor-no-date")),
        Some(date) => {
            let limit = stale.days(offer.market);
            let age = date
                .latest()
                .until(today)
                .map_or(i32::MAX, |span| span.get_days());
            if age > limit {
                found.add("stale", offer, price, || {
                    Msg::new(match offer.market {
                        Market::List => "doctor-stale-list",
                        Market::GpuCloud => "doctor-stale-gpu-cloud",
                        Market::Marketplace => "doctor-stale-marketplace",
                        Market::Quote => "doctor-stale-quote",
                    })
                    .arg("days", f64::from(limit))
                });
            }
        }
    }
    if price.why.confidence == Confidence::Unverified
        || machine.confidence == Confidence::Unverified
    {
        found.add("unverified", offer, price, || Msg::new("doctor-unverified"));
    }
    if matches!(&*machine.status, "retired" | "preview") {
        found.add("not_current", offer, price, || {
            Msg::new("doctor-not-current")
        });
    }
}

/// Codes of findings, and what they say.
type Defects = Vec<(&'static str, Msg)>;

/// What is wrong with a machine, whatever it costs and wherever it stands.
fn one_machine(offer: &Offer, machine: &Machine, facts: &Facts) -> Defects {
    let mut out = Vec::new();
    if machine.class != AcceleratorClass::Gpu {
        return out;
    }
    let products: Vec<_> = facts
        .gpus
        .specs
        .iter()
        .filter(|s| s.model == machine.gpu.model)
        .collect();
    let fits = |gb: f64| products.iter().any(|s| same_memory(gb, s.memory_gb));
    if products.is_empty() {
        let what = Msg::new("doctor-gpu-unknown").arg("gpu", &*machine.gpu.model);
        out.push(("gpu_unknown", what));
    } else if let Some(gb) = machine.gpu.memory_gb
        && machine.gpu_fraction > 0.999
        && !fits(gb)
    {
        if machine.gpu_count > 1 && fits(gb / f64::from(machine.gpu_count)) {
            out.push(("memory_total", Msg::new("doctor-memory-total")));
        } else {
            out.push(("memory_odd", Msg::new("doctor-memory-odd")));
        }
    }
    let contradicts = facts
        .machine(&offer.provider, &offer.instance_type)
        .is_some_and(|known| {
            known.gpu.model != machine.gpu.model
                || known.gpu_count != machine.gpu_count
                || (known.gpu_fraction - machine.gpu_fraction).abs() > 0.02
                || matches!((known.gpu.form, machine.gpu.form), (Some(a), Some(b)) if a != b)
        });
    if contradicts || named_otherwise(&offer.instance_type, &machine.gpu, facts) {
        out.push(("gpu_mismatch", Msg::new("doctor-gpu-mismatch")));
    }
    out
}

/// Whether the name of an instance type names another GPU than the row does: `gpu_8x_a100` with an H100.
fn named_otherwise(instance_type: &str, gpu: &GpuRef, facts: &Facts) -> bool {
    let mut other = false;
    let words = instance_type.split(|c: char| !c.is_ascii_alphanumeric());
    for (i, word) in words.enumerate() {
        // two letters are a GPU (T4, L4) or a series (GCP's a2, a3), which stands first
        let telling = word.len() >= 3 || (word.len() == 2 && i > 0);
        if !telling || !word.bytes().any(|b| b.is_ascii_digit()) {
            continue;
        }
        match facts.gpus.resolve(word) {
            Some(named) if named.model == gpu.model => return false,
            Some(_) => other = true,
            None => {}
        }
    }
    other
}

/// A provider whose every type stands in every region, each at one price: a table of what exists.
fn cartesian(found: &mut Found, catalog: &Catalog, rules: &DoctorRules) {
    type Cells<'a> = (
        BTreeSet<&'a str>,
        BTreeSet<&'a str>,
        BTreeSet<(&'a str, &'a str)>,
    );
    let mut tables: BTreeMap<(&str, &str), Cells<'_>> = BTreeMap::new();
    let mut prices: BTreeMap<(&str, &str, &str), BTreeSet<lessee_model::Fixed>> = BTreeMap::new();
    for offer in &catalog.offers {
        let Some(price) = offer.price(Purchase::OnDemand) else {
            continue;
        };
        let table = tables
            .entry((&offer.provider, &price.why.source))
            .or_default();
        table.0.insert(&offer.instance_type);
        table.1.insert(&offer.region);
        table.2.insert((&offer.instance_type, &offer.region));
        prices
            .entry((&offer.provider, &price.why.source, &offer.instance_type))
            .or_default()
            .insert(price.per_hour.amount);
    }
    tables.retain(|(provider, source), (types, regions, cells)| {
        types.len() >= rules.cartesian.min_types
            && regions.len() >= rules.cartesian.min_regions
            && cells.len() == types.len() * regions.len()
            && types.iter().all(|t| {
                prices
                    .get(&(*provider, *source, *t))
                    .is_some_and(|p| p.len() == 1)
            })
    });
    for offer in &catalog.offers {
        if let Some(price) = offer.price(Purchase::OnDemand)
            && let Some((types, regions, _)) = tables.get(&(&*offer.provider, &*price.why.source))
        {
            found.add("cartesian", offer, price, || {
                Msg::new("doctor-cartesian")
                    .arg("types", types.len())
                    .arg("regions", regions.len())
            });
        }
    }
}
