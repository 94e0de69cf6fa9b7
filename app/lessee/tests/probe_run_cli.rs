//! `probe` without a form, through the front door: GPUs that a fake driver library plays, and this machine's own
//! processor, disk and network. Never how fast anything is.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;
mod played;

use common::{Home, Run, check, example};
use lessee_fake_gpu::{Pair, State};
use played::{Machine, Probed, four};
use serde_json::Value;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

fn probe(state: &State) -> Probed {
    Machine::new(state, &[]).probe()
}

#[test]
fn a_healthy_machine_delivers_and_its_report_is_read_by_plan() {
    let machine = Machine::new(&State::nvswitch(), &[]);
    let export = machine.0.path("report.json");
    let export = export.to_str().unwrap();
    let run = Run::of(machine.command(&["--export", export]));
    let run = run.exits(0);
    assert!(run.out.contains("This machine delivers"), "{}", run.out);
    assert!(run.err.contains("GPUs: done"), "{}", run.err);
    let text = std::fs::read_to_string(export).unwrap();
    let doc: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(doc["verdict"], "delivers");
    assert_eq!(doc["measured_at"], common::NOW);
    assert_eq!(doc["machine"]["interconnect"], "nvswitch");
    assert_eq!(doc["gpus"].as_array().unwrap().len(), 8);
    assert_eq!(doc["links"].as_array().unwrap().len(), 28);
    assert_eq!(doc["links"][0]["ways"].as_array().unwrap().len(), 2);
    let gpu = &doc["gpus"][7];
    assert_eq!(gpu["kernel"]["value"]["wrong"], 0);
    assert_eq!(gpu["under_load"]["pcie_generation"]["value"], 5);
    let samples = &gpu["memory_bandwidth_gbs"]["samples"];
    assert!(samples.as_array().unwrap().len() >= 5, "raw samples");
    // nothing that identifies the machine
    assert_eq!(
        gpu["stated"]["uuid_hash"]["value"].as_str().unwrap().len(),
        16
    );
    assert!(!text.contains("GPU-00000000") && !text.contains("1650000000"));
    // the look and the GPUs alone were asked for
    for step in doc["run"]["steps"].as_array().unwrap() {
        let made = ["look", "gpu"].contains(&step["step"].as_str().unwrap());
        assert_eq!(step["status"], if made { "done" } else { "skipped" });
    }
    assert!(doc["disk"].is_null() && doc["feed"].is_null() && doc["host"].is_null());

    let schema: Value = machine.0.run(&["schema", "probe"]).exits(0).json();
    let mut wrong = Vec::new();
    check(&doc, &schema, &schema, "probe", &mut wrong);
    assert_eq!(wrong, [""; 0]);
    let plan = example("finetune-8b.toml");
    let plan = machine.0.json(&["plan", &plan, "--measured", export]);
    assert_eq!(plan["schema"], "lessee/plan/v1");
}

#[test]
fn cards_on_pcie_alone_deliver_as_such() {
    let p = probe(&State::pcie());
    p.expect(0, &[]);
    assert_eq!(p.doc["machine"]["interconnect"], "pcie");
    assert_eq!(p.doc["links"][0]["kind"], "pcie");
}

#[test]
fn one_slow_pair() {
    let pair = Pair {
        from: 2,
        to: 3,
        gbs: Some(180.0),
        flip_bit: false,
    };
    let p = probe(&State {
        pairs: vec![pair],
        ..four()
    });
    p.expect(1, &["pair_slow gpu 2 - gpu 3"]);
}

#[test]
fn one_flipped_bit() {
    let mut state = four();
    state.gpus[2].flip_bit = true;
    let p = probe(&state);
    p.expect(1, &["compute_error gpu 2"]);
    let machine = Machine::new(&state, &[]);
    for (lang, wrong) in [("en", "wrong"), ("zh-CN", "错误")] {
        let run = Run::of(machine.command(&["--lang", lang])).exits(1);
        assert!(run.out.contains(wrong), "{}", run.out);
        let bare = run.out.contains("probe-") || run.out.contains("gpu-found");
        assert!(!bare, "a message without a text: {}", run.out);
        assert!(
            run.out.lines().all(|l| l.chars().count() <= 80),
            "{}",
            run.out
        );
    }
}

#[test]
fn half_of_the_lanes_under_load() {
    let mut state = State::pcie();
    state.gpus[1].link_load = [5, 8];
    probe(&state).expect(1, &["link_narrow_under_load gpu 1"]);
}

#[test]
fn cuda_error_802_though_the_driver_shows_all_gpus() {
    let mut state = four();
    state.errors.insert("cuInit".to_owned(), 802);
    let p = probe(&state);
    p.expect(1, &["fabric_manager machine"]);
    assert_eq!(p.doc["gpus"].as_array().unwrap().len(), 4);
    assert_eq!(p.step("gpu")["status"], "failed");
}

#[test]
fn functions_that_an_old_driver_lacks() {
    let missing = ["nvmlDeviceGetRemappedRows", "nvmlDeviceGetGpuFabricInfo"];
    let p = Machine::new(&four(), &missing).probe();
    p.expect(0, &[]);
    let notes = p.codes(&["note"]);
    assert!(notes.contains(&"driver_functions_missing driver".to_owned()));
    let reason = &p.doc["gpus"][0]["stated"]["remapped_rows"]["reason"];
    assert_eq!(reason, "function_missing: nvmlDeviceGetRemappedRows");
}

#[test]
fn a_driver_whose_parts_differ_in_version() {
    let mut state = four();
    state.errors.insert("nvmlInit_v2".to_owned(), 18);
    state.errors.insert("cuInit".to_owned(), 803);
    let weighty = [
        "driver_library_mismatch driver",
        "driver_library_mismatch machine",
    ];
    probe(&state).expect(1, &weighty);
}

#[test]
fn a_gpu_that_is_lost_in_the_middle() {
    let mut state = four();
    state.gpus[1].lost_after = Some(12);
    let p = probe(&state);
    p.expect(1, &["gpu_lost gpu 1"]);
    assert_eq!(p.doc["gpus"][2]["device_to_host_gbs"]["state"], "measured");
}

#[test]
fn slices_are_told() {
    let mut state = State::pcie();
    state.gpus.truncate(1);
    state.gpus[0].mig = Some(true);
    let p = probe(&state);
    p.expect(0, &[]);
    assert!(p.codes(&["warn"]).contains(&"mig_enabled gpu 0".to_owned()));
}

#[test]
fn heat_under_load() {
    let mut state = four();
    state.gpus[0].reasons_load = 0x20 | 0x40;
    state.gpus[0].temperature_load_c = 89;
    let p = probe(&state);
    p.expect(1, &["throttled_thermal gpu 0"]);
    assert_eq!(p.doc["gpus"][0]["under_load"]["temperature_c"]["value"], 89);
}

#[test]
fn without_a_driver_nothing_is_known_of_gpus_and_the_rest_is_measured() {
    if Path::new("/proc/driver/nvidia").exists() {
        println!("skipped: this machine has a driver");
        return;
    }
    let home = Home::new();
    let run = home.run(&["probe", "--quick", "--only", "gpu,net", "-o", "json"]);
    let p = Probed::of(&run);
    p.expect(7, &["no_driver driver"]);
    assert_eq!(p.step("look")["status"], "done");
    assert_eq!(p.step("gpu")["status"], "skipped");
    assert_eq!(p.step("gpu")["reason"], "no_driver");
    assert_eq!(run.err, "", "a program finds an object there, or nothing");
}

#[test]
fn the_processor_alone() {
    let home = Home::new();
    let run = home.run(&["probe", "--quick", "--only", "cpu", "-o", "json"]);
    let p = Probed::of(&run);
    p.expect(0, &[]);
    let host = &p.doc["host"];
    assert!(host["stream_gbs"]["value"].as_f64().unwrap() > 0.0);
    assert!(host["grant"]["granted"].as_f64().unwrap() > 0.0);
    assert!(p.doc["machine"].is_null() && p.doc["disk"].is_null());
    let quiet = home
        .run(&["probe", "--quick", "--only", "net", "-q"])
        .exits(7);
    assert_eq!(quiet.err, "");
}

#[test]
fn folders_that_cannot_be_used() {
    let home = Home::new();
    let disk = |folder: &str| home.run(&["probe", "--quick", "--only", "disk", "--folder", folder]);
    // a mistake in the call: nothing is measured
    disk("/no/such/folder").says(2, &["/no/such/folder"]);
    let file = home.file("file", "x");
    disk(&file).says(2, &[&file]);
    // no room: not known, and said so
    let run = disk("/proc").exits(7);
    assert!(run.out.contains("/proc has 0 MiB free"), "{}", run.out);
    // not writable
    let run = home.run(&[
        "probe",
        "--quick",
        "--only",
        "disk",
        "--folder",
        "/sys/kernel",
        "-o",
        "json",
    ]);
    let p = Probed::of(&run);
    p.expect(7, &["step_not_done disk"]);
    assert_eq!(p.step("disk")["status"], "failed");
    home.run(&["probe", "--only", "feed", "--samples", "/no/such/folder"])
        .says(2, &["/no/such/folder"]);
}

#[test]
fn the_disk_that_was_meant_is_named_and_left_as_it_was() {
    let home = Home::new();
    let folder = home.path("disk");
    std::fs::create_dir(&folder).unwrap();
    let folder = folder.canonicalize().unwrap();
    let name = folder.to_str().unwrap();
    let run = home.run(&[
        "probe", "--quick", "--only", "disk", "--folder", name, "-o", "json",
    ]);
    let p = Probed::of(&run);
    assert_eq!(p.code, 0, "{}", p.doc["findings"]);
    let disk = &p.doc["disk"];
    assert_eq!(disk["folder"], name);
    for depth in disk["random"].as_array().unwrap() {
        assert!(depth["latency"]["p99_us"].as_f64().unwrap() > 0.0);
    }
    assert!(disk["checkpoint"]["fsync_s"].is_number());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

/// Utilisation as MLPerf Storage defines it, from nothing but the raw times: compute over total, the first step left out.
fn utilisation(pass: &Value) -> f64 {
    let at = |step: &Value, key: &str| step[key].as_f64().unwrap();
    let steps = pass["steps"].as_array().unwrap();
    let compute: f64 = steps[1..].iter().map(|s| at(s, "compute_s")).sum();
    compute / (at(steps.last().unwrap(), "end_s") - at(&steps[0], "end_s"))
}

#[test]
fn samples_are_fed_damaged_ones_named_and_raw_times_kept() {
    let home = Home::new();
    for i in 0..12 {
        let name = format!("samples/{i}.jpg");
        home.file(&name, lessee_probe_io::feed::jpeg(64, 48, i));
    }
    home.file("samples/broken.jpg", b"no picture");
    let samples = home.path("samples");
    let feed = |step: &str, batch: &str| {
        Probed::of(&home.run(&[
            "probe",
            "--quick",
            "--only",
            "feed",
            "--samples",
            samples.to_str().unwrap(),
            "--step-seconds",
            step,
            "--batch",
            batch,
            "--workers",
            "1",
            "--side",
            "32",
            "-o",
            "json",
        ]))
    };
    let fed = feed("0.3", "2");
    fed.expect(0, &[]);
    assert!(
        fed.codes(&["warn"])
            .contains(&"samples_damaged feed".to_owned())
    );
    let doc = &fed.doc["feed"];
    assert_eq!(doc["damaged"]["named"][0]["name"], "broken.jpg");
    assert_eq!(doc["settings"]["workers"], 1);
    let paced = doc["passes"].as_array().unwrap().iter();
    let paced: Vec<&Value> = paced.filter(|p| p["model_step_s"] != 0.0).collect();
    assert_eq!(paced.len(), 2, "from disk and from memory");
    for pass in paced {
        let reported = pass["au"]["value"].as_f64().unwrap();
        assert!((utilisation(pass) - reported).abs() < 0.03, "{reported}");
    }
    assert!(doc["gpus_fed"]["value"].as_f64().unwrap() > 1.0);

    let starved = feed("0.0001", "16");
    starved.expect(1, &["feed_starved feed"]);
    assert!(starved.doc["feed"]["gpus_fed"]["value"].as_f64().unwrap() < 1.0);
    assert_eq!(std::fs::read_dir(&samples).unwrap().count(), 13);
}

#[test]
fn a_folder_without_samples_is_not_known() {
    let home = Home::new();
    std::fs::create_dir(home.path("empty")).unwrap();
    let args = ["probe", "--quick", "--only", "feed", "--samples", "empty"];
    let run = home.run(&args).exits(7);
    assert!(run.out.contains("no sample in"), "{}", run.out);
}

#[test]
fn a_host_that_answers_and_one_that_does_not() {
    let home = Home::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = listener.local_addr().unwrap().to_string();
    let net = |more: &[&str]| {
        home.run(
            &[
                &["probe", "--quick", "--only", "net", "--host", &target],
                more,
            ]
            .concat(),
        )
    };
    let p = Probed::of(&net(&["-o", "json"]));
    p.expect(0, &[]);
    assert_eq!(p.doc["net"]["host"]["rtt_ms"]["state"], "measured");
    drop(listener);
    let p = Probed::of(&net(&["-o", "json"]));
    p.expect(7, &[&format!("net_unreachable {target}")]);
    net(&["--offline"]).says(3, &["--offline", &target]);
}

#[test]
fn flags_without_sense_are_refused_before_anything_is_measured() {
    let home = Home::new();
    let refused = |args: &[&str], words: &[&str]| {
        home.run(&[&["probe"], args].concat()).says(2, words);
    };
    refused(&["--only", "cpuu"], &["cpuu", "`cpu`"]);
    refused(&["--only", "cpu", "--batch", "4"], &["--batch", "feed"]);
    refused(&["--host", "example.org"], &["example.org", "HOST:PORT"]);
    refused(&["--workers", "0"], &["--workers"]);
    refused(&["--step-seconds", "nan"], &["--step-seconds"]);
    refused(&["--device-mib", "0"], &["--device-mib"]);
    refused(&["--quick", "read", "x"], &["before a form"]);
}

#[test]
fn a_stopped_run_cleans_up_and_says_what_it_knows() {
    let home = Home::new();
    let folder = home.path("disk");
    std::fs::create_dir(&folder).unwrap();
    let args = [
        "probe", "--only", "feed,net", "--folder", "disk", "-o", "json",
    ];
    let child = home
        .command(&args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // pictures are being made: stop it now
    while std::fs::read_dir(&folder).unwrap().count() == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut kill = Command::new("kill");
    kill.args(["-INT", &child.id().to_string()]);
    assert!(kill.status().unwrap().success());
    let run = Run::from(&child.wait_with_output().unwrap());
    let p = Probed::of(&run);
    p.expect(7, &["run_stopped run"]);
    assert_eq!(p.step("feed")["status"], "stopped");
    assert_eq!(p.step("net")["status"], "stopped");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}
