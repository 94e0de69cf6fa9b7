//! `predict`: how fast GPUs do a job, with a range, or every row of a table of measurements. No prices here.

use super::input::{probe, without_nulls, workload};
use crate::args::{PredictArgs, Tier};
use crate::facts;
use lessee_catalog::{Facts, Line, read_input, read_measurements, read_path};
use lessee_console::Failure;
use lessee_console::Printer;
use lessee_console::Settings;
use lessee_model::workload::{Job, Workload};
use lessee_model::{
    AcceleratorClass, Confidence, Exit, GpuFilter, GpuRef, Machine, Msg, ProbeReport, did_you_mean,
};
use lessee_perf::table::{TableContext, answer};
use lessee_perf::{PerfContext, predict, predict_tuned};
use lessee_plan::same_gpu;
use lessee_report::Texts;
use lessee_report::predict::{Predicted, PredictionsDoc, prediction_doc, prediction_report};
use lessee_report::predict_table::{
    PredictedRowDoc, prediction_table_doc, prediction_table_report,
};
use std::path::Path;
use std::sync::Arc;

pub(crate) fn run(
    args: PredictArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let facts = facts::load_reporting(settings, printer)?;
    if let Some(path) = &args.table {
        return table(path, &facts, printer);
    }
    let (typed, workload) = workload(args.file.as_deref(), &args.fields, &facts, settings)?;
    let measured = args.measured.as_deref().map(probe).transpose()?;
    let machines = machines(&args.machine, &workload, &facts)?;
    let texts = printer.texts();
    let predictions = machines
        .iter()
        .map(|(name, machine)| {
            let same = |report: &&ProbeReport| same_gpu(report, machine, &facts.gpus);
            let cx = PerfContext {
                gpus: &facts.gpus,
                tables: &facts.perf,
                measured: measured.as_ref().filter(same),
                detail: true,
            };
            let asked = match args.tier {
                Tier::Renter => predict,
                Tier::Tuned => predict_tuned,
            };
            let outcome = asked(&workload.job, &workload.data, machine, args.nodes, cx);
            let predicted = Predicted {
                name: name.clone(),
                machine,
                nodes: args.nodes,
                units: (!matches!(workload.job, Job::Serve(_))).then(|| workload.job.units()),
                outcome: outcome.map_err(|why| (why.code, why.msg)),
            };
            prediction_doc(&predicted, texts)
        })
        .collect();
    let doc = PredictionsDoc {
        schema: "lessee/prediction/v1".to_owned(),
        generated_at: settings.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        tier: args.tier.key().to_owned(),
        workload: without_nulls(serde_json::to_value(&typed).unwrap_or_default()),
        predictions,
    };
    printer.report(prediction_report(&doc, texts))?;
    if let (Some(report), Some(file)) = (&measured, &args.measured) {
        let others = machines.iter().map(|(_, machine)| machine);
        let mut others: Vec<String> = others
            .filter(|machine| !same_gpu(report, machine, &facts.gpus))
            .map(|machine| machine.gpu.to_string())
            .collect();
        others.dedup();
        if !others.is_empty() {
            let of = report.gpus.first().map_or("?", |gpu| gpu.name.as_str());
            let msg = Msg::new("predict-measured-other")
                .arg("file", file.display().to_string())
                .arg("what", of)
                .arg("gpu", others.join(", "));
            printer.warn(&msg);
        }
    }
    let possible = doc.predictions.iter().any(|p| p.work.is_some());
    Ok(if possible { Exit::Done } else { Exit::No })
}

/// The machines asked for: of the catalog by name, and GPUs by the workload's `gpus`.
fn machines(
    named: &[String],
    workload: &Workload,
    facts: &Facts,
) -> Result<Vec<(Option<String>, Machine)>, Failure> {
    let mut machines = Vec::new();
    for name in named {
        let (machine, key) = catalogued(name, facts)?;
        machines.push((Some(key), machine));
    }
    for filter in &workload.constraints.gpus {
        machines.push((None, bare(filter, facts)?));
    }
    if machines.is_empty() {
        return Err(
            Failure::usage(Msg::new("predict-needs-gpu")).hint(Msg::new("hint-predict-gpu"))
        );
    }
    Ok(machines)
}

/// `aws/p4d.24xlarge`, with or without `@region`.
fn catalogued(name: &str, facts: &Facts) -> Result<(Machine, String), Failure> {
    let wanted = name.split('@').next().unwrap_or(name);
    let key = |o: &lessee_model::Offer| format!("{}/{}", o.provider, o.instance_type);
    let found = facts.catalog.offers.iter().find(|o| key(o) == wanted);
    if let Some(offer) = found
        && let Some(machine) = facts.catalog.machines.get(offer.machine.0 as usize)
    {
        return Ok((machine.clone(), wanted.to_owned()));
    }
    let failure = Failure::usage(Msg::new("why-not-unknown-offer").arg("offer", name));
    let names: Vec<String> = facts.catalog.offers.iter().map(key).collect();
    Err(
        match did_you_mean(wanted, names.iter().map(String::as_str)) {
            Some(word) => failure.hint(Msg::new("hint-did-you-mean").arg("word", word)),
            None => failure,
        },
    )
}

/// GPUs alone: how they are linked follows from their form, what feeds them is not known and does not limit.
pub(super) fn bare(filter: &GpuFilter, facts: &Facts) -> Result<Machine, Failure> {
    let unknown = || {
        let failure = Failure::usage(Msg::new("perf-no-spec").arg("gpu", filter.name.clone()));
        match facts.gpus.suggest(&filter.name) {
            Some(word) => failure.hint(Msg::new("hint-did-you-mean").arg("word", word)),
            None => failure,
        }
    };
    let gpu = facts.gpus.resolve(&filter.name).ok_or_else(unknown)?;
    let found = facts.gpus.spec(&gpu).ok_or_else(unknown)?;
    let spec = found.spec;
    let count = filter
        .count
        .as_ref()
        .and_then(|c| c.min.or(c.max))
        .unwrap_or(1);
    let class = if matches!(&*spec.vendor, "NVIDIA" | "AMD" | "Intel") {
        AcceleratorClass::Gpu
    } else {
        AcceleratorClass::Npu
    };
    Ok(Machine {
        class,
        // of several products of that name the slowest counts, and the answer says so
        gpu: if found.ambiguous {
            gpu
        } else {
            GpuRef {
                model: gpu.model,
                form: Some(spec.form),
                memory_gb: Some(spec.memory_gb),
            }
        },
        gpu_count: u16::try_from(count).unwrap_or(u16::MAX),
        gpu_fraction: 1.0,
        usable_mib_each: spec.usable_mib,
        vcpus: None,
        memory_gib: None,
        local_disk_gb: None,
        network_gbps: None,
        interconnect: None,
        link_gbs: None,
        rdma: None,
        arch: None,
        gpu_access: None,
        status: Arc::from("current"),
        confidence: Confidence::General,
        host_confidence: Confidence::Unverified,
    })
}

/// Every row of a table of measurements.
fn table(path: &Path, facts: &Facts, printer: &Printer) -> Result<Exit, Failure> {
    let file = path.display().to_string();
    let input = read_input(&read_path(path)?, &file)?;
    let measurements = read_measurements(&input.text, &file)?;
    let perf = PerfContext {
        gpus: &facts.gpus,
        tables: &facts.perf,
        measured: None,
        detail: false,
    };
    let cx = TableContext {
        perf,
        models: &facts.models,
    };
    let texts = printer.texts();
    let rows: Vec<PredictedRowDoc> = measurements
        .lines
        .iter()
        .map(|line| row_doc(line, cx, texts))
        .collect();
    let any = rows.iter().any(|r| r.predicted.is_some());
    let digits = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
    let more: Vec<[String; 4]> = rows
        .iter()
        .map(|row| {
            let reason = row.reason.as_ref().map_or("", |r| r.code.as_str());
            [
                digits(row.predicted),
                digits(row.low),
                digits(row.high),
                reason.to_owned(),
            ]
        })
        .collect();
    let csv = measurements.appended(["predicted", "low", "high", "reason"], &more);
    let doc = prediction_table_doc(file, rows);
    printer.report(prediction_table_report(&doc, texts).with_csv(csv))?;
    Ok(if any { Exit::Done } else { Exit::CannotTell })
}

fn row_doc(line: &Line, cx: TableContext<'_>, texts: &Texts) -> PredictedRowDoc {
    let refused = |code: &str, msg: &Msg| lessee_model::plan::WarningDoc {
        code: code.to_owned(),
        text: texts.msg(msg),
    };
    let empty = PredictedRowDoc {
        line: line.number,
        gpu: String::new(),
        model: String::new(),
        metric: String::new(),
        unit: String::new(),
        measured: None,
        predicted: None,
        low: None,
        high: None,
        family: None,
        reason: None,
    };
    match &line.row {
        Err((column, text)) => {
            let msg = Msg::new("import-why-number-unreadable")
                .arg("column", column.clone())
                .arg("text", text.clone());
            PredictedRowDoc {
                reason: Some(refused("number_unreadable", &msg)),
                ..empty
            }
        }
        Ok(row) => {
            let doc = PredictedRowDoc {
                gpu: row.gpu.clone(),
                model: row.model.clone(),
                metric: row.metric.clone(),
                unit: row.unit.clone(),
                measured: row.value,
                ..empty
            };
            match answer(row, cx) {
                Ok(a) => PredictedRowDoc {
                    predicted: Some(a.predicted),
                    low: Some(a.low),
                    high: Some(a.high),
                    family: Some(a.family.to_owned()),
                    ..doc
                },
                Err(why) => PredictedRowDoc {
                    reason: Some(refused(why.code, &why.msg)),
                    ..doc
                },
            }
        }
    }
}
