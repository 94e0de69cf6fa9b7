//! Tables of measurements from a folder. Tables with the three column sets are read as they are; others are
//! turned into such rows by a file of `load/`.

mod blender;
mod lines;
mod nvbandwidth;
mod rented_llamacpp;
mod rented_vllm;

use anyhow::{Context, Result};
use lessee_perf::table::{Row, TableKind};
use lines::Lines;
use std::path::Path;

pub(crate) struct LoadedRow {
    /// File name, for the report.
    pub(crate) file: String,
    pub(crate) row: Row,
}

#[derive(Default)]
pub(crate) struct Loaded {
    pub(crate) rows: Vec<LoadedRow>,
}

/// Turns a table with other columns into rows.
type Reader = fn(&Path, &mut Loaded) -> Result<()>;

/// Everything below `dir` (`perf/dev/*`), and what the repository carries where `dir` lacks it.
pub(crate) fn tables(dir: Option<&Path>, root: &Path) -> Result<Loaded> {
    let mut loaded = Loaded::default();
    if dir.is_none_or(|dir| !dir.join("perf/dev/render").is_dir()) {
        blender::read(&root.join("data/render/blender_scores.csv"), &mut loaded)?;
    }
    let Some(dir) = dir else {
        return Ok(loaded);
    };
    for (folder, kind) in [
        ("inference", TableKind::Inference),
        ("training", TableKind::Training),
        ("render", TableKind::Render),
    ] {
        let folder = dir.join("perf/dev").join(folder);
        for path in csv_files(&folder)? {
            read(&path, kind, &mut loaded).with_context(|| path.display().to_string())?;
        }
    }
    let served = dir.join("measured/serving");
    let readers: [(&str, Reader); 2] = [
        ("sc_vllm.csv", rented_vllm::read),
        ("sc_llamacpp_gpu.csv", rented_llamacpp::read),
    ];
    for (name, read) in readers {
        let path = served.join(name);
        if path.is_file() {
            read(&path, &mut loaded).with_context(|| path.display().to_string())?;
        }
    }
    let copies = dir.join("probe/expected/nvbandwidth-measured.csv");
    if copies.is_file() {
        nvbandwidth::read(&copies, &mut loaded).with_context(|| copies.display().to_string())?;
    }
    Ok(loaded)
}

/// The tables of a folder in the order of their names; a folder that is not there has none.
fn csv_files(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "csv") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn read(path: &Path, kind: TableKind, loaded: &mut Loaded) -> Result<()> {
    let lines = Lines::read(path)?;
    for line in lines.iter() {
        let row = Row::read(kind, |name| line.get(name))
            .map_err(|(column, text)| anyhow::anyhow!("{column}: {text} is not a number"))?;
        loaded.rows.push(LoadedRow {
            file: lines.name.clone(),
            row,
        });
    }
    Ok(())
}
