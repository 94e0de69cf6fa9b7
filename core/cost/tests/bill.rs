//! Bills of known cases, line by line.

mod common;

use common::*;
use lessee_cost::{Percentile, bill, screen, wall_seconds};
use lessee_model::fx::FxRate;
use lessee_model::tariff::{BootTime, Stopped};
use lessee_model::workload::{
    Checkpoint, DataStorage, Destination, Job, Licence, Location, RenderJob, RenderReference,
    SupportPlan,
};
use lessee_model::{
    Basis, Bytes, Confidence, Currency, LineKind, Market, Money, Purchase, Quantified, Seconds,
    TaxNote,
};

const HOUR: f64 = 3600.0;
const MONTH: f64 = 730.0 * HOUR;

fn set_billing(world: &mut World, increment_s: u32, minimum_s: u32, stopped: Stopped) {
    if let Ok(rule) = &mut world.tariff.billing {
        rule.value.increment_s = increment_s;
        rule.value.minimum_s = minimum_s;
        rule.value.stopped_compute = stopped;
    }
}

#[test]
fn sixty_one_seconds_on_an_hourly_minimum() {
    let mut world = World::new(61.0, "12.34");
    set_billing(&mut world, 3600, 3600, Stopped::Free);
    assert_eq!(
        line(&world.bill(), LineKind::Compute),
        ("1".into(), "12.34".into())
    );
    // per second with a minimum of a minute: 61 s are 61 s
    set_billing(&mut world, 1, 60, Stopped::Free);
    assert_eq!(world.total().to_cents(), "0.21");
    // per minute: two minutes, on each of four machines
    set_billing(&mut world, 60, 60, Stopped::Free);
    world.nodes = 4;
    let (quantity, amount) = line(&world.bill(), LineKind::Compute);
    assert_eq!(
        (quantity.as_str(), amount.as_str()),
        ("0.133333333332", "1.65")
    );
    // part of a second is a second
    set_billing(&mut world, 1, 0, Stopped::Free);
    world.run.work_s = 3599.001;
    world.nodes = 1;
    assert_eq!(line(&world.bill(), LineKind::Compute).0, "1");
}

#[test]
fn boot_setup_and_idle_are_billed_and_rounded_together() {
    let mut world = World::new(50.0 * 60.0, "10");
    set_billing(&mut world, 3600, 3600, Stopped::Free);
    world.tariff.boot = known(BootTime {
        p50_s: 60.0,
        p90_s: 900.0,
    });
    world.workload.setup.machine = Seconds(180.0);
    world.workload.setup.idle = Seconds(120.0);
    // 50 + 1 + 3 + 2 = 56 minutes: one hour in all
    assert_eq!(world.total().to_cents(), "10.00");
    assert_eq!(line(&world.bill(), LineKind::Boot).1, "0.17");
    assert_eq!(wall_seconds(&world.case()), 54.0 * 60.0);
    // slow: 75 + 15 + 3 + 2 = 95 minutes: two hours
    world.percentile = Percentile::P90;
    assert_eq!(world.total().to_cents(), "20.00");
    assert_eq!(wall_seconds(&world.case()), 93.0 * 60.0);
}

#[test]
fn a_machine_stopped_for_a_week() {
    let mut world = World::new(HOUR, "10");
    world.workload.setup.stopped = Seconds(7.0 * 24.0 * HOUR);
    world.workload.setup.disk = Bytes::from_gb(500.0);
    world.tariff.public_ip = known(usd("0.005"));
    let bill = world.bill();
    // disk: 500 GB x 1/730 month at 0.08, then 168/730 at 0.1; address: 169 h
    assert_eq!(
        lines(&bill, LineKind::BlockStorage),
        vec![
            ("0.684931507".into(), "0.05".into()),
            ("115.0684931505".into(), "11.51".into())
        ]
    );
    assert_eq!(
        line(&bill, LineKind::PublicIp),
        ("169".into(), "0.85".into())
    );
    assert!(lines(&bill, LineKind::Idle).is_empty());
    // a provider without a free stop bills the whole week
    for stopped in [Stopped::Billed, Stopped::NoStop] {
        set_billing(&mut world, 1, 60, stopped);
        assert_eq!(
            line(&world.bill(), LineKind::Idle),
            ("168".into(), "1680.00".into())
        );
    }
    // and where nobody says, between nothing and all of it
    set_billing(&mut world, 1, 60, Stopped::Unknown);
    let bill = world.bill();
    let idle = bill
        .lines
        .iter()
        .find(|l| l.kind == LineKind::Idle)
        .expect("line");
    match &idle.amount {
        Quantified::Unknown { low, high, .. } => {
            assert_eq!(
                (low.map(Money::to_cents), high.map(Money::to_cents)),
                (Some("0.00".into()), Some("1680.00".into()))
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn many_small_files_put_and_read_thrice() {
    let mut world = World::new(HOUR, "10");
    let data = &mut world.workload.data;
    (data.size, data.files, data.reads) = (Bytes::from_gb(150.0), 1.3e6, 3.0);
    let bill = world.bill();
    // 1,300 x 0.005 to put them, 3,900 x 0.0004 to read them
    assert_eq!(
        lines(&bill, LineKind::Requests),
        vec![
            ("1300".into(), "6.50".into()),
            ("3900".into(), "1.56".into())
        ]
    );
    // copied to a local disk they are read once
    world.workload.data.storage = DataStorage::Local;
    assert_eq!(
        lines(&world.bill(), LineKind::Requests)[1],
        ("1300".into(), "0.52".into())
    );
    // already there: nothing to put
    world.workload.data.location = Location::Provider {
        provider: "aws".into(),
        region: Some("us-east-1".into()),
    };
    assert_eq!(line(&world.bill(), LineKind::Requests).0, "1300");
}

#[test]
fn a_three_year_commitment_used_two_fifths() {
    let term = 36.0 * MONTH;
    let mut world = World::new(0.4 * term, "4");
    world.price.purchase = Purchase::Year3;
    let bill = world.bill();
    assert_eq!(
        line(&bill, LineKind::Compute),
        ("10512".into(), "42048.00".into())
    );
    assert_eq!(
        line(&bill, LineKind::CommitmentUnused),
        ("15768".into(), "63072.00".into())
    );
    // other work fills half of what is left
    world.workload.money.commitment_reuse = 0.5;
    assert_eq!(
        line(&world.bill(), LineKind::CommitmentUnused).1,
        "31536.00"
    );
    // a month and a bit needs two months
    world.workload.money.commitment_reuse = 0.0;
    world.price.purchase = Purchase::Month;
    world.run.work_s = 1.5 * MONTH;
    assert_eq!(line(&world.bill(), LineKind::CommitmentUnused).0, "365");
    assert_eq!(world.total(), usd("5840"));
}

#[test]
fn own_discount_comes_off_lists_but_not_off_quotes() {
    let mut world = World::new(HOUR, "10");
    world.workload.money.discounts.insert("aws".into(), 0.15);
    let bill = world.bill();
    assert_eq!(bill.total(), Some(usd("8.5")));
    assert!(bill.lines[0].why.source.contains("own discount 15 %"));
    // the discount is the user's word; how far the list price was checked does not change by it
    let mut why = lessee_model::Provenance::assumed("list");
    why.confidence = Confidence::Secondary;
    world.price.why = std::sync::Arc::new(why);
    let why = world.bill().lines[0].why.clone();
    assert_eq!(
        (why.basis, why.confidence),
        (Basis::Quoted, Confidence::Secondary)
    );
    world.offer.market = Market::Quote;
    assert_eq!(world.total(), usd("10"));
}

#[test]
fn checkpoints_follow_their_retention_rule() {
    let mut world = World::new(10.0 * HOUR, "10");
    world.workload.data.out_to = Destination::Stay;
    world.workload.checkpoint = Some(Checkpoint {
        size: Bytes::from_gb(100.0),
        every: Seconds(HOUR),
        keep_last: Some(2.0),
        keep_for: Seconds(MONTH),
    });
    world.run.checkpoints = 10.0;
    let bill = world.bill();
    // during: 8 replaced ones lived 2 h, the last two 1 h on average: 18 h x 100 GB; after: 2 x 100 GB-months
    let kept = lines(&bill, LineKind::ObjectStorage);
    assert_eq!(kept[0], ("2.4657534247".into(), "0.06".into()));
    assert_eq!(kept[1], ("200".into(), "4.60".into()));
    assert_eq!(line(&bill, LineKind::Requests).0, "0.01");
    // a minimum of 90 days is charged for every one of the ten
    if let Ok(storage) = &mut world.tariff.object_storage {
        storage.value.min_days = 90;
    }
    let total: f64 = world
        .bill()
        .lines
        .iter()
        .filter(|l| l.kind == LineKind::ObjectStorage)
        .map(|l| l.quantity.to_f64())
        .sum();
    assert!(
        (total - 10.0 * 100.0 * 90.0 * 24.0 / 730.0).abs() < 1e-6,
        "{total}"
    );
}

#[test]
fn data_pay_where_they_come_from() {
    let mut world = World::new(HOUR, "10");
    world.workload.data.size = Bytes(10.0 * TB);
    let at = |provider: &str, region: Option<&str>| Location::Provider {
        provider: provider.into(),
        region: region.map(str::to_owned),
    };
    world.workload.data.location = at("aws", Some("eu-west-1"));
    assert_eq!(line(&world.bill(), LineKind::CrossRegion).1, "204.80");
    world.workload.data.location = at("aws", None);
    assert!(lines(&world.bill(), LineKind::CrossRegion).is_empty());
    // from another provider: its tariff, and unknown if nobody looked it up
    world.workload.data.location = at("azure", Some("westus"));
    assert!(world.bill().at_least);
    assert_eq!(line(&world.bill(), LineKind::Egress).1, "unknown");
    world.tariff.source_egress = Some(known(tiers("0", &[("", "0.087")])));
    let bill = world.bill();
    assert!(!bill.at_least);
    assert_eq!(line(&bill, LineKind::Egress).1, "890.88");
    assert_eq!(
        line(&bill, LineKind::Ingress),
        ("10240".into(), "0.00".into())
    );
}

#[test]
fn results_go_where_they_are_sent() {
    let mut world = World::new(HOUR, "10");
    world.tariff.object_storage = per_month("0");
    world.workload.data.out = Bytes::from_gb(1000.0);
    for (to, kind, cents) in [
        (
            Destination::Internet,
            LineKind::Egress,
            vec!["0.00", "81.00"],
        ),
        (Destination::China, LineKind::Egress, vec!["230.00"]),
        (
            Destination::OtherRegion,
            LineKind::CrossRegion,
            vec!["20.00"],
        ),
        (Destination::Stay, LineKind::Egress, vec![]),
    ] {
        world.workload.data.out_to = to;
        let amounts: Vec<String> = lines(&world.bill(), kind)
            .into_iter()
            .map(|l| l.1)
            .collect();
        assert_eq!(amounts, cents, "{to:?}");
    }
}

#[test]
fn interruptions_cost_machine_time_reads_and_people() {
    let mut world = World::new(100.0 * HOUR, "10");
    world.price.purchase = Purchase::Spot;
    world.nodes = 2;
    world.run.interruptions = 4.0;
    world.run.lost_s = 900.0;
    world.workload.data.files = 1e6;
    world.workload.setup.incident_hours = 0.5;
    world.workload.setup.labour_hours = 3.0;
    world.workload.money.labour_rate = Some(usd("60"));
    let bill = world.bill();
    // 4 x 15 min x 2 machines; one hundredth of a million reads again
    assert_eq!(
        lines(&bill, LineKind::Interruption),
        vec![("2".into(), "20.00".into()), ("10".into(), "0.00".into())]
    );
    assert_eq!(
        lines(&bill, LineKind::Labour),
        vec![("3".into(), "180.00".into()), ("2".into(), "120.00".into())]
    );
    assert_eq!(wall_seconds(&world.case()), 101.0 * HOUR);
    // a spot machine that nobody has figures for may cost up to the work once more
    world.run.interruptions = 0.0;
    assert!(world.bill().at_least);
}

#[test]
fn support_tax_and_exchange_come_on_top_in_that_order() {
    let mut world = World::new(100.0 * HOUR, "10");
    let money = &mut world.workload.money;
    money.currency = Currency::CNY;
    money.exchange_fee = 0.015;
    money.tax = 0.06;
    money.support = Some(SupportPlan {
        share: 0.03,
        minimum_per_month: Some(usd("100")),
    });
    money.fx.rates.push(FxRate {
        from: Currency::USD,
        to: Currency::CNY,
        rate: 7.0,
        as_of: "2026-11-28".parse().expect("date"),
        source: Some("bank".into()),
    });
    let bill = world.bill();
    // 1,000 USD = 7,000 CNY; 3 % is less than the minimum of 700; 6 % on 7,700; 1.5 % on 7,700
    let amounts: Vec<_> = bill
        .lines
        .iter()
        .map(|l| {
            (
                l.kind,
                match &l.amount {
                    Quantified::Known(m) => m.to_cents(),
                    other => panic!("{other:?}"),
                },
            )
        })
        .collect();
    assert_eq!(
        amounts,
        vec![
            (LineKind::Compute, "7000.00".to_owned()),
            (LineKind::PublicIp, "0.00".to_owned()),
            (LineKind::Support, "700.00".to_owned()),
            (LineKind::Tax, "462.00".to_owned()),
            (LineKind::Exchange, "115.50".to_owned()),
        ]
    );
    let exchange = bill.lines.last().expect("line");
    assert_eq!(
        exchange.why.as_of.map(|d| d.to_string()),
        Some("2026-11-28".into())
    );
    assert_eq!(&*exchange.why.source, "1 USD = 7 CNY; bank");
    // a price with tax is not taxed again; support still is
    world.price.tax = TaxNote::Included;
    assert_eq!(line(&world.bill(), LineKind::Tax).1, "42.00");
}

#[test]
fn without_a_rate_there_is_one_total_per_currency() {
    let mut world = World::new(HOUR, "10");
    world.workload.money.currency = Currency::CNY;
    world.workload.money.labour_rate = Some("300 CNY".parse().expect("money"));
    world.workload.setup.labour_hours = 2.0;
    world.workload.money.tax = 0.06;
    let bill = world.bill();
    assert_eq!(bill.total(), None);
    assert_eq!(
        bill.totals,
        vec![usd("10.6"), "600 CNY".parse().expect("money")]
    );
    assert_eq!(screen(&world.case()).total(Currency::CNY), None);
}

#[test]
fn more_currencies_than_fit_inline_are_all_kept() {
    let mut world = World::new(HOUR, "10");
    let names = ["EUR", "GBP", "JPY", "CHF", "SEK", "NOK"];
    world.workload.job = Job::Render(RenderJob {
        frames: 10.0,
        seconds_per_frame: 10.0,
        reference: RenderReference::Gpu(gpu()),
        memory: Bytes::ZERO,
        engine: "cycles".into(),
        output_per_frame: Bytes::ZERO,
        licences: names
            .iter()
            .map(|code| Licence {
                name: "plug-in".into(),
                per_node_hour: None,
                per_node_month: Some(format!("50 {code}").parse().expect("money")),
            })
            .collect(),
    });
    world.workload.data.out_to = Destination::Stay;
    let bill = world.bill();
    assert_eq!(bill.totals.len(), 7);
    assert_eq!(bill.totals[6].exact(), "50.00");
}

#[test]
fn a_mix_pays_the_base_for_its_term_and_the_peak_by_use() {
    let mut world = World::new(MONTH, "10");
    world.workload.job = Job::Serve(lessee_model::workload::ServeJob {
        model: model(),
        precision: lessee_model::workload::Precision::Bf16,
        kv_precision: lessee_model::workload::Precision::Fp16,
        rate: 10.0,
        peak_rate: 20.0,
        input_tokens: 1.0,
        output_tokens: 1.0,
        tpot: Seconds(0.05),
        ttft: None,
        duration: Seconds(MONTH),
        min_replicas: 1,
    });
    world.nodes = 4;
    world.base_nodes = 2;
    world.base_price = Some(price(Purchase::Year1, usd("6")));
    let bill = world.bill();
    // two machines for a year at 6, two for a quarter of a month at 10
    assert_eq!(
        lines(&bill, LineKind::Compute),
        vec![
            ("1460".into(), "8760.00".into()),
            ("365".into(), "3650.00".into())
        ]
    );
    assert_eq!(
        line(&bill, LineKind::CommitmentUnused),
        ("16060".into(), "96360.00".into())
    );
}

fn model() -> lessee_model::ModelSpec {
    lessee_model::ModelSpec {
        name: "m".into(),
        kind: lessee_model::ModelKind::Llm,
        params: 1.0,
        active_params: 1.0,
        layers: None,
        hidden: None,
        heads: None,
        kv_heads: None,
        head_dim: None,
        ffn: None,
        vocab: None,
        experts: None,
        experts_per_token: None,
        kv_bytes_per_token: None,
        context: None,
        forward_gflops: None,
        why: lessee_model::Provenance::user("test"),
    }
}

#[test]
fn what_is_not_published_is_a_range_and_the_total_says_at_least() {
    let mut world = World::new(HOUR, "10");
    world.workload.setup.disk = Bytes::from_gb(730.0);
    world.tariff.block_running = unknown("0.05", "0.2");
    let bill = world.bill();
    let disk = bill
        .lines
        .iter()
        .find(|l| l.kind == LineKind::BlockStorage)
        .expect("line");
    match &disk.amount {
        Quantified::Unknown { low, high, .. } => {
            assert_eq!(low.map(Money::to_cents), Some("0.05".into()));
            assert_eq!(high.map(Money::to_cents), Some("0.20".into()));
        }
        other => panic!("{other:?}"),
    }
    // the machine's own disk costs nothing, and says so
    world.machine.local_disk_gb = Some(1000.0);
    let bill = world.bill();
    assert!(!bill.at_least);
    assert_eq!(line(&bill, LineKind::BlockStorage).1, "0.00");
    // a billing rule that nobody published: up to the coarsest known step more
    world.tariff.billing = unknown("0", "0");
    world.run.work_s = 61.0;
    let bill = world.bill();
    let rounding = bill
        .lines
        .iter()
        .find(|l| matches!(l.amount, Quantified::Unknown { .. }))
        .expect("line");
    match &rounding.amount {
        Quantified::Unknown { high, .. } => {
            assert_eq!(high.map(Money::to_cents), Some("9.83".into()))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_replay_bills_waiting_as_nothing_and_on_demand_at_its_own_price() {
    use lessee_cost::{Replayed, Spent};
    let mut w = World::new(10.0 * 3600.0, "1");
    w.price = price(Purchase::Spot, usd("1"));
    w.offer.prices = vec![w.price.clone(), price(Purchase::OnDemand, usd("3"))];
    let calm = bill(&w.case()).total().expect("one currency");
    let spent = Spent {
        lost_s: 3600.0,
        waiting_s: 7200.0,
        on_demand_s: 4.0 * 3600.0,
    };
    w.run.interruptions = 2.0;
    w.run.replayed = Some(Replayed {
        mean: spent,
        p90: spent,
    });
    let case = w.case();
    let replayed = bill(&case);
    // one hour more in all, and four of them cost two more
    let more = replayed.total().expect("one currency").amount - calm.amount;
    assert_eq!(more, usd("9").amount);
    assert_eq!(
        screen(&case).total(Currency::USD),
        replayed.total(),
        "one code path"
    );
    let hours = |id: &str| -> f64 {
        let line = replayed.lines.iter().find(|l| l.what.id == *id);
        line.map_or(0.0, |l| l.quantity.to_f64())
    };
    assert_eq!(
        (
            hours("bill-compute"),
            hours("bill-on-demand-instead"),
            hours("bill-interruption")
        ),
        (6.0, 4.0, 1.0)
    );
    assert_eq!(wall_seconds(&case), 13.0 * 3600.0);
    // never taken back, and known: nothing is missing
    w.run.interruptions = 0.0;
    let unknown = |b: &lessee_model::Bill| {
        b.lines
            .iter()
            .any(|l| l.what.id == *"bill-interruption-unknown")
    };
    assert!(!unknown(&bill(&w.case())));
    // nobody says what on-demand costs: said, not passed over
    w.offer.prices.truncate(1);
    assert!(bill(&w.case()).at_least);
}
