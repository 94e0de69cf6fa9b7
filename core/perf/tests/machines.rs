//! Real machines: what fits, what is refused and why, what a probe changes, and every built-in type.

mod common;

use common::*;
use lessee_model::probe::{FeedReading, GpuReading, Reading};
use lessee_model::workload::{
    DataStorage, HoursJob, Job, LeansOn, Method, Precision, Sharding, SweepJob, Trial,
};
use lessee_model::{Basis, BoundBy, Bytes, Explain, Form, Interconnect, ProbeReport, Seconds};
use lessee_perf::{Coefficients, PerfContext, predict};

const ALONE: Interconnect = Interconnect::None;

#[test]
fn seventy_billion_parameters_in_16_bit_need_more_than_one_80_gb_gpu() {
    let job = Job::Serve(serving("llama-3.1-70b", 1000.0, 200.0, 100.0));
    let no = run(&job, &machine("H100-SXM5-80GB", 1, ALONE), 1).expect_err("141 GB of weights");
    assert_eq!(no.code, "does_not_fit");
    let (needed, available) = (
        no.needed_bytes.expect("bytes"),
        no.available_bytes.expect("bytes"),
    );
    assert!(needed > 141e9 && available < 80e9, "{no:?}");
    // 2 x 80 GB: 70.6 GB of weights a GPU against 0.9 x 85.5 GB, the cache gets the little rest
    let two = run(
        &job,
        &machine("H100-SXM5-80GB", 2, Interconnect::Nvswitch),
        1,
    )
    .expect("tight");
    assert_eq!(two.layout.tensor_parallel, 2);
    let four = run(
        &job,
        &machine("H100-SXM5-80GB", 4, Interconnect::Nvswitch),
        1,
    )
    .expect("fits");
    assert!(
        four.layout.batch > 3.0 * two.layout.batch,
        "{two:?} {four:?}"
    );
    assert!(four.per_second > 2.0 * two.per_second);
    // stored in 4 bits it fits one GPU
    let mut small = serving("llama-3.1-70b", 1000.0, 200.0, 100.0);
    small.precision = Precision::Int4;
    let p = run(&Job::Serve(small), &machine("H100-SXM5-80GB", 1, ALONE), 1).expect("39 GB");
    assert!(p.notes.iter().any(|n| n.id == "perf-weight-only"));
}

#[test]
fn full_fine_tuning_of_8b_needs_16_bytes_a_parameter() {
    let full = |sharding| {
        let mut job = training("llama-3.1-8b", Method::Full, 4096.0);
        job.sharding = sharding;
        Job::Train(job)
    };
    let no = run(
        &full(Sharding::Auto),
        &machine("A100-SXM4-80GB", 1, ALONE),
        1,
    )
    .expect_err("128 GB");
    assert!(no.needed_bytes.expect("bytes") > 16.0 * 8.03e9);
    let eight = machine("A100-SXM4-80GB", 8, Interconnect::Nvswitch);
    let p = run(&full(Sharding::Auto), &eight, 1).expect("sharded");
    assert!(
        p.layout.zero_stage >= 1 || p.layout.tensor_parallel > 1,
        "{p:?}"
    );
    // forbidden to shard, only splitting the layers themselves is left
    let p = run(&full(Sharding::None), &eight, 1).expect("tensor parallel");
    assert!(
        p.layout.tensor_parallel >= 2 && p.layout.zero_stage == 0,
        "{p:?}"
    );
    // adapters on 24 GB, the base in 4 bits
    let small = machine("RTX 4090", 1, ALONE);
    let qlora = Job::Train(training("llama-3.1-8b", Method::Qlora, 2048.0));
    assert!(run(&qlora, &small, 1).is_ok());
    let lora = Job::Train(training("llama-3.1-70b", Method::Lora, 2048.0));
    assert_eq!(
        run(&lora, &small, 1).expect_err("141 GB").code,
        "does_not_fit"
    );
}

#[test]
fn adapters_save_a_third_of_the_arithmetic_and_four_bits_cost_some() {
    let speed = |method| {
        let mut job = training("llama-3.1-8b", method, 512.0);
        job.activation_checkpointing = Some(true);
        run(&Job::Train(job), &machine("B200-SXM-180GB", 1, ALONE), 1)
            .expect("fits")
            .per_second
    };
    // 8P against 6P a token with recomputation; attention and element-wise work are the same
    let saved = speed(Method::Lora) / speed(Method::Full);
    assert!((1.15..1.34).contains(&saved), "LoRA against full: {saved}");
    // weights are unpacked once a micro-batch: next to nothing where a large memory holds a large one
    let cost = speed(Method::Lora) / speed(Method::Qlora);
    assert!(cost > 1.0 && cost < 1.4, "QLoRA against LoRA: {cost}");
}

#[test]
fn what_cannot_be_said_is_refused_not_guessed() {
    let serve = Job::Serve(serving("llama-3.1-8b", 100.0, 100.0, 100.0));
    let code = |m: &lessee_model::Machine, job: &Job| run(job, m, 1).expect_err("refused").code;
    let mut unknown = machine("L4", 1, ALONE);
    unknown.gpu.model = "Nonesuch 9000".into();
    assert_eq!(code(&unknown, &serve), "no_spec");
    let mut chip = machine("L4", 1, ALONE);
    chip.class = lessee_model::AcceleratorClass::Npu;
    assert_eq!(code(&chip, &serve), "not_a_gpu");
    assert_eq!(
        code(&machine("RTX PRO 4500 Blackwell Server", 1, ALONE), &serve),
        "no_rate"
    );
    assert_eq!(code(&machine("H20-141GB", 1, ALONE), &serve), "no_rate");
    let mut hasty = serving("llama-3.1-8b", 100.0, 100.0, 2.0);
    assert_eq!(
        code(&machine("L4", 1, ALONE), &Job::Serve(hasty.clone())),
        "tpot_unreachable"
    );
    hasty.tpot = Seconds(1.0);
    hasty.input_tokens = 20_000.0;
    hasty.ttft = Some(Seconds(0.05));
    assert_eq!(
        code(
            &machine("A100-SXM4-80GB", 1, ALONE),
            &Job::Serve(hasty.clone())
        ),
        "ttft_unreachable"
    );
    hasty.input_tokens = 2e6;
    assert_eq!(
        code(&machine("A100-SXM4-80GB", 1, ALONE), &Job::Serve(hasty)),
        "context_too_long"
    );
    // rates are known, but no current software runs there
    let old = machine("K80 (per GK210 half)", 8, Interconnect::Pcie);
    assert_eq!(code(&old, &serve), "unsupported");
    let images = Job::Train(training("resnet-50", Method::Full, 1.0));
    assert_eq!(code(&old, &images), "unsupported");
    assert_eq!(
        code(&machine("P100-PCIE-16GB", 1, ALONE), &serve),
        "unsupported"
    );
    assert!(run(&images, &machine("P100-PCIE-16GB", 1, ALONE), 1).is_ok());
    let vision = Job::Serve(serving("resnet-50", 1.0, 1.0, 100.0));
    assert_eq!(code(&machine("L4", 1, ALONE), &vision), "model_unsuitable");
    let no = run(&vision, &machine("L4", 1, ALONE), 1).expect_err("refused");
    assert_eq!(no.exit(), lessee_model::Exit::No);
}

#[test]
fn eight_bit_weights_save_memory_even_where_the_arithmetic_is_16_bit() {
    let mut job = serving("llama-3.1-8b", 1000.0, 200.0, 60.0);
    let half = run(
        &Job::Serve(job.clone()),
        &machine("A100-SXM4-80GB", 1, ALONE),
        1,
    )
    .expect("fits");
    job.precision = Precision::Fp8;
    let eight = run(
        &Job::Serve(job.clone()),
        &machine("A100-SXM4-80GB", 1, ALONE),
        1,
    )
    .expect("fits");
    assert!(eight.notes.iter().any(|n| n.id == "perf-weight-only"));
    assert!(eight.memory.weights < 0.51 * half.memory.weights);
    let native = run(&Job::Serve(job), &machine("L40S", 1, ALONE), 1).expect("fits");
    assert!(!native.notes.iter().any(|n| n.id == "perf-weight-only"));
}

#[test]
fn images_wait_for_cores_and_for_small_files() {
    let job = training("resnet-50", Method::Full, 1.0);
    let mut m = machine("H100-SXM5-80GB", 8, Interconnect::Nvswitch);
    m.vcpus = Some(32.0);
    let p = run(&Job::Train(job.clone()), &m, 1).expect("fits");
    assert_eq!(p.bound_by, BoundBy::CpuFeed);
    near("cores", p.per_second, 32.0 / 0.0083, 1e-6);
    m.vcpus = Some(400.0);
    let mut data = no_data();
    data.size = Bytes(150e9);
    data.files = 1.3e6;
    data.reads = 90.0;
    let mut many = job.clone();
    many.units = 1.3e6 * 90.0;
    let p = predict(&Job::Train(many.clone()), &data, &m, 1, context()).expect("fits");
    assert_eq!(p.bound_by, BoundBy::StorageFeed);
    near("requests", p.per_second, 5500.0, 1e-6);
    data.files = 1000.0;
    m.network_gbps = Some(2.0);
    let p = predict(&Job::Train(many.clone()), &data, &m, 1, context()).expect("fits");
    assert_eq!(p.bound_by, BoundBy::Network);
    // 150 GB on a disk: from the disk each time if it does not fit memory, else from the page cache
    data.storage = DataStorage::Block;
    m.memory_gib = Some(100.0);
    let p = predict(&Job::Train(many.clone()), &data, &m, 1, context()).expect("fits");
    assert_eq!(p.bound_by, BoundBy::StorageFeed);
    m.memory_gib = Some(1000.0);
    let p = predict(&Job::Train(many), &data, &m, 1, context()).expect("fits");
    assert!(
        matches!(p.bound_by, BoundBy::Compute | BoundBy::MemoryBandwidth),
        "{p:?}"
    );
    // an A100 trains a few thousand images a second at a renter's settings
    let one = run(&Job::Train(job), &machine("A100-SXM4-80GB", 1, ALONE), 1).expect("fits");
    assert!(
        one.per_second > 1200.0 && one.per_second < 3000.0,
        "{one:?}"
    );
}

#[test]
fn recomputing_is_preferred_to_sharding_weights_over_a_slow_link() {
    let job = |checkpointing| {
        let mut job = training("sdxl", Method::Full, 1.0);
        job.activation_checkpointing = checkpointing;
        Job::Train(job)
    };
    let mut m = machine("L4", 4, Interconnect::Pcie);
    m.usable_mib_each = Some(34_000);
    let kept = run(&job(Some(false)), &m, 4).expect("fits with its weights sharded");
    let free = run(&job(None), &m, 4).expect("fits");
    assert_eq!(kept.layout.zero_stage, 3);
    assert!(free.layout.activation_checkpointing && free.layout.zero_stage < 3);
    assert!(free.per_second > kept.per_second);
}

#[test]
fn a_slice_of_a_gpu_is_worth_its_share() {
    let hours = |gpus| {
        Job::Hours(HoursJob {
            gpu_hours: 10.0,
            gpu: gpu("L4", Form::Pcie, 24.0),
            gpus,
            memory: Bytes(2e9),
            leans_on: LeansOn::Balanced,
        })
    };
    let whole = run(&hours(1), &machine("L4", 1, ALONE), 1).expect("fits");
    near("itself", whole.per_second, 1.0 / 3600.0, 1e-9);
    let mut slice = machine("L4", 1, ALONE);
    slice.gpu_fraction = 0.25;
    slice.gpu.memory_gb = Some(6.0);
    slice.usable_mib_each = Some(6144);
    let part = run(&hours(1), &slice, 1).expect("fits");
    near("a quarter", part.per_second / whole.per_second, 0.25, 1e-6);
    assert!(part.notes.iter().any(|n| n.id == "perf-slice"));
    // no more GPUs help than the work can use
    let many = machine("L4", 8, Interconnect::Pcie);
    let four = run(&hours(4), &many, 1).expect("fits").per_second;
    near("four of eight", four, 4.0 / 3600.0, 1e-9);
}

#[test]
fn trials_run_side_by_side_up_to_the_cap() {
    let sweep = |parallel, gpus_per_trial| {
        Job::Sweep(SweepJob {
            trials: 200,
            parallel,
            gpus_per_trial,
            trial: Trial::Hours {
                hours: 2.0,
                gpu: gpu("A100", Form::Sxm, 80.0),
                memory: Bytes(10e9),
            },
        })
    };
    let m = machine("A100-SXM4-80GB", 8, Interconnect::Nvswitch);
    let at_once = |job: &Job, nodes| run(job, &m, nodes).expect("fits").per_second * 7200.0;
    near("eight", at_once(&sweep(None, 1), 1), 8.0, 1e-9);
    near("capped", at_once(&sweep(Some(3), 1), 1), 3.0, 1e-9);
    near("pairs", at_once(&sweep(None, 3), 2), 4.0, 1e-9);
    near("over two machines", at_once(&sweep(None, 16), 4), 2.0, 1e-9);
    assert_eq!(
        run(&sweep(None, 16), &m, 1).expect_err("too few").code,
        "too_few_gpus"
    );
}

fn probe(bandwidth: f64, tflops: f64) -> ProbeReport {
    let measured = |value| {
        Some(Reading::Measured {
            value,
            samples: Vec::new(),
        })
    };
    let gpu = GpuReading {
        memory_total_mib: Some(23034),
        memory_bandwidth_gbs: measured(bandwidth),
        tensor_tflops: measured(tflops),
        ..GpuReading::new(0, "L4".into())
    };
    ProbeReport {
        gpus: vec![gpu],
        all_reduce_bus_gbs: measured(12.0),
        ..ProbeReport::empty("2026-11-30T10:00:00Z".into())
    }
}

#[test]
fn a_probe_replaces_the_data_sheet_and_narrows_the_range() {
    let job = Job::Serve(serving("llama-3.1-8b", 256.0, 128.0, 150.0));
    let m = machine("L4", 1, ALONE);
    let with = |report: &ProbeReport| {
        let cx = PerfContext {
            measured: Some(report),
            ..context()
        };
        predict(&job, &no_data(), &m, 1, cx).expect("fits")
    };
    let table = run(&job, &m, 1).expect("fits");
    // a healthy card reads what the table implies: nothing moves but the range
    let healthy = with(&probe(300.0 * 0.81, 121.0 * 0.55));
    near("healthy", healthy.per_second, table.per_second, 0.02);
    assert_eq!(
        (table.basis, healthy.basis),
        (Basis::Modelled, Basis::Measured)
    );
    assert!(healthy.high / healthy.low < table.high / table.low);
    let throttled = with(&probe(150.0, 33.0));
    assert!(throttled.per_second < 0.7 * table.per_second);
    // what the probe could not measure leaves the table value
    let mut blind = probe(150.0, 33.0);
    blind.gpus[0].memory_bandwidth_gbs = Some(Reading::Failed { reason: "x".into() });
    blind.gpus[0].tensor_tflops = Some(Reading::Claimed { value: 1.0 });
    near("blind", with(&blind).per_second, table.per_second, 0.01);
}

#[test]
fn a_measured_all_reduce_settles_what_pcie_leaves_open() {
    let mut job = training("llama-3.1-8b", Method::Full, 4096.0);
    job.global_batch = Some(64.0);
    let job = Job::Train(job);
    let m = machine("L40S", 8, Interconnect::Pcie);
    let open = run(&job, &m, 1).expect("fits");
    let report = probe(864.0 * 0.82, 362.05 * 0.75);
    let cx = PerfContext {
        measured: Some(&report),
        ..context()
    };
    // the report is of another card's memory: only the link matters here
    let mut settled_report = report.clone();
    settled_report.gpus[0].memory_total_mib = Some(46068);
    let settled = predict(
        &job,
        &no_data(),
        &m,
        1,
        PerfContext {
            measured: Some(&settled_report),
            ..cx
        },
    )
    .expect("fits");
    assert!(settled.per_second > open.per_second);
    assert!(settled.high / settled.low < 0.5 * open.high / open.low);
}

#[test]
fn a_measured_feed_caps_image_training() {
    let mut report = probe(2039.0 * 0.82, 271.0);
    report.gpus.clear();
    report.feed = Some(FeedReading::supply(
        Reading::once(700.0),
        Some("disk".into()),
    ));
    let cx = PerfContext {
        measured: Some(&report),
        ..context()
    };
    let job = Job::Train(training("resnet-50", Method::Full, 1.0));
    let p = predict(
        &job,
        &no_data(),
        &machine("A100-SXM4-80GB", 1, ALONE),
        1,
        cx,
    )
    .expect("fits");
    assert_eq!(
        (p.bound_by, p.basis),
        (BoundBy::StorageFeed, Basis::Measured)
    );
    near("feed", p.per_second, 700.0, 1e-9);
}

#[test]
fn every_built_in_machine_is_predicted_or_refused_with_a_reason() {
    let jobs = [
        Job::Train(training("llama-3.1-8b", Method::Lora, 2048.0)),
        Job::Train(training("resnet-50", Method::Full, 1.0)),
        Job::Serve(serving("llama-3.1-8b", 1024.0, 256.0, 100.0)),
        Job::Hours(HoursJob {
            gpu_hours: 10.0,
            gpu: gpu("A100", Form::Sxm, 80.0),
            gpus: 8,
            memory: Bytes(1e9),
            leans_on: LeansOn::Balanced,
        }),
    ];
    let (mut good, mut refused) = (0, 0);
    for (name, m) in &WORLD.machines {
        for job in &jobs {
            match run(job, m, 2) {
                Ok(p) => {
                    good += 1;
                    assert!(
                        p.low > 0.0 && p.high.is_finite() && p.low <= p.per_second,
                        "{name}"
                    );
                }
                Err(no) => {
                    refused += 1;
                    assert!(!no.msg.id.is_empty());
                    assert_ne!(no.code, "no_spec", "{name}: {:?}", m.gpu);
                }
            }
        }
    }
    assert!(good > 700, "{good} predicted, {refused} refused");
}

#[test]
fn the_derivation_is_there_when_asked_for_and_adds_up() {
    let cx = PerfContext {
        detail: true,
        ..context()
    };
    let m = machine("A100-SXM4-80GB", 8, Interconnect::Nvswitch);
    let job = Job::Train(training("llama-3.1-8b", Method::Full, 4096.0));
    let p = predict(&job, &no_data(), &m, 1, cx).expect("fits");
    let term = |name: &str| {
        p.terms
            .iter()
            .find(|t| t.name == name)
            .unwrap_or_else(|| panic!("no {name} in {:?}", p.terms))
            .value
    };
    assert!(term("step") >= term("compute"));
    assert!(
        term("step") <= term("compute") + term("gradient_sync") + term("tensor_parallel") + 1e-9
    );
    assert!(
        p.terms
            .iter()
            .all(|t| !t.source.is_empty() && !t.formula.id.is_empty())
    );
    assert!(run(&job, &m, 1).expect("fits").terms.is_empty());
}

#[test]
fn a_step_is_as_long_as_its_busiest_replica() {
    // 64 sequences on 48 replicas: sixteen of them do two, all wait for those
    let m = machine("A100-SXM4-80GB", 8, Interconnect::Nvswitch);
    let speed = |global: f64| {
        let mut job = training("llama-3.2-1b", Method::Full, 512.0);
        job.model.heads = Some(1.0); // so that no tensor parallelism gets round it
        job.global_batch = Some(global);
        job.sharding = Sharding::None;
        run(&Job::Train(job), &m, 6).expect("fits")
    };
    let (uneven, even) = (speed(64.0), speed(96.0));
    assert_eq!(uneven.layout.data_parallel, 48);
    assert_eq!(uneven.layout.batch.fract(), 0.0);
    near(
        "64 against 96 sequences",
        uneven.per_second / even.per_second,
        64.0 / 96.0,
        1e-9,
    );
    // and fewer sequences than replicas leave the rest idle
    let (few, full) = (speed(24.0), speed(48.0));
    near("24 of 48", few.per_second / full.per_second, 0.5, 1e-9);

    let images = |global: f64| {
        let mut job = training("resnet-50", Method::Full, 1.0);
        job.global_batch = Some(global);
        job.cpu_seconds_per_sample = Some(0.0);
        run(&Job::Train(job), &m, 6).expect("fits").per_second
    };
    near("images", images(64.0) / images(96.0), 64.0 / 96.0, 1e-9);
}

#[test]
fn bad_coefficients_are_named() {
    let text = include_str!("../../../data/perf.toml");
    let broken = text.replace("max_batch = 256.0", "max_batch = nan");
    let error = Coefficients::from_toml(&broken).expect_err("nan");
    assert!(error.contains("serve.max_batch"), "{error}");
    let error = Coefficients::from_toml(&text.replace("overlap = 0.5", "overlap = -0.5"))
        .expect_err("sign");
    assert!(error.contains("allreduce.overlap"), "{error}");
    let error =
        Coefficients::from_toml(&text.replace("outside = [0.60, 1.50]", "outside = [1.2, 1.5]"))
            .expect_err("range");
    assert!(error.contains("range.outside"), "{error}");
    assert!(Coefficients::from_toml("").is_err());
    assert!(Coefficients::from_toml("= = =").is_err());
}
