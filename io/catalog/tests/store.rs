//! The user's folder: what is saved is found again, whole, whoever else writes.

use lessee_catalog::{
    CatalogError, DoctorRules, Facts, ImportContext, ListFilter, OfferRow, SnapshotMeta, Store,
    builtin, diff, doctor, import, list, show,
};
use lessee_model::{Catalog, Origin, Purchase};
use std::sync::{Arc, LazyLock};

static FACTS: LazyLock<Facts> = LazyLock::new(|| builtin().expect("built-in facts"));

fn meta(time: &str) -> SnapshotMeta {
    SnapshotMeta {
        source: "test".to_owned(),
        format: "offers".to_owned(),
        imported_at: time.parse().expect("time"),
    }
}

/// One offer: p5.48xlarge in us-east-1 at this price.
fn p5(price: &str) -> Catalog {
    let offer = &FACTS.catalog.offers[show(&FACTS.catalog, "aws/p5.48xlarge@us-east-1")[0]];
    let mut row = OfferRow {
        provider: offer.provider.clone(),
        region: offer.region.clone(),
        instance_type: offer.instance_type.clone(),
        machine: FACTS.catalog.machine(offer).clone(),
        market: offer.market,
        price: offer.prices[0].clone(),
        original: None,
        note: Some(Arc::from("=1+1, ours")),
    };
    row.price.per_hour = price.parse().expect("money");
    let mut out = lessee_catalog::CatalogBuilder::new();
    out.push(row, &Origin::User(Arc::from("x")));
    out.finish()
}

fn prices(catalog: &Catalog, key: &str) -> Vec<String> {
    show(catalog, key)
        .into_iter()
        .flat_map(|i| &catalog.offers[i].prices)
        .map(|p| p.per_hour.to_string())
        .collect()
}

#[test]
fn own_prices_win_and_history_stays() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::open(folder.path().join("data"));
    assert_eq!(store.snapshots().expect("none yet"), []);
    store
        .save("ours", &p5("40 USD"), &meta("2026-11-01T00:00:00Z"))
        .expect("saved");
    store
        .save("ours", &p5("42 USD"), &meta("2026-11-02T00:00:00Z"))
        .expect("saved");
    let loaded = store.load_all(&FACTS).expect("loaded");
    assert!(loaded.problems.is_empty());
    assert_eq!(prices(&loaded.catalog, "aws/p5.48xlarge"), ["42.00 USD"]);
    assert_eq!(loaded.catalog.offers.len(), FACTS.catalog.offers.len());
    assert_eq!(
        loaded.catalog.machines.len(),
        FACTS.catalog.machines.len(),
        "machines are shared"
    );
    let [i] = show(&loaded.catalog, "aws/p5.48xlarge")[..] else {
        panic!()
    };
    assert_eq!(
        loaded.catalog.offers[i].origin,
        Origin::User(Arc::from("ours"))
    );

    let old = store
        .load("ours@2026-11-01", &FACTS)
        .expect("history")
        .catalog;
    let new = store.load("ours", &FACTS).expect("newest").catalog;
    let moved = diff(&old, &new);
    assert_eq!(
        (
            moved.changed.len(),
            moved.changed[0].percent.map(f64::round)
        ),
        (1, Some(5.0))
    );

    assert_eq!(store.remove("ours").expect("removed").len(), 2);
    assert!(matches!(
        store.remove("ours"),
        Err(CatalogError::NoSnapshot { .. })
    ));
    let names: Vec<_> = std::fs::read_dir(store.folder())
        .expect("folder")
        .map(|f| f.expect("file").file_name().into_string().expect("name"))
        .collect();
    assert!(
        names.iter().all(|n| n == "manifest.json" || n == ".lock"),
        "{names:?}"
    );
}

#[test]
fn a_spot_price_of_ones_own_leaves_the_list_price() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::open(folder.path());
    let mut own = p5("20 USD");
    own.offers[0].prices[0].purchase = Purchase::Spot;
    store
        .save("spot", &own, &meta("2026-11-01T00:00:00Z"))
        .expect("saved");
    let catalog = store.load_all(&FACTS).expect("loaded").catalog;
    assert_eq!(
        prices(&catalog, "aws/p5.48xlarge"),
        ["55.04 USD", "20.00 USD"]
    );
}

#[test]
fn two_writers_at_once_both_get_in() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::open(folder.path());
    std::thread::scope(|threads| {
        for writer in 0..8 {
            let store = store.clone();
            threads.spawn(move || {
                for round in 0..4 {
                    let at = meta(&format!("2026-11-0{}T00:00:0{round}Z", writer + 1));
                    store
                        .save(
                            &format!("w{writer}"),
                            &p5(&format!("{writer}.{round} USD")),
                            &at,
                        )
                        .expect("saved");
                }
            });
        }
        // a reader beside them never sees half a state
        for _ in 0..20 {
            let loaded = store.load_all(&FACTS).expect("readable at any time");
            assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
        }
    });
    assert_eq!(store.snapshots().expect("all").len(), 32);
    for writer in 0..8 {
        let loaded = store.load(&format!("w{writer}"), &FACTS).expect("own");
        assert_eq!(
            prices(&loaded.catalog, "p5.48xlarge"),
            [format!("{writer}.30 USD").replace("0.30", "0.30")]
        );
    }
}

#[test]
fn the_cache_is_used_refreshed_and_never_needed() {
    let folder = tempfile::tempdir().expect("folder");
    let cache = folder.path().join("cache");
    let store = Store::open(folder.path().join("data")).with_cache(&cache);
    let info = store
        .save("ours", &p5("40 USD"), &meta("2026-11-01T00:00:00Z"))
        .expect("saved");
    let first = store.load("ours", &FACTS).expect("parsed").catalog;
    let file = std::fs::read_dir(&cache)
        .expect("cache")
        .next()
        .expect("one")
        .expect("file")
        .path();
    let again = store.load("ours", &FACTS).expect("cached").catalog;
    assert_eq!(
        (&first.offers, &first.machines),
        (&again.offers, &again.machines)
    );

    // proof that it is read: another price of the same length in the cache file would be refused
    std::fs::write(&file, b"damaged").expect("written");
    assert_eq!(
        prices(
            &store.load("ours", &FACTS).expect("parsed").catalog,
            "p5.48xlarge"
        ),
        ["40.00 USD"]
    );
    assert_ne!(std::fs::read(&file).expect("cache"), b"damaged", "rebuilt");

    // the table edited by hand
    let table = store.folder().join(&info.file);
    let text = std::fs::read_to_string(&table)
        .expect("table")
        .replace(",40,", ",39.5,");
    std::fs::write(&table, text).expect("written");
    assert_eq!(
        prices(
            &store.load("ours", &FACTS).expect("parsed").catalog,
            "p5.48xlarge"
        ),
        ["39.50 USD"]
    );

    // a cache that cannot be written: a file stands where the folder should be
    let blocked = folder.path().join("blocked");
    std::fs::write(&blocked, "").expect("written");
    let store = Store::open(store.folder()).with_cache(blocked.join("cache"));
    assert_eq!(
        prices(
            &store.load("ours", &FACTS).expect("parsed").catalog,
            "p5.48xlarge"
        ),
        ["39.50 USD"]
    );
}

#[test]
fn damage_is_reported_and_does_not_hide_the_rest() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::open(folder.path());
    let good = store
        .save("good", &p5("40 USD"), &meta("2026-11-01T00:00:00Z"))
        .expect("saved");
    let bad = store
        .save("bad", &p5("1 USD"), &meta("2026-11-02T00:00:00Z"))
        .expect("saved");
    let path = store.folder().join(&bad.file);
    let bytes = std::fs::read(&path).expect("table");
    std::fs::write(&path, &bytes[..bytes.len() - 5]).expect("cut");
    let loaded = store.load_all(&FACTS).expect("loaded");
    assert_eq!(
        prices(&loaded.catalog, "p5.48xlarge@us-east-1"),
        ["40.00 USD"]
    );
    assert!(matches!(
        loaded.problems[..],
        [CatalogError::Truncated { .. }]
    ));
    assert_eq!(good.rows, 1);

    std::fs::write(store.folder().join("manifest.json"), "{").expect("written");
    assert!(matches!(
        store.snapshots(),
        Err(CatalogError::Manifest { .. })
    ));
    // and saving does not overwrite what it cannot read
    assert!(
        store
            .save("new", &p5("2 USD"), &meta("2026-11-03T00:00:00Z"))
            .is_err()
    );
    assert_eq!(
        std::fs::read_to_string(store.folder().join("manifest.json")).expect("kept"),
        "{"
    );
}

#[test]
fn names_stay_in_the_folder() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::open(folder.path());
    for name in [
        "", "../x", "a/b", "a\\b", ".hidden", "built-in", "a@b", "-x", "a b",
    ] {
        let result = store.save(name, &p5("1 USD"), &meta("2026-11-01T00:00:00Z"));
        assert!(
            matches!(result, Err(CatalogError::SnapshotName { .. })),
            "{name}"
        );
    }
    store
        .save("供应商-1", &p5("1 USD"), &meta("2026-11-01T00:00:00Z"))
        .expect("saved");
    let evil = r#"{"schema":"lessee/snapshots/v1","snapshots":[{"name":"x","file":"../../etc/passwd","source":"","format":"","imported_at":"2026-11-01T00:00:00Z","sha256":"","rows":0}]}"#;
    std::fs::write(store.folder().join("manifest.json"), evil).expect("written");
    assert!(matches!(
        store.snapshots(),
        Err(CatalogError::Manifest { .. })
    ));
}

fn listed(filter: ListFilter) -> Vec<(String, String)> {
    let catalog = &FACTS.catalog;
    let listing = list(catalog, &FACTS, &filter).expect("listed");
    let rows = listing.rows.into_iter();
    rows.map(|(i, j)| {
        let offer = &catalog.offers[i];
        (offer.key(), offer.prices[j].per_hour.to_string())
    })
    .collect()
}

#[test]
fn filters_as_users_type_them() {
    let gpu = |text: &str| ListFilter {
        gpus: vec![text.parse().expect("filter")],
        ..ListFilter::default()
    };
    let eight = listed(gpu("A100-80GB:8"));
    assert!(
        eight
            .iter()
            .any(|(k, _)| k == "azure/Standard_ND96amsr_A100_v4@eastus")
    );
    assert!(
        eight.iter().all(|(k, _)| !k.contains("p4d.24xlarge")),
        "40 GB"
    );
    let h100 = listed(ListFilter {
        max_price: "3 USD".parse().ok(),
        spot: Some(false),
        ..gpu("H100")
    });
    assert!(
        h100.iter()
            .any(|(k, p)| k.starts_with("vast/") && p == "2.40 USD")
    );
    let eu = listed(ListFilter {
        regions: vec!["europe-*".to_owned()],
        providers: vec!["Google Cloud".to_owned()],
        spot: Some(true),
        gpu_memory: "24GB..80GB".parse().ok(),
        ..ListFilter::default()
    });
    assert!(
        !eu.is_empty()
            && eu
                .iter()
                .all(|(k, _)| k.starts_with("gcp/") && k.contains("@europe-"))
    );
    let unknown = list(&FACTS.catalog, &FACTS, &gpu("H1000"));
    assert!(
        matches!(unknown, Err(CatalogError::UnknownGpu { suggestion: Some(s), .. }) if s.starts_with("H100"))
    );
}

#[test]
fn what_cannot_be_believed_is_listed_last() {
    let catalog = &FACTS.catalog;
    let rows = list(catalog, &FACTS, &ListFilter::default())
        .expect("all")
        .rows;
    let first = &catalog.offers[rows[0].0].prices[rows[0].1];
    assert!(!first.per_hour.amount.is_zero());
    let zero = rows
        .iter()
        .position(|(i, j)| catalog.offers[*i].prices[*j].per_hour.amount.is_zero());
    assert!(zero.expect("two zero rows") > rows.len() / 2);
    let regional = ListFilter {
        regions: vec!["eu".to_owned()],
        ..ListFilter::default()
    };
    let listing = list(catalog, &FACTS, &regional).expect("listed");
    assert!(listing.region_unknown > 200 && !listing.rows.is_empty());
}

fn imported(name: &str) -> Catalog {
    let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    let cx = ImportContext {
        facts: &FACTS,
        provider: None,
        as_of: "2026-11-29".parse().ok(),
        currency: None,
    };
    import(&std::fs::read(path).expect(name), name, &cx, None)
        .expect(name)
        .catalog
}

fn findings(catalog: &Catalog) -> Vec<(&'static str, String, u64)> {
    let rules = DoctorRules::builtin().expect("rules");
    let today = jiff::civil::date(2026, 11, 30);
    let found = doctor(catalog, &FACTS, &rules, today);
    found
        .into_iter()
        .map(|f| (f.code, f.provider, f.count))
        .collect()
}

#[test]
fn doctor_on_the_built_in_snapshot() {
    let found = findings(&FACTS.catalog);
    let has =
        |code: &str, provider: &str| found.iter().any(|(c, p, _)| *c == code && p == provider);
    assert!(has("price_zero", "alicloud") && has("stale", "alicloud"));
    assert!(!has("stale", "aws") && !has("stale", "gcp"), "{found:?}");
    assert!(has("stale", "vast"), "a marketplace price of six weeks ago");
    assert!(has("unverified", "azure"));
    // the table that this row comes from prints A10G where the seller rents an A10
    let odd: Vec<_> = found
        .iter()
        .filter(|(c, ..)| *c == "gpu_mismatch")
        .collect();
    assert_eq!(odd, [&("gpu_mismatch", "lambda".to_owned(), 1)]);
    for code in [
        "gpu_unknown",
        "cartesian",
        "memory_total",
        "spot_above_on_demand",
    ] {
        assert!(found.iter().all(|(c, ..)| *c != code), "{code}: {found:?}");
    }
}

#[test]
fn a_missing_price_is_kept_and_reported() {
    let sky = "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Price,SpotPrice,Region\n\
        a,8,64,L40S,1,,1.5,,us\n\
        b,8,64,L40S,1,,,,us\n\
        b,8,64,L40S,1,,,,eu\n\
        a,8,64,L40S,1,,,,us\n";
    let hunt = "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot\n\
        x,us,,8,64,1,L40S,48,False\n\
        y,us,1.25,8,64,1,L40S,48,False\n";
    for (text, count, total) in [(sky, 2, 3), (hunt, 1, 2)] {
        let cx = ImportContext {
            facts: &FACTS,
            provider: Some("acme"),
            as_of: "2026-11-29".parse().ok(),
            currency: None,
        };
        let read = import(text.as_bytes(), "acme.csv", &cx, None).expect("read");
        assert!(read.doc.questions.is_empty(), "{:?}", read.doc.questions);
        assert_eq!(read.catalog.offers.len(), total);
        // on disk and back, as the user's snapshots are
        let mut bytes = Vec::new();
        lessee_catalog::write_offers(&mut bytes, &read.catalog).expect("written");
        let text = String::from_utf8(bytes).expect("UTF-8");
        let origin = Origin::User(Arc::from("acme"));
        let (back, bad) =
            lessee_catalog::read_offers(&text, "acme.csv", &FACTS.gpus, &origin).expect("read");
        assert_eq!(bad, []);
        assert!(findings(&back).contains(&("price_missing", "acme".to_owned(), count)));
    }
    assert!(
        findings(&FACTS.catalog)
            .iter()
            .all(|(code, ..)| *code != "price_missing")
    );
}

#[test]
fn doctor_knows_the_defects_of_the_wild() {
    assert!(findings(&imported("lambda_vms.csv")).contains(&("cartesian", "lambda".to_owned(), 9)));
    let csv = "provider,region,instance_type,gpu_model,gpu_form,gpu_count,gpu_memory_gb,purchase,price,currency,market,as_of\n\
        mithril,us,h100-80gb.sxm.8x,H100,SXM,8,80,on_demand,8,USD,marketplace,2026-11-29\n\
        mithril,us,b200.sxm.8x,B200,SXM,8,180,on_demand,0.08,USD,marketplace,2026-11-29\n\
        acme,us,big,H200,SXM,8,1128,on_demand,30,USD,gpu_cloud,2026-11-29\n\
        acme,us,gpu_8x_a100,H100,SXM,8,80,on_demand,24,USD,gpu_cloud,2026-11-29\n\
        acme,us,plain,L40S,PCIe,1,48,on_demand,1,USD,gpu_cloud,2026-11-29\n\
        acme,us,plain,L40S,PCIe,1,48,spot,1.1,USD,gpu_cloud,2026-11-29\n\
        acme,us,old,L40S,PCIe,1,48,on_demand,1,USD,gpu_cloud,\n";
    let origin = Origin::User(Arc::from("wild"));
    let (catalog, bad) =
        lessee_catalog::read_offers(csv, "wild.csv", &FACTS.gpus, &origin).expect("read");
    assert_eq!(bad, []);
    let found = findings(&catalog);
    for (code, provider, count) in [
        ("bid_floor", "mithril", 2),
        ("memory_total", "acme", 1),
        ("gpu_mismatch", "acme", 1),
        ("spot_above_on_demand", "acme", 1),
        ("no_date", "acme", 1),
    ] {
        assert!(
            found.contains(&(code, provider.to_owned(), count)),
            "{code}: {found:?}"
        );
    }
    assert_eq!(found.len(), 5, "{found:?}");
}

fn files(folder: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("folder")
        .map(|e| e.expect("entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name != ".lock")
        .collect();
    names.sort();
    names
}

#[test]
fn what_fails_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::open(folder.path());
    let time = "2026-11-01T00:00:00Z";
    let manifest = folder.path().join("manifest.json");
    // a list that cannot be read
    std::fs::write(&manifest, "{ damaged").expect("write");
    let error = store
        .save("ours", &p5("40 USD"), &meta(time))
        .expect_err("damaged");
    assert!(matches!(error, CatalogError::Manifest { .. }), "{error}");
    assert_eq!(files(folder.path()), ["manifest.json"]);
    assert_eq!(
        std::fs::read_to_string(&manifest).expect("read"),
        "{ damaged"
    );
    // a list that cannot be replaced
    std::fs::remove_file(&manifest).expect("remove");
    std::fs::create_dir_all(manifest.join("in the way")).expect("folder");
    store
        .save("ours", &p5("40 USD"), &meta(time))
        .expect_err("a folder is in the way");
    assert_eq!(files(folder.path()), ["manifest.json"]);
    std::fs::remove_dir_all(&manifest).expect("remove");
    // what a killed writer left is swept by the next one
    std::fs::write(folder.path().join(".ours.csv.77.tmp"), "half").expect("write");
    let info = store
        .save("ours", &p5("40 USD"), &meta(time))
        .expect("saved");
    let mut wanted = [info.file, "manifest.json".to_owned()];
    wanted.sort();
    assert_eq!(files(folder.path()), wanted);
}

#[test]
fn a_damaged_list_does_not_stop_the_built_in_facts() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::open(folder.path());
    for damage in [
        "{ damaged",
        "",
        "[]",
        "{\"schema\": \"other/v9\", \"snapshots\": []}",
    ] {
        std::fs::write(folder.path().join("manifest.json"), damage).expect("write");
        let loaded = store.load_all(&FACTS).expect("the built-in facts");
        assert_eq!(loaded.catalog.offers.len(), FACTS.catalog.offers.len());
        assert!(
            matches!(loaded.problems[..], [CatalogError::Manifest { .. }]),
            "{:?}",
            loaded.problems
        );
        assert!(store.remove("ours").is_err(), "nothing is deleted by guess");
    }
}
