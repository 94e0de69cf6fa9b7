use lessee_catalog::*;
use lessee_model::*;
use std::sync::Arc;
fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    s.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e6
}
fn time<T>(name: &str, n: u32, mut f: impl FnMut() -> T) {
    let mut best = f64::MAX;
    let mut sum = 0.0;
    for _ in 0..n {
        let a = cpu();
        let x = f();
        let d = cpu() - a;
        std::hint::black_box(&x);
        best = best.min(d);
        sum += d;
    }
    println!(
        "{name}: min {best:.2} ms mean {:.2} ms cpu",
        sum / f64::from(n)
    );
}
fn main() {
    let facts = builtin().unwrap();
    time("builtin", 50, builtin);
    let mut out = CatalogBuilder::new();
    let origin = Origin::User(Arc::from("bench"));
    let offers = &facts.catalog.offers;
    for i in 0..128_000usize {
        let like = &offers[i * 7919 % offers.len()];
        let price = &like.prices[0];
        out.push(
            OfferRow {
                provider: Arc::from(format!("seller-{}", i / 4000)),
                region: Arc::from(format!("region-{}", i / offers.len())),
                instance_type: like.instance_type.clone(),
                machine: facts.catalog.machine(like).clone(),
                market: like.market,
                price: price.clone(),
                original: None,
                note: None,
            },
            &origin,
        );
    }
    let catalog = out.finish();
    let mut csv = Vec::new();
    write_offers(&mut csv, &catalog).unwrap();
    println!("{} bytes", csv.len());
    let text = String::from_utf8(csv).unwrap();
    time("parse", 5, || {
        read_offers(&text, "b.csv", &facts.gpus, &origin)
    });
    let dir = std::env::temp_dir().join(format!("lc{}", std::process::id()));
    let store = Store::open(dir.join("d")).with_cache(dir.join("c"));
    let meta = SnapshotMeta {
        source: "b".into(),
        format: "offers".into(),
        imported_at: "2026-11-30T00:00:00Z".parse().unwrap(),
    };
    store.save("bench", &catalog, &meta).unwrap();
    let all = store.load_all(&facts).unwrap().catalog;
    time("load alone", 20, || store.load("bench", &facts));
    time("load_all", 20, || store.load_all(&facts));
    let filter = ListFilter {
        gpus: vec!["H100".parse().unwrap()],
        ..ListFilter::default()
    };
    println!("{} rows", list(&all, &facts, &filter).unwrap().rows.len());
    time("list H100", 50, || list(&all, &facts, &filter));
    time("list all", 5, || list(&all, &facts, &ListFilter::default()));
    time("doctor", 5, || {
        doctor(
            &all,
            &facts,
            &DoctorRules::builtin().unwrap(),
            jiff::civil::date(2026, 11, 30),
        )
    });
    time("diff", 5, || diff(&all, &catalog));
    println!(
        "{}",
        std::fs::read_to_string("/proc/self/status")
            .unwrap()
            .lines()
            .find(|l| l.starts_with("VmHWM"))
            .unwrap()
    );
    std::fs::remove_dir_all(dir).unwrap();
}
