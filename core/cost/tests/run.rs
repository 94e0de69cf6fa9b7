//! From speed and interruption rate to the run that is billed.

mod common;

use common::{World, gpu};
use lessee_cost::{expected_run, screen};
use lessee_model::tariff::SpotRisk;
use lessee_model::workload::{
    Checkpoint, Job, RenderJob, RenderReference, SweepJob, Trial, Workload,
};
use lessee_model::{Basis, BoundBy, Bytes, Prediction, Purchase, Seconds, WorkUnit};

fn prediction(per_second: f64) -> Prediction {
    Prediction {
        unit: WorkUnit::GpuHour,
        per_second,
        low: per_second / 2.0,
        high: per_second * 1.2,
        bound_by: BoundBy::Compute,
        memory: Default::default(),
        layout: Default::default(),
        terms: vec![],
        notes: vec![],
        basis: Basis::Modelled,
        seconds_per_output_token: None,
    }
}

fn risk(per_hour: f64) -> SpotRisk {
    SpotRisk {
        hazard_per_hour: per_hour,
        hazard_low: 0.0,
        hazard_high: per_hour,
        notice_s: 0.0,
    }
}

/// 100 hours of work at one unit an hour, checkpoints every half an hour, five minutes to restart.
fn job() -> Workload {
    let mut workload = common::workload();
    if let Job::Hours(hours) = &mut workload.job {
        hours.gpu_hours = 100.0;
    }
    workload.setup.restart = Seconds(240.0);
    workload.checkpoint = Some(Checkpoint {
        size: Bytes(1e9),
        every: Seconds(1800.0),
        keep_last: Some(3.0),
        keep_for: Seconds(0.0),
    });
    workload
}

const SPEED: f64 = 1.0 / 3600.0;

#[test]
fn lockstep_work_loses_half_an_interval_and_a_restart_on_every_machine() {
    let run =
        expected_run(&job(), &prediction(SPEED), 4, Some(&risk(0.01)), 60.0).expect("finishes");
    assert_eq!(run.work_s, 360_000.0);
    assert_eq!(run.work_p90_s, 720_000.0);
    assert_eq!(run.lost_s, 900.0 + 240.0 + 60.0);
    // four machines, 0.04 an hour, each third of an hour: T = 100 / (1 - 0.04 / 3)
    let wall_h = 100.0 / (1.0 - 0.04 / 3.0);
    assert!((run.interruptions - wall_h * 0.04).abs() < 1e-9);
    assert!((run.work_s + run.interruptions * run.lost_s - wall_h * 3600.0).abs() < 1e-6);
    assert!(run.interruptions_p90 >= run.interruptions);
    assert_eq!(run.checkpoints, 200.0);
    // without risk nothing is lost
    let calm = expected_run(&job(), &prediction(SPEED), 4, None, 60.0).expect("finishes");
    assert_eq!(
        (calm.interruptions, calm.interruptions_p90, calm.lost_s),
        (0.0, 0.0, 0.0)
    );
}

#[test]
fn what_never_finishes_is_said_so() {
    let mut workload = job();
    workload.checkpoint = None;
    // a hundred hours without a checkpoint on 16 machines, one of which is lost every 6 hours
    assert_eq!(
        expected_run(&workload, &prediction(SPEED), 16, Some(&risk(0.01)), 0.0),
        None
    );
    assert!(expected_run(&workload, &prediction(SPEED), 1, Some(&risk(0.001)), 0.0).is_some());
    assert_eq!(
        expected_run(&workload, &prediction(0.0), 1, None, 0.0),
        None
    );
    assert_eq!(
        expected_run(&workload, &prediction(f64::NAN), 1, None, 0.0),
        None
    );
}

#[test]
fn independent_work_loses_only_the_piece_on_the_lost_machine() {
    let mut workload = common::workload();
    workload.job = Job::Render(RenderJob {
        frames: 2000.0,
        seconds_per_frame: 600.0,
        reference: RenderReference::Gpu(gpu()),
        memory: Bytes::ZERO,
        engine: "cycles".into(),
        output_per_frame: Bytes(25e6),
        licences: vec![],
    });
    // ten machines, a frame every minute: ten minutes a frame, five lost
    let run = expected_run(
        &workload,
        &prediction(1.0 / 60.0),
        10,
        Some(&risk(0.05)),
        0.0,
    )
    .expect("finishes");
    assert!((run.lost_s - 30.0).abs() < 1e-9);
    let mut world = World::new(0.0, "1");
    (world.workload, world.run, world.nodes) = (workload.clone(), run, 10);
    world.price.purchase = Purchase::Spot;
    // so the lost machine time is five minutes for each interruption
    let bill = world.bill();
    let lost = bill
        .lines
        .iter()
        .find(|l| l.kind == lessee_model::LineKind::Interruption)
        .expect("line");
    let expected_hours = run.interruptions * 300.0 / 3600.0;
    assert!((lost.quantity.to_f64() - expected_hours).abs() < 10.0 / 3600.0);

    workload.job = Job::Sweep(SweepJob {
        trials: 200,
        parallel: None,
        gpus_per_trial: 1,
        trial: Trial::Hours {
            hours: 1.0,
            gpu: gpu(),
            memory: Bytes::ZERO,
        },
    });
    let run = expected_run(
        &workload,
        &prediction(10.0 / 3600.0),
        10,
        Some(&risk(0.05)),
        0.0,
    )
    .expect("finishes");
    assert!(
        (run.lost_s - 180.0).abs() < 1e-9,
        "half an hour on one of ten"
    );
}

#[test]
fn a_service_is_interrupted_but_not_prolonged() {
    let mut world = World::new(1.0, "1");
    world.workload.job = Job::Serve(lessee_model::workload::ServeJob {
        model: lessee_model::ModelSpec {
            name: "m".into(),
            kind: lessee_model::ModelKind::Llm,
            params: 1.0,
            active_params: 1.0,
            layers: None,
            hidden: None,
            heads: None,
            kv_heads: None,
            head_dim: None,
            ffn: None,
            vocab: None,
            experts: None,
            experts_per_token: None,
            kv_bytes_per_token: None,
            context: None,
            forward_gflops: None,
            why: lessee_model::Provenance::user("test"),
        },
        precision: lessee_model::workload::Precision::Bf16,
        kv_precision: lessee_model::workload::Precision::Fp16,
        rate: 1.0,
        peak_rate: 1.0,
        input_tokens: 1.0,
        output_tokens: 1.0,
        tpot: Seconds(0.05),
        ttft: None,
        duration: Seconds(3_600_000.0),
        min_replicas: 1,
    });
    world.workload.setup.restart = Seconds(240.0);
    world.nodes = 2;
    world.price.purchase = Purchase::Spot;
    world.run = expected_run(
        &world.workload,
        &prediction(SPEED),
        2,
        Some(&risk(0.01)),
        60.0,
    )
    .expect("finishes");
    assert_eq!(world.run.work_s, 3_600_000.0);
    assert!((world.run.interruptions - 20.0).abs() < 1e-9);
    assert_eq!(screen(&world.case()).wall_s, 3_600_000.0);
}
