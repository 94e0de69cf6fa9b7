//! Loads over all GPUs, end to end from `dlopen` to the findings, on machines that `lessee-fake-gpu` plays: the matrix
//! rate that lasts, and all-reduce. Each machine runs in a process of its own, because a driver's library reads its
//! environment once. Time is simulated: a minute of load is over at once.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests stop at the first surprise too"
)]

use lessee_fake_gpu::{Pair, STATE_VARIABLE, State, Throttle, install, install_nccl};
use lessee_model::ProbeReport;
use lessee_probe_io::gpu::prove::{Rules, into_report};
use lessee_probe_io::gpu::reduce::{self, ReduceOptions};
use lessee_probe_io::gpu::tensor::{self, TensorOptions};
use lessee_probe_io::gpu::{CODES, Finding, Libraries, look};
use lessee_probe_io::step::Conduct;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Names the folder of the machine to the process that probes it.
const MACHINE: &str = "LESSEE_TEST_MACHINE";

fn told(findings: &[Finding]) -> Vec<String> {
    for finding in findings {
        assert!(
            CODES.iter().any(|(code, _)| *code == finding.code),
            "{}",
            finding.code
        );
    }
    let one = |f: &Finding| format!("{:?} {} {}", f.severity, f.code, f.subject).to_lowercase();
    findings.iter().map(one).collect()
}

/// Not a test of its own: the process that the others start.
#[test]
fn the_probing_process() {
    let Some(machine) = std::env::var_os(MACHINE) else {
        return;
    };
    let machine = Path::new(&machine);
    let libraries = Arc::new(Libraries::open(Some(&machine.join("lib"))));
    let look = look::look(&libraries, &machine.join("root"));
    let rules = Rules::built_in().unwrap();
    let stop = AtomicBool::new(machine.join("stop").exists());
    let conduct = Conduct::new(&stop, &|_| {});
    let options = TensorOptions {
        seconds: 20.0,
        preparation: match machine.join("short").exists() {
            true => Duration::from_secs(2),
            false => Duration::from_secs(60),
        },
        skip: Vec::new(),
        root: machine.join("root"),
    };
    let tensor = tensor::measure(&libraries, Some(&look), &options, conduct);
    let reduce_options = ReduceOptions {
        bytes: 1 << 20,
        at_least: Duration::ZERO,
        cap: match machine.join("short").exists() {
            true => Duration::from_secs(2),
            false => Duration::from_secs(60),
        },
        // one that this machine really has must not be met
        nccl_by_loader: false,
        nccl_folders: vec![machine.join("lib")],
        skip: Vec::new(),
    };
    let sum = reduce::measure(&libraries, Some(&look), &reduce_options, conduct);
    let mut report: ProbeReport = serde_json::from_value(json!({
        "schema": "lessee/probe/v1", "measured_at": "2026-11-30T00:00:00Z"
    }))
    .unwrap();
    into_report(&mut report, &look, None);
    tensor.into_report(&mut report);
    sum.into_report(&mut report);
    let out = json!({
        "tensor": tensor, "tensor_told": told(&tensor.findings(&rules)), "report": report,
        "sum": sum, "sum_told": told(&sum.findings()),
    });
    std::fs::write(machine.join("out.json"), out.to_string()).unwrap();
}

struct Machine(tempfile::TempDir);

impl Machine {
    fn new(state: &State) -> Machine {
        let machine = Machine(tempfile::tempdir().unwrap());
        let folder = machine.0.path();
        for name in ["lib", "root"] {
            std::fs::create_dir_all(folder.join(name)).unwrap();
        }
        let state = serde_json::to_string(state).unwrap();
        std::fs::write(folder.join("state.json"), state).unwrap();
        install(&folder.join("lib"), &[]).unwrap();
        machine
    }

    fn probe(&self) -> Value {
        let run = Command::new(std::env::current_exe().unwrap())
            .args(["the_probing_process", "--exact", "--nocapture"])
            .env(MACHINE, self.0.path())
            .env(STATE_VARIABLE, self.0.path().join("state.json"))
            .output()
            .unwrap();
        let said = [run.stdout, run.stderr].map(|s| String::from_utf8_lossy(&s).into_owned());
        assert!(run.status.success(), "{said:?}");
        let text = std::fs::read_to_string(self.0.path().join("out.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

fn probe(state: &State) -> Value {
    Machine::new(state).probe()
}

fn number(value: &Value, pointer: &str) -> f64 {
    let found = value.pointer(pointer).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("{pointer} of {value}"))
}

fn near(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 0.01
}

#[test]
fn a_healthy_machine_computes_right_and_at_one_rate() {
    let p = probe(&State::nvswitch());
    assert_eq!(p["tensor_told"], json!([]));
    for i in 0..8 {
        let gpu = &p["tensor"]["gpus"][i];
        assert_eq!(gpu["method"]["value"], "mma.sync m16n8k16 bf16");
        assert_eq!(gpu["results"]["value"]["wrong"], 0);
        // two multiprocessors with four blocks of eight warps, and a tile of 32 x 32 each, before and after
        assert_eq!(gpu["results"]["value"]["words"], 2 * 2 * 4 * 8 * 1024);
        assert!(near(number(gpu, "/sustained/value/tflops"), 620.0));
        assert_eq!(
            gpu["sustained"]["value"]["window_s"]
                .as_f64()
                .unwrap()
                .round(),
            7.0
        );
        let moments = gpu["sustained"]["value"]["moments"].as_array().unwrap();
        assert!((190..=210).contains(&moments.len()), "{}", moments.len());
        let moment = &moments[100];
        assert_eq!(moment["sm_clock_mhz"], 1980.0);
        assert_eq!(moment["power_w"], 700.0);
        assert_eq!(moment["util_gpu_pct"], 100.0);
        assert_eq!(moment["clock_reasons"], json!(["sw_power_cap"]));
        // an H100 can do more than mma.sync: a plan must not take the rate for its best
        let reason = p["report"]["gpus"][i]["tensor_tflops"]["reason"].as_str();
        assert!(
            reason
                .unwrap()
                .starts_with("below_peak: 620.0 TFLOP/s, mma.sync"),
            "{reason:?}"
        );
    }
}

#[test]
fn older_cards_multiply_halves_of_another_kind_and_the_oldest_cannot() {
    let mut state = State::pcie();
    for gpu in &mut state.gpus {
        gpu.capability = [7, 0];
        gpu.tensor_tflops = 90.0;
    }
    state.gpus[3].capability = [6, 1];
    let p = probe(&state);
    assert_eq!(p["tensor_told"], json!([]));
    let gpu = &p["tensor"]["gpus"][0];
    assert_eq!(gpu["method"]["value"], "wmma m16n16k16 f16");
    assert_eq!(gpu["results"]["value"]["wrong"], 0);
    assert!(near(number(gpu, "/sustained/value/tflops"), 90.0));
    assert!(near(number(&p, "/report/gpus/0/tensor_tflops/value"), 90.0));
    let reason = p["tensor"]["gpus"][3]["sustained"]["reason"]
        .as_str()
        .unwrap();
    assert!(reason.starts_with("no_matrix_unit"), "{reason}");
    assert_eq!(p["report"]["gpus"][3]["tensor_tflops"]["state"], "unknown");
}

#[test]
fn heat_that_comes_with_time_is_told_with_the_rates() {
    let mut state = State::nvswitch();
    state.gpus[2].throttle = Some(Throttle {
        after_s: 8.0,
        sm_clock_mhz: 990,
        reasons: 0x40,
    });
    // the driver gives no reason that is one
    state.gpus[6].throttle = Some(Throttle {
        after_s: 16.0,
        sm_clock_mhz: 990,
        reasons: 4,
    });
    let p = probe(&state);
    assert_eq!(
        p["tensor_told"],
        json!([
            "fail throttled_thermal gpu 2",
            "fail tensor_slow gpu 2",
            "warn tensor_fades gpu 6"
        ])
    );
    let sustained = &p["tensor"]["gpus"][2]["sustained"]["value"];
    assert!(near(number(sustained, "/first_tflops"), 620.0));
    assert!(near(number(sustained, "/last_tflops"), 310.0));
    assert_eq!(sustained["moments"][130]["sm_clock_mhz"], 990.0);
}

#[test]
fn one_slow_gpu_and_one_that_computes_wrong() {
    let mut state = State::nvswitch();
    state.gpus[1].tensor_tflops = 500.0;
    state.gpus[7].tensor_flip_bit = true;
    let p = probe(&state);
    assert_eq!(
        p["tensor_told"],
        json!(["fail compute_error gpu 7", "fail tensor_slow gpu 1"])
    );
    // nothing is measured of what is wrong, and the report does not have it as a figure
    assert_eq!(p["tensor"]["gpus"][7]["results"]["value"]["wrong"], 1);
    assert_eq!(p["tensor"]["gpus"][7]["sustained"]["state"], "unknown");
    assert_eq!(p["report"]["gpus"][7]["tensor_tflops"]["state"], "failed");
}

#[test]
fn a_gpu_lost_under_load_fails_alone() {
    let mut state = State::nvswitch();
    state.gpus[4].lost_after = Some(60);
    let p = probe(&state);
    let told = p["tensor_told"].as_array().unwrap();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0] == "fail gpu_lost gpu 4" || told[0] == "fail cuda_unknown gpu 4",
        "{told:?}"
    );
    assert!(near(
        number(&p, "/tensor/gpus/5/sustained/value/tflops"),
        620.0
    ));
}

#[test]
fn a_kernel_that_never_ends_is_cut_and_the_others_are_measured() {
    let mut state = State::pcie();
    state.gpus[2].hangs = true;
    let machine = Machine::new(&state);
    std::fs::write(machine.0.path().join("short"), "").unwrap();
    let p = machine.probe();
    assert_eq!(p["tensor_told"], json!(["unknown step_cut gpu 2"]));
    assert!(near(
        number(&p, "/tensor/gpus/3/sustained/value/tflops"),
        620.0
    ));
    assert_eq!(p["sum_told"], json!(["unknown step_cut machine"]));
    let reason = p["report"]["all_reduce_bus_gbs"]["reason"]
        .as_str()
        .unwrap();
    assert!(reason.contains("time_cap"), "{reason}");
}

#[test]
fn a_library_that_would_do_better_is_named() {
    let mut state = State::pcie();
    state.gpus.truncate(1);
    let machine = Machine::new(&state);
    let lib = "root/opt/conda/lib/python3.12/site-packages/nvidia/cublas/lib";
    let lib = machine.0.path().join(lib);
    std::fs::create_dir_all(&lib).unwrap();
    std::fs::write(lib.join("libcublasLt.so.12"), "").unwrap();
    assert_eq!(machine.probe()["tensor"]["cublas_lt"], json!(lib));
}

#[test]
fn a_load_that_is_stopped_says_what_it_has() {
    let machine = Machine::new(&State::pcie());
    std::fs::write(machine.0.path().join("stop"), "").unwrap();
    let p = machine.probe();
    assert_eq!(p["tensor_told"], json!([]));
    assert_eq!(p["tensor"]["gpus"][0]["results"]["value"]["wrong"], 0);
    let seconds = p["tensor"]["gpus"][0]["sustained"]["value"]["seconds"].as_f64();
    assert!(seconds.is_none_or(|s| s < 20.0), "{seconds:?}");
}

#[test]
fn a_ring_of_our_own_adds_up_at_the_rate_of_its_links() {
    for state in [State::nvswitch(), State::pcie()] {
        let p = probe(&state);
        let sum = &p["sum"];
        assert_eq!(p["sum_told"], json!([]));
        assert_eq!(sum["method"], "ring over peer copies");
        let why = sum["nccl_not_used"].as_str().unwrap();
        assert!(why.contains("libnccl.so.2"), "{why}");
        assert_eq!(sum["results"]["value"]["wrong"], 0);
        let n = state.gpus.len() as f64;
        assert_eq!(
            number(sum, "/results/value/words"),
            n * number(sum, "/bytes") / 4.0
        );
        // copies overlap the additions but for the first and the last
        let bus = number(sum, "/bus/value/gbs");
        assert!(
            bus <= state.peer_gbs * 1.001 && bus > 0.8 * state.peer_gbs,
            "{bus} of {}",
            state.peer_gbs
        );
        assert!(near(
            bus,
            number(sum, "/algorithm_gbs/value") * 2.0 * (n - 1.0) / n
        ));
        assert!(near(number(&p, "/report/all_reduce_bus_gbs/value"), bus));
    }
}

#[test]
fn a_ring_waits_for_its_slowest_link_and_is_named_where_it_goes_through_the_host() {
    let mut state = State::nvswitch();
    state.pairs = vec![Pair {
        from: 3,
        to: 4,
        gbs: Some(50.0),
        flip_bit: false,
    }];
    state.peers = false;
    let p = probe(&state);
    let bus = number(&p, "/sum/bus/value/gbs");
    assert!(bus < 50.1 && bus > 40.0, "{bus}");
    assert_eq!(p["sum"]["method"], "ring through host memory");
}

#[test]
fn sums_that_a_link_damages_are_found() {
    let mut state = State::nvswitch();
    state.pairs = vec![Pair {
        from: 3,
        to: 4,
        gbs: None,
        flip_bit: true,
    }];
    let p = probe(&state);
    assert_eq!(p["sum_told"], json!(["fail all_reduce_wrong machine"]));
    assert_eq!(p["sum"]["bus"]["state"], "unknown");
    assert_eq!(p["report"]["all_reduce_bus_gbs"]["state"], "failed");
}

#[test]
fn nccl_is_used_where_there_is_one_and_left_where_it_fails() {
    let mut state = State::nvswitch();
    let machine = Machine::new(&state);
    install_nccl(&machine.0.path().join("lib")).unwrap();
    let p = machine.probe();
    assert_eq!(p["sum_told"], json!([]));
    assert_eq!(p["sum"]["method"], "nccl");
    assert_eq!(p["sum"]["nccl_version"], "2.21.5");
    assert_eq!(p["sum"]["may_exceed_links"], true);
    assert_eq!(p["sum"]["results"]["value"]["wrong"], 0);
    assert!(near(number(&p, "/sum/bus/value/gbs"), 470.0));

    state.errors.insert("ncclCommInitAll".to_owned(), 1);
    let machine = Machine::new(&state);
    install_nccl(&machine.0.path().join("lib")).unwrap();
    let p = machine.probe();
    assert_eq!(p["sum"]["method"], "ring over peer copies");
    let why = p["sum"]["nccl_not_used"].as_str().unwrap();
    assert!(why.contains("ncclCommInitAll"), "{why}");
}

#[test]
fn one_gpu_has_nothing_to_add_up() {
    let mut state = State::nvswitch();
    state.gpus.truncate(1);
    let p = probe(&state);
    assert_eq!(p["sum_told"], json!([]));
    assert!(
        p["sum"]["bus"]["reason"]
            .as_str()
            .unwrap()
            .contains("one GPU")
    );
    assert_eq!(p["report"]["all_reduce_bus_gbs"], Value::Null);
}
