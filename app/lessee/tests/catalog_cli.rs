//! `catalog` through the real binary: listing, importing, comparing and removing.

mod common;

use common::{Home, Run};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::process::Stdio;

const QUOTE: &str = "provider,region,gpu,count,price,unit\n\
    acme,cn-north,H100 SXM 80GB,8,20.00,USD per node hour\n";

fn offers(run: &Run) -> Vec<Value> {
    run.json()["offers"].as_array().expect("offers").clone()
}

#[test]
fn list_filters_as_skypilot_and_dstack_users_type_it() {
    let home = Home::new();
    let all = offers(&home.run(&["catalog", "list", "-o", "json"]).exits(0));
    assert!(all.len() > 2500, "{}", all.len());
    let eight = offers(
        &home
            .run(&["catalog", "list", "--gpu", "A100-80GB:8", "-o", "json"])
            .exits(0),
    );
    assert!(!eight.is_empty() && eight.len() < all.len());
    for offer in &eight {
        assert_eq!(
            (&offer["gpu"]["model"], &offer["gpu"]["count"]),
            (&"A100".into(), &8.into()),
            "{offer}"
        );
        let memory = offer["gpu"]["memory_gb_each"].as_f64();
        assert!(memory.is_none_or(|gb| (gb - 80.0).abs() < 1.0), "{offer}");
        let price: f64 = offer["price"]["amount"]
            .as_str()
            .expect("amount")
            .parse()
            .expect("number");
        let each: f64 = offer["price_per_gpu_hour"]["amount"]
            .as_str()
            .expect("amount")
            .parse()
            .expect("number");
        assert!((price / 8.0 - each).abs() < 1e-5, "{offer}");
        assert!(offer["as_of"].is_string() && offer["source"].is_string());
    }
    let args = [
        "catalog",
        "list",
        "--region",
        "eu-*",
        "--provider",
        "aws|gcp",
        "-o",
        "json",
    ];
    home.run(&args).exits(2);
    let europe = home.run(&[
        "catalog",
        "list",
        "--region",
        "eu*",
        "--max-price",
        "3 USD",
        "--spot",
        "-o",
        "json",
    ]);
    for offer in offers(&europe) {
        assert!(
            offer["region"]
                .as_str()
                .expect("region")
                .to_lowercase()
                .starts_with("eu"),
            "{offer}"
        );
        assert_eq!(offer["purchase"], "spot");
        assert_eq!(offer["price"]["currency"], "USD");
    }
    let range = offers(
        &home
            .run(&[
                "catalog",
                "list",
                "--gpu-memory",
                "24GB..48GB",
                "-o",
                "json",
            ])
            .exits(0),
    );
    let memory = |o: &Value| o["gpu"]["memory_gb_each"].as_f64().expect("memory");
    assert!(range.iter().all(|o| (24.0..=48.0).contains(&memory(o))));
}

#[test]
fn doubtful_prices_are_marked_by_letter_with_a_legend() {
    let home = Home::new();
    let list = offers(
        &home
            .run(&["catalog", "list", "--provider", "alicloud", "-o", "json"])
            .exits(0),
    );
    assert!(list.iter().any(|o| {
        o["marks"]
            .as_array()
            .expect("marks")
            .contains(&"stale".into())
    }));
    let table = home
        .run(&["catalog", "list", "--provider", "alicloud", "--limit", "5"])
        .exits(0)
        .out;
    assert!(table.contains("S = ") && !table.contains('\x1b'), "{table}");
}

#[test]
fn import_dry_run_saves_nothing_and_prints_the_contract() {
    let home = Home::new();
    let quote = home.file("quote.csv", QUOTE);
    let run = home
        .run(&["catalog", "import", &quote, "--dry-run", "-o", "json"])
        .exits(0);
    let doc = run.json();
    assert_eq!(doc["schema"], "lessee/import/v1");
    let offer = &doc["offers"][0];
    assert_eq!(
        (&offer["gpu"]["model"], &offer["gpu"]["count"]),
        (&"H100".into(), &8.into()),
        "{doc}"
    );
    assert_eq!(
        (&offer["per"], &offer["price"]["currency"]),
        (&"instance_hour".into(), &"USD".into())
    );
    assert_eq!(offer["price"]["amount"], "20.00");
    assert!(
        offer["original"]
            .as_str()
            .expect("original")
            .contains("20.00")
    );
    assert!(!home.path("data").exists(), "a dry run must not write");
}

#[test]
fn import_list_diff_export_remove() {
    let home = Home::new();
    let quote = home.file("my quote.csv", QUOTE);
    let quote = &quote;
    let saved = home.run(&["catalog", "import", quote]).exits(0).out;
    assert!(
        saved.contains("my-quote") && saved.contains("catalog remove my-quote"),
        "{saved}"
    );
    let own = || offers(&home.run(&["catalog", "list", "--gpu", "H100", "-o", "json"]));
    let is_mine = |o: &&Value| o["origin"] == "my-quote";
    let list = own();
    let mine = list.iter().find(is_mine).expect("the imported offer");
    assert!(
        mine["marks"]
            .as_array()
            .expect("marks")
            .contains(&"own".into()),
        "{mine}"
    );
    let snapshots = home
        .run(&["catalog", "snapshots", "-o", "json"])
        .exits(0)
        .json();
    assert_eq!(snapshots["snapshots"][0]["name"], "my-quote");
    let exported = home
        .run(&["catalog", "export", "--snapshot", "my-quote"])
        .exits(0)
        .out;
    let again = home.file("again.csv", &exported);
    let doc = home
        .run(&["catalog", "import", &again, "--dry-run", "-o", "json"])
        .json();
    assert_eq!(doc["offers"][0]["price"]["amount"], "20.00", "{doc}");
    home.run(&["catalog", "diff", "built-in", "my-quote"])
        .exits(0);
    let refused = home.run(&["catalog", "remove", "my-quote"]).exits(2);
    assert!(refused.err.contains("--yes"), "{}", refused.err);
    assert!(own().iter().any(|o| is_mine(&o)));
    home.run(&["catalog", "remove", "my-quote", "--yes"])
        .exits(0);
    assert!(!own().iter().any(|o| is_mine(&o)));
    let unknown = home
        .run(&["catalog", "remove", "my-qoute", "--yes"])
        .exits(2);
    assert!(!unknown.err.is_empty());
}

#[test]
fn two_writers_at_once_both_get_in() {
    let home = Home::new();
    let quote = home.file("q.csv", QUOTE);
    let names: Vec<String> = (0..6).map(|i| format!("writer-{i}")).collect();
    let children: Vec<_> = names
        .iter()
        .map(|name| {
            let args = ["catalog", "import", &quote, "--name", name.as_str()];
            home.command(&args)
                .stdout(Stdio::null())
                .spawn()
                .expect("starts")
        })
        .collect();
    for mut child in children {
        assert!(child.wait().expect("ends").success());
    }
    let doc = home
        .run(&["catalog", "snapshots", "-o", "json"])
        .exits(0)
        .json();
    let mut found: Vec<&str> = doc["snapshots"]
        .as_array()
        .expect("list")
        .iter()
        .map(|s| s["name"].as_str().expect("name"))
        .collect();
    found.sort_unstable();
    assert_eq!(found, names);
}

#[test]
fn bad_input_is_refused_with_place_and_hint_and_keeps_nothing() {
    let home = Home::new();
    fs::create_dir(home.path("folder")).expect("folder");
    let gpu = "provider,region,gpu,count,price,unit\nacme,cn,H100 SXM 80GB,8,";
    for (name, content) in [
        ("empty.csv", Vec::new()),
        ("blank.csv", b" \n\n".to_vec()),
        ("zeros.csv", vec![0u8; 3 << 20]),
        ("packed.csv", b"\x1f\x8b\x08\x00abc".to_vec()),
        ("latin1.csv", b"gpu,prix\nH100,d\xe9j\xe0 vendu\n".to_vec()),
    ] {
        let path = home.file(name, content);
        let run = home.run(&["catalog", "import", &path]).exits(2);
        assert!(run.err.contains(name), "{}", run.err);
        assert!(run.out.is_empty());
    }
    // a gigabyte of zeros that takes no room
    let large = fs::File::create(home.path("gigabyte.csv")).expect("file");
    large.set_len(1 << 30).expect("sparse file");
    let run = home.run(&["catalog", "import", "gigabyte.csv"]).exits(2);
    assert!(run.err.contains("gigabyte.csv"), "{}", run.err);
    let cut = home.file("cut.csv", &QUOTE.as_bytes()[..QUOTE.len() - 25]);
    home.run(&["catalog", "import", &cut]);
    let folder = home.path("folder");
    home.run(&["catalog", "import", folder.to_str().expect("path")])
        .exits(2);
    home.run(&["catalog", "import", "no-such-file.csv"])
        .exits(2);
    for (name, price) in [
        ("nan.csv", "NaN"),
        ("huge.csv", "1e400"),
        ("negative.csv", "-20.00"),
    ] {
        let path = home.file(name, format!("{gpu}{price},USD per node hour\n"));
        let run = home.run(&["catalog", "import", &path, "-o", "json"]);
        assert!(
            [1, 2].contains(&run.code),
            "{name}: {} {}",
            run.out,
            run.err
        );
        if run.code == 1 {
            let doc = run.json();
            assert!(
                doc["offers"].as_array().expect("offers").is_empty(),
                "{name}: {doc}"
            );
            assert!(
                !doc["questions"].as_array().expect("questions").is_empty(),
                "{name}: {doc}"
            );
        }
    }
    let snapshots = home.run(&["catalog", "snapshots", "-o", "json"]).json();
    assert!(snapshots["snapshots"].as_array().expect("list").is_empty());
}

#[test]
fn a_question_can_come_from_stdin() {
    let home = Home::new();
    let mut child = home
        .command(&["catalog", "import", "-", "--dry-run", "-o", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    child
        .stdin
        .take()
        .expect("pipe")
        .write_all(QUOTE.as_bytes())
        .expect("written");
    let output = child.wait_with_output().expect("ends");
    let doc: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(doc["offers"].as_array().expect("offers").len(), 1, "{doc}");
}

#[test]
fn a_quote_in_gbk_is_read() {
    let home = Home::new();
    let gbk = b"\xb9\xa9\xd3\xa6\xc9\xcc,GPU,\xca\xfd\xc1\xbf,\xbc\xdb\xb8\xf1(\xd4\xaa/\xcc\xa8/\xd4\xc2)\n\xbd\xad\xba\xa3\xd4\xc6,H100 SXM 80GB,8,76000\n";
    let path = home.file("gbk.csv", gbk);
    let args = ["catalog", "import", &path, "--dry-run", "-o", "json"];
    let doc = home.run(&args).exits(0).json();
    assert_eq!(doc["encoding"], "GBK", "{doc}");
    let offer = &doc["offers"][0];
    assert_eq!(
        (&offer["provider"], &offer["price"]["currency"]),
        (&"江海云".into(), &"CNY".into())
    );
}

#[test]
fn a_table_is_short_and_says_how_to_see_the_rest() {
    let home = Home::new();
    let list = ["catalog", "list", "--gpu", "H100"];
    let whole = offers(&home.run(&[&list[..], &["-o", "json"]].concat())).len();
    let csv = home.run(&[&list[..], &["-o", "csv"]].concat()).out;
    assert_eq!(csv.lines().count(), whole + 1, "CSV is complete");
    let table = home.run(&list).exits(0).out;
    assert!(
        whole > 50 && table.contains(&format!("{} more", whole - 50)),
        "{table}"
    );
    let all = home.run(&[&list[..], &["--all"]].concat()).exits(0).out;
    assert!(all.lines().count() > table.lines().count() && !all.contains(" more: --limit"));
}

/// What a filter lets out of the cache is what it finds among all offers.
#[test]
fn a_filtered_list_finds_the_same_as_a_whole_one() {
    let home = Home::new();
    let mut quote = QUOTE.to_owned();
    for i in 0..40 {
        let gpu = if i % 2 == 0 {
            "H100 SXM 80GB"
        } else {
            "L4 24GB"
        };
        quote += &format!("acme,zone-{i},{gpu},8,{}.00,USD per node hour\n", 20 + i);
    }
    let file = home.file("acme.csv", &quote);
    home.run(&["catalog", "import", &file]).exits(0);
    for gpu in ["H100", "L4", "H100:8"] {
        let list = ["catalog", "list", "--gpu", gpu];
        let json = offers(&home.run(&[&list[..], &["-o", "json"]].concat()).exits(0));
        let keys: Vec<&str> = json
            .iter()
            .map(|o| o["key"].as_str().expect("key"))
            .collect();
        let csv = home
            .run(&[&list[..], &["-o", "csv", "--columns", "offer"]].concat())
            .exits(0)
            .out;
        assert_eq!(csv.lines().skip(1).collect::<Vec<_>>(), keys, "{gpu}");
    }
    home.run(&["catalog", "list", "--gpu", "A100", "--provider", "acme"])
        .exits(1);
}
