//! The real binary, in folders of its own and at a fixed time.

use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tempfile::TempDir;

const NOW: &str = "2026-11-30T12:00:00Z";
const QUOTE: &str = "provider,region,gpu,count,price,unit\n\
    acme,cn-north,H100 SXM 80GB,8,20.00,USD per node hour\n";

/// A home of its own.
struct Home(TempDir);

impl Home {
    fn new() -> Home {
        Home(tempfile::tempdir().expect("folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).expect("file");
        path
    }

    fn std_command(&self, args: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lessee"));
        command.env_clear().current_dir(self.0.path()).args(args);
        for (name, folder) in [
            ("HOME", ""),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_CACHE_HOME", "cache"),
        ] {
            command.env(name, self.path(folder));
        }
        command
            .env("LESSEE_NOW", NOW)
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .env("COLUMNS", "80");
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        Run(Command::from_std(self.std_command(args))
            .output()
            .expect("the binary runs"))
    }
}

struct Run(Output);

impl Run {
    fn code(&self) -> i32 {
        self.0.status.code().expect("an exit code")
    }
    fn out(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).expect("UTF-8")
    }
    fn err(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).expect("UTF-8")
    }
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.out())
            .unwrap_or_else(|e| panic!("{e}: {} {}", self.out(), self.err()))
    }
    #[track_caller]
    fn exits(self, code: i32) -> Run {
        assert_eq!(
            self.code(),
            code,
            "stdout: {}\nstderr: {}",
            self.out(),
            self.err()
        );
        self
    }
}

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
        .out();
    assert!(table.contains("S = ") && !table.contains('\x1b'), "{table}");
}

#[test]
fn tables_fit_eighty_columns_in_both_languages() {
    let home = Home::new();
    let quote = home.file("quote.csv", QUOTE);
    let quote = quote.to_str().expect("path");
    for lang in ["en", "zh-CN"] {
        for args in [
            vec!["catalog", "list", "--gpu", "H100", "--limit", "20"],
            vec!["catalog", "doctor"],
            vec!["catalog", "show", "p4d.24xlarge"],
            vec!["catalog", "import", quote, "--dry-run"],
            vec!["config", "show"],
            vec!["schema", "models"],
            vec!["doctor"],
        ] {
            let run = home.run(&[&args[..], &["--lang", lang]].concat());
            let (out, temporary) = (run.out(), home.0.path().to_str().expect("path").to_owned());
            for line in out.lines().filter(|l| !l.contains(&temporary)) {
                assert!(
                    width(line) <= 80,
                    "{args:?} {lang}: {} columns: {line}",
                    width(line)
                );
            }
            assert!(!out.contains("\n["), "a text is missing: {out}");
            let chinese = out.chars().any(|c| ('\u{4e00}'..'\u{9fff}').contains(&c));
            assert_eq!(chinese, lang == "zh-CN", "{args:?}: {out}");
        }
    }
}

/// Columns of a terminal: wide characters take two.
fn width(line: &str) -> usize {
    line.chars()
        .map(|c| {
            if ('\u{2e80}'..'\u{ffef}').contains(&c) {
                2
            } else {
                1
            }
        })
        .sum()
}

#[test]
fn import_dry_run_saves_nothing_and_prints_the_contract() {
    let home = Home::new();
    let quote = home.file("quote.csv", QUOTE);
    let run = home
        .run(&[
            "catalog",
            "import",
            quote.to_str().expect("path"),
            "--dry-run",
            "-o",
            "json",
        ])
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
    let quote = quote.to_str().expect("path");
    let saved = home.run(&["catalog", "import", quote]).exits(0).out();
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
        .out();
    let again = home.file("again.csv", &exported);
    let doc = home
        .run(&[
            "catalog",
            "import",
            again.to_str().expect("path"),
            "--dry-run",
            "-o",
            "json",
        ])
        .json();
    assert_eq!(doc["offers"][0]["price"]["amount"], "20.00", "{doc}");
    home.run(&["catalog", "diff", "built-in", "my-quote"])
        .exits(0);
    let refused = home.run(&["catalog", "remove", "my-quote"]).exits(2);
    assert!(refused.err().contains("--yes"), "{}", refused.err());
    assert!(own().iter().any(|o| is_mine(&o)));
    home.run(&["catalog", "remove", "my-quote", "--yes"])
        .exits(0);
    assert!(!own().iter().any(|o| is_mine(&o)));
    let unknown = home
        .run(&["catalog", "remove", "my-qoute", "--yes"])
        .exits(2);
    assert!(!unknown.err().is_empty());
}

#[test]
fn two_writers_at_once_both_get_in() {
    let home = Home::new();
    let quote = home.file("q.csv", QUOTE);
    let names: Vec<String> = (0..6).map(|i| format!("writer-{i}")).collect();
    let children: Vec<_> = names
        .iter()
        .map(|name| {
            let args = [
                "catalog",
                "import",
                quote.to_str().expect("path"),
                "--name",
                name.as_str(),
            ];
            home.std_command(&args)
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
        let run = home
            .run(&["catalog", "import", path.to_str().expect("path")])
            .exits(2);
        assert!(run.err().contains(name), "{}", run.err());
        assert!(run.out().is_empty());
    }
    // a gigabyte of zeros that takes no room
    let large = fs::File::create(home.path("gigabyte.csv")).expect("file");
    large.set_len(1 << 30).expect("sparse file");
    let run = home.run(&["catalog", "import", "gigabyte.csv"]).exits(2);
    assert!(run.err().contains("gigabyte.csv"), "{}", run.err());
    let cut = home.file("cut.csv", &QUOTE.as_bytes()[..QUOTE.len() - 25]);
    home.run(&["catalog", "import", cut.to_str().expect("path")]);
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
        let run = home.run(&[
            "catalog",
            "import",
            path.to_str().expect("path"),
            "-o",
            "json",
        ]);
        assert!(
            [1, 2].contains(&run.code()),
            "{name}: {} {}",
            run.out(),
            run.err()
        );
        if run.code() == 1 {
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
fn settings_win_in_order_and_say_so() {
    let home = Home::new();
    let origin = |run: &Run, key: &str| {
        let doc = run.json();
        let list = doc["settings"].as_array().expect("settings").clone();
        let entry = list.into_iter().find(|s| s["key"] == key).expect("key");
        (
            entry["value"].as_str().expect("value").to_owned(),
            entry["origin"].as_str().expect("origin").to_owned(),
        )
    };
    let args = ["config", "show", "--origin", "-o", "json"];
    assert_eq!(origin(&home.run(&args), "currency").1, "built-in");
    fs::create_dir_all(home.path("config/lessee")).expect("folder");
    home.file("config/lessee/config.toml", "currency = \"EUR\"\n");
    let (value, from) = origin(&home.run(&args), "currency");
    assert!(
        value == "EUR" && from.starts_with("user "),
        "{value} {from}"
    );
    home.file("lessee.toml", "currency = \"CNY\"\n");
    let (value, from) = origin(&home.run(&args), "currency");
    assert!(
        value == "CNY" && from.starts_with("project "),
        "{value} {from}"
    );
    let mut command = home.std_command(&args);
    command
        .env("LESSEE_CURRENCY", "USD")
        .env("LESSEE_LANG", "zh-CN");
    let run = Run(command.output().expect("runs"));
    assert_eq!(
        origin(&run, "currency"),
        ("USD".to_owned(), "env LESSEE_CURRENCY".to_owned())
    );
    let run = home.run(&[
        "config", "show", "--origin", "-o", "json", "--lang", "zh-CN",
    ]);
    assert_eq!(
        origin(&run, "lang"),
        ("zh-CN".to_owned(), "flag".to_owned())
    );
    home.file("lessee.toml", "\ncurency = \"CNY\"\n");
    let run = home.run(&args).exits(2);
    let error: Value = serde_json::from_str(&run.err()).expect("JSON error");
    assert!(
        error["detail"]
            .as_str()
            .expect("detail")
            .contains("lessee.toml:2:1"),
        "{error}"
    );
    assert!(
        error["hints"][0]
            .as_str()
            .expect("hint")
            .contains("currency"),
        "{error}"
    );
}

#[test]
fn errors_are_one_json_object_where_json_was_asked_for() {
    let home = Home::new();
    for args in [
        &["catalog", "show", "no/such@thing", "-o", "json"][..],
        &["catalog", "list", "--gpu", "H100:many", "-o", "json"],
        &["catalog", "lits", "-o", "json"],
        &["catalog", "list", "--provder", "aws", "--output=json"],
        &["catalog", "list", "--gpu", "H1000", "-o", "jsonl"],
        &[
            "catalog",
            "list",
            "--columns",
            "prise",
            "-o",
            "json",
            "--limit",
            "1",
        ],
    ] {
        let run = home.run(args).exits(2);
        let error: Value = serde_json::from_str(&run.err())
            .unwrap_or_else(|e| panic!("{args:?} {e}: {}", run.err()));
        assert!(
            error["type"]
                .as_str()
                .expect("type")
                .starts_with("urn:lessee:error:"),
            "{error}"
        );
        assert!(
            error["title"].is_string() && error["detail"].is_string() && error["hints"].is_array()
        );
        assert_eq!(error["exit_code"], 2);
        assert!(run.out().is_empty());
    }
}

#[test]
fn offline_refuses_to_use_the_network() {
    let home = Home::new();
    let run = home
        .run(&["catalog", "refresh", "azure", "--offline"])
        .exits(3);
    assert!(run.err().contains("--offline"), "{}", run.err());
    home.run(&["catalog", "refresh", "no-such-provider"])
        .exits(2);
    let run = home.run(&["catalog", "refresh", "runpod"]).exits(4);
    assert!(run.err().contains("RUNPOD_API_KEY"), "{}", run.err());
    home.run(&["catalog", "refresh"]).exits(0);
}

#[test]
fn a_closed_pipe_is_success() {
    let home = Home::new();
    let mut child = home
        .std_command(&["catalog", "list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut first = [0u8; 10];
    child
        .stdout
        .take()
        .expect("pipe")
        .read_exact(&mut first)
        .expect("some output");
    // the pipe is closed here
    let mut error = String::new();
    child
        .stderr
        .take()
        .expect("pipe")
        .read_to_string(&mut error)
        .expect("stderr");
    assert!(child.wait().expect("ends").success(), "{error}");
    assert!(error.is_empty(), "{error}");
}

#[test]
fn every_format_and_export_by_extension() {
    let home = Home::new();
    let list = ["catalog", "list", "--gpu", "H100", "--limit", "3"];
    let csv = home.run(
        &[
            &list[..],
            &[
                "-o",
                "csv",
                "--columns",
                "provider,price",
                "--sort",
                "-price",
            ],
        ]
        .concat(),
    );
    let csv = csv.exits(0).out();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!((lines[0], lines.len()), ("provider,price", 4));
    let prices: Vec<f64> = lines[1..]
        .iter()
        .map(|l| l.split(',').nth(1).expect("price").parse().expect("number"))
        .collect();
    assert!(prices.is_sorted_by(|a, b| a >= b), "{prices:?}");
    assert!(
        home.run(&[&list[..], &["-o", "md"]].concat())
            .out()
            .starts_with("| ")
    );
    assert_eq!(
        home.run(&[&list[..], &["-o", "jsonl"]].concat())
            .out()
            .lines()
            .count(),
        3
    );
    let (html, json) = (home.path("x.html"), home.path("x.json"));
    let args = [
        &list[..],
        &[
            "--export",
            html.to_str().expect("path"),
            "--export",
            json.to_str().expect("path"),
        ],
    ]
    .concat();
    home.run(&args).exits(0);
    assert!(
        fs::read_to_string(html)
            .expect("file")
            .starts_with("<!doctype html>")
    );
    let text = fs::read_to_string(json).expect("file");
    assert_eq!(
        serde_json::from_str::<Value>(&text).expect("JSON")["schema"],
        "lessee/catalog/v1"
    );
    home.run(&[&list[..], &["--export", "x.docx"]].concat())
        .exits(2);
}

#[test]
fn colour_obeys_the_usual_variables() {
    let home = Home::new();
    let with = |variables: &[(&str, &str)]| {
        let mut command = home.std_command(&["catalog", "list", "--gpu", "H100", "--limit", "2"]);
        command.envs(variables.iter().copied());
        String::from_utf8(command.output().expect("runs").stdout)
            .expect("UTF-8")
            .contains('\x1b')
    };
    assert!(!with(&[]));
    assert!(with(&[("FORCE_COLOR", "1")]) && with(&[("CLICOLOR_FORCE", "1")]));
    assert!(!with(&[("FORCE_COLOR", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn completions_schemas_man_pages_and_version() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            home.run(&["completions", shell])
                .exits(0)
                .out()
                .contains("lessee")
        );
    }
    let names = home.run(&["schema", "-o", "json"]).exits(0).json();
    let names = names["documents"].as_array().expect("names").clone();
    assert!(names.len() > 10, "{names:?}");
    for name in names
        .iter()
        .filter_map(Value::as_str)
        .filter(|n| *n != "models")
    {
        let schema = home.run(&["schema", name]).exits(0).json();
        assert_eq!(
            schema["$schema"], "https://json-schema.org/draft/2020-12/schema",
            "{name}"
        );
    }
    let wrong = home.run(&["schema", "worklaod"]).exits(2);
    assert!(wrong.err().contains("workload"), "{}", wrong.err());
    home.run(&["man", "pages"]).exits(0);
    assert!(Path::new(&home.path("pages/lessee-catalog-list.1")).exists());
    assert!(
        home.run(&["--version"])
            .exits(0)
            .out()
            .starts_with("lessee ")
    );
    assert!(
        home.run(&["--version", "-v"])
            .exits(0)
            .out()
            .contains("202")
    );
}

#[test]
fn help_speaks_chinese_and_hides_the_field_flags_from_the_short_form() {
    let home = Home::new();
    let short = home.run(&["plan", "-h", "--lang", "zh-CN"]).exits(0).out();
    assert!(
        short.contains("用法：") && short.contains("--budget") && !short.contains("--data-size"),
        "{short}"
    );
    let long = home
        .run(&["plan", "--help", "--lang", "zh-CN"])
        .exits(0)
        .out();
    assert!(
        long.contains("--data-size") && long.contains("数据集大小"),
        "{long}"
    );
    let english = home.run(&["plan", "--help"]).exits(0).out();
    assert!(english.contains("--data-size") && english.contains("Usage:"));
    home.run(&[]).exits(2);
}

#[test]
fn documented_exit_codes_are_those_of_the_program() {
    let doc = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/exit-codes.md"),
    )
    .expect("docs/reference/exit-codes.md");
    for (code, word) in [
        (0, "done"),
        (1, "no"),
        (2, "usage"),
        (3, "unreachable"),
        (4, "credentials"),
        (5, "budget"),
        (6, "preempted"),
        (7, "cannot_tell"),
        (8, "stuck"),
        (70, "bug"),
    ] {
        assert!(
            doc.contains(&format!("| {code} | {word} |")),
            "{code} {word}"
        );
    }
}

#[test]
fn hostile_text_cannot_steer_the_terminal() {
    let home = Home::new();
    let quote = QUOTE.replace("acme", "ac\u{1b}[2Jme");
    let path = home.file("esc.csv", quote);
    let run = home.run(&[
        "catalog",
        "import",
        path.to_str().expect("path"),
        "--dry-run",
    ]);
    assert!(!run.out().contains('\x1b') && !run.err().contains('\x1b'));
    let run = home.run(&["catalog", "show", "\x1b[31mred"]).exits(2);
    assert!(!run.err().contains('\x1b'));
}

#[test]
fn a_question_can_come_from_stdin() {
    let home = Home::new();
    let mut child = home
        .std_command(&["catalog", "import", "-", "--dry-run", "-o", "json"])
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
    let args = [
        "catalog",
        "import",
        path.to_str().expect("path"),
        "--dry-run",
        "-o",
        "json",
    ];
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
    let csv = home.run(&[&list[..], &["-o", "csv"]].concat()).out();
    assert_eq!(csv.lines().count(), whole + 1, "CSV is complete");
    let table = home.run(&list).exits(0).out();
    assert!(
        whole > 50 && table.contains(&format!("{} more", whole - 50)),
        "{table}"
    );
    let all = home.run(&[&list[..], &["--all"]].concat()).exits(0).out();
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
    home.run(&["catalog", "import", file.to_str().expect("path")])
        .exits(0);
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
            .out();
        assert_eq!(csv.lines().skip(1).collect::<Vec<_>>(), keys, "{gpu}");
    }
    home.run(&["catalog", "list", "--gpu", "A100", "--provider", "acme"])
        .exits(1);
}
