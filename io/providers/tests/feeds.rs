//! Each provider's feed, traps included, becomes the right offers to the cent.

mod support;

use lessee_model::Purchase::{OnDemand, Spot, Year1, Year3};
use lessee_model::{Basis, Form, Interconnect, Market, Origin, TaxNote};
use lessee_providers::{RefreshOptions, Skip};
use lessee_testkit::fake_prices::{FakePrices, Fault, KEY};
use support::{ask, keys, offer, options, prices, skipped};

fn usd(prices: &[(lessee_model::Purchase, &str)]) -> Vec<(lessee_model::Purchase, String)> {
    prices
        .iter()
        .map(|(p, amount)| (*p, (*amount).to_owned()))
        .collect()
}

#[test]
fn azure_takes_current_windows_and_spreads_reservations_over_their_term() {
    let fake = FakePrices::start();
    let got = ask("azure", &options(&fake)).expect("refresh");
    assert_eq!(
        keys(&got),
        [
            "azure/Standard_NC4as_T4_v3@eastus",
            "azure/Standard_NC80adis_H100_v5@eastus",
            "azure/Standard_ND96isr_H100_v5@southafricawest",
            "azure/Standard_ND96isr_H100_v5@westus3",
        ]
    );
    // 2,897 / 8,760 and 5,603 / 26,280
    assert_eq!(
        prices(offer(&got, "Standard_NC4as_T4_v3", "eastus")),
        usd(&[
            (OnDemand, "0.526"),
            (Spot, "0.1052"),
            (Year1, "0.330707762557"),
            (Year3, "0.213203957382")
        ])
    );
    // the latest window of the billing rows; 551,221 a year is 62.92 an hour, 7.87 per GPU
    let nd = offer(&got, "Standard_ND96isr_H100_v5", "westus3");
    assert_eq!(
        prices(nd),
        usd(&[(OnDemand, "98.32"), (Year1, "62.924771689498")])
    );
    assert_eq!(
        (nd.machine.gpu_count, nd.machine.gpu.form),
        (8, Some(Form::Sxm))
    );
    // a name with a trailing blank; a "reservation" that is an hourly price already is not divided again
    let nc = offer(&got, "Standard_NC80adis_H100_v5", "eastus");
    assert_eq!(prices(nc), usd(&[(OnDemand, "13.96")]));
    assert_eq!(
        skipped(&got, Skip::Implausible),
        (1, vec!["Standard_NC80adis_H100_v5"])
    );
    let price = &nd.offer.prices[0];
    assert_eq!(
        price.why.as_of.map(|d| d.to_string()).as_deref(),
        Some("2026-11-30")
    );
    assert_eq!(
        (price.why.basis, price.tax),
        (Basis::Published, TaxNote::Excluded)
    );
    assert_eq!(nd.offer.market, Market::List);
    assert_eq!(nd.offer.origin, Origin::User("azure-2026-11-30".into()));
}

#[test]
fn azure_says_what_it_dropped_and_why() {
    let fake = FakePrices::start();
    let got = ask("azure", &options(&fake)).expect("refresh");
    for (reason, count) in [
        (Skip::OtherSystem, 1),
        (Skip::OtherProduct, 1),
        (Skip::LowPriority, 1),
        (Skip::DevTest, 1),
        // five-year term, and a price per GB
        (Skip::OtherUnit, 2),
        (Skip::OtherCurrency, 1),
        (Skip::BrokenWindow, 1),
        // a past and a future window, and two rows that lost against the current one
        (Skip::NotInEffect, 4),
        (Skip::ZeroPrice, 1),
        // "abc", -1 and something that is no object
        (Skip::Unreadable, 3),
    ] {
        assert_eq!(skipped(&got, reason).0, count, "{reason:?}");
    }
    assert_eq!(
        skipped(&got, Skip::UnknownType),
        (1, vec!["Standard_NC999ads_FUTURE_v9"])
    );
    let dropped: u64 = got.skipped.iter().map(|s| s.count).sum();
    let kept: usize = got.offers.iter().map(|f| f.offer.prices.len()).sum();
    assert_eq!(
        dropped as usize + kept,
        26,
        "every row of the feed is accounted for"
    );
}

#[test]
fn azure_follows_pages_and_asks_for_exact_regions_only() {
    let fake = FakePrices::start();
    let got = ask("azure", &options(&fake)).expect("refresh");
    assert_eq!(got.requests.len(), 3);
    let one = RefreshOptions {
        regions: vec!["westus3".into()],
        ..options(&fake)
    };
    let got = ask("azure", &one).expect("refresh");
    assert_eq!(keys(&got), ["azure/Standard_ND96isr_H100_v5@westus3"]);
    assert!(
        got.requests[0].contains("armRegionName+eq+%27westus3%27"),
        "{}",
        got.requests[0]
    );
    let pattern = RefreshOptions {
        regions: vec!["southafrica*".into()],
        ..options(&fake)
    };
    let got = ask("azure", &pattern).expect("refresh");
    assert_eq!(
        keys(&got),
        ["azure/Standard_ND96isr_H100_v5@southafricawest"]
    );
    assert!(skipped(&got, Skip::OtherRegion).0 > 0);
}

#[test]
fn aws_reads_plain_linux_machines_out_of_the_list() {
    let fake = FakePrices::start();
    let got = ask("aws", &options(&fake)).expect("refresh");
    assert_eq!(
        keys(&got),
        [
            "aws/g6.12xlarge@eu-central-1",
            "aws/g6.12xlarge@us-east-1",
            "aws/g6f.xlarge@us-east-1",
            "aws/p5.48xlarge@us-east-1",
        ]
    );
    let p5 = offer(&got, "p5.48xlarge", "us-east-1");
    assert_eq!(
        prices(p5),
        usd(&[(OnDemand, "55.04"), (Year1, "36.15"), (Year3, "23.77")])
    );
    assert_eq!(
        (p5.machine.gpu_count, p5.machine.memory_gib),
        (8, Some(2048.0))
    );
    let prices_of = |region| prices(offer(&got, "g6.12xlarge", region));
    assert_eq!(prices_of("us-east-1"), usd(&[(OnDemand, "4.6016")]));
    assert_eq!(prices_of("eu-central-1"), usd(&[(OnDemand, "5.7527")]));
    // a slice that the list counts as no GPU
    let slice = offer(&got, "g6f.xlarge", "us-east-1");
    assert_eq!(slice.machine.gpu_fraction, 0.125);
    assert_eq!(skipped(&got, Skip::UnknownType), (1, vec!["p9.96xlarge"]));
    assert_eq!(skipped(&got, Skip::CountDiffers), (1, vec!["g6.xlarge"]));
    assert_eq!(skipped(&got, Skip::NoGpu), (2, vec!["m7i.large"]));
    assert_eq!(skipped(&got, Skip::OtherSystem).0, 3);
    // dedicated, reserved capacity, capacity block, local zone, an address
    assert_eq!(skipped(&got, Skip::OtherProduct).0, 5);
    // convertible, and all upfront
    assert_eq!(skipped(&got, Skip::OtherUnit).0, 2);
}

#[test]
fn aws_downloads_only_the_lists_of_wanted_regions() {
    let fake = FakePrices::start();
    let options = RefreshOptions {
        regions: vec!["eu-*".into()],
        ..options(&fake)
    };
    let got = ask("aws", &options).expect("refresh");
    assert_eq!(keys(&got), ["aws/g6.12xlarge@eu-central-1"]);
    let targets: Vec<String> = fake.requests().into_iter().map(|r| r.target).collect();
    assert_eq!(
        targets,
        [
            "/offers/v1.0/aws/AmazonEC2/current/region_index.json",
            "/offers/v1.0/aws/AmazonEC2/20261128090000/eu-central-1/index.csv",
        ]
    );
}

#[test]
fn aws_without_an_index_of_regions_is_read_from_the_list_of_all() {
    let fake = FakePrices::start();
    let no_index = Fault::Status {
        times: 1,
        code: 404,
    };
    fake.fault("aws", no_index);
    let got = ask("aws", &options(&fake)).expect("refresh");
    assert_eq!(got.offers.len(), 3);
    let last = fake.requests().pop().expect("a request");
    assert_eq!(last.target, "/offers/v1.0/aws/AmazonEC2/current/index.csv");
}

#[test]
fn oci_sums_parts_per_gpu_and_halves_only_what_is_preemptible() {
    let fake = FakePrices::start();
    let got = ask("oci", &options(&fake)).expect("refresh");
    assert_eq!(
        keys(&got),
        [
            "oci/BM.GPU.A100-v2.8@*",
            "oci/BM.GPU.GB200.4@*",
            "oci/BM.GPU.H100.8@*",
            "oci/BM.GPU.MI355X.8@*",
            "oci/VM.GPU.A10.2@*",
        ]
    );
    let a10 = offer(&got, "VM.GPU.A10.2", "*");
    assert_eq!(prices(a10), usd(&[(OnDemand, "4.00"), (Spot, "2.00")]));
    assert_eq!(a10.offer.prices[1].why.basis, Basis::Modelled);
    assert_eq!(
        a10.machine.arch, None,
        "the feed's processor type is wrong here"
    );
    // 8 x 10.00, and 61.44 x 0.0612 for the disks
    let h100 = offer(&got, "BM.GPU.H100.8", "*");
    assert_eq!(prices(h100), usd(&[(OnDemand, "83.760128")]));
    assert_eq!(
        (h100.machine.vcpus, h100.machine.gpu.memory_gb),
        (Some(224.0), Some(80.0))
    );
    // memory of one GPU where the total should stand; a name with a decoration
    let amd = offer(&got, "BM.GPU.MI355X.8", "*");
    assert_eq!(
        (amd.machine.gpu.memory_gb, prices(amd)),
        (Some(288.0), usd(&[(OnDemand, "68.80")]))
    );
    let grace = offer(&got, "BM.GPU.GB200.4", "*");
    assert_eq!(
        (grace.machine.arch.as_deref(), prices(grace)),
        (Some("arm64"), usd(&[(OnDemand, "64.00")]))
    );
    let a100 = offer(&got, "BM.GPU.A100-v2.8", "*");
    assert_eq!(a100.machine.gpu.memory_gb, Some(80.0));
    assert_eq!(
        skipped(&got, Skip::UnknownGpu),
        (2, vec!["BM.GPU.NEWCHIP.8", "VM.GPU3.1"])
    );
    // a part that is not on the list, and one sold by the month
    assert_eq!(
        skipped(&got, Skip::NoPrice),
        (2, vec!["BM.GPU.L40S.4", "VM.GPU.A10.1"])
    );
    assert_eq!(skipped(&got, Skip::NotForRent), (1, vec!["BM.GPU.B200.8"]));
    assert_eq!(skipped(&got, Skip::NoGpu), (1, vec!["BM.DenseIO.E5.128"]));
}

#[test]
fn vast_keeps_each_host_and_never_sells_a_bid_floor() {
    let fake = FakePrices::start();
    let got = ask("vast", &options(&fake)).expect("refresh");
    assert_eq!(
        keys(&got),
        [
            "vast/1001@US",
            "vast/1002@SE",
            "vast/1003@US",
            "vast/1004@*",
            "vast/1005@*"
        ]
    );
    let four = offer(&got, "1002", "SE");
    assert_eq!(prices(four), usd(&[(OnDemand, "1.3333")]));
    let m = &four.machine;
    assert_eq!(
        (&*m.gpu.model, m.gpu_count, m.gpu_fraction),
        ("RTX 4090", 4, 1.0)
    );
    assert_eq!(
        (m.usable_mib_each, m.interconnect),
        (Some(24564), Some(Interconnect::Pcie))
    );
    // half of the host's cores come with half of its memory: 257,000 MiB / 2
    assert_eq!((m.vcpus, m.memory_gib), (Some(32.0), Some(125.488_28)));
    assert_eq!(
        (m.network_gbps, m.gpu_access.as_deref()),
        (Some(1.5), Some("container"))
    );
    // one name, two products
    let memory = |id, region| offer(&got, id, region).machine.gpu.memory_gb;
    assert_eq!(
        (memory("1003", "US"), memory("1004", "*")),
        (Some(40.0), Some(80.0))
    );
    assert!(got.offers.iter().all(|f| f.offer.price(Spot).is_none()));
    let note = four.offer.note.as_deref().expect("note");
    assert!(
        note.contains("inet_up_cost=0.005") && note.contains("reliability=0.9987"),
        "{note}"
    );
    // 12 GB on a 4090, and a card nobody knows
    assert_eq!(
        skipped(&got, Skip::UnknownGpu),
        (2, vec!["RTX 4090", "Imaginary RTX 9999"])
    );
    assert_eq!(skipped(&got, Skip::NotForRent).0, 2);
    assert_eq!(skipped(&got, Skip::Duplicate), (1, vec!["1001"]));
    assert_eq!(skipped(&got, Skip::ZeroPrice), (1, vec!["1008"]));
    assert_eq!(skipped(&got, Skip::NoPrice).0, 1);
    assert_eq!(skipped(&got, Skip::Unreadable), (1, vec!["num_gpus"]));
    let asked: serde_json::Value = serde_json::from_str(&fake.requests()[0].body).expect("json");
    assert_eq!(asked["rentable"]["eq"], true);
}

#[test]
fn vast_search_is_capped() {
    let fake = FakePrices::start();
    let mut few = options(&fake);
    few.limits.max_search_offers = 2;
    let got = ask("vast", &few).expect("refresh");
    assert_eq!(keys(&got), ["vast/1001@US", "vast/1002@SE"]);
    assert_eq!(skipped(&got, Skip::OverCap).0, 12);
}

#[test]
fn runpod_multiplies_the_price_of_a_gpu_as_far_as_each_cloud_goes() {
    let fake = FakePrices::start();
    let got = ask("runpod", &options(&fake)).expect("refresh");
    let on_demand = |name: &str| prices(offer(&got, name, "*"));
    assert_eq!(
        on_demand("H100-SXM-80GB-secure-8x"),
        usd(&[(OnDemand, "31.92")])
    );
    assert_eq!(
        on_demand("H100-SXM-80GB-community-4x"),
        usd(&[(OnDemand, "10.76")])
    );
    assert_eq!(
        on_demand("A100-PCIe-80GB-secure-1x"),
        usd(&[(OnDemand, "1.79")])
    );
    let names = keys(&got);
    assert!(
        !names
            .iter()
            .any(|n| n.contains("H100-SXM-80GB-community-8x"))
    );
    assert!(!names.iter().any(|n| n.contains("A100-PCIe-80GB-community")));
    // up to six: 1, 2 and 4
    assert_eq!(
        names
            .iter()
            .filter(|n| n.contains("4090") && n.contains("secure"))
            .count(),
        3
    );
    let eight = &offer(&got, "H100-SXM-80GB-secure-8x", "*").machine;
    assert_eq!(
        (eight.gpu_count, eight.vcpus, eight.memory_gib),
        (8, Some(128.0), Some(1000.0))
    );
    let dry = offer(&got, "RTX-4090-PCIe-24GB-secure-1x", "*");
    assert_eq!(dry.offer.note.as_deref(), Some("stockStatus=none"));
    assert_eq!(skipped(&got, Skip::UnknownGpu), (1, vec!["RTX 9999 Dream"]));
    assert_eq!(skipped(&got, Skip::ZeroPrice), (1, vec!["L40S"]));
    assert_eq!(skipped(&got, Skip::Unreadable), (1, vec!["securePrice"]));
}

#[test]
fn lambda_prices_whole_machines_where_there_is_capacity() {
    let fake = FakePrices::start();
    let got = ask("lambda", &options(&fake)).expect("refresh");
    assert_eq!(
        keys(&got),
        [
            "lambda/gpu_1x_a100_sxm4@*",
            "lambda/gpu_1x_gh200@us-east-3",
            "lambda/gpu_1x_h100_pcie@us-west-3",
            "lambda/gpu_8x_h100_sxm5@us-east-1",
            "lambda/gpu_8x_h100_sxm5@us-west-3",
        ]
    );
    let eight = offer(&got, "gpu_8x_h100_sxm5", "us-east-1");
    assert_eq!(prices(eight), usd(&[(OnDemand, "23.92")]));
    assert_eq!(
        (eight.machine.gpu_count, eight.machine.gpu.form),
        (8, Some(Form::Sxm))
    );
    let none = offer(&got, "gpu_1x_a100_sxm4", "*");
    assert_eq!(none.machine.gpu.memory_gb, Some(40.0));
    assert_eq!(
        none.offer.note.as_deref(),
        Some("regions_with_capacity_available=none")
    );
    assert_eq!(
        offer(&got, "gpu_1x_gh200", "us-east-3")
            .machine
            .arch
            .as_deref(),
        Some("arm64")
    );
    let pcie = offer(&got, "gpu_1x_h100_pcie", "us-west-3");
    assert_eq!(pcie.machine.gpu.form, Some(Form::Pcie));
    assert_eq!(skipped(&got, Skip::UnknownGpu), (1, vec!["gpu_1x_dream"]));
    assert_eq!(skipped(&got, Skip::NoGpu), (1, vec!["cpu_4x_general"]));
    assert_eq!(skipped(&got, Skip::NoPrice), (1, vec!["gpu_1x_a10"]));
}

#[test]
fn the_key_travels_in_its_header_and_nowhere_else() {
    let fake = FakePrices::start();
    for provider in ["runpod", "lambda"] {
        let got = ask(provider, &options(&fake)).expect("refresh");
        assert!(!format!("{got:?}").contains(KEY));
    }
    for asked in fake.requests() {
        assert_eq!(
            asked.authorization.as_deref(),
            Some(format!("Bearer {KEY}").as_str())
        );
        assert!(
            !asked.target.contains(KEY) && !asked.body.contains(KEY),
            "{asked:?}"
        );
    }
    ask("azure", &options(&fake)).expect("refresh");
    let last = fake.requests().pop().expect("a request");
    assert_eq!(last.authorization, None, "an API without a key gets none");
}
