//! What a probe's report is held against: figures by GPU model, and how much less than a promise is no breach of it.

use super::rows::read;
use crate::CatalogError;
use crate::build::Interner;
use lessee_accept::{Expectation, Metric, Rules, Yardstick};
use lessee_model::Form;
use std::cell::RefCell;

pub(super) fn yardstick(strings: &RefCell<Interner>) -> Result<Yardstick, CatalogError> {
    let text = include_str!("../../../../data/probe-judge.toml");
    let rules = Rules::from_toml(text).map_err(|what| CatalogError::BuiltIn {
        file: "probe-judge.toml",
        line: 0,
        what,
    })?;
    let mut table: Vec<Expectation> = Vec::new();
    for (file, text) in [
        (
            "probe-expected.csv",
            include_str!("../../../../data/probe-expected.csv"),
        ),
        (
            "cc-by-sa/probe-expected.csv",
            include_str!("../../../../data/cc-by-sa/probe-expected.csv"),
        ),
    ] {
        read(file, text, strings, |r| {
            let row = Expectation {
                gpu: r.text("gpu")?,
                form: r.opt::<Form>("form")?,
                memory_gb: r.opt("memory_gb")?,
                metric: r.need::<Metric>("metric")?,
                conditions: r.text("conditions")?,
                floor: r.opt("floor")?,
                low: r.opt("low")?,
                typical: r.opt("typical")?,
                high: r.opt("high")?,
                why: r.why()?,
            };
            if r.get("unit")? != row.metric.unit() {
                return Err(format!("unit: `{}`", r.get("unit")?));
            }
            let marks = [row.floor, row.low, row.typical, row.high];
            let marks: Vec<f64> = marks.into_iter().flatten().collect();
            let rises = marks.windows(2).all(|pair| pair[0] <= pair[1]);
            if marks.is_empty() || !rises || marks[0] <= 0.0 {
                return Err("floor, low, typical and high do not rise".to_owned());
            }
            table.push(row);
            Ok(())
        })?;
    }
    Ok(Yardstick { rules, table })
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_row_is_of_a_known_gpu_and_stands_once() {
        let facts = crate::builtin().expect("facts");
        let mut seen = std::collections::BTreeSet::new();
        for row in &facts.judge.table {
            let gpu = lessee_model::GpuRef {
                model: row.gpu.clone(),
                form: row.form,
                memory_gb: row.memory_gb,
            };
            assert!(facts.gpus.spec(&gpu).is_some(), "{gpu}");
            let key = format!("{gpu} {} {}", row.metric.as_str(), row.conditions);
            assert!(seen.insert(key.clone()), "twice: {key}");
        }
        assert!(seen.len() > 30);
    }
}
