//! What stands beside a served speed: how well the calibration fits the case, notes, the terms of the sum.

use super::Choice;
use crate::PerfContext;
use crate::outcome::Terms;
use crate::range::Class;
use crate::spec::{Device, RateKind};
use crate::sync::BusKind;
use lessee_model::{Basis, Msg, workload::Precision};

pub(super) fn judge(
    choice: &Choice<'_>,
    device: &Device<'_>,
    kind: RateKind,
    cx: PerfContext<'_>,
) -> (Class, Vec<Msg>) {
    let job = choice.replica.job;
    let mut class = device.class(&["Ampere", "Ada", "Hopper", "Blackwell"], kind);
    let mut notes = Vec::new();
    device.notes(kind, &mut notes);
    let sixteen_bit = matches!(job.precision, Precision::Bf16 | Precision::Fp16);
    let calibrated = cx.tables.coefficients.serve.calibrated_batch * choice.replica.on.gpus;
    if !sixteen_bit || choice.batch > calibrated {
        class = class.max(Class::Outside);
    }
    if choice.replica.on.network.is_mixture() {
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

pub(super) fn terms(choice: &Choice<'_>, family: &str, cx: PerfContext<'_>) -> Terms {
    let mut t = Terms::new(cx);
    let fit = cx.tables.calibration.fit(family);
    let source = fit.map_or("", |fit| fit.source.as_str());
    let (r, s) = (&choice.replica, choice.step);
    let (on, job) = (&r.on, r.job);
    let admitted = cx.tables.coefficients.serve.max_batch;
    t.add("batch", choice.batch, "sequences", Basis::Modelled, source, || {
        let room = choice.memory.usable - choice.memory.weights - choice.memory.overhead;
        format!(
            "largest with step <= {:.1} ms; memory holds {:.0}, the engine admits {admitted:.0}",
            job.tpot.0 * 1e3,
            (room / r.reserved()).floor(),
        )
    });
    t.add("memory", s.memory, "s", Basis::Modelled, source, || {
        format!(
            "{:.3e} B weights / ({} x share x {:.1} GB/s) + {} x {:.0} B x {} tokens / ({} x {:.1} GB/s)",
            on.weights(),
            on.gpus,
            on.chip.bandwidth / 1e9,
            choice.batch,
            on.network.kv_values * on.kv_bytes,
            job.input_tokens + job.output_tokens / 2.0,
            on.shards(),
            on.chip.bandwidth / 1e9
        )
    });
    t.add("compute", s.products, "s", Basis::Modelled, source, || {
        format!(
            "2 x {:.3e} x {} / ({} x what power and mfu leave of {:.3e} FLOP/s)",
            on.network.active_params(),
            choice.batch,
            on.gpus,
            on.chip.flops
        )
    });
    t.add(
        "prefill_share",
        s.prompts,
        "s",
        Basis::Modelled,
        source,
        || {
            format!(
                "{} / {} x {:.4} s for a prompt of {} tokens",
                choice.batch, job.output_tokens, choice.prefill, job.input_tokens
            )
        },
    );
    t.add("fixed", s.fixed, "s", Basis::Modelled, source, || {
        "per step".to_owned()
    });
    t.add("host", s.host, "s", Basis::Modelled, source, || {
        format!("{} x {} us", choice.batch, r.c.sequence_us)
    });
    if on.gpus > 1.0 {
        t.add("link", s.links, "s", Basis::Modelled, source, || {
            format!(
                "2 x {} layers x {:.1} us + {} x {:.0} B / {:.1} GB/s",
                on.network.layers,
                r.links.reduce * 1e6,
                choice.batch,
                on.link_bytes(),
                r.links.bus / 1e9
            )
        });
    }
    t.add("step", s.total, "s", Basis::Modelled, source, || {
        "((sqrt(memory^2 + compute^2) + prefill share + link + fixed)^3 + host^3)^(1/3)".to_owned()
    });
    t
}
