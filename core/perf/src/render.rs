//! Rendering, in frames per second: each GPU renders its own frame.
//!
//! frames/s = GPUs x score / score(reference) / seconds per frame. The score is the Blender benchmark's
//! median of the product; where it was never run, `formula::render_score` answers from the data sheet.

use crate::formula::Question;
use crate::nofit::NoFit;
use crate::outcome::{Outcome, Terms, fixed};
use crate::predict::PerfContext;
use crate::range::Class;
use crate::spec::{Device, RateKind};
use crate::table::blender;
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
    /// Range of the formula's answer.
    fitted: Option<[f64; 2]>,
}

fn score(device: &Device<'_>, cx: PerfContext<'_>) -> Result<Score, NoFit> {
    if let Some(row) = cx.tables.blender(device.spec) {
        return Ok(Score {
            value: row.score * device.fraction,
            runs: row.n,
            fitted: None,
        });
    }
    let asked = blender::query(device.spec)?;
    let calibration = &cx.tables.calibration;
    let value = asked.answer(calibration);
    if !(value.is_finite() && value > 0.0) {
        return Err(NoFit::no_rate(&device.spec.name, "rendering score"));
    }
    let unseen = cx.tables.coefficients.range.unseen_architecture;
    Ok(Score {
        // the formula is of the whole GPU: a slice is scaled by its share
        value: value * device.fraction,
        runs: 0,
        fitted: Some(calibration.range(&asked, unseen)),
    })
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
    let own = score(device, cx)?;
    let mut class = Class::Calibrated;
    let mut fitted = own.fitted;
    let mut notes = Vec::new();
    let mut widen = |s: &Score, notes: &mut Vec<Msg>| {
        if matches!(s.runs, 1 | 2) {
            class = class.max(Class::Outside);
            notes.push(Msg::new("perf-render-few-runs").arg("n", s.runs));
        }
    };
    widen(&own, &mut notes);
    let reference = match &job.reference {
        RenderReference::BlenderScore(score) => *score,
        RenderReference::Gpu(gpu) => {
            let s = score(&Device::reference(gpu, cx)?, cx)?;
            widen(&s, &mut notes);
            // a reference by formula errs the other way round
            if let Some([low, high]) = s.fitted {
                let [l, h] = fitted.unwrap_or([1.0; 2]);
                fitted = Some([l.min(1.0 / high), h.max(1.0 / low)]);
            }
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
    let source = cx
        .tables
        .calibration
        .fit("render_score")
        .map_or("", |fit| fit.source.as_str());
    terms.add("score", own.value, "samples/min", basis, source, || {
        if own.runs > 0 {
            Msg::new("formula-score-median")
                .arg("runs", own.runs)
                .arg("share", fixed(device.fraction, 3))
        } else {
            Msg::new("formula-score-model")
        }
    });
    terms.add(
        "frames",
        per_second,
        "frames/s",
        Basis::Modelled,
        source,
        || {
            Msg::new("formula-frames")
                .arg("gpus", gpus)
                .arg("score", fixed(own.value, 0))
                .arg("reference", fixed(reference, 0))
                .arg("seconds", job.seconds_per_frame.to_string())
        },
    );
    Ok(Outcome {
        steps: None,
        unit: WorkUnit::Frame,
        per_second,
        link_low: per_second,
        link_high: per_second,
        class,
        fitted,
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
