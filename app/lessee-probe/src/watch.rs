//! `probe watch`: what the utilisation curve of a job shows.

use crate::{Answer, Facts, ProbeFailure, ProbeWatchArgs, Screen, input, live};
use lessee_model::{Exit, Msg};
use lessee_probe_io::watch::{self, Options, Recording, power_limit};
use lessee_report::{Cell, Column, Report, Table, Texts, Tone};
use lessee_supervise::curve::{self, Confidence, GpuId, Label, Reading};
use schemars::JsonSchema;
use serde::Serialize;

/// A log of a week at one sample a second and eight GPUs is a third of this.
const MAX_LOG_BYTES: u64 = 1 << 30;
/// Spans that people are shown of one GPU; programs get all.
const SHOWN: usize = 12;

/// `lessee/watch/v1`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WatchDoc {
    pub schema: String,
    pub file: String,
    /// What the log is the output of.
    pub format: String,
    /// The log has no time, and nobody gave an interval: this one was taken.
    pub assumed_sample_seconds: Option<f64>,
    pub gpus: Vec<GpuDoc>,
    /// GPUs that went away while they were watched.
    pub lost: Vec<LostDoc>,
    /// The driver stopped answering, so that the watch ended.
    pub driver_silent: bool,
    pub not_understood: Vec<LineDoc>,
    /// All lines that were not understood.
    pub not_understood_count: u64,
}

/// The reading of one GPU.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GpuDoc {
    /// Index, else UUID or address.
    pub gpu: GpuId,
    pub samples: u64,
    /// From the first to the last sample.
    pub seconds: f64,
    pub label: Label,
    pub confidence: Confidence,
    pub why: String,
    pub spans: Vec<SpanDoc>,
}

/// A stretch of the curve.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SpanDoc {
    pub label: Label,
    pub from_s: f64,
    pub to_s: f64,
    /// Probable.
    pub cause: String,
}

/// A GPU that went away.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LostDoc {
    pub gpu: u32,
    pub at_s: f64,
    /// As the driver says it.
    pub error: String,
}

/// A line of the log.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LineDoc {
    pub line: u64,
    pub text: String,
}

pub(crate) fn run(
    args: &ProbeWatchArgs,
    facts: Facts<'_>,
    screen: Screen<'_>,
    texts: &Texts,
) -> Result<Answer, ProbeFailure> {
    let power_limit_w = match &args.gpu {
        Some(model) => Some(power_limit(facts.gpus, model).map_err(ProbeFailure::Watch)?),
        None => None,
    };
    let Some(from) = &args.from else {
        let mut watched = live::watch(args, screen, texts)?;
        if let Some(watts) = power_limit_w {
            watched.recording.assume_power_limit(watts);
        }
        let readings = curve::read(&watched.recording.series, facts.curves);
        let mut doc = doc("live".to_owned(), &watched.recording, &readings, texts);
        doc.driver_silent = watched.driver_silent;
        doc.lost = watched.lost;
        return Ok(answer(&doc, texts));
    };
    let file = from.display().to_string();
    let bytes = input::bytes(from, MAX_LOG_BYTES)?;
    if bytes.len() as u64 > MAX_LOG_BYTES {
        let limit = MAX_LOG_BYTES;
        return Err(ProbeFailure::TooLarge { path: file, limit });
    }
    let options = Options {
        sample_s: args.sample_seconds,
        power_limit_w,
    };
    let text = lessee_probe_io::decoded(&bytes);
    let recording = watch::read(&file, &text, &options).map_err(ProbeFailure::Watch)?;
    let readings = curve::read(&recording.series, facts.curves);
    Ok(answer(&doc(file, &recording, &readings, texts), texts))
}

fn answer(doc: &WatchDoc, texts: &Texts) -> Answer {
    let data = serde_json::to_value(doc).unwrap_or_default();
    let mut report = Report::new(texts.get("probe-watch-title"), data, "gpus");
    view(&mut report, doc, texts);
    // a curve that cannot be told is an answer, with its label; only a driver that is silent gave none
    let exit = match (doc.lost.is_empty(), doc.driver_silent) {
        (false, _) => Exit::No,
        (true, true) => Exit::CannotTell,
        (true, false) => Exit::Done,
    };
    Answer { report, exit }
}

fn doc(file: String, recording: &Recording, readings: &[Reading], texts: &Texts) -> WatchDoc {
    let one = |(reading, series): (&Reading, &curve::Series)| {
        let times = series.samples.iter().map(|s| s.t_s);
        let (first, last) = times.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| {
            (a.min(t), b.max(t))
        });
        let span = |s: &curve::Span| SpanDoc {
            label: s.label,
            from_s: s.from_s,
            to_s: s.to_s,
            cause: texts.msg(&s.cause),
        };
        GpuDoc {
            gpu: reading.gpu.clone(),
            samples: series.samples.len() as u64,
            seconds: if last >= first { last - first } else { 0.0 },
            label: reading.label,
            confidence: reading.confidence,
            why: texts.msg(&reading.why),
            spans: reading.spans.iter().map(span).collect(),
        }
    };
    let line = |(line, text): &(usize, String)| LineDoc {
        line: *line as u64,
        text: text.clone(),
    };
    WatchDoc {
        schema: "lessee/watch/v1".to_owned(),
        file,
        format: recording.format.as_str().to_owned(),
        assumed_sample_seconds: recording.assumed_step_s,
        gpus: readings.iter().zip(&recording.series).map(one).collect(),
        lost: Vec::new(),
        driver_silent: false,
        not_understood: recording.not_understood.iter().map(line).collect(),
        not_understood_count: recording.skipped as u64,
    }
}

fn view(report: &mut Report, doc: &WatchDoc, texts: &Texts) {
    let mut table = Table::new(vec![
        Column::left("gpu", texts.get("probe-col-index"), 0),
        Column::left("label", texts.get("watch-col-label"), 0),
        Column::left("confidence", texts.get("watch-col-confidence"), 0),
        Column::right("samples", texts.get("watch-col-samples"), 2),
        Column::right("seconds", texts.get("watch-col-time"), 1),
        Column::machines("why", texts.get("watch-col-why")),
    ]);
    for gpu in &doc.gpus {
        let confidence = confidence(gpu.confidence);
        table.push(vec![
            Cell::new(gpu.gpu.to_string()),
            Cell::new(texts.term("watch-label", &key(gpu.label)))
                .raw(gpu.label.as_str())
                .tone(tone(gpu.label)),
            Cell::new(texts.term("watch-confidence", confidence)).raw(confidence),
            Cell::new(gpu.samples.to_string()),
            Cell::new(texts.seconds(gpu.seconds)).raw(gpu.seconds.to_string()),
            Cell::new(gpu.why.clone()),
        ]);
    }
    report.table(table);
    let mut ends: Vec<String> = doc
        .lost
        .iter()
        .map(|lost| texts.msg(&lost.msg(texts)))
        .collect();
    if doc.driver_silent {
        ends.push(texts.get("watch-silent"));
    }
    report.list(ends);
    for gpu in &doc.gpus {
        let mut lines = vec![gpu.why.clone()];
        lines.extend(gpu.spans.iter().take(SHOWN).map(|s| {
            let span = Msg::new("watch-span")
                .seconds("from", s.from_s)
                .seconds("to", s.to_s)
                .arg("label", texts.term("watch-label", &key(s.label)))
                .arg("cause", s.cause.clone());
            texts.msg(&span)
        }));
        if gpu.spans.len() > SHOWN {
            let left = gpu.spans.len() - SHOWN;
            lines.push(texts.msg(&Msg::new("probe-more").arg("n", left)));
        }
        report.heading(texts.msg(&Msg::new("watch-gpu").arg("gpu", gpu.gpu.to_string())));
        report.list(lines);
    }
    let mut notes = Vec::new();
    if let Some(s) = doc.assumed_sample_seconds {
        notes.push(texts.msg(&Msg::new("watch-assumed-step").seconds("step", s)));
    }
    if doc.not_understood_count > 0 {
        let n = doc.not_understood_count as f64;
        notes.push(texts.msg(&Msg::new("probe-not-understood").arg("n", n)));
    }
    report.list(notes);
}

impl LostDoc {
    pub(crate) fn msg(&self, texts: &Texts) -> Msg {
        Msg::new("watch-lost")
            .arg("gpu", self.gpu.to_string())
            .arg("at", texts.seconds(self.at_s))
            .arg("error", self.error.clone())
    }
}

/// Part of a message's name.
fn key(label: Label) -> String {
    label.as_str().to_lowercase().replace('_', "-")
}

fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "low",
        Confidence::Possible => "possible",
        Confidence::High => "high",
    }
}

fn tone(label: Label) -> Tone {
    match label {
        Label::HealthyTraining
        | Label::HealthyComputeBound
        | Label::HealthyMemoryBound
        | Label::HealthyBurstyServing => Tone::Good,
        Label::HungBusySpin | Label::HungCollective => Tone::Bad,
        _ => Tone::Warn,
    }
}
