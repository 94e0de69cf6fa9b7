//! What stands beside a served speed: how well the calibration fits the case, notes, the terms of the sum.

use super::Choice;
use crate::PerfContext;
use crate::outcome::{Terms, fixed, power};
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
    t.add(
        "batch",
        choice.batch,
        "sequences",
        Basis::Modelled,
        source,
        || {
            let room = choice.memory.usable - choice.memory.weights - choice.memory.overhead;
            Msg::new("formula-batch")
                .arg("limit", fixed(job.tpot.0 * 1e3, 1))
                .arg("held", fixed((room / r.reserved()).floor(), 0))
                .arg("admitted", fixed(admitted, 0))
        },
    );
    t.add("memory", s.memory, "s", Basis::Modelled, source, || {
        Msg::new("formula-memory-read")
            .arg("weights", power(on.weights()))
            .arg("gpus", on.gpus.to_string())
            .arg("gbs", fixed(on.chip.bandwidth / 1e9, 1))
            .arg("batch", choice.batch.to_string())
            .arg("kv", fixed(on.network.kv_values * on.kv_bytes, 0))
            .arg(
                "tokens",
                (job.input_tokens + job.output_tokens / 2.0).to_string(),
            )
            .arg("shards", on.shards().to_string())
    });
    t.add("compute", s.products, "s", Basis::Modelled, source, || {
        Msg::new("formula-decode-compute")
            .arg("params", power(on.network.active_params()))
            .arg("batch", choice.batch.to_string())
            .arg("gpus", on.gpus.to_string())
            .arg("flops", power(on.chip.flops))
    });
    t.add(
        "prefill_share",
        s.prompts,
        "s",
        Basis::Modelled,
        source,
        || {
            Msg::new("formula-prefill")
                .arg("batch", choice.batch.to_string())
                .arg("output", job.output_tokens.to_string())
                .arg("seconds", fixed(choice.prefill, 4))
                .arg("input", job.input_tokens.to_string())
        },
    );
    t.add("fixed", s.fixed, "s", Basis::Modelled, source, || {
        Msg::new("formula-per-step")
    });
    t.add("host", s.host, "s", Basis::Modelled, source, || {
        Msg::new("formula-host")
            .arg("batch", choice.batch.to_string())
            .arg("us", r.c.sequence_us.to_string())
    });
    if on.gpus > 1.0 {
        t.add("link", s.links, "s", Basis::Modelled, source, || {
            Msg::new("formula-tensor-link")
                .arg("layers", on.network.layers.to_string())
                .arg("us", fixed(r.links.reduce * 1e6, 1))
                .arg("batch", choice.batch.to_string())
                .arg("bytes", fixed(on.link_bytes(), 0))
                .arg("gbs", fixed(r.links.bus / 1e9, 1))
        });
    }
    t.add("step", s.total, "s", Basis::Modelled, source, || {
        Msg::new("formula-decode-step")
    });
    t
}
