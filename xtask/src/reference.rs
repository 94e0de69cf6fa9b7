//! The references in docs/reference/ that are written by the program: commands and workload fields.

use anyhow::Result;
use serde_json::Value;
use std::fmt::Write as _;

const HEAD: &str = "<!-- written by `cargo xtask generate` -->\n\n";

/// Help of every command, one section each.
pub(crate) fn cli(say: &dyn Fn(&[&str]) -> Result<String>) -> Result<String> {
    let mut out = format!(
        "{HEAD}# Commands\n\nAs `lessee COMMAND --help` prints them; the common options stand only under `lessee`.\n"
    );
    section(say, &[], &mut out)?;
    Ok(out)
}

fn section(
    say: &dyn Fn(&[&str]) -> Result<String>,
    path: &[String],
    out: &mut String,
) -> Result<()> {
    let mut args: Vec<&str> = path.iter().map(String::as_str).collect();
    args.push("--help");
    let help = say(&args)?;
    let title = ["lessee"]
        .into_iter()
        .chain(path.iter().map(String::as_str));
    let title: Vec<&str> = title.collect();
    let _ = write!(out, "\n## {}\n\n```text\n", title.join(" "));
    let shown = match path {
        [] => help.clone(),
        _ => without_common(&help),
    };
    for line in shown.trim_end().lines() {
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out.push_str("```\n");
    for name in subcommands(&help) {
        let mut inner = path.to_vec();
        inner.push(name);
        section(say, &inner, out)?;
    }
    Ok(())
}

/// The help without the options that every command takes: they stand once, under `lessee`.
fn without_common(help: &str) -> String {
    let heading = |l: &str| l.ends_with(':') && !l.starts_with(' ');
    let mut skipping = false;
    let mut out = String::new();
    for line in help.lines() {
        if heading(line) {
            skipping = line == "Common options:";
        }
        if !skipping {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// Names under `Commands:` of a help text.
fn subcommands(help: &str) -> Vec<String> {
    help.lines()
        .skip_while(|l| l.trim() != "Commands:")
        .skip(1)
        .take_while(|l| !l.trim().is_empty())
        // names are indented by two, wrapped descriptions by more
        .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
        .filter_map(|l| l.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// One table a section of the workload file, from its JSON Schema.
pub(crate) fn workload(schema: &Value) -> String {
    let mut out = format!(
        "{HEAD}# Fields of a workload\n\nEvery field is also a flag of `lessee plan`: `data.size` is `--data-size`. \
         Sizes are `500GB` (1e9) or `16GiB` (2^30), durations `90s`, `30min`, `12h`, `30d`, counts `1.3M`, amounts \
         `12.50 USD`, shares `6%`. Defaults are in `data/defaults.toml`, and an answer lists each one it used.\n"
    );
    table(schema, schema, "", "Top level", &mut out);
    let empty = serde_json::Map::new();
    for (name, field) in schema["properties"].as_object().unwrap_or(&empty) {
        let (inner, _) = resolve(schema, field);
        if inner.get("properties").is_some() {
            let title = format!("[{name}]");
            table(schema, inner, name, &title, &mut out);
            nested(schema, inner, name, &mut out);
        }
    }
    out
}

/// Tables inside a section (`[sweep.trial]`) and lists of tables (`[[render.licences]]`).
fn nested(schema: &Value, section: &Value, path: &str, out: &mut String) {
    let empty = serde_json::Map::new();
    for (name, field) in section["properties"].as_object().unwrap_or(&empty) {
        let (inner, _) = resolve(schema, field);
        let full = format!("{path}.{name}");
        if inner.get("properties").is_some() && inner["type"] == "object" && is_table(inner) {
            table(schema, inner, &full, &format!("[{full}]"), out);
        } else if let Some(items) = inner.get("items") {
            let (item, _) = resolve(schema, items);
            if item.get("properties").is_some() && is_table(item) {
                table(schema, item, &full, &format!("[[{full}]]"), out);
            }
        }
    }
}

/// Money is an object in JSON but one string in a workload.
fn is_table(node: &Value) -> bool {
    node.get("anyOf").is_none() && node["properties"].get("amount").is_none()
}

fn table(schema: &Value, section: &Value, path: &str, title: &str, out: &mut String) {
    let _ = write!(out, "\n## {title}\n");
    if let (Some(about), false) = (section["description"].as_str(), path.is_empty()) {
        let _ = write!(out, "\n{}\n", one_line(about));
    }
    out.push_str("\n| field | value | meaning |\n|---|---|---|\n");
    let empty = serde_json::Map::new();
    for (name, field) in section["properties"].as_object().unwrap_or(&empty) {
        let (inner, _) = resolve(schema, field);
        if path.is_empty() && inner.get("properties").is_some() && is_table(inner) {
            continue; // has a table of its own below
        }
        let about = field["description"]
            .as_str()
            .or(inner["description"].as_str())
            .unwrap_or("");
        let _ = writeln!(
            out,
            "| `{name}` | {} | {} |",
            kind(schema, inner),
            one_line(about)
        );
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}

/// The words a field takes, or its type in a word.
fn kind(schema: &Value, node: &Value) -> String {
    let mut words: Vec<String> = Vec::new();
    for list in [node.get("enum"), node.get("oneOf"), node.get("anyOf")]
        .into_iter()
        .flatten()
    {
        for item in list.as_array().into_iter().flatten() {
            if let Some(word) = item.as_str().or(item["const"].as_str()) {
                words.push(format!("`{word}`"));
            }
            for word in item["enum"].as_array().into_iter().flatten() {
                words.extend(word.as_str().map(|w| format!("`{w}`")));
            }
        }
    }
    if !words.is_empty() {
        return words.join(", ");
    }
    if let Some(items) = node.get("items") {
        let (inner, _) = resolve(schema, items);
        return format!("list of {}", kind(schema, inner));
    }
    let types: Vec<&str> = match &node["type"] {
        Value::String(one) => vec![one],
        Value::Array(many) => many
            .iter()
            .filter_map(Value::as_str)
            .filter(|t| *t != "null")
            .collect(),
        _ => Vec::new(),
    };
    match types.as_slice() {
        ["boolean"] => "`true`, `false`".into(),
        ["number", "string"] => "number or string".into(),
        ["object"] => "table".into(),
        ["number"] | ["integer"] => "number".into(),
        _ => "string".into(),
    }
}

/// Follows `$ref` and the branch of `anyOf` that is not null; the name of the last reference with it.
fn resolve<'a>(schema: &'a Value, node: &'a Value) -> (&'a Value, Option<&'a str>) {
    let mut here = node;
    let mut name = None;
    for _ in 0..8 {
        if let Some(target) = here["$ref"]
            .as_str()
            .and_then(|r| r.strip_prefix("#/$defs/"))
        {
            name = Some(target);
            here = &schema["$defs"][target];
        } else if let Some(branches) = here["anyOf"].as_array() {
            let real: Vec<&Value> = branches.iter().filter(|b| b["type"] != "null").collect();
            match real.as_slice() {
                [one] => here = one,
                _ => break,
            }
        } else {
            break;
        }
    }
    (here, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The table of exit codes is written by hand; the numbers are the contract.
    #[test]
    fn every_exit_code_is_documented() {
        let root = crate::sh::root();
        let page =
            std::fs::read_to_string(root.join("docs/reference/exit-codes.md")).expect("page");
        let code = std::fs::read_to_string(root.join("core/model/src/msg.rs")).expect("code");
        let (_, body) = code.split_once("pub enum Exit {").expect("Exit");
        let (body, _) = body.split_once('}').expect("end of Exit");
        let numbers: Vec<&str> = body
            .lines()
            .filter_map(|l| l.trim().split_once(" = "))
            .map(|(_, number)| number.trim_end_matches(','))
            .collect();
        assert!(numbers.len() >= 10, "{numbers:?}");
        for number in numbers {
            assert!(
                page.contains(&format!("| {number} |")),
                "exit code {number}"
            );
        }
    }

    #[test]
    fn common_options_are_left_out() {
        let help = "About\n\nOptions:\n  -h\n\nCommon options:\n      --lang\n          x\n\nExamples:\n  y\n";
        assert_eq!(
            without_common(help),
            "About\n\nOptions:\n  -h\n\nExamples:\n  y\n"
        );
    }

    #[test]
    fn subcommands_are_read_from_help() {
        let help = "About\n\nUsage: x\n\nCommands:\n  plan  Rank\n          more\n  catalog  Offers\n  help  Print\n\nOptions:\n  -h\n";
        assert_eq!(subcommands(help), ["plan", "catalog"]);
        assert!(subcommands("Usage: x\n").is_empty());
    }

    #[test]
    fn fields_come_from_the_schema() {
        let schema = json!({
            "properties": {
                "name": {"type": ["string", "null"], "description": "A | name."},
                "data": {"anyOf": [{"$ref": "#/$defs/D"}, {"type": "null"}]},
            },
            "$defs": {
                "D": {"type": "object", "description": "Data.", "properties": {
                    "to": {"anyOf": [{"$ref": "#/$defs/To"}, {"type": "null"}], "description": "Where."},
                    "list": {"type": "array", "items": {"$ref": "#/$defs/L"}},
                }},
                "To": {"oneOf": [{"type": "string", "const": "stay"}, {"type": "string", "enum": ["china"]}]},
                "L": {"type": "object", "properties": {"x": {"type": "number"}}},
            },
        });
        let text = workload(&schema);
        assert!(text.contains("| `name` | string | A \\| name. |"), "{text}");
        assert!(text.contains("## [data]\n\nData.\n"), "{text}");
        assert!(
            text.contains("| `to` | `stay`, `china` | Where. |"),
            "{text}"
        );
        assert!(text.contains("## [[data.list]]"), "{text}");
    }
}
