//! Predictions of speed for readers: a job on named machines, or a whole table of measurements.

use crate::plan::doc::{term_doc, warning};
use crate::plan::explain::{layout_line, memory_lines, rate_line, term_table};
use crate::plan::view::gpu_label;
use crate::{Cell, Column, Report, Table, Texts, Tone};
use lessee_model::plan::{GpuDoc, WarningDoc, WorkDoc};
use lessee_model::{Machine, Msg, Prediction};
use schemars::JsonSchema;
use serde::Serialize;

/// `predict -o json`; with `-o jsonl` each line is one of `predictions`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PredictionsDoc {
    /// `lessee/prediction/v1`
    pub schema: String,
    pub generated_at: String,
    /// `renter`: what default settings give; `tuned`: what a vendor's tuned stack reaches.
    pub tier: String,
    /// The workload as typed.
    pub workload: serde_json::Value,
    pub predictions: Vec<PredictionDoc>,
}

/// One machine, or several of a kind together.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PredictionDoc {
    /// `provider/instance_type` of a catalogued machine; null for GPUs by name, whose CPUs and network are not known.
    pub machine: Option<String>,
    pub gpu: GpuDoc,
    pub nodes: u32,
    /// Speed of all nodes together; null where the machine cannot do the job.
    pub work: Option<WorkDoc>,
    /// Why it cannot.
    pub refused: Option<WarningDoc>,
    pub notes: Vec<WarningDoc>,
}

/// What `predict` answers of one machine.
pub struct Predicted<'a> {
    pub name: Option<String>,
    pub machine: &'a Machine,
    pub nodes: u32,
    /// Useful units of the whole job; `None` for a service, which has no end.
    pub units: Option<f64>,
    /// The prediction, or why there is none: code and message.
    pub outcome: Result<Prediction, (&'static str, Msg)>,
}

/// The machine's GPUs as a document.
fn gpu_doc(machine: &Machine) -> GpuDoc {
    GpuDoc {
        model: machine.gpu.model.to_string(),
        form: machine.gpu.form.map(|f| f.to_string()),
        count: u32::from(machine.gpu_count),
        memory_gb_each: machine.gpu.memory_gb,
        usable_mib_each: machine.usable_mib_each,
        fraction: f64::from(machine.gpu_fraction),
    }
}

/// One prediction as a document.
pub fn prediction_doc(predicted: &Predicted<'_>, texts: &Texts) -> PredictionDoc {
    let (work, refused, notes) = match &predicted.outcome {
        Ok(p) => {
            let work = WorkDoc {
                unit: p.unit,
                per_second: p.per_second,
                low: p.low,
                high: p.high,
                bound_by: p.bound_by,
                duration_seconds: predicted.units.unwrap_or(0.0) / p.per_second,
                duration_p90_seconds: predicted.units.unwrap_or(0.0) / p.low,
                basis: p.basis,
                memory: p.memory,
                layout: p.layout,
                terms: p.terms.iter().map(|t| term_doc(t, texts)).collect(),
            };
            (
                Some(work),
                None,
                p.notes.iter().map(|m| warning(m, texts)).collect(),
            )
        }
        Err((code, msg)) => {
            let refused = WarningDoc {
                code: (*code).to_owned(),
                text: texts.msg(msg),
            };
            (None, Some(refused), Vec::new())
        }
    };
    PredictionDoc {
        machine: predicted.name.clone(),
        gpu: gpu_doc(predicted.machine),
        nodes: predicted.nodes,
        work,
        refused,
        notes,
    }
}

/// Machines side by side; a single one with its derivation.
pub fn prediction_report(doc: &PredictionsDoc, texts: &Texts) -> Report {
    let data = serde_json::to_value(doc).unwrap_or_default();
    let mut report = Report::new(texts.get("predict-title"), data, "predictions");
    report.table(side_by_side(&doc.predictions, texts));
    if let [only] = doc.predictions.as_slice()
        && let Some(work) = &only.work
    {
        report.heading(texts.get("explain-speed"));
        report.table(term_table(work, texts));
        report.list(vec![rate_line(work, texts), layout_line(work, texts)]);
        report.heading(texts.get("explain-memory"));
        report.list(memory_lines(work, texts));
    }
    let refusals = doc.predictions.iter().filter_map(|p| {
        let why = p.refused.as_ref()?;
        Some(format!("{}: {}", label(p), why.text))
    });
    report.list(refusals.collect());
    let mut notes: Vec<String> = Vec::new();
    for p in &doc.predictions {
        for note in &p.notes {
            let line = match doc.predictions.len() {
                1 => note.text.clone(),
                _ => format!("{}: {}", label(p), note.text),
            };
            notes.push(line);
        }
    }
    if !notes.is_empty() {
        report.heading(texts.get("plan-warnings"));
        report.list(notes);
    }
    report.text(texts.get("predict-range-note"));
    report
}

fn label(p: &PredictionDoc) -> String {
    let gpus = gpu_label(&p.gpu);
    let machine = p
        .machine
        .as_ref()
        .map_or(gpus.clone(), |name| format!("{name} ({gpus})"));
    if p.nodes > 1 {
        format!("{} x {machine}", p.nodes)
    } else {
        machine
    }
}

fn side_by_side(predictions: &[PredictionDoc], texts: &Texts) -> Table {
    let unit = predictions
        .iter()
        .find_map(|p| p.work.as_ref())
        .map_or_else(String::new, |w| texts.term("unit", w.unit.as_str()));
    let rate = |id: &'static str| texts.msg(&Msg::new(id).arg("unit", unit.clone()));
    let mut table = Table::new(vec![
        Column::left("machine", texts.get("predict-col-machine"), 0),
        Column::right("per_second", rate("predict-col-rate"), 0),
        Column::right("low", texts.get("predict-col-low"), 0),
        Column::right("high", texts.get("predict-col-high"), 0),
        Column::left("bound_by", texts.get("predict-col-bound"), 0),
        Column::right("duration_seconds", texts.get("predict-col-duration"), 1),
        Column::right("memory_bytes", texts.get("predict-col-memory"), 2),
    ]);
    for p in predictions {
        let name = Cell::new(label(p));
        let Some(w) = &p.work else {
            let why = p.refused.as_ref().map_or("", |r| r.code.as_str());
            let word = texts.get("predict-refused");
            let blank = || Cell::new("");
            table.push(vec![
                name.tone(Tone::Dim),
                Cell::new("-").raw(""),
                blank(),
                blank(),
                Cell::new(word).raw(why).tone(Tone::Warn),
                blank(),
                blank(),
            ]);
            continue;
        };
        let number = |x: f64| Cell::new(texts.number(x)).raw(x.to_string());
        table.push(vec![
            name,
            number(w.per_second).tone(Tone::Strong),
            number(w.low),
            number(w.high),
            Cell::new(texts.term("bound", w.bound_by.as_str())).raw(w.bound_by.as_str()),
            if w.duration_seconds > 0.0 {
                Cell::new(texts.seconds(w.duration_seconds)).raw(w.duration_seconds.to_string())
            } else {
                Cell::new("-").raw("").tone(Tone::Dim)
            },
            Cell::new(texts.bytes(w.memory.total())).raw(w.memory.total().to_string()),
        ]);
    }
    table
}
