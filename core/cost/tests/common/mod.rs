//! A small world with the tariff fixed here, so that no change of the data files moves a test.

// each test binary uses its part
#![allow(dead_code, unreachable_pub)]

use jiff::tz::TimeZone;
use lessee_cost::{Case, Percentile, Run};
use lessee_model::tariff::{
    BillingRule, BootTime, MonthRules, PerVolumeMonth, Stopped, Tier, VolumeUnit,
};
use lessee_model::workload::{
    Constraints, Data, DataStorage, Destination, HoursJob, ImageReadiness, Job, Kind, LeansOn,
    Location, MoneyRules, Setup,
};
use lessee_model::{
    AcceleratorClass, Bill, BillingZone, Bytes, Calendar, Confidence, Currency, Fixed, Fx, GpuRef,
    Known, LineKind, Machine, MachineId, Market, Money, Msg, Offer, Origin, Price, Provenance,
    Purchase, Quantified, Seconds, Sourced, Tariff, TaxNote, Tiers, Unknown, Workload,
};
use std::collections::BTreeMap;
use std::sync::Arc;

pub const TB: f64 = 1024e9;

pub fn fixed(text: &str) -> Fixed {
    text.parse().expect("number")
}

pub fn usd(text: &str) -> Money {
    Money::new(fixed(text), Currency::USD)
}

pub fn known<T>(value: T) -> Known<T> {
    Ok(Sourced::new(value, Provenance::user("test")))
}

pub fn unknown<T>(low: &str, high: &str) -> Known<T> {
    Err(Unknown {
        reason: Msg::new("test"),
        low: Some(usd(low)),
        high: Some(usd(high)),
        why: Provenance::modelled("test range"),
    })
}

/// `(upper bound or "", price)` from zero on.
pub fn tier_list(rows: &[(&str, &str)]) -> Vec<Tier> {
    let mut from = Fixed::ZERO;
    rows.iter()
        .map(|(to, price)| {
            let to = (!to.is_empty()).then(|| fixed(to));
            let tier = Tier {
                from,
                to,
                price: usd(price),
            };
            from = to.unwrap_or(from);
            tier
        })
        .collect()
}

pub fn tiers(allowance: &str, rows: &[(&str, &str)]) -> Tiers {
    Tiers {
        unit: VolumeUnit::GB,
        allowance: fixed(allowance),
        tiers: tier_list(rows),
    }
}

pub fn aws_egress() -> Tiers {
    tiers(
        "100",
        &[
            ("10240", "0.09"),
            ("51200", "0.085"),
            ("153600", "0.07"),
            ("", "0.05"),
        ],
    )
}

pub fn per_month(price: &str) -> Known<PerVolumeMonth> {
    known(PerVolumeMonth {
        unit: VolumeUnit::GB,
        tiers: tier_list(&[("", price)]),
        min_days: 0,
    })
}

pub fn tariff() -> Tariff {
    Tariff {
        egress_internet: known(aws_egress()),
        egress_china: known(tiers("0", &[("", "0.23")])),
        inter_region: known(tiers("0", &[("", "0.02")])),
        ingress: known(tiers("0", &[("", "0")])),
        public_ip: known(usd("0")),
        object_storage: per_month("0.023"),
        put_requests: known(usd("0.005")),
        get_requests: known(usd("0.0004")),
        block_running: per_month("0.08"),
        block_stopped: per_month("0.1"),
        billing: known(BillingRule {
            increment_s: 1,
            minimum_s: 60,
            stopped_compute: Stopped::Free,
            stopped_storage: Stopped::Billed,
            stop_note_en: None,
            stop_note_zh: None,
        }),
        boot: known(BootTime {
            p50_s: 0.0,
            p90_s: 0.0,
        }),
        rounding_elsewhere_s: Some((1, 3600)),
        month_hours: 730,
        months: MonthRules::default(),
        calendar: None,
        source_egress: None,
    }
}

pub fn gpu() -> GpuRef {
    GpuRef {
        model: "H100".into(),
        form: None,
        memory_gb: None,
    }
}

/// A job that moves, keeps and pays nothing but machine time.
pub fn workload() -> Workload {
    Workload {
        name: "test".into(),
        start: None,
        kind: Kind::Hours,
        job: Job::Hours(HoursJob {
            gpu_hours: 1.0,
            gpu: gpu(),
            gpus: 1,
            memory: Bytes::ZERO,
            leans_on: LeansOn::Balanced,
        }),
        data: Data {
            size: Bytes::ZERO,
            files: 0.0,
            location: Location::Office,
            reads: 1.0,
            out: Bytes::ZERO,
            out_to: Destination::Internet,
            storage: DataStorage::Object,
            keep: None,
            egress_used: Bytes::ZERO,
        },
        checkpoint: None,
        constraints: Constraints {
            providers: vec![],
            exclude_providers: vec![],
            regions: vec![],
            gpus: vec![],
            gpu_memory: None,
            deadline: None,
            budget: None,
            spot: true,
            purchases: vec![],
            interconnect: None,
            compliance: vec![],
            cpus_per_gpu: 0.0,
            ram_per_gpu: Bytes::ZERO,
            max_nodes: 1,
            min_nodes: 1,
            max_price: None,
            allow_unverified: false,
        },
        setup: Setup {
            image: ImageReadiness::Ready,
            labour_hours: 0.0,
            machine: Seconds::ZERO,
            idle: Seconds::ZERO,
            stopped: Seconds::ZERO,
            incident_hours: 0.0,
            support_wait_hours: 0.0,
            disk: Bytes::ZERO,
            restart: Seconds::ZERO,
        },
        money: MoneyRules {
            currency: Currency::USD,
            fx: Fx::default(),
            exchange_fee: 0.0,
            discounts: BTreeMap::new(),
            tax: 0.0,
            labour_rate: None,
            support: None,
            commitment_reuse: 0.0,
        },
        assumed: vec![],
    }
}

pub fn price(purchase: Purchase, per_hour: Money) -> Price {
    Price {
        purchase,
        per_hour,
        upfront: None,
        high: None,
        tax: TaxNote::Excluded,
        why: Arc::new(Provenance::user("test")),
    }
}

/// Everything that a case borrows.
#[derive(Clone, Debug)]
pub struct World {
    pub workload: Workload,
    pub offer: Offer,
    pub machine: Machine,
    pub price: Price,
    pub base_price: Option<Price>,
    pub tariff: Tariff,
    pub run: Run,
    pub nodes: u32,
    pub base_nodes: u32,
    pub percentile: Percentile,
}

impl World {
    /// `work_s` seconds on one machine at `per_hour` USD on demand.
    pub fn new(work_s: f64, per_hour: &str) -> World {
        World {
            workload: workload(),
            offer: Offer {
                provider: "aws".into(),
                region: "us-east-1".into(),
                instance_type: "p5".into(),
                machine: MachineId(0),
                market: Market::List,
                prices: vec![],
                origin: Origin::BuiltIn,
                original: None,
                note: None,
            },
            machine: Machine {
                class: AcceleratorClass::Gpu,
                gpu: gpu(),
                gpu_count: 8,
                gpu_fraction: 1.0,
                usable_mib_each: None,
                vcpus: None,
                memory_gib: None,
                local_disk_gb: None,
                network_gbps: None,
                interconnect: None,
                link_gbs: None,
                rdma: None,
                arch: None,
                gpu_access: None,
                status: "current".into(),
                confidence: Confidence::Verified,
                host_confidence: Confidence::Verified,
            },
            price: price(Purchase::OnDemand, usd(per_hour)),
            base_price: None,
            tariff: tariff(),
            run: Run {
                work_s,
                work_p90_s: work_s * 1.5,
                gpus: 8,
                ..Run::default()
            },
            nodes: 1,
            base_nodes: 0,
            percentile: Percentile::P50,
        }
    }

    /// The job starts then, and the provider bills in this zone.
    pub fn starts(&mut self, start: &str, zone: &str) {
        let start = start.parse().expect("time");
        let zone = BillingZone {
            name: zone.into(),
            zone: TimeZone::get(zone).expect("zone"),
            confidence: Confidence::General,
        };
        self.workload.start = Some(start);
        self.tariff.calendar = Calendar::new(start, zone).map(Arc::new);
    }

    pub fn case(&self) -> Case<'_> {
        Case {
            workload: &self.workload,
            offer: &self.offer,
            machine: &self.machine,
            price: &self.price,
            purchase: if self.base_price.is_some() {
                Purchase::Mix
            } else {
                self.price.purchase
            },
            nodes: self.nodes,
            run: &self.run,
            tariff: &self.tariff,
            percentile: self.percentile,
            base_nodes: self.base_nodes,
            base_price: self.base_price.as_ref(),
        }
    }

    /// The bill, after checking what must hold for every bill.
    pub fn bill(&self) -> Bill {
        let bill = lessee_cost::bill(&self.case());
        check(&bill);
        let screened = lessee_cost::screen(&self.case());
        assert_eq!(screened.totals.iter().collect::<Vec<_>>(), bill.totals);
        assert_eq!(screened.at_least, bill.at_least);
        bill
    }

    pub fn total(&self) -> Money {
        self.bill().total().expect("one currency")
    }
}

/// Lines multiply out, totals are the sums of the known lines, and "at least" is said when it must be.
pub fn check(bill: &Bill) {
    let mut sums: Vec<Money> = Vec::new();
    let mut unknown = false;
    for line in &bill.lines {
        match &line.amount {
            Quantified::Known(amount) => {
                let price = line.unit_price.expect("a known line has a price");
                assert_eq!(price.times(line.quantity), *amount, "{line:?}");
                match sums.iter_mut().find(|m| m.currency == amount.currency) {
                    Some(sum) => sum.amount += amount.amount,
                    None => sums.push(*amount),
                }
            }
            Quantified::Unknown { low, high, .. } => {
                unknown = true;
                assert_eq!(line.unit_price, None);
                if let (Some(low), Some(high)) = (low, high) {
                    assert!(low.amount <= high.amount, "{line:?}");
                }
            }
        }
        assert!(!line.quantity.is_negative());
    }
    assert_eq!(sums, bill.totals);
    assert_eq!(unknown, bill.at_least);
}

/// The lines of one kind: quantity, and the amount to the cent or "unknown".
pub fn lines(bill: &Bill, kind: LineKind) -> Vec<(String, String)> {
    bill.lines
        .iter()
        .filter(|l| l.kind == kind)
        .map(|l| match &l.amount {
            Quantified::Known(m) => (l.quantity.to_string(), m.to_cents()),
            Quantified::Unknown { .. } => (l.quantity.to_string(), "unknown".to_owned()),
        })
        .collect()
}

/// One line of a kind, as `(quantity, cents)`.
pub fn line(bill: &Bill, kind: LineKind) -> (String, String) {
    let all = lines(bill, kind);
    assert_eq!(all.len(), 1, "{kind:?}: {all:?}");
    all.into_iter().next().expect("one")
}
