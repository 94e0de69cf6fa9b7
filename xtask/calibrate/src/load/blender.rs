//! `data/render/blender_scores.csv`, which the repository carries: rendering is fitted without any other folder.

use super::lines::Lines;
use super::{Loaded, LoadedRow};
use anyhow::Result;
use lessee_perf::table::{Row, TableKind};
use std::path::Path;

pub(super) fn read(path: &Path, loaded: &mut Loaded) -> Result<()> {
    let lines = Lines::read(path)?;
    for line in lines.iter() {
        let cell = |name: &str| line.cell(name);
        let row = Row {
            table: TableKind::Render,
            source: cell("source").to_owned(),
            gpu: cell("device").to_owned(),
            n_gpu: Some(1.0),
            metric: "blender_benchmark_score".to_owned(),
            value: cell("score").parse().ok(),
            unit: cell("unit").to_owned(),
            backend: cell("backend").to_owned(),
            blender_version: cell("blender_version").to_owned(),
            n_benchmarks: cell("n").parse().ok(),
            ..Row::default()
        };
        loaded.rows.push(LoadedRow {
            file: "blender_scores.csv".to_owned(),
            row,
        });
    }
    Ok(())
}
