//! Rules of ranking, on the built-in facts and on small catalogs made for one question each.

use jiff::civil::date;
use lessee_catalog::Facts;
use lessee_model::workload::{ResolveContext, parse_workload, resolve};
use lessee_model::{
    AsOf, Basis, Catalog, Confidence, Machine, MachineId, Market, Offer, Origin, Price, Provenance,
    Purchase, TaxNote, Workload,
};
use lessee_plan::{Plan, PlanInput, PlanOption, Rules, SpotRecords, Verdict, plan, why_not};
use lessee_spot::trace::{About, Seen, Series};
use std::sync::{Arc, OnceLock};

fn facts() -> &'static Facts {
    static FACTS: OnceLock<Facts> = OnceLock::new();
    FACTS.get_or_init(|| lessee_catalog::builtin().expect("built-in facts"))
}

fn workload(text: &str) -> Workload {
    let f = facts();
    let file = parse_workload(text, "test").expect("workload");
    let cx = ResolveContext {
        gpus: &f.gpus,
        models: &f.models,
        defaults: &f.defaults,
        place: "test",
        text,
        zone: &jiff::tz::TimeZone::UTC,
    };
    resolve(&file, cx).expect("workload")
}

fn run(catalog: &Catalog, workload: &Workload, top: usize) -> Plan {
    plan(input(catalog, workload), top)
}

fn input<'a>(catalog: &'a Catalog, workload: &'a Workload) -> PlanInput<'a> {
    let f = facts();
    PlanInput {
        catalog,
        gpus: &f.gpus,
        perf: &f.perf,
        tariffs: &f.tariffs,
        workload,
        measured: &[],
        spot: None,
        today: date(2026, 11, 30),
        rules: Rules::from_defaults(&f.defaults),
    }
}

const LORA: &str = r#"
kind = "finetune"
[finetune]
model = "llama-3.1-8b"
method = "lora"
tokens = "20M"
"#;

const SERVE: &str = r#"
kind = "serve"
[serve]
model = "llama-3.1-8b"
rate = 20.0
peak_rate = 60.0
duration = "365d"
"#;

/// Eight H100 in one box at a made-up seller whose tariffs nobody knows.
fn machine() -> Machine {
    let f = facts();
    let offer = f
        .catalog
        .offers
        .iter()
        .find(|o| &*o.provider == "aws" && &*o.instance_type == "p5.48xlarge")
        .expect("built-in offer");
    f.catalog.machine(offer).clone()
}

fn price(
    purchase: Purchase,
    per_hour: &str,
    basis: Basis,
    confidence: Confidence,
    as_of: &str,
) -> Price {
    Price {
        purchase,
        per_hour: per_hour.parse().expect("money"),
        upfront: None,
        high: None,
        tax: TaxNote::Unknown,
        why: Arc::new(Provenance::new(
            basis,
            confidence,
            "test",
            as_of.parse::<AsOf>().ok(),
        )),
    }
}

fn listed(per_hour: &str) -> Price {
    price(
        Purchase::OnDemand,
        per_hour,
        Basis::Published,
        Confidence::Verified,
        "2026-11-20",
    )
}

fn offer(provider: &str, region: &str, prices: Vec<Price>) -> Offer {
    Offer {
        provider: provider.into(),
        region: region.into(),
        instance_type: format!("{provider}-8xh100").into(),
        machine: MachineId(0),
        market: Market::GpuCloud,
        prices,
        origin: Origin::BuiltIn,
        original: None,
        note: None,
    }
}

fn catalog(offers: Vec<Offer>) -> Catalog {
    Catalog {
        machines: vec![machine()],
        offers,
    }
}

fn code_of(plan: &Plan, provider: &str) -> Option<&'static str> {
    plan.unranked
        .iter()
        .find(|u| u.key.starts_with(provider))
        .map(|u| u.code)
}

fn is_ranked(catalog: &Catalog, plan: &Plan, provider: &str) -> bool {
    plan.options
        .iter()
        .any(|o| &*catalog.offers[o.offer].provider == provider)
}

#[test]
fn ranks_by_total_and_each_bill_is_what_was_screened() {
    let f = facts();
    for text in [LORA, SERVE] {
        let w = workload(text);
        let plan = run(&f.catalog, &w, 10);
        assert!(plan.options.len() >= 10);
        for (i, option) in plan.options.iter().enumerate() {
            assert_eq!(option.rank as usize, i + 1);
            let total = option.bill.total().expect("one currency").amount.to_f64();
            assert!(
                (total - option.screened_total).abs() <= 1e-9 * total,
                "{total} {}",
                option.screened_total
            );
            assert!(option.duration_p90_s >= option.duration_s && option.duration_s > 0.0);
        }
        // the first may be put there by the rule of the lead; the others are in order
        assert!(
            plan.options[1..]
                .windows(2)
                .all(|o| o[0].screened_total <= o[1].screened_total)
        );
    }
}

#[test]
fn a_modelled_price_is_never_first_and_alone_not_ranked() {
    let f = facts();
    let w = workload(&format!("{LORA}\n[constraints]\nproviders = [\"aws\"]\n"));
    let both = run(&f.catalog, &w, 10);
    assert_ne!(both.options[0].price.why.basis, Basis::Modelled);
    assert!(
        both.options
            .iter()
            .any(|o| o.price.why.basis == Basis::Modelled),
        "the market has modelled spot prices"
    );
    let w = workload(&format!(
        "{LORA}\n[constraints]\nproviders = [\"aws\"]\npurchases = [\"spot\"]\n"
    ));
    let alone = run(&f.catalog, &w, 10);
    assert!(alone.options.is_empty());
    assert_eq!(code_of(&alone, "aws/"), Some("price_modelled"));
}

#[test]
fn what_is_not_known_is_shown_with_its_reason_but_not_ranked() {
    let range = Price {
        high: Some("90 USD".parse().expect("money")),
        ..listed("10 USD")
    };
    let c = catalog(vec![
        offer("good", "r1", vec![listed("40 USD")]),
        offer(
            "guess",
            "r1",
            vec![price(
                Purchase::OnDemand,
                "10 USD",
                Basis::Published,
                Confidence::Unverified,
                "2026-11-20",
            )],
        ),
        offer("range", "r1", vec![range]),
        offer(
            "undated",
            "r1",
            vec![price(
                Purchase::OnDemand,
                "10 USD",
                Basis::Published,
                Confidence::Verified,
                "",
            )],
        ),
        offer(
            "ancient",
            "r1",
            vec![price(
                Purchase::OnDemand,
                "10 USD",
                Basis::Published,
                Confidence::Verified,
                "2024-01-01",
            )],
        ),
        offer("foreign", "r1", vec![listed("10 CNY")]),
        offer("free", "r1", vec![listed("0 USD")]),
    ]);
    let plan = run(&c, &workload(LORA), 10);
    assert!(
        plan.options
            .iter()
            .all(|o| o.price.per_hour.to_cents() == "40.00"),
        "only the good one is ranked"
    );
    for (provider, code) in [
        ("guess/", "price_unverified"),
        ("range/", "price_is_a_range"),
        ("undated/", "price_undated"),
        ("ancient/", "price_too_old"),
        ("foreign/", "no_exchange_rate"),
    ] {
        assert_eq!(code_of(&plan, provider), Some(code));
    }
    assert_eq!(
        plan.rejected.by_reason.get("price_missing"),
        Some(&1),
        "a price of 0 is a defect, not a gift"
    );
    let allowed = workload(&format!("{LORA}\n[constraints]\nallow_unverified = true\n"));
    assert!(is_ranked(&c, &run(&c, &allowed, 10), "guess"));
    let rated = workload(&format!(
        "{LORA}\n[[money.rates]]\nfrom = \"CNY\"\nto = \"USD\"\nrate = 0.14\nas_of = \"2026-11-28\"\n"
    ));
    assert!(is_ranked(&c, &run(&c, &rated, 10), "foreign"));
    assert!(!is_ranked(&c, &plan, "guess") && !is_ranked(&c, &plan, "foreign"));
}

#[test]
fn a_region_that_nobody_states_satisfies_no_wish() {
    let c = catalog(vec![
        offer("here", "eu-north-1", vec![listed("40 USD")]),
        offer("anywhere", "*", vec![listed("10 USD")]),
    ]);
    let plan = run(
        &c,
        &workload(&format!("{LORA}\n[constraints]\nregions = [\"eu-*\"]\n")),
        10,
    );
    assert!(
        plan.options
            .iter()
            .all(|o| c.offers[o.offer].provider.as_ref() == "here")
    );
    assert_eq!(code_of(&plan, "anywhere/"), Some("region_unknown"));
}

#[test]
fn a_stale_price_leads_only_with_a_margin() {
    let stale = |per_hour: &str| {
        vec![price(
            Purchase::OnDemand,
            per_hour,
            Basis::Published,
            Confidence::Verified,
            "2026-09-01",
        )]
    };
    let first = |stale_price: &str| {
        let c = catalog(vec![
            offer("fresh", "r1", vec![listed("40 USD")]),
            offer("stale", "r1", stale(stale_price)),
        ]);
        let plan = run(&c, &workload(LORA), 10);
        c.offers[plan.options[0].offer].provider.to_string()
    };
    assert_eq!(
        first("38 USD"),
        "fresh",
        "a three-month-old price may have risen by more than 5 %"
    );
    assert_eq!(first("20 USD"), "stale", "half the price is still cheaper");
}

#[test]
fn neither_order_nor_the_number_listed_changes_the_answer() {
    let f = facts();
    let w = workload(LORA);
    let names = |c: &Catalog, top| -> Vec<(String, u32)> {
        run(c, &w, top)
            .options
            .iter()
            .map(|o| (c.offers[o.offer].key(), o.nodes))
            .collect()
    };
    let straight = names(&f.catalog, 10);
    let mut reversed = f.catalog.clone();
    reversed.offers.reverse();
    assert_eq!(names(&reversed, 10), straight);
    for top in [1, 3, 40] {
        assert_eq!(names(&f.catalog, top)[0], straight[0], "--top {top}");
    }
}

#[test]
fn deadline_and_budget_drop_and_name_the_nearest_miss() {
    let c = catalog(vec![offer("good", "r1", vec![listed("40 USD")])]);
    let broke = run(
        &c,
        &workload(&format!("{LORA}\n[constraints]\nbudget = \"1 USD\"\n")),
        10,
    );
    assert!(broke.options.is_empty());
    assert_eq!(broke.rejected.by_reason.get("over_budget"), Some(&1));
    // what is named as nearest is the cheapest of the very options that the budget dropped
    let cheapest = run(&c, &workload(LORA), 10)
        .options
        .iter()
        .map(|o| o.screened_total)
        .fold(f64::MAX, f64::min);
    let nearest = broke
        .warnings
        .iter()
        .find(|m| m.id == "warn-nearest-budget")
        .expect("nearest miss");
    match &nearest.args[0].1 {
        lessee_model::Arg::Money(total) => assert!((total.amount.to_f64() - cheapest).abs() < 1e-9),
        other => panic!("{other:?}"),
    }
    let late = run(
        &c,
        &workload(&format!("{LORA}\n[constraints]\ndeadline = \"60s\"\n")),
        10,
    );
    assert_eq!(late.rejected.by_reason.get("deadline_missed"), Some(&1));
    assert!(
        late.warnings
            .iter()
            .any(|m| m.id == "warn-nearest-deadline")
    );
}

#[test]
fn a_service_with_peaks_is_also_planned_as_a_mix() {
    let month = price(
        Purchase::Month,
        "30 USD",
        Basis::Quoted,
        Confidence::Verified,
        "2026-11-20",
    );
    let c = catalog(vec![offer("own", "r1", vec![listed("60 USD"), month])]);
    // load of several machines, so that a part of them can be committed
    let text = SERVE
        .replace("rate = 20.0", "rate = 400.0")
        .replace("peak_rate = 60.0", "peak_rate = 1200.0");
    let w = workload(&text.replace("peak_rate = 400.0", "peak_rate = 1200.0"));
    let plan = run(&c, &w, 10);
    let mix = plan
        .options
        .iter()
        .find(|o| o.purchase == Purchase::Mix)
        .expect("a mix");
    assert!(
        mix.base_nodes >= 1 && mix.base_nodes < mix.nodes,
        "{} of {}",
        mix.base_nodes,
        mix.nodes
    );
    let on_demand = plan
        .options
        .iter()
        .find(|o| o.purchase == Purchase::OnDemand)
        .expect("on demand");
    assert!(mix.screened_total < on_demand.screened_total);
}

#[test]
fn the_front_holds_nothing_that_is_beaten() {
    let f = facts();
    let plan = run(&f.catalog, &workload(LORA), 10);
    let at = |rank: &u32| &plan.options[*rank as usize - 1];
    assert!(!plan.pareto.is_empty());
    for member in plan.pareto.iter().map(at) {
        for other in &plan.options {
            let better = other.screened_total < member.screened_total
                && other.duration_s < member.duration_s
                && other.run.interruptions < member.run.interruptions;
            assert!(!better, "#{} is beaten by #{}", member.rank, other.rank);
        }
    }
}

#[test]
fn why_not_gives_the_reason_that_tells_most() {
    let c = catalog(vec![offer(
        "good",
        "r1",
        vec![
            listed("40 USD"),
            price(
                Purchase::Spot,
                "10 USD",
                Basis::Published,
                Confidence::Verified,
                "2026-11-20",
            ),
        ],
    )]);
    let w = workload(&format!(
        "{LORA}\n[constraints]\nbudget = \"1 USD\"\nspot = false\n"
    ));
    let plan = run(&c, &w, 10);
    let verdicts = why_not(input(&c, &w), &plan, "good/*");
    match &verdicts[0].verdict {
        Verdict::Rejected(reason) => {
            assert_eq!(reason.code(), "over_budget", "not that spot is forbidden")
        }
        other => panic!("{other:?}"),
    }
    let w = workload(LORA);
    let plan = run(&c, &w, 10);
    assert!(matches!(
        why_not(input(&c, &w), &plan, "good/good-8xh100@r1")[0].verdict,
        Verdict::Ranked { .. }
    ));
    assert!(why_not(input(&c, &w), &plan, "nobody/*").is_empty());
}

#[test]
fn a_spot_price_far_below_all_others_is_warned_of() {
    let spot = |per_hour: &str| {
        let p = Purchase::Spot;
        vec![price(
            p,
            per_hour,
            Basis::Published,
            Confidence::Verified,
            "2026-11-20",
        )]
    };
    let w = workload(LORA);
    let warned = |odd: &str, others: usize| {
        let mut offers = vec![offer("odd", "north", spot(odd))];
        offers.extend((0..others).map(|i| offer(&format!("usual{i}"), "r", spot("24 USD"))));
        let plan = run(&catalog(offers), &w, 10);
        let of_odd = |o: &&lessee_plan::PlanOption| o.offer == 0;
        let option = plan.options.iter().find(of_odd).expect("ranked").clone();
        option
            .warnings
            .into_iter()
            .find(|m| m.id == "warn-spot-outlier")
    };
    // the median is 3 USD per GPU and hour; 35 % of it are 1.05, eight of them 8.40
    let warning = warned("8.3 USD", 5).expect("a third of the usual");
    let count = warning.args.iter().find(|(name, _)| name == "count");
    assert_eq!(
        count.map(|(_, n)| n.clone()),
        Some(lessee_model::Arg::Number(6.0))
    );
    assert_eq!(warned("8.5 USD", 5), None);
    assert_eq!(warned("8.3 USD", 3), None, "too few to tell what is usual");
}

/// Up two hours of three, for a month, eight machines at once.
fn record(provider: &str, region: &str, machine: &str) -> Series {
    let ticks = 30 * 24 * 6;
    Series {
        about: About {
            zone: format!("{region}-a"),
            region: Some(region.to_owned()),
            provider: Some(provider.to_owned()),
            machine: Some(machine.to_owned()),
            source: "record.csv".to_owned(),
        },
        seen: Seen::Probe,
        asked: 8,
        gap_s: 600,
        start: None,
        at_s: (0..ticks).map(|i| i * 600).collect(),
        up: (0..ticks)
            .map(|i| Some(if i % 18 < 12 { 8 } else { 0 }))
            .collect(),
        price: Vec::new(),
        on_demand: None,
        priced_for: None,
    }
}

const SWEEP: &str = r#"
kind = "sweep"
[sweep]
trials = 64
gpu = "H100"
hours_per_trial = 6.0
memory = "40GB"
"#;

const RENDER: &str = r#"
kind = "render"
[render]
frames = 4000
gpu = "H100"
seconds_per_frame = 300.0
"#;

const HOURS: &str = r#"
kind = "hours"
[hours]
gpu = "H100"
gpus = 8
gpu_hours = 400
[checkpoint]
every = "30min"
size = "100GB"
"#;

#[test]
fn a_replayed_option_is_billed_as_it_was_ranked() {
    let spot = price(
        Purchase::Spot,
        "8 USD",
        Basis::Published,
        Confidence::Verified,
        "2026-11-20",
    );
    let catalog = catalog(vec![offer("seller", "north", vec![listed("24 USD"), spot])]);
    let series = [record("seller", "north", "seller-8xh100")];
    for text in [SWEEP, RENDER, HOURS] {
        let w = workload(text);
        let records = SpotRecords {
            series: &series,
            given: 0,
            policy: &facts().spot,
        };
        let plan = plan(
            PlanInput {
                spot: Some(records),
                ..input(&catalog, &w)
            },
            10,
        );
        let replayed = |o: &&PlanOption| o.purchase == Purchase::Spot;
        let mut found = 0;
        for option in plan.options.iter().filter(replayed) {
            let answer = option.spot.as_ref().expect("judged");
            if option.nodes > 8 {
                // the recorder asked for eight
                assert!(answer.refused.is_some() && answer.policy.is_none());
                continue;
            }
            found += 1;
            assert_eq!(answer.basis, Basis::Measured, "{text} {:?}", answer.refused);
            assert!(answer.deadline_assumed && answer.meets_deadline_share == Some(1.0));
            let total = option.bill.total().expect("one currency").amount.to_f64();
            assert!((total - option.screened_total).abs() <= 1e-9 * total);
            let high = option.bill_p90.total().expect("one currency");
            assert!(high.amount.to_f64() >= total);
            assert!(option.duration_p90_s >= option.duration_s);
            assert_eq!(option.run.interruptions, answer.interruptions);
        }
        assert!(found > 0, "{text}: {:?}", plan.unranked);
    }
}

#[test]
fn a_record_of_another_offer_changes_nothing() {
    let w = workload(HOURS);
    let f = facts();
    let before = run(&f.catalog, &w, 10);
    let series = [
        record("aws", "us-east-1", "p5.2xlarge"),
        record("gcp", "us-east-1", "p5.48xlarge"),
        record("aws", "eu-west-9", "p5.48xlarge"),
        record("aws", "us-east-1", "H100:16"),
    ];
    let records = SpotRecords {
        series: &series,
        given: 0,
        policy: &f.spot,
    };
    let after = plan(
        PlanInput {
            spot: Some(records),
            ..input(&f.catalog, &w)
        },
        10,
    );
    let totals = |p: &Plan| -> Vec<f64> { p.options.iter().map(|o| o.screened_total).collect() };
    assert_eq!(totals(&before), totals(&after));
}
