//! `data/calibration.toml` as text: four significant digits, families and keys in alphabetical order.

use crate::families::{Family, HoldOut};
use crate::hold_out::Score;
use crate::sample::Sample;
use anyhow::Result;
use std::collections::BTreeSet;

const HEAD: &str = "\
# Fitted coefficients of the performance model, one table a family, written by `cargo xtask calibrate`. Do not edit:
# starting values, limits and sources stand in xtask/calibrate/families.toml, the formulas in core/perf/src/formula.
# error_*: |predicted / measured - 1| of rows that the fit did not see (held_out), as fractions. range: factors on the
# prediction between which 80 % of those measured values lie.
";

/// Four digits say more than any fit here knows, and keep the file stable between machines.
fn round(x: f64) -> f64 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

fn rounded(value: &mut toml::Value) {
    match value {
        toml::Value::Float(x) => *x = round(*x),
        toml::Value::Array(list) => list.iter_mut().for_each(rounded),
        toml::Value::Table(table) => table.iter_mut().for_each(|(_, v)| rounded(v)),
        _ => {}
    }
}

pub(crate) fn put_fit(
    file: &mut toml::Table,
    name: &str,
    family: &Family,
    samples: &[&Sample],
    score: &Score,
) {
    let architectures: BTreeSet<&str> = samples.iter().map(|s| s.asked.arch()).collect();
    let text = |s: &str| toml::Value::String(s.to_owned());
    let mut fit = toml::Table::new();
    fit.insert("source".into(), text(&family.source));
    fit.insert("rows".into(), toml::Value::Integer(score.rows as i64));
    let held_out = match family.hold_out {
        HoldOut::Gpu => "gpu",
        HoldOut::Model => "model",
        HoldOut::Size => "size",
        HoldOut::Architecture => "architecture",
    };
    fit.insert("held_out".into(), text(held_out));
    fit.insert("error_median".into(), toml::Value::Float(score.median));
    fit.insert("error_p90".into(), toml::Value::Float(score.p90));
    fit.insert(
        "architectures".into(),
        toml::Value::Array(architectures.into_iter().map(text).collect()),
    );
    let range = score.range.iter().map(|(class, [low, high])| {
        let pair = vec![toml::Value::Float(*low), toml::Value::Float(*high)];
        (class.clone(), toml::Value::Array(pair))
    });
    fit.insert("range".into(), toml::Value::Table(range.collect()));
    if let Some(table) = file.get_mut(name).and_then(toml::Value::as_table_mut) {
        table.insert("fit".into(), toml::Value::Table(fit));
    }
}

pub(crate) fn file(file: &toml::Table) -> String {
    let mut value = toml::Value::Table(file.clone());
    rounded(&mut value);
    format!("{HEAD}{}", toml::to_string(&value).unwrap_or_default())
}

/// Equal but for the last digits, which differ between mathematical libraries.
pub(crate) fn same(a: &str, b: &str) -> Result<bool> {
    fn close(a: &toml::Value, b: &toml::Value) -> bool {
        match (a, b) {
            (toml::Value::Float(x), toml::Value::Float(y)) => {
                (x - y).abs() <= 0.02 * x.abs().max(y.abs()) + 1e-12
            }
            (toml::Value::Array(x), toml::Value::Array(y)) => {
                x.len() == y.len() && x.iter().zip(y).all(|(x, y)| close(x, y))
            }
            (toml::Value::Table(x), toml::Value::Table(y)) => {
                x.len() == y.len() && x.iter().all(|(k, v)| y.get(k).is_some_and(|w| close(v, w)))
            }
            _ => a == b,
        }
    }
    let (a, b): (toml::Table, toml::Table) = (toml::from_str(a)?, toml::from_str(b)?);
    Ok(close(&toml::Value::Table(a), &toml::Value::Table(b)))
}
