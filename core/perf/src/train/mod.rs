//! Training of language models, in tokens per second.
//!
//! What one GPU computes per token is the fitted formula of [`crate::formula::train_llm`] in its renter tier. On
//! top, per optimizer step: gradient sync over the link that the machine really has, partly hidden behind the
//! backward pass (wholly where a link joins the GPUs: the fit has that in it); with sharded weights two all-gathers
//! per micro-batch; with tensor parallel four all-reduces a layer (six when recomputing), never hidden.
//!
//! The layout is searched: tensor parallel inside a machine x recomputation x sharding inside a machine
//! or over all of them x ZeRO stage; of what fits, the fastest wins.

mod layout;
pub(crate) mod shape;

use crate::PerfContext;
use crate::feed::{Appetite, ceiling};
use crate::formula::train_llm::{Compute, Format, Processor, Shape, Tier, Trained, Work, compute};
use crate::memory::Footprint;
use crate::nofit::NoFit;
use crate::outcome::{Outcome, Terms, fixed, power};
use crate::predict::Group;
use crate::range::Class;
use crate::spec::Rate;
use crate::step::{StepSeconds, Steps};
use crate::sync::{BusKind, bus, net};
use crate::table::llm_training::in_numbers;
use layout::{Candidate, Problem};
use lessee_model::{
    Basis, BoundBy, Msg, WorkUnit,
    workload::{Data, Method, Precision, TrainJob},
};

const FAMILY: &str = "train_llm";
const FAMILY_MIXTURES: &str = "train_llm_moe";

/// The GPU in the numbers of the formula, and how its rate came about.
fn processor(job: &TrainJob, group: &Group<'_>) -> Result<(Processor, Rate), NoFit> {
    let device = group.device;
    // 4-bit and integer formats are for storage: renters' trainers multiply in 8 or 16 bit
    let (precision, format) = match job.precision {
        p @ (Precision::Fp32 | Precision::Tf32 | Precision::Fp16 | Precision::Bf16) => {
            (p, Format::Half)
        }
        Precision::Fp8 | Precision::Fp4 => (Precision::Fp8, Format::Fp8),
        Precision::Int8 | Precision::Int4 => (Precision::Bf16, Format::Half),
    };
    let rate = device.rate(precision)?;
    let half = if is_wide(job) {
        rate
    } else {
        device.rate(Precision::Bf16)?
    };
    Ok((in_numbers(rate, format, half, device.bandwidth()?), rate))
}

/// Values take 4 bytes.
fn is_wide(job: &TrainJob) -> bool {
    matches!(job.precision, Precision::Fp32 | Precision::Tf32)
}

/// Without and with recomputation.
fn parts(job: &TrainJob, gpu: &Processor, shape: &Shape, cx: PerfContext<'_>) -> [Compute; 2] {
    let calibration = &cx.tables.calibration;
    let routed = calibration.train_llm_moe.coefficients.routed_elements;
    [false, true].map(|recompute| {
        let work = Work {
            sequence: job.seq_len,
            recompute,
            trained: match job.method {
                Method::Full => Trained::All,
                Method::Lora => Trained::Adapters,
                Method::Qlora => Trained::AdaptersOnFourBit,
            },
        };
        let c = &calibration.train_llm.coefficients;
        let part = compute(gpu, shape, &work, Tier::Renter, routed, c);
        let width = if is_wide(job) { 2.0 } else { 1.0 };
        Compute {
            elements: part.elements * width,
            ..part
        }
    })
}

/// Tokens per second of `group` on `job`. `reads` passes over the data happen during the whole job.
///
/// # Errors
/// `does_not_fit` in any layout, `no_rate`, `model_unsuitable`.
pub(crate) fn predict(
    job: &TrainJob,
    data: &Data,
    reads: f64,
    group: &Group<'_>,
) -> Result<Outcome, NoFit> {
    let cx = group.cx;
    let c = &cx.tables.coefficients;
    group
        .device
        .at_least_capability(c.train.software.min_compute_capability)?;
    let shape = shape::shape(&job.model)?;
    let per_machine = f64::from(group.gpus_per_node);
    let nodes = f64::from(group.nodes);
    let gpus = per_machine * nodes;
    let (gpu, rate) = processor(job, group)?;
    let footprint = Footprint::of(job, c);
    let problem = Problem {
        job,
        c,
        footprint,
        layers: shape.layers,
        hidden: shape.hidden,
        rate,
        parts: parts(job, &gpu, &shape, cx),
        gpus,
        per_machine,
        nodes,
        usable: group.device.memory * c.memory.training.usable_fraction,
        bus: bus(group.machine, group.device, group.gpus_per_node, cx),
        net: net(group.machine, cx),
        gradient_bytes: footprint.gradients,
    };
    let best = problem
        .search()
        .map_err(|needed| NoFit::memory(needed, problem.usable))?;
    let cpu = job
        .cpu_seconds_per_sample
        .map_or(c.feed.cpu_seconds_per_token, |s| s / job.seq_len);
    let appetite = Appetite::new(data, reads, job.units, cpu, group.machine, cx);
    let limit = ceiling(
        group.machine,
        problem.net,
        appetite,
        data.storage,
        cx,
        // a probe feeds samples, not tokens
        false,
    );
    let fed = limit.rate * nodes * group.host_share;
    let at = |bus: f64| problem.speed(&best, problem.step(&best, bus)).min(fed);
    let bound_by = if fed < best.per_second {
        limit.by
    } else if best.step.sync + best.step.tensor > best.step.compute {
        BoundBy::GradientSync
    } else {
        BoundBy::Compute
    };
    let (class, notes) = judge(&problem, &best, group);
    let mixture = shape.routed > 0.0;
    let fitted = cx.tables.calibration.range_of(
        if mixture { FAMILY_MIXTURES } else { FAMILY },
        "renter",
        &group.device.spec.arch,
        c.range.unseen_architecture,
    );
    // nobody says that the user's trainer is the one of the fit
    let fitted = [
        fitted[0].min(c.range.calibrated[0]),
        fitted[1].max(c.range.calibrated[1]),
    ];
    Ok(Outcome {
        unit: WorkUnit::Token,
        per_second: best.per_second.min(fed),
        link_low: at(problem.bus.low),
        link_high: at(problem.bus.high),
        class,
        fitted: Some(fitted),
        measured: group.device.measured,
        bound_by,
        memory: best.memory,
        layout: best.layout,
        terms: terms(&problem, &best, fed, group),
        notes,
        seconds_per_output_token: None,
        steps: Some(Steps {
            at: [problem.bus.low, problem.bus.mid, problem.bus.high].map(|bus| {
                let step = problem.step(&best, bus);
                StepSeconds {
                    compute: step.compute,
                    sync: step.sync,
                    tensor: step.tensor,
                    total: step.total,
                }
            }),
            bus: problem.bus,
        }),
    })
}

/// How wide the range must be, and what to tell the user.
fn judge(p: &Problem<'_>, best: &Candidate, group: &Group<'_>) -> (Class, Vec<Msg>) {
    let fit = group.cx.tables.calibration.fit(FAMILY);
    let fitted: Vec<&str> = fit
        .iter()
        .flat_map(|f| f.architectures.iter().map(String::as_str))
        .collect();
    let mut class = group.device.class(&fitted, p.rate.kind);
    let mut notes = Vec::new();
    group.device.notes(p.rate.kind, &mut notes);
    if p.job.method != Method::Full || p.job.precision == Precision::Fp8 {
        class = class.max(Class::Outside);
    }
    if p.job.model.active_params < p.job.model.params {
        class = Class::Thin;
        notes.push(Msg::new("perf-mixture"));
    }
    if p.nodes > 1.0 {
        class = Class::Thin;
        if p.net.assumed {
            let gbps = p.c.allreduce.node_to_node.assumed_gbps;
            notes.push(Msg::new("perf-network-assumed").arg("gbps", gbps));
        }
    }
    if p.bus.kind == BusKind::Pcie {
        class = class.max(Class::Outside);
        let lost = 1.0 - best.step.compute / best.step.total;
        notes.push(Msg::new("perf-pcie-sync").arg("lost", lost));
    }
    if best.layout.activation_checkpointing && p.job.activation_checkpointing.is_none() {
        notes.push(Msg::new("perf-checkpointing-chosen"));
    }
    if group.device.memory_nominal {
        notes.push(Msg::new("perf-memory-nominal"));
    }
    (class, notes)
}

fn terms(p: &Problem<'_>, best: &Candidate, fed: f64, group: &Group<'_>) -> Terms {
    let mut t = Terms::new(group.cx);
    let source = group
        .cx
        .tables
        .calibration
        .fit(FAMILY)
        .map_or("calibration.toml", |f| f.source.as_str());
    let (layout, step) = (best.layout, best.step);
    let part = p.part(layout);
    let again = u32::from(layout.activation_checkpointing);
    let matmul = || {
        let least = if p.job.method == Method::Full { 6 } else { 4 };
        Msg::new("formula-matmul")
            .arg("times", least + 2 * again)
            .arg("params", power(p.job.model.active_params))
            .arg("gemm", fixed(p.rate.gemm_share, 2))
            .arg("dense", power(p.rate.dense))
    };
    let attention = || {
        Msg::new("formula-attention")
            .arg("layers", p.layers.to_string())
            .arg("hidden", p.hidden.to_string())
            .arg("tokens", p.job.seq_len.to_string())
            .arg("times", 3 + again)
    };
    let elements = || {
        let gbs = group.device.bandwidth().map_or(0.0, |b| b / 1e9);
        Msg::new("formula-element-wise")
            .arg("layers", p.layers.to_string())
            .arg("hidden", p.hidden.to_string())
            .arg("times", 3 + again)
            .arg("vocab", p.job.model.vocab.unwrap_or(0.0).to_string())
            .arg("gbs", fixed(gbs, 0))
    };
    t.add(
        "matmul",
        part.matmul,
        "s/token",
        Basis::Modelled,
        source,
        matmul,
    );
    t.add(
        "attention",
        part.attention,
        "s/token",
        Basis::Modelled,
        source,
        attention,
    );
    t.add(
        "element_wise",
        part.elements,
        "s/token",
        Basis::Modelled,
        source,
        elements,
    );
    t.add(
        "compute",
        step.compute,
        "s",
        Basis::Modelled,
        source,
        || {
            Msg::new("formula-step-compute")
                .arg("tokens", fixed(best.per_replica * p.job.seq_len, 0))
                .arg("seconds", power(part.per_token()))
                .arg("tp", layout.tensor_parallel)
                .arg("micro", best.micro_steps.to_string())
                .arg("each", power(part.per_micro_batch))
        },
    );
    let (link, basis) = p.bus.source(group.cx);
    if p.gpus > 1.0 {
        t.add("gradient_sync", step.sync, "s", basis, link, || {
            Msg::new("formula-gradient-sync")
                .arg("bytes", power(p.gradient_bytes))
                .arg("zero", u32::from(layout.zero_stage))
                .arg("gpus", p.per_machine.to_string())
                .arg("nodes", p.nodes.to_string())
                .arg("mid", fixed(p.bus.mid / 1e9, 1))
                .arg("low", fixed(p.bus.low / 1e9, 1))
                .arg("high", fixed(p.bus.high / 1e9, 1))
                .arg("net", fixed(p.net.collective / 1e9, 2))
        });
        t.add("tensor_parallel", step.tensor, "s", basis, link, || {
            Msg::new("formula-tensor-parallel").arg("tp", layout.tensor_parallel)
        });
    }
    t.add("step", step.total, "s", Basis::Modelled, source, || {
        Msg::new("formula-train-step")
            .arg("compute", fixed(step.compute, 3))
            .arg("tensor", fixed(step.tensor, 3))
            .arg("sync", fixed(step.sync, 3))
            .arg(
                "hidden",
                fixed(step.compute + step.tensor + step.sync - step.total, 3),
            )
    });
    if fed.is_finite() {
        t.add(
            "feed",
            fed,
            "tokens/s",
            Basis::Assumed,
            &p.c.feed.source,
            || Msg::new("formula-feed-lowest"),
        );
    }
    t
}
