//! The JSON documents that no crate below owns: what programs read from `catalog list`, `catalog import`,
//! `catalog doctor`, `plan --why-not` and from stderr. A field that is added here is added to the schema.
//!
//! The larger ones are elsewhere: `lessee_model::PlanDoc`, `lessee_model::quote::ImportDoc`,
//! `lessee_catalog::DiffDoc`, `lessee_cost::BuyReport`.

use lessee_model::quote::ImportDoc;
use lessee_model::{AsOf, Basis, Confidence, Money, Msg, Purchase, TaxNote, plan::GpuDoc};
use schemars::JsonSchema;
use serde::Serialize;

/// `catalog list -o json`; with `-o jsonl` each line is one of `offers`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CatalogListDoc {
    /// `lessee/catalog/v1`
    pub schema: String,
    pub catalog: lessee_model::plan::CatalogDoc,
    /// Prices that match; `--limit` may show fewer.
    pub matches: u64,
    /// Prices left out by a region filter because their source names no region.
    pub region_unknown: u64,
    /// Cheapest first, each currency by itself; what cannot be believed last.
    pub offers: Vec<PriceDoc>,
}

/// One price of one offer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PriceDoc {
    /// `provider/instance_type@region`
    pub key: String,
    pub provider: String,
    /// `*` = the source names none.
    pub region: String,
    pub instance_type: String,
    pub gpu: GpuDoc,
    pub vcpus: Option<f64>,
    pub memory_gib: Option<f64>,
    pub local_disk_gb: Option<f64>,
    pub network_gbps: Option<f64>,
    pub interconnect: Option<String>,
    /// How sure the figures of the machine are.
    pub machine_confidence: Confidence,
    pub purchase: Purchase,
    /// Of the whole machine.
    pub price: Money,
    /// Upper end where the source gives a range.
    pub price_high: Option<Money>,
    /// Always `instance_hour`.
    pub per: String,
    /// Of one whole GPU; null for a machine without.
    pub price_per_gpu_hour: Option<Money>,
    pub tax: TaxNote,
    pub as_of: Option<AsOf>,
    pub source: String,
    pub basis: Basis,
    /// How sure the price is.
    pub confidence: Confidence,
    /// `built-in`, or the name of the user's snapshot.
    pub origin: String,
    /// `unverified`, `stale`, `undated`, `range`, `zero`, `spot`, `term`, `own`
    pub marks: Vec<String>,
    /// The line of the quote as it was written.
    pub original: Option<String>,
    pub note: Option<String>,
}

/// `catalog show -o json`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OfferPricesDoc {
    /// `lessee/offer/v1`
    pub schema: String,
    pub offers: Vec<PriceDoc>,
}

/// `catalog import -o json`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ImportAnswer {
    #[serde(flatten)]
    pub import: ImportDoc,
    /// Absent where nothing was saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<SavedDoc>,
}

/// A snapshot that was written.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SavedDoc {
    pub name: String,
    pub file: String,
    /// Prices in it.
    pub rows: u64,
}

/// `catalog doctor -o json`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DoctorDoc {
    /// `lessee/catalog-doctor/v1`
    pub schema: String,
    pub findings: Vec<FindingDoc>,
}

/// One line of trouble: a rule, a provider and a source.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FindingDoc {
    /// `price_zero`, `no_date`, `stale`, `cartesian`, `memory_total`, `memory_odd`, `gpu_mismatch`,
    /// `family_price`, `spot_above_on_demand`, `bid_floor`, `gpu_unknown`, `unverified`, `not_current`
    pub code: String,
    pub provider: String,
    pub source: String,
    /// Name of the user's snapshot; null = built in.
    pub snapshot: Option<String>,
    /// Prices concerned.
    pub count: u64,
    /// Up to three keys.
    pub examples: Vec<String>,
    /// Oldest date among them.
    pub oldest: Option<AsOf>,
    pub what: Msg,
    /// `what` in the reader's language.
    pub text: String,
}

/// `plan --why-not OFFER -o json`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WhyNotDoc {
    /// `lessee/why-not/v1`
    pub schema: String,
    pub verdicts: Vec<VerdictDoc>,
}

/// What removed an offer, or how far behind it is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VerdictDoc {
    /// `provider/instance_type@region`
    pub key: String,
    /// `ranked`, `behind`, or the code of what removed it, as in `rejected.by_reason` of a plan.
    pub code: String,
    pub text: String,
}

/// One object on stderr where JSON was asked for; the names are those of RFC 9457.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ErrorDoc {
    /// `urn:lessee:error:` and the identifier of the problem.
    #[serde(rename = "type")]
    pub kind: String,
    /// What the exit status means.
    pub title: String,
    /// What is wrong, and where.
    pub detail: String,
    /// How to mend it.
    pub hints: Vec<String>,
    pub exit_code: u8,
}
