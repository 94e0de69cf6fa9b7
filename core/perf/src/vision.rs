//! Training of what counts samples: vision networks, encoders, diffusion models.
//!
//! One GPU: samples/s = util x F(A100) / (3 x forward FLOPs) x (BW / BW(A100))^0.49 x (F / F(A100))^0.34.
//! The ratio is fitted over one-GPU runs of CNNs and BERT, 12 % leave one GPU out
//! (`[train.vision_ratio]`); the utilisations are assumed (`[train.vision_analytic]`). Several GPUs:
//! gradients are reduced once a step over the link that the machine has. CPU and storage cap the whole.

use crate::coefficients::Coefficients;
use crate::feed::{Appetite, ceiling};
use crate::memory::{Footprint, Split};
use crate::nofit::NoFit;
use crate::outcome::{Outcome, Terms};
use crate::predict::Group;
use crate::range::Class;
use crate::spec::{MIB, RateKind};
use crate::sync::{BusKind, bus, net};
use lessee_model::{
    Basis, BoundBy, ModelKind, Msg, WorkUnit,
    perf::Layout,
    workload::{Data, Sharding, TrainJob},
};

struct Kind {
    util: f64,
    activation_mib_per_gflop: f64,
    cpu_seconds: f64,
}

fn kind(job: &TrainJob, c: &Coefficients) -> Kind {
    let (a, m, f) = (&c.train.vision_analytic, &c.memory.vision, &c.feed);
    match job.model.kind {
        ModelKind::Diffusion => Kind {
            util: a.util_diffusion,
            activation_mib_per_gflop: m.activation_mib_per_gflop_diffusion,
            cpu_seconds: f.cpu_seconds_per_diffusion_sample,
        },
        ModelKind::Encoder | ModelKind::Llm => Kind {
            util: a.util_transformer,
            activation_mib_per_gflop: m.activation_mib_per_gflop_transformer,
            cpu_seconds: f.cpu_seconds_per_encoder_sample,
        },
        // attention heads tell a vision transformer from a convolutional network
        ModelKind::Vision if job.model.heads.is_some() => Kind {
            util: a.util_transformer,
            activation_mib_per_gflop: m.activation_mib_per_gflop_transformer,
            cpu_seconds: f.cpu_seconds_per_image,
        },
        ModelKind::Vision => Kind {
            util: a.util_cnn,
            activation_mib_per_gflop: m.activation_mib_per_gflop_cnn,
            cpu_seconds: f.cpu_seconds_per_image,
        },
    }
}

/// Forward GFLOPs of one sample. The table counts an encoder at its default input; a sequence length
/// that the model's context can hold replaces it: 2 P s + 4 L H s^2.
fn forward_gflops(job: &TrainJob) -> Option<f64> {
    let m = &job.model;
    let s = job.seq_len;
    let of_sequence = || {
        let fits = m.kind == ModelKind::Encoder && s > 1.0 && m.context.is_some_and(|c| s <= c);
        if !fits {
            return None;
        }
        Some((2.0 * m.params * s + 4.0 * m.layers? * m.hidden? * s * s) / 1e9)
    };
    of_sequence()
        .or(m.forward_gflops)
        .filter(|x| x.is_finite() && *x > 0.0)
}

/// Samples per second of `group`.
///
/// # Errors
/// `does_not_fit`, `no_rate`, `model_unsuitable`.
pub(crate) fn predict(
    job: &TrainJob,
    data: &Data,
    reads: f64,
    group: &Group<'_>,
) -> Result<Outcome, NoFit> {
    let cx = group.cx;
    let c = &cx.tables.coefficients;
    let device = group.device;
    let Some(gflops) = forward_gflops(job) else {
        return Err(NoFit::new(
            "model_unsuitable",
            Msg::new("perf-model-dimensions").arg("model", &*job.model.name),
        ));
    };
    let what = kind(job, c);
    let rate = device.rate(job.precision)?;
    let bandwidth = device.bandwidth()?;
    let per_machine = f64::from(group.gpus_per_node);
    let nodes = f64::from(group.nodes);
    let gpus = per_machine * nodes;

    // memory: the lowest sharding stage that holds one sample, without recomputation first
    let usable = device.memory * c.memory.training.usable_fraction;
    let footprint = Footprint::of(job, c);
    let stages: &[u8] = match job.sharding {
        Sharding::Auto => &[0, 2, 3],
        Sharding::None => &[0],
        Sharding::Zero1 => &[1],
        Sharding::Zero2 => &[2],
        Sharding::Zero3 => &[3],
    };
    let ways: &[bool] = match job.activation_checkpointing {
        None => &[false, true],
        Some(false) => &[false],
        Some(true) => &[true],
    };
    let mut chosen = None;
    let mut least = f64::INFINITY;
    'search: for &checkpointing in ways {
        for &stage in stages {
            let split = Split {
                tensor_parallel: 1.0,
                shards: gpus,
                stage,
                gpus,
            };
            let layers = job.model.layers.unwrap_or(50.0);
            let memory = footprint.per_gpu(split, layers, &c.memory.training, usable);
            let share = if checkpointing {
                c.memory.vision.checkpointed_share
            } else {
                1.0
            };
            let wide = matches!(
                job.precision,
                lessee_model::workload::Precision::Fp32 | lessee_model::workload::Precision::Tf32
            );
            let width = if wide { 2.0 } else { 1.0 };
            let sample = gflops * what.activation_mib_per_gflop * MIB * share * width;
            if memory.total() + sample <= usable {
                chosen = Some((checkpointing, stage, memory, sample));
                break 'search;
            }
            least = least.min(memory.total() + sample);
        }
    }
    let Some((checkpointing, stage, mut memory, sample)) = chosen else {
        return Err(NoFit::memory(least, usable));
    };
    let fitting = ((usable - memory.total()) / sample).floor().max(1.0);
    let global = job
        .global_batch
        .unwrap_or(c.train.vision_analytic.batch_per_gpu * gpus)
        .max(1.0);
    let per_gpu = (global / gpus).max(1.0);
    let micro = fitting.min(per_gpu);
    memory.activations = micro * sample;

    // speed of one GPU, then of all
    let r = &c.train.vision_ratio;
    let bw_ratio = bandwidth / (r.reference_bw_gbs * 1e9);
    let flops_ratio = rate.dense / (r.reference_tflops * 1e12);
    let anchor = what.util * r.reference_tflops * 1e12 / (3.0 * gflops * 1e9);
    let recompute = if checkpointing {
        c.train.llm.checkpoint_factor
    } else {
        1.0
    };
    let one = anchor * bw_ratio.powf(r.bw_exponent) * flops_ratio.powf(r.flops_exponent)
        / recompute
        / match job.method {
            lessee_model::workload::Method::Full => 1.0,
            // no weight gradients: two of three passes
            _ => c.train.llm.adapter.lora_flops_factor,
        };
    let links = bus(group.machine, device, group.gpus_per_node, cx);
    let wire = net(group.machine, cx);
    let compute = per_gpu / one;
    let micro_steps = per_gpu / micro;
    let step = |at: f64| {
        let mut sync = links.all_reduce(footprint.gradients, per_machine, at)
            + wire.all_reduce(footprint.gradients, nodes);
        if stage >= 3 {
            sync += micro_steps
                * (links.all_reduce(footprint.weights, per_machine, at)
                    + wire.all_reduce(footprint.weights, nodes));
        }
        let a = &c.allreduce;
        let hidden = (a.overlap * sync).min(a.backward_share * compute);
        (sync, compute + sync - hidden)
    };
    let useful = per_gpu * gpus.min(global);
    let (sync, total) = step(links.mid);
    let speed = useful / total;

    let cpu = job.cpu_seconds_per_sample.unwrap_or(what.cpu_seconds);
    let appetite = Appetite::new(data, reads, job.units, cpu, group.machine, cx);
    let limit = ceiling(group.machine, wire, appetite, data.storage, cx, true);
    let fed = limit.rate * nodes * group.host_share;
    let at = |bus: f64| (useful / step(bus).1).min(fed);
    let bound_by = if fed < speed {
        limit.by
    } else if sync > compute {
        BoundBy::GradientSync
    } else if bw_ratio < flops_ratio {
        BoundBy::MemoryBandwidth
    } else {
        BoundBy::Compute
    };

    let mut notes = vec![Msg::new("perf-assumed-utilisation").arg("share", what.util)];
    device.notes(rate.kind, &mut notes);
    if group.machine.vcpus.is_none() && cpu > 0.0 {
        notes.push(Msg::new("perf-vcpus-unknown"));
    }
    if fed < speed {
        let id = match limit.by {
            BoundBy::CpuFeed => "perf-cpu-feed",
            BoundBy::Network => "perf-network-feed",
            _ => "perf-storage-feed",
        };
        notes.push(
            Msg::new(id)
                .arg("fed", fed)
                .arg("demand", speed)
                .arg("idle", 1.0 - fed / speed),
        );
    }
    if wire.assumed && nodes > 1.0 {
        notes.push(
            Msg::new("perf-network-assumed").arg("gbps", c.allreduce.node_to_node.assumed_gbps),
        );
    }
    let mut class = device.class(
        &["Ampere", "Hopper", "Ada", "Turing", "Volta"],
        RateKind::Native,
    );
    class = class.max(Class::Outside);
    if nodes > 1.0 || rate.kind == RateKind::NoMatrixUnits {
        class = Class::Thin;
    }

    let mut terms = Terms::new(cx);
    terms.add(
        "one_gpu",
        one,
        "samples/s",
        Basis::Modelled,
        &r.source,
        || {
            format!(
                "{:.2} x {:.1} TFLOP/s / (3 x {gflops:.2} GFLOP) x {bw_ratio:.3}^{} x {flops_ratio:.3}^{} / {recompute:.2}",
                what.util, r.reference_tflops, r.bw_exponent, r.flops_exponent
            )
        },
    );
    terms.add("compute", compute, "s", Basis::Modelled, &r.source, || {
        format!("{per_gpu:.0} samples a GPU / {one:.1} per s")
    });
    if gpus > 1.0 {
        let (source, basis) = match links.kind {
            BusKind::Pcie => (&c.allreduce.pcie.source, Basis::Assumed),
            _ => (&c.allreduce.nvlink.source, Basis::Modelled),
        };
        terms.add("gradient_sync", sync, "s", basis, source, || {
            format!(
                "{:.3e} B over {gpus} GPU, bus {:.1} GB/s",
                footprint.gradients,
                links.mid / 1e9
            )
        });
    }
    if fed.is_finite() {
        let basis = if limit.measured {
            Basis::Measured
        } else {
            Basis::Assumed
        };
        terms.add("feed", fed, "samples/s", basis, &c.feed.source, || {
            format!(
                "{cpu} core-s, {:.0} B and {:.3} files a sample; {:?} vCPU, {nodes} machines",
                appetite.bytes, appetite.files, group.machine.vcpus
            )
        });
    }
    Ok(Outcome {
        unit: WorkUnit::Sample,
        per_second: speed.min(fed),
        link_low: at(links.low),
        link_high: at(links.high),
        class,
        measured: device.measured || limit.measured,
        bound_by,
        memory,
        layout: Layout {
            data_parallel: gpus as u32,
            tensor_parallel: 1,
            pipeline_parallel: 1,
            batch: micro,
            activation_checkpointing: checkpointing,
            zero_stage: stage,
        },
        terms,
        notes,
        seconds_per_output_token: None,
    })
}
