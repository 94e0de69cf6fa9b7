//! A machine whose driver is played by a fake library, and what a probe of it says.
#![allow(dead_code, unreachable_pub, reason = "not every test uses all of it")]

use crate::common::{Home, Run};
use lessee_fake_gpu::{STATE_VARIABLE, State, install};
use serde_json::Value;
use std::process::Command;

/// A machine whose driver is played.
pub struct Machine(pub Home);

impl Machine {
    pub fn new(state: &State, without: &[&str]) -> Machine {
        let home = Home::new();
        home.file("state.json", serde_json::to_string(state).unwrap());
        let lib = home.path("lib");
        std::fs::create_dir(&lib).unwrap();
        install(&lib, without).unwrap();
        Machine(home)
    }

    pub fn command(&self, more: &[&str]) -> Command {
        self.steps("look,gpu", &[&["--quick"], more].concat())
    }

    /// A run of these steps alone.
    pub fn steps(&self, only: &str, more: &[&str]) -> Command {
        let args = ["probe", "--only", only, "--device-mib", "1"];
        let mut command = self.0.command(&[&args, more].concat());
        command
            .env("LD_LIBRARY_PATH", self.0.path("lib"))
            .env(STATE_VARIABLE, self.0.path("state.json"));
        command
    }

    pub fn probe(&self) -> Probed {
        Probed::of(&Run::of(self.command(&["-o", "json"])))
    }
}

pub struct Probed {
    pub code: i32,
    pub doc: Value,
}

impl Probed {
    #[track_caller]
    pub fn of(run: &Run) -> Probed {
        Probed {
            code: run.code,
            doc: run.json(),
        }
    }

    pub fn codes(&self, severities: &[&str]) -> Vec<String> {
        let all = self.doc["findings"].as_array().unwrap().iter();
        let of = all.filter(|f| severities.contains(&f["severity"].as_str().unwrap()));
        let text = |f: &Value, key: &str| f[key].as_str().unwrap().to_owned();
        of.map(|f| format!("{} {}", text(f, "code"), text(f, "subject")))
            .collect()
    }

    /// What fails or is not known, and the exit status; warnings depend on the machine of the test.
    #[track_caller]
    pub fn expect(&self, code: i32, weighty: &[&str]) {
        assert_eq!(
            self.codes(&["fail", "unknown"]),
            weighty,
            "{}",
            self.doc["findings"]
        );
        assert_eq!(self.code, code);
        let verdict = match code {
            0 => "delivers",
            1 => "does_not_deliver",
            _ => "cannot_tell",
        };
        assert_eq!(self.doc["verdict"], verdict);
    }

    pub fn step(&self, name: &str) -> &Value {
        let steps = self.doc["run"]["steps"].as_array().unwrap();
        steps.iter().find(|s| s["step"] == name).unwrap()
    }
}

/// The first four of eight GPUs: enough for siblings, and half of the time.
pub fn four() -> State {
    let mut state = State::nvswitch();
    state.gpus.truncate(4);
    state
}
