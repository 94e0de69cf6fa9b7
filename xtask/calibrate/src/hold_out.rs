//! Errors on rows that the fit did not see: every GPU type, or model, is left out once.

use crate::families::{Family, HoldOut};
use crate::fit::{Effort, fit, quantile};
use crate::sample::Sample;
use anyhow::{Result, anyhow};
use lessee_perf::formula::Calibration;
use std::collections::{BTreeMap, BTreeSet};

/// One prediction of a row that was left out.
pub(crate) struct Held {
    /// Index into the family's samples.
    pub(crate) sample: usize,
    /// measured / predicted
    pub(crate) ratio: f64,
}

fn key<'a>(family: &Family, sample: &'a Sample) -> &'a str {
    match family.hold_out {
        HoldOut::Gpu => &sample.gpu,
        HoldOut::Model => &sample.model,
        HoldOut::Size => &sample.size,
        HoldOut::Architecture => sample.asked.arch(),
    }
}

pub(crate) fn errors(
    name: &str,
    family: &Family,
    samples: &[&Sample],
    file: &toml::Table,
) -> Result<Vec<Held>> {
    let keys: BTreeSet<&str> = samples.iter().map(|s| key(family, s)).collect();
    let mut held = Vec::new();
    for left_out in keys {
        let rest: Vec<&Sample> = samples
            .iter()
            .copied()
            .filter(|s| key(family, s) != left_out)
            .collect();
        // where nothing is fitted, every row is one that no fit saw
        if rest.is_empty() && !family.free.is_empty() {
            continue;
        }
        let mut trial = file.clone();
        fit(name, family, &rest, file, Effort::Fold)?.put_into(&mut trial, name);
        let calibration = Calibration::from_table(trial).map_err(|e| anyhow!(e))?;
        for (i, s) in samples
            .iter()
            .enumerate()
            .filter(|(_, s)| key(family, s) == left_out)
        {
            let predicted = s.asked.answer(&calibration);
            // an anchor that only the left-out rows had cannot be judged
            if predicted.is_finite() && predicted > 0.0 {
                held.push(Held {
                    sample: i,
                    ratio: s.measured / predicted,
                });
            }
        }
    }
    Ok(held)
}

/// What a family's held-out errors come to.
pub(crate) struct Score {
    pub(crate) name: String,
    pub(crate) rows: usize,
    pub(crate) held: usize,
    pub(crate) in_sample: f64,
    pub(crate) median: f64,
    pub(crate) p90: f64,
    /// Share of held-out values inside the range.
    pub(crate) coverage: f64,
    /// GPU type with the largest median error, and that error.
    pub(crate) worst: (String, f64),
    pub(crate) range: BTreeMap<String, [f64; 2]>,
    pub(crate) hold_out: HoldOut,
    pub(crate) target: Option<f64>,
}

/// Fewer values than this say nothing about a class of their own.
const FEWEST_FOR_A_CLASS: usize = 12;

/// The value at a quantile's rank or the next one outward: between two of them lie no fewer than they promise,
/// however few values there are.
fn outer(values: &mut [f64], q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = q * values.len().saturating_sub(1) as f64;
    let rank = if q < 0.5 { at.floor() } else { at.ceil() };
    values.get(rank as usize).copied().unwrap_or(f64::NAN)
}

impl Score {
    pub(crate) fn of(
        name: &str,
        family: &Family,
        samples: &[&Sample],
        held: &[Held],
        file: &toml::Table,
    ) -> Result<Score> {
        let calibration = Calibration::from_table(file.clone()).map_err(|e| anyhow!(e))?;
        let mut own: Vec<f64> = samples
            .iter()
            .map(|s| (s.asked.answer(&calibration) / s.measured - 1.0).abs())
            .collect();
        let error = |h: &Held| (1.0 / h.ratio - 1.0).abs();
        let mut errors: Vec<f64> = held.iter().map(error).collect();
        let mut ratios: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for h in held {
            let class = samples[h.sample].asked.class();
            ratios.entry(class).or_default().push(h.ratio);
            if class != "all" {
                ratios.entry("all").or_default().push(h.ratio);
            }
        }
        ratios.retain(|class, list| *class == "all" || list.len() >= FEWEST_FOR_A_CLASS);
        let range: BTreeMap<String, [f64; 2]> = ratios
            .iter_mut()
            .map(|(class, list)| {
                (
                    (*class).to_owned(),
                    [outer(list, 0.1).min(1.0), outer(list, 0.9).max(1.0)],
                )
            })
            .collect();
        let inside = held.iter().filter(|h| {
            let asked = &samples[h.sample].asked;
            let class = asked.class();
            if let Some([low, high]) = asked.range(&calibration) {
                return (low..=high).contains(&h.ratio);
            }
            let [low, high] = range
                .get(class)
                .or_else(|| range.get("all"))
                .copied()
                .unwrap_or([1.0; 2]);
            (low..=high).contains(&h.ratio)
        });
        let coverage = inside.count() as f64 / held.len().max(1) as f64;
        let mut by_gpu: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for h in held {
            by_gpu
                .entry(&samples[h.sample].gpu)
                .or_default()
                .push(error(h));
        }
        let worst = by_gpu
            .into_iter()
            .map(|(gpu, mut list)| (gpu.to_owned(), quantile(&mut list, 0.5)))
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or_default();
        Ok(Score {
            name: name.to_owned(),
            rows: samples.len(),
            held: held.len(),
            in_sample: quantile(&mut own, 0.5),
            median: quantile(&mut errors, 0.5),
            p90: quantile(&mut errors, 0.9),
            coverage,
            worst,
            range,
            hold_out: family.hold_out,
            target: family.target,
        })
    }

    pub(crate) fn line(&self) -> String {
        let left_out = match self.hold_out {
            HoldOut::Gpu => "GPU",
            HoldOut::Model => "model",
            HoldOut::Size => "size",
            HoldOut::Architecture => "architecture",
        };
        let target = self.target.map_or_else(String::new, |t| {
            let verdict = if self.median * 100.0 <= t {
                "reached"
            } else {
                "MISSED"
            };
            format!("  target {t:.0} % {verdict}")
        });
        format!(
            "{:<22} rows {:5} held out {:5} by {left_out:<5} median {:5.1} % p90 {:6.1} % in-sample {:5.1} % in range {:4.0} % worst {} {:.0} %{target}",
            self.name,
            self.rows,
            self.held,
            self.median * 100.0,
            self.p90 * 100.0,
            self.in_sample * 100.0,
            self.coverage * 100.0,
            self.worst.0,
            self.worst.1 * 100.0,
        )
    }
}
