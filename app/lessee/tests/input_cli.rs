//! What is asked for and not there, and what is typed wrong: the answer says what, where and how to mend it.

mod common;

use common::{Home, Run, example};
/// A GPU that no built-in price exists of: its name alone, so that the test does not age with the data.
const UNPRICED: &str = "RTX 4090";

#[test]
fn a_gpu_without_any_price_is_named_with_the_ways_to_bring_one() {
    let home = Home::new();
    let ways = ["RTX 4090", "catalog refresh vast", "catalog import"];
    let plan = example("finetune-8b.toml");
    home.run(&["plan", &plan, "--gpu", UNPRICED]).says(1, &ways);
    home.run(&["catalog", "list", "--gpu", UNPRICED])
        .says(1, &ways);
    // a GPU that has prices, only not this many in one machine, is another matter
    let many = home.run(&["catalog", "list", "--gpu", "H100:77"]);
    many.says(1, &[]);
    assert!(!many.err.contains("catalog refresh vast"), "{}", many.err);
    let quote = home.file(
        "q.csv",
        "provider,region,gpu,count,price,unit\nacme,x,RTX 4090,8,3.20,USD per node hour\n",
    );
    home.run(&["catalog", "import", &quote]).says(0, &[]);
    let now = home.run(&["catalog", "list", "--gpu", UNPRICED]);
    now.says(0, &[]);
    assert!(!now.err.contains("catalog refresh vast"), "{}", now.err);
}

#[test]
fn no_options_at_all_is_not_an_answer() {
    let home = Home::new();
    let run = home.run(&["plan", &example("finetune-8b.toml"), "--top", "0"]);
    run.says(2, &["`0` is not a value for --top"]);
}

#[test]
fn a_bad_flag_is_named_as_it_was_typed_and_the_file_is_not() {
    let home = Home::new();
    let plan = example("serve-8b.toml");
    for (flag, value, named) in [
        ("--serve-model", "llama-9b", "--serve-model: "),
        ("--serve-rate", "0", "--serve-rate: "),
        ("--gpu", "H9000", "--gpu: "),
        ("--constraints-gpus", "H9000", "--constraints-gpus: "),
        ("--budget", "many", "--budget: "),
        ("--money-tax", "300%", "--money-tax: "),
        (
            "--constraints-gpu-memory",
            "x",
            "--constraints-gpu-memory: ",
        ),
        ("--train-epochs", "3", "--train-epochs: "),
        (
            "--money-discounts",
            "{ aws = \"200%\" }",
            "--money-discounts: ",
        ),
    ] {
        let run = home.run(&["plan", &plan, flag, value]);
        run.says(2, &[named]);
        assert!(!run.err.contains("serve-8b.toml"), "{flag}: {}", run.err);
    }
    // what stands in the file is still looked for there
    let bad = home.file(
        "w.toml",
        "kind = \"serve\"\n[serve]\nmodel = \"llama-9b\"\nrate = 1\n",
    );
    home.run(&["plan", &bad, "--serve-rate", "2"])
        .says(2, &["w.toml:3:9"]);
}

#[test]
fn a_service_stands_on_spot_machines_only_if_told_to() {
    let home = Home::new();
    let serve =
        "kind = \"serve\"\n[serve]\nmodel = \"llama-3.1-8b\"\nrate = 1\nduration = \"30d\"\n";
    let spot_ranked = |text: &str, flags: &[&str]| {
        let file = home.file("w.toml", text);
        let run = home.run(&[&["plan", &file, "-o", "json", "--all"], flags].concat());
        let doc: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
        let options = doc["options"].as_array().expect("options").clone();
        assert!(!options.is_empty(), "{}", run.err);
        let assumed = doc["assumptions"].to_string();
        (options.iter().any(|o| o["purchase"] == "spot"), assumed)
    };
    let (spot, assumed) = spot_ranked(serve, &[]);
    assert!(!spot, "a service was put on spot unasked");
    assert!(assumed.contains("constraints.spot"), "{assumed}");
    assert!(spot_ranked(serve, &["--spot"]).0);
    assert!(spot_ranked(serve, &["--constraints-purchases", "spot"]).0);
    let hours = "kind = \"hours\"\n[hours]\ngpu_hours = 200\ngpu = \"A100-80GB\"\n";
    assert!(spot_ranked(hours, &[]).0, "a job may be interrupted");
}

const HOURS: &str = "kind = \"hours\"\n[hours]\ngpu_hours = 200\ngpu = \"A100-80GB\"\n";
const BUY: &str = "[node]\nprice = \"250000 USD\"\n[rent]\nprice = \"2 USD\"\n";

#[test]
fn rates_that_contradict_each_other_are_refused() {
    let home = Home::new();
    let usd = "{ from = \"USD\", to = \"CNY\", rate = 7.0, as_of = \"2026-11-28\" }";
    for (second, words) in [
        (usd, "given twice"),
        (
            "{ from = \"CNY\", to = \"USD\", rate = 7.0, as_of = \"2026-11-28\" }",
            "contradicts",
        ),
        (
            "{ from = \"EUR\", to = \"USD\", rate = 1.1, as_of = \"2027-01-01\" }",
            "2027-01-01",
        ),
        (
            "{ from = \"EUR\", to = \"EUR\", rate = 1.1, as_of = \"2026-11-28\" }",
            "itself",
        ),
    ] {
        let rates = format!("[{usd}, {second}]");
        let plan = home.file("w.toml", format!("{HOURS}[money]\nrates = {rates}\n"));
        home.run(&["plan", &plan]).says(2, &["w.toml:6:", words]);
        let buy = home.file("b.toml", format!("{BUY}[money]\nrates = {rates}\n"));
        home.run(&["buy", &buy]).says(2, &["b.toml:6:", words]);
        let plain = home.file("p.toml", HOURS);
        let flag = home.run(&["plan", &plain, "--money-rates", &rates]);
        flag.says(2, &["--money-rates: ", words]);
    }
}

#[test]
fn amounts_beyond_all_money_are_refused_where_they_stand() {
    let home = Home::new();
    for amount in ["1e300 USD", "1e400 USD", "9999999999999999999999999 USD"] {
        let text = format!("{HOURS}[constraints]\nbudget = \"{amount}\"\n");
        let plan = home.file("w.toml", text);
        home.run(&["plan", &plan])
            .says(2, &["w.toml:6:10", "more money than there is"]);
        let buy = home.file("b.toml", BUY.replace("250000 USD", amount));
        home.run(&["buy", &buy])
            .says(2, &["b.toml:2:9", "more money than there is"]);
    }
}

#[test]
fn buy_checks_its_ranges_and_its_horizon() {
    let home = Home::new();
    let with = |more: &str| home.file("b.toml", format!("{BUY}{more}"));
    let misspelt = home.run(&["buy", &with("[ranges]\nutilization = [0.3, 0.9]\n")]);
    misspelt.says(2, &["b.toml:6:", "utilization", "`utilisation`"]);
    let reversed = home.run(&["buy", &with("[ranges]\nutilisation = [0.9, 0.3]\n")]);
    reversed.says(2, &["b.toml:6:", "[0.9, 0.3]"]);
    let late = home.run(&[
        "buy",
        &with("[plan]\nhorizon_months = 2\nlead_months = 6\n"),
    ]);
    late.says(0, &[]);
    assert!(
        late.out.contains("longer plan.horizon_months"),
        "{}",
        late.out
    );
}

#[test]
fn no_word_of_a_parser_reaches_the_user() {
    let home = Home::new();
    let raw = [
        "f64",
        "u32",
        "expected",
        "invalid type",
        "struct",
        "variant",
        "serde",
        "found argument",
    ];
    let clean = |run: &Run, code: i32, words: &[&str]| {
        run.says(code, words);
        for word in raw {
            assert!(
                !run.err.contains(&format!(" {word}")) || word == "expected",
                "{}",
                run.err
            );
        }
        assert!(!run.err.contains(", expected"), "{}", run.err);
    };
    let plan = |text: &str, flags: &[&str]| {
        let file = home.file("w.toml", text);
        home.run(&[&["plan", &file], flags].concat())
    };
    let number = "a number such as 2.5 is expected here, not `abc`";
    let wrong = "kind = \"hours\"\n[hours]\ngpu_hours = \"abc\"\n";
    clean(&plan(wrong, &[]), 2, &["w.toml:3:13", number]);
    clean(
        &plan(HOURS, &["--hours-gpu-hours", "abc"]),
        2,
        &["--hours-gpu-hours: ", number],
    );
    clean(&plan(HOURS, &["--top", "many"]), 2, &["--top", "many"]);
    clean(&plan(HOURS, &["--toop", "3"]), 2, &["--toop", "--top"]);
    clean(&plan(HOURS, &["--tax", "3%"]), 2, &["--tax", "--money-tax"]);
    clean(&plan(HOURS, &["--explain"]), 2, &["--explain"]);
    clean(
        &plan(HOURS, &["--spot", "--no-spot"]),
        2,
        &["--spot", "--no-spot"],
    );
    clean(&home.run(&["catlog"]), 2, &["catlog", "catalog"]);
    clean(
        &home.run(&["catalog", "list", "-o", "xml"]),
        2,
        &["xml", "json"],
    );
    clean(&home.run(&["catalog", "import"]), 2, &["FILE"]);
    let probe = home.file("probe.json", "{\"schema\": 5}");
    clean(
        &plan(HOURS, &["--measured", &probe]),
        2,
        &["probe.json:1:12"],
    );
    let zh = home.run(&["--lang", "zh-CN", "plan", "--toop", "3"]);
    zh.says(2, &["没有 `--toop`", "--top"]);
}

#[test]
fn a_damaged_list_of_snapshots_warns_and_plans_on() {
    let home = Home::new();
    let quote = home.file(
        "q.csv",
        "provider,region,gpu,count,price,unit\nacme,x,RTX 4090,8,3.20,USD per node hour\n",
    );
    home.run(&["catalog", "import", &quote]).says(0, &[]);
    home.file("data/lessee/catalog/manifest.json", "{ damaged");
    let plan = home.file("w.toml", HOURS);
    let run = home.run(&["plan", &plan]);
    run.says(
        0,
        &["manifest.json", "the built-in prices are", "catalog import"],
    );
    home.run(&["catalog", "list", "--gpu", "H100"])
        .says(0, &["manifest.json"]);
    // what would change the folder stops
    home.run(&["catalog", "import", &quote])
        .says(2, &["manifest.json"]);
    home.run(&["catalog", "remove", "q", "--yes"])
        .says(2, &["manifest.json"]);
}

#[test]
fn a_refresh_that_fails_says_one_json_object() {
    let home = Home::new();
    // nobody listens on port 1
    let nowhere = [("LESSEE_VAST_URL", "http://127.0.0.1:1")];
    for (args, code) in [
        (&["catalog", "refresh", "vast", "-o", "json"][..], 3),
        (
            &["catalog", "refresh", "vast", "-o", "json", "--offline"],
            3,
        ),
        (&["catalog", "refresh", "runpod", "-o", "json"], 4),
        (&["catalog", "refresh", "nobody", "-o", "json"], 2),
    ] {
        let run = home.run_with(args, &nowhere);
        assert_eq!(run.code, code, "{args:?}: {}", run.err);
        let error: serde_json::Value = serde_json::from_str(&run.err).expect(&run.err);
        assert_eq!(error["exit_code"], code, "{args:?}");
        assert_eq!(run.out, "", "{args:?}");
    }
    let people = home.run_with(&["catalog", "refresh", "vast"], &nowhere);
    people.says(3, &["asking the price API of vast"]);
}

#[test]
fn an_unknown_provider_is_told_with_its_flag_or_line_and_the_nearest_name() {
    let home = Home::new();
    let lists = format!("{HOURS}[constraints]\nproviders = [\n  \"gcp\",\n  \"awz\",\n]\n");
    let discount = format!("{HOURS}[money]\ndiscounts = {{ alicluod = \"10%\" }}\n");
    let location = format!("{HOURS}[data]\nsize = \"1GB\"\nlocation = \"azuer:eastus\"\n");
    for lang in ["en", "zh-CN"] {
        for (text, place, word, best) in [
            (&lists, "w.toml:8:3", "awz", "aws"),
            (&discount, "w.toml:6:", "alicluod", "alicloud"),
            (&location, "w.toml:7:12", "azuer", "azure"),
        ] {
            let file = home.file("w.toml", text);
            let run = home.run(&["plan", &file, "--lang", lang]);
            run.says(2, &[place, word, best]);
        }
        let file = home.file("w.toml", HOURS);
        for (flag, value) in [
            ("--constraints-providers", "gcp,awz"),
            ("--constraints-exclude-providers", "awz"),
            ("--provider", "awz"),
        ] {
            let run = home.run(&["plan", &file, flag, value, "--lang", lang]);
            run.says(2, &[flag, "awz", "aws"]);
            assert!(!run.err.contains("w.toml"), "{}", run.err);
        }
        let run = home.run(&["catalog", "list", "--provider", "awz", "--lang", lang]);
        run.says(2, &["--provider", "awz", "aws"]);
    }
}
