//! The matrix rate that lasts: how it began, how it ended, and what held it back.

use super::rows::{number, reason};
use lessee_model::probe::{Fact, GpuReading, Moment, Sustained};
use lessee_model::{Msg, ProbeReport};
use lessee_report::{Cell, Column, Report, Table, Texts, Tone};

pub(super) fn section(report: &mut Report, doc: &ProbeReport, texts: &Texts) {
    let Some(load) = &doc.tensor else {
        return;
    };
    report.heading(texts.get("probe-tensor-title"));
    report.text(texts.msg(&Msg::new("probe-tensor-load").seconds("seconds", load.seconds)));
    let tried = |g: &&GpuReading| g.tensor.is_some();
    let gpus: Vec<&GpuReading> = doc.gpus.iter().filter(tried).collect();
    if gpus.iter().any(|g| sustained(g).is_some()) {
        report.table(table(&gpus, texts));
    }
    report.list(lines(&gpus, texts));
    let far = |g: &&GpuReading| {
        let near = g.tensor.as_ref().and_then(|t| t.near_peak.value());
        near == Some(&false)
    };
    if gpus.iter().any(far) {
        report.text(texts.get("probe-tensor-far"));
        if let Some(folder) = &load.cublas_lt {
            report.text(texts.msg(&Msg::new("probe-tensor-better").arg("folder", folder.clone())));
        }
    }
}

fn sustained(gpu: &GpuReading) -> Option<&Sustained> {
    gpu.tensor.as_ref()?.sustained.value()
}

fn table(gpus: &[&GpuReading], texts: &Texts) -> Table {
    let right = |key, id| Column::right(key, texts.get(id), 0);
    let mut table = Table::new(vec![
        right("gpu", "probe-col-index"),
        right("tflops", "probe-col-tensor"),
        right("first_tflops", "probe-col-first"),
        right("last_tflops", "probe-col-last"),
        right("sm_clock_mhz", "probe-col-clock"),
        right("power_w", "probe-col-watts"),
        right("temperature_c", "probe-col-heat"),
    ]);
    for gpu in gpus {
        let mut row = vec![Cell::new(gpu.index.to_string())];
        match sustained(gpu) {
            Some(s) => {
                let rates = [s.tflops, s.first_tflops, s.last_tflops];
                row.extend(rates.map(|rate| number(rate, texts)));
                row.push(course(s, |m| m.sm_clock_mhz));
                row.push(course(s, |m| m.power_w));
                row.push(course(s, |m| m.temperature_c));
            }
            None => row.extend((0..6).map(|_| Cell::unknown())),
        }
        table.push(row);
    }
    table
}

/// Means of the first seconds and of the last, where they differ.
fn course(sustained: &Sustained, of: impl Fn(&Moment) -> Option<f64>) -> Cell {
    let mean = |within: &dyn Fn(f64) -> bool| {
        let moments = sustained.moments.iter().filter(|m| within(m.t_s));
        let values: Vec<f64> = moments.filter_map(&of).collect();
        (!values.is_empty()).then(|| (values.iter().sum::<f64>() / values.len() as f64).round())
    };
    let first = mean(&|t| t <= sustained.window_s);
    let last = mean(&|t| t > sustained.seconds - sustained.window_s);
    match (first, last) {
        (Some(first), Some(last)) if first == last => Cell::new(first.to_string()),
        (Some(first), Some(last)) => {
            Cell::new(format!("{first} > {last}")).raw(format!("{first} {last}"))
        }
        (Some(one), None) | (None, Some(one)) => Cell::new(one.to_string()),
        (None, None) => Cell::unknown().tone(Tone::Dim),
    }
}

/// By which kernel, what held clocks back, and why there is no rate: each once, with the GPUs that it concerns.
fn lines(gpus: &[&GpuReading], texts: &Texts) -> Vec<String> {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for gpu in gpus {
        let Some(tensor) = &gpu.tensor else {
            continue;
        };
        let mut says = Vec::new();
        if let (Some(method), Some(results)) = (tensor.method.value(), tensor.results.value()) {
            let id = match results.wrong {
                0 => "probe-tensor-method",
                _ => "probe-tensor-wrong",
            };
            says.push(texts.msg(&Msg::new(id).arg("method", method.clone())));
        }
        let held = tensor.sustained.value().map(|s| &s.clock_reasons);
        says.extend(
            held.into_iter()
                .flatten()
                .map(|code| texts.msg(&Msg::new("probe-tensor-held").arg("code", code.clone()))),
        );
        let wrong = tensor.results.value().is_some_and(|r| r.wrong > 0);
        if let (Some(why), false) = (Fact::reason(&tensor.sustained), wrong) {
            says.push(reason(why, texts));
        }
        for line in says {
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, of)) => of.push(gpu.index.to_string()),
                None => lines.push((line, vec![gpu.index.to_string()])),
            }
        }
    }
    let line = |(why, of): (String, Vec<String>)| {
        let line = Msg::new("probe-gpu-reason")
            .arg("gpus", of.join(", "))
            .arg("why", why);
        texts.msg(&line)
    };
    lines.into_iter().map(line).collect()
}
