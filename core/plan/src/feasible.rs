//! May this machine, at this offer, do the job at all? Cheap checks only; speed comes in `evaluate`.

use crate::{PlanInput, Rules};
use lessee_model::workload::Constraints;
use lessee_model::{
    AcceleratorClass, Basis, Confidence, GpuRef, Machine, Market, Money, Msg, Offer, Price,
    Purchase, glob_match,
};

/// Why an offer is out. The order of the variants is the order of the checks.
#[derive(Clone, Debug, PartialEq)]
pub enum Reject {
    Provider,
    Region,
    NotAGpu,
    Retired,
    Gpu,
    GpuMemory,
    Interconnect,
    Cpus,
    Ram,
    PriceCap,
    PriceMissing,
    SpotNotAllowed,
    Purchase,
    /// What `core/perf` says: does not fit, no data sheet, objective out of reach.
    Perf(&'static str, Box<Msg>),
    TooManyNodes {
        needed: u32,
        allowed: u32,
    },
    Deadline {
        seconds: f64,
        allowed: f64,
    },
    Budget {
        total: Money,
        allowed: Money,
    },
    NeverFinishes,
}

impl Reject {
    /// Stable code for JSON.
    pub fn code(&self) -> &'static str {
        match self {
            Reject::Provider => "provider_not_wanted",
            Reject::Region => "region_not_wanted",
            Reject::NotAGpu => "not_a_gpu",
            Reject::Retired => "machine_not_orderable",
            Reject::Gpu => "gpu_not_wanted",
            Reject::GpuMemory => "gpu_memory_out_of_range",
            Reject::Interconnect => "interconnect_too_weak",
            Reject::Cpus => "too_few_cpus",
            Reject::Ram => "too_little_ram",
            Reject::PriceCap => "price_above_cap",
            Reject::PriceMissing => "price_missing",
            Reject::SpotNotAllowed => "spot_not_allowed",
            Reject::Purchase => "purchase_not_wanted",
            Reject::Perf(code, _) => code,
            Reject::TooManyNodes { .. } => "too_many_nodes",
            Reject::Deadline { .. } => "deadline_missed",
            Reject::Budget { .. } => "over_budget",
            Reject::NeverFinishes => "never_finishes",
        }
    }

    /// How much the reason tells: of several prices of one offer, the one that came furthest is the answer.
    pub(crate) fn weight(&self) -> u8 {
        match self {
            Reject::SpotNotAllowed | Reject::Purchase => 0,
            Reject::PriceMissing => 1,
            Reject::PriceCap => 2,
            Reject::NeverFinishes => 3,
            Reject::Deadline { .. } | Reject::Budget { .. } => 5,
            _ => 4,
        }
    }

    /// The reason with its figures, for people.
    pub fn msg(&self) -> Msg {
        match self {
            Reject::Provider => Msg::new("reject-provider"),
            Reject::Region => Msg::new("reject-region"),
            Reject::NotAGpu => Msg::new("reject-not-a-gpu"),
            Reject::Retired => Msg::new("reject-retired"),
            Reject::Gpu => Msg::new("reject-gpu"),
            Reject::GpuMemory => Msg::new("reject-gpu-memory"),
            Reject::Interconnect => Msg::new("reject-interconnect"),
            Reject::Cpus => Msg::new("reject-cpus"),
            Reject::Ram => Msg::new("reject-ram"),
            Reject::PriceCap => Msg::new("reject-price-cap"),
            Reject::PriceMissing => Msg::new("reject-price-missing"),
            Reject::SpotNotAllowed => Msg::new("reject-spot"),
            Reject::Purchase => Msg::new("reject-purchase"),
            Reject::Perf(_, msg) => (**msg).clone(),
            Reject::TooManyNodes { needed, allowed } => Msg::new("reject-nodes")
                .arg("needed", *needed)
                .arg("allowed", *allowed),
            Reject::Deadline { seconds, allowed } => Msg::new("reject-deadline")
                .seconds("needed", *seconds)
                .seconds("allowed", *allowed),
            Reject::Budget { total, allowed } => Msg::new("reject-budget")
                .arg("needed", *total)
                .arg("allowed", *allowed),
            Reject::NeverFinishes => Msg::new("reject-never-finishes"),
        }
    }
}

/// The workload's GPU names, resolved once.
pub(crate) struct Wanted {
    gpus: Vec<(GpuRef, Option<lessee_model::Range<u32>>)>,
}

impl Wanted {
    pub(crate) fn new(input: &PlanInput<'_>) -> Wanted {
        let gpus = input
            .workload
            .constraints
            .gpus
            .iter()
            .filter_map(|f| input.gpus.resolve(&f.name).map(|gpu| (gpu, f.count)))
            .collect();
        Wanted { gpus }
    }

    fn takes(&self, machine: &Machine) -> bool {
        self.gpus.is_empty()
            || self.gpus.iter().any(|(gpu, count)| {
                gpu.model == machine.gpu.model
                    && gpu
                        .form
                        .is_none_or(|f| machine.gpu.form.is_none_or(|m| m == f))
                    && gpu.memory_gb.is_none_or(|gb| {
                        machine
                            .gpu
                            .memory_gb
                            .is_none_or(|m| lessee_model::gpu::same_memory(gb, m))
                    })
                    && count.is_none_or(|c| c.contains(u32::from(machine.gpu_count)))
            })
    }
}

/// Checks of the machine alone; the answer is shared by all its offers.
pub(crate) fn machine_ok(
    machine: &Machine,
    wanted: &Wanted,
    c: &Constraints,
) -> Result<(), Reject> {
    if machine.class != AcceleratorClass::Gpu {
        return Err(Reject::NotAGpu);
    }
    if matches!(&*machine.status, "retired" | "preview") {
        return Err(Reject::Retired);
    }
    if !wanted.takes(machine) {
        return Err(Reject::Gpu);
    }
    // memory that nobody states is not a pass
    if let Some(range) = c.gpu_memory
        && machine
            .gpu
            .memory_gb
            .is_none_or(|gb| !range.contains(lessee_model::Bytes(gb * 1e9)))
    {
        return Err(Reject::GpuMemory);
    }
    // one GPU has nothing to connect; an unknown link between several is not a pass
    if let Some(least) = c.interconnect
        && machine.gpu_count > 1
        && machine.interconnect.is_none_or(|i| i.rank() < least.rank())
    {
        return Err(Reject::Interconnect);
    }
    let gpus = f64::from(machine.gpu_count.max(1));
    if c.cpus_per_gpu > 0.0
        && machine
            .vcpus
            .is_some_and(|v| f64::from(v) / gpus < c.cpus_per_gpu)
    {
        return Err(Reject::Cpus);
    }
    let ram = machine
        .memory_gib
        .map(|gib| f64::from(gib) * (1u64 << 30) as f64 / gpus);
    if c.ram_per_gpu.0 > 0.0 && ram.is_some_and(|bytes| bytes < c.ram_per_gpu.0) {
        return Err(Reject::Ram);
    }
    Ok(())
}

/// Checks of the place.
pub(crate) fn offer_ok(offer: &Offer, c: &Constraints) -> Result<(), Reject> {
    let named = |list: &[String]| list.iter().any(|p| glob_match(p, &offer.provider));
    if (!c.providers.is_empty() && !named(&c.providers)) || named(&c.exclude_providers) {
        return Err(Reject::Provider);
    }
    if !c.regions.is_empty()
        && &*offer.region != "*"
        && !c.regions.iter().any(|r| glob_match(r, &offer.region))
    {
        return Err(Reject::Region);
    }
    Ok(())
}

/// Checks of one way to pay.
pub(crate) fn purchase_ok(purchase: Purchase, c: &Constraints) -> Result<(), Reject> {
    if purchase == Purchase::Spot && !c.spot {
        return Err(Reject::SpotNotAllowed);
    }
    if !c.purchases.is_empty() && !c.purchases.contains(&purchase) {
        return Err(Reject::Purchase);
    }
    Ok(())
}

/// Why a price may be shown but not ranked; `None` = it may be ranked.
pub(crate) fn unranked_because(
    offer: &Offer,
    machine: &Machine,
    price: &Price,
    age_days: Option<i32>,
    input: &PlanInput<'_>,
) -> Option<&'static str> {
    let allow = input.workload.constraints.allow_unverified;
    if price.high.is_some() {
        return Some("price_is_a_range");
    }
    if &*offer.region == "*" && !input.workload.constraints.regions.is_empty() {
        return Some("region_unknown");
    }
    if !allow && price.why.confidence == Confidence::Unverified {
        return Some("price_unverified");
    }
    if !allow && machine.confidence == Confidence::Unverified {
        return Some("machine_unverified");
    }
    let limit = match offer.market {
        Market::List => input.rules.unranked_after_days_list,
        Market::GpuCloud => input.rules.unranked_after_days_gpu_cloud,
        Market::Marketplace => input.rules.unranked_after_days_marketplace,
        Market::Quote => input.rules.unranked_after_days_quote,
    };
    match age_days {
        None if price.why.basis == Basis::Quoted => None,
        None => Some("price_undated"),
        Some(days) if f64::from(days) > limit => Some("price_too_old"),
        Some(_) => None,
    }
}

/// Whether a price of this age is older than its market allows.
pub(crate) fn is_stale(offer: &Offer, age_days: Option<i32>, rules: &Rules) -> bool {
    age_days.is_some_and(|days| days > rules.stale.days(offer.market))
}
