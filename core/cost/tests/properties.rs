//! What must hold for every bill, whatever the numbers.

mod common;

use common::*;
use lessee_cost::{Percentile, Replayed, Run, Spent, bill, screen};
use lessee_model::fx::FxRate;
use lessee_model::tariff::{BootTime, MonthRule, MonthRules, Stopped};
use lessee_model::workload::{Checkpoint, DataStorage, Destination, Location, SupportPlan};
use lessee_model::{Bytes, Currency, Fixed, Purchase, Seconds};
use proptest::prelude::*;

/// Sizes and counts from nothing to hostile.
fn amount() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        0.0..1e3,
        0.0..1e9,
        0.0..1e13,
        Just(1e18),
        Just(9e29)
    ]
}

/// What a replay found, if there was one.
fn a_replay() -> BoxedStrategy<Option<Replayed>> {
    let spent = || {
        (amount(), amount(), amount())
            .prop_map(|(lost_s, waiting_s, on_demand_s)| Spent {
                lost_s,
                waiting_s,
                on_demand_s,
            })
            .boxed()
    };
    prop::option::of((spent(), spent()).prop_map(|(mean, p90)| Replayed { mean, p90 })).boxed()
}

fn cents() -> impl Strategy<Value = Fixed> {
    (1i64..1_000_000).prop_map(|c| Fixed::from_raw(i128::from(c) * 10_000_000_000))
}

prop_compose! {
    fn money_side()(
        price in cents(), discount in 0.0..1.0f64, tax in 0.0..0.3f64, fee in 0.0..0.05f64,
        share in 0.0..0.2f64, minimum in prop::option::of(cents()), labour in prop::option::of(cents()),
        reuse in 0.0..=1.0f64, in_cny: bool, rate in prop::option::of(0.1..20.0f64),
    ) -> World {
        let mut w = World::new(3600.0, "1");
        w.price.per_hour.amount = price;
        let m = &mut w.workload.money;
        m.discounts.insert("aws".into(), discount);
        (m.tax, m.exchange_fee, m.commitment_reuse) = (tax, fee, reuse);
        m.labour_rate = labour.map(|a| lessee_model::Money::new(a, Currency::USD));
        m.support = Some(SupportPlan {
            share,
            minimum_per_month: minimum.map(|a| lessee_model::Money::new(a, Currency::USD)),
        });
        if in_cny {
            m.currency = Currency::CNY;
        }
        if let Some(rate) = rate {
            m.fx.rates.push(FxRate {
                from: Currency::USD, to: Currency::CNY, rate,
                as_of: "2026-11-28".parse().expect("date"), source: None,
            });
        }
        w
    }
}

prop_compose! {
    fn world()(
        mut w in money_side(),
        work in amount(), size in amount(), files in amount(), out in amount(), used in amount(),
        reads in 0.0..100.0f64, keep in prop::option::of(amount()), disk in amount(), stopped in 0.0..1e7f64,
        ck in prop::option::of((amount(), 1.0..1e5f64, prop::option::of(0.0..50.0f64), 0.0..1e8f64)),
        interruptions in 0.0..1e4f64, lost in 0.0..1e5f64, nodes in 1u32..5000,
        replayed in a_replay(),
        purchase in prop::sample::select(vec![Purchase::OnDemand, Purchase::Spot, Purchase::Month, Purchase::Year3]),
        pick in 0usize..4, p90: bool, increment in 1u32..4000, days in 0u32..200,
        start in prop::option::of((0i64..20_000_000, 0usize..4, any::<[bool; 2]>())),
    ) -> World {
        if let Some((second, zone, rules)) = start {
            let zones = ["UTC", "Asia/Shanghai", "America/Los_Angeles", "Europe/Berlin"];
            let start = jiff::Timestamp::from_second(1_800_000_000 + second).expect("time");
            w.starts(&start.to_string(), zones[zone]);
            let rule = |date| if date { MonthRule::Calendar } else { MonthRule::Hours };
            w.tariff.months = MonthRules { storage: rule(rules[0]), subscription: rule(rules[1]) };
        }
        w.run = Run {
            work_s: work, work_p90_s: work * 1.5, interruptions, interruptions_p90: interruptions * 2.0,
            lost_s: lost, checkpoints: ck.map_or(0.0, |c| work / c.1), gpus: 8,
            replayed,
        };
        w.nodes = nodes;
        w.price.purchase = purchase;
        w.percentile = if p90 { Percentile::P90 } else { Percentile::P50 };
        w.tariff.boot = known(BootTime { p50_s: 40.0, p90_s: 300.0 });
        w.tariff.public_ip = if pick == 0 { unknown("0.001", "0.01") } else { known(usd("0.005")) };
        if let Ok(rule) = &mut w.tariff.billing {
            rule.value.increment_s = increment;
            rule.value.stopped_compute = [Stopped::Free, Stopped::Billed, Stopped::NoStop, Stopped::Unknown][pick];
        }
        if let Ok(storage) = &mut w.tariff.object_storage {
            storage.value.min_days = days;
        }
        let d = &mut w.workload.data;
        d.size = Bytes(size);
        d.out = Bytes(out);
        d.egress_used = Bytes(used);
        (d.files, d.reads, d.keep) = (files, reads, keep.map(Seconds));
        d.storage = [DataStorage::Object, DataStorage::Block, DataStorage::Local, DataStorage::Object][pick];
        d.out_to = [Destination::Internet, Destination::China, Destination::OtherRegion, Destination::Stay][pick];
        d.location = match pick {
            0 => Location::Office,
            1 => Location::Internet,
            2 => Location::Provider { provider: "aws".into(), region: Some("eu-west-1".into()) },
            _ => Location::Provider { provider: "azure".into(), region: None },
        };
        w.workload.setup.disk = Bytes(disk);
        w.workload.setup.stopped = Seconds(stopped);
        w.workload.setup.labour_hours = 3.0;
        w.workload.setup.incident_hours = 0.5;
        w.workload.checkpoint = ck.map(|(size, every, keep_last, keep_for)| Checkpoint {
            size: Bytes(size), every: Seconds(every), keep_last, keep_for: Seconds(keep_for),
        });
        w
    }
}

/// Totals per currency, to be compared one by one.
fn sums(w: &World) -> [Fixed; 2] {
    let screened = screen(&w.case());
    [Currency::USD, Currency::CNY].map(|c| screened.totals.of(c).amount)
}

fn never_less(before: &World, after: &World) -> Result<(), TestCaseError> {
    for (a, b) in sums(before).into_iter().zip(sums(after)) {
        prop_assert!(a <= b, "{a} became {b}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_bill_adds_up_and_screening_agrees(w in world()) {
        // World::bill checks lines, sums and the screened totals
        let whole = w.bill();
        prop_assert!(whole.lines.iter().all(|l| l.quantity <= Fixed::MAX));
    }

    #[test]
    fn more_of_anything_never_costs_less(w in world(), more in 1.0..100.0f64, which in 0usize..11) {
        let mut after = w.clone();
        let grow = |x: f64| x * more + more;
        match which {
            0 => after.workload.data.size = Bytes(grow(w.workload.data.size.0).min(1e29)),
            1 => after.workload.data.out = Bytes(grow(w.workload.data.out.0).min(1e29).max(w.workload.data.out.0)),
            2 => after.workload.data.files = grow(w.workload.data.files),
            3 => after.workload.data.reads = grow(w.workload.data.reads),
            4 => after.workload.data.keep = Some(Seconds(grow(w.workload.data.keep.map_or(0.0, |k| k.0)))),
            5 => if let Some(c) = &mut after.workload.checkpoint { c.keep_for = Seconds(grow(c.keep_for.0)) },
            6 => if let Some(c) = &mut after.workload.checkpoint { c.size = Bytes(grow(c.size.0)) },
            7 => after.workload.setup.stopped = Seconds(grow(w.workload.setup.stopped.0)),
            8 => after.workload.setup.disk = Bytes(grow(w.workload.setup.disk.0)),
            9 => after.workload.data.egress_used = Bytes(grow(w.workload.data.egress_used.0)),
            _ => if let Some(c) = &mut after.workload.checkpoint {
                c.keep_last = c.keep_last.map(grow);
            },
        }
        if which == 0 {
            after.workload.data.size = Bytes(after.workload.data.size.0.max(w.workload.data.size.0));
        }
        never_less(&w, &after)?;
    }

    #[test]
    fn dearer_machines_and_lower_discounts_never_cost_less(w in world(), up in cents(), keep in 0.0..=1.0f64) {
        let mut dearer = w.clone();
        dearer.price.per_hour.amount += up;
        never_less(&w, &dearer)?;
        let mut less_off = w.clone();
        for d in less_off.workload.money.discounts.values_mut() {
            *d *= keep;
        }
        never_less(&w, &less_off)?;
    }

    #[test]
    fn longer_work_on_demand_never_costs_less(w in world(), more in 0.0..1e7f64) {
        let mut longer = w.clone();
        longer.workload.checkpoint = None;
        // results that appear later lie in storage for less of a fixed time
        longer.workload.data.keep = None;
        // work that reaches into one month more has one month's free traffic more: rightly cheaper
        longer.workload.data.out = Bytes(0.0);
        // a disk that is kept afterwards is kept in other months, and a month's price buys fewer hours of February
        longer.workload.setup.stopped = Seconds(0.0);
        let mut before = longer.clone();
        // the share of reads that is repeated falls as the work grows: compare without interruptions
        for w in [&mut longer, &mut before] {
            w.run.interruptions = 0.0;
            w.run.interruptions_p90 = 0.0;
            w.run.replayed = None;
        }
        longer.run.work_s += more;
        longer.run.work_p90_s += more * 1.5;
        never_less(&before, &longer)?;
    }

    #[test]
    fn hostile_runs_neither_panic_nor_look_cheap(w in world(), x in prop::sample::select(vec![f64::NAN, f64::INFINITY, 1e300, -1.0])) {
        let mut hostile = w.clone();
        hostile.run.work_s = x;
        hostile.run.work_p90_s = x;
        hostile.run.lost_s = x;
        hostile.run.checkpoints = x;
        check(&bill(&hostile.case()));
        if x != -1.0 {
            let screened = screen(&hostile.case());
            prop_assert!(screened.wall_s >= 1e18);
            let largest = screened.totals.iter().map(|m| m.amount).max().expect("a total");
            // a discount of all but nothing aside, endless work costs more than anybody has
            prop_assert!(largest > Fixed::from_int(1_000_000));
        }
    }
}
