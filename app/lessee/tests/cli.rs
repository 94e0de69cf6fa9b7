//! Manners of the whole binary: settings, formats, languages, errors and exit codes.

mod common;

use common::{Home, Run};
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

const QUOTE: &str = "provider,region,gpu,count,price,unit\n\
    acme,cn-north,H100 SXM 80GB,8,20.00,USD per node hour\n";

#[test]
fn tables_fit_eighty_columns_in_both_languages() {
    let home = Home::new();
    let quote = home.file("quote.csv", QUOTE);
    let quote = &quote;
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
            let (out, temporary) = (run.out, home.text().to_owned());
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
    let mut command = home.command(&args);
    command
        .env("LESSEE_CURRENCY", "USD")
        .env("LESSEE_LANG", "zh-CN");
    let run = Run::of(command);
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
    let error: Value = serde_json::from_str(&run.err).expect("JSON error");
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
        let error: Value =
            serde_json::from_str(&run.err).unwrap_or_else(|e| panic!("{args:?} {e}: {}", run.err));
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
        assert!(run.out.is_empty());
    }
}

#[test]
fn offline_refuses_to_use_the_network() {
    let home = Home::new();
    let run = home
        .run(&["catalog", "refresh", "azure", "--offline"])
        .exits(3);
    assert!(run.err.contains("--offline"), "{}", run.err);
    home.run(&["catalog", "refresh", "no-such-provider"])
        .exits(2);
    let run = home.run(&["catalog", "refresh", "runpod"]).exits(4);
    assert!(run.err.contains("RUNPOD_API_KEY"), "{}", run.err);
    home.run(&["catalog", "refresh"]).exits(0);
}

#[test]
fn a_closed_pipe_is_success() {
    let home = Home::new();
    let mut child = home
        .command(&["catalog", "list"])
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
    let csv = csv.exits(0).out;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!((lines[0], lines.len()), ("provider,price", 4));
    let prices: Vec<f64> = lines[1..]
        .iter()
        .map(|l| l.split(',').nth(1).expect("price").parse().expect("number"))
        .collect();
    assert!(prices.is_sorted_by(|a, b| a >= b), "{prices:?}");
    assert!(
        home.run(&[&list[..], &["-o", "md"]].concat())
            .out
            .starts_with("| ")
    );
    assert_eq!(
        home.run(&[&list[..], &["-o", "jsonl"]].concat())
            .out
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
        let mut command = home.command(&["catalog", "list", "--gpu", "H100", "--limit", "2"]);
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
                .out
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
    assert!(wrong.err.contains("workload"), "{}", wrong.err);
    home.run(&["man", "pages"]).exits(0);
    assert!(Path::new(&home.path("pages/lessee-catalog-list.1")).exists());
    assert!(home.run(&["--version"]).exits(0).out.starts_with("lessee "));
    assert!(home.run(&["--version", "-v"]).exits(0).out.contains("202"));
}

#[test]
fn help_speaks_chinese_and_hides_the_field_flags_from_the_short_form() {
    let home = Home::new();
    let short = home.run(&["plan", "-h", "--lang", "zh-CN"]).exits(0).out;
    assert!(
        short.contains("用法：") && short.contains("--budget") && !short.contains("--data-size"),
        "{short}"
    );
    let long = home
        .run(&["plan", "--help", "--lang", "zh-CN"])
        .exits(0)
        .out;
    assert!(
        long.contains("--data-size") && long.contains("数据集大小"),
        "{long}"
    );
    let english = home.run(&["plan", "--help"]).exits(0).out;
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
    let run = home.run(&["catalog", "import", &path, "--dry-run"]);
    assert!(!run.out.contains('\x1b') && !run.err.contains('\x1b'));
    let run = home.run(&["catalog", "show", "\x1b[31mred"]).exits(2);
    assert!(!run.err.contains('\x1b'));
}

#[test]
fn an_export_is_never_written_over_an_input_and_is_tried_before_the_work() {
    let home = Home::new();
    let quote = home.file("quote.csv", "a,b\n1,2\n");
    let list = ["catalog", "list", "--gpu", "H100", "--limit", "1"];
    for input in [vec![quote.as_str()], vec!["./quote.csv"]] {
        let args = ["catalog", "import", "--name", "q", "--export", &quote];
        home.run(&[&args[..], &input].concat())
            .says(2, &["quote.csv", "input"]);
        let same = fs::read_to_string(&quote).expect("works");
        assert_eq!(same, "a,b\n1,2\n");
    }
    // a place that cannot be written: nothing is done
    let run = home.run(&[&list[..], &["--export", "no/such/x.json"]].concat());
    run.says(2, &["no/such/x.json"]);
    assert_eq!(run.out, "");
    // an export of yesterday is replaced
    let file = home.path("list.json");
    let export = ["--export", file.to_str().expect("works")];
    for _ in 0..2 {
        home.run(&[&list[..], &export].concat()).exits(0);
    }
    let names = fs::read_dir(home.path("")).expect("works");
    let left: Vec<_> = names
        .filter_map(|e| e.expect("works").file_name().into_string().ok())
        .filter(|n| n.ends_with(".tmp"))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn an_export_goes_through_a_link_and_keeps_its_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = Home::new();
    let real = home.file("real.json", "{}");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).expect("works");
    let link = home.path("link.json");
    symlink(&real, &link).expect("works");
    let list = ["catalog", "list", "--gpu", "H100", "--limit", "1"];
    home.run(&[&list[..], &["--export", link.to_str().expect("works")]].concat())
        .exits(0);
    assert!(link.symlink_metadata().expect("works").is_symlink());
    assert!(fs::read_to_string(&real).expect("works").len() > 10);
    let mode = fs::metadata(&real).expect("works").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[cfg(target_os = "linux")]
#[test]
fn a_stdout_that_is_full_is_not_bad_usage() {
    let home = Home::new();
    let mut command = home.command(&["config", "path"]);
    command.stdout(
        fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("works"),
    );
    let output = command.output().expect("works");
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr).expect("works");
    assert!(said.contains("<stdout>"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_settings_file_that_nobody_named_and_cannot_be_reached_is_a_warning() {
    let home = Home::new();
    let none = [
        ("HOME", "/dev/null"),
        ("XDG_CONFIG_HOME", "/dev/null/config"),
    ];
    home.run_with(&["config", "path"], &none).exits(0);
    fs::create_dir_all(home.path("config/lessee")).expect("works");
    let file = home.path("config/lessee/config.toml");
    // leads to itself
    std::os::unix::fs::symlink(&file, &file).expect("works");
    let run = home.run(&["config", "path"]).exits(0);
    assert!(run.err.contains("config.toml"), "{}", run.err);
    fs::remove_file(&file).expect("works");
    fs::write(&file, "lagn = 1").expect("works");
    home.run(&["config", "path"]).exits(2);
}
