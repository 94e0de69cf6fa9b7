//! Rows about links and memory: all-reduce, copies between host and GPU, copies inside a GPU.
//!
//! `allreduce_ms`: `global_batch` holds the bytes of the message, `interconnect` says NVLink or PCIe; blank means
//! what the GPU's form suggests. `host_to_device_gbs`: `interconnect` may name the slot as wired, `PCIe 4 x8`;
//! otherwise the card's own. `device_copy_gbs`: nothing but the GPU.

use super::{Row, TableContext, names};
use crate::NoFit;
use crate::formula::{Question, allreduce_nvlink, allreduce_pcie, device_copy, host_copy};
use lessee_model::{Form, GpuSpec, Msg};

fn known(x: Option<f64>) -> Option<f64> {
    x.filter(|x| x.is_finite() && *x > 0.0)
}

/// # Errors
/// `no_spec`, `no_rate`, `no_size`, `several_nodes`, `slice`, `unknown_metric`.
pub(super) fn question(row: &Row, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    let spec = names::gpu(&row.gpu, cx)?;
    match row.metric.as_str() {
        "host_to_device_gbs" => host_to_device(row, spec),
        "device_copy_gbs" => device(row, spec),
        _ => all_reduce(row, spec, cx),
    }
}

fn all_reduce(row: &Row, spec: &GpuSpec, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    if row.nodes.is_some_and(|n| n > 1.0) {
        return Err(NoFit::new("several_nodes", Msg::new("perf-several-nodes")));
    }
    let bytes =
        known(row.global_batch).ok_or_else(|| NoFit::new("no_size", Msg::new("perf-no-size")))?;
    let gpus = known(row.n_gpu).unwrap_or(2.0);
    let arch = spec.arch.to_string();
    let carrier = row.interconnect.to_ascii_lowercase();
    let linked = if carrier.is_empty() {
        matches!(spec.form, Form::Sxm | Form::Oam | Form::Superchip)
    } else {
        !carrier.contains("pcie")
    };
    if let Some(both_ways) = known(spec.link_total_bidir_gbs).filter(|_| linked) {
        let one_way = both_ways / 2.0 * 1e9;
        return Ok(Box::new(allreduce_nvlink::Query {
            bytes,
            gpus,
            one_way,
            arch,
        }));
    }
    let (generation, lanes, _) = slot(row, spec)?;
    let copy = &cx.perf.tables.calibration.host_copy.coefficients;
    let one_way = copy.one_way(generation, lanes);
    Ok(Box::new(allreduce_pcie::Query {
        bytes,
        gpus,
        one_way,
        arch,
    }))
}

fn host_to_device(row: &Row, spec: &GpuSpec) -> Result<Box<dyn Question>, NoFit> {
    let (generation, lanes, wired) = slot(row, spec)?;
    let arch = spec.arch.to_string();
    Ok(Box::new(host_copy::Query {
        generation,
        lanes,
        wired,
        arch,
    }))
}

fn device(row: &Row, spec: &GpuSpec) -> Result<Box<dyn Question>, NoFit> {
    if is_slice(&row.gpu) {
        return Err(NoFit::new(
            "slice",
            Msg::new("perf-slice-copy").arg("gpu", row.gpu.as_str()),
        ));
    }
    let gbs =
        known(spec.mem_bw_gbs).ok_or_else(|| NoFit::no_rate(&spec.name, "memory bandwidth"))?;
    Ok(Box::new(device_copy::Query {
        bandwidth: gbs * 1e9,
        arch: spec.arch.to_string(),
    }))
}

/// Generation and lanes: from the row where it says so, else the card's own.
fn slot(row: &Row, spec: &GpuSpec) -> Result<(u8, u8, bool), NoFit> {
    if let Some((generation, lanes)) = written_slot(&row.interconnect) {
        return Ok((generation, lanes, true));
    }
    match (spec.pcie_gen, spec.pcie_lanes) {
        (Some(generation), Some(lanes)) => Ok((generation, lanes, false)),
        _ => Err(NoFit::no_rate(&spec.name, "PCIe slot")),
    }
}

/// `PCIe 4 x8`, `pcie gen5 16x`, `PCIe4x16`.
fn written_slot(text: &str) -> Option<(u8, u8)> {
    let text = text.to_ascii_lowercase();
    let rest = text.split_once("pcie")?.1;
    let mut numbers = rest
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|word| word.parse::<u8>().ok());
    let (generation, lanes) = (numbers.next()?, numbers.next()?);
    ((1..=8).contains(&generation) && (1..=32).contains(&lanes)).then_some((generation, lanes))
}

/// A virtual GPU, `L4-6Q`, or a part of a partitioned one, `MIG 1g.10gb`.
fn is_slice(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let profile = upper.rsplit('-').next().unwrap_or("");
    let virtual_gpu = profile
        .strip_suffix(['Q', 'A', 'B', 'C'])
        .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    virtual_gpu || upper.contains("MIG")
}

#[cfg(test)]
mod tests {
    use super::{is_slice, written_slot};

    #[test]
    fn a_slot_is_read_where_both_numbers_are_written() {
        for text in ["PCIe 4 x8", "pcie gen4 8x", "PCIe4x8", "PCIe Gen 4 x 8"] {
            assert_eq!(written_slot(text), Some((4, 8)), "{text}");
        }
        for text in ["PCIe", "PCIe 4", "NVLink", "", "PCIe 99 x16", "PCIe 4 x0"] {
            assert_eq!(written_slot(text), None, "{text}");
        }
    }

    #[test]
    fn virtual_and_partitioned_gpus_are_known_by_their_names() {
        for name in [
            "NVIDIA L4-6Q",
            "GRID T4-16Q",
            "NVIDIA A10-2Q",
            "H100 MIG 1g.10gb",
        ] {
            assert!(is_slice(name), "{name}");
        }
        for name in [
            "Tesla P100-PCIE-16GB",
            "NVIDIA A10G",
            "L4",
            "V100S-PCIE-32GB",
        ] {
            assert!(!is_slice(name), "{name}");
        }
    }
}
