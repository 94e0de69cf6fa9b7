//! One prediction of each kind of job, and of rows of tables: each is to stay under 20 microseconds, so that a
//! catalogue of a hundred thousand offers is searched while a person waits.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{WORLD, context, gpu, machine, no_data, serving, training};
use criterion::{Criterion, criterion_group, criterion_main};
use lessee_model::workload::{
    HoursJob, Job, LeansOn, Method, RenderJob, RenderReference, SweepJob, Trial,
};
use lessee_model::{Bytes, Form, Interconnect};
use lessee_perf::predict;
use lessee_perf::table::{Row, TableContext, TableKind, answer};
use std::hint::black_box;

fn jobs() -> Vec<(&'static str, Job)> {
    let llm = training("llama-3.1-8b", Method::Full, 4096.0);
    vec![
        ("train_llm", Job::Train(llm.clone())),
        (
            "train_lora",
            Job::Train(training("llama-3.1-8b", Method::Lora, 4096.0)),
        ),
        (
            "train_vision",
            Job::Train(training("resnet-50", Method::Full, 1.0)),
        ),
        (
            "sweep",
            Job::Sweep(SweepJob {
                trials: 16,
                parallel: None,
                gpus_per_trial: 1,
                trial: Trial::Train(Box::new(training("resnet-50", Method::Full, 1.0))),
            }),
        ),
        (
            "serve",
            Job::Serve(serving("llama-3.1-8b", 256.0, 128.0, 100.0)),
        ),
        (
            "render",
            Job::Render(RenderJob {
                frames: 2000.0,
                seconds_per_frame: 60.0,
                reference: RenderReference::Gpu(gpu("RTX 4090", Form::Pcie, 24.0)),
                memory: Bytes(8e9),
                engine: "cycles".into(),
                output_per_frame: Bytes(1e6),
                licences: Vec::new(),
            }),
        ),
        (
            "hours",
            Job::Hours(HoursJob {
                gpu_hours: 10.0,
                gpu: gpu("A100", Form::Sxm, 80.0),
                gpus: 8,
                memory: Bytes(1e9),
                leans_on: LeansOn::Balanced,
            }),
        ),
    ]
}

fn rows() -> Vec<(&'static str, Row)> {
    let row = |table, gpu: &str, metric: &str| Row {
        table,
        gpu: gpu.to_owned(),
        metric: metric.to_owned(),
        n_gpu: Some(8.0),
        ..Row::default()
    };
    vec![
        (
            "all_reduce",
            Row {
                interconnect: "NVLink".to_owned(),
                global_batch: Some(1e6),
                ..row(TableKind::Training, "H100-SXM5-80GB", "allreduce_ms")
            },
        ),
        (
            "blender",
            Row {
                backend: "OPTIX".to_owned(),
                ..row(
                    TableKind::Render,
                    "NVIDIA GeForce RTX 3080",
                    "blender_benchmark_score",
                )
            },
        ),
    ]
}

fn benches(c: &mut Criterion) {
    let host = machine("A100-SXM4-80GB", 8, Interconnect::Nvswitch);
    let data = no_data();
    for (name, job) in jobs() {
        predict(&job, &data, &host, 1, context()).expect("a job that fits");
        c.bench_function(name, |b| {
            b.iter(|| predict(black_box(&job), &data, black_box(&host), 1, context()));
        });
    }
    let cx = TableContext {
        perf: context(),
        models: &WORLD.models,
    };
    for (name, row) in rows() {
        answer(&row, cx).expect("a row that is understood");
        c.bench_function(name, |b| b.iter(|| answer(black_box(&row), cx)));
    }
}

criterion_group!(predictions, benches);
criterion_main!(predictions);
