//! Training of what counts samples: vision networks, encoders, diffusion models.
//!
//! One GPU: the formula of [`crate::formula::vision_train_renter`] without an anchor, so that a network is known by
//! its forward FLOPs and its kind alone. Several GPUs: gradients are reduced once a step over the link that the
//! machine has. CPU and storage cap the whole.

use crate::coefficients::Coefficients;
use crate::feed::{Appetite, ceiling};
use crate::formula::{Question, vision_train_renter};
use crate::memory::{Footprint, Split, checkpointing_choices, stages};
use crate::nofit::NoFit;
use crate::outcome::{Outcome, Terms, fixed, power};
use crate::predict::Group;
use crate::range::Class;
use crate::spec::{MIB, RateKind};
use crate::step::{StepSeconds, Steps};
use crate::sync::{Bus, Net, bus, net};
use lessee_model::{
    Basis, BoundBy, MemoryUse, ModelKind, Msg, WorkUnit,
    perf::Layout,
    workload::{Data, Method, Precision, TrainJob},
};

struct Kind {
    limits: vision_train_renter::Kind,
    intensity: f64,
    activation_mib_per_gflop: f64,
    cpu_seconds: f64,
}

fn kind(job: &TrainJob, c: &Coefficients) -> Kind {
    use vision_train_renter::Kind as Limits;
    let (m, f, i) = (&c.memory.vision, &c.feed, &c.intensity);
    let own = |usual: f64| i.of(&job.model.name).unwrap_or(usual);
    match job.model.kind {
        ModelKind::Diffusion => Kind {
            limits: Limits::Dense,
            intensity: own(i.diffusion),
            activation_mib_per_gflop: m.activation_mib_per_gflop_diffusion,
            cpu_seconds: f.cpu_seconds_per_diffusion_sample,
        },
        ModelKind::Encoder | ModelKind::Llm => Kind {
            limits: Limits::Dense,
            intensity: own(i.transformer),
            activation_mib_per_gflop: m.activation_mib_per_gflop_transformer,
            cpu_seconds: f.cpu_seconds_per_encoder_sample,
        },
        // attention heads tell a vision transformer from a convolutional network
        ModelKind::Vision if job.model.heads.is_some() => Kind {
            limits: Limits::Dense,
            intensity: own(i.transformer),
            activation_mib_per_gflop: m.activation_mib_per_gflop_transformer,
            cpu_seconds: f.cpu_seconds_per_image,
        },
        ModelKind::Vision => Kind {
            limits: Limits::Conv,
            intensity: own(i.cnn),
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

/// One way to lay out the training.
struct Way {
    checkpointing: bool,
    stage: u8,
    memory: MemoryUse,
    /// Samples of one GPU in one micro-batch.
    micro: f64,
    /// Samples per second of one GPU on its own.
    one: f64,
}

struct Problem<'a> {
    job: &'a TrainJob,
    c: &'a Coefficients,
    footprint: Footprint,
    /// Activations of one sample without recomputation, bytes.
    sample: f64,
    usable: f64,
    per_machine: f64,
    nodes: f64,
    /// Samples of the busiest GPU in one optimizer step.
    per_gpu: f64,
    /// Samples per second of one GPU without recomputation.
    one: f64,
    links: Bus,
    wire: Net,
}

impl Problem<'_> {
    fn gpus(&self) -> f64 {
        self.per_machine * self.nodes
    }

    /// The lowest sharding stage that holds one sample, or the memory that it would take.
    fn way(&self, checkpointing: bool) -> Result<Way, f64> {
        let m = &self.c.memory;
        let (share, recompute) = if checkpointing {
            (
                m.vision.checkpointed_share,
                self.c.train.llm.checkpoint_factor,
            )
        } else {
            (1.0, 1.0)
        };
        let sample = self.sample * share;
        let layers = self.job.model.layers.unwrap_or(m.vision.blocks);
        let mut least = f64::INFINITY;
        for &stage in stages(self.job.sharding) {
            let split = Split {
                tensor_parallel: 1.0,
                shards: self.gpus(),
                stage,
                gpus: self.gpus(),
            };
            let mut memory = self
                .footprint
                .per_gpu(split, layers, &m.training, self.usable);
            let fixed = memory.total();
            if fixed + sample > self.usable {
                least = least.min(fixed + sample);
                continue;
            }
            let fitting = ((self.usable - fixed) / sample).floor().max(1.0);
            let micro = fitting.min(self.per_gpu);
            memory.activations = micro * sample;
            return Ok(Way {
                checkpointing,
                stage,
                memory,
                micro,
                one: self.one / recompute,
            });
        }
        Err(least)
    }

    /// Seconds of compute, of sync and of the whole optimizer step at bus bandwidth `bus` (byte/s).
    fn step(&self, way: &Way, bus: f64) -> (f64, f64, f64) {
        let all_reduce = |bytes: f64| {
            self.links.all_reduce(bytes, self.per_machine, bus)
                + self.wire.all_reduce(bytes, self.nodes)
        };
        let mut sync = all_reduce(self.footprint.gradients);
        if way.stage >= 3 {
            sync += (self.per_gpu / way.micro).ceil() * all_reduce(self.footprint.weights);
        }
        let compute = self.per_gpu / way.one;
        let a = &self.c.allreduce;
        let hidden = (a.overlap * sync).min(a.backward_share * compute);
        (compute, sync, compute + sync - hidden)
    }

    /// The fastest way that fits, or the least memory that any needs.
    fn search(&self) -> Result<Way, f64> {
        let mut best: Option<(f64, Way)> = None;
        let mut least = f64::INFINITY;
        for &checkpointing in checkpointing_choices(self.job.activation_checkpointing) {
            match self.way(checkpointing) {
                Ok(way) => {
                    let total = self.step(&way, self.links.mid).2;
                    if best.as_ref().is_none_or(|(t, _)| total < *t) {
                        best = Some((total, way));
                    }
                }
                Err(needed) => least = least.min(needed),
            }
        }
        best.map(|(_, way)| way).ok_or(least)
    }
}

/// Samples per second of `group`.
///
/// # Errors
/// `does_not_fit`, `no_rate`, `unsupported`, `model_unsuitable`.
pub(crate) fn predict(
    job: &TrainJob,
    data: &Data,
    reads: f64,
    group: &Group<'_>,
) -> Result<Outcome, NoFit> {
    let cx = group.cx;
    let c = &cx.tables.coefficients;
    let device = group.device;
    device.at_least_capability(c.train.software.min_compute_capability)?;
    let Some(gflops) = forward_gflops(job) else {
        return Err(NoFit::new(
            "model_unsuitable",
            Msg::new("perf-model-dimensions").arg("model", &*job.model.name),
        ));
    };
    let what = kind(job, c);
    let rate = device.rate(job.precision)?;
    let per_machine = f64::from(group.gpus_per_node);
    let nodes = f64::from(group.nodes);
    let gpus = per_machine * nodes;
    let single = matches!(job.precision, Precision::Fp32 | Precision::Tf32);
    let asked = vision_train_renter::Query {
        key: String::new(),
        kind: what.limits,
        intensity: what.intensity,
        single,
        chip: device.chip(rate.dense)?,
        arch: device.spec.arch.to_string(),
        gpus: 1.0,
        linked: false,
        forward: Some(gflops * 1e9),
    };
    let fit = &cx.tables.calibration.vision_train_renter.coefficients;
    let passes = match job.method {
        Method::Full => 1.0,
        // no weight gradients: two of three passes
        Method::Lora | Method::Qlora => c.train.llm.adapter.lora_flops_factor,
    };
    let width = if single {
        c.bytes_per_weight.fp32 / c.bytes_per_weight.bf16
    } else {
        1.0
    };
    let global = job
        .global_batch
        .unwrap_or(c.train.vision.batch_per_gpu * gpus)
        .max(1.0);
    let problem = Problem {
        job,
        c,
        footprint: Footprint::of(job, c),
        sample: gflops * what.activation_mib_per_gflop * MIB * width,
        usable: device.memory * c.memory.training.usable_fraction,
        per_machine,
        nodes,
        // a step lasts as long as its busiest GPU; what the others have less of is idle time
        per_gpu: (global / gpus).ceil(),
        one: asked.one_gpu(&cx.tables.calibration) / passes,
        links: bus(group.machine, device, group.gpus_per_node, cx),
        wire: net(group.machine, cx),
    };
    let (links, wire) = (problem.links, problem.wire);
    let way = problem
        .search()
        .map_err(|needed| NoFit::memory(needed, problem.usable))?;
    let (compute, sync, total) = problem.step(&way, links.mid);
    let speed = global / total;

    let cpu = job.cpu_seconds_per_sample.unwrap_or(what.cpu_seconds);
    let appetite = Appetite::new(data, reads, job.units, cpu, group.machine, cx);
    let limit = ceiling(group.machine, wire, appetite, data.storage, cx, true);
    let fed = limit.rate * nodes * group.host_share;
    let at = |bus: f64| (global / problem.step(&way, bus).2).min(fed);
    let bound_by = if fed < speed {
        limit.by
    } else if sync > compute {
        BoundBy::GradientSync
    } else if asked.streams_memory(fit) {
        BoundBy::MemoryBandwidth
    } else {
        BoundBy::Compute
    };

    let mut notes =
        vec![Msg::new("perf-assumed-utilisation").arg("share", fit.util.of(what.limits))];
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
    let source = cx
        .tables
        .calibration
        .fit(asked.family())
        .map_or("", |f| f.source.as_str());
    terms.add(
        "one_gpu",
        problem.one,
        "samples/s",
        Basis::Modelled,
        source,
        || {
            Msg::new("formula-one-gpu")
                .arg("util", fixed(fit.util.of(what.limits), 2))
                .arg("tflops", fixed(fit.reference.tensor / 1e12, 1))
                .arg("gflop", fixed(gflops, 2))
                .arg("ratio", fixed(asked.time(fit), 3))
        },
    );
    terms.add("compute", compute, "s", Basis::Modelled, source, || {
        Msg::new("formula-samples")
            .arg("samples", fixed(problem.per_gpu, 0))
            .arg("rate", fixed(way.one, 1))
    });
    if gpus > 1.0 {
        let (source, basis) = links.source(cx);
        terms.add("gradient_sync", sync, "s", basis, source, || {
            Msg::new("formula-vision-sync")
                .arg("bytes", power(problem.footprint.gradients))
                .arg("gpus", gpus.to_string())
                .arg("gbs", fixed(links.mid / 1e9, 1))
        });
    }
    if fed.is_finite() {
        let basis = if limit.measured {
            Basis::Measured
        } else {
            Basis::Assumed
        };
        terms.add("feed", fed, "samples/s", basis, &c.feed.source, || {
            Msg::new("formula-feed")
                .arg("cpu", cpu.to_string())
                .arg("bytes", fixed(appetite.bytes, 0))
                .arg("files", fixed(appetite.files, 3))
                .arg(
                    "vcpus",
                    group
                        .machine
                        .vcpus
                        .map_or_else(|| "?".to_owned(), |v| v.to_string()),
                )
                .arg("nodes", nodes.to_string())
        });
    }
    Ok(Outcome {
        unit: WorkUnit::Sample,
        per_second: speed.min(fed),
        link_low: at(links.low),
        link_high: at(links.high),
        class,
        fitted: Some(
            cx.tables
                .calibration
                .range(&asked, c.range.unseen_architecture),
        ),
        measured: device.measured || limit.measured,
        bound_by,
        memory: way.memory,
        layout: Layout {
            data_parallel: gpus as u32,
            tensor_parallel: 1,
            pipeline_parallel: 1,
            batch: way.micro,
            activation_checkpointing: way.checkpointing,
            zero_stage: way.stage,
        },
        terms,
        notes,
        seconds_per_output_token: None,
        steps: Some(Steps {
            at: [links.low, links.mid, links.high].map(|bus| {
                let (compute, sync, total) = problem.step(&way, bus);
                StepSeconds {
                    compute,
                    sync,
                    tensor: 0.0,
                    total,
                }
            }),
            bus: links,
        }),
    })
}
