//! TOML text -> [`WorkloadFile`], with line and column in every error, and single fields from flags.

use super::{WorkloadFile, wording::wording};
use crate::{Explain, Msg};
use std::fmt;

/// What is wrong with a workload, where, and how to mend it.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadError {
    /// File name, `<stdin>`, or a flag such as `--data-size`.
    pub place: String,
    /// 1-based line and column, where the error has a place in the text.
    pub line: Option<(usize, usize)>,
    /// Dotted path of the field, where known.
    pub field: Option<String>,
    pub problem: Msg,
    pub hint: Option<Msg>,
}

impl WorkloadError {
    pub fn new(place: &str, problem: Msg) -> WorkloadError {
        WorkloadError {
            place: place.to_owned(),
            line: None,
            field: None,
            problem,
            hint: None,
        }
    }
}

impl fmt::Display for WorkloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)?;
        if let Some((line, column)) = self.line {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.problem.id)
    }
}

impl std::error::Error for WorkloadError {}

impl Explain for WorkloadError {
    fn msg(&self) -> Msg {
        let place = match self.line {
            Some((line, column)) => format!("{}:{line}:{column}", self.place),
            None => self.place.clone(),
        };
        Msg::new("error-at")
            .arg("place", place)
            .arg("problem", self.problem.clone())
    }
    fn hints(&self) -> Vec<Msg> {
        self.hint.clone().into_iter().collect()
    }
}

/// Parses a workload.
///
/// # Errors
/// Bad TOML, unknown fields (with a suggestion), values of the wrong kind: each with line and column.
pub fn parse_workload(text: &str, place: &str) -> Result<WorkloadFile, WorkloadError> {
    if text.trim().is_empty() {
        return Err(WorkloadError {
            hint: Some(Msg::new("workload-hint-empty")),
            ..WorkloadError::new(place, Msg::new("workload-empty"))
        });
    }
    toml::from_str(text).map_err(|e| from_toml(&e, text, place))
}

/// Parses a workload and lays flags over it; a flag wins over the file.
///
/// # Errors
/// As [`parse_workload`]; for a bad flag the place is the flag.
pub fn parse_workload_with(
    text: &str,
    place: &str,
    flags: &[(String, String)],
) -> Result<WorkloadFile, WorkloadError> {
    let mut file = if text.trim().is_empty() && !flags.is_empty() {
        WorkloadFile::default()
    } else {
        parse_workload(text, place)?
    };
    if flags.is_empty() {
        return Ok(file);
    }
    for (path, value) in flags {
        file = apply_flag(file, path, value)?;
    }
    Ok(file)
}

/// Sets the field at a dotted path from text: `("data.size", "2TB")`. Lists take commas; tables and lists
/// of tables take TOML inline syntax.
///
/// # Errors
/// The value does not fit the field.
pub fn apply_flag(
    file: WorkloadFile,
    path: &str,
    value: &str,
) -> Result<WorkloadFile, WorkloadError> {
    let place = format!("--{}", path.replace(['.', '_'], "-"));
    let fail = |message: String| {
        let (problem, hint) = wording(&message);
        WorkloadError {
            field: Some(path.to_owned()),
            hint,
            ..WorkloadError::new(&place, problem)
        }
    };
    let whole = toml::Value::try_from(&file).map_err(|e| fail(e.to_string()))?;
    let candidates = candidate_values(value);
    let mut last = String::new();
    for candidate in candidates {
        let mut tree = whole.clone();
        insert(&mut tree, path, candidate);
        match tree.try_into::<WorkloadFile>() {
            Ok(file) => return Ok(file),
            Err(e) => {
                if last.is_empty() {
                    last = e.message().to_owned();
                }
            }
        }
    }
    Err(fail(last))
}

/// The readings of a flag's text, most specific first: a string, then what TOML makes of it, then a list.
fn candidate_values(text: &str) -> Vec<toml::Value> {
    let mut out = Vec::new();
    let as_toml = toml::from_str::<toml::Table>(&format!("v = {text}"))
        .ok()
        .and_then(|mut t| t.remove("v"));
    out.push(toml::Value::String(text.to_owned()));
    out.extend(as_toml);
    out.push(toml::Value::Array(
        text.split(',')
            .map(|part| toml::Value::String(part.trim().to_owned()))
            .collect(),
    ));
    out
}

fn insert(tree: &mut toml::Value, path: &str, value: toml::Value) {
    let mut here = tree;
    let mut parts = path.split('.').peekable();
    while let Some(part) = parts.next() {
        let toml::Value::Table(table) = here else {
            return;
        };
        if parts.peek().is_none() {
            table.insert(part.to_owned(), value);
            return;
        }
        here = table
            .entry(part.to_owned())
            .or_insert_with(|| toml::Value::Table(toml::Table::new()));
    }
}

fn from_toml(error: &toml::de::Error, text: &str, place: &str) -> WorkloadError {
    let line = error.span().map(|span| line_and_column(text, span.start));
    let (problem, hint) = wording(error.message());
    WorkloadError {
        line,
        hint,
        ..WorkloadError::new(place, problem)
    }
}

/// 1-based line and column (in characters) of a byte offset.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

/// Line and column of the value at a dotted path, for errors found after parsing.
pub fn locate(text: &str, path: &str) -> Option<(usize, usize)> {
    let (table, _) = toml::de::DeTable::parse_recoverable(text);
    let mut here = table.get_ref();
    let mut parts = path.split('.').peekable();
    let mut found = None;
    while let Some(part) = parts.next() {
        let value = here.get(part)?;
        found = Some(value.span().start);
        match (value.get_ref(), parts.peek()) {
            (toml::de::DeValue::Table(inner), Some(_)) => here = inner,
            (_, Some(_)) => break,
            (_, None) => {}
        }
    }
    found.map(|offset| line_and_column(text, offset))
}

/// Dotted paths of all fields with their doc comments, from the JSON Schema: the source of the flags.
pub fn field_paths() -> Vec<(String, String)> {
    let schema = schemars::schema_for!(WorkloadFile);
    let root = schema.as_value().clone();
    let mut out = Vec::new();
    walk(&root, &root, "", 0, &mut out);
    out
}

fn walk(
    root: &serde_json::Value,
    node: &serde_json::Value,
    prefix: &str,
    depth: usize,
    out: &mut Vec<(String, String)>,
) {
    if depth > 3 {
        return;
    }
    let Some(properties) = node.get("properties").and_then(|p| p.as_object()) else {
        return;
    };
    for (name, field) in properties {
        let path = if prefix.is_empty() {
            name.clone()
        } else {
            format!("{prefix}.{name}")
        };
        let inner = dereference(root, field);
        let about = field
            .get("description")
            .or_else(|| inner.get("description"))
            .and_then(|d| d.as_str())
            .unwrap_or("")
            .to_owned();
        let is_section = inner.get("properties").is_some()
            && inner.get("type").and_then(|t| t.as_str()) == Some("object");
        if is_section {
            walk(root, inner, &path, depth + 1, out);
        } else {
            out.push((path, about));
        }
    }
}

/// Follows `$ref`, and the non-null branch of `anyOf`.
fn dereference<'a>(
    root: &'a serde_json::Value,
    node: &'a serde_json::Value,
) -> &'a serde_json::Value {
    let mut here = node;
    for _ in 0..8 {
        if let Some(name) = here
            .get("$ref")
            .and_then(|r| r.as_str())
            .and_then(|r| r.strip_prefix("#/$defs/"))
        {
            match root.get("$defs").and_then(|d| d.get(name)) {
                Some(next) => here = next,
                None => return here,
            }
        } else if let Some(branches) = here.get("anyOf").and_then(|a| a.as_array()) {
            let mut real = branches
                .iter()
                .filter(|b| b.get("type").and_then(|t| t.as_str()) != Some("null"));
            match (real.next(), real.next()) {
                (Some(only), None) => here = only,
                _ => return here,
            }
        } else {
            return here;
        }
    }
    here
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_fields_name_line_column_and_the_right_word() {
        let text = "kind = \"train\"\n[train]\nmodel = \"gpt2\"\nprecison = \"bf16\"\n";
        let error = parse_workload(text, "w.toml").expect_err("misspelt");
        assert_eq!(error.line, Some((4, 1)));
        assert_eq!(
            error.hint,
            Some(Msg::new("hint-did-you-mean").arg("word", "precision"))
        );
    }

    #[test]
    fn bad_values_name_their_place() {
        let error = parse_workload("[data]\nsize = \"-5GB\"\n", "w.toml").expect_err("negative");
        assert_eq!(error.line, Some((2, 8)));
        let error = parse_workload("kind = \"trian\"", "w.toml").expect_err("variant");
        assert_eq!(
            error.hint,
            Some(Msg::new("hint-did-you-mean").arg("word", "train"))
        );
    }

    #[test]
    fn every_field_is_a_flag() {
        let paths = field_paths();
        assert!(paths.len() > 90, "{}", paths.len());
        for wanted in [
            "kind",
            "finetune.method",
            "data.size",
            "money.labour_rate",
            "sweep.trial.model",
            "constraints.regions",
        ] {
            assert!(paths.iter().any(|(p, _)| p == wanted), "{wanted}");
        }
        let file = WorkloadFile::default();
        let file = apply_flag(file, "data.size", "2TB").expect("size");
        let file = apply_flag(file, "constraints.regions", "eu-*,us-east-1").expect("list");
        let file = apply_flag(file, "constraints.spot", "true").expect("bool");
        let file = apply_flag(file, "money.discounts", "{ aws = \"10%\" }").expect("table");
        assert_eq!(file.data.expect("data").size.expect("size").0, 2e12);
        let constraints = file.constraints.expect("constraints");
        assert_eq!(constraints.regions.expect("list").len(), 2);
        assert_eq!(constraints.spot, Some(true));
        assert_eq!(
            file.money.expect("money").discounts.expect("table")["aws"],
            "10%"
        );
        let error = apply_flag(WorkloadFile::default(), "data.size", "-2TB").expect_err("negative");
        assert_eq!(error.place, "--data-size");
    }
}
