//! Rendering, in frames per second: each GPU renders its own frame.
//!
//! frames/s = GPUs x score / score(reference) / seconds per frame. The score is the Blender benchmark's
//! median of the product; where it was never run, k(architecture) x FP32^0.25 x BW^0.66
//! (`[render.cycles]`, 4.8 % leave one out). Parts without ray-tracing cores have a k of their own.

use crate::nofit::NoFit;
use crate::outcome::{Outcome, Terms};
use crate::predict::PerfContext;
use crate::range::Class;
use crate::spec::{Device, RateKind};
use lessee_model::{
    Basis, BoundBy, Machine, MemoryUse, Msg, WorkUnit,
    perf::Layout,
    workload::{RenderJob, RenderReference},
};

struct Score {
    /// Samples per minute of one device.
    value: f64,
    /// Runs behind it; 0 = by formula.
    runs: u32,
}

fn score(device: &Device<'_>, cx: PerfContext<'_>) -> Result<Score, NoFit> {
    if let Some(row) = cx.tables.blender(device.spec) {
        return Ok(Score {
            value: row.score * device.fraction,
            runs: row.n,
        });
    }
    let c = &cx.tables.coefficients.render.cycles;
    let spec = device.spec;
    let with = c.k.get(&*spec.arch);
    let without = c.k_without_rt.get(&*spec.arch);
    let k = match spec.rt_cores {
        Some(n) if n > 0 => with,
        // not said: the cautious figure where the architecture has both kinds
        _ => without.or(with),
    };
    let Some(k) = k else {
        return Err(NoFit::no_rate(&spec.name, "rendering score"));
    };
    let fp32 = device
        .fp32()
        .ok_or_else(|| NoFit::no_rate(&spec.name, "FP32 rate"))?;
    // exponents sum to less than 1: a slice is scaled by its share, not by the formula
    let whole = |x: f64| x / device.fraction;
    let value = k
        * (whole(fp32) / 1e12).powf(c.fp32_exponent)
        * (whole(device.bandwidth()?) / 1e9).powf(c.bw_exponent)
        * device.fraction;
    Ok(Score { value, runs: 0 })
}

/// Frames per second of `nodes` machines.
///
/// # Errors
/// `does_not_fit` (the scene must lie in one GPU), `no_spec`, `no_rate`.
pub(crate) fn predict(
    job: &RenderJob,
    machine: &Machine,
    device: &Device<'_>,
    nodes: u32,
    cx: PerfContext<'_>,
) -> Result<Outcome, NoFit> {
    if job.memory.0 > device.memory {
        return Err(NoFit::memory(job.memory.0, device.memory));
    }
    let c = &cx.tables.coefficients.render.cycles;
    let own = score(device, cx)?;
    let mut class = Class::Calibrated;
    let mut notes = Vec::new();
    let mut widen = |s: &Score, notes: &mut Vec<Msg>| match s.runs {
        0 => class = class.max(Class::Outside),
        1 | 2 => {
            class = class.max(Class::Outside);
            notes.push(Msg::new("perf-render-few-runs").arg("n", s.runs));
        }
        _ => {}
    };
    widen(&own, &mut notes);
    let reference = match &job.reference {
        RenderReference::BlenderScore(score) => *score,
        RenderReference::Gpu(gpu) => {
            let s = score(&Device::reference(gpu, cx)?, cx)?;
            widen(&s, &mut notes);
            s.value
        }
    };
    if reference <= 0.0 || job.seconds_per_frame <= 0.0 {
        return Err(NoFit::no_rate(&device.spec.name, "reference score"));
    }
    device.notes(RateKind::Native, &mut notes);
    if !job.engine.to_ascii_lowercase().contains("cycles") {
        class = class.max(Class::Outside);
        notes.push(Msg::new("perf-render-other-engine").arg("engine", job.engine.as_str()));
    }
    if device.spec.rt_cores == Some(0) {
        notes.push(Msg::new("perf-no-rt-cores").arg("gpu", &*device.spec.name));
    }
    let gpus = u32::from(machine.gpu_count) * nodes;
    let per_second = f64::from(gpus) * own.value / reference / job.seconds_per_frame;
    let mut terms = Terms::new(cx);
    let basis = if own.runs > 0 {
        Basis::Published
    } else {
        Basis::Modelled
    };
    terms.add("score", own.value, "samples/min", basis, &c.source, || {
        if own.runs > 0 {
            format!("median of {} runs x share {:.3}", own.runs, device.fraction)
        } else {
            "k x FP32^0.25 x BW^0.66 x share".to_owned()
        }
    });
    terms.add(
        "frames",
        per_second,
        "frames/s",
        Basis::Modelled,
        &c.source,
        || {
            format!(
                "{gpus} x {:.0} / {reference:.0} / {} s",
                own.value, job.seconds_per_frame
            )
        },
    );
    Ok(Outcome {
        unit: WorkUnit::Frame,
        per_second,
        link_low: per_second,
        link_high: per_second,
        class,
        measured: false,
        bound_by: BoundBy::Compute,
        memory: MemoryUse {
            activations: job.memory.0,
            usable: device.memory,
            ..MemoryUse::default()
        },
        layout: Layout {
            data_parallel: gpus,
            tensor_parallel: 1,
            pipeline_parallel: 1,
            batch: 1.0,
            ..Layout::default()
        },
        terms,
        notes,
        seconds_per_output_token: None,
    })
}
