//! pyproject.toml of packages, uv and Poetry, and the lock files that are TOML: uv.lock, poetry.lock, pylock.toml.

use super::pip::{label, marker_on_linux};
use super::{BrokenNeeds, NeedsFile, Scope};
use crate::env::name_key;
use crate::need::{Need, NeedError, Wheel};
use toml::{Table, Value};

/// Groups and extras that a machine with a GPU is set up with.
const GROUPS: &[&str] = &["dependencies", "dev", "gpu", "cuda", "train"];

pub(super) fn read(text: &str, scope: &mut Scope, out: &mut NeedsFile) -> Result<(), BrokenNeeds> {
    let table: Table = text
        .parse()
        .map_err(|e: toml::de::Error| BrokenNeeds(e.message().to_owned()))?;
    for key in ["package", "packages"] {
        if let Some(Value::Array(packages)) = table.get(key) {
            lock(packages, scope, out);
        }
    }
    project(&Value::Table(table), scope, out);
    Ok(())
}

fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |v, key| v.get(key))
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// A lock pins one version a package, PyTorch with its wheel.
fn lock(packages: &[Value], scope: &mut Scope, out: &mut NeedsFile) {
    for package in packages {
        let (Some(name), Some(version)) = (text(package, "name"), text(package, "version")) else {
            continue;
        };
        if name_key(name) == "torch" {
            scope.locked_torch = Some(version.to_owned());
        }
        scope.take(&format!("{name}=={version}"), out);
    }
}

fn project(table: &Value, scope: &mut Scope, out: &mut NeedsFile) {
    let before = scope.lines.len();
    for path in [
        &["project"][..],
        &["project", "optional-dependencies"],
        &["dependency-groups"],
        &["tool", "uv"],
    ] {
        let Some(Value::Table(lists)) = at(table, path) else {
            continue;
        };
        for (group, list) in lists {
            let meant = GROUPS.contains(&group.as_str()) || group == "dev-dependencies";
            let Some(list) = list.as_array().filter(|_| meant) else {
                continue;
            };
            for need in list.iter().filter_map(Value::as_str) {
                scope.take(need, out);
            }
        }
    }
    let mut poetry: Vec<&Value> = at(table, &["tool", "poetry", "dependencies"])
        .into_iter()
        .collect();
    if let Some(Value::Table(groups)) = at(table, &["tool", "poetry", "group"]) {
        poetry.extend(groups.values().filter_map(|g| g.get("dependencies")));
    }
    for (name, spec) in poetry.iter().filter_map(|t| t.as_table()).flatten() {
        if name != "python" {
            of_poetry(name, spec, table, scope, out);
        }
    }
    let indexes = at(table, &["tool", "uv", "index"]);
    for (line, slot) in &mut scope.lines[before..] {
        let Ok(need) = slot else { continue };
        let source = at(table, &["tool", "uv", "sources", need.package.as_str()]);
        let Some(source) = source.and_then(chosen) else {
            continue;
        };
        if let Some(index) = text(source, "index") {
            need.wheel = wheel(indexes, index);
        } else if let Some(url) = text(source, "url").filter(|u| u.ends_with(".whl")) {
            if let Ok(named) = Need::parse(url) {
                *need = named;
            }
        } else {
            line.push_str(" (tool.uv.sources)");
            *slot = Err(NeedError::Elsewhere);
        }
    }
    // an index that is not for named packages only serves all
    let open = indexes.and_then(Value::as_array).into_iter().flatten();
    let mut open = open.filter(|i| i.get("explicit").and_then(Value::as_bool) != Some(true));
    if scope.wheel.is_none() {
        scope.wheel = open.find_map(|i| {
            let label = label(text(i, "url")?)?;
            Some(Wheel { label, only: true })
        });
    }
}

/// Of several sources the one that a Linux machine takes.
fn chosen(source: &Value) -> Option<&Value> {
    let Some(list) = source.as_array() else {
        return Some(source);
    };
    list.iter()
        .find(|s| text(s, "marker").is_none_or(marker_on_linux))
}

fn wheel(indexes: Option<&Value>, name: &str) -> Option<Wheel> {
    let mut all = indexes.and_then(Value::as_array)?.iter();
    let found = all.find(|i| text(i, "name") == Some(name))?;
    let label = label(text(found, "url")?)?;
    Some(Wheel { label, only: true })
}

/// `torch = "^2.6"`, `torch = {version = "^2.6", source = "pytorch-cu128"}`.
fn of_poetry(name: &str, spec: &Value, table: &Value, scope: &mut Scope, out: &mut NeedsFile) {
    // of several the first that a Linux machine takes
    let Some(spec) = chosen_of_poetry(spec) else {
        return;
    };
    let version = spec.as_str().or_else(|| text(spec, "version"));
    let line = match (version, text(spec, "url")) {
        (_, Some(url)) => format!("{name} @ {url}"),
        (Some("*"), _) => name.to_owned(),
        (Some(v), _) if v.starts_with(|c: char| c.is_ascii_digit()) => format!("{name}=={v}"),
        (Some(v), _) => format!("{name}{v}"),
        (None, None) => format!("{name} @ git+"),
    };
    let before = scope.lines.len();
    scope.take(&line, out);
    let sources = at(table, &["tool", "poetry", "source"]);
    if let Some(source) = text(spec, "source")
        && let Some((_, Ok(need))) = scope.lines.get_mut(before)
    {
        need.wheel = wheel(sources, source);
    }
}

fn chosen_of_poetry(spec: &Value) -> Option<&Value> {
    let fits = |s: &&Value| {
        text(s, "markers").is_none_or(marker_on_linux)
            && text(s, "platform").is_none_or(|p| p == "linux")
    };
    match spec.as_array() {
        Some(list) => list.iter().find(fits),
        None => Some(spec).filter(fits),
    }
}
