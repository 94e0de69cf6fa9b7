//! Looking and proving end to end, from `dlopen` to the findings, on machines that `lessee-fake-gpu` plays. Each machine
//! runs in a process of its own, because a driver's library reads its environment once.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests stop at the first surprise too"
)]

use lessee_fake_gpu::{Link, Pair, Remote, STATE_VARIABLE, State, install};
use lessee_model::{Exit, ProbeReport};
use lessee_probe_io::gpu::prove::{Options, Rules, Step};
use lessee_probe_io::gpu::{CODES, Finding, Libraries, Severity, look, prove, verdict};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Names the folder of the machine to the process that probes it.
const MACHINE: &str = "LESSEE_TEST_MACHINE";

fn options(cap: Duration) -> Options {
    Options {
        device_bytes: 2 << 20,
        host_bytes: 1 << 18,
        peer_bytes: 1 << 18,
        at_least: Duration::from_millis(1),
        cap,
        ..Options::default()
    }
}

/// Not a test of its own: the process that the others start.
#[test]
fn the_probing_process() {
    let Some(machine) = std::env::var_os(MACHINE) else {
        return;
    };
    let machine = Path::new(&machine);
    let cap = match machine.join("short").exists() {
        true => Duration::from_millis(2500),
        false => Duration::from_secs(60),
    };
    let libraries = Arc::new(Libraries::open(Some(&machine.join("lib"))));
    let look = look::look_within(&libraries, &machine.join("root"), cap).unwrap();
    let mut steps = Vec::new();
    let mut on_step = |step: &Step| steps.push(step.to_string());
    let proof = prove::prove(&libraries, Some(&look), &options(cap), &mut on_step);
    let mut findings = look.findings();
    findings.extend(proof.findings(Some(&look), &Rules::built_in().unwrap()));
    for finding in &findings {
        let known = CODES.iter().any(|(code, _)| *code == finding.code);
        assert!(known, "{}", finding.code);
    }
    let mut report: ProbeReport = serde_json::from_value(json!({
        "schema": "lessee/probe/v1", "measured_at": "2026-11-30T00:00:00Z"
    }))
    .unwrap();
    prove::into_report(&mut report, &look, Some(&proof));
    let alone = proof.findings(None, &Rules::built_in().unwrap());
    let out = json!({
        "look": look, "proof": proof, "findings": findings, "steps": steps, "report": report,
        "exit": verdict(&findings) as i32, "alone": codes(&alone),
    });
    std::fs::write(machine.join("out.json"), out.to_string()).unwrap();
}

fn codes(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|f| f.code).collect()
}

struct Machine(tempfile::TempDir);

impl Machine {
    /// A bare machine with the driver in its kernel.
    fn new(state: &State, without: &[&str]) -> Machine {
        let machine = Machine(tempfile::tempdir().unwrap());
        for folder in ["lib", "root/proc/driver/nvidia", "root/dev"] {
            std::fs::create_dir_all(machine.path(folder)).unwrap();
        }
        machine.write("state.json", &serde_json::to_string(state).unwrap());
        machine.write("root/dev/kmsg", "");
        machine.write(
            "root/proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31\n",
        );
        install(&machine.path("lib"), without).unwrap();
        machine
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn remove(&self, name: &str) {
        std::fs::remove_file(self.path(name)).unwrap();
    }

    fn probe(&self) -> Probed {
        let run = Command::new(std::env::current_exe().unwrap())
            .args(["the_probing_process", "--exact", "--nocapture"])
            .env(MACHINE, self.0.path())
            .env(STATE_VARIABLE, self.path("state.json"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(
            run.status.success(),
            "{}\n{said}",
            String::from_utf8_lossy(&run.stdout)
        );
        let text = std::fs::read_to_string(self.path("out.json")).unwrap();
        Probed(serde_json::from_str(&text).unwrap())
    }
}

struct Probed(Value);

impl Probed {
    /// `fail gpu_lost gpu 3`, of what weighs more than a note.
    fn weighty(&self) -> Vec<String> {
        let all = self.0["findings"].as_array().unwrap().iter();
        let text = |f: &Value, key: &str| f[key].as_str().unwrap().to_owned();
        all.filter(|f| f["severity"] != "note")
            .map(|f| {
                format!(
                    "{} {} {}",
                    text(f, "severity"),
                    text(f, "code"),
                    text(f, "subject")
                )
            })
            .collect()
    }

    fn notes(&self) -> Vec<&str> {
        let all = self.0["findings"].as_array().unwrap().iter();
        let notes = all.filter(|f| f["severity"] == "note");
        notes.map(|f| f["code"].as_str().unwrap()).collect()
    }

    fn expect(&self, weighty: &[&str], exit: Exit) {
        assert_eq!(self.weighty(), weighty, "{}", self.0["findings"]);
        assert_eq!(self.0["exit"], exit as i32);
    }

    fn number(&self, pointer: &str) -> f64 {
        let value = self.0.pointer(pointer).and_then(Value::as_f64);
        value.unwrap_or_else(|| panic!("{pointer} of {}", self.0))
    }
}

fn probe(state: &State) -> Probed {
    Machine::new(state, &[]).probe()
}

#[test]
fn a_healthy_machine_with_nvswitch_delivers() {
    let p = probe(&State::nvswitch());
    p.expect(&[], Exit::Done);
    let look = &p.0["look"];
    assert_eq!(look["interconnect"], "nvswitch");
    assert_eq!(
        look["driver"]["version"],
        json!({"state": "claimed", "value": "550.90.07"})
    );
    assert_eq!(look["driver"]["kernel_version"]["value"], "550.90.07");
    assert_eq!(look["driver"]["cuda_version"]["value"], "12.4");
    assert_eq!(look["gpus"].as_array().unwrap().len(), 8);
    assert_eq!(look["pairs"].as_array().unwrap().len(), 28);
    let gpu = &look["gpus"][3];
    assert_eq!(gpu["memory_total_mib"]["value"], 81_559);
    assert_eq!(gpu["link"]["generation"]["value"], 1);
    assert_eq!(gpu["clock_reasons"]["value"], json!(["gpu_idle"]));
    assert_eq!(gpu["nvlinks"]["value"].as_array().unwrap().len(), 18);
    assert_eq!(gpu["fabric"]["value"], "ready");
    assert_eq!(gpu["temperature_c"]["value"], 31);
    assert_eq!(gpu["retired_pages_single_bit"]["state"], "unknown");
    // nothing that identifies the machine is in what is written
    assert!(!p.0.to_string().contains("GPU-00000000"));
    assert!(!p.0.to_string().contains("1650000000"));
    let proof = &p.0["proof"]["gpus"][3];
    assert_eq!(proof["kernel"]["state"], "measured");
    assert_eq!(proof["kernel"]["value"]["wrong"], 0);
    assert_eq!(proof["index"], 3);
    assert_eq!(proof["under_load"]["generation"]["value"], 5);
    assert_eq!(p.0["proof"]["pairs"].as_array().unwrap().len(), 56);
    assert_eq!(p.0["steps"][0], "start");
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.01;
    assert!(near(p.number("/proof/gpus/0/memory/value/gbs"), 2900.0));
    assert!(near(
        p.number("/proof/gpus/0/to_device/value/gbs"),
        0.87 * 63.0
    ));
    assert!(near(p.number("/report/links/0/gbs/value"), 370.0));
    assert_eq!(p.0["report"]["links"][0]["kind"], "nvswitch");
    assert_eq!(p.0["report"]["gpus"][7]["name"], "NVIDIA H100 80GB HBM3");
}

#[test]
fn cards_on_pcie_alone_deliver_as_such() {
    let p = probe(&State::pcie());
    p.expect(&[], Exit::Done);
    assert_eq!(p.0["look"]["interconnect"], "pcie");
    assert_eq!(p.0["look"]["pairs"][0]["ancestor"]["value"], "node");

    let p = probe(&State {
        peers: false,
        ..State::pcie()
    });
    p.expect(&[], Exit::Done);
    assert_eq!(p.notes(), ["p2p_blocked"]);
    assert_eq!(p.0["proof"]["pairs"][0]["rate"]["state"], "unknown");
    assert_eq!(p.0["report"]["links"][0]["gbs"]["state"], "unknown");
}

#[test]
fn bridges_between_pairs_are_not_a_fabric() {
    let mut state = State::pcie();
    for (i, gpu) in state.gpus.iter_mut().enumerate() {
        let remote = Remote::Gpu(i ^ 1);
        gpu.nvlinks = vec![Link { up: true, remote }; 12];
    }
    for (a, b) in [(0, 1), (2, 3)] {
        for (from, to) in [(a, b), (b, a)] {
            state.pairs.push(Pair {
                from,
                to,
                gbs: Some(265.0),
                flip_bit: false,
            });
        }
    }
    let p = probe(&state);
    // pairs with a bridge are no siblings of those without
    p.expect(&[], Exit::Done);
    assert_eq!(p.0["look"]["interconnect"], "nvlink_pairs");
    assert_eq!(p.0["look"]["pairs"][0]["nvlinks"]["value"], 12);
}

#[test]
fn one_slow_pair_is_found() {
    let pair = Pair {
        from: 2,
        to: 5,
        gbs: Some(180.0),
        flip_bit: false,
    };
    let p = probe(&State {
        pairs: vec![pair],
        ..State::nvswitch()
    });
    p.expect(&["fail pair_slow gpu 2 - gpu 5"], Exit::No);
}

#[test]
fn one_flipped_bit_is_found_in_a_kernel_and_on_the_way_to_a_peer() {
    let mut state = State::nvswitch();
    state.gpus[6].flip_bit = true;
    let p = probe(&state);
    p.expect(&["fail compute_error gpu 6"], Exit::No);
    assert_eq!(p.number("/proof/gpus/6/kernel/value/wrong"), 2.0);
    assert_eq!(p.0["proof"]["gpus"][6]["memory"]["state"], "unknown");

    let pair = Pair {
        from: 1,
        to: 0,
        gbs: None,
        flip_bit: true,
    };
    let p = probe(&State {
        pairs: vec![pair],
        ..State::nvswitch()
    });
    p.expect(&["fail peer_data_wrong gpu 1 - gpu 0"], Exit::No);
}

#[test]
fn a_link_that_loses_lanes_under_load_fails_and_one_that_never_had_them_warns() {
    let mut state = State::pcie();
    state.gpus[1].link_load = [5, 8];
    probe(&state).expect(&["fail link_narrow_under_load gpu 1"], Exit::No);

    state.gpus[1].link = [1, 8];
    probe(&state).expect(
        &[
            "warn link_narrow gpu 1",
            "warn link_narrow_under_load gpu 1",
        ],
        Exit::Done,
    );
}

#[test]
fn copies_slower_than_their_link_fail() {
    let mut state = State::pcie();
    state.gpus[2].link_share = 0.39;
    // a hypervisor that shows another link than there is: nothing follows from what it shows
    state.gpus[3].link_load = [1, 16];
    state.gpus[3].link_share = 13.0;
    let p = probe(&state);
    p.expect(&["fail link_slow gpu 2"], Exit::No);
    assert_eq!(p.notes(), ["link_not_shown"]);
}

#[test]
fn errors_of_cuda_have_their_causes_though_nvml_is_healthy() {
    for (status, code) in [
        (100, "no_devices"),
        (802, "fabric_manager"),
        (803, "driver_library_mismatch"),
        (804, "forward_compatibility"),
        (999, "cuda_unknown"),
        (3, "cuda_error"),
    ] {
        let mut state = State::nvswitch();
        state.errors.insert("cuInit".to_owned(), status);
        let p = probe(&state);
        p.expect(&[&format!("fail {code} machine")], Exit::No);
        assert_eq!(p.0["look"]["gpus"].as_array().unwrap().len(), 8);
    }
}

#[test]
fn functions_that_an_old_driver_lacks_cost_their_values_alone() {
    let missing = [
        "nvmlDeviceGetRemappedRows",
        "nvmlDeviceGetMemoryInfo_v2",
        "nvmlDeviceGetGpuFabricInfo",
        "cuGetErrorName",
    ];
    let p = Machine::new(&State::nvswitch(), &missing).probe();
    p.expect(&[], Exit::Done);
    assert_eq!(p.notes(), ["driver_functions_missing"]);
    let gpu = &p.0["look"]["gpus"][0];
    let reason = "function_missing: nvmlDeviceGetRemappedRows";
    assert_eq!(
        gpu["remapped_rows"],
        json!({"state": "unknown", "reason": reason})
    );
    // the older function stands in for the newer one
    assert_eq!(
        gpu["memory_total_mib"]["value"], 81_559,
        "{}",
        gpu["memory_total_mib"]
    );
}

#[test]
fn a_cuda_that_lacks_a_function_is_not_known_and_not_passed() {
    let p = Machine::new(&State::pcie(), &["cuLaunchKernel"]).probe();
    let each: Vec<String> = (0..4)
        .map(|i| format!("unknown step_failed gpu {i}"))
        .collect();
    let each: Vec<&str> = each.iter().map(String::as_str).collect();
    p.expect(&each, Exit::CannotTell);
}

#[test]
fn a_driver_whose_parts_differ_in_version() {
    let mut state = State::nvswitch();
    state.errors.insert("nvmlInit_v2".to_owned(), 18);
    state.errors.insert("cuInit".to_owned(), 803);
    let p = probe(&state);
    let wanted = [
        "fail driver_library_mismatch driver",
        "fail driver_library_mismatch machine",
    ];
    p.expect(&wanted, Exit::No);
    let detail = p.0["findings"][0]["detail"].as_str().unwrap();
    assert!(
        detail.contains("18") && detail.contains("kernel driver 550.90.07"),
        "{detail}"
    );
}

#[test]
fn a_gpu_that_is_lost_in_the_middle() {
    let mut state = State::nvswitch();
    state.gpus[4].lost_after = Some(12);
    let p = probe(&state);
    p.expect(&["fail gpu_lost gpu 4"], Exit::No);
    assert_eq!(p.0["proof"]["gpus"][5]["to_host"]["state"], "measured");

    state.gpus[4].lost_after = Some(0);
    let p = probe(&state);
    assert!(
        p.weighty().contains(&"fail gpu_lost gpu 4".to_owned()),
        "{:?}",
        p.weighty()
    );
}

#[test]
fn slices_are_told() {
    let mut state = State::pcie();
    state.gpus.truncate(1);
    state.gpus[0].mig = Some(true);
    state.gpus[0].memory_gbs = 900.0;
    state.cuda_gpus = Some(vec![0]);
    probe(&state).expect(&["warn mig_enabled gpu 0"], Exit::Done);
}

#[test]
fn heat_and_brakes_under_load_fail_and_a_power_cap_warns() {
    let mut state = State::nvswitch();
    state.gpus[0].reasons_load = 0x20 | 0x40 | 4;
    state.gpus[0].temperature_load_c = 89;
    state.gpus[1].reasons_load = 0x80;
    state.gpus[2].power_limit_mw = 500_000;
    let p = probe(&state);
    p.expect(
        &[
            "warn power_capped gpu 2",
            "fail throttled_thermal gpu 0",
            "fail throttled_power_brake gpu 1",
        ],
        Exit::No,
    );
    assert!(p.0["findings"].to_string().contains("89 °C"));
}

#[test]
fn memory_that_fails_or_was_mended() {
    let mut state = State::nvswitch();
    state.gpus[0].ecc = Some([5, 2, 5, 2]);
    state.gpus[1].remapped = Some([0, 3, 0, 1]);
    state.gpus[2].remapped = Some([0, 1, 1, 0]);
    state.gpus[3].remapped = Some([0, 1, 0, 0]);
    let p = probe(&state);
    p.expect(
        &[
            "fail ecc_uncorrectable gpu 0",
            "fail row_remap_failed gpu 1",
            "warn row_remap_pending gpu 2",
        ],
        Exit::No,
    );
    assert_eq!(p.notes(), ["rows_remapped"]);
}

#[test]
fn links_that_are_down_and_a_fabric_that_is_not_ready() {
    let mut state = State::nvswitch();
    state.gpus[3].nvlinks[7].up = false;
    state.gpus[5].fabric = Some((2, 0));
    probe(&state).expect(
        &["fail fabric_not_ready gpu 5", "fail nvlink_uneven gpu 3"],
        Exit::No,
    );
}

#[test]
fn a_blocked_way_between_gpus_that_nvlink_joins() {
    let p = probe(&State {
        peers: false,
        ..State::nvswitch()
    });
    p.expect(&["fail p2p_blocked machine"], Exit::No);
}

#[test]
fn links_whose_ends_are_not_shown_are_not_guessed() {
    let missing = ["nvmlDeviceGetNvLinkRemoteDeviceType"];
    let p = Machine::new(&State::nvswitch(), &missing).probe();
    p.expect(&[], Exit::Done);
    assert_eq!(p.0["look"]["interconnect"], "unknown");
    assert_eq!(p.0["look"]["pairs"][0]["nvlinks"]["state"], "unknown");
}

#[test]
fn fewer_gpus_for_cuda_than_the_driver_shows() {
    let state = State {
        cuda_gpus: Some(vec![3, 1]),
        ..State::pcie()
    };
    let p = probe(&state);
    p.expect(&["unknown gpu_counts_differ machine"], Exit::CannotTell);
    // CUDA's order is not NVML's: they are matched by the address
    assert_eq!(p.0["proof"]["gpus"][0]["index"], 3);
    assert_eq!(
        p.0["report"]["gpus"][3]["host_to_device_gbs"]["state"],
        "measured"
    );
    assert_eq!(p.0["report"]["gpus"][0]["host_to_device_gbs"], Value::Null);
}

#[test]
fn a_kernel_that_never_ends_is_cut_and_nothing_is_tried_after_it() {
    let mut state = State::pcie();
    state.gpus[1].hangs = true;
    let machine = Machine::new(&state, &[]);
    machine.write("short", "");
    let p = machine.probe();
    p.expect(&["unknown step_cut gpu 1"], Exit::CannotTell);
    assert_eq!(p.0["proof"]["gpus"][0]["to_host"]["state"], "measured");
    assert_eq!(p.0["steps"].as_array().unwrap().last().unwrap(), "kernel 1");
    let reason = p.0["proof"]["gpus"][2]["kernel"]["reason"]
        .as_str()
        .unwrap();
    assert!(reason.starts_with("not_tried: "), "{reason}");
}

#[test]
fn a_container_without_the_compute_capability() {
    let machine = Machine::new(&State::nvswitch(), &[]);
    machine.remove("lib/libcuda.so.1");
    machine.write("root/.dockerenv", "");
    let p = machine.probe();
    p.expect(&["fail compute_not_granted driver"], Exit::No);
    assert_eq!(p.0["alone"], json!(["no_cuda_library"]));

    machine.remove("root/.dockerenv");
    machine
        .probe()
        .expect(&["fail no_cuda_library driver"], Exit::No);
}

#[test]
fn libraries_that_are_missing_or_broken() {
    let machine = Machine::new(&State::pcie(), &[]);
    machine.remove("lib/libnvidia-ml.so.1");
    let p = machine.probe();
    // CUDA proves what NVML does not show
    p.expect(&["unknown no_nvml_library driver"], Exit::CannotTell);
    assert_eq!(p.notes(), ["link_not_shown"; 4]);

    machine.write("lib/libnvidia-ml.so.1", "not a library");
    machine
        .probe()
        .expect(&["unknown library_unusable driver"], Exit::CannotTell);

    let machine = Machine::new(&State::pcie(), &[]);
    machine.remove("lib/libnvidia-ml.so.1");
    machine.remove("lib/libcuda.so.1");
    machine.remove("root/proc/driver/nvidia/version");
    let p = machine.probe();
    p.expect(&["unknown no_driver driver"], Exit::CannotTell);
    assert_eq!(p.0["look"]["interconnect"], "unknown");
}

#[test]
fn severities_are_ordered() {
    assert!(Severity::Fail > Severity::Unknown && Severity::Warn > Severity::Note);
}
