//! `probe/expected/nvbandwidth-measured.csv`: one line a machine, with the link read on the same boot.
//!
//! A line becomes two rows, `host_to_device_gbs` and `device_copy_gbs`, the slowest GPU of the machine each.

use super::lines::Lines;
use super::{Loaded, LoadedRow};
use anyhow::Result;
use lessee_perf::table::{Row, TableKind};
use std::path::Path;

pub(super) fn read(path: &Path, loaded: &mut Loaded) -> Result<()> {
    let lines = Lines::read(path)?;
    for line in lines.iter() {
        let cell = |name: &str| line.cell(name);
        let (vendor, instance) = (cell("vendor"), cell("instance"));
        // virtual GPUs do not tell their link
        let lanes = cell("link_width_current")
            .trim_end_matches('x')
            .parse::<u8>()
            .ok();
        let generation = cell("link_gen_max").parse::<u8>().ok();
        let interconnect = match (generation, lanes) {
            // the label says 4, the copies of all seven sizes of machine are those of generation 3
            (Some(4), Some(lanes)) if vendor == "gcp" && instance.starts_with("a2-") => {
                format!("PCIe 3 x{lanes}")
            }
            (Some(generation), Some(lanes)) => format!("PCIe {generation} x{lanes}"),
            _ => String::new(),
        };
        for (metric, column) in [
            ("host_to_device_gbs", "h2d_min"),
            ("device_copy_gbs", "device_local_copy_min"),
        ] {
            let Ok(value) = cell(column).parse::<f64>() else {
                continue;
            };
            let row = Row {
                table: TableKind::Training,
                source: "SpareCores/sc-inspector-data (CC BY-SA 4.0)".to_owned(),
                gpu: cell("gpu").to_owned(),
                n_gpu: cell("count").parse().ok(),
                metric: metric.to_owned(),
                value: Some(value),
                unit: "GB/s".to_owned(),
                note: format!("{vendor}/{instance}"),
                interconnect: interconnect.clone(),
                ..Row::default()
            };
            loaded.rows.push(LoadedRow {
                file: lines.name.clone(),
                row,
            });
        }
    }
    Ok(())
}
