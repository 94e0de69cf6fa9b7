//! The question as typed: TOML, every field optional but the price of a node and what renting costs.

use super::BuyError;
use lessee_model::fx::FxRate;
use lessee_model::workload::{line_and_column, wording};
use lessee_model::{Currency, Money, parse_percent};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// Rent or own?
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BuyFile {
    /// Name for reports.
    pub name: Option<String>,
    pub node: NodeFile,
    pub site: SiteFile,
    pub people: PeopleFile,
    pub upkeep: UpkeepFile,
    pub plan: PlanFile,
    pub rent: RentFile,
    pub money: BuyMoneyFile,
    /// Own ranges for the sensitivity table: parameter = [low, high].
    pub ranges: BTreeMap<String, [f64; 2]>,
}

/// The machines to be bought.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NodeFile {
    /// Price of one node.
    pub price: Option<Money>,
    /// Nodes.
    pub count: Option<f64>,
    /// GPUs in one node.
    pub gpus: Option<f64>,
    /// Which GPU, for the report and for defaults.
    pub gpu: Option<String>,
    /// Highest power of one node, kW.
    pub power_kw: Option<f64>,
    /// Fabric, switches and racks as a share of the price of the nodes.
    pub extras: Option<Share>,
    /// Tax that cannot be reclaimed, on all that is bought: machines, energy, colocation, upkeep, network, and
    /// rent alike; not on people. Prices are before tax.
    pub tax: Option<Share>,
}

/// Where they stand.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SiteFile {
    /// colocation (space and cooling are rented by the kW) or own.
    pub kind: Option<SiteKind>,
    /// Colocation of one kW for one month.
    pub colocation: Option<Money>,
    /// One kWh.
    pub energy: Option<Money>,
    /// Average power as a share of the highest.
    pub power_share: Option<Share>,
    /// Power of the building / power of the machines (own site only).
    pub pue: Option<f64>,
    /// Internet access per month.
    pub network: Option<Money>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SiteKind {
    Colocation,
    Own,
}

/// Who runs them.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PeopleFile {
    /// Full-time equivalents for one node.
    pub fte_per_node: Option<f64>,
    /// Cost of one full-time equivalent for one year.
    pub cost: Option<Money>,
}

/// Shares of the purchase price per year.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UpkeepFile {
    /// Spare parts.
    pub spares: Option<Share>,
    /// Maintenance contract.
    pub maintenance: Option<Share>,
    /// Insurance.
    pub insurance: Option<Share>,
}

/// Over which time, how well used, at what cost of capital.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PlanFile {
    /// Months from the decision to the sale of the machines.
    pub horizon_months: Option<f64>,
    /// Share of all hours in which the GPUs do paid work.
    pub utilisation: Option<Share>,
    /// Cost of capital per year.
    pub cost_of_capital: Option<Share>,
    /// Value at the end as a share of the price of the nodes.
    pub residual: Option<Share>,
    /// Months from the order to the first job; rent is paid meanwhile.
    pub lead_months: Option<f64>,
}

/// The alternative.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RentFile {
    /// Rent of one GPU for one hour.
    pub price: Option<Money>,
    /// An offer of the catalogue instead: `provider/instance_type@region`.
    pub offer: Option<String>,
    /// Own discount.
    pub discount: Option<Share>,
    /// How much rents fall per year.
    pub price_fall: Option<Share>,
}

/// Currency and exchange.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BuyMoneyFile {
    /// Currency of the answer; absent = that of the node's price.
    pub currency: Option<Currency>,
    /// Exchange rates with their dates; there are no built-in ones.
    pub rates: Vec<FxRate>,
}

/// A share: `0.06` or `"6%"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Share(pub f64);

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Share, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Typed {
            Number(f64),
            Whole(i64),
            Text(String),
        }
        let text = match Typed::deserialize(d)? {
            Typed::Number(x) => x.to_string(),
            Typed::Whole(x) => x.to_string(),
            Typed::Text(text) => text,
        };
        parse_percent(&text)
            .map(Share)
            .map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Share {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Share".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": ["number", "string"], "description": "share: 0.06 or \"6%\""})
    }
}

/// Reads the file; an empty one is a file with nothing set.
///
/// # Errors
/// Bad TOML, unknown fields (with a suggestion), values of the wrong kind: with line and column.
pub fn parse_buy(text: &str, place: &str) -> Result<BuyFile, BuyError> {
    toml::from_str(text).map_err(|e| {
        let (line, column) = line_and_column(text, e.span().map_or(0, |s| s.start));
        let (problem, hint) = wording(e.message());
        BuyError::Parse {
            place: place.to_owned(),
            line,
            column,
            problem,
            hint,
        }
    })
}
