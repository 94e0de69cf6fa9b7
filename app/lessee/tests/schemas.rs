//! The documents that the binary prints are those that its schemas describe: no key more, no key less.

mod common;

use common::{Home, check, example};
use serde_json::Value;

fn say(home: &Home, args: &[&str]) -> Value {
    let run = home.run(args);
    let text = if run.out.is_empty() { run.err } else { run.out };
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{args:?} {e}"))
}

#[test]
fn every_answer_has_the_keys_of_its_schema() {
    let home = &Home::new();
    let quote = "provider,region,gpu,count,price,unit\nacme,north,H100 SXM 80GB,8,20.00,USD per node hour\n";
    home.file("acme.csv", quote);
    let (plan, buy) = (example("finetune-8b.toml"), example("buy-8xh100.toml"));
    home.file(
        "spot.csv",
        "time,zone,available\n0,a,1\n600,a,0\n1200,a,1\n1800,a,1\n2400,a,1\n",
    );
    home.file(
        "freeze.txt",
        "torch==2.6.0\ntorchvision==0.20.0\nnumpy==1.26.4\n",
    );
    home.file(
        "later.txt",
        "torch==2.7.0\ntorchvision==0.20.0\nscipy==1.14.0\n",
    );
    home.run(&["accept", "env", "freeze.txt", "--save", "lock.json"]);
    for (name, driver) in [("first.json", "580.95.05"), ("second.json", "450.80.02")] {
        let args = [
            "accept", "driver", "--gpu", "A10", "--need", "torch", "-o", "json", "--driver",
        ];
        home.file(name, &home.run(&[&args[..], &[driver]].concat()).out);
    }
    let simulate = "simulate --trace spot.csv --job-hours 0.3 --deadline-hours 0.7 --overhead-hours 0 \
                    --spot-price 1 --on-demand-price 3 --policy greedy --explain";
    let simulate: Vec<&str> = simulate.split_whitespace().collect();
    for (name, args) in [
        ("simulate", &simulate[..]),
        ("import", &["catalog", "import", "acme.csv"]),
        ("plan", &["plan", &plan]),
        ("why-not", &["plan", &plan, "--why-not", "aws/p4d.24xlarge"]),
        ("buy", &["buy", &buy]),
        ("catalog", &["catalog", "list", "--gpu", "H100"]),
        ("offer", &["catalog", "show", "p4d.24xlarge"]),
        ("catalog-diff", &["catalog", "diff", "built-in", "acme"]),
        ("catalog-doctor", &["catalog", "doctor"]),
        (
            "acceptance",
            &[
                "accept",
                "driver",
                "--driver",
                "535.183.01",
                "--gpu",
                "A10",
                "--need",
                "torch",
            ],
        ),
        (
            "acceptance",
            &["accept", "env", "freeze.txt", "--need", "torch"],
        ),
        (
            "acceptance",
            &[
                "accept",
                "budget",
                "--provider",
                "aws",
                "--budget",
                "90 USD",
            ],
        ),
        (
            "acceptance-diff",
            &["accept", "diff", "first.json", "second.json"],
        ),
        (
            "environment-diff",
            &["accept", "env", "later.txt", "--diff", "lock.json"],
        ),
        (
            "environment-rollback",
            &[
                "accept",
                "env",
                "later.txt",
                "--rollback",
                "lock.json",
                "--dry-run",
            ],
        ),
        ("error", &["catalog", "list", "--gpu", "H1000"]),
    ] {
        let schema = say(home, &["schema", name]);
        let answer = say(home, &[args, &["-o", "json"]].concat());
        let mut wrong = Vec::new();
        assert!(schema["properties"].is_object(), "{name}");
        check(&answer, &schema, &schema, name, &mut wrong);
        wrong.dedup();
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    }
    let lock = std::fs::read_to_string(home.path("lock.json")).expect("a lock");
    let schema = say(home, &["schema", "environment"]);
    let mut wrong = Vec::new();
    let lock: Value = serde_json::from_str(&lock).expect("JSON");
    check(&lock, &schema, &schema, "environment", &mut wrong);
    assert!(wrong.is_empty(), "{wrong:#?}");
    let schema = say(home, &["schema", "probe"]);
    let text = std::fs::read_to_string(example("probe-8xh100.json")).expect("example");
    let mut wrong = Vec::new();
    let probe = serde_json::from_str(&text).expect("JSON");
    check(&probe, &schema, &schema, "probe", &mut wrong);
    wrong.retain(|w| w.contains("not in the schema"));
    assert!(wrong.is_empty(), "{wrong:#?}");
}
