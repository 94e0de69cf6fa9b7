//! `probe watch` of the machine's own GPUs, through the front door: the real binary on machines that `lessee-fake-gpu`
//! plays. The loader finds the driver's libraries where `LD_LIBRARY_PATH` says.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod common;

use common::{Home, Run};
use lessee_fake_gpu::{Activity, STATE_VARIABLE, State, install};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

struct Machine {
    home: Home,
}

impl Machine {
    fn new(state: &State) -> Machine {
        let home = Home::new();
        home.file("state.json", serde_json::to_string(state).unwrap());
        let lib = home.path("lib");
        std::fs::create_dir_all(&lib).unwrap();
        install(&lib, &[]).unwrap();
        Machine { home }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(&[&["probe", "watch"], args].concat());
        command.env("LD_LIBRARY_PATH", self.home.path("lib"));
        command.env(STATE_VARIABLE, self.home.path("state.json"));
        command
    }

    fn watch(&self, args: &[&str]) -> Run {
        Run::of(self.command(args))
    }
}

/// Eight GPUs that train.
fn training() -> State {
    let mut state = State::nvswitch();
    for gpu in &mut state.gpus {
        let activity = |at: u32| Activity {
            util_gpu_pct: 96 + at % 4,
            util_mem_pct: 40 + at % 7,
            power_mw: 640_000 + 1000 * (at % 11),
            sm_clock_mhz: 1755,
            temperature_c: 61,
            memory_used_mib: 71_000,
            pcie_in_kb_s: 350_000,
            ..Activity::default()
        };
        gpu.activity = (0..40).map(activity).collect();
    }
    state
}

const SHORT: [&str; 6] = ["--every", "0.02", "--for", "1", "-o", "json"];

#[test]
fn what_is_recorded_reads_as_what_was_watched() {
    let machine = Machine::new(&training());
    let file = machine.home.path("log.csv");
    let file = file.to_str().unwrap();
    let live = machine.watch(&[&SHORT[..], &["--record", file]].concat());
    // whoever reads JSON finds an error object on stderr, or nothing; people see it live
    assert_eq!(live.err, "");
    let shown = machine.watch(&["--every", "0.02", "--for", "0.2"]);
    assert!(shown.err.contains("GPU 7"), "{}", shown.err);
    let live = live.exits(0).json();
    assert_eq!(live["schema"], "lessee/watch/v1");
    assert_eq!(
        (&live["file"], &live["format"]),
        (&Value::from("live"), &Value::from("live"))
    );
    assert_eq!(live["gpus"].as_array().unwrap().len(), 8);
    let label = live["gpus"][0]["label"].as_str().unwrap();
    assert!(label.starts_with("HEALTHY"), "{}", live["gpus"][0]);

    let again = machine.home.json(&["probe", "watch", "--from", file]);
    assert_eq!(again["gpus"], live["gpus"]);
    assert_eq!(again["not_understood_count"], 0);
    let log = std::fs::read_to_string(file).unwrap();
    let row = log.lines().nth(1).unwrap();
    assert!(
        row.contains(",0,NVIDIA H100 80GB HBM3,96,40,0,,640,700,1755,2619,71000,61,"),
        "{row}"
    );
}

#[test]
fn what_the_driver_does_not_tell_is_absent_and_not_nought() {
    let mut state = training();
    state.gpus.truncate(1);
    state.gpus[0].mig = Some(true);
    state.errors.insert("nvmlDeviceGetPowerUsage".to_owned(), 3);
    let machine = Machine::new(&state);
    let file = machine.home.path("log.csv");
    let file = file.to_str().unwrap();
    let live = machine.watch(&[&SHORT[..], &["--record", file]].concat());
    let live = live.exits(0).json();
    assert_eq!(live["gpus"][0]["label"], "UNKNOWN_MIG");
    let log = std::fs::read_to_string(file).unwrap();
    let row = log.lines().nth(1).unwrap();
    assert!(
        row.contains(",NVIDIA H100 80GB HBM3,,,0,,,700,1755,"),
        "{row}"
    );
}

#[test]
fn a_gpu_that_is_lost_meanwhile_ends_its_curve_and_the_answer_is_no() {
    let mut state = training();
    state.gpus[5].lost_after_readings = Some(12);
    let machine = Machine::new(&state);
    let live = machine.watch(&SHORT).exits(1).json();
    assert_eq!(live["lost"].as_array().unwrap().len(), 1);
    assert_eq!(live["lost"][0]["gpu"], 5);
    assert!(
        live["lost"][0]["error"]
            .as_str()
            .unwrap()
            .contains("GPU_IS_LOST")
    );
    assert_eq!(live["gpus"][5]["samples"], 12);
    assert!(live["gpus"][4]["samples"].as_u64().unwrap() > 12);
    for (lang, lost) in [("en", "lost after"), ("zh-CN", "丢失")] {
        let run = machine.watch(&["--every", "0.02", "--for", "1", "--lang", lang]);
        assert!(run.exits(1).out.contains(lost));
    }

    // with none left there is nothing to wait for, whatever the time that was asked for
    for gpu in &mut state.gpus {
        gpu.lost_after_readings = Some(3);
    }
    let machine = Machine::new(&state);
    let run = machine.watch(&["--every", "0.02", "--for", "3600", "-o", "json"]);
    assert_eq!(run.exits(1).json()["lost"].as_array().unwrap().len(), 8);
}

#[test]
fn without_a_driver_it_cannot_be_told() {
    let machine = Machine::new(&training());
    std::fs::remove_file(machine.home.path("lib/libnvidia-ml.so.1")).unwrap();
    machine.home.file("lib/libnvidia-ml.so.1", "no library");
    machine
        .watch(&SHORT[..4])
        .says(7, &["libnvidia-ml.so.1", "--from"]);

    let mut state = training();
    state.errors.insert("nvmlInit_v2".to_owned(), 9);
    let machine = Machine::new(&state);
    machine.watch(&SHORT[..4]).says(7, &["DRIVER_NOT_LOADED"]);

    state.errors.clear();
    state.gpus.clear();
    let machine = Machine::new(&state);
    machine.watch(&SHORT[..4]).says(7, &["no GPU"]);
}

#[test]
fn a_signal_ends_it_and_what_was_seen_is_judged() {
    let machine = Machine::new(&training());
    let json = machine.home.path("watch.json");
    let mut child = machine
        .command(&["--every", "0.02", "--export", json.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert!(line.contains("GPU 0"), "{line}");
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let mut out = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(out.contains("GPU"), "{out}");
    let doc: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(doc["gpus"].as_array().unwrap().len(), 8);
}

#[test]
fn intervals_that_are_none_and_flags_that_contradict_are_refused() {
    let machine = Machine::new(&training());
    for args in [
        ["--every", "0"],
        ["--every", "nan"],
        ["--for", "-1"],
        ["--for", "0"],
        ["--sample-seconds", "1"],
    ] {
        machine.watch(&args).exits(2);
    }
    machine.watch(&["--from", "x", "--every", "1"]).exits(2);
    let nowhere = machine.home.path("no/such/folder.csv");
    machine
        .watch(&["--for", "1", "--record", nowhere.to_str().unwrap()])
        .says(2, &["folder.csv"]);
}
