//! Serving a language model, in output tokens per second within a latency objective.
//!
//! step(B) = (memory^p + compute^p)^(1/p) + t0 + host B + all-reduce(B) + B/O x prefill, where
//! memory = (W + B KV (I + O/2)) / (tp eff BW), compute = 2 P B / (mfu_d F g tp),
//! prefill = I (2P + 2 L H I) / (mfu_p F g tp): prompts are mixed into decode steps. Of a mixture of
//! experts a step reads the experts that B tokens touch: E (1 - (1 - k/E)^B).
//! Fitted on vLLM runs of rented machines (`[decode.renter]`, `[decode.renter_loaded]`): 10 % median for
//! one stream, 16 % under load.
//!
//! The batch is the largest that fits memory and keeps step(B) within the objective; step(B)/B only
//! falls, so the largest is also the fastest. Of the tensor-parallel widths inside a machine the one with
//! the most output wins.

mod step;

use crate::coefficients::Coefficients;
use crate::nofit::NoFit;
use crate::outcome::{Outcome, Terms};
use crate::predict::PerfContext;
use crate::range::Class;
use crate::spec::{Device, RateKind};
use crate::sync::{Bus, BusKind, bus};
use lessee_model::{
    Basis, BoundBy, Machine, MemoryUse, ModelKind, Msg, WorkUnit,
    perf::Layout,
    workload::{Precision, ServeJob},
};
use step::{Replica, StepTime, largest_batch};

struct Choice<'a> {
    replica: Replica<'a>,
    batch: f64,
    step: StepTime,
    prefill: f64,
    per_machine: f64,
    memory: MemoryUse,
}

/// Why no width was good enough, the most informative reason kept.
enum Obstacle {
    Memory { needed: f64 },
    Tpot { best: f64 },
    Ttft { best: f64 },
}

impl Obstacle {
    fn rank(&self) -> u8 {
        match self {
            Obstacle::Memory { .. } => 0,
            Obstacle::Tpot { .. } => 1,
            Obstacle::Ttft { .. } => 2,
        }
    }

    fn value(&self) -> f64 {
        match self {
            Obstacle::Memory { needed } => *needed,
            Obstacle::Tpot { best } | Obstacle::Ttft { best } => *best,
        }
    }

    fn worse_than(&self, other: &Obstacle) -> bool {
        (self.rank(), -self.value()) < (other.rank(), -other.value())
    }
}

/// Output tokens per second that `nodes` machines sustain within the objective.
///
/// # Errors
/// `does_not_fit`, `tpot_unreachable`, `ttft_unreachable`, `context_too_long`, `no_rate`,
/// `model_unsuitable`.
pub(crate) fn predict(
    job: &ServeJob,
    machine: &Machine,
    device: &Device<'_>,
    nodes: u32,
    cx: PerfContext<'_>,
) -> Result<Outcome, NoFit> {
    let c = &cx.tables.coefficients;
    let model = &job.model;
    let unsuitable = || {
        NoFit::new(
            "model_unsuitable",
            Msg::new("perf-model-dimensions").arg("model", &*model.name),
        )
    };
    if model.kind != ModelKind::Llm {
        return Err(unsuitable());
    }
    let (Some(layers), Some(hidden), Some(kv)) = (
        model.layers,
        model.hidden,
        model.kv_bytes(c.bytes_per_kv_value.of(job.kv_precision)),
    ) else {
        return Err(unsuitable());
    };
    let length = job.input_tokens + job.output_tokens;
    if let Some(context) = model.context.filter(|c| length > *c) {
        return Err(NoFit::new(
            "context_too_long",
            Msg::new("perf-context")
                .arg("needed", length)
                .arg("context", context),
        ));
    }
    device.at_least_capability(c.decode.renter_loaded.min_compute_capability)?;
    let rate = device.rate(job.precision)?;
    let bandwidth = device.bandwidth()?;
    let weights = model.params * c.bytes_per_weight.of(job.precision);
    let usable = device.memory * c.memory.inference.usable_fraction_vllm;
    let gpus = u32::from(machine.gpu_count);
    let heads = model.heads.unwrap_or(0.0);

    let mut best: Option<Choice<'_>> = None;
    let mut obstacle: Option<Obstacle> = None;
    let mut hit = |new: Obstacle| {
        if obstacle.as_ref().is_none_or(|old| old.worse_than(&new)) {
            obstacle = Some(new);
        }
    };
    for tp in [1u32, 2, 4, 8, 16] {
        if tp > gpus || heads % f64::from(tp) != 0.0 {
            continue;
        }
        let links = bus(machine, device, tp, cx);
        // a latent cache (given in bytes) is copied to every rank; heads are copied once they run out
        let copies = match model.kv_heads.or(model.heads) {
            _ if model.kv_bytes_per_token.is_some() => f64::from(tp),
            Some(h) if h > 0.0 => (f64::from(tp) / h).max(1.0),
            _ => 1.0,
        };
        let replica = Replica {
            job,
            c,
            tp: f64::from(tp),
            layers,
            hidden,
            rate,
            bandwidth,
            bus: links,
            bus_at: serving_bus(&links, c),
            weights,
            kv: kv * copies,
        };
        let (own_weights, overhead) = replica.fixed_memory();
        let room = usable - own_weights - overhead;
        let reserved = replica.reserved();
        if room < reserved {
            hit(Obstacle::Memory {
                needed: own_weights + overhead + reserved,
            });
            continue;
        }
        let prefill = replica.prefill();
        if let Some(ttft) = job.ttft
            && prefill + replica.step(1.0, 0.0).total > ttft.0
        {
            hit(Obstacle::Ttft { best: prefill });
            continue;
        }
        let most = (room / reserved)
            .floor()
            .min(c.decode.renter_loaded.max_batch);
        let Some(batch) = largest_batch(&replica, most, job.tpot.0, prefill) else {
            hit(Obstacle::Tpot {
                best: replica.step(1.0, prefill).total,
            });
            continue;
        };
        let step = replica.step(batch, prefill);
        let per_machine = f64::from(gpus / tp) * batch / step.total;
        if best.as_ref().is_none_or(|b| per_machine > b.per_machine) {
            let memory = MemoryUse {
                weights: own_weights,
                kv_cache: batch * reserved,
                overhead,
                usable,
                ..MemoryUse::default()
            };
            best = Some(Choice {
                replica,
                batch,
                step,
                prefill,
                per_machine,
                memory,
            });
        }
    }
    let Some(choice) = best else {
        return Err(refuse(obstacle, job, usable));
    };
    let nodes = f64::from(nodes);
    let at = |bus_at: f64| {
        let replica = Replica {
            bus_at,
            ..choice.replica
        };
        let prefill = replica.prefill();
        let step = replica.step(choice.batch, prefill);
        choice.per_machine * choice.step.total / step.total * nodes
    };
    let pcie = choice.replica.bus.kind == BusKind::Pcie;
    let (link_low, link_high) = if pcie {
        (at(choice.replica.bus.low), at(choice.replica.bus.high))
    } else {
        (choice.per_machine * nodes, choice.per_machine * nodes)
    };
    let s = choice.step;
    let bound_by = if s.link > s.memory.max(s.compute + s.prefill) {
        BoundBy::Network
    } else if s.memory >= s.compute + s.prefill {
        BoundBy::MemoryBandwidth
    } else {
        BoundBy::Compute
    };
    let (class, notes) = judge(&choice, job, device, c);
    Ok(Outcome {
        unit: WorkUnit::Token,
        per_second: choice.per_machine * nodes,
        link_low,
        link_high,
        class,
        measured: device.measured,
        bound_by,
        memory: choice.memory,
        layout: Layout {
            data_parallel: (gpus / choice.replica.tp as u32) * nodes as u32,
            tensor_parallel: choice.replica.tp as u32,
            pipeline_parallel: 1,
            batch: choice.batch,
            activation_checkpointing: false,
            zero_stage: 0,
        },
        terms: terms(&choice, device, cx),
        notes,
        seconds_per_output_token: Some(s.total),
    })
}

/// Tensor parallel over PCIe has its own fit, held within the range of the bus.
fn serving_bus(bus: &Bus, c: &Coefficients) -> f64 {
    match bus.kind {
        BusKind::Pcie => (c.decode.renter_loaded.pcie_bus_gbs * 1e9).clamp(bus.low, bus.high),
        _ => bus.mid,
    }
}

fn refuse(obstacle: Option<Obstacle>, job: &ServeJob, usable: f64) -> NoFit {
    let late = |code, id, best: f64, limit: f64| {
        NoFit::new(
            code,
            Msg::new(id)
                .arg("best", best * 1000.0)
                .arg("limit", limit * 1000.0),
        )
    };
    match obstacle {
        Some(Obstacle::Memory { needed }) => NoFit::memory(needed, usable),
        Some(Obstacle::Tpot { best }) => late(
            "tpot_unreachable",
            "perf-tpot-unreachable",
            best,
            job.tpot.0,
        ),
        Some(Obstacle::Ttft { best }) => late(
            "ttft_unreachable",
            "perf-ttft-unreachable",
            best,
            job.ttft.map_or(0.0, |t| t.0),
        ),
        None => NoFit::new("too_few_gpus", Msg::new("perf-too-few-gpus")),
    }
}

fn judge(
    choice: &Choice<'_>,
    job: &ServeJob,
    device: &Device<'_>,
    c: &Coefficients,
) -> (Class, Vec<Msg>) {
    let kind = choice.replica.rate.kind;
    let mut class = device.class(&["Ampere", "Ada", "Hopper", "Blackwell"], kind);
    class = class.max(Class::OtherGpu);
    let mut notes = Vec::new();
    device.notes(kind, &mut notes);
    let sixteen_bit = matches!(job.precision, Precision::Bf16 | Precision::Fp16);
    if !sixteen_bit || choice.batch > c.decode.renter_loaded.calibrated_batch {
        class = class.max(Class::Outside);
    }
    if job.model.active_params < job.model.params {
        class = Class::Thin;
        notes.push(Msg::new("perf-mixture"));
    }
    if choice.replica.bus.kind == BusKind::Pcie {
        class = class.max(Class::Outside);
        notes.push(Msg::new("perf-pcie-tensor-parallel"));
    }
    if job.ttft.is_some() {
        notes.push(Msg::new("perf-ttft-unloaded").seconds("prefill", choice.prefill));
    }
    if device.memory_nominal {
        notes.push(Msg::new("perf-memory-nominal"));
    }
    if kind == RateKind::NoMatrixUnits {
        class = Class::Thin;
    }
    (class, notes)
}

fn terms(choice: &Choice<'_>, device: &Device<'_>, cx: PerfContext<'_>) -> Terms {
    let mut t = Terms::new(cx);
    let c = &cx.tables.coefficients;
    let (r, s) = (&choice.replica, choice.step);
    let single = c.decode.renter.source.as_str();
    let loaded = c.decode.renter_loaded.source.as_str();
    t.add(
        "batch",
        choice.batch,
        "sequences",
        Basis::Modelled,
        loaded,
        || {
            format!(
                "largest with step <= {:.1} ms; memory holds {:.0}, the engine admits {:.0}",
                r.job.tpot.0 * 1e3,
                ((choice.memory.usable - choice.memory.weights - choice.memory.overhead)
                    / r.reserved())
                .floor(),
                c.decode.renter_loaded.max_batch
            )
        },
    );
    t.add("memory", s.memory, "s", Basis::Modelled, single, || {
        format!(
            "({:.3e} B weights + {} x {:.0} B x {} tokens) / ({} x eff x {:.1} GB/s)",
            r.weights_read(choice.batch),
            choice.batch,
            r.kv,
            r.job.input_tokens + r.job.output_tokens / 2.0,
            r.tp,
            r.bandwidth / 1e9
        )
    });
    t.add("compute", s.compute, "s", Basis::Modelled, loaded, || {
        format!(
            "2 x {:.3e} x {} / {:.3e} FLOP/s ({})",
            r.job.model.active_params,
            choice.batch,
            r.flop_rate(c.decode.renter_loaded.mfu_decode),
            device.spec.name
        )
    });
    t.add(
        "prefill_share",
        s.prefill,
        "s",
        Basis::Modelled,
        loaded,
        || {
            format!(
                "{} / {} x {:.4} s for a prompt of {} tokens",
                choice.batch, r.job.output_tokens, choice.prefill, r.job.input_tokens
            )
        },
    );
    t.add("fixed", s.fixed, "s", Basis::Modelled, single, || {
        format!(
            "per step and {} us per sequence",
            c.decode.renter_loaded.host_us_per_sequence
        )
    });
    if r.tp > 1.0 {
        t.add("link", s.link, "s", Basis::Modelled, loaded, || {
            format!(
                "2 x ({0} - 1) / {0} x {1} x {2} x 4 x {3} B / {4:.1} GB/s",
                r.tp,
                choice.batch,
                r.hidden,
                r.layers,
                r.bus_at / 1e9
            )
        });
    }
    t.add("step", s.total, "s", Basis::Modelled, loaded, || {
        "(memory^4 + compute^4)^(1/4) + prefill share + link + fixed".to_owned()
    });
    t
}
