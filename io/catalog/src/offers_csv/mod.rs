//! The canonical offer table: one row per price. It is what `catalog export` writes, what the user's
//! snapshots are on disk, and what a program or a spreadsheet can hand to `catalog import`.
//!
//! Cells are written exactly as they are, also those that begin with `=`, `+`, `-` or `@`: changing them
//! would change the data on the way back. Open an exported file in a spreadsheet by importing its columns
//! as text. Reading needs provider, instance type, GPU model and count,
//! purchase, price and currency; the other columns may be absent or blank. Where all of these three are blank
//! the row is an offer whose price is not known.

mod read;

pub(crate) use read::price_cell;
pub use read::{BadRow, read_offers};

use lessee_model::{
    AcceleratorClass, Basis, Catalog, Confidence, Fixed, Form, Interconnect, Market, TaxNote,
};
use std::io::Write;

/// Columns in the order in which they are written.
pub const HEADER: [&str; 36] = [
    "provider",
    "region",
    "instance_type",
    "accelerator_class",
    "gpu_model",
    "gpu_form",
    "gpu_count",
    "gpu_fraction",
    "gpu_memory_gb",
    "usable_mib",
    "vcpus",
    "memory_gib",
    "local_disk_gb",
    "network_gbps",
    "interconnect",
    "link_gbs",
    "rdma",
    "cpu_arch",
    "gpu_access",
    "status",
    "gpu_confidence",
    "host_confidence",
    "purchase",
    "price",
    "price_high",
    "currency",
    "upfront",
    "tax",
    "market",
    "as_of",
    "source",
    "basis",
    "confidence",
    "original",
    "note",
    "schema",
];

const SCHEMA: &str = "lessee/offers/v1";

/// Writes a catalog as CSV, in its own order.
///
/// # Errors
/// Whatever writing to `to` reports.
pub fn write_offers(to: impl Write, catalog: &Catalog) -> std::io::Result<()> {
    let mut out = csv::Writer::from_writer(to);
    let io = |e: csv::Error| std::io::Error::other(e);
    out.write_record(HEADER).map_err(io)?;
    let text = |x: Option<Fixed>| x.map(|x| x.to_string()).unwrap_or_default();
    let float = |x: Option<f32>| x.map(|x| x.to_string()).unwrap_or_default();
    for offer in &catalog.offers {
        let m = catalog.machine(offer);
        let prices = offer.prices.iter().map(Some);
        let none = offer.prices.is_empty().then_some(None);
        for price in prices.chain(none) {
            let why = price.map(|p| &*p.why);
            let row: [&str; HEADER.len()] = [
                &offer.provider,
                &offer.region,
                &offer.instance_type,
                word_of(CLASSES, m.class),
                &m.gpu.model,
                m.gpu.form.map_or("", Form::as_str),
                &m.gpu_count.to_string(),
                &m.gpu_fraction.to_string(),
                &m.gpu.memory_gb.map(|x| x.to_string()).unwrap_or_default(),
                &m.usable_mib_each.map(|x| x.to_string()).unwrap_or_default(),
                &float(m.vcpus),
                &float(m.memory_gib),
                &float(m.local_disk_gb),
                &float(m.network_gbps),
                m.interconnect.map_or("", Interconnect::as_str),
                &float(m.link_gbs),
                m.rdma.as_deref().unwrap_or(""),
                m.arch.as_deref().unwrap_or(""),
                m.gpu_access.as_deref().unwrap_or(""),
                &m.status,
                word_of(CONFIDENCES, m.confidence),
                word_of(CONFIDENCES, m.host_confidence),
                price.map_or("", |p| p.purchase.as_str()),
                &text(price.map(|p| p.per_hour.amount)),
                &text(price.and_then(|p| p.high).map(|h| h.amount)),
                price.map_or("", |p| p.per_hour.currency.as_str()),
                &float(price.and_then(|p| p.upfront)),
                price.map_or("", |p| word_of(TAXES, p.tax)),
                word_of(MARKETS, offer.market),
                &why.and_then(|w| w.as_of)
                    .map(|d| d.to_string())
                    .unwrap_or_default(),
                why.map_or("", |w| &w.source),
                why.map_or("", |w| word_of(BASES, w.basis)),
                why.map_or("", |w| word_of(CONFIDENCES, w.confidence)),
                offer.original.as_deref().unwrap_or(""),
                offer.note.as_deref().unwrap_or(""),
                SCHEMA,
            ];
            out.write_record(row).map_err(io)?;
        }
    }
    out.flush()
}

fn word_of<T: PartialEq>(words: &'static [(&'static str, T)], value: T) -> &'static str {
    words
        .iter()
        .find(|(_, v)| *v == value)
        .map_or("", |(word, _)| word)
}

const CLASSES: &[(&str, AcceleratorClass)] = &[
    ("gpu", AcceleratorClass::Gpu),
    ("npu", AcceleratorClass::Npu),
    ("fpga", AcceleratorClass::Fpga),
    ("media", AcceleratorClass::Media),
];
const CONFIDENCES: &[(&str, Confidence)] = &[
    ("verified", Confidence::Verified),
    ("secondary", Confidence::Secondary),
    ("general", Confidence::General),
    ("unverified", Confidence::Unverified),
];
const TAXES: &[(&str, TaxNote)] = &[
    ("included", TaxNote::Included),
    ("excluded", TaxNote::Excluded),
    ("unknown", TaxNote::Unknown),
];
const MARKETS: &[(&str, Market)] = &[
    ("list", Market::List),
    ("gpu_cloud", Market::GpuCloud),
    ("marketplace", Market::Marketplace),
    ("quote", Market::Quote),
];
const BASES: &[(&str, Basis)] = &[
    ("measured", Basis::Measured),
    ("quoted", Basis::Quoted),
    ("published", Basis::Published),
    ("modelled", Basis::Modelled),
    ("assumed", Basis::Assumed),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CatalogError;
    use lessee_model::{Offer, Origin};
    use std::sync::Arc;

    #[test]
    fn the_built_in_catalog_survives_a_round_trip() {
        let facts = crate::builtin().expect("facts");
        let mut bytes = Vec::new();
        write_offers(&mut bytes, &facts.catalog).expect("written");
        let text = String::from_utf8(bytes).expect("UTF-8");
        let (back, bad) =
            read_offers(&text, "offers.csv", &facts.gpus, &Origin::BuiltIn).expect("read");
        assert_eq!(bad, []);
        assert_eq!(back.offers.len(), facts.catalog.offers.len());
        for (a, b) in facts.catalog.offers.iter().zip(&back.offers) {
            assert_eq!(facts.catalog.machine(a), back.machine(b), "{}", a.key());
            let b = Offer {
                machine: a.machine,
                ..b.clone()
            };
            assert_eq!(*a, b);
        }
    }

    #[test]
    fn an_offer_without_a_price_survives_a_round_trip() {
        let facts = crate::builtin().expect("facts");
        let mut catalog = Catalog {
            machines: facts.catalog.machines.clone(),
            offers: facts.catalog.offers[..2].to_vec(),
        };
        catalog.offers[1].prices.clear();
        let mut bytes = Vec::new();
        write_offers(&mut bytes, &catalog).expect("written");
        let text = String::from_utf8(bytes).expect("UTF-8");
        let (back, bad) = read_offers(&text, "f", &facts.gpus, &Origin::BuiltIn).expect("read");
        assert_eq!(bad, []);
        assert_eq!(back.offers[1].key(), catalog.offers[1].key());
        assert_eq!(back.offers[1].prices, []);
        assert_eq!(back.offers[0].prices, catalog.offers[0].prices);
    }

    #[test]
    fn strange_cells_come_back_as_they_were() {
        let facts = crate::builtin().expect("facts");
        let mut catalog = Catalog {
            machines: facts.catalog.machines.clone(),
            offers: facts.catalog.offers[..1].to_vec(),
        };
        let line = "=HYPERLINK(\"x\"),\n二行，\"引号\"";
        catalog.offers[0].original = Some(Arc::from(line));
        let mut bytes = Vec::new();
        write_offers(&mut bytes, &catalog).expect("written");
        let text = String::from_utf8(bytes).expect("UTF-8");
        let (back, _) = read_offers(&text, "f", &facts.gpus, &Origin::BuiltIn).expect("read");
        assert_eq!(back.offers[0].original.as_deref(), Some(line));
    }

    #[test]
    fn bad_cells_are_named_and_the_rest_is_kept() {
        let facts = crate::builtin().expect("facts");
        let head = "provider,instance_type,gpu_model,gpu_count,purchase,price,currency\n";
        for (cell, column, code) in [
            ("NaN", "price", "price_unreadable"),
            ("1e400", "price", "price_unreadable"),
            ("-2", "price", "price_negative"),
            ("", "price", "missing"),
        ] {
            let text = format!(
                "{head}me,box,H100,8,on_demand,{cell},USD\nme,box2,A100-80GB,8,on_demand,9.5,USD\n"
            );
            let (catalog, bad) =
                read_offers(&text, "f", &facts.gpus, &Origin::BuiltIn).expect("read");
            assert_eq!((bad.len(), bad[0].line), (1, 2));
            assert_eq!(
                (bad[0].problem.column.as_str(), bad[0].problem.code),
                (column, code)
            );
            let kept = &catalog.offers[0];
            assert_eq!(catalog.machine(kept).gpu.memory_gb, Some(80.0));
        }
        let text = "provider,instance_type,gpu_model,gpu_count,purchase,prise,currency\n";
        assert!(matches!(
            read_offers(text, "f", &facts.gpus, &Origin::BuiltIn),
            Err(CatalogError::MissingColumn { column: "price", suggestion: Some(s), .. }) if s == "prise"
        ));
    }
}
