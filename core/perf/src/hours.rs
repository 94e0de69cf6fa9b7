//! Work known only as hours of a GPU that the user measured on: scaled to another GPU by what it leans on.
//!
//! balanced: the limits of [`crate::formula::vision_limits`], mixed as in the training of convolutional networks;
//! compute: ratio of the rates that matrix products reach; memory bandwidth: ratio of bandwidths. A GPU without
//! matrix units counts with its FP32 rate; if the reference is such a one, FP32 rates are compared.

use crate::nofit::NoFit;
use crate::outcome::{Outcome, Terms, fixed};
use crate::predict::PerfContext;
use crate::range::Class;
use crate::spec::{Device, RateKind};
use lessee_model::{
    Basis, BoundBy, Bytes, GpuRef, Machine, MemoryUse, Msg, WorkUnit,
    perf::Layout,
    workload::{HoursJob, LeansOn, Precision},
};

/// Speed of one device in units of the reference GPU.
pub(crate) struct Ratio {
    pub(crate) value: f64,
    pub(crate) class: Class,
    pub(crate) bound_by: BoundBy,
    compute: f64,
    bandwidth: f64,
}

pub(crate) fn ratio(
    device: &Device<'_>,
    reference: &GpuRef,
    leans_on: LeansOn,
    cx: PerfContext<'_>,
) -> Result<Ratio, NoFit> {
    let base = Device::reference(reference, cx)?;
    let same = base.spec.name == device.spec.name;
    let fit = &cx.tables.calibration.vision_train_renter.coefficients;
    // what matrix products reach, or the data sheet's figure (on which the balanced rule was fitted)
    let compute = |reached: bool| -> Result<f64, NoFit> {
        let (a, b) = (device.rate(Precision::Bf16)?, base.rate(Precision::Bf16)?);
        if b.kind == RateKind::NoMatrixUnits {
            // what was measured did not use matrix units, so having them promises nothing
            return match (device.fp32(), base.fp32()) {
                (Some(x), Some(y)) => Ok(x / y),
                _ => Err(NoFit::no_rate(&device.spec.name, "FP32 rate")),
            };
        }
        // a device without them runs the same products at its FP32 rate
        if reached {
            Ok(a.dense * a.gemm_share / (b.dense * b.gemm_share))
        } else {
            Ok(a.dense / b.dense)
        }
    };
    let bandwidth = || -> Result<f64, NoFit> { Ok(device.bandwidth()? / base.bandwidth()?) };
    let unmeasured_same = same && !device.measured && device.fraction >= 0.999;
    let (value, c, b, bound_by) = match leans_on {
        // the very GPU of the measurement: nothing to scale, whatever its data sheet lacks
        _ if unmeasured_same => (1.0, 1.0, 1.0, BoundBy::Compute),
        LeansOn::Balanced => {
            let (c, b) = (compute(false)?, bandwidth()?);
            let dense = base.rate(Precision::Bf16)?.dense;
            let intensity = cx.tables.coefficients.intensity.cnn;
            let mix = fit.mix(crate::formula::vision_train_renter::Kind::Conv, intensity);
            let time = |device: &Device<'_>, dense: f64| -> Result<f64, NoFit> {
                Ok(fit.time(&device.chip(dense)?, mix, 1.0))
            };
            let value = time(&base, dense)? / time(device, dense * c)?;
            let by = if b < c {
                BoundBy::MemoryBandwidth
            } else {
                BoundBy::Compute
            };
            (value, c, b, by)
        }
        LeansOn::Compute => {
            let c = compute(true)?;
            (c, c, f64::NAN, BoundBy::Compute)
        }
        LeansOn::MemoryBandwidth => {
            let b = bandwidth()?;
            (b, f64::NAN, b, BoundBy::MemoryBandwidth)
        }
    };
    let class = if same {
        Class::Calibrated
    } else {
        device.class(&[], RateKind::Native)
    };
    Ok(Ratio {
        value,
        class,
        bound_by,
        compute: c,
        bandwidth: b,
    })
}

/// Fails unless one device has `memory`.
pub(crate) fn check_memory(memory: Bytes, device: &Device<'_>) -> Result<MemoryUse, NoFit> {
    if memory.0 > device.memory {
        return Err(NoFit::memory(memory.0, device.memory));
    }
    Ok(MemoryUse {
        activations: memory.0,
        usable: device.memory,
        ..MemoryUse::default()
    })
}

/// Reference-GPU-hours per second of `nodes` machines.
///
/// # Errors
/// `does_not_fit`, `no_spec`, `no_rate`.
pub(crate) fn predict(
    job: &HoursJob,
    machine: &Machine,
    device: &Device<'_>,
    nodes: u32,
    cx: PerfContext<'_>,
) -> Result<Outcome, NoFit> {
    let memory = check_memory(job.memory, device)?;
    let speed = ratio(device, &job.gpu, job.leans_on, cx)?;
    let gpus = job.gpus.min(u32::from(machine.gpu_count) * nodes).max(1);
    let per_second = f64::from(gpus) * speed.value / 3600.0;
    let mut notes = Vec::new();
    device.notes(RateKind::Native, &mut notes);
    let mut terms = Terms::new(cx);
    let fit = cx.tables.calibration.fit("vision_train_renter");
    let source = fit.map_or("", |f| f.source.as_str());
    terms.add(
        "speed_ratio",
        speed.value,
        "x",
        Basis::Modelled,
        source,
        || {
            let id = match job.leans_on {
                LeansOn::Balanced => "formula-ratio-balanced",
                LeansOn::Compute => "formula-ratio-compute",
                LeansOn::MemoryBandwidth => "formula-ratio-bandwidth",
            };
            Msg::new(id)
                .arg("compute", fixed(speed.compute, 3))
                .arg("bandwidth", fixed(speed.bandwidth, 3))
                .arg("gpu", job.gpu.to_string())
        },
    );
    terms.add(
        "gpus",
        f64::from(gpus),
        "GPU",
        Basis::Modelled,
        source,
        || {
            Msg::new("formula-gpus")
                .arg("usable", job.gpus)
                .arg("each", u32::from(machine.gpu_count))
                .arg("nodes", nodes)
        },
    );
    Ok(Outcome {
        steps: None,
        unit: WorkUnit::GpuHour,
        per_second,
        link_low: per_second,
        link_high: per_second,
        class: speed.class,
        fitted: None,
        measured: device.measured,
        bound_by: speed.bound_by,
        memory,
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
