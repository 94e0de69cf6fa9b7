//! Billing months of a job whose start is known, each number worked out by hand.

mod common;

use common::*;
use lessee_cost::{calendar, resolve_tariff};
use lessee_model::tariff::{MonthRule, MonthRules};
use lessee_model::workload::SupportPlan;
use lessee_model::{BillingZone, Bytes, LineKind, Purchase, Seconds, TariffBook};

const HOUR: f64 = 3600.0;
const DAY: f64 = 24.0 * HOUR;

/// 400 GB leave over 8 hours that begin on 31 January 2027 at 20:00 UTC.
fn over_new_month(zone: &str) -> Vec<(String, String)> {
    let mut world = World::new(8.0 * HOUR, "1");
    world.tariff.object_storage = per_month("0");
    world.workload.data.out = Bytes::from_gb(400.0);
    world.starts("2027-01-31T20:00:00Z", zone);
    lines(&world.bill(), LineKind::Egress)
}

#[test]
fn a_job_over_the_end_of_a_month_has_two_allowances_in_the_providers_zone() {
    // UTC: 4 h in January and 4 h in February, 200 GB each: 2 x 100 free, 2 x 100 x 0.09
    assert_eq!(
        over_new_month("UTC"),
        [
            ("200".into(), "0.00".into()),
            ("200".into(), "18.00".into())
        ]
    );
    // Shanghai: already 1 February, 04:00; Los Angeles: still 31 January, noon: 100 free, 300 x 0.09
    let one = [
        ("100".into(), "0.00".into()),
        ("300".into(), "27.00".into()),
    ];
    assert_eq!(over_new_month("Asia/Shanghai"), one);
    assert_eq!(over_new_month("America/Los_Angeles"), one);
}

#[test]
fn what_was_used_before_belongs_to_the_month_of_the_start() {
    let mut world = World::new(8.0 * HOUR, "1");
    world.tariff.object_storage = per_month("0");
    world.workload.data.out = Bytes::from_gb(400.0);
    world.workload.data.egress_used = Bytes::from_gb(60.0);
    world.starts("2027-01-31T20:00:00Z", "UTC");
    // January: 40 free of 200; February: 100 free of 200
    let january = world.bill();
    let parts = lines(&january, LineKind::Egress);
    assert_eq!(parts[0].0, "140");
    assert_eq!(parts[1], ("260".into(), "23.40".into()));
    // boot and set-up end after midnight: all leaves in February, whose allowance nobody has used
    world.workload.setup.machine = Seconds(5.0 * HOUR);
    let parts = lines(&world.bill(), LineKind::Egress);
    assert_eq!(parts[0].0, "100");
}

#[test]
fn tiers_begin_again_with_the_month() {
    // 60 TB over 60 days from 1 January 2027: 31 in January, 28 in February, 1 in March
    let mut world = World::new(60.0 * DAY, "1");
    world.tariff.object_storage = per_month("0");
    world.workload.data.out = Bytes(60.0 * TB);
    world.starts("2027-01-01T00:00:00Z", "UTC");
    // 31,744 + 28,672 + 1,024 GB; free 3 x 100; at 0.09: 10,140 + 10,140 + 924; at 0.085: 21,504 + 18,432
    assert_eq!(
        lines(&world.bill(), LineKind::Egress),
        [
            ("300".into(), "0.00".into()),
            ("21204".into(), "1908.36".into()),
            ("39936".into(), "3394.56".into())
        ]
    );
}

#[test]
fn a_gb_month_of_the_calendar_is_one_in_february_and_in_a_month_with_a_clock_change() {
    let stored = |start: &str, zone: &str, hours: f64, storage: MonthRule| {
        let mut world = World::new(hours * HOUR, "1");
        world.workload.setup.disk = Bytes::from_gb(1000.0);
        world.tariff.months.storage = storage;
        world.starts(start, zone);
        line(&world.bill(), LineKind::BlockStorage)
    };
    let by_date = MonthRule::Calendar;
    // 28 days are February 2027, but 28 of 29 in the leap year 2028: 1000 x 28/29
    assert_eq!(
        stored("2027-02-01T00:00:00Z", "UTC", 672.0, by_date).0,
        "1000"
    );
    assert!(
        stored("2028-02-01T00:00:00Z", "UTC", 672.0, by_date)
            .0
            .starts_with("965.51724")
    );
    assert_eq!(
        stored("2028-02-01T00:00:00Z", "UTC", 696.0, by_date).0,
        "1000"
    );
    // March 2027 in Los Angeles loses an hour, November gains one
    let west = "America/Los_Angeles";
    assert_eq!(
        stored("2027-03-01T08:00:00Z", west, 743.0, by_date).0,
        "1000"
    );
    assert_eq!(
        stored("2027-11-01T07:00:00Z", west, 721.0, by_date).0,
        "1000"
    );
    // a provider that counts hours: 730 of them, whatever the date
    assert_eq!(
        stored("2027-02-01T00:00:00Z", "UTC", 730.0, MonthRule::Hours).0,
        "1000"
    );
}

#[test]
fn a_subscription_by_date_costs_whole_months_however_long_they_are() {
    // 7,300 a month is 10 an hour at 730 h
    let total = |start: &str, days: f64, rule: MonthRule| {
        let mut world = World::new(days * DAY, "10");
        world.price.purchase = Purchase::Month;
        world.tariff.months.subscription = rule;
        world.starts(start, "Asia/Shanghai");
        world.total().to_cents()
    };
    let (by_date, by_hours) = (MonthRule::Calendar, MonthRule::Hours);
    // from 31 December, 00:00 in Shanghai: 31 days to 31 January are one month, one second more are two
    assert_eq!(total("2026-12-30T16:00:00Z", 31.0, by_date), "7300.00");
    assert_eq!(total("2026-12-30T16:00:00Z", 31.01, by_date), "14600.00");
    // from 31 January to 28 February
    assert_eq!(total("2027-01-30T16:00:00Z", 28.0, by_date), "7300.00");
    assert_eq!(total("2027-01-30T16:00:00Z", 28.01, by_date), "14600.00");
    // in hours 31 days are more than a month
    assert_eq!(total("2026-12-30T16:00:00Z", 31.0, by_hours), "14600.00");
    assert_eq!(total("2027-01-30T16:00:00Z", 28.01, by_hours), "7300.00");
}

#[test]
fn support_is_paid_for_each_billing_month_begun() {
    let mut world = World::new(8.0 * HOUR, "1");
    world.workload.money.support = Some(SupportPlan {
        share: 0.0,
        minimum_per_month: Some(usd("100")),
    });
    assert_eq!(line(&world.bill(), LineKind::Support).1, "100.00");
    world.starts("2027-01-31T20:00:00Z", "UTC");
    assert_eq!(line(&world.bill(), LineKind::Support).1, "200.00");
}

/// The zone and the rules come from the data; who is not in them bills in UTC, and that is marked.
#[test]
fn zones_and_rules_come_from_the_book() {
    let west = BillingZone {
        name: "America/Los_Angeles".into(),
        zone: jiff::tz::TimeZone::get("America/Los_Angeles").expect("zone"),
        confidence: lessee_model::Confidence::General,
    };
    let rules = MonthRules {
        storage: MonthRule::Calendar,
        subscription: MonthRule::Hours,
    };
    let book = TariffBook {
        zones: [("gcp".into(), west)].into(),
        month_rules: [("gcp".into(), rules)].into(),
        ..TariffBook::default()
    };
    let start = "2027-01-31T20:00:00Z".parse().expect("time");
    let gcp = calendar(&book, "gcp", start).expect("calendar");
    assert_eq!(&*gcp.zone.name, "America/Los_Angeles");
    assert_eq!(gcp.begun(0, 8 * 3600), 1);
    let other = calendar(&book, "nobody", start).expect("calendar");
    assert_eq!(other.zone, BillingZone::assumed());
    assert_eq!(other.begun(0, 8 * 3600), 2);
    assert_eq!(resolve_tariff(&book, "gcp", "x", None).months, rules);
    assert_eq!(
        resolve_tariff(&book, "nobody", "x", None).months,
        MonthRules::default()
    );
}
