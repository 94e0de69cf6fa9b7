//! Where the seconds of a step go, on machines as a probe describes them, against what the prediction says of the same.

mod common;

use common::*;
use lessee_model::probe::{GpuReading, LinkReading, Reading, StepShare};
use lessee_model::workload::{Job, Method};
use lessee_model::{Basis, Interconnect, ProbeReport};
use lessee_perf::{PerfContext, measured_machine, predict, step_msg, training_step, wiring};

fn measured(value: f64) -> Reading {
    Reading::Measured {
        value,
        samples: Vec::new(),
    }
}

/// GPUs of one name, each pair joined as `kind` says.
fn report(name: &str, n: u32, kind: &dyn Fn(u32, u32) -> (&'static str, f64)) -> ProbeReport {
    let gpu = |index| GpuReading::new(index, name.to_owned());
    let mut links = Vec::new();
    for a in 0..n {
        for b in a + 1..n {
            let (kind, gbs) = kind(a, b);
            links.push(LinkReading::new(a, b, kind.to_owned(), measured(gbs)));
        }
    }
    ProbeReport {
        gpus: (0..n).map(gpu).collect(),
        links,
        ..ProbeReport::empty("2026-11-30T00:00:00Z".to_owned())
    }
}

fn step(report: &ProbeReport, model: &str) -> StepShare {
    let cx = PerfContext {
        measured: Some(report),
        ..context()
    };
    let machine = measured_machine(report, cx.gpus).expect("a known GPU");
    let job = Job::Train(training(model, Method::Full, 2048.0));
    let step = training_step(&job, &no_data(), &machine, 1, cx).expect("fits");
    // the same step as in a plan: its tokens over its seconds are the speed
    let with = PerfContext { detail: true, ..cx };
    let said = predict(&job, &no_data(), &machine, 1, with).expect("fits");
    let term = |name: &str| said.terms.iter().find(|t| t.name == name).map(|t| t.value);
    // of what counts samples, a prediction states the exchange alone
    if model.starts_with("llama") {
        near("step", step.step_s, term("step").expect("it"), 1e-9);
        near(
            "compute",
            step.compute_s,
            term("compute").expect("it"),
            1e-9,
        );
    }
    if step.gpus > 1 {
        near(
            "sync",
            step.sync_s,
            term("gradient_sync").expect("it"),
            1e-9,
        );
    }
    step
}

const H100: &str = "NVIDIA H100 80GB HBM3";

#[test]
fn what_is_measured_decides_how_long_gradients_take() {
    let mut fast = report(H100, 8, &|_, _| ("nvswitch", 370.0));
    fast.all_reduce_bus_gbs = Some(measured(460.0));
    let mut slow = fast.clone();
    slow.all_reduce_bus_gbs = Some(measured(10.0));
    let (fast, slow) = (step(&fast, "llama-3.1-8b"), step(&slow, "llama-3.1-8b"));
    assert_eq!(
        (fast.bus_basis, slow.bus_basis),
        (Basis::Measured, Basis::Measured)
    );
    assert_eq!((fast.bus_gbs, slow.bus_gbs), (Some(460.0), Some(10.0)));
    assert!(fast.sync_share < 0.15, "{fast:?}");
    assert!(
        slow.sync_share > 2.0 * fast.sync_share && slow.step_s > fast.step_s,
        "{slow:?}"
    );
    for s in [&fast, &slow] {
        assert!(s.sync_share_low <= s.sync_share && s.sync_share <= s.sync_share_high);
        assert!((0.0..=1.0).contains(&s.sync_share_low) && s.sync_share_high < 1.0);
    }
    assert_eq!(step_msg(&slow, "x").id, "perf-sync-share");
}

#[test]
fn without_a_measured_all_reduce_the_wiring_decides() {
    let switched = step(
        &report(H100, 8, &|_, _| ("nvswitch", 370.0)),
        "llama-3.1-8b",
    );
    assert_eq!(switched.bus_basis, Basis::Modelled);
    assert!(switched.sync_in_compute);
    assert_eq!(step_msg(&switched, "x").id, "perf-sync-share-modelled");
    let loose = step(
        &report("NVIDIA H100 PCIe", 8, &|_, _| ("pcie", 20.0)),
        "llama-3.1-8b",
    );
    assert_eq!(loose.bus_basis, Basis::Assumed);
    // nobody measured it, and PCIe is never predicted closely
    assert!(
        loose.sync_share_high > loose.sync_share_low + 0.05,
        "{loose:?}"
    );
    assert!(loose.sync_s > switched.sync_s);
}

#[test]
fn one_gpu_exchanges_nothing_and_other_work_has_no_steps() {
    let one = step(
        &report("NVIDIA A100-SXM4-80GB", 1, &|_, _| ("", 0.0)),
        "resnet-50",
    );
    assert_eq!((one.sync_s, one.sync_share, one.bus_gbs), (0.0, 0.0, None));
    let eight = step(
        &report("NVIDIA A100-SXM4-80GB", 8, &|_, _| ("nvswitch", 250.0)),
        "resnet-50",
    );
    assert!(
        eight.sync_s > 0.0 && eight.sync_share_high < 0.9,
        "{eight:?}"
    );

    let cx = context();
    let job = Job::Serve(serving("llama-3.1-8b", 1000.0, 200.0, 100.0));
    let machine = machine("H100-SXM5-80GB", 1, Interconnect::None);
    let no = training_step(&job, &no_data(), &machine, 1, cx).expect_err("no training");
    assert_eq!(no.code, "not_a_training");
    let unknown = measured_machine(&report("Quantum 9000", 1, &|_, _| ("", 0.0)), cx.gpus);
    assert_eq!(unknown.expect_err("nobody has it").code, "no_spec");
    let none = measured_machine(&report(H100, 0, &|_, _| ("", 0.0)), cx.gpus);
    assert!(none.is_err());
}

#[test]
fn the_wiring_has_its_word() {
    let bridges = |a: u32, b: u32| match a ^ 1 == b {
        true => ("nvlink", 208.0),
        false => ("pcie", 20.0),
    };
    for (report, kind, id) in [
        (
            report(H100, 8, &|_, _| ("nvswitch", 370.0)),
            Some(Interconnect::Nvswitch),
            "perf-wiring-nvswitch",
        ),
        (
            report(H100, 4, &|_, _| ("nvlink", 90.0)),
            Some(Interconnect::Nvlink),
            "perf-wiring-mesh",
        ),
        (
            report(H100, 4, &bridges),
            Some(Interconnect::NvlinkBridge),
            "perf-wiring-pairs",
        ),
        (
            report(H100, 4, &|_, _| ("pcie", 20.0)),
            Some(Interconnect::Pcie),
            "perf-wiring-pcie",
        ),
        (
            report(H100, 2, &|_, _| ("unknown", 20.0)),
            None,
            "perf-wiring-unknown",
        ),
        (
            report(H100, 1, &|_, _| ("", 0.0)),
            Some(Interconnect::None),
            "perf-wiring-single",
        ),
    ] {
        let wiring = wiring(&report);
        assert_eq!(wiring.kind, kind);
        assert_eq!(wiring.msg().id, id);
    }
    assert_eq!(
        wiring(&report(H100, 4, &bridges)).pair_gbs,
        Some((20.0, 208.0))
    );
    // a pair that is left out may be joined by anything
    let mut some = report(H100, 8, &|_, _| ("nvswitch", 370.0));
    some.links.pop();
    assert_eq!(wiring(&some).kind, None);
}
