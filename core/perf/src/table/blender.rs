//! Rows of Blender's benchmark: the score of a device by its data sheet.

use super::{Row, TableContext, names};
use crate::NoFit;
use crate::formula::{Question, render_score};
use lessee_model::{GpuSpec, Msg};

/// # Errors
/// `no_spec`, `not_a_gpu` (the row was rendered on a CPU), `no_rate`.
pub(super) fn question(row: &Row, cx: TableContext<'_>) -> Result<Box<dyn Question>, NoFit> {
    if row.backend.eq_ignore_ascii_case("cpu") {
        return Err(NoFit::new("not_a_gpu", Msg::new("perf-not-a-gpu")));
    }
    let spec = names::gpu(&row.gpu, cx)?;
    let mut query = query(spec)?;
    query.gpus = row.n_gpu.filter(|n| *n >= 1.0).unwrap_or(1.0);
    query.rt_used = !row.backend.eq_ignore_ascii_case("cuda");
    if let Some(runs) = row.n_benchmarks.filter(|n| *n > 0.0) {
        let half = cx.perf.tables.calibration.render_score.coefficients.runs;
        query.weight = runs / (runs + half);
    }
    Ok(Box::new(query))
}

/// What the formula asks of one whole GPU.
///
/// # Errors
/// `no_rate`: no bandwidth, power or number of multiprocessors is known.
pub(crate) fn query(spec: &GpuSpec) -> Result<render_score::Query, NoFit> {
    let known = |x: Option<f64>, what: &'static str| {
        x.filter(|x| x.is_finite() && *x > 0.0)
            .ok_or_else(|| NoFit::no_rate(&spec.name, what))
    };
    let count = spec.sm_count.or(spec.rt_cores).map(f64::from);
    let mut query = render_score::Query::new(
        &spec.arch,
        &spec.vendor,
        spec.rt_cores.is_some_and(|n| n > 0),
    );
    query.multiprocessors = known(count, "multiprocessors")?;
    query.bandwidth_gbs = known(spec.mem_bw_gbs, "memory bandwidth")?;
    query.watt = known(spec.tdp_w, "board power")?;
    Ok(query)
}
