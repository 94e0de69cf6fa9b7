//! Serving a language model on a tuned server: the formula of [`crate::formula::serve_decode_tuned`], at the largest
//! batch that memory and the objective of time per token allow, over the tensor-parallel widths inside a machine.

use super::no_tuned;
use crate::formula::Question;
use crate::formula::serve_decode_tuned::{Coefficients, Deployment, Query};
use crate::formula::serve_tuned::{Pace, Replica};
use crate::nofit::NoFit;
use crate::outcome::{Outcome, Terms, fixed, power};
use crate::predict::PerfContext;
use crate::range::Class;
use crate::spec::Device;
use crate::sync::{BusKind, bus};
use crate::table::served_tuned::on_device;
use lessee_model::{
    Basis, BoundBy, Machine, MemoryUse, ModelKind, Msg, WorkUnit, perf::Layout, workload::ServeJob,
};

struct Choice {
    asked: Query,
    pace: Pace,
    /// Seconds per output token.
    token: f64,
    per_machine: f64,
}

impl Choice {
    fn prompt(&self) -> f64 {
        self.asked.replica.prompt(self.asked.prompt, &self.pace)
    }
}

/// The largest whole batch in 1..=`most` whose time per token stays within `limit` seconds.
fn largest_batch(asked: &Query, c: &Coefficients, most: f64, limit: f64) -> Option<f64> {
    crate::serve::largest_batch(most, |batch| {
        let at = Query {
            concurrency: batch,
            ..asked.clone()
        };
        at.token_time(c) <= limit
    })
}

/// Room of one request of this length on all GPUs of a replica, bytes.
fn each(on: &Replica, tokens: f64) -> f64 {
    on.network.kv_values * on.kv_bytes * tokens * on.gpus / on.shards()
}

/// Output tokens per second that `nodes` machines sustain within the objective.
///
/// # Errors
/// `no_tuned` for other models than language models; else as the renter's formula.
pub(super) fn predict(
    job: &ServeJob,
    machine: &Machine,
    device: &Device<'_>,
    nodes: u32,
    cx: PerfContext<'_>,
) -> Result<Outcome, NoFit> {
    let all = &cx.tables.coefficients;
    let model = &job.model;
    if model.kind != ModelKind::Llm {
        return Err(no_tuned(&model.name));
    }
    let length = job.input_tokens + job.output_tokens;
    if let Some(context) = model.context.filter(|c| length > *c) {
        let msg = Msg::new("perf-context")
            .arg("needed", length)
            .arg("context", context);
        return Err(NoFit::new("context_too_long", msg));
    }
    device.at_least_capability(all.serve.min_compute_capability)?;
    let rate = device.rate(job.precision)?;
    let calibration = &cx.tables.calibration;
    let kv_bytes = all.bytes_per_kv_value.of(job.kv_precision);
    let on_one = on_device(device, model, job.precision, kv_bytes, 1.0)?;
    let c = if on_one.network.is_mixture() {
        &calibration.serve_decode_moe_tuned.coefficients
    } else {
        &calibration.serve_decode_tuned.coefficients
    };
    let gpus = u32::from(machine.gpu_count);
    let heads = model.heads.unwrap_or(0.0);
    let usable = device.memory * c.usable_share;
    let late = |code, id, best: f64, limit: f64| {
        let msg = Msg::new(id)
            .arg("best", best * 1e3)
            .arg("limit", limit * 1e3);
        NoFit::new(code, msg)
    };
    let mut refusal = None;
    let mut best: Option<Choice> = None;
    for tp in [1u32, 2, 4, 8] {
        if tp > gpus || heads % f64::from(tp) != 0.0 {
            continue;
        }
        let replica = Replica {
            gpus: f64::from(tp),
            ..on_one
        };
        let room = usable * replica.gpus - replica.weights();
        let fits = (room / each(&replica, length)).floor();
        if fits < 1.0 {
            let needed = (replica.weights() + each(&replica, length)) / replica.gpus;
            refusal = Some(NoFit::memory(needed, usable));
            continue;
        }
        let asked = Query {
            replica,
            deployment: Deployment::Machine,
            // none in particular: the mean of those fitted
            engine: String::new(),
            concurrency: 1.0,
            prompt: job.input_tokens,
            output: job.output_tokens,
            arch: device.spec.arch.to_string(),
        };
        let pace = c.pace("", replica.width);
        let first = replica.prompt(job.input_tokens, &pace);
        if let Some(ttft) = job.ttft.filter(|ttft| first > ttft.0) {
            refusal = Some(late(
                "ttft_unreachable",
                "perf-ttft-unreachable",
                first,
                ttft.0,
            ));
            continue;
        }
        let most = fits.min(all.serve.max_batch);
        let Some(batch) = largest_batch(&asked, c, most, job.tpot.0) else {
            let alone = asked.token_time(c);
            refusal = Some(late(
                "tpot_unreachable",
                "perf-tpot-unreachable",
                alone,
                job.tpot.0,
            ));
            continue;
        };
        let asked = Query {
            concurrency: batch,
            ..asked
        };
        let token = asked.token_time(c);
        let per_machine = f64::from(gpus / tp) * batch / token;
        if best.as_ref().is_none_or(|b| per_machine > b.per_machine) {
            best = Some(Choice {
                asked,
                pace,
                token,
                per_machine,
            });
        }
    }
    let Some(choice) = best else {
        let few = || NoFit::new("too_few_gpus", Msg::new("perf-too-few-gpus"));
        return Err(refusal.unwrap_or_else(few));
    };
    let on = choice.asked.replica;
    let tp = on.gpus as u32;
    let batch = choice.asked.concurrency;
    let mut class = device.class(&["Hopper", "Blackwell"], rate.kind);
    let mut notes = vec![Msg::new("perf-tuned-serving")];
    device.notes(rate.kind, &mut notes);
    if tp > 1 && bus(machine, device, tp, cx).kind == BusKind::Pcie {
        class = Class::Thin;
        notes.push(Msg::new("perf-pcie-tensor-parallel"));
    }
    if on.network.is_mixture() {
        class = class.max(Class::Outside);
        notes.push(Msg::new("perf-mixture"));
    }
    if job.ttft.is_some() {
        notes.push(Msg::new("perf-ttft-unloaded").seconds("prefill", choice.prompt()));
    }
    let per_second = choice.per_machine * f64::from(nodes);
    let products = 2.0 * on.network.active_params() * batch
        / (on.gpus * choice.pace.decode_mfu * on.chip.flops);
    let memory_bound = on.weight_time(&choice.pace) >= products;
    Ok(Outcome {
        steps: None,
        unit: WorkUnit::Token,
        per_second,
        link_low: per_second,
        link_high: per_second,
        class,
        fitted: Some(calibration.range(&choice.asked, all.range.unseen_architecture)),
        measured: device.measured,
        bound_by: if memory_bound {
            BoundBy::MemoryBandwidth
        } else {
            BoundBy::Compute
        },
        memory: MemoryUse {
            weights: on.weights() / on.gpus,
            kv_cache: batch * each(&on, length) / on.gpus,
            usable,
            ..MemoryUse::default()
        },
        layout: Layout {
            data_parallel: gpus / tp * nodes,
            tensor_parallel: tp,
            pipeline_parallel: 1,
            batch,
            activation_checkpointing: false,
            zero_stage: 0,
        },
        terms: terms(&choice, products, cx),
        notes,
        seconds_per_output_token: Some(choice.token),
    })
}

fn terms(choice: &Choice, products: f64, cx: PerfContext<'_>) -> Terms {
    let mut t = Terms::new(cx);
    let fit = cx.tables.calibration.fit(choice.asked.family());
    let source = fit.map_or("", |fit| fit.source.as_str());
    let (asked, on, pace) = (&choice.asked, &choice.asked.replica, &choice.pace);
    let basis = Basis::Modelled;
    t.add(
        "batch",
        asked.concurrency,
        "sequences",
        basis,
        source,
        || Msg::new("formula-tuned-batch"),
    );
    t.add("memory", on.weight_time(pace), "s", basis, source, || {
        Msg::new("formula-tuned-memory")
            .arg("weights", power(on.weights()))
            .arg("gpus", on.gpus.to_string())
            .arg("share", fixed(pace.weight_bandwidth, 2))
            .arg("gbs", fixed(on.chip.bandwidth / 1e9, 1))
    });
    t.add("compute", products, "s", basis, source, || {
        Msg::new("formula-tuned-compute")
            .arg("params", power(on.network.active_params()))
            .arg("batch", asked.concurrency.to_string())
            .arg("gpus", on.gpus.to_string())
            .arg("share", fixed(pace.decode_mfu, 2))
            .arg("flops", power(on.chip.flops))
    });
    let step = on.step(asked.concurrency, asked.context(), pace);
    t.add(
        "prefill_share",
        choice.token - step,
        "s",
        basis,
        source,
        || Msg::new("formula-tuned-prefill").arg("seconds", fixed(choice.prompt(), 4)),
    );
    t.add("step", choice.token, "s", basis, source, || {
        Msg::new("formula-tuned-step")
    });
    t
}
