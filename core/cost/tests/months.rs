//! Months: traffic, storage and commitments by the provider's month; and where an unknown line's range comes from.

mod common;

use common::*;
use lessee_model::tariff::{BootTime, Stopped};
use lessee_model::{Bytes, LineKind, Purchase, Quantified, Seconds};

const HOUR: f64 = 3600.0;
const MONTH: f64 = 730.0 * HOUR;

/// Results of a long run leave month by month, each with its own allowance and tiers.
#[test]
fn twelve_months_of_traffic_cost_twelve_times_one_month() {
    let egress =
        |world: &World| -> Vec<(String, String)> { lines(&world.bill(), LineKind::Egress) };
    let cents = |world: &World| -> f64 {
        egress(world)
            .iter()
            .map(|(_, cents)| cents.parse::<f64>().expect("cents"))
            .sum()
    };
    let mut month = World::new(MONTH, "1");
    month.tariff.object_storage = per_month("0");
    month.tariff.boot = known(BootTime {
        p50_s: 300.0,
        p90_s: 300.0,
    });
    month.workload.setup.machine = Seconds(3600.0);
    month.workload.data.out = Bytes(10.0 * TB);
    assert_eq!(
        cents(&month),
        912.60,
        "boot and set-up open no second month"
    );
    let mut year = month.clone();
    year.run.work_s = 12.0 * MONTH;
    year.workload.data.out = Bytes(120.0 * TB);
    assert_eq!(cents(&year), 12.0 * 912.60);
    // one line a tier: free, and the first price
    assert_eq!(
        egress(&year),
        vec![
            ("1200".into(), "0.00".into()),
            ("121680".into(), "10951.20".into())
        ]
    );
    // what was used of the allowance belongs to the first month only
    year.workload.data.egress_used = Bytes::from_gb(100.0);
    assert_eq!(cents(&year), 12.0 * 912.60 + 9.0);
    // a part of a month is a month: ten days more is a thirteenth
    year.run.work_s = 12.0 * MONTH + 240.0 * HOUR;
    year.workload.data.egress_used = Bytes::ZERO;
    let quantities: f64 = egress(&year)
        .iter()
        .map(|(q, _)| q.parse::<f64>().expect("number"))
        .sum();
    assert_eq!(
        quantities,
        120.0 * 1024.0,
        "nothing is lost to the division"
    );
    assert_eq!(egress(&year)[0].0, "1300");
}

/// Storage, commitments and traffic count months as the provider does.
#[test]
fn a_month_of_720_hours() {
    let mut world = World::new(1440.0 * HOUR, "1");
    world.tariff.month_hours = 720;
    world.workload.setup.disk = Bytes::from_gb(500.0);
    assert_eq!(line(&world.bill(), LineKind::BlockStorage).0, "1000");
    world.workload.setup.disk = Bytes::ZERO;
    world.workload.data.out = Bytes::from_gb(200.0);
    // two months begun and no third: the allowance of 100 GB twice
    assert_eq!(
        lines(&world.bill(), LineKind::Egress),
        vec![("200".into(), "0.00".into())]
    );
    world.workload.data.out = Bytes::ZERO;
    world.price.purchase = Purchase::Month;
    world.run.work_s = 1.5 * 720.0 * HOUR;
    assert_eq!(line(&world.bill(), LineKind::CommitmentUnused).0, "360");
}

/// An unknown line says where its own range comes from.
#[test]
fn unknown_lines_name_their_own_source() {
    let source = |world: &World, kind: LineKind| -> String {
        world
            .bill()
            .lines
            .iter()
            .find(|l| l.kind == kind && matches!(l.amount, Quantified::Unknown { .. }))
            .unwrap_or_else(|| panic!("no unknown {kind:?}"))
            .why
            .source
            .to_string()
    };
    let mut world = World::new(HOUR, "10");
    world.workload.setup.stopped = Seconds(HOUR);
    if let Ok(rule) = &mut world.tariff.billing {
        rule.value.stopped_compute = Stopped::Unknown;
    }
    assert!(source(&world, LineKind::Idle).starts_with("stopped time"));
    world.price.purchase = Purchase::Spot;
    assert!(source(&world, LineKind::Interruption).starts_with("the whole work"));
    world.tariff.egress_internet = known(tiers("0", &[("10", "0.12")]));
    world.workload.data.out = Bytes::from_gb(20.0);
    assert!(source(&world, LineKind::Egress).starts_with("last published tier"));
    world.tariff.egress_internet = unknown("0", "1");
    assert_eq!(source(&world, LineKind::Egress), "test range");
    world.price.high = Some(usd("12"));
    assert_eq!(source(&world, LineKind::Compute), "test");
}
