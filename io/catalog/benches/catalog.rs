//! 128,000 imported prices, as many as a full public catalogue holds: how long until they can be asked.

use criterion::{Criterion, criterion_group, criterion_main};
use lessee_catalog::{
    CatalogBuilder, Facts, ListFilter, OfferRow, SnapshotMeta, Store, builtin, list, read_offers,
    write_offers,
};
use lessee_model::{Catalog, Fixed, Origin};
use std::hint::black_box;
use std::sync::Arc;

const ROWS: usize = 128_000;

/// Every built-in machine under made-up sellers and regions; the same rows on every run.
fn synthetic(facts: &Facts) -> Catalog {
    let mut out = CatalogBuilder::new();
    let origin = Origin::User(Arc::from("bench"));
    let offers = &facts.catalog.offers;
    for i in 0..ROWS {
        let like = &offers[i * 7919 % offers.len()];
        let price = &like.prices[0];
        let mut row = OfferRow {
            provider: Arc::from(format!("seller-{}", i / 4_000)),
            region: Arc::from(format!("region-{}", i / offers.len())),
            instance_type: like.instance_type.clone(),
            machine: facts.catalog.machine(like).clone(),
            market: like.market,
            price: price.clone(),
            original: None,
            note: None,
        };
        // 0.80 to 1.20 of the real price, in steps that a price list would have
        let factor = Fixed::from_raw(800_000_000_000 + (i as i128 * 37 % 401) * 1_000_000_000);
        row.price.per_hour.amount = price.per_hour.amount.times(factor).round(6);
        out.push(row, &origin);
    }
    out.finish()
}

fn benches(c: &mut Criterion) {
    let facts = builtin().expect("facts");
    let catalog = synthetic(&facts);
    let mut csv = Vec::new();
    write_offers(&mut csv, &catalog).expect("written");
    let text = String::from_utf8(csv).expect("UTF-8");
    let origin = Origin::User(Arc::from("bench"));
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::open(folder.path().join("data")).with_cache(folder.path().join("cache"));
    let meta = SnapshotMeta {
        source: "bench".to_owned(),
        format: "offers".to_owned(),
        imported_at: "2026-11-30T00:00:00Z".parse().expect("time"),
    };
    store.save("bench", &catalog, &meta).expect("saved");
    let all = store.load_all(&facts).expect("cache filled").catalog;
    let filter = ListFilter {
        gpus: vec!["H100".parse().expect("filter")],
        ..ListFilter::default()
    };
    let mut group = c.benchmark_group("catalog");
    group.sample_size(20);
    group.bench_function("builtin facts", |b| b.iter(|| black_box(builtin())));
    group.bench_function("parse 128k csv", |b| {
        b.iter(|| black_box(read_offers(&text, "bench.csv", &facts.gpus, &origin)))
    });
    group.bench_function("load 128k from cache and overlay", |b| {
        b.iter(|| black_box(store.load_all(&facts)))
    });
    group.bench_function("list --gpu H100", |b| {
        b.iter(|| black_box(list(&all, &facts, &filter)))
    });
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
