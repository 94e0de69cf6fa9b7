#![no_main]
//! What people list as needed (requirements, pyproject, lock files, conda, Dockerfile), judged on a machine, and the same text
//! as a quote whose words are looked for.

use lessee_accept::{Gpu, Machine, contract, judge, needs_of_file};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static COMPAT: LazyLock<lessee_accept::Compat> =
    LazyLock::new(|| lessee_catalog::compat().expect("tables"));
static FIELDS: LazyLock<Vec<lessee_accept::ContractField>> =
    LazyLock::new(|| lessee_catalog::contract_table().expect("table"));

const NAMES: [&str; 5] = [
    "requirements.txt",
    "pyproject.toml",
    "uv.lock",
    "environment.yml",
    "Dockerfile",
];

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let machine = Machine {
        driver: Some("550.54.15".to_owned()),
        gpus: vec![Gpu {
            name: Some("NVIDIA A100-SXM4-40GB".to_owned()),
            ..Gpu::default()
        }],
        ..Machine::default()
    };
    let today = jiff::civil::date(2026, 11, 30);
    // every file that it names is itself
    let beside = |_: &str| Some(text.to_string());
    for name in NAMES {
        // a broken file is an answer
        let Ok(file) = needs_of_file(name, &text, &beside) else {
            continue;
        };
        assert!(!file.needs.is_empty(), "a file without needs is a question");
        let findings = judge(&machine, &file.needs, &COMPAT, today);
        let needs = findings.iter().filter(|f| f.rule == "need").count();
        assert_eq!(needs, file.needs.len());
    }
    assert_eq!(contract(&text, &FIELDS).len(), FIELDS.len());
});
