//! What follows from a load: results that are wrong, a GPU slower than its siblings, and rates that fall.

use super::{GpuTensor, Tensor};
use crate::gpu::finding::{Finding, Severity};
use crate::gpu::look::throttle_code;
use crate::gpu::prove::{Rules, below, failed};
use crate::gpu::{Reason, Seen};
use std::collections::BTreeMap;

pub(super) fn judge(tensor: &Tensor, rules: &Rules) -> Vec<Finding> {
    let mut out = Vec::new();
    if let Some(error) = &tensor.start_error {
        let reason = Seen::<()>::without(error).reason().cloned();
        out.extend(reason.map(|r| failed(&r, "machine")));
    }
    let mut alike: BTreeMap<&str, Vec<(u32, f64)>> = BTreeMap::new();
    for gpu in &tensor.gpus {
        one(gpu, rules, &mut out);
        if let (Some(name), Some(sustained)) = (gpu.name.value(), gpu.sustained.value()) {
            let figure = (gpu.index.unwrap_or(gpu.cuda_index), sustained.tflops);
            alike.entry(name).or_default().push(figure);
        }
    }
    for figures in alike.values() {
        for (index, tflops, middle) in below(figures, rules) {
            let detail = format!("{tflops:.0} TFLOP/s, its siblings {middle:.0}");
            let subject = format!("gpu {index}");
            out.push(Finding::new(Severity::Fail, "tensor_slow", subject, detail));
        }
    }
    out.sort_by_key(|f| std::cmp::Reverse(f.severity));
    out
}

fn one(gpu: &GpuTensor, rules: &Rules, out: &mut Vec<Finding>) {
    let subject = format!("gpu {}", gpu.index.unwrap_or(gpu.cuda_index));
    let mut push = |severity, code, detail: String| {
        out.push(Finding::new(severity, code, subject.clone(), detail));
    };
    if let Some(results) = gpu.results.get()
        && results.wrong > 0
    {
        let detail = format!(
            "{} of {} sums of products are wrong",
            results.wrong, results.words
        );
        push(Severity::Fail, "compute_error", detail);
        return;
    }
    match gpu.sustained.reason().or(gpu.results.reason()) {
        // left out on purpose, or too old for it: both stand in the figures
        Some(Reason {
            code: "not_tried" | "no_matrix_unit",
            ..
        })
        | None => {}
        Some(reason) => out.push(failed(reason, &subject)),
    }
    let Some(sustained) = gpu.sustained.value() else {
        return;
    };
    let mut push = |severity, code, detail: String| {
        out.push(Finding::new(severity, code, subject.clone(), detail));
    };
    let rates = format!(
        "{:.0} TFLOP/s in the first {:.0} s, {:.0} in the last",
        sustained.first_tflops, sustained.window_s, sustained.last_tflops
    );
    let mut held: BTreeMap<&'static str, Vec<&str>> = BTreeMap::new();
    for reason in &sustained.clock_reasons {
        if let Some(code) = throttle_code(reason) {
            held.entry(code).or_default().push(reason);
        }
    }
    let hottest = sustained.moments.iter().filter_map(|m| m.temperature_c);
    let heat = hottest.reduce(f64::max).map(|c| format!(", {c} °C"));
    let heat = heat.unwrap_or_default();
    for (code, reasons) in &held {
        let detail = format!("{}{heat}: {rates}", reasons.join(" "));
        push(Severity::Fail, code, detail);
    }
    let fades = sustained.last_tflops < sustained.first_tflops * (1.0 - rules.tensor.fades);
    if fades && held.is_empty() {
        push(Severity::Warn, "tensor_fades", rates);
    }
}
