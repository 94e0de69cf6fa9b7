//! The question as resolved: every parameter has a value, a source, and a range where one is known.

use super::BuyError;
use super::file::{BuyFile, SiteKind};
use crate::sources;
use lessee_model::{
    AsOf, Basis, Confidence, Currency, Fx, Money, Provenance, Sourced, did_you_mean,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A row of `data/buy_defaults.csv`.
#[derive(Clone, Debug)]
pub struct BuyDefault {
    pub parameter: String,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub default: Option<f64>,
    /// `USD per kWh`, `fraction per year`, ...; amounts of money begin with their currency.
    pub unit: String,
    pub note: String,
    pub why: Provenance,
}

/// A number that the answer depends on. Money is in the currency of the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parameter {
    /// Stable key, as in `data/buy_defaults.csv` where there is a default.
    pub name: String,
    /// Path in the file under which the user sets it.
    pub field: String,
    pub value: f64,
    pub unit: String,
    /// Not typed by the user: a default to be checked and replaced.
    pub assumed: bool,
    /// The range in which such values lie.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// What to know about the default, in the words of the data file.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub note: String,
    pub why: Provenance,
}

/// Names of the parameters and the fields under which they are typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Name {
    NodePrice,
    Nodes,
    GpusPerNode,
    Power,
    Extras,
    Tax,
    Colocation,
    Energy,
    PowerShare,
    Pue,
    Network,
    Fte,
    PeopleCost,
    Spares,
    Maintenance,
    Insurance,
    Horizon,
    Utilisation,
    CostOfCapital,
    Residual,
    Lead,
    Rent,
    RentDiscount,
    RentFall,
}

use Name::*;

/// Name, key in the data, field in the file, unit; a unit beginning with `$` is an amount of money.
const TABLE: [(Name, &str, &str, &str); 24] = [
    (NodePrice, "node_price_8x_h100", "node.price", "$ per node"),
    (Nodes, "node_count", "node.count", "nodes"),
    (GpusPerNode, "gpus_per_node", "node.gpus", "GPUs"),
    (Power, "node_power_max_8x_h100", "node.power_kw", "kW"),
    (
        Extras,
        "fabric_and_rack_extras",
        "node.extras",
        "fraction of capex",
    ),
    (
        Tax,
        "purchase_tax",
        "node.tax",
        "fraction of what is bought",
    ),
    (
        Colocation,
        "colocation",
        "site.colocation",
        "$ per kW-month",
    ),
    (Energy, "energy", "site.energy", "$ per kWh"),
    (
        PowerShare,
        "average_power_share",
        "site.power_share",
        "fraction of maximum power",
    ),
    (Pue, "pue", "site.pue", "facility power / IT power"),
    (Network, "network_uplink", "site.network", "$ per month"),
    (
        Fte,
        "people_fte_per_node",
        "people.fte_per_node",
        "full-time equivalents per node",
    ),
    (PeopleCost, "people_cost", "people.cost", "$ per FTE-year"),
    (
        Spares,
        "spares",
        "upkeep.spares",
        "fraction of capex per year",
    ),
    (
        Maintenance,
        "maintenance_contract",
        "upkeep.maintenance",
        "fraction of capex per year",
    ),
    (
        Insurance,
        "insurance",
        "upkeep.insurance",
        "fraction of capex per year",
    ),
    (Horizon, "horizon", "plan.horizon_months", "months"),
    (
        Utilisation,
        "utilisation",
        "plan.utilisation",
        "fraction of hours",
    ),
    (
        CostOfCapital,
        "cost_of_capital",
        "plan.cost_of_capital",
        "fraction per year",
    ),
    (
        Residual,
        "residual_value_36_months",
        "plan.residual",
        "fraction of capex",
    ),
    (Lead, "lead_time", "plan.lead_months", "months"),
    (Rent, "rent_price", "rent.price", "$ per GPU-hour"),
    (RentDiscount, "rent_discount", "rent.discount", "fraction"),
    (
        RentFall,
        "price_fall_of_rent",
        "rent.price_fall",
        "fraction per year",
    ),
];

/// The question with every default filled in.
#[derive(Clone, Debug)]
pub struct BuyInput {
    pub name: String,
    /// Which GPU, as typed.
    pub gpu: Option<String>,
    pub currency: Currency,
    /// Colocation (space and cooling by the kW) or an own site (energy with cooling).
    pub colocated: bool,
    /// In a fixed order.
    pub parameters: Vec<Parameter>,
}

impl BuyInput {
    pub(super) fn get(&self, name: Name) -> &Parameter {
        &self.parameters[name as usize]
    }

    pub(super) fn value(&self, name: Name) -> f64 {
        self.get(name).value
    }
}

/// What the file says about a parameter: a number, or money still in its own currency.
enum Typed {
    Number(f64),
    Money(Money),
}

fn typed(file: &BuyFile, name: Name) -> Option<Typed> {
    let n = |x: Option<f64>| x.map(Typed::Number);
    let s = |x: Option<super::file::Share>| x.map(|s| Typed::Number(s.0));
    let m = |x: Option<Money>| x.map(Typed::Money);
    let (node, site, plan) = (&file.node, &file.site, &file.plan);
    match name {
        NodePrice => m(node.price),
        Nodes => n(node.count),
        GpusPerNode => n(node.gpus),
        Power => n(node.power_kw),
        Extras => s(node.extras),
        Tax => s(node.tax),
        Colocation => m(site.colocation),
        Energy => m(site.energy),
        PowerShare => s(site.power_share),
        Pue => n(site.pue),
        Network => m(site.network),
        Fte => n(file.people.fte_per_node),
        PeopleCost => m(file.people.cost),
        Spares => s(file.upkeep.spares),
        Maintenance => s(file.upkeep.maintenance),
        Insurance => s(file.upkeep.insurance),
        Horizon => n(plan.horizon_months),
        Utilisation => s(plan.utilisation),
        CostOfCapital => s(plan.cost_of_capital),
        Residual => s(plan.residual),
        Lead => n(plan.lead_months),
        Rent => m(file.rent.price),
        RentDiscount => s(file.rent.discount),
        RentFall => s(file.rent.price_fall),
    }
}

/// The values that a parameter may take at all.
fn allowed(name: Name) -> (f64, f64) {
    match name {
        NodePrice | Rent => (1e-9, 1e15),
        Nodes | GpusPerNode => (1.0, 1e6),
        Horizon => (1.0, 600.0),
        Lead => (0.0, 600.0),
        Utilisation => (1e-6, 1.0),
        Pue => (1.0, 10.0),
        Power | Fte => (0.0, 1e6),
        RentFall | RentDiscount => (0.0, 0.999_999),
        Colocation | Energy | Network | PeopleCost => (0.0, 1e15),
        _ => (0.0, 1.0),
    }
}

/// Names in `[ranges]` are those of parameters or of their fields.
fn check_range_names(file: &BuyFile) -> Result<(), BuyError> {
    let known = || TABLE.iter().flat_map(|(_, key, field, _)| [*key, *field]);
    match file.ranges.keys().find(|name| !known().any(|k| k == *name)) {
        None => Ok(()),
        Some(name) => Err(BuyError::RangeName {
            name: name.clone(),
            suggestion: did_you_mean(name, known()).map(str::to_owned),
        }),
    }
}

/// The name under which the file gives a range.
fn own_name(file: &BuyFile, key: &str, field: &str) -> String {
    let name = if file.ranges.contains_key(key) {
        key
    } else {
        field
    };
    name.to_owned()
}

/// Fills in defaults; `rent` is the price of `rent.offer` for one GPU and hour, if the file names an offer
/// and the caller found it.
///
/// # Errors
/// A price of the node or of renting is missing, a value is outside its range, or a currency has no rate.
pub fn resolve_buy(
    file: &BuyFile,
    defaults: &[BuyDefault],
    rent: Option<Sourced<Money>>,
) -> Result<BuyInput, BuyError> {
    // the built-in node price speaks for eight H100 only
    let h100 = file
        .node
        .gpu
        .as_deref()
        .is_none_or(|g| g.to_ascii_uppercase().contains("H100"))
        && file.node.gpus.is_none_or(|n| n == 8.0);
    let currency = file
        .money
        .currency
        .or(file.node.price.map(|m| m.currency))
        .unwrap_or(Currency::USD);
    let resolver = Resolver {
        currency,
        fx: Fx {
            rates: file.money.rates.clone(),
        },
    };
    check_range_names(file)?;
    let mut parameters: Vec<Parameter> = Vec::with_capacity(TABLE.len());
    for (name, key, field, unit) in TABLE {
        let row = defaults.iter().find(|d| d.parameter == key);
        let row = row.filter(|_| h100 || !key.ends_with("8x_h100"));
        let offered = rent.as_ref().filter(|_| name == Rent);
        let (value, assumed, why) = match (
            typed(file, name),
            offered,
            row.and_then(|r| Some((r, r.default?))),
        ) {
            (Some(Typed::Number(x)), _, _) => (x, false, Provenance::user(field)),
            (Some(Typed::Money(m)), _, _) => {
                (resolver.money(field, m)?, false, Provenance::user(field))
            }
            (None, Some(price), _) => (
                resolver.money(field, price.value)?,
                false,
                price.why.clone(),
            ),
            (None, None, Some((row, x))) => (resolver.default(field, row, x)?, true, assumed(row)),
            (None, None, None) => match name {
                Nodes => (1.0, true, Provenance::assumed(sources::ONE_NODE)),
                GpusPerNode => (8.0, true, Provenance::assumed(sources::EIGHT_GPUS)),
                Tax | RentDiscount => (0.0, true, Provenance::assumed(sources::NONE)),
                _ => return Err(BuyError::Missing { field }),
            },
        };
        let (least, most) = allowed(name);
        if !(value >= least && value <= most) {
            return Err(BuyError::Value {
                field,
                value: value.to_string(),
            });
        }
        let own = file
            .ranges
            .get(key)
            .or_else(|| file.ranges.get(field))
            .copied();
        let bounds = match (own, row) {
            (Some([low, high]), _) => {
                // NaN fails every comparison
                if !(least <= low && low < high && high <= most && low <= value && value <= high) {
                    return Err(BuyError::Range {
                        name: own_name(file, key, field),
                        low,
                        high,
                        least,
                        most,
                    });
                }
                (Some(low), Some(high))
            }
            (None, Some(row)) => (
                row.low
                    .map(|x| resolver.default(field, row, x))
                    .transpose()?,
                row.high
                    .map(|x| resolver.default(field, row, x))
                    .transpose()?,
            ),
            (None, None) => (None, None),
        };
        let inside = |x: Option<f64>| x.filter(|x| *x >= least && *x <= most);
        parameters.push(Parameter {
            name: key.to_owned(),
            field: field.to_owned(),
            value,
            unit: unit.replace('$', currency.as_str()),
            assumed,
            low: inside(bounds.0),
            high: inside(bounds.1),
            note: row.map(|r| r.note.clone()).unwrap_or_default(),
            why,
        });
    }
    let residual = &mut parameters[Residual as usize];
    if residual.assumed {
        // the default holds at 36 months; a constant yearly loss carries it to other horizons
        let years = |x: f64, months: f64| x.powf(months / 36.0);
        let months = file.plan.horizon_months.or_else(|| {
            defaults
                .iter()
                .find(|d| d.parameter == "horizon")
                .and_then(|d| d.default)
        });
        let months = months.unwrap_or(36.0);
        residual.value = years(residual.value, months);
        residual.low = residual.low.map(|x| years(x, months));
        residual.high = residual.high.map(|x| years(x, months));
    }
    Ok(BuyInput {
        name: file.name.clone().unwrap_or_default(),
        gpu: file.node.gpu.clone(),
        currency,
        colocated: file.site.kind != Some(SiteKind::Own),
        parameters,
    })
}

/// A default is an assumption whatever its source is called.
fn assumed(row: &BuyDefault) -> Provenance {
    let as_of: Option<AsOf> = row.why.as_of;
    Provenance::new(
        Basis::Assumed,
        row.why.confidence.max(Confidence::Secondary),
        row.why.source.clone(),
        as_of,
    )
}

struct Resolver {
    currency: Currency,
    fx: Fx,
}

impl Resolver {
    fn money(&self, field: &'static str, money: Money) -> Result<f64, BuyError> {
        let no_rate = |_| BuyError::NoRate {
            field,
            from: money.currency,
            to: self.currency,
        };
        Ok(self
            .fx
            .convert(money, self.currency)
            .map_err(no_rate)?
            .amount
            .to_f64())
    }

    /// A value of a default row; its unit says whether it is money, and in which currency.
    fn default(&self, field: &'static str, row: &BuyDefault, x: f64) -> Result<f64, BuyError> {
        let currency = row.unit.split_whitespace().next().and_then(|word| {
            let upper = word.len() == 3 && word.chars().all(|c| c.is_ascii_uppercase());
            upper.then(|| word.parse::<Currency>().ok()).flatten()
        });
        match (currency, lessee_model::Fixed::from_f64(x)) {
            (Some(from), Some(amount)) if row.unit.contains(" per ") || row.unit.len() == 3 => {
                self.money(field, Money::new(amount, from))
            }
            _ => Ok(x),
        }
    }
}
