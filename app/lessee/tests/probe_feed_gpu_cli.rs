//! The feed test of `probe` on GPUs that a fake driver library plays in real time, through the front door: batches are
//! copied, a kernel takes the step's time, and what goes wrong with either is told. Never how fast anything is.

#![allow(clippy::unwrap_used)]
#![cfg(target_os = "linux")]

mod common;
mod played;

use common::{Home, Run, check};
use lessee_fake_gpu::{State, Throttle};
use played::{Machine, Probed, four};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

/// The first GPUs of a machine whose operations take their time.
fn gpus(count: usize) -> State {
    let mut state = four();
    state.gpus.truncate(count);
    state.real_time = true;
    state
}

/// Plain samples of one megabyte.
fn machine(state: &State) -> Machine {
    let machine = Machine::new(state, &[]);
    for i in 0..8 {
        machine
            .0
            .file(&format!("samples/{i}.bin"), vec![7; 1 << 20]);
    }
    machine
}

fn command(machine: &Machine, only: &str, step: &str, more: &[&str]) -> Command {
    let samples = machine.0.path("samples");
    let fixed = [
        "--quick",
        "--workers",
        "1",
        "--batch",
        "2",
        "--step-seconds",
    ];
    let samples = [step, "--samples", samples.to_str().unwrap()];
    machine.steps(only, &[&fixed[..], &samples, more].concat())
}

fn feed(state: &State, step: &str) -> Probed {
    let machine = machine(state);
    Probed::of(&Run::of(command(
        &machine,
        "look,gpu,feed",
        step,
        &["-o", "json"],
    )))
}

fn number(value: &Value, pointer: &str) -> f64 {
    let found = value.pointer(pointer).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("{pointer} of {value}"))
}

/// As MLPerf Storage defines it: steps times the model's step time over the time they took, the first left out.
fn utilisation(pass: &Value) -> f64 {
    let steps = pass["steps"].as_array().unwrap();
    let ends = |s: &Value| s["end_s"].as_f64().unwrap();
    let total = ends(steps.last().unwrap()) - ends(&steps[0]);
    (steps.len() - 1) as f64 * pass["model_step_s"].as_f64().unwrap() / total
}

#[test]
fn gpus_that_were_proved_take_the_batches() {
    let machine = machine(&gpus(2));
    let export = machine.0.path("report.json");
    let export = export.to_str().unwrap();
    let more = ["--export", export];
    let run = Run::of(command(&machine, "look,gpu,feed", "0.2", &more));
    // a machine too busy to give the orders in time cannot tell; what was done is the same
    let told = match run.code {
        7 => None,
        _ => Some("gpu"),
    };
    let run = run.exits(if told.is_some() { 0 } else { 7 });
    let text = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["really copied to its GPU", "A kernel took"] {
        assert!(text.contains(words), "{words}: {}", run.out);
    }
    assert_eq!(text.contains("What limits: the GPU"), told.is_some());
    let doc: Value = serde_json::from_str(&std::fs::read_to_string(export).unwrap()).unwrap();
    let feed = &doc["feed"];
    assert_eq!(feed["settings"]["consumer"], "kernel");
    assert!(feed["settings"]["consumer_why"].is_null());
    assert_eq!(
        (&feed["settings"]["gpus"], &feed["limited_by"]),
        (&json!(2), &json!(told))
    );
    let passes = feed["passes"].as_array().unwrap();
    assert_eq!(passes.len(), 4);
    assert!(
        passes[0]["steps"].as_array().unwrap().len() > 2,
        "the pass that decides"
    );
    for pass in passes {
        assert_eq!(pass["gpus"].as_array().unwrap().len(), 2);
        // a pass of which the machine was too busy to make three steps tells no rate, and says so
        let enough = pass["steps"].as_array().unwrap().len() > 2;
        if enough {
            assert_eq!(pass["gpus"][1]["copy_gbs"]["state"], "measured");
        }
        let paced = pass["model_step_s"] == 0.2;
        assert_eq!(pass["gpus"][1]["kernel_s"].is_null(), !paced);
        for step in pass["steps"].as_array().unwrap() {
            assert_eq!(step["compute_s"], pass["model_step_s"]);
            assert!(
                number(step, "/copy_s") > 0.0,
                "a copy by the device's clock"
            );
            assert_eq!(step.get("kernel_s").is_some(), paced);
        }
        if paced && enough {
            // calibrated once: the device's clock is played and exact
            let kernel_s = number(pass, "/gpus/0/kernel_s/value");
            assert!((kernel_s / 0.2 - 1.0).abs() < 0.02, "{kernel_s}");
            assert!((utilisation(pass) - number(pass, "/au/value")).abs() < 0.03);
        }
    }
    let schema: Value = machine.0.run(&["schema", "probe"]).exits(0).json();
    let mut wrong = Vec::new();
    check(&doc, &schema, &schema, "probe", &mut wrong);
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn copies_that_take_longer_than_the_step_limit_and_contend_for_what_they_share() {
    let mut state = gpus(2);
    for gpu in &mut state.gpus {
        // 63 MB/s: a batch of 2 MiB takes 33 ms
        gpu.link_share = 0.001;
    }
    state.host_gbs = Some(0.0635);
    let p = feed(&state, "0.005");
    let told = p.codes(&["fail"]);
    assert!(told.contains(&"feed_starved feed".to_owned()), "{told:?}");
    assert!(told.contains(&"link_slow gpu 0".to_owned()), "{told:?}");
    assert_eq!(
        p.doc["feed"]["limited_by"], "copy",
        "{}",
        p.doc["feed"]["why"]
    );
    let alone = number(&p.doc, "/gpus/0/host_to_device_gbs/value");
    let together =
        (0..2).map(|i| number(&p.doc, &format!("/feed/passes/0/gpus/{i}/copy_gbs/value")));
    let slowest = together.fold(f64::INFINITY, f64::min);
    assert!(slowest < 0.75 * alone, "{slowest} {alone}");
}

#[test]
fn a_kernel_that_takes_longer_than_the_step_is_the_gpus_fault_and_not_the_feeds() {
    let mut state = gpus(1);
    state.gpus[0].throttle = Some(Throttle {
        after_s: 1.0,
        sm_clock_mhz: 990,
        reasons: 0x40,
    });
    let p = feed(&state, "0.1");
    p.expect(1, &["feed_gpu_slow feed"]);
    let feed = &p.doc["feed"];
    assert_eq!(
        (&feed["limited_by"], &feed["delivers"]),
        (&json!("gpu"), &json!(false))
    );
    let steps = feed["passes"][0]["steps"].as_array().unwrap();
    let last = steps.last().unwrap();
    assert!(
        (number(last, "/kernel_s") / 0.2 - 1.0).abs() < 0.05,
        "{last}"
    );
    assert_eq!(
        last["compute_s"], 0.1,
        "a step of MLPerf Storage counts the model's time"
    );
}

#[test]
fn a_gpu_that_is_lost_while_it_is_fed_fails_the_step() {
    let mut state = gpus(2);
    state.gpus[1].lost_after_tensor_s = Some(1.5);
    let p = feed(&state, "0.1");
    p.expect(1, &["gpu_lost gpu 1", "step_not_done feed"]);
    assert_eq!(p.step("feed")["status"], "failed");
    assert_eq!(p.step("gpu")["status"], "done");
    assert!(p.doc["feed"].is_null());
}

#[test]
fn a_kernel_that_never_ends_is_given_up() {
    let mut state = gpus(1);
    state.gpus[0].hangs_after_tensor_s = Some(1.5);
    let p = feed(&state, "0.1");
    let told = p.codes(&["unknown"]);
    assert!(told.contains(&"step_not_done feed".to_owned()), "{told:?}");
    assert!(told.contains(&"step_cut gpu 0".to_owned()), "{told:?}");
    assert_eq!(
        (p.step("feed")["status"].as_str(), p.code),
        (Some("failed"), 7)
    );
}

#[test]
fn a_card_that_does_not_take_the_kernel_is_timed_with_what_was_proved() {
    let mut state = gpus(1);
    state.gpus[0].capability = [6, 1];
    let p = feed(&state, "0.3");
    // a machine too busy to wake a timer in time cannot tell, and never blames the feed
    assert!(matches!(p.code, 0 | 7), "{}", p.code);
    assert_eq!(p.codes(&["fail"]), [""; 0]);
    let settings = &p.doc["feed"]["settings"];
    assert_eq!(settings["consumer"], "timed");
    let why = settings["consumer_why"].as_str().unwrap();
    assert!(why.starts_with("no_matrix_unit: "), "{why}");
    let proved = number(&p.doc, "/gpus/0/host_to_device_gbs/value");
    assert_eq!(settings["copy_gbs"].as_f64(), Some(proved));
}

#[test]
fn without_a_proved_gpu_the_report_says_that_and_why_it_is_timed() {
    let home = Home::new();
    home.file("samples/a.bin", vec![1; 1000]);
    let samples = home.path("samples");
    let args = |only| {
        let samples = samples.to_str().unwrap().to_owned();
        let fixed = [
            "probe",
            "--quick",
            "--workers",
            "1",
            "--batch",
            "1",
            "--step-seconds",
            "0.3",
        ];
        let mut all: Vec<String> = fixed.map(str::to_owned).to_vec();
        all.extend(["--samples".to_owned(), samples, "--only".to_owned(), only]);
        all
    };
    let run = |only: &str, more: &[&str]| {
        let args = args(only.to_owned());
        let args: Vec<&str> = args
            .iter()
            .map(String::as_str)
            .chain(more.iter().copied())
            .collect();
        home.run(&args)
    };
    let p = Probed::of(&run("feed", &["-o", "json"]));
    let settings = &p.doc["feed"]["settings"];
    assert_eq!(
        (&settings["consumer"], &settings["consumer_why"]),
        (&json!("timed"), &json!("not_wanted"))
    );
    for (lang, words) in [
        ("en", "No GPU took the batches"),
        ("zh-CN", "没有 GPU 接收批次"),
    ] {
        // whether a timed consumer is fed in time is a matter of this machine's load, not of these words
        let run = run("feed", &["--lang", lang]);
        assert!(run.out.contains(words), "{}", run.out);
        assert!(
            !run.out.contains("probe-"),
            "a message without a text: {}",
            run.out
        );
    }
}

#[test]
fn a_stop_while_gpus_compute_is_heeded() {
    let machine = machine(&gpus(2));
    let mut child = command(&machine, "look,gpu,feed", "30", &[])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("GPUs: done") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "it ended");
    }
    let mut kill = Command::new("kill");
    kill.args(["-INT", &child.id().to_string()]);
    assert!(kill.status().unwrap().success());
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(7), "{rest}");
}
