//! The built-in facts as the tests need them, and short ways to ask and to look.
#![allow(dead_code, reason = "each test file uses its part")]

use lessee_model::{
    AcceleratorClass, AsOf, Basis, Confidence, Form, GpuRef, GpuSpec, GpuTable, Interconnect,
    Machine, Provenance, Purchase,
};
use lessee_providers::{
    ApiKey, Event, Facts, FetchedOffer, Limits, ProviderError, RefreshOptions, Refreshed, Skip,
    refresh_blocking,
};
use lessee_testkit::fake_prices::{FakePrices, KEY};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/");

fn rows(file: &str) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(format!("{DATA}{file}")).expect(file);
    reader.deserialize().map(|row| row.expect(file)).collect()
}

fn gpus() -> GpuTable {
    let spec = |r: HashMap<String, String>| GpuSpec {
        name: r["name"].as_str().into(),
        model: r["model"].as_str().into(),
        form: r["form"].parse().expect("form"),
        vendor: r["vendor"].as_str().into(),
        arch: r["arch"].as_str().into(),
        compute_capability: None,
        memory_gb: r["memory_gb"].parse().expect("memory_gb"),
        mem_bw_gbs: r["mem_bw_gbs"].parse().ok(),
        fp16_tflops: None,
        bf16_tflops: None,
        fp8_tflops: None,
        int8_tops: None,
        fp4_tflops: None,
        fp32_tflops: None,
        tdp_w: None,
        link_total_bidir_gbs: None,
        pcie_gen: None,
        pcie_lanes: None,
        sm_count: None,
        rt_cores: None,
        usable_mib: None,
        why: Provenance::new(Basis::Published, Confidence::Secondary, "data sheet", None),
    };
    let alias = |r: HashMap<String, String>| {
        let gpu = GpuRef {
            model: r["model"].as_str().into(),
            form: r["form"].parse::<Form>().ok(),
            memory_gb: r["memory_gb"].parse().ok(),
        };
        (r["alias"].clone(), gpu)
    };
    GpuTable::new(
        rows("gpu/specs.csv").into_iter().map(spec).collect(),
        rows("gpu/aliases.csv").into_iter().map(alias),
    )
}

/// The built-in machines by provider and type.
fn machines() -> HashMap<(String, String), Machine> {
    let machine = |r: &HashMap<String, String>| {
        Some(Machine {
            class: AcceleratorClass::Gpu,
            gpu: GpuRef {
                model: r["gpu_model"].as_str().into(),
                form: r["gpu_form"].parse().ok(),
                memory_gb: r["gpu_memory_gb"].parse().ok(),
            },
            gpu_count: r["gpu_count"].parse().ok()?,
            gpu_fraction: r["gpu_fraction"].parse().ok()?,
            usable_mib_each: r["usable_mib_each"].parse().ok(),
            vcpus: r["vcpus"].parse().ok(),
            memory_gib: r["memory_gib"].parse().ok(),
            local_disk_gb: None,
            network_gbps: None,
            interconnect: r["interconnect"].parse::<Interconnect>().ok(),
            link_gbs: None,
            rdma: None,
            arch: None,
            gpu_access: None,
            status: "current".into(),
            confidence: Confidence::Verified,
            host_confidence: Confidence::Verified,
        })
    };
    ["offers/machines.csv", "cc-by-sa/machines.csv"]
        .into_iter()
        .flat_map(rows)
        .filter_map(|r| {
            let key = (r["provider"].clone(), r["instance_type"].clone());
            Some((key, machine(&r)?))
        })
        .collect()
}

/// Options for the fake server: its address, the right key, seconds that last a millisecond.
pub(crate) fn options(fake: &FakePrices) -> RefreshOptions<'static> {
    RefreshOptions {
        base_url: Some(fake.url().to_owned()),
        key: ApiKey::new(KEY),
        limits: Limits {
            second: Duration::from_millis(1),
            ..Limits::default()
        },
        ..RefreshOptions::default()
    }
}

pub(crate) fn ask(
    provider: &str,
    options: &RefreshOptions<'_>,
) -> Result<Refreshed, ProviderError> {
    static GPUS: LazyLock<GpuTable> = LazyLock::new(gpus);
    static MACHINES: LazyLock<HashMap<(String, String), Machine>> = LazyLock::new(machines);
    let known = |provider: &str, kind: &str| {
        MACHINES
            .get(&(provider.to_owned(), kind.to_owned()))
            .cloned()
    };
    let facts = Facts {
        gpus: &GPUS,
        known: &known,
    };
    let today: AsOf = "2026-11-30".parse().expect("date");
    refresh_blocking(provider, options, facts, today)
}

/// The same, with the seconds that were waited for between tries.
pub(crate) fn ask_waiting(
    provider: &str,
    options: &RefreshOptions<'_>,
) -> (Result<Refreshed, ProviderError>, Vec<f64>) {
    let waits = RefCell::new(Vec::new());
    let note = |event: Event<'_>| {
        if let Event::Waiting { seconds, .. } = event {
            waits.borrow_mut().push(seconds);
        }
    };
    let options = RefreshOptions {
        on_event: &note,
        ..options.clone()
    };
    let result = ask(provider, &options);
    (result, waits.into_inner())
}

pub(crate) fn offer<'r>(
    refreshed: &'r Refreshed,
    instance_type: &str,
    region: &str,
) -> &'r FetchedOffer {
    refreshed
        .offers
        .iter()
        .find(|f| &*f.offer.instance_type == instance_type && &*f.offer.region == region)
        .unwrap_or_else(|| panic!("no {instance_type}@{region} in {:?}", keys(refreshed)))
}

pub(crate) fn keys(refreshed: &Refreshed) -> Vec<String> {
    refreshed.offers.iter().map(|f| f.offer.key()).collect()
}

/// `on_demand 98.32` and so on, exact.
pub(crate) fn prices(fetched: &FetchedOffer) -> Vec<(Purchase, String)> {
    fetched
        .offer
        .prices
        .iter()
        .map(|p| (p.purchase, p.per_hour.exact()))
        .collect()
}

pub(crate) fn skipped(refreshed: &Refreshed, reason: Skip) -> (u64, Vec<&str>) {
    refreshed
        .skipped
        .iter()
        .find(|s| s.reason == reason)
        .map_or((0, Vec::new()), |s| {
            (s.count, s.examples.iter().map(String::as_str).collect())
        })
}
