//! The sample quotes that lie beside the repository, where they do: key readings and what must not be read.

mod quote_support;

use lessee_catalog::quote::QuoteImport;
use lessee_model::Confidence;
use quote_support::{codes, import_as, offers, show};
use std::path::{Path, PathBuf};

fn folder() -> Option<PathBuf> {
    let given = std::env::var_os("LESSEE_SHARED").map(|p| Path::new(&p).join("data/quotes"));
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/quotes");
    given.into_iter().chain([beside]).find(|p| p.is_dir())
}

/// `None` with a printed reason where the samples are not there.
fn sample(start: &str) -> Option<QuoteImport> {
    let Some(folder) = folder() else {
        use std::io::Write;
        let _ = writeln!(
            std::io::stderr(),
            "skipped: no sample quotes (set LESSEE_SHARED)"
        );
        return None;
    };
    let entry = std::fs::read_dir(folder)
        .expect("folder")
        .filter_map(Result::ok)
        .find(|e| e.file_name().to_string_lossy().starts_with(start))
        .unwrap_or_else(|| panic!("sample {start}"));
    let text = std::fs::read_to_string(entry.path()).expect("text");
    Some(import_as(&text, &entry.file_name().to_string_lossy()))
}

fn asked_at(q: &QuoteImport, line: u64) -> Vec<&'static str> {
    q.questions
        .iter()
        .filter(|k| k.line == line)
        .map(|k| k.code)
        .collect()
}

#[test]
fn hourly_table_of_two_markets() {
    let Some(q) = sample("01_") else { return };
    let all = offers(&q);
    assert_eq!(
        all.iter().filter(|o| o.starts_with("autodl ")).count(),
        8,
        "{all:#?}"
    );
    assert!(
        all.contains(&"autodl RTX 4090 PCIe 24 x1 on_demand 1.88 CNY".to_owned()),
        "{all:#?}"
    );
    assert!(
        all.contains(&"runpod RTX 3090 PCIe 24 x1 on_demand 0.50 USD".to_owned()),
        "{all:#?}"
    );
    assert!(
        !all.iter().any(|o| o.starts_with("vast ")),
        "a price with a tilde is no price: {all:#?}"
    );
    assert_eq!(codes(&q), ["approximate", "approximate"]);
}

#[test]
fn ranges_are_asked_and_points_are_read() {
    let Some(q) = sample("02_") else { return };
    let prices: Vec<String> = q.offers.iter().map(|o| o.price.exact()).collect();
    assert_eq!(prices, ["3.40", "5.50", "8.90", "7.60"]);
    assert_eq!(asked_at(&q, 6), ["range", "approximate"]);
    assert_eq!(asked_at(&q, 7), ["range"]);
}

#[test]
fn low_trust_never_becomes_price_data() {
    for start in ["03_", "04_", "11_", "12_"] {
        let Some(q) = sample(start) else { return };
        assert!(q.offers.is_empty(), "{start}: {:#?}", offers(&q));
        assert!(!q.questions.is_empty(), "{start}");
    }
}

#[test]
fn per_token_columns_are_left_out() {
    let Some(q) = sample("05_") else { return };
    let prices: Vec<String> = q.offers.iter().map(|o| o.price.exact()).collect();
    assert_eq!(prices, ["15.00", "8.00", "35.00", "80.00"]);
}

#[test]
fn three_systems_of_units_on_one_line() {
    let Some(q) = sample("06_") else { return };
    let all = offers(&q);
    for expected in [
        "tencent H100 - 80 x1 on_demand 30.48 CNY",
        "- H100 - 80 x8 month 104.109589041096 CNY",
        "volcengine A100 - 80 x1 on_demand 50.40 CNY",
        "runpod L40S PCIe 48 x1 on_demand 0.99 USD",
        "- RTX 4090 PCIe 24 x8 month 10.00 CNY",
    ] {
        assert!(all.iter().any(|o| o == expected), "{expected} in {all:#?}");
    }
    assert_eq!(asked_at(&q, 11), ["price_conflict"]);
    assert_eq!(asked_at(&q, 13), ["count_conflict"]);
    assert!(asked_at(&q, 16).contains(&"gpu_unknown"));
    assert!(
        q.offers
            .iter()
            .all(|o| o.confidence == Confidence::Unverified)
    );
    assert!(
        q.offers
            .iter()
            .all(|o| o.as_of.is_some_and(|d| d.to_string() == "2026-07-15"))
    );
}

#[test]
fn a_contract_gives_one_machine() {
    let Some(q) = sample("07_") else { return };
    assert_eq!(q.offers.len(), 1, "{:#?}", offers(&q));
    assert_eq!(
        show(&q.offers[0]),
        "- H100 - - x8 year_1 109.58904109589 CNY"
    );
    assert_eq!(codes(&q), ["gpu_ambiguous"]);
}

#[test]
fn invoices_and_rules_give_no_offer() {
    let Some(q) = sample("08_") else { return };
    assert!(q.offers.is_empty());
    assert_eq!(codes(&q), ["gpu_missing", "unit_unknown"]);
    for start in ["09_", "10_"] {
        let Some(q) = sample(start) else { return };
        assert!(q.offers.is_empty(), "{start}: {:#?}", offers(&q));
    }
}
