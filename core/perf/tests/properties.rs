//! What must hold for any machine and any job: better hardware never slows anything down, ranges hold
//! their centre, and every figure is finite.

mod common;

use common::*;
use lessee_model::workload::{HoursJob, Job, LeansOn, Method, Precision, SweepJob, Trial};
use lessee_model::{Bytes, Form, GpuTable, Interconnect, Machine, Prediction};
use lessee_perf::{NoFit, PerfContext, predict};
use proptest::prelude::*;

const GPUS: [&str; 8] = [
    "A100-SXM4-80GB",
    "H100-SXM5-80GB",
    "L4",
    "L40S",
    "RTX 4090",
    "MI300X",
    "V100-SXM2-32GB",
    "A100-PCIE-80GB",
];

fn links() -> impl Strategy<Value = Interconnect> {
    prop::sample::select(vec![
        Interconnect::Pcie,
        Interconnect::NvlinkBridge,
        Interconnect::Nvlink,
        Interconnect::Nvswitch,
    ])
}

fn llm() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "gpt3-1.3b",
        "llama-3.1-8b",
        "qwen2.5-32b",
        "mixtral-8x7b",
    ])
}

fn any_job() -> impl Strategy<Value = Job> {
    let method = prop::sample::select(vec![Method::Full, Method::Lora, Method::Qlora]);
    let precision = prop::sample::select(vec![Precision::Bf16, Precision::Fp8, Precision::Int4]);
    let lean = prop::sample::select(vec![
        LeansOn::Balanced,
        LeansOn::Compute,
        LeansOn::MemoryBandwidth,
    ]);
    prop_oneof![
        (
            llm(),
            method,
            512f64..8192.0,
            prop::option::of(1f64..2048.0)
        )
            .prop_map(|(name, method, seq, global)| {
                let mut job = training(name, method, seq.floor());
                job.global_batch = global.map(f64::floor);
                Job::Train(job)
            }),
        prop::sample::select(vec!["resnet-50", "vit-b16", "bert-large", "sdxl"])
            .prop_map(|name| Job::Train(training(name, Method::Full, 128.0))),
        (llm(), precision, 16f64..3000.0, 16f64..1000.0, 5f64..400.0).prop_map(
            |(name, precision, input, output, ms)| {
                let mut job = serving(name, input, output, ms);
                job.model.context = None;
                job.precision = precision;
                Job::Serve(job)
            }
        ),
        (lean, 1u32..32).prop_map(|(leans_on, gpus)| Job::Hours(HoursJob {
            gpu_hours: 100.0,
            gpu: gpu("A100", Form::Sxm, 80.0),
            gpus,
            memory: Bytes(10e9),
            leans_on,
        })),
        (1u32..9, prop::option::of(1u32..40)).prop_map(|(gpus, parallel)| Job::Sweep(SweepJob {
            trials: 200,
            parallel,
            gpus_per_trial: gpus,
            trial: Trial::Train(Box::new(training("gpt3-1.3b", Method::Full, 2048.0))),
        })),
    ]
}

/// All data sheets with bandwidth, arithmetic and link rates scaled, but for the GPU that the user measured on: a
/// faster one of those makes the same hours more work.
fn scaled(bandwidth: f64, flops: f64, link: f64, job: &Job) -> GpuTable {
    let measured_on = match job {
        Job::Hours(hours) => Some(hours.gpu.model.clone()),
        _ => None,
    };
    let mut specs = WORLD.gpus.specs.clone();
    for s in specs
        .iter_mut()
        .filter(|s| measured_on.as_ref() != Some(&s.model))
    {
        let by = |x: &mut Option<f64>, k: f64| *x = x.map(|v| v * k);
        by(&mut s.mem_bw_gbs, bandwidth);
        for rate in [
            &mut s.fp16_tflops,
            &mut s.bf16_tflops,
            &mut s.fp8_tflops,
            &mut s.int8_tops,
            &mut s.fp4_tflops,
            &mut s.fp32_tflops,
        ] {
            by(rate, flops);
        }
        by(&mut s.link_total_bidir_gbs, link);
    }
    GpuTable::new(specs, [])
}

fn on(gpus: &GpuTable, job: &Job, machine: &Machine, nodes: u32) -> Result<Prediction, NoFit> {
    let cx = PerfContext {
        gpus,
        tables: &WORLD.tables,
        measured: None,
        detail: false,
    };
    predict(job, &no_data(), machine, nodes, cx)
}

fn speed(r: &Result<Prediction, NoFit>) -> f64 {
    r.as_ref().map_or(0.0, |p| p.per_second)
}

/// Never slower, up to rounding.
fn at_least(better: f64, worse: f64) -> bool {
    better >= worse * (1.0 - 1e-9)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn better_hardware_never_lowers_the_speed(
        job in any_job(), i in 0usize..GPUS.len(), count in 1u16..17, link in links(),
        nodes in 1u32..5, k in 1.01f64..4.0,
    ) {
        let m = machine(GPUS[i], count, link);
        let base = on(&WORLD.gpus, &job, &m, nodes);
        for (what, b, f, l) in [("bandwidth", k, 1.0, 1.0), ("flops", 1.0, k, 1.0), ("link", 1.0, 1.0, k)] {
            let better = on(&scaled(b, f, l, &job), &job, &m, nodes);
            prop_assert!(at_least(speed(&better), speed(&base)), "{what}: {base:?} {better:?}");
        }
        let mut roomy = m.clone();
        let mib = WORLD.gpus.spec(&m.gpu).expect("spec").spec.memory_gb * 1e9 / 1048576.0;
        roomy.usable_mib_each = Some((mib * (k + 0.1)) as u32);
        let better = on(&WORLD.gpus, &job, &roomy, nodes);
        prop_assert!(at_least(speed(&better), speed(&base)), "memory: {base:?} {better:?}");
        let mut wide = m.clone();
        wide.network_gbps = m.network_gbps.map(|x| x * k as f32);
        let better = on(&WORLD.gpus, &job, &wide, nodes);
        prop_assert!(at_least(speed(&better), speed(&base)), "network: {base:?} {better:?}");
    }

    #[test]
    fn figures_are_finite_and_ranges_hold_their_centre(
        job in any_job(), i in 0usize..GPUS.len(), count in 1u16..17, link in links(), nodes in 1u32..9,
    ) {
        if let Ok(p) = run(&job, &machine(GPUS[i], count, link), nodes) {
            for x in [p.per_second, p.low, p.high] {
                prop_assert!(x.is_finite() && x > 0.0, "{p:?}");
            }
            prop_assert!(p.low < p.per_second && p.per_second < p.high, "{p:?}");
            prop_assert!(p.memory.total() <= p.memory.usable * (1.0 + 1e-9), "{p:?}");
            prop_assert!(p.memory.total().is_finite());
        }
    }

    #[test]
    fn a_larger_model_is_never_faster(
        name in llm(), i in 0usize..GPUS.len(), count in 1u16..9, link in links(), serve in any::<bool>(),
    ) {
        let m = machine(GPUS[i], count, link);
        let mut small = training(name, Method::Full, 2048.0);
        let mut request = serving(name, 500.0, 200.0, 100.0);
        let (a, b);
        if serve {
            a = run(&Job::Serve(request.clone()), &m, 1);
            request.model.params *= 2.0;
            request.model.active_params *= 2.0;
            request.model.layers = request.model.layers.map(|l| 2.0 * l);
            b = run(&Job::Serve(request), &m, 1);
        } else {
            a = run(&Job::Train(small.clone()), &m, 1);
            small.model.params *= 2.0;
            small.model.active_params *= 2.0;
            small.model.layers = small.model.layers.map(|l| 2.0 * l);
            b = run(&Job::Train(small), &m, 1);
        }
        prop_assert!(at_least(speed(&a), speed(&b)), "{a:?} {b:?}");
    }

    #[test]
    fn more_machines_never_do_less(
        i in 0usize..GPUS.len(), count in 1u16..9, nodes in 1u32..12, ms in 20f64..400.0,
        gpus_per_trial in 1u32..12, parallel in prop::option::of(1u32..60),
    ) {
        let m = machine(GPUS[i], count, Interconnect::Pcie);
        let serve = Job::Serve(serving("llama-3.1-8b", 1000.0, 200.0, ms));
        prop_assert!(at_least(speed(&run(&serve, &m, nodes + 1)), speed(&run(&serve, &m, nodes))));
        let sweep = Job::Sweep(SweepJob {
            trials: 50,
            parallel,
            gpus_per_trial,
            trial: Trial::Hours { hours: 3.0, gpu: gpu("A100", Form::Sxm, 80.0), memory: Bytes(8e9) },
        });
        prop_assert!(at_least(speed(&run(&sweep, &m, nodes + 1)), speed(&run(&sweep, &m, nodes))));
    }
}
