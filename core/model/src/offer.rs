//! What is for rent: machines, the places where they are offered, and their prices.

use crate::{Confidence, Form, GpuRef, Money, Provenance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// How a machine is paid for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Purchase {
    OnDemand,
    Spot,
    Month,
    #[serde(rename = "year_1")]
    Year1,
    #[serde(rename = "year_3")]
    Year3,
    /// A base under commitment plus peaks on demand (serving only).
    Mix,
}

impl Purchase {
    pub const ALL: [Purchase; 6] = [
        Purchase::OnDemand,
        Purchase::Spot,
        Purchase::Month,
        Purchase::Year1,
        Purchase::Year3,
        Purchase::Mix,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Purchase::OnDemand => "on_demand",
            Purchase::Spot => "spot",
            Purchase::Month => "month",
            Purchase::Year1 => "year_1",
            Purchase::Year3 => "year_3",
            Purchase::Mix => "mix",
        }
    }

    /// Months committed to, 0 for none.
    pub fn term_months(self) -> u32 {
        match self {
            Purchase::Month => 1,
            Purchase::Year1 => 12,
            Purchase::Year3 => 36,
            _ => 0,
        }
    }
}

impl fmt::Display for Purchase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Purchase {
    type Err = ();
    fn from_str(text: &str) -> Result<Purchase, ()> {
        Purchase::ALL
            .into_iter()
            .find(|p| p.as_str() == text.trim())
            .ok_or(())
    }
}

/// What kind of seller; decides after how many days a price counts as stale.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Market {
    /// A large cloud with a published price list.
    List,
    GpuCloud,
    /// Many hosts, prices move daily.
    Marketplace,
    /// The user's own quote or contract.
    Quote,
}

/// Days after which a price is called stale, by kind of seller (`[stale]` of the defaults).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleAfter {
    pub list: i32,
    pub gpu_cloud: i32,
    pub marketplace: i32,
    pub quote: i32,
}

impl StaleAfter {
    pub fn from_defaults(d: &crate::workload::Defaults) -> StaleAfter {
        let days = |key: &str| d.get(key) as i32;
        StaleAfter {
            list: days("stale.after_days_list"),
            gpu_cloud: days("stale.after_days_gpu_cloud"),
            marketplace: days("stale.after_days_marketplace"),
            quote: days("stale.after_days_quote"),
        }
    }

    pub fn days(self, market: Market) -> i32 {
        match market {
            Market::List => self.list,
            Market::GpuCloud => self.gpu_cloud,
            Market::Marketplace => self.marketplace,
            Market::Quote => self.quote,
        }
    }
}

/// How the GPUs of one machine reach each other.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Interconnect {
    /// One GPU: nothing to connect.
    None,
    /// Loose PCIe, usually through the host.
    Pcie,
    /// Pairs bridged, PCIe between pairs.
    NvlinkBridge,
    /// Direct NVLink mesh.
    Nvlink,
    /// AMD Infinity Fabric mesh.
    Xgmi,
    /// Full-bandwidth switch in the box.
    Nvswitch,
    /// Rack-scale NVLink domain.
    Nvl72,
}

impl Interconnect {
    pub const ALL: [Interconnect; 7] = [
        Interconnect::None,
        Interconnect::Pcie,
        Interconnect::NvlinkBridge,
        Interconnect::Nvlink,
        Interconnect::Xgmi,
        Interconnect::Nvswitch,
        Interconnect::Nvl72,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Interconnect::None => "none",
            Interconnect::Pcie => "pcie",
            Interconnect::NvlinkBridge => "nvlink_bridge",
            Interconnect::Nvlink => "nvlink",
            Interconnect::Xgmi => "xgmi",
            Interconnect::Nvswitch => "nvswitch",
            Interconnect::Nvl72 => "nvl72",
        }
    }

    /// Order of strength for "at least ...": a mesh of either vendor satisfies `nvlink`.
    pub fn rank(self) -> u8 {
        match self {
            Interconnect::None => 0,
            Interconnect::Pcie => 1,
            Interconnect::NvlinkBridge => 2,
            Interconnect::Nvlink | Interconnect::Xgmi => 3,
            Interconnect::Nvswitch => 4,
            Interconnect::Nvl72 => 5,
        }
    }
}

impl FromStr for Interconnect {
    type Err = ();
    fn from_str(text: &str) -> Result<Interconnect, ()> {
        Interconnect::ALL
            .into_iter()
            .find(|i| i.as_str() == text.trim())
            .ok_or(())
    }
}

impl fmt::Display for Interconnect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AcceleratorClass {
    Gpu,
    /// Gaudi, Inferentia, Trainium, TPU, Ascend.
    Npu,
    Fpga,
    Media,
}

/// What stands in the box. Shared by all offers of the same type. `None` = not known, never 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    pub class: AcceleratorClass,
    pub gpu: GpuRef,
    /// Devices the guest sees.
    pub gpu_count: u16,
    /// Share of one physical GPU behind each device: 1 for a whole GPU, 1/6 for the smallest slice.
    pub gpu_fraction: f32,
    /// Memory of one device as `nvidia-smi` reports it, MiB.
    pub usable_mib_each: Option<u32>,
    pub vcpus: Option<f32>,
    pub memory_gib: Option<f32>,
    /// Local scratch, decimal GB.
    pub local_disk_gb: Option<f32>,
    /// Network of the whole machine, Gbit/s: the sustained rate where the type bursts, else the maximum.
    pub network_gbps: Option<f32>,
    pub interconnect: Option<Interconnect>,
    /// GPU-GPU link of this machine, GB/s per GPU, both directions, where it differs from the card's.
    pub link_gbs: Option<f32>,
    /// EFA, InfiniBand, RoCE ... between machines.
    pub rdma: Option<Arc<str>>,
    /// `x86_64` or `arm64`
    pub arch: Option<Arc<str>>,
    /// `passthrough`, `vgpu`, `bare metal`, `container`
    pub gpu_access: Option<Arc<str>>,
    /// `current`, `preview`, `variant`, `alias`, `retired`
    pub status: Arc<str>,
    /// How far identity and count of the GPU were checked.
    pub confidence: Confidence,
    /// The same for vCPU, RAM and disk.
    pub host_confidence: Confidence,
}

impl Machine {
    /// Whole GPUs paid for: count x fraction.
    pub fn gpu_equivalents(&self) -> f64 {
        f64::from(self.gpu_count) * f64::from(self.gpu_fraction)
    }
}

/// Index into [`Catalog::machines`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MachineId(pub u32);

/// Where an offer comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    BuiltIn,
    /// The name of a snapshot in the user's data folder; wins over built-in rows of the same key.
    User(Arc<str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaxNote {
    Included,
    Excluded,
    Unknown,
}

/// One way to pay for an offer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    pub purchase: Purchase,
    /// For the whole instance and one hour. Zero is a defect of the data, never "free".
    pub per_hour: Money,
    /// Share paid at the start of the term, 0..=1.
    pub upfront: Option<f32>,
    /// Upper end where the source gives a range; `per_hour` is then the lower end and is not ranked.
    pub high: Option<Money>,
    pub tax: TaxNote,
    pub why: Arc<Provenance>,
}

/// A machine at a place, for money.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    pub provider: Arc<str>,
    /// `*` where the provider has one price for all.
    pub region: Arc<str>,
    pub instance_type: Arc<str>,
    pub machine: MachineId,
    pub market: Market,
    pub prices: Vec<Price>,
    pub origin: Origin,
    /// The line of a quote as it was written.
    pub original: Option<Arc<str>>,
    /// What the source said besides.
    pub note: Option<Arc<str>>,
}

impl Offer {
    /// `provider/instance_type@region`
    pub fn key(&self) -> String {
        format!("{}/{}@{}", self.provider, self.instance_type, self.region)
    }

    pub fn price(&self, purchase: Purchase) -> Option<&Price> {
        self.prices.iter().find(|p| p.purchase == purchase)
    }
}

/// Offers and the machines they share.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    pub machines: Vec<Machine>,
    pub offers: Vec<Offer>,
}

impl Catalog {
    pub fn machine(&self, offer: &Offer) -> &Machine {
        &self.machines[offer.machine.0 as usize]
    }

    /// Newest date over all prices: how fresh the catalog is.
    pub fn as_of(&self) -> Option<crate::AsOf> {
        self.offers
            .iter()
            .flat_map(|o| &o.prices)
            .filter_map(|p| p.why.as_of)
            .max_by_key(|d| d.earliest())
    }
}

/// Names the form for tables: `H100 SXM 80 GB x8`.
pub fn machine_label(machine: &Machine) -> String {
    let form: Option<Form> = machine.gpu.form;
    let mut label = machine.gpu.model.to_string();
    if let Some(form) = form {
        label.push_str(&format!(" {form}"));
    }
    if let Some(gb) = machine.gpu.memory_gb {
        label.push_str(&format!(" {gb:.0}GB"));
    }
    if machine.gpu_fraction < 0.999 {
        label.push_str(&format!(" ({:.2})", machine.gpu_fraction));
    }
    if machine.gpu_count != 1 {
        label.push_str(&format!(" x{}", machine.gpu_count));
    }
    label
}
