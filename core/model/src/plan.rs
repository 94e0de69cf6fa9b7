//! The JSON document of `plan -o json`: `lessee/plan/v1`. Texts are already in the reader's language;
//! keys and codes never are.

use crate::{
    AsOf, Basis, Bytes, Confidence, Currency, LineKind, Money, Purchase, Term, WorkUnit,
    perf::{BoundBy, Layout, MemoryUse},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlanDoc {
    /// `lessee/plan/v1`
    pub schema: String,
    /// RFC 3339, UTC.
    pub generated_at: String,
    pub catalog: CatalogDoc,
    /// The workload as resolved: every default filled in.
    pub workload: serde_json::Value,
    /// Ranked, best first.
    pub options: Vec<OptionDoc>,
    /// What cannot be ranked and why: no published price, no exchange rate, unverified.
    pub unranked: Vec<UnrankedDoc>,
    pub rejected: RejectedDoc,
    /// Ranks of options that no other beats in cost, time and risk at once.
    pub pareto: Vec<u32>,
    /// Defaults that the user did not set, each `path = value`.
    pub assumptions: Vec<AssumptionDoc>,
    pub warnings: Vec<WarningDoc>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CatalogDoc {
    pub offers: u64,
    /// Newest price in the catalog.
    pub as_of: Option<AsOf>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OptionDoc {
    pub rank: u32,
    pub offer: OfferDoc,
    pub nodes: u32,
    pub purchase: Purchase,
    pub work: WorkDoc,
    pub bill: BillDoc,
    pub cost_per_unit: CostPerUnitDoc,
    /// Expected interruptions over the job.
    pub interruptions: f64,
    /// Of spot options: how the market was judged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spot: Option<SpotDoc>,
    pub warnings: Vec<WarningDoc>,
}

/// How a spot option was judged. Hours and seconds are those of the whole fleet.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SpotDoc {
    /// `measured`: the job was replayed on recorded availability; else that of the rate of interruption.
    pub basis: Basis,
    /// The recommended policy, by its name in `simulate`; null without a record.
    pub policy: Option<String>,
    /// Start times that were replayed; 0 without a record.
    pub starts: u64,
    /// How many times the record holds the deadline one after the other: what its starts can tell apart.
    pub independent: f64,
    /// The whole bill, on average.
    pub cost_mean: Option<Money>,
    /// The whole bill, nine times in ten below.
    pub cost_p90: Option<Money>,
    /// Without a record: the whole bill at the low end of the rate of interruption.
    pub cost_low: Option<Money>,
    /// The same at the high end; null also where it may never finish.
    pub cost_high: Option<Money>,
    /// Share of the starts that kept the deadline; null without a record.
    pub meets_deadline_share: Option<f64>,
    /// The deadline of the replay, from the first machine's set-up on.
    pub deadline_seconds: Option<f64>,
    /// The workload sets no deadline; this one was taken.
    pub deadline_assumed: bool,
    pub interruptions_mean: f64,
    /// Paid, without progress that lasted.
    pub lost_hours_mean: f64,
    /// Nothing could be had, and nothing was paid.
    pub waiting_hours_mean: f64,
    /// On demand in place of spot.
    pub on_demand_hours_mean: f64,
    /// Work between two checkpoints that loses least; null where the work saves none.
    pub checkpoint_interval_seconds: Option<f64>,
    /// How often to save, in full; null where the work saves none.
    pub saves: Option<SpotSavesDoc>,
    /// Files and zones of the record, or where the rate is from.
    pub source: String,
    /// A record speaks for it, but could not be replayed: the option's warnings say why.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub record_refused: bool,
    /// Only of services that were replayed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hedge: Option<SpotHedgeDoc>,
    /// Only where one option without a record is explained.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub modelled: Option<SpotModelledDoc>,
}

/// How often to save on spot: for saves that stop the work and for those in the background.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SpotSavesDoc {
    /// Work between two saves that stop it.
    pub stopping_every_seconds: f64,
    /// Work between two saves that go on in the background.
    pub background_every_seconds: f64,
    /// How long writing one takes.
    pub save_seconds: f64,
    /// From the provider's warning until the machine is gone; 0: none.
    pub notice_seconds: f64,
    /// A save that begins with the warning is done in time.
    pub fits_notice: bool,
}

/// A service on spot with on-demand behind it, replayed over the whole record.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SpotHedgeDoc {
    /// Machines that are needed.
    pub machines: u32,
    /// Spot machines beyond them.
    pub spare_spot: u32,
    /// Machines that are on demand all the time.
    pub on_demand_floor: u32,
    /// Machines paid for on average.
    pub spot_mean: f64,
    pub on_demand_mean: f64,
    /// Share of the time in which all that are needed answered.
    pub ready_share: f64,
    /// Length of the record.
    pub record_hours: f64,
}

/// A replay on markets that were generated from the range of a rate of interruption: a model, no measurement.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SpotModelledDoc {
    /// Recommended at the middle rate.
    pub policy: String,
    /// Mean cost of machine time at the ends of the range.
    pub machine_cost_low: Money,
    pub machine_cost_high: Money,
    /// The least share of starts in time, at any rate of the range.
    pub meets_deadline_share: f64,
    pub deadline_seconds: f64,
    pub deadline_assumed: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OfferDoc {
    /// `provider/instance_type@region`
    pub key: String,
    pub provider: String,
    pub region: String,
    pub instance_type: String,
    pub gpu: GpuDoc,
    pub vcpus: Option<f64>,
    pub memory_gib: Option<f64>,
    pub interconnect: Option<String>,
    pub network_gbps: Option<f64>,
    pub price_per_hour: Money,
    pub price_as_of: Option<AsOf>,
    pub price_source: String,
    pub confidence: Confidence,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GpuDoc {
    pub model: String,
    /// `SXM`, `PCIe`, `NVL`, `OAM`, `Superchip`; null = not stated.
    pub form: Option<String>,
    pub count: u32,
    pub memory_gb_each: Option<f64>,
    pub usable_mib_each: Option<u32>,
    /// Share of a physical GPU behind each device; 1 = whole.
    pub fraction: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WorkDoc {
    pub unit: WorkUnit,
    pub per_second: f64,
    pub low: f64,
    pub high: f64,
    pub bound_by: BoundBy,
    pub duration_seconds: f64,
    pub duration_p90_seconds: f64,
    pub basis: Basis,
    pub memory: MemoryUse,
    pub layout: Layout,
    pub terms: Vec<Term>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BillDoc {
    pub currency: Currency,
    /// Some lines are unknown: the total is a lower bound.
    pub at_least: bool,
    pub lines: Vec<LineDoc>,
    /// Null when lines in several currencies could not be added; see `totals`.
    pub total: Option<Money>,
    /// With the 90th percentile of duration and interruptions.
    pub total_p90: Option<Money>,
    pub totals: Vec<Money>,
    pub months: MonthsDoc,
}

/// What a month of the bill was.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MonthsDoc {
    /// `hours` (no start was given) or `calendar`.
    pub rule: String,
    /// Hours of a month where no calendar counts.
    pub hours: u32,
    /// IANA zone in which the provider's billing months begin; null with the rule `hours`.
    pub zone: Option<String>,
    /// How far that zone was checked.
    pub confidence: Option<Confidence>,
    /// Start of the job, RFC 3339, UTC.
    pub start: Option<String>,
    pub text: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LineDoc {
    pub kind: LineKind,
    pub what: String,
    /// Exact decimal.
    pub quantity: String,
    pub unit: String,
    pub unit_price: Option<Money>,
    /// Null when not known; then `low`, `high` and `reason` say what can be said.
    pub amount: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub low: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub high: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    pub basis: Basis,
    pub confidence: Confidence,
    pub source: String,
    pub as_of: Option<AsOf>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CostPerUnitDoc {
    /// `run`, `1M tokens`, `frame`, `trial`, `gpu_hour`
    pub unit: String,
    pub amount: Option<Money>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WarningDoc {
    pub code: String,
    pub text: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UnrankedDoc {
    pub key: String,
    pub purchase: Purchase,
    pub nodes: u32,
    /// What it would cost, in the currency of the plan; null if some of it could not be exchanged.
    pub total: Option<Money>,
    /// One sum per currency.
    #[serde(default)]
    pub totals: Vec<Money>,
    pub reason: WarningDoc,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RejectedDoc {
    pub count: u64,
    /// Code of the reason -> number of offers.
    pub by_reason: std::collections::BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AssumptionDoc {
    pub field: String,
    pub value: String,
    /// It follows from other fields, rather than from a table of defaults.
    #[serde(default)]
    pub derived: bool,
    pub text: String,
}

/// A size for people next to the exact number of bytes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SizeDoc {
    pub bytes: Bytes,
    pub text: String,
}
