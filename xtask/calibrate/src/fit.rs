//! The fit itself: least absolute error of ln(predicted / measured), by Nelder-Mead.
//!
//! Absolute, not squared: every public table holds broken hosts, and one of them must not bend a coefficient.
//! Anchors (constants of known workloads) multiply the formula, so the best anchor for given coefficients is the
//! exponential of the median residual of its rows; only the coefficients are searched.

use crate::families::{Family, Free};
use crate::sample::Sample;
use anyhow::{Context, Result, anyhow};
use basin::{CostFunction, Executor, NelderMead, SimplexProgress};
use lessee_perf::formula::Calibration;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Searches start again from where the last one stopped: a simplex that collapsed too early opens once more.
const ROUNDS: usize = 3;
const ITERATIONS_PER_COEFFICIENT: u64 = 120;

/// How long a search may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// For the coefficients that are written down.
    Whole,
    /// For one of many folds: one round of half the length.
    Fold,
}

pub(crate) struct Fitted {
    pub(crate) coefficients: toml::Table,
    pub(crate) anchors: BTreeMap<String, f64>,
}

impl Fitted {
    fn table(&self) -> toml::Value {
        let mut family = toml::Table::new();
        family.insert(
            "coefficients".into(),
            toml::Value::Table(self.coefficients.clone()),
        );
        if !self.anchors.is_empty() {
            let anchors = self
                .anchors
                .iter()
                .map(|(k, v)| (k.clone(), toml::Value::Float(*v)));
            family.insert("anchors".into(), toml::Value::Table(anchors.collect()));
        }
        toml::Value::Table(family)
    }

    pub(crate) fn put_into(&self, file: &mut toml::Table, name: &str) {
        file.insert(name.to_owned(), self.table());
    }
}

struct Trial<'a> {
    name: &'a str,
    family: &'a Family,
    samples: &'a [&'a Sample],
    /// Of which a trial changes this family only.
    calibration: RefCell<Calibration>,
    anchored: BTreeSet<&'a str>,
}

/// A coefficient between its limits for any coordinate: a logistic curve from low to high, in ratios where both
/// are above zero.
fn inside(free: &Free, u: f64) -> f64 {
    let share = 1.0 / (1.0 + (-u).exp());
    if free.low > 0.0 {
        free.low * (free.high / free.low).powf(share)
    } else {
        free.low + (free.high - free.low) * share
    }
}

fn coordinate(free: &Free) -> f64 {
    let share = if free.low > 0.0 {
        (free.start / free.low).ln() / (free.high / free.low).ln()
    } else {
        (free.start - free.low) / (free.high - free.low)
    };
    let share = share.clamp(0.02, 0.98);
    (share / (1.0 - share)).ln()
}

fn set(table: &mut toml::Table, path: &[String], value: f64) -> Result<()> {
    let (last, parents) = path.split_last().context("empty path")?;
    let mut at = table;
    for key in parents {
        at = at
            .get_mut(key)
            .and_then(toml::Value::as_table_mut)
            .with_context(|| path.join("."))?;
    }
    at.insert(last.clone(), toml::Value::Float(value));
    Ok(())
}

/// The value with half of the weight on either side; pairs of value and weight.
fn weighted_median(values: &mut [(f64, f64)]) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = values.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut below = 0.0;
    let mut pairs = values.iter().peekable();
    while let Some((value, weight)) = pairs.next() {
        below += weight;
        if below > half * (1.0 + 1e-12) {
            return *value;
        }
        if below >= half * (1.0 - 1e-12) {
            return pairs.peek().map_or(*value, |next| (value + next.0) / 2.0);
        }
    }
    f64::NAN
}

/// By linear interpolation between ranks.
pub(crate) fn quantile(values: &mut [f64], q: f64) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    values.sort_by(f64::total_cmp);
    let at = q * (values.len() - 1) as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    values[low] + (values[high] - values[low]) * (at - low as f64)
}

impl Trial<'_> {
    fn coefficients(&self, x: &[f64]) -> Result<toml::Table> {
        let mut table = self.family.start.clone();
        for (free, u) in self.family.free.iter().zip(x) {
            set(&mut table, &free.path, inside(free, *u))?;
        }
        Ok(table)
    }

    /// Puts this family's coefficients and the given anchors into the calibration that the samples are asked with.
    fn put(&self, fitted: &Fitted) -> Result<()> {
        self.calibration
            .borrow_mut()
            .set(self.name, fitted.table())
            .map_err(|e| anyhow!(e))
    }

    /// ln(predicted / measured) of every sample, anchors at their best; and the anchors.
    fn residuals(&self, coefficients: toml::Table) -> Result<(Vec<f64>, Fitted)> {
        let ones = self
            .anchored
            .iter()
            .map(|key| ((*key).to_owned(), 1.0))
            .collect();
        let mut fitted = Fitted {
            coefficients,
            anchors: ones,
        };
        self.put(&fitted)?;
        let calibration = self.calibration.borrow();
        let mut residuals: Vec<f64> = self
            .samples
            .iter()
            .map(|s| {
                let r = (s.asked.answer(&calibration) / s.measured).ln();
                // a trial may leave the formula's domain; far from everything is not infinitely far
                if r.is_finite() {
                    r.clamp(-20.0, 20.0)
                } else {
                    20.0
                }
            })
            .collect();
        for (key, anchor) in &mut fitted.anchors {
            let of_key = |s: &&Sample| s.asked.anchor() == Some(key.as_str());
            let mut own: Vec<(f64, f64)> = self
                .samples
                .iter()
                .zip(&residuals)
                .filter(|(s, _)| of_key(s))
                .map(|(s, r)| (*r, s.asked.weight()))
                .collect();
            let shift = weighted_median(&mut own);
            *anchor = (-shift).exp();
            for (s, r) in self.samples.iter().zip(&mut residuals) {
                if of_key(s) {
                    *r -= shift;
                }
            }
        }
        Ok((residuals, fitted))
    }
}

impl CostFunction for Trial<'_> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = std::convert::Infallible;

    /// Mean absolute residual; rows of one GPU and model count less where they are many, as the square root of
    /// their number, so that one long sweep does not decide alone.
    fn cost(&self, x: &Vec<f64>) -> Result<f64, std::convert::Infallible> {
        let Ok((residuals, _)) = self.coefficients(x).and_then(|c| self.residuals(c)) else {
            return Ok(1e6);
        };
        let mut counts: BTreeMap<(&str, &str), f64> = BTreeMap::new();
        for s in self.samples {
            *counts
                .entry((s.gpu.as_str(), s.model.as_str()))
                .or_default() += 1.0;
        }
        let (mut sum, mut weights) = (0.0, 0.0);
        for (s, r) in self.samples.iter().zip(&residuals) {
            let weight = s.asked.weight() * counts[&(s.gpu.as_str(), s.model.as_str())].powf(-0.5);
            sum += weight * r.abs();
            weights += weight;
        }
        // what the rows cannot tell stays near its start
        let start = self.family.free.iter().map(coordinate);
        let away: f64 = start.zip(x).map(|(s, u)| (u - s).powi(2)).sum();
        Ok(sum / weights.max(1e-9) + self.family.pull * away)
    }
}

/// Coefficients and anchors of one family on these samples. `file` gives the other families.
pub(crate) fn fit(
    name: &str,
    family: &Family,
    samples: &[&Sample],
    file: &toml::Table,
    effort: Effort,
) -> Result<Fitted> {
    let architectures = samples.iter().map(|s| s.asked.arch()).collect();
    let family = &family.only(&architectures);
    let anchored = samples.iter().filter_map(|s| s.asked.anchor()).collect();
    // only this family's own questions are asked: they never look at the others
    let calibration = Calibration::from_table(file.clone()).map_err(|e| anyhow!("{name}: {e}"))?;
    let trial = || Trial {
        name,
        family,
        samples,
        calibration: RefCell::new(calibration.clone()),
        anchored: BTreeSet::clone(&anchored),
    };
    let mut x: Vec<f64> = family.free.iter().map(coordinate).collect();
    if !x.is_empty() {
        let (rounds, iterations) = match effort {
            Effort::Whole => (ROUNDS, ITERATIONS_PER_COEFFICIENT),
            Effort::Fold => (1, ITERATIONS_PER_COEFFICIENT / 2),
        };
        for round in 0..rounds {
            let step = if round == 0 { 0.8 } else { 0.3 };
            let mut simplex = vec![x.clone()];
            for i in 0..x.len() {
                let mut corner = x.clone();
                corner[i] += if corner[i] > 0.0 { -step } else { step };
                simplex.push(corner);
            }
            let done = Executor::new(
                trial(),
                NelderMead::adaptive(),
                SimplexProgress::from_simplex(simplex),
            )
            .max_iter(iterations * x.len() as u64)
            .run()
            .map_err(|e| anyhow!("{name}: {e:?}"))?;
            x.clone_from(done.best_param());
        }
    }
    let trial = trial();
    let (_, fitted) = trial.residuals(trial.coefficients(&x)?)?;
    Ok(fitted)
}
