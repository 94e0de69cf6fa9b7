//! Serving a language model, in output tokens per second within a latency objective.
//!
//! The step of B requests is the fitted formula of [`crate::formula::serve_renter`], with the machine's links and
//! what a probe measured in it. The batch is the largest that fits memory and keeps the step within the objective;
//! step(B)/B only falls, so the largest is also the fastest. Of the tensor-parallel widths inside a machine the one
//! with the most output wins.

mod explain;
mod step;

use crate::formula::serve_renter::{self, Links, Step};
use crate::formula::{Question, serve_tuned};
use crate::nofit::NoFit;
use crate::outcome::Outcome;
use crate::predict::PerfContext;
use crate::spec::Device;
use crate::sync::{Bus, BusKind, bus};
use crate::table::{served_renter::board, served_tuned::on_device};
use explain::{judge, terms};
use lessee_model::{
    BoundBy, Machine, MemoryUse, ModelKind, Msg, WorkUnit, perf::Layout, workload::ServeJob,
};
use step::Replica;

struct Choice<'a> {
    replica: Replica<'a>,
    batch: f64,
    step: Step,
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
    let length = job.input_tokens + job.output_tokens;
    if let Some(context) = model.context.filter(|c| length > *c) {
        return Err(NoFit::new(
            "context_too_long",
            Msg::new("perf-context")
                .arg("needed", length)
                .arg("context", context),
        ));
    }
    device.at_least_capability(c.serve.min_compute_capability)?;
    let rate = device.rate(job.precision)?;
    let calibration = &cx.tables.calibration;
    let fit = if model.params < serve_renter::SMALL {
        &calibration.serve_small_renter.coefficients
    } else {
        &calibration.serve_renter.coefficients
    };
    let kv_bytes = c.bytes_per_kv_value.of(job.kv_precision);
    let on_one = on_device(device, model, job.precision, kv_bytes, 1.0)?;
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
        let carrier = bus(machine, device, tp, cx);
        let width = f64::from(tp);
        let mut board = board(device.spec, width);
        board.linked = carrier.kind != BusKind::Pcie;
        let replica = Replica {
            job,
            c: fit,
            on: serve_tuned::Replica {
                gpus: width,
                ..on_one
            },
            board,
            bus: carrier,
            links: links(&carrier, device, fit),
        };
        let (own_weights, overhead) = replica.fixed_memory(&c.memory.inference);
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
        let most = (room / reserved).floor().min(c.serve.max_batch);
        let Some(batch) = replica.largest_batch(most, job.tpot.0) else {
            hit(Obstacle::Tpot {
                best: replica.step(1.0, 1.0).total,
            });
            continue;
        };
        let step = replica.step(batch, batch);
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
    let at = |bus: f64| {
        let r = &choice.replica;
        let links = Links { bus, ..r.links };
        let step = Replica {
            links,
            board: r.board.clone(),
            ..*r
        }
        .step(choice.batch, choice.batch);
        choice.per_machine * choice.step.total / step.total * nodes
    };
    let pcie = choice.replica.bus.kind == BusKind::Pcie;
    let (link_low, link_high) = if pcie {
        (at(choice.replica.bus.low), at(choice.replica.bus.high))
    } else {
        (choice.per_machine * nodes, choice.per_machine * nodes)
    };
    let s = choice.step;
    let bound_by = if s.links > s.memory.max(s.products + s.prompts) {
        BoundBy::Network
    } else if s.memory >= s.products + s.prompts {
        BoundBy::MemoryBandwidth
    } else {
        BoundBy::Compute
    };
    let asked = serve_renter::Query {
        asked: serve_renter::Asked::Throughput,
        replica: choice.replica.on,
        board: choice.replica.board.clone(),
        room: choice.memory.kv_cache,
        concurrency: choice.batch,
        prompt: job.input_tokens,
        output: job.output_tokens,
    };
    let (class, notes) = judge(&choice, device, rate.kind, cx);
    Ok(Outcome {
        steps: None,
        unit: WorkUnit::Token,
        per_second: choice.per_machine * nodes,
        link_low,
        link_high,
        class,
        fitted: Some(calibration.range(&asked, c.range.unseen_architecture)),
        measured: device.measured,
        bound_by,
        memory: choice.memory,
        layout: Layout {
            data_parallel: (gpus / choice.replica.on.gpus as u32) * nodes as u32,
            tensor_parallel: choice.replica.on.gpus as u32,
            pipeline_parallel: 1,
            batch: choice.batch,
            activation_checkpointing: false,
            zero_stage: 0,
        },
        terms: terms(&choice, asked.family(), cx),
        notes,
        seconds_per_output_token: Some(s.total),
    })
}

/// Tensor parallel over PCIe has its own fit, held within the range of the bus.
fn links(bus: &Bus, device: &Device<'_>, c: &serve_renter::Coefficients) -> Links {
    match bus.kind {
        BusKind::Pcie => {
            let fitted = c.links(false, device.slot_one_way());
            Links {
                bus: fitted.bus.clamp(bus.low, bus.high),
                ..fitted
            }
        }
        _ => Links {
            bus: bus.mid,
            ..c.links(true, 1.0)
        },
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

/// The largest whole batch in 1..=`most` that is `within` a limit, which every smaller one then is too.
pub(crate) fn largest_batch(most: f64, within: impl Fn(f64) -> bool) -> Option<f64> {
    if most < 1.0 || !within(1.0) {
        return None;
    }
    let (mut good, mut bad) = (1, most as u64 + 1);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if within(middle as f64) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Some(good as f64)
}
