//! Shared by the tests of quotes: the built-in GPUs and providers, and short ways to look at results.
#![allow(dead_code)]

use lessee_catalog::quote::{QuoteContext, QuoteImport, import_quote};
use lessee_model::gpu::GpuTable;
use lessee_model::quote::QuotedOffer;
use lessee_model::{Basis, Confidence, Form, GpuRef, GpuSpec, Provenance};
use std::path::PathBuf;
use std::sync::OnceLock;

pub(crate) struct Known {
    pub(crate) gpus: GpuTable,
    pub(crate) providers: Vec<(String, Vec<String>)>,
}

fn rows(file: &str) -> Vec<Vec<String>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../data")
        .join(file);
    csv::Reader::from_path(path)
        .expect("built-in table")
        .records()
        .map(|r| r.expect("row").iter().map(str::to_owned).collect())
        .collect()
}

fn opt<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.trim().parse().ok()
}

pub(crate) fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let why = || Provenance::new(Basis::Published, Confidence::Verified, "test", None);
        let specs = rows("gpu/specs.csv")
            .into_iter()
            .map(|r| GpuSpec {
                name: r[0].as_str().into(),
                model: r[1].as_str().into(),
                form: r[2].parse().expect("form"),
                vendor: r[3].as_str().into(),
                arch: r[4].as_str().into(),
                compute_capability: None,
                memory_gb: r[6].parse().expect("memory"),
                mem_bw_gbs: None,
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
                why: why(),
            })
            .collect();
        let aliases = rows("gpu/aliases.csv").into_iter().map(|r| {
            let gpu = GpuRef {
                model: r[1].as_str().into(),
                form: opt::<Form>(&r[2]),
                memory_gb: opt(&r[3]),
            };
            (r[0].clone(), gpu)
        });
        let providers = rows("providers.csv")
            .into_iter()
            .map(|r| {
                let names = [r[1].clone(), r[2].clone()]
                    .into_iter()
                    .chain(r[3].split('|').map(str::to_owned));
                (r[0].clone(), names.filter(|n| !n.is_empty()).collect())
            })
            .collect();
        Known {
            gpus: GpuTable::new(specs, aliases),
            providers,
        }
    })
}

pub(crate) fn context() -> QuoteContext<'static> {
    QuoteContext {
        gpus: &known().gpus,
        providers: &known().providers,
        default_provider: None,
        default_currency: None,
        month_hours: 730,
        as_of: None,
        today: None,
    }
}

pub(crate) fn import(text: &str) -> QuoteImport {
    import_quote(text, "quote.txt", &context())
}

pub(crate) fn import_as(text: &str, file: &str) -> QuoteImport {
    import_quote(text, file, &context())
}

/// `provider model form memory xcount purchase price currency`, as one comparable line.
pub(crate) fn show(o: &QuotedOffer) -> String {
    format!(
        "{} {} {} {} x{} {} {} {}",
        o.provider.as_deref().unwrap_or("-"),
        o.gpu.model,
        o.gpu.form.as_deref().unwrap_or("-"),
        o.gpu
            .memory_gb_each
            .map_or("-".to_owned(), |m| m.to_string()),
        o.gpu.count,
        o.purchase,
        o.price.exact(),
        o.price.currency
    )
}

pub(crate) fn offers(q: &QuoteImport) -> Vec<String> {
    q.offers.iter().map(show).collect()
}

pub(crate) fn codes(q: &QuoteImport) -> Vec<&'static str> {
    q.questions.iter().map(|q| q.code).collect()
}

/// The only offer of a text, without questions.
#[track_caller]
pub(crate) fn sure(text: &str) -> QuotedOffer {
    let q = import(text);
    assert_eq!(codes(&q), Vec::<&str>::new(), "{text}\n{:#?}", offers(&q));
    assert_eq!(q.offers.len(), 1, "{text}: {:#?}", offers(&q));
    q.offers[0].clone()
}

/// Model, count, purchase and price of the only offer of a text that leaves no question.
#[track_caller]
pub(crate) fn sure_line(text: &str) -> String {
    let o = sure(text);
    format!(
        "{} x{} {} {} {}",
        o.gpu.model,
        o.gpu.count,
        o.purchase,
        o.price.exact(),
        o.price.currency
    )
}

/// No offer, and these questions.
#[track_caller]
pub(crate) fn only_asks(text: &str, expected: &[&str]) {
    let q = import(text);
    assert!(q.offers.is_empty(), "{text}: {:#?}", offers(&q));
    assert_eq!(codes(&q), expected, "{text}");
}
