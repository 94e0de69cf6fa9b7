//! What is written by the program itself and committed, so that it can be read without it: the JSON
//! Schemas, the references of commands and workload fields, the output shown in the READMEs.
//! With `--check` nothing is written and a stale file is an error.

use crate::steps::Outcome;
use crate::{readme, reference, sh};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The clock of the output shown in the READMEs: the ages of prices depend on it.
const NOW: &str = "2026-11-30T12:00:00Z";
/// Width of that output.
const WIDTH: &str = "100";
/// README, language, and the line over the bill of the first option.
const READMES: [(&str, &str, &str); 2] = [
    ("README.md", "en", "The bill of #1"),
    ("README.zh-CN.md", "zh-CN", "第 1 名的账单"),
];
const OPEN: &str = "<!-- plan-output -->";
const CLOSE: &str = "<!-- /plan-output -->";

pub(crate) fn run(check: bool) -> Result<Outcome> {
    let binary = sh::release_binary()?;
    let home = sh::scratch("generate")?;
    let wanted = files(&binary, &home)?;
    let mut stale = Vec::new();
    for (path, text) in &wanted {
        let full = sh::root().join(path);
        if std::fs::read_to_string(&full).is_ok_and(|old| old == *text) {
            continue;
        }
        stale.push(path.clone());
        if !check {
            if let Some(dir) = full.parent() {
                std::fs::create_dir_all(dir)?;
            }
            std::fs::write(&full, text).with_context(|| path.clone())?;
            println!("    wrote {path}");
        }
    }
    for path in sh::files()? {
        let schema = path.starts_with("schemas/") && path.ends_with(".json");
        if schema && !wanted.contains_key(&path) {
            stale.push(format!("{path} (no such document any more)"));
            if !check {
                std::fs::remove_file(sh::root().join(&path)).with_context(|| path.clone())?;
                println!("    removed {path}");
            }
        }
    }
    println!("    {} generated files", wanted.len());
    if check && !stale.is_empty() {
        bail!(
            "stale: {}; run `cargo xtask generate` and commit what it writes",
            stale.join(", ")
        );
    }
    Ok(Outcome::Passed)
}

/// Path below the top -> text.
fn files(binary: &Path, home: &Path) -> Result<BTreeMap<String, String>> {
    let say = |args: &[&str]| sh::capture(sh::lessee(binary, home, args));
    let mut out = BTreeMap::new();
    for document in documents(&say(&["schema", "-o", "json"])?)? {
        let text = say(&["schema", &document])?;
        let schema: Value = serde_json::from_str(&text)
            .with_context(|| format!("`lessee schema {document}` is not JSON"))?;
        if document == "workload" {
            out.insert(
                "docs/reference/workload.md".to_owned(),
                reference::workload(&schema),
            );
        }
        out.insert(format!("schemas/{document}.json"), with_newline(&text));
    }
    out.insert("docs/reference/cli.md".to_owned(), reference::cli(&say)?);
    for (path, lang, bill) in READMES {
        let args = [
            "plan",
            "examples/finetune-8b.toml",
            "--lang",
            lang,
            "--now",
            NOW,
        ];
        let mut command = sh::lessee(binary, home, &args);
        command.env("COLUMNS", WIDTH);
        let shown = excerpt(&readme::capture(command).context(path)?, bill)
            .with_context(|| path.to_owned())?;
        let old =
            std::fs::read_to_string(sh::root().join(path)).with_context(|| path.to_owned())?;
        let new = fill(&old, &shown).with_context(|| format!("{path}: no {OPEN} … {CLOSE}"))?;
        out.insert(path.to_owned(), new);
    }
    Ok(out)
}

/// Names of the documents; `models` prints a table, not a schema.
fn documents(list: &str) -> Result<Vec<String>> {
    let list: Value = serde_json::from_str(list).context("`lessee schema -o json`")?;
    let names = list["documents"].as_array().context("no `documents`")?;
    Ok(names
        .iter()
        .filter_map(Value::as_str)
        .filter(|name| *name != "models")
        .map(str::to_owned)
        .collect())
}

/// The answer, the table and the bill: what comes first and what follows the line `bill`.
fn excerpt(output: &str, bill: &str) -> Result<String> {
    let paragraphs: Vec<&str> = output.split("\n\n").map(str::trim_end).collect();
    let at = paragraphs
        .iter()
        .position(|p| p.trim() == bill)
        .with_context(|| format!("the plan has no line `{bill}`"))?;
    match (paragraphs.get(..2), paragraphs.get(at..at + 2)) {
        (Some([answer, table]), Some([title, lines])) => Ok(format!(
            "{answer}\n\n{table}\n\n[...]\n\n{title}\n\n{lines}\n\n[...]"
        )),
        _ => bail!("the plan is shorter than expected"),
    }
}

fn with_newline(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

/// Puts the text as a code block between the two marks.
fn fill(page: &str, shown: &str) -> Option<String> {
    let (head, rest) = page.split_once(OPEN)?;
    let (_, tail) = rest.split_once(CLOSE)?;
    let shown: String = shown
        .lines()
        .map(|l| format!("{}\n", l.trim_end()))
        .collect();
    Some(format!(
        "{head}{OPEN}\n```text\n{}\n```\n{CLOSE}{tail}",
        shown.trim_end()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_is_replaced_and_the_rest_kept() {
        let page = format!("a\n{OPEN}\nold\n{CLOSE}\nb\n");
        let new = fill(&page, "x  \ny\n").expect("marks");
        assert_eq!(new, format!("a\n{OPEN}\n```text\nx\ny\n```\n{CLOSE}\nb\n"));
        assert_eq!(fill(&new, "x\ny").expect("marks"), new);
        assert!(fill("no marks", "x").is_none());
    }

    #[test]
    fn the_excerpt_is_answer_table_and_bill() {
        let output = "answer\n\ntable\n\nnotes\n\nThe bill\n\nline\n\nmore\n";
        assert_eq!(
            excerpt(output, "The bill").expect("bill"),
            "answer\n\ntable\n\n[...]\n\nThe bill\n\nline\n\n[...]"
        );
        assert!(excerpt("answer\n\ntable\n", "The bill").is_err());
    }

    #[test]
    fn the_list_of_documents_is_read() {
        let list = r#"{"documents": ["workload", "plan", "models"]}"#;
        assert_eq!(documents(list).expect("list"), ["workload", "plan"]);
        assert!(documents("{}").is_err());
    }
}
