//! Picking the rules of a place from tariff rows.

mod common;

use common::{fixed, usd};
use lessee_cost::{commitment_discount, resolve_tariff, source_egress, spot_risk, tiered_cost};
use lessee_model::tariff::{
    AdvisorRow, BillingRow, BootRow, CommitmentRow, EgressRow, SpotTermRow, Stopped, StorageRow,
    VolumeUnit,
};
use lessee_model::workload::Location;
use lessee_model::{Basis, BillingZone, Confidence, Fixed, Provenance, Purchase, TariffBook};

fn why(confidence: Confidence) -> Provenance {
    Provenance::new(Basis::Published, confidence, "list", None)
}

fn egress(
    provider: &str,
    region: &str,
    scope: &str,
    to: &str,
    from: &str,
    until: &str,
    price: &str,
) -> EgressRow {
    EgressRow {
        provider: provider.into(),
        region: region.into(),
        scope: scope.into(),
        destination: to.into(),
        tier_from_gb: fixed(from),
        tier_to_gb: (!until.is_empty()).then(|| fixed(until)),
        price: usd(price),
        unit: if provider == "gcp" { "GiB" } else { "GB" }.into(),
        why: why(Confidence::Secondary),
    }
}

fn storage(
    provider: &str,
    region: &str,
    kind: &str,
    price: &str,
    unit: &str,
    default: bool,
) -> StorageRow {
    StorageRow {
        provider: provider.into(),
        region: region.into(),
        kind: kind.into(),
        sku: format!("{kind} {price}").into(),
        price: usd(price),
        unit: unit.into(),
        tier_from_gb: None,
        tier_to_gb: None,
        min_days: None,
        default,
        why: why(Confidence::Verified),
    }
}

fn billing(provider: &str, scope: &str, to: Option<f64>, increment: u32) -> BillingRow {
    BillingRow {
        provider: provider.into(),
        scope: scope.into(),
        vcpus_from: None,
        vcpus_to: to,
        increment_s: Some(increment),
        minimum_s: Some(increment),
        stopped_compute: Stopped::Free,
        stopped_storage: Stopped::Billed,
        stop_note_en: None,
        stop_note_zh: None,
        why: why(Confidence::Verified),
    }
}

fn book() -> TariffBook {
    TariffBook {
        egress: vec![
            egress("aws", "us-*", "internet", "world", "0", "100", "0"),
            egress("aws", "us-*", "internet", "world", "100", "10240", "0.09"),
            egress("aws", "us-*", "internet", "world", "10240", "", "0.085"),
            egress("aws", "us-gov-*", "internet", "world", "0", "", "0.155"),
            egress("aws", "*", "ingress", "*", "0", "", "0"),
            egress("aws", "*", "public_ip_hour", "*", "0", "", "0.005"),
            egress("gcp", "*", "internet", "china", "0", "", "0.23"),
            egress("gcp", "europe-*", "internet", "world", "0", "1024", "0.12"),
            egress("runpod", "*", "internet", "*", "0", "", "0"),
            // a hole between the tiers: cannot be used
            egress("broken", "*", "internet", "world", "0", "10", "0.1"),
            egress("broken", "*", "internet", "world", "20", "", "0.1"),
        ],
        storage: vec![
            storage("aws", "us-east-1", "object", "0.0125", "GB-month", false),
            storage("aws", "us-east-1", "object", "0.023", "GB-month", true),
            storage("wasabi", "*", "object", "7.99", "TB-month", true),
            storage("aws", "*", "request_put", "0.005", "1000 requests", true),
        ],
        billing: vec![
            billing("ovh", "EU, CA, APAC", None, 1),
            billing("ovh", "US", None, 3600),
            billing("runpod", "serverless", None, 7),
            billing("runpod", "*", None, 1),
            billing("alicloud", "*", Some(4.0), 120),
            billing("alicloud", "*", None, 60),
        ],
        commitments: [
            ("vast", "GPU", 1, Some(0.2), true, Confidence::Secondary),
            ("runpod", "GPU", 3, None, true, Confidence::Verified),
            ("aws", "CPU", 12, Some(0.36), false, Confidence::Secondary),
            ("rumour", "GPU", 12, Some(0.6), true, Confidence::Unverified),
        ]
        .into_iter()
        .map(
            |(provider, scope, months, discount, gpu_specific, confidence)| CommitmentRow {
                provider: provider.into(),
                scope: scope.into(),
                plan: "plan".into(),
                term_months: Some(months),
                upfront_fraction: None,
                discount,
                gpu_specific,
                why: why(confidence),
            },
        )
        .collect(),
        advisor: [("g5", 5.0, Some(10.0)), ("p5", 20.0, None)]
            .into_iter()
            .map(|(name, low, high)| AdvisorRow {
                provider: "aws".into(),
                region: "us-east-1".into(),
                instance_type: name.into(),
                savings_pct: 50.0,
                interrupt_low_pct: low,
                interrupt_high_pct: high,
                why: why(Confidence::Secondary),
            })
            .collect(),
        spot_terms: vec![SpotTermRow {
            provider: "aws".into(),
            notice_s: Some(120.0),
            protection_s: None,
            why: why(Confidence::Verified),
        }],
        boot: [
            ("gcp", "gpu", 53.0, 303.0),
            ("vultr", "gpu", 102.0, 208.0),
            ("upcloud", "gpu", 80.0, 108.0),
            ("ovh", "cpu", 93.0, 96.0),
        ]
        .into_iter()
        .map(|(provider, kind, p50_s, p90_s)| BootRow {
            provider: provider.into(),
            kind: kind.into(),
            runs: 10,
            p50_s,
            p90_s,
            why: why(Confidence::Verified),
        })
        .collect(),
        month_hours: [("hetzner".into(), 720)].into(),
        zones: [("aws".into(), BillingZone::assumed())].into(),
        month_rules: [].into(),
    }
}

#[test]
fn the_longest_literal_part_wins_and_a_free_first_tier_is_an_allowance() {
    let book = book();
    let aws = resolve_tariff(&book, "aws", "us-west-2", None);
    let tiers = aws.egress_internet.expect("known").value;
    assert_eq!(tiers.allowance, fixed("100"));
    assert_eq!(
        tiered_cost(&tiers, fixed("10240"), tiers.allowance),
        usd("912.6")
    );
    let gov = resolve_tariff(&book, "aws", "us-gov-west-1", None);
    assert_eq!(
        gov.egress_internet.expect("known").value.tiers[0].price,
        usd("0.155")
    );
    // the default product, not the cheapest
    let east = resolve_tariff(&book, "aws", "us-east-1", None);
    assert_eq!(
        east.object_storage.expect("known").value.tiers[0].price,
        usd("0.023")
    );
}

#[test]
fn what_a_place_does_not_publish_is_unknown_with_the_range_of_the_others() {
    let book = book();
    // another region's price is not taken over
    let west = resolve_tariff(&book, "aws", "us-west-2", None);
    let unknown = west.object_storage.expect_err("unknown");
    assert_eq!(
        (unknown.low, unknown.high),
        (Some(usd("0.00799")), Some(usd("0.023")))
    );
    let none = resolve_tariff(&book, "nobody", "*", None);
    assert_eq!(
        none.public_ip.expect_err("unknown").high,
        Some(usd("0.005"))
    );
    assert!(none.billing.is_err());
    assert_eq!(none.rounding_elsewhere_s, Some((1, 3600)));
    assert!(
        resolve_tariff(&book, "broken", "x", None)
            .egress_internet
            .is_err()
    );
    // an empty book knows nothing and says so
    let empty = resolve_tariff(&TariffBook::default(), "aws", "us-east-1", None);
    assert!(empty.boot.is_err() && empty.rounding_elsewhere_s.is_none());
    assert_eq!(empty.ingress.expect_err("unknown").low, None);
}

#[test]
fn destinations_sizes_and_scopes() {
    let book = book();
    let gcp = resolve_tariff(&book, "gcp", "europe-west4", None);
    let china = gcp.egress_china.expect("known").value;
    assert_eq!(
        (china.unit, china.tiers[0].price),
        (VolumeUnit::GiB, usd("0.23"))
    );
    assert_eq!(
        gcp.egress_internet.expect("known").value.tiers[0].to,
        Some(fixed("1024"))
    );
    // a world price for a destination that nobody names is marked as weaker
    let aws = resolve_tariff(&book, "aws", "us-east-1", None)
        .egress_china
        .expect("known");
    assert_eq!(aws.why.confidence, Confidence::General);
    // free because published as free
    let runpod = resolve_tariff(&book, "runpod", "*", Some(8.0));
    let free = runpod.egress_internet.expect("known").value;
    assert_eq!(
        tiered_cost(&free, Fixed::from_int(1000), Fixed::ZERO),
        usd("0")
    );
    assert_eq!(runpod.billing.expect("known").value.increment_s, 1);
    for (region, increment) in [("US-EAST-VA-1", 3600), ("eu-west", 1)] {
        let ovh = resolve_tariff(&book, "ovh", region, None);
        assert_eq!(
            ovh.billing.expect("known").value.increment_s,
            increment,
            "{region}"
        );
    }
    for (vcpus, increment) in [(Some(4.0), 120), (Some(5.0), 60), (None, 60)] {
        let ali = resolve_tariff(&book, "alicloud", "cn-beijing", vcpus);
        assert_eq!(
            ali.billing.expect("known").value.increment_s,
            increment,
            "{vcpus:?}"
        );
    }
}

#[test]
fn boot_times_without_figures_are_the_middle_of_the_others() {
    let book = book();
    let boot = |p: &str| resolve_tariff(&book, p, "*", None).boot.expect("known");
    assert_eq!(boot("gcp").value.p90_s, 303.0);
    let middle = boot("runpod");
    assert_eq!((middle.value.p50_s, middle.value.p90_s), (80.0, 303.0));
    assert_eq!(
        (middle.why.basis, middle.why.confidence),
        (Basis::Assumed, Confidence::Unverified)
    );
    assert_eq!(boot("ovh").why.confidence, Confidence::Unverified);
}

#[test]
fn data_elsewhere_pay_the_tariff_there() {
    let book = book();
    let at = |provider: &str, region: &str| Location::Provider {
        provider: provider.into(),
        region: Some(region.into()),
    };
    let aws = source_egress(&book, &at("aws", "us-east-1"), "runpod")
        .expect("bills")
        .expect("known");
    assert_eq!(aws.value.allowance, fixed("100"));
    assert!(
        source_egress(&book, &at("nobody", "x"), "runpod")
            .expect("bills")
            .is_err()
    );
    assert!(source_egress(&book, &at("runpod", "x"), "runpod").is_none());
    assert!(source_egress(&book, &Location::Office, "runpod").is_none());
}

#[test]
fn advisor_buckets_become_hazards_by_a_stated_model() {
    let book = book();
    let g5 = spot_risk(&book, "aws", "us-east-1", "g5").expect("known");
    // 5 % within 30 days is 7e-5 per hour for a machine that ran all month; 10 % is 0.021 for one that ran 5 hours
    assert!((g5.value.hazard_low - 7.124e-5).abs() < 1e-8);
    assert!((g5.value.hazard_high - 0.021072).abs() < 1e-6);
    assert!(
        g5.value.hazard_low < g5.value.hazard_per_hour
            && g5.value.hazard_per_hour < g5.value.hazard_high
    );
    assert_eq!((g5.value.notice_s, g5.why.basis), (120.0, Basis::Modelled));
    let open = spot_risk(&book, "aws", "us-east-1", "p5")
        .expect("known")
        .value;
    assert!(open.hazard_high.is_finite() && open.hazard_high > open.hazard_low);
    assert!(spot_risk(&book, "gcp", "us-east1", "a3").is_err());
}

#[test]
fn only_published_gpu_rates_become_commitment_prices() {
    let book = book();
    let share = |p: &str, how| commitment_discount(&book, p, how).map(|d| d.discount.value);
    assert_eq!(share("vast", Purchase::Month), Some(0.2));
    assert_eq!(share("vast", Purchase::Year1), None);
    assert_eq!(
        share("aws", Purchase::Year1),
        None,
        "average over CPU families"
    );
    assert_eq!(share("rumour", Purchase::Year1), None, "unverified");
    assert_eq!(share("vast", Purchase::OnDemand), None);
}

/// A row whose every word is unverified is a rumour: its value widens the range, it is never a price.
#[test]
fn tariffs_that_nobody_could_verify_are_unknown_with_a_range() {
    let mut book = book();
    let mut rumour = |mut row: EgressRow| {
        row.why = why(Confidence::Unverified);
        book.egress.push(row);
    };
    rumour(egress("zero", "*", "internet", "world", "0", "", "0"));
    rumour(egress("dear", "*", "internet", "world", "0", "", "0.9"));
    rumour(egress("dear", "*", "public_ip_hour", "*", "0", "", "0.07"));
    let mut kept = storage("dear", "*", "object", "0.5", "GB-month", true);
    kept.why = why(Confidence::Unverified);
    book.storage.push(kept);
    let mut put = storage("dear", "*", "request_put", "0.3", "1000 requests", true);
    put.why = why(Confidence::Unverified);
    book.storage.push(put);
    let mut rule = billing("dear", "*", None, 60);
    rule.why = why(Confidence::Unverified);
    book.billing.push(rule);
    for provider in ["zero", "dear"] {
        let tariff = resolve_tariff(&book, provider, "x", None);
        let egress = tariff.egress_internet.expect_err(provider);
        assert_eq!(egress.high, Some(usd("0.9")), "{provider}");
        assert!(tariff.egress_china.is_err(), "{provider}");
    }
    let dear = resolve_tariff(&book, "dear", "x", None);
    assert_eq!(dear.public_ip.expect_err("ip").high, Some(usd("0.07")));
    assert_eq!(
        dear.object_storage.expect_err("storage").high,
        Some(usd("0.5"))
    );
    assert_eq!(dear.put_requests.expect_err("puts").high, Some(usd("0.3")));
    // a rule for rounding stays in use, with its mark
    let billing = dear.billing.expect("rule");
    assert_eq!(billing.why.confidence, Confidence::Unverified);
    // and a free zero that nobody read does not become the lower bound of others
    let without_free: Vec<EgressRow> = book
        .egress
        .iter()
        .filter(|r| *r.provider == *"zero" || *r.provider == *"dear")
        .cloned()
        .collect();
    book.egress = without_free;
    let none = resolve_tariff(&book, "nobody", "x", None);
    assert_eq!(
        none.egress_internet.expect_err("unknown").low,
        Some(usd("0.9"))
    );
}

/// Several rates for one term: the same one in whatever order the rows stand.
#[test]
fn of_several_discounts_the_lowest_counts_in_any_order() {
    let mut book = book();
    let row = book.commitments[0].clone();
    let rows: Vec<CommitmentRow> = [
        (0.5, Some(1.0)),
        (0.3, Some(1.0)),
        (0.3, Some(0.5)),
        (0.3, None),
    ]
    .into_iter()
    .map(|(discount, upfront_fraction)| CommitmentRow {
        discount: Some(discount),
        upfront_fraction,
        term_months: Some(12),
        ..row.clone()
    })
    .collect();
    for turn in 0..rows.len() {
        book.commitments = rows.clone();
        book.commitments.rotate_left(turn);
        let found = commitment_discount(&book, "vast", Purchase::Year1).expect("published");
        assert_eq!(
            (found.discount.value, found.upfront),
            (0.3, Some(0.5)),
            "{turn}"
        );
    }
}

#[test]
fn a_month_has_the_hours_that_the_provider_counts() {
    let book = book();
    assert_eq!(resolve_tariff(&book, "hetzner", "x", None).month_hours, 720);
    assert_eq!(resolve_tariff(&book, "aws", "x", None).month_hours, 730);
}
