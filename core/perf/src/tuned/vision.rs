//! Training of a vision network on a tuned stack: the speed of MLPerf submitters, by the formula of
//! [`crate::formula::vision_train_tuned`]. Memory and layout are those of the renter's way.

use super::no_tuned;
use crate::formula::Question;
use crate::formula::vision_train_tuned::{Asked, Query};
use crate::nofit::NoFit;
use crate::outcome::{Outcome, Terms};
use crate::predict::Group;
use crate::range::Class;
use crate::spec::RateKind;
use crate::sync::{BusKind, bus};
use crate::vision;
use lessee_model::{
    Basis, BoundBy, Msg,
    workload::{Data, Method, Precision, TrainJob},
};

/// Samples per second of `group`.
///
/// # Errors
/// `no_tuned` where the rounds did not train the network, or not so; those of the renter's formula.
pub(super) fn predict(job: &TrainJob, data: &Data, group: &Group<'_>) -> Result<Outcome, NoFit> {
    let (cx, device) = (group.cx, group.device);
    let calibration = &cx.tables.calibration;
    let benchmarks = &cx.tables.coefficients.tuned.benchmarks;
    let refuse = || no_tuned(&job.model.name);
    let benchmark = benchmarks.get(&*job.model.name).ok_or_else(refuse)?;
    let mixed = !matches!(job.precision, Precision::Fp32 | Precision::Tf32);
    if job.method != Method::Full || !mixed {
        return Err(refuse());
    }
    let rate = device.rate(Precision::Fp16)?;
    let chip = device.chip(rate.dense)?;
    if !chip.watt.is_finite() {
        return Err(NoFit::no_rate(&device.spec.name, "board power"));
    }
    let gpus = f64::from(group.gpus_per_node) * f64::from(group.nodes);
    let linked = group.gpus_per_node == 1
        || bus(group.machine, device, group.gpus_per_node, cx).kind != BusKind::Pcie;
    let asked = Query {
        key: format!("{benchmark}/samples_s"),
        asked: Asked::SamplesPerSecond,
        lookups: false,
        diffusion: false,
        chip,
        arch: device.spec.arch.to_string(),
        gpus,
        several_machines: group.nodes > 1,
        linked,
        batch: None,
    };
    let speed = asked.answer(calibration);
    if !(speed.is_finite() && speed > 0.0) {
        return Err(refuse());
    }
    let way = vision::predict(job, data, data.reads, group)?;
    let architectures = ["Ampere", "Hopper", "Ada", "Blackwell"];
    let mut class = device.class(&architectures, RateKind::Native);
    if rate.kind == RateKind::NoMatrixUnits {
        class = Class::Thin;
    }
    let mut notes = vec![Msg::new("perf-tuned-training")];
    device.notes(rate.kind, &mut notes);
    let mut terms = Terms::new(cx);
    let source = calibration
        .fit(asked.family())
        .map_or("", |f| f.source.as_str());
    terms.add(
        "all_gpus",
        speed,
        "samples/s",
        Basis::Modelled,
        source,
        || {
            Msg::new("formula-tuned-vision")
                .arg("gpus", gpus.to_string())
                .arg("benchmark", benchmark.to_string())
        },
    );
    // what feeds the renter's way is not what a tuned stack is fed by
    let bound_by = match way.bound_by {
        BoundBy::MemoryBandwidth | BoundBy::GradientSync => way.bound_by,
        _ => BoundBy::Compute,
    };
    Ok(Outcome {
        steps: None,
        per_second: speed,
        link_low: speed,
        link_high: speed,
        class,
        fitted: Some(calibration.range(&asked, cx.tables.coefficients.range.unseen_architecture)),
        measured: device.measured,
        bound_by,
        terms,
        notes,
        ..way
    })
}
