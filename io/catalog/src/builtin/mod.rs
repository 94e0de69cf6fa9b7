//! The facts that are compiled into the binary, from `data/`. Parsed once at start; a defect in them
//! is a bug and is caught by the tests.

mod accept;
mod compat;
mod gpus;
mod judge;
mod measured;
pub(crate) mod offers;
mod rows;
mod security;
mod tariffs;

pub use accept::{contract_table, provider_facts, repair_table};
pub use compat::compat;
pub use measured::spot_params;
pub use security::security;

use crate::CatalogError;
use crate::build::Interner;
use lessee_model::gpu::plain_name;
use lessee_model::workload::Defaults;
use lessee_model::{
    BillingZone, Catalog, Currency, GpuTable, Machine, Market, ModelTable, Money, Provenance,
    TariffBook, glob_match,
};
use rows::read;
use std::cell::RefCell;
use std::sync::Arc;

/// Everything lessee knows without being told.
#[derive(Clone, Debug)]
pub struct Facts {
    pub gpus: GpuTable,
    pub models: ModelTable,
    pub defaults: Defaults,
    pub tariffs: TariffBook,
    /// The built-in snapshot of offers.
    pub catalog: Catalog,
    pub perf: lessee_perf::PerfTables,
    pub providers: Vec<ProviderInfo>,
    pub regions: Vec<RegionRow>,
    pub buy_defaults: Vec<BuyDefaultRow>,
    pub licences: Vec<LicenceRow>,
    /// What a probe's report is held against.
    pub judge: lessee_accept::Yardstick,
    /// What the spot policies believe of a market before they have seen it.
    pub spot: lessee_spot::policy::lessee::Params,
    types: offers::Types,
}

/// A provider: how it is named, what kind of seller it is, how it counts time.
#[derive(Clone, Debug)]
pub struct ProviderInfo {
    pub key: Arc<str>,
    pub name_en: Arc<str>,
    pub name_zh: Arc<str>,
    pub aliases: Vec<Arc<str>>,
    pub market: Market,
    pub currency: Currency,
    /// Where its billing months begin.
    pub billing_zone: BillingZone,
    pub month_hours: u32,
    pub why: Provenance,
}

/// Region names by pattern, and where on Earth they are.
#[derive(Clone, Debug)]
pub struct RegionRow {
    /// `*` = any provider.
    pub provider: Arc<str>,
    /// Glob over the region's name.
    pub pattern: Arc<str>,
    /// `na`, `sa`, `eu`, `asia`, `cn`, `oceania`, `africa`, `me`
    pub continent: Arc<str>,
    pub country: Option<Arc<str>>,
    pub why: Provenance,
}

/// A parameter of "buy or rent"; every default is the user's to change.
#[derive(Clone, Debug)]
pub struct BuyDefaultRow {
    pub parameter: Arc<str>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub default: Option<f64>,
    pub unit: Arc<str>,
    pub note: Option<Arc<str>>,
    pub why: Provenance,
}

/// A software licence for rendering; list prices are hints.
#[derive(Clone, Debug)]
pub struct LicenceRow {
    pub product: Arc<str>,
    pub licence_model: Arc<str>,
    pub list_price: Option<Money>,
    /// `year`, `month`, `hour`
    pub price_unit: Option<Arc<str>>,
    pub per: Arc<str>,
    pub rule: Option<Arc<str>>,
    pub note: Option<Arc<str>>,
    pub why: Provenance,
}

/// Parses the built-in facts.
///
/// # Errors
/// [`CatalogError::BuiltIn`] only, and only when the data compiled in are wrong.
pub fn builtin() -> Result<Facts, CatalogError> {
    let strings = RefCell::new(Interner::default());
    let gpus = gpus::gpus(&strings)?;
    let providers = providers(&strings)?;
    let (catalog, types) = offers::offers(&strings, &providers, &gpus)?;
    let defaults =
        Defaults::from_toml(include_str!("../../../../data/defaults.toml")).map_err(|what| {
            CatalogError::BuiltIn {
                file: "defaults.toml",
                line: 0,
                what,
            }
        })?;
    Ok(Facts {
        gpus,
        models: gpus::models(&strings)?,
        defaults,
        tariffs: tariffs::tariffs(&strings, &providers)?,
        catalog,
        perf: measured::perf(&strings)?,
        providers,
        regions: regions(&strings)?,
        buy_defaults: buy_defaults(&strings)?,
        licences: licences(&strings)?,
        judge: judge::yardstick(&strings)?,
        spot: spot()?,
        types,
    })
}

fn spot() -> Result<lessee_spot::policy::lessee::Params, CatalogError> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        policy: lessee_spot::policy::lessee::Params,
    }
    let file: Result<File, _> = toml::from_str(include_str!("../../../../data/spot.toml"));
    file.map(|f| f.policy).map_err(|e| CatalogError::BuiltIn {
        file: "spot.toml",
        line: 0,
        what: e.to_string(),
    })
}

impl Facts {
    /// What is in an instance type of a large cloud, as far as it is built in.
    pub fn machine(&self, provider: &str, instance_type: &str) -> Option<&Machine> {
        let key = (Arc::from(provider), Arc::from(instance_type));
        let id = self.types.get(&key)?;
        self.catalog.machines.get(id.0 as usize)
    }

    /// A provider by key, name or alias (`aws`, `Amazon Web Services`, `阿里云`).
    pub fn provider(&self, name: &str) -> Option<&ProviderInfo> {
        let wanted = plain_name(name);
        if wanted.is_empty() {
            return None;
        }
        self.providers.iter().find(|p| {
            [&p.key, &p.name_en, &p.name_zh]
                .into_iter()
                .chain(&p.aliases)
                .any(|n| plain_name(n) == wanted)
        })
    }

    /// Where a region is: the provider's own pattern beats `*`, then the longer literal part wins.
    pub fn region(&self, provider: &str, region: &str) -> Option<&RegionRow> {
        let literal = |r: &RegionRow| r.pattern.chars().filter(|c| !"*?".contains(*c)).count();
        self.regions
            .iter()
            .filter(|r| &*r.provider == "*" || &*r.provider == provider)
            .filter(|r| glob_match(&r.pattern, region))
            .max_by_key(|r| (&*r.provider == provider, literal(r)))
    }
}

fn providers(strings: &RefCell<Interner>) -> Result<Vec<ProviderInfo>, CatalogError> {
    let zones = jiff::tz::TimeZoneDatabase::bundled();
    let mut out = Vec::new();
    read(
        "providers.csv",
        include_str!("../../../../data/providers.csv"),
        strings,
        |r| {
            out.push(ProviderInfo {
                key: r.text("key")?,
                name_en: r.text("name_en")?,
                name_zh: r.text("name_zh")?,
                aliases: r
                    .get("aliases")?
                    .split('|')
                    .filter(|a| !a.is_empty())
                    .map(|a| strings.borrow_mut().get(a))
                    .collect(),
                market: match r.get("market")? {
                    "list" => Market::List,
                    "gpu_cloud" => Market::GpuCloud,
                    "marketplace" => Market::Marketplace,
                    other => return Err(format!("market: `{other}`")),
                },
                currency: r.need("currency")?,
                billing_zone: BillingZone {
                    name: r.text("billing_zone")?,
                    // the data and not the machine decide, so the zones come from the binary too
                    zone: zones
                        .get(r.get("billing_zone")?)
                        .map_err(|e| format!("billing_zone: {e}"))?,
                    confidence: r.why()?.confidence,
                },
                month_hours: r.need("month_hours")?,
                why: r.why()?,
            });
            Ok(())
        },
    )?;
    Ok(out)
}

fn regions(strings: &RefCell<Interner>) -> Result<Vec<RegionRow>, CatalogError> {
    let mut out = Vec::new();
    read(
        "regions.csv",
        include_str!("../../../../data/regions.csv"),
        strings,
        |r| {
            out.push(RegionRow {
                provider: r.text("provider")?,
                pattern: r.text("pattern")?,
                continent: r.text("continent")?,
                country: r.opt_text("country")?,
                why: r.why()?,
            });
            Ok(())
        },
    )?;
    Ok(out)
}

fn buy_defaults(strings: &RefCell<Interner>) -> Result<Vec<BuyDefaultRow>, CatalogError> {
    let mut out = Vec::new();
    read(
        "buy_defaults.csv",
        include_str!("../../../../data/buy_defaults.csv"),
        strings,
        |r| {
            out.push(BuyDefaultRow {
                parameter: r.text("parameter")?,
                low: r.opt("low")?,
                high: r.opt("high")?,
                default: r.opt("default")?,
                unit: r.text("unit")?,
                note: r.opt_text("note")?,
                why: r.why()?,
            });
            Ok(())
        },
    )?;
    Ok(out)
}

fn licences(strings: &RefCell<Interner>) -> Result<Vec<LicenceRow>, CatalogError> {
    let mut out = Vec::new();
    read(
        "render/licences.csv",
        include_str!("../../../../data/render/licences.csv"),
        strings,
        |r| {
            out.push(LicenceRow {
                product: r.text("product")?,
                licence_model: r.text("licence_model")?,
                list_price: r.opt_money("list_price")?,
                price_unit: r.opt_text("price_unit")?,
                per: r.text("per")?,
                rule: r.opt_text("artist_or_node_rule")?,
                note: r.opt_text("note")?,
                why: r.why()?,
            });
            Ok(())
        },
    )?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lessee_model::{Confidence, Form, Interconnect, Purchase};
    use std::collections::HashSet;

    #[test]
    fn the_data_are_whole() {
        let facts = builtin().expect("facts");
        let prices: usize = facts.catalog.offers.iter().map(|o| o.prices.len()).sum();
        // on demand and spot of prices.csv, and points.csv without what newer points supersede
        assert_eq!(prices, 2589 + 384 + 261 - 2);
        assert!(facts.models.models.len() >= 30 && facts.tariffs.egress.len() > 150);
        assert!(facts.perf.gemm.len() >= 20 && facts.perf.blender.len() > 50);
        let p5 = facts.machine("aws", "p5.48xlarge").expect("p5");
        assert_eq!(
            (&*p5.gpu.model, p5.gpu.form, p5.gpu_count),
            ("H100", Some(Form::Sxm), 8)
        );
        assert_eq!(p5.interconnect, Some(Interconnect::Nvswitch));
        let vast = facts
            .catalog
            .offers
            .iter()
            .find(|o| &*o.provider == "vast")
            .expect("vast");
        assert_eq!(vast.prices[0].per_hour.to_string(), "2.40 USD");
    }

    #[test]
    fn every_offer_names_a_gpu_of_the_table() {
        let facts = builtin().expect("facts");
        for offer in &facts.catalog.offers {
            let m = facts.catalog.machine(offer);
            if m.class == lessee_model::AcceleratorClass::Gpu {
                // memory aside: slices have a part of it, and Azure gives guests less than the V710 has
                let product = lessee_model::GpuRef {
                    memory_gb: None,
                    ..m.gpu.clone()
                };
                assert!(
                    facts.gpus.spec(&product).is_some(),
                    "{}: {}",
                    offer.key(),
                    m.gpu
                );
            }
        }
    }

    #[test]
    fn machines_are_shared_and_keys_are_unique() {
        let catalog = builtin().expect("facts").catalog;
        let mut keys = HashSet::new();
        for offer in &catalog.offers {
            for price in &offer.prices {
                assert!(
                    keys.insert((offer.key(), price.purchase)),
                    "{}",
                    offer.key()
                );
            }
        }
        for (i, a) in catalog.machines.iter().enumerate() {
            assert!(!catalog.machines[i + 1..].contains(a));
        }
        assert!(keys.iter().any(|(_, p)| *p == Purchase::Spot));
    }

    #[test]
    fn an_unverified_machine_makes_its_price_unverified() {
        let catalog = builtin().expect("facts").catalog;
        let mut seen = 0;
        for offer in &catalog.offers {
            if catalog.machine(offer).confidence == Confidence::Unverified {
                seen += 1;
                assert_eq!(offer.prices[0].why.confidence, Confidence::Unverified);
            }
        }
        assert!(seen > 10);
    }

    #[test]
    fn names_of_providers_and_regions() {
        let facts = builtin().expect("facts");
        assert_eq!(&*facts.provider("阿里云").expect("alias").key, "alicloud");
        assert!(facts.provider("").is_none());
        let continent = |p, r| facts.region(p, r).map(|row| row.continent.to_string());
        assert_eq!(continent("azure", "westeurope").as_deref(), Some("eu"));
        assert_eq!(continent("aws", "us-east-1").as_deref(), Some("na"));
    }
}
