//! `families.toml`: what is free, what is fixed, what is left out in turn.

use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HoldOut {
    Gpu,
    Model,
    /// One size of message or problem, where there is but one GPU type and one model.
    Size,
    /// A whole generation of GPUs, by `--architectures`: are the limits right, or only the neighbours close?
    Architecture,
}

/// One number that the fit may move.
#[derive(Clone, Debug)]
pub(crate) struct Free {
    /// Keys from `coefficients` down to the number.
    pub(crate) path: Vec<String>,
    pub(crate) start: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct Family {
    pub(crate) hold_out: HoldOut,
    pub(crate) source: String,
    /// Median error to be reached, percent, where there is a target.
    pub(crate) target: Option<f64>,
    /// Weight of the squared distance of the coefficients from their start; 0 where the rows alone decide.
    pub(crate) pull: f64,
    pub(crate) free: Vec<Free>,
    /// `coefficients` with every number at its start.
    pub(crate) start: toml::Table,
}

/// Name of a table of coefficients whose keys are architectures.
const BY_ARCHITECTURE: &str = "by_arch";

impl Family {
    /// Without the free coefficients of architectures that no row has: their values would be inventions, and a
    /// left-out architecture must not be judged with what its own rows once gave. The formula's default answers.
    pub(crate) fn only(&self, architectures: &BTreeSet<&str>) -> Family {
        let unseen = |free: &Free| match free.path.as_slice() {
            [.., parent, arch] => {
                parent == BY_ARCHITECTURE && !architectures.contains(arch.as_str())
            }
            _ => false,
        };
        let mut start = self.start.clone();
        for free in self.free.iter().filter(|free| unseen(free)) {
            if let [parents @ .., arch] = free.path.as_slice() {
                let table = parents.iter().try_fold(&mut start, |table, key| {
                    table.get_mut(key).and_then(toml::Value::as_table_mut)
                });
                if let Some(table) = table {
                    table.remove(arch);
                }
            }
        }
        let free = self
            .free
            .iter()
            .filter(|free| !unseen(free))
            .cloned()
            .collect();
        Family {
            free,
            start,
            ..self.clone()
        }
    }

    pub(crate) fn starting_table(&self) -> toml::Table {
        let mut table = toml::Table::new();
        table.insert(
            "coefficients".into(),
            toml::Value::Table(self.start.clone()),
        );
        table
    }
}

pub(crate) fn read(path: &Path) -> Result<BTreeMap<String, Family>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let table: toml::Table = toml::from_str(&text).with_context(|| path.display().to_string())?;
    table
        .into_iter()
        .map(|(name, value)| {
            let family = family(&value).with_context(|| format!("families.toml, [{name}]"))?;
            Ok((name, family))
        })
        .collect()
}

fn family(value: &toml::Value) -> Result<Family> {
    let hold_out = match value.get("hold_out").and_then(toml::Value::as_str) {
        Some("gpu") => HoldOut::Gpu,
        Some("model") => HoldOut::Model,
        Some("size") => HoldOut::Size,
        _ => bail!("hold_out must be \"gpu\", \"model\" or \"size\""),
    };
    let source = value
        .get("source")
        .and_then(toml::Value::as_str)
        .context("source is missing")?;
    let mut free = Vec::new();
    let mut start = toml::Table::new();
    if let Some(coefficients) = value.get("coefficients") {
        let table = coefficients
            .as_table()
            .context("coefficients must be a table")?;
        start = walk(table, &mut Vec::new(), &mut free)?;
    }
    Ok(Family {
        hold_out,
        source: source.to_owned(),
        target: value.get("target_percent").and_then(number),
        pull: value.get("pull").and_then(number).unwrap_or(0.0).max(0.0),
        free,
        start,
    })
}

fn number(value: &toml::Value) -> Option<f64> {
    value
        .as_float()
        .or_else(|| value.as_integer().map(|i| i as f64))
}

fn walk(table: &toml::Table, path: &mut Vec<String>, free: &mut Vec<Free>) -> Result<toml::Table> {
    let mut start = toml::Table::new();
    for (key, value) in table {
        path.push(key.clone());
        let value = match value {
            toml::Value::Table(inner) => toml::Value::Table(walk(inner, path, free)?),
            toml::Value::Array(three) => {
                let three: Option<Vec<f64>> = three.iter().map(number).collect();
                let Some([s, low, high]) = three.as_deref() else {
                    bail!("{}: [start, low, high] expected", path.join("."));
                };
                if !(low <= s && s <= high && low < high) {
                    bail!("{}: low <= start <= high expected", path.join("."));
                }
                free.push(Free {
                    path: path.clone(),
                    start: *s,
                    low: *low,
                    high: *high,
                });
                toml::Value::Float(*s)
            }
            fixed => toml::Value::Float(number(fixed).with_context(|| path.join("."))?),
        };
        start.insert(key.clone(), value);
        path.pop();
    }
    Ok(start)
}
