//! Every file under data/ stands in data/LICENSES.md and every row says where it is from, as of when and
//! how sure it is.

use crate::sh;
use crate::steps::Outcome;
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;

const CONFIDENCE: &[&str] = &["verified", "secondary", "general", "unverified"];
/// A dictionary of names: no facts in it, so no sources either.
const DICTIONARY: &str = "gpu/aliases.csv";

pub(crate) fn check() -> Result<Outcome> {
    let data = sh::root().join("data");
    let table = std::fs::read_to_string(data.join("LICENSES.md")).context("data/LICENSES.md")?;
    let listed = listed(&table);
    let there: BTreeSet<String> = sh::files()?
        .iter()
        .filter_map(|p| p.strip_prefix("data/").map(str::to_owned))
        .collect();
    let mut wrong = Vec::new();
    for file in there.difference(&listed) {
        wrong.push(format!("data/{file}: not in data/LICENSES.md"));
    }
    for file in listed.difference(&there) {
        wrong.push(format!("data/LICENSES.md: {file} does not exist"));
    }
    for file in there
        .iter()
        .filter(|f| f.ends_with(".csv") && *f != DICTIONARY)
    {
        let text = std::fs::read_to_string(data.join(file)).with_context(|| file.clone())?;
        wrong.extend(rows_without_source(file, &text));
    }
    if wrong.is_empty() {
        return Ok(Outcome::Passed);
    }
    for line in wrong.iter().take(30) {
        println!("    {line}");
    }
    bail!("{} rows or files without a source or licence", wrong.len());
}

/// First cells of the table, which hold a path in backquotes.
fn listed(table: &str) -> BTreeSet<String> {
    table
        .lines()
        .filter_map(|l| l.strip_prefix("| `")?.split_once('`'))
        .map(|(path, _)| path.to_owned())
        .collect()
}

fn rows_without_source(file: &str, text: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut wrong = Vec::new();
    let headers = match reader.headers() {
        Ok(headers) => headers.clone(),
        Err(e) => return vec![format!("data/{file}: {e}")],
    };
    let at = |name: &str| headers.iter().position(|h| h == name);
    // a machine has one for its GPU, its host and its network
    let confidences: Vec<usize> = (0..headers.len())
        .filter(|i| headers[*i] == *"confidence" || headers[*i].starts_with("confidence_"))
        .collect();
    let (Some(source), Some(as_of), false) = (at("source"), at("as_of"), confidences.is_empty())
    else {
        return vec![format!(
            "data/{file}: no source, as_of or confidence column"
        )];
    };
    for (i, row) in reader.records().enumerate() {
        let line = i + 2;
        let Ok(row) = row else {
            wrong.push(format!("data/{file}:{line}: not a row of this table"));
            continue;
        };
        let cell = |at: usize| row.get(at).unwrap_or("").trim();
        if cell(source).is_empty() {
            wrong.push(format!("data/{file}:{line}: no source"));
        }
        if !is_date(cell(as_of)) {
            wrong.push(format!("data/{file}:{line}: as_of is `{}`", cell(as_of)));
        }
        for at in &confidences {
            // blank beside others: that part of the machine is not known
            let unknown_part = cell(*at).is_empty() && confidences.len() > 1;
            if !unknown_part && !CONFIDENCE.contains(&cell(*at)) {
                wrong.push(format!(
                    "data/{file}:{line}: {} is `{}`",
                    &headers[*at],
                    cell(*at)
                ));
            }
        }
    }
    wrong
}

/// YYYY, YYYY-MM or YYYY-MM-DD.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let digits = |s: &str, n: usize| s.len() == n && s.bytes().all(|b| b.is_ascii_digit());
    match parts.as_slice() {
        [y] => digits(y, 4),
        [y, m] => digits(y, 4) && digits(m, 2),
        [y, m, d] => digits(y, 4) && digits(m, 2) && digits(d, 2),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_need_source_date_and_confidence() {
        let good = "a,source,as_of,confidence\n1,\"x, y\",2026-11,general\n";
        assert!(rows_without_source("f", good).is_empty());
        let bad = "a,source,as_of,confidence\n1,,soon,sure\n";
        assert_eq!(rows_without_source("f", bad).len(), 3);
        assert_eq!(rows_without_source("f", "a,b\n1,2\n").len(), 1);
    }

    #[test]
    fn the_table_lists_files() {
        let files = listed("| file | x |\n| `a/b.csv` | MIT |\n| `c.toml` | own |\n");
        assert_eq!(files.len(), 2);
        assert!(files.contains("a/b.csv"));
    }
}
