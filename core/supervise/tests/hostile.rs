//! Whatever was sampled, a reading comes out, in linear time, and its spans lie in the series.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stdout)]

mod common;

use common::{Now, REST, Rig, rules, training};
use lessee_supervise::curve::{GpuId, Sample, Series, read};
use proptest::prelude::*;

fn value() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        3 => Just(None),
        4 => (0.0..100.0).prop_map(Some),
        2 => prop::sample::select(vec![0.0, 100.0, 1.0, 99.0]).prop_map(Some),
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, -1.0, 1e308, -0.0, 1e19]).prop_map(Some),
    ]
}

fn time() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => 0.0..600.0,
        1 => -1e6..1e6,
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, 0.0, 1e300, -1e300, 1.7e9, 1e12]),
    ]
}

fn sample() -> impl Strategy<Value = Sample> {
    (
        time(),
        prop::array::uniform12(value()),
        prop::array::uniform3(value()),
        any::<Option<bool>>(),
    )
        .prop_map(|(t_s, a, b, slowed)| Sample {
            t_s,
            util_gpu_pct: a[0],
            util_mem_pct: a[1],
            enc_pct: a[2],
            dec_pct: a[3],
            power_w: a[4],
            power_limit_w: a[5],
            sm_clock_mhz: a[6],
            mem_used_mib: a[7],
            temp_c: a[8],
            pcie_rx_mb_s: a[9],
            cpu_busiest_core_pct: a[10],
            disk_write_mb_s: a[11],
            gr_active_pct: b[0],
            tensor_active_pct: b[1],
            dram_active_pct: b[2],
            slowed,
        })
}

fn machine() -> impl Strategy<Value = Vec<Series>> {
    prop::collection::vec(prop::collection::vec(sample(), 0..120), 0..5).prop_map(|all| {
        let gpu = |i: usize| GpuId::Index(i as u32);
        let series = |(i, samples)| Series {
            gpu: gpu(i),
            samples,
        };
        all.into_iter().enumerate().map(series).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_samples(series in machine()) {
        let found = read(&series, &rules());
        prop_assert_eq!(found.len(), series.len());
        for (r, s) in found.iter().zip(&series) {
            prop_assert_eq!(&r.gpu, &s.gpu);
            for span in &r.spans {
                prop_assert!(span.from_s.is_finite() && span.to_s.is_finite());
                prop_assert!(span.from_s <= span.to_s);
            }
            prop_assert!(r.spans.windows(2).all(|w| w[0].from_s <= w[1].from_s));
            prop_assert!(r.spans.len() <= rules().max_spans);
            // a GPU of which nothing is known is no hung one
            let blind = s.samples.iter().all(|s| s.util_gpu_pct.is_none() && s.gr_active_pct.is_none());
            prop_assert!(!blind || r.label.as_str() == "UNKNOWN_MIG");
            serde_json::to_string(r).unwrap();
        }
        // the order of the samples is no information
        let mut back = series.clone();
        back.iter_mut().for_each(|s| s.samples.reverse());
        let unique = |s: &Series| {
            let mut t: Vec<u64> = s.samples.iter().map(|s| s.t_s.to_bits()).collect();
            let n = t.len();
            t.sort_unstable();
            t.dedup();
            t.len() == n && s.samples.iter().all(|s| s.t_s != 0.0)
        };
        if series.iter().all(unique) {
            prop_assert_eq!(read(&back, &rules()), found);
        }
    }
}

/// Time that this thread was on a processor: what the machine does besides does not count.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("schedstat");
    let nanos = text.split(' ').next().and_then(|n| n.parse::<f64>().ok());
    nanos.expect("nanoseconds") / 1e9
}

/// Least of a few runs: the machine is shared.
fn seconds(series: &[Series]) -> f64 {
    let run = || {
        let begun = cpu_seconds();
        std::hint::black_box(read(series, &rules()));
        cpu_seconds() - begun
    };
    (0..5).map(|_| run()).fold(f64::INFINITY, f64::min)
}

#[test]
fn an_hour_of_eight_gpus_is_quick() {
    let series: Vec<Series> = (0..8)
        .map(|g| {
            let mut rig = Rig::new(g, &[1.0]);
            rig.sample(g as u32, 3600.0, |_, t| {
                if t % 300.0 > 280.0 {
                    Now {
                        disk: 900.0,
                        ..REST
                    }
                } else {
                    training(97.0, 40.0, 0.9)
                }
            })
        })
        .collect();
    let s = seconds(&series);
    println!("{s} s");
    // 50 ms is the budget of an optimised build; without optimisation there is less
    assert!(s < 0.2, "{s} s");
}

#[test]
fn time_grows_with_the_samples() {
    let flip = |n: usize, gpus: usize| -> Vec<Series> {
        let sample = |i: usize, g: usize| Sample {
            // never two GPUs at one time, states that change each sample
            t_s: (i * gpus + g) as f64,
            util_gpu_pct: Some(if (i + g).is_multiple_of(2) {
                0.0
            } else {
                100.0
            }),
            power_w: Some(if i.is_multiple_of(3) { 10.0 } else { 300.0 }),
            power_limit_w: Some(400.0),
            util_mem_pct: Some(0.0),
            ..Sample::default()
        };
        (0..gpus)
            .map(|g| Series {
                gpu: GpuId::Index(g as u32),
                samples: (0..n).map(|i| sample(i, g)).collect(),
            })
            .collect()
    };
    for (few, many) in [
        (flip(20_000, 1), flip(160_000, 1)),
        (flip(20, 1000), flip(20, 8000)),
        (flip(140, 140), flip(400, 400)),
    ] {
        let (a, b) = (seconds(&few), seconds(&many));
        assert!(b < 8.0 * a.max(0.01) * 4.0, "{a} s, {b} s");
    }
}
