//! What a provider charges besides the machine: rows as the data files hold them ([`TariffBook`]) and
//! the rules that apply at one place ([`Tariff`], picked by `lessee-cost`).

use crate::{BillingZone, Calendar, Fixed, Known, Money, Provenance};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One step of a volume price: this price for the part of the volume between the bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Tier {
    /// In units of the tariff (GB or GiB), inclusive.
    pub from: Fixed,
    /// Exclusive; `None` = no upper bound.
    pub to: Option<Fixed>,
    pub price: Money,
}

/// Decimal or binary gigabytes: which one a price list means changes a bill by 7 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VolumeUnit {
    GB,
    GiB,
}

impl VolumeUnit {
    pub fn bytes(self) -> f64 {
        match self {
            VolumeUnit::GB => 1e9,
            VolumeUnit::GiB => (1u64 << 30) as f64,
        }
    }
    pub fn as_str(self) -> &'static str {
        match self {
            VolumeUnit::GB => "GB",
            VolumeUnit::GiB => "GiB",
        }
    }
}

/// A marginal volume tariff with a monthly free allowance. The allowance takes the first units off the
/// bill and leaves the bounds where they are (AWS: 10 TB = 10,240 GB cost 10,140 x 0.09).
#[derive(Clone, Debug, PartialEq)]
pub struct Tiers {
    pub unit: VolumeUnit,
    pub allowance: Fixed,
    /// Contiguous from 0, in order.
    pub tiers: Vec<Tier>,
}

/// How compute time is rounded and what standing still costs.
#[derive(Clone, Debug, PartialEq)]
pub struct BillingRule {
    pub increment_s: u32,
    pub minimum_s: u32,
    pub stopped_compute: Stopped,
    pub stopped_storage: Stopped,
    pub stop_note_en: Option<Arc<str>>,
    pub stop_note_zh: Option<Arc<str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    Free,
    Billed,
    /// The provider knows no stopped state: terminate or pay.
    NoStop,
    Unknown,
}

/// Seconds from the call to the first command on the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BootTime {
    pub p50_s: f64,
    pub p90_s: f64,
}

/// How often spot machines are taken back: an advisor's bucket, and the hazard modelled from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpotRisk {
    /// Interruptions per hour and machine: -ln(1 - share interrupted in 30 days) / 720. A model.
    pub hazard_per_hour: f64,
    pub hazard_low: f64,
    pub hazard_high: f64,
    /// Seconds between notice and the end; 0 = none.
    pub notice_s: f64,
}

/// Everything but the machine price, for one provider, region and machine size.
#[derive(Clone, Debug)]
pub struct Tariff {
    pub egress_internet: Known<Tiers>,
    pub egress_china: Known<Tiers>,
    pub inter_region: Known<Tiers>,
    pub ingress: Known<Tiers>,
    /// Per hour.
    pub public_ip: Known<Money>,
    /// Per GB-month.
    pub object_storage: Known<PerVolumeMonth>,
    /// Per 1,000 requests.
    pub put_requests: Known<Money>,
    pub get_requests: Known<Money>,
    pub block_running: Known<PerVolumeMonth>,
    pub block_stopped: Known<PerVolumeMonth>,
    pub billing: Known<BillingRule>,
    pub boot: Known<BootTime>,
    /// Smallest and largest step, in seconds, to which the providers with a known rule round billed
    /// time: the range where this one publishes no rule.
    pub rounding_elsewhere_s: Option<(u32, u32)>,
    /// Hours to which the provider counts a month, 730 for nearly all of them.
    pub month_hours: u32,
    pub months: MonthRules,
    /// The provider's billing months from the start of the job on (see `lessee_cost::calendar`); `None` if
    /// nobody said when it starts: then every month has `month_hours`.
    pub calendar: Option<Arc<Calendar>>,
    /// What the provider that holds the data now charges for letting them out; `None` when the data
    /// come from nowhere that bills (see `lessee_cost::source_egress`).
    pub source_egress: Option<Known<Tiers>>,
}

/// What a month means in a price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MonthRule {
    /// A fixed number of hours, the provider's `month_hours`.
    #[default]
    Hours,
    /// The month of the calendar.
    Calendar,
}

/// How a provider counts the months of its prices, where the start of the job is known. Allowances and tiers of
/// traffic are always those of the calendar month.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MonthRules {
    /// A GB-month: one GB for the hours of that month, or for `month_hours`.
    pub storage: MonthRule,
    /// A subscription by the month or year ends on the same day of a later month, or after so many hours.
    pub subscription: MonthRule,
}

/// A price for keeping one GB (or GiB) for one month.
#[derive(Clone, Debug, PartialEq)]
pub struct PerVolumeMonth {
    pub unit: VolumeUnit,
    /// Tiers over the stored volume; a single one in most cases.
    pub tiers: Vec<Tier>,
    /// Days that are charged at least.
    pub min_days: u32,
}

/// Rows of `data/tariffs/*.csv`; `region` may be `*`, a name or a comma-separated list.
#[derive(Clone, Debug, Default)]
pub struct TariffBook {
    pub egress: Vec<EgressRow>,
    pub storage: Vec<StorageRow>,
    pub billing: Vec<BillingRow>,
    pub commitments: Vec<CommitmentRow>,
    pub advisor: Vec<AdvisorRow>,
    pub spot_terms: Vec<SpotTermRow>,
    pub boot: Vec<BootRow>,
    /// Provider -> hours to the month, from `data/providers.csv`.
    pub month_hours: BTreeMap<Arc<str>, u32>,
    /// Provider -> where its billing months begin, from `data/providers.csv`.
    pub zones: BTreeMap<Arc<str>, BillingZone>,
    /// Provider -> what its months mean, from `data/tariffs/months.csv`; all in hours where it has no row.
    pub month_rules: BTreeMap<Arc<str>, MonthRules>,
}

#[derive(Clone, Debug)]
pub struct EgressRow {
    pub provider: Arc<str>,
    pub region: Arc<str>,
    /// `internet`, `inter_region`, `cross_zone`, `ingress`, `public_ip_hour`, `nat_hour`, `nat_gb`
    pub scope: Arc<str>,
    /// `world`, `china`, `australia`, `*`
    pub destination: Arc<str>,
    pub tier_from_gb: Fixed,
    pub tier_to_gb: Option<Fixed>,
    pub price: Money,
    /// `GB`, `GiB` or `hour`
    pub unit: Arc<str>,
    pub why: Provenance,
}

#[derive(Clone, Debug)]
pub struct StorageRow {
    pub provider: Arc<str>,
    pub region: Arc<str>,
    /// `object`, `block_running`, `block_stopped`, `request_put`, `request_get`, `retrieval`
    pub kind: Arc<str>,
    pub sku: Arc<str>,
    pub price: Money,
    /// `GB-month`, `GiB-month`, `TB-month`, `1000 requests`, `GB`
    pub unit: Arc<str>,
    pub tier_from_gb: Option<Fixed>,
    pub tier_to_gb: Option<Fixed>,
    pub min_days: Option<u32>,
    /// The sku that a plan uses unless told otherwise.
    pub default: bool,
    pub why: Provenance,
}

#[derive(Clone, Debug)]
pub struct BillingRow {
    pub provider: Arc<str>,
    pub scope: Arc<str>,
    pub vcpus_from: Option<f64>,
    pub vcpus_to: Option<f64>,
    pub increment_s: Option<u32>,
    pub minimum_s: Option<u32>,
    pub stopped_compute: Stopped,
    pub stopped_storage: Stopped,
    pub stop_note_en: Option<Arc<str>>,
    pub stop_note_zh: Option<Arc<str>>,
    pub why: Provenance,
}

#[derive(Clone, Debug)]
pub struct CommitmentRow {
    pub provider: Arc<str>,
    pub scope: Arc<str>,
    pub plan: Arc<str>,
    pub term_months: Option<u32>,
    pub upfront_fraction: Option<f64>,
    /// Share off the on-demand price.
    pub discount: Option<f64>,
    /// Read for GPUs, rather than an average over CPU families.
    pub gpu_specific: bool,
    pub why: Provenance,
}

#[derive(Clone, Debug)]
pub struct AdvisorRow {
    pub provider: Arc<str>,
    pub region: Arc<str>,
    pub instance_type: Arc<str>,
    /// Per cent off on-demand.
    pub savings_pct: f64,
    /// Share of instances interrupted in the trailing month, per cent.
    pub interrupt_low_pct: f64,
    pub interrupt_high_pct: Option<f64>,
    pub why: Provenance,
}

#[derive(Clone, Debug)]
pub struct SpotTermRow {
    pub provider: Arc<str>,
    pub notice_s: Option<f64>,
    pub protection_s: Option<f64>,
    pub why: Provenance,
}

#[derive(Clone, Debug)]
pub struct BootRow {
    pub provider: Arc<str>,
    /// `gpu` or `cpu`
    pub kind: Arc<str>,
    pub runs: u32,
    pub p50_s: f64,
    pub p90_s: f64,
    pub why: Provenance,
}
