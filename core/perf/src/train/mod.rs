//! Training of language models, in tokens per second.
//!
//! tokens/s/GPU = util F / ((6P + 12 L H s) (4/3 if checkpointing)) / (1 + a sqrt(1e9/P)) /
//! (1 + b log2(n/8)) x generation: fitted on 133 rows of llm-foundry MPT runs, 4.4 % median
//! (`[train.llm]`). P: active parameters; adapters need no weight gradients, 4P instead of 6P. On top, per
//! optimizer step: gradient sync over the link that the machine really has, partly hidden behind the
//! backward pass; with sharded weights two all-gathers per micro-batch; with tensor parallel four
//! all-reduces a layer (six when recomputing), never hidden.
//!
//! The layout is searched: tensor parallel inside a machine x recomputation x sharding inside a machine
//! or over all of them x ZeRO stage; of what fits, the fastest wins.

mod layout;

use crate::coefficients::Coefficients;
use crate::feed::{Appetite, ceiling};
use crate::memory::Footprint;
use crate::nofit::NoFit;
use crate::outcome::{Outcome, Terms};
use crate::predict::Group;
use crate::range::Class;
use crate::spec::{Rate, RateKind};
use crate::sync::{BusKind, bus, net};
use layout::{Candidate, Problem};
use lessee_model::{
    Basis, BoundBy, Msg, WorkUnit,
    workload::{Data, Method, Precision, TrainJob},
};

/// FLOP/s of one GPU in a training step and how the rate came about.
fn sustained(
    job: &TrainJob,
    group: &Group<'_>,
    c: &Coefficients,
    gpus: f64,
) -> Result<(f64, Rate), NoFit> {
    let wide = match job.precision {
        p @ (Precision::Fp32 | Precision::Tf32 | Precision::Fp16 | Precision::Bf16) => p,
        _ => Precision::Bf16,
    };
    let rate = group.device.rate(wide)?;
    let t = &c.train.llm;
    let arch = &*group.device.spec.arch;
    let by_arch = &t.generation.factor;
    let generation = by_arch
        .get(arch)
        .or_else(|| by_arch.get("default"))
        .copied()
        .unwrap_or(1.0);
    let util = (t.util * generation).min(t.max_share_of_gemm * rate.gemm_share);
    let small = 1.0 + t.small_model * (1e9 / job.model.active_params).sqrt();
    let scale = 1.0 + t.scale_out * (gpus / 8.0).log2().max(0.0);
    let mut flops = rate.dense * util / small / scale;
    let mut shown = rate;
    if matches!(job.precision, Precision::Fp8 | Precision::Fp4) {
        let narrow = group.device.rate(Precision::Fp8)?;
        shown.kind = narrow.kind;
        if narrow.kind == RateKind::Native {
            flops *= (narrow.dense / rate.dense).clamp(1.0, t.fp8.renter_speedup.max(1.0));
        }
    }
    if job.method == Method::Qlora {
        flops /= t.adapter.qlora_slowdown.max(1.0);
    }
    Ok((flops, shown))
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
    let (Some(layers), Some(hidden)) = (job.model.layers, job.model.hidden) else {
        return Err(NoFit::new(
            "model_unsuitable",
            Msg::new("perf-model-dimensions").arg("model", &*job.model.name),
        ));
    };
    let per_machine = f64::from(group.gpus_per_node);
    let nodes = f64::from(group.nodes);
    let gpus = per_machine * nodes;
    let (sustained, rate) = sustained(job, group, c, gpus)?;
    let footprint = Footprint::of(job, c);
    let adapter = match job.method {
        Method::Full => 1.0,
        Method::Lora | Method::Qlora => c.train.llm.adapter.lora_flops_factor,
    };
    let flops = 6.0 * job.model.active_params * adapter + 12.0 * layers * hidden * job.seq_len;
    let problem = Problem {
        job,
        c,
        footprint,
        layers,
        hidden,
        rate,
        flops,
        sustained,
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
    Ok(Outcome {
        unit: WorkUnit::Token,
        per_second: best.per_second.min(fed),
        link_low: at(problem.bus.low),
        link_high: at(problem.bus.high),
        class,
        measured: group.device.measured,
        bound_by,
        memory: best.memory,
        layout: best.layout,
        terms: terms(&problem, &best, fed, group),
        notes,
        seconds_per_output_token: None,
    })
}

/// How wide the range must be, and what to tell the user.
fn judge(p: &Problem<'_>, best: &Candidate, group: &Group<'_>) -> (Class, Vec<Msg>) {
    let fitted: Vec<&str> =
        p.c.train
            .llm
            .generation
            .fitted
            .iter()
            .map(String::as_str)
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
    let source = p.c.train.llm.source.as_str();
    let (layout, step) = (best.layout, best.step);
    t.add(
        "flops_per_token",
        p.flops,
        "FLOP",
        Basis::Modelled,
        source,
        || {
            format!(
                "(6 or 4 with adapters) x {:.3e} + 12 x {} x {} x {}",
                p.job.model.active_params, p.layers, p.hidden, p.job.seq_len
            )
        },
    );
    t.add(
        "sustained",
        p.sustained,
        "FLOP/s",
        Basis::Modelled,
        source,
        || {
            format!(
                "{:.4e} dense x utilisation {:.3}",
                p.rate.dense,
                p.sustained / p.rate.dense
            )
        },
    );
    t.add(
        "compute",
        step.compute,
        "s",
        Basis::Modelled,
        source,
        || {
            let again = if layout.activation_checkpointing {
                p.c.train.llm.checkpoint_factor
            } else {
                1.0
            };
            format!(
                "{:.0} tokens a replica x {:.3e} FLOP x {again:.2} / ({} x {:.3e} FLOP/s)",
                best.per_replica * p.job.seq_len,
                p.flops,
                layout.tensor_parallel,
                p.sustained
            )
        },
    );
    let (link, basis) = match p.bus.kind {
        BusKind::Measured => ("probe", Basis::Measured),
        BusKind::Pcie => (p.c.allreduce.pcie.source.as_str(), Basis::Assumed),
        BusKind::Link | BusKind::Alone => (p.c.allreduce.nvlink.source.as_str(), Basis::Modelled),
    };
    if p.gpus > 1.0 {
        t.add("gradient_sync", step.sync, "s", basis, link, || {
            format!(
                "{:.3e} B gradients, ZeRO {}, {} GPU x {} machines, bus {:.1} GB/s ({:.1} to {:.1}), network {:.2} GB/s",
                p.gradient_bytes,
                layout.zero_stage,
                p.per_machine,
                p.nodes,
                p.bus.mid / 1e9,
                p.bus.low / 1e9,
                p.bus.high / 1e9,
                p.net.collective / 1e9
            )
        });
        t.add("tensor_parallel", step.tensor, "s", basis, link, || {
            format!("tp {} over the same bus", layout.tensor_parallel)
        });
    }
    t.add("step", step.total, "s", Basis::Modelled, source, || {
        format!(
            "{:.3} + {:.3} + {:.3} - hidden {:.3}",
            step.compute,
            step.tensor,
            step.sync,
            step.compute + step.tensor + step.sync - step.total
        )
    });
    if fed.is_finite() {
        t.add(
            "feed",
            fed,
            "tokens/s",
            Basis::Assumed,
            &p.c.feed.source,
            || "lowest of CPU, storage requests and bandwidth, all machines".to_owned(),
        );
    }
    t
}
