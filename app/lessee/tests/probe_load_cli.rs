//! The loads of `probe`, through the front door: the matrix rate that lasts, the all-reduce, and what they mean for a
//! training. Time is simulated, so that a minute of load is over at once.

#![allow(clippy::unwrap_used)]
#![cfg(target_os = "linux")]

mod common;
mod played;

use common::{Run, check};
use lessee_fake_gpu::{Pair, State, Throttle, install_nccl};
use played::{Machine, Probed, four};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

fn probe(machine: &Machine, only: &str, more: &[&str]) -> Probed {
    Probed::of(&Run::of(
        machine.steps(only, &[&["-o", "json"], more].concat()),
    ))
}

fn loads(state: &State) -> Probed {
    probe(&Machine::new(state, &[]), "tensor,allreduce", &["--quick"])
}

#[test]
fn a_healthy_machine_keeps_its_rate_and_its_report_says_how_it_was_measured() {
    let machine = Machine::new(&four(), &[]);
    let export = machine.0.path("report.json");
    let export = export.to_str().unwrap();
    let more = ["--quick", "--model", "Llama 3.1 8B", "--export", export];
    let run = Run::of(machine.steps("tensor,allreduce,ports", &more)).exits(0);
    for words in [
        "mma.sync m16n8k16 bf16, every result compared",
        "By a ring of copies of our own over GPUs: 4",
        "NCCL was not used",
        "NVSwitch: each GPU reaches every other one alike",
        "Training llama-3.1-8b",
        "Ports towards other machines",
    ] {
        let text = run.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{words}: {}", run.out);
    }
    let doc: Value = serde_json::from_str(&std::fs::read_to_string(export).unwrap()).unwrap();
    let at = |pointer: &str| doc.pointer(pointer).unwrap_or(&Value::Null);
    let sustained = at("/gpus/3/tensor/sustained/value");
    let moments = sustained["moments"].as_array().unwrap();
    assert!(moments.len() > 20, "raw samples: {}", moments.len());
    assert_eq!(moments[5]["sm_clock_mhz"], 1980.0);
    assert_eq!(
        sustained["clock_reasons"],
        serde_json::json!(["sw_power_cap"])
    );
    assert_eq!(at("/gpus/3/tensor/results/value/wrong"), 0);
    assert_eq!(at("/all_reduce/method"), "ring over peer copies");
    assert_eq!(at("/all_reduce/gpus"), &serde_json::json!([0, 1, 2, 3]));
    assert_eq!(at("/all_reduce_bus_gbs/state"), "measured");
    assert!(at("/fabric/ports").is_array());
    assert_eq!(at("/wiring/kind"), "nvswitch");
    let schema: Value = machine.0.run(&["schema", "probe"]).exits(0).json();
    let mut wrong = Vec::new();
    check(&doc, &schema, &schema, "probe", &mut wrong);
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn the_page_fits_a_terminal_in_both_languages() {
    let machine = Machine::new(&four(), &[]);
    for lang in ["en", "zh-CN"] {
        let more = ["--quick", "--model", "llama-3.1-8b", "--lang", lang];
        let run = Run::of(machine.steps("tensor,allreduce,ports", &more)).exits(0);
        for bare in ["probe-", "perf-", "gpu-found"] {
            assert!(
                !run.out.contains(bare),
                "a message without a text: {}",
                run.out
            );
        }
        let wide = |c: char| if c >= '\u{2E80}' { 2 } else { 1 };
        let widths = run.out.lines().map(|l| l.chars().map(wide).sum::<usize>());
        assert!(widths.max().unwrap() <= 80, "{}", run.out);
    }
}

#[test]
fn heat_that_comes_with_time_fails_and_the_page_shows_both_ends() {
    let mut state = four();
    state.gpus[1].throttle = Some(Throttle {
        after_s: 1.7,
        sm_clock_mhz: 990,
        reasons: 0x40,
    });
    let machine = Machine::new(&state, &[]);
    let p = probe(&machine, "tensor", &["--quick"]);
    p.expect(1, &["throttled_thermal gpu 1"]);
    let sustained = &p.doc["gpus"][1]["tensor"]["sustained"]["value"];
    assert!(sustained["last_tflops"].as_f64() < sustained["first_tflops"].as_f64());
    let run = Run::of(machine.steps("tensor", &["--quick"])).exits(1);
    assert!(run.out.contains("1980 > 990"), "{}", run.out);
}

#[test]
fn one_slow_gpu_fails() {
    let mut state = four();
    state.gpus[2].tensor_tflops = 500.0;
    loads(&state).expect(1, &["tensor_slow gpu 2"]);
}

#[test]
fn no_load_is_put_on_a_gpu_that_was_not_proved() {
    let mut state = four();
    state.gpus[2].flip_bit = true;
    let p = loads(&state);
    p.expect(1, &["compute_error gpu 2"]);
    let reason = &p.doc["gpus"][2]["tensor"]["sustained"]["reason"];
    assert_eq!(reason, "not_tried");
    assert_eq!(p.doc["gpus"][3]["tensor"]["sustained"]["state"], "measured");
    assert_eq!(p.doc["all_reduce"]["gpus"], serde_json::json!([0, 1, 3]));
}

#[test]
fn sums_that_a_link_damages_fail_and_are_no_figure() {
    let mut state = four();
    // in the ring, and not seen as a pair: pairs are tried with other data
    state.pairs = vec![Pair {
        from: 1,
        to: 2,
        gbs: None,
        flip_bit: true,
    }];
    let p = loads(&state);
    let told = p.codes(&["fail"]);
    assert!(
        told.contains(&"all_reduce_wrong machine".to_owned()),
        "{told:?}"
    );
    assert_eq!(p.code, 1);
    assert_eq!(p.doc["all_reduce_bus_gbs"]["state"], "failed");
}

#[test]
fn nccl_is_named_where_it_was_used() {
    let machine = Machine::new(&four(), &[]);
    install_nccl(&machine.0.path("lib")).unwrap();
    let p = probe(&machine, "allreduce", &["--quick"]);
    p.expect(0, &[]);
    assert_eq!(p.doc["all_reduce"]["method"], "nccl");
    assert_eq!(p.doc["all_reduce"]["nccl_version"], "2.21.5");
    let run = Run::of(machine.steps("allreduce", &["--quick"])).exits(0);
    assert!(run.out.contains("By NCCL 2.21.5"), "{}", run.out);
}

#[test]
fn one_gpu_has_nothing_to_add_up_and_nothing_to_wait_for() {
    let mut state = four();
    state.gpus.truncate(1);
    let machine = Machine::new(&state, &[]);
    let p = probe(
        &machine,
        "tensor,allreduce",
        &["--quick", "--model", "llama-3.1-8b"],
    );
    p.expect(0, &[]);
    assert_eq!(p.step("allreduce")["status"], "skipped");
    assert_eq!(p.step("allreduce")["reason"], "one_gpu");
    assert!(p.doc["all_reduce"].is_null());
    let text = p.doc["model"]["text"].as_str().unwrap();
    assert!(text.contains("llama-3.1-8b"), "{text}");
}

#[test]
fn the_share_of_a_step_follows_from_what_was_measured() {
    let share = |state: &State, more: &[&str]| {
        let more = [&["--quick", "--model", "llama-3.1-8b"], more].concat();
        let p = probe(&Machine::new(state, &[]), "allreduce", &more);
        let step = p.doc["model"]["step"].clone();
        assert_eq!(step["bus_basis"], "measured", "{}", p.doc["model"]);
        let at = |key: &str| step[key].as_f64().unwrap();
        let shares = [
            at("sync_share_low"),
            at("sync_share"),
            at("sync_share_high"),
        ];
        assert!(shares.is_sorted() && shares[0] >= 0.0 && shares[2] < 1.0);
        (
            at("sync_share"),
            p.doc["model"]["seq_len"].as_f64().unwrap(),
        )
    };
    let (fast, usual) = share(&four(), &[]);
    let slow = State {
        peer_gbs: 10.0,
        ..four()
    };
    let slow = share(&slow, &[]).0;
    assert!(slow > 10.0 * fast, "{slow} {fast}");
    let (_, short) = share(&four(), &["--seq-len", "512"]);
    assert!(short == 512.0 && usual > short);
}

#[test]
fn a_model_that_is_not_known_is_refused_before_anything_is_measured() {
    let machine = Machine::new(&four(), &[]);
    let refused = |args: &[&str], words: &[&str]| {
        let all = [&["probe", "--quick"], args].concat();
        machine.0.run(&all).says(2, words);
    };
    refused(&["--model", "lama-3.1-8b"], &["--model", "`llama-3.1-8b`"]);
    refused(
        &["--model", "llama-3.1-8b", "--seq-len", "x"],
        &["--seq-len"],
    );
    refused(&["--seq-len", "512"], &["--model"]);
    refused(
        &["--only", "cpu", "--model", "llama-3.1-8b"],
        &["--model", "look"],
    );
}

#[test]
fn a_stop_under_load_is_heeded_and_what_was_measured_is_told() {
    let machine = Machine::new(&four(), &[]);
    let export = machine.0.path("report.json");
    let export = export.to_str().unwrap();
    let mut child = machine
        .steps("tensor,allreduce", &["--export", export])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    // the load comes after the proof
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
    let doc: Value = serde_json::from_str(&std::fs::read_to_string(export).unwrap()).unwrap();
    let p = Probed { code: 7, doc };
    p.expect(7, &["run_stopped run"]);
    assert_eq!(p.step("gpu")["status"], "done");
    // whichever of the two it met
    assert_ne!(p.step("tensor")["status"], "failed");
    assert_eq!(p.step("allreduce")["status"], "stopped");
    assert_eq!(p.doc["gpus"][3]["kernel"]["value"]["wrong"], 0);
}
