//! Importers against small files with the defects that real catalogues have.

use lessee_catalog::{CatalogError, Facts, Format, ImportContext, Imported, builtin, import};
use lessee_model::{Basis, Confidence, Form, Interconnect, Market, Offer, Purchase};
use proptest::prelude::*;
use std::sync::LazyLock;

static FACTS: LazyLock<Facts> = LazyLock::new(|| builtin().expect("built-in facts"));

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(format!(
        "{}/tests/fixtures/{name}",
        env!("CARGO_MANIFEST_DIR")
    ))
    .expect(name)
}

fn context() -> ImportContext<'static> {
    ImportContext {
        facts: &FACTS,
        provider: None,
        as_of: "2026-11-29".parse().ok(),
        currency: None,
    }
}

fn read(name: &str) -> Imported {
    import(&fixture(name), name, &context(), None).expect(name)
}

fn offer<'a>(read: &'a Imported, key: &str) -> &'a Offer {
    read.catalog
        .offers
        .iter()
        .find(|o| o.key() == key)
        .unwrap_or_else(|| panic!("no {key} among {:?}", keys(read)))
}

fn keys(read: &Imported) -> Vec<String> {
    read.catalog.offers.iter().map(Offer::key).collect()
}

fn price(offer: &Offer, purchase: Purchase) -> String {
    offer.price(purchase).expect("price").per_hour.to_string()
}

fn codes(read: &Imported) -> Vec<(u64, &str)> {
    let questions = read.doc.questions.iter();
    questions.map(|q| (q.line, q.code.as_str())).collect()
}

#[test]
fn skypilot_zones_collapse_and_defects_become_questions() {
    let read = read("aws/vms.csv");
    assert_eq!(read.doc.format, "skypilot");
    let p5 = offer(&read, "aws/p5.48xlarge@us-east-1");
    assert_eq!(price(p5, Purchase::OnDemand), "55.04 USD");
    assert_eq!(price(p5, Purchase::Spot), "20.25 USD");
    assert_eq!(p5.note.as_deref(), Some("zones: us-east-1a us-east-1b"));
    let machine = read.catalog.machine(p5);
    // what the catalogue does not say is filled from the built-in machine
    assert_eq!(
        (machine.gpu.form, machine.interconnect),
        (Some(Form::Sxm), Some(Interconnect::Nvswitch))
    );
    let slice = offer(&read, "aws/g6f.large@us-west-2");
    assert!((read.catalog.machine(slice).gpu_fraction - 0.125).abs() < 1e-6);
    assert!(
        slice.price(Purchase::Spot).is_none(),
        "0.00 is no spot price"
    );
    assert_eq!(
        codes(&read),
        [
            (4, "price_zero"),
            (6, "price_unreadable"),
            (7, "price_negative"),
            (7, "price_unreadable"),
            (9, "gpu_unknown"),
        ]
    );
    assert_eq!(read.doc.ignored_lines, 1, "the machine without GPU");
    let unknown = offer(&read, "aws/x9.huge@us-east-1");
    assert_eq!(unknown.prices[0].why.confidence, Confidence::Unverified);
    assert_eq!(read.whys.len(), read.doc.questions.len());
    let doc = read.into_doc(|msg| msg.id.to_string());
    assert!(
        doc.questions
            .iter()
            .all(|q| q.why.starts_with("import-why-"))
    );
    assert!(
        doc.offers
            .iter()
            .all(|o| o.per == "instance_hour" && !o.original.is_empty())
    );
}

#[test]
fn gcp_hosts_and_accelerators_are_summed_in_their_zone() {
    let read = read("gcp/vms.csv");
    let a2 = offer(&read, "gcp/a2-highgpu-8g@europe-west4");
    assert_eq!(price(a2, Purchase::OnDemand), "29.90 USD");
    assert_eq!(price(a2, Purchase::Spot), "13.50 USD");
    assert_eq!(read.catalog.machine(a2).gpu_count, 8);
    assert_eq!(keys(&read).len(), 1);
    assert_eq!(codes(&read), [(6, "host_without_gpu")]);
    assert_eq!(
        read.doc.ignored_lines, 2,
        "n1 without and P100 without host"
    );
    assert!(read.doc.offers[0].derivation[0].contains("22.5"));
}

#[test]
fn marketplace_hosts_and_memory_in_total() {
    let read = read("vast_vms.csv");
    let h200 = offer(&read, "vast/8x-H200-64-131072@FR");
    assert_eq!(price(h200, Purchase::OnDemand), "17.60 USD");
    assert_eq!(h200.market, Market::Marketplace);
    assert_eq!(read.catalog.machine(h200).gpu.memory_gb, Some(141.0));
    assert_eq!(codes(&read), [(4, "memory_mismatch")]);
}

#[test]
fn gpuhunt_zones_spot_flags_and_conflicts() {
    let read = read("gcp.csv");
    let a2 = offer(&read, "gcp/a2-ultragpu-1g@us-central1");
    assert_eq!(price(a2, Purchase::OnDemand), "5.05 USD");
    assert_eq!(codes(&read), [(6, "price_zero"), (7, "word_unknown")]);
    assert_eq!(read.doc.ignored_lines, 1);

    let read = self::read("runpod.csv");
    assert_eq!(
        keys(&read),
        ["runpod/NVIDIA H200@US-GA-2"],
        "of two prices none is taken"
    );
    assert_eq!(codes(&read), [(2, "conflict")]);
}

#[test]
fn a_bill_tells_what_is_really_paid() {
    for name in ["bill.csv", "bill_1_3.csv"] {
        let read = read(name);
        let p5 = offer(&read, "aws/p5.48xlarge@us-east-1");
        let paid = p5.price(Purchase::OnDemand).expect("price");
        assert_eq!(paid.per_hour.to_string(), "44.032 USD");
        assert_eq!((paid.why.basis, p5.market), (Basis::Quoted, Market::Quote));
        assert_eq!(paid.why.as_of.expect("date").to_string(), "2026-10-02");
        assert!(p5.note.as_deref().expect("discount").contains("-20.0 %"));
        let all = &read.doc.offers;
        let of = |p| {
            all.iter()
                .find(|o| o.purchase == p)
                .map(|o| o.price.to_string())
        };
        assert_eq!(of(Purchase::Year1).as_deref(), Some("30.00 USD"));
        assert_eq!(of(Purchase::Spot).as_deref(), Some("24.00 USD"));
        assert_eq!(codes(&read), [(5, "term_unknown"), (9, "unit_unknown")]);
        assert_eq!(read.doc.ignored_lines, 2, "storage and the purchase");
    }
}

#[test]
fn canonical_offers() {
    let read = read("offers.csv");
    let box8 = offer(&read, "acme/box-8@cn-north");
    assert_eq!(price(box8, Purchase::Month), "104.11 CNY");
    assert_eq!(box8.prices.len(), 2);
    let box1 = offer(&read, "acme/box-1@cn-north");
    assert_eq!(read.catalog.machine(box1).gpu.memory_gb, Some(80.0));
    assert_eq!(codes(&read), []);
}

#[test]
fn a_cut_file_is_refused_at_every_byte() {
    let whole = fixture("gcp/vms.csv");
    let lines: Vec<usize> = (0..whole.len())
        .filter(|i| whole[*i] == b'\n')
        .map(|i| i + 1)
        .collect();
    for cut in 1..whole.len() {
        if lines.contains(&cut) {
            continue; // a file of whole lines cannot be told from a short one
        }
        let result = import(
            &whole[..cut],
            "gcp/vms.csv",
            &context(),
            Some(Format::SkyPilot),
        );
        assert!(result.is_err(), "cut at {cut}");
    }
}

#[test]
fn unusable_files_say_why() {
    let try_it = |bytes: &[u8], name: &str| import(bytes, name, &context(), None).map(|_| ());
    assert!(matches!(
        try_it(b"", "aws/vms.csv"),
        Err(CatalogError::Empty { .. })
    ));
    let vms = fixture("aws/vms.csv");
    assert!(matches!(
        try_it(&vms, "vms.csv"),
        Err(CatalogError::NoProvider { .. })
    ));
    assert!(matches!(
        try_it(
            b"AcceleratorName,Clouds\nH100,\"['AWS']\"\n",
            "common/accelerators.csv"
        ),
        Err(CatalogError::MissingColumn {
            column: "InstanceType",
            ..
        })
    ));
    assert!(matches!(
        try_it(b"---\n!!!\n", "x"),
        Err(CatalogError::UnknownFormat { .. })
    ));
    let unclosed = String::from_utf8(vms)
        .expect("text")
        .replacen("}\",22.5", "},22.5", 1);
    assert!(matches!(
        try_it(unclosed.as_bytes(), "aws/vms.csv"),
        Err(CatalogError::OpenQuote { .. } | CatalogError::Fields { line: 2, .. })
    ));
}

#[test]
fn a_provider_given_by_the_user_wins() {
    let cx = ImportContext {
        provider: Some("Amazon Web Services"),
        ..context()
    };
    let read = import(&fixture("runpod.csv"), "runpod.csv", &cx, None).expect("read");
    assert!(read.catalog.offers.iter().all(|o| &*o.provider == "aws"));
}

/// Whatever the bytes, an importer answers; and each price it accepts is one that money can have.
fn answers(format: Option<Format>, bytes: &[u8]) {
    if let Ok(read) = lessee_catalog::fuzz_import(&FACTS, format, bytes) {
        assert_eq!(read.whys.len(), read.doc.questions.len());
        for offer in &read.catalog.offers {
            assert!((offer.machine.0 as usize) < read.catalog.machines.len());
            for price in &offer.prices {
                let amount = price.per_hour.amount;
                assert!(!amount.is_negative() && !amount.is_zero());
            }
        }
    }
}

const SAMPLES: [(&str, Format); 8] = [
    ("aws/vms.csv", Format::SkyPilot),
    ("gcp/vms.csv", Format::SkyPilot),
    ("vast_vms.csv", Format::SkyPilot),
    ("lambda_vms.csv", Format::SkyPilot),
    ("gcp.csv", Format::GpuHunt),
    ("runpod.csv", Format::GpuHunt),
    ("bill.csv", Format::Focus),
    ("offers.csv", Format::Offers),
];

/// Pieces that hurt parsers of tables.
const BITS: [&[u8]; 14] = [
    b",",
    b"\"",
    b"\n",
    b"\r\n",
    b"-",
    b"1e400",
    b"NaN",
    b"0",
    b"\xff",
    b"\0",
    b"99999999999999999999999999999",
    b"0.0000000000000000000001",
    "元".as_bytes(),
    b"inf",
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400), which in 0..5usize) {
        answers(None, &bytes);
        answers(Some(Format::ALL[which]), &bytes);
    }

    #[test]
    fn any_cells_under_a_real_header(
        which in 0..SAMPLES.len(),
        cells in proptest::collection::vec("[ -~]{0,12}|[0-9.]{1,24}|True|H100|A100-80GB", 0..60),
    ) {
        let (name, format) = SAMPLES[which];
        let text = String::from_utf8(fixture(name)).expect("text");
        let header = text.lines().next().expect("header");
        let width = header.split(',').count();
        let mut out = format!("{header}\n");
        for row in cells.chunks(width).filter(|row| row.len() == width) {
            let quoted: Vec<String> = row.iter().map(|c| format!("\"{}\"", c.replace('"', "\"\""))).collect();
            out.push_str(&quoted.join(","));
            out.push('\n');
        }
        answers(Some(format), out.as_bytes());
    }

    #[test]
    fn mutated_samples(
        which in 0..SAMPLES.len(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 0..BITS.len(), 0..6usize), 1..6),
        cut in any::<prop::sample::Index>(),
        short in proptest::bool::weighted(0.2),
    ) {
        let (name, format) = SAMPLES[which];
        let mut bytes = fixture(name);
        for (at, bit, remove) in edits {
            let at = at.index(bytes.len());
            let end = (at + remove).min(bytes.len());
            bytes.splice(at..end, BITS[bit].iter().copied());
        }
        if short {
            bytes.truncate(cut.index(bytes.len()));
        }
        answers(Some(format), &bytes);
        answers(None, &bytes);
    }
}
