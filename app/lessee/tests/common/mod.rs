//! The real binary in folders of its own, at a fixed time, in English and UTC: what all tests of the command
//! line stand on. Not here: what any of them asserts.

// each test binary uses its part
#![allow(dead_code, unreachable_pub, clippy::print_stdout)]

use assert_cmd::Command;
use serde_json::Value;
use std::path::PathBuf;
use tempfile::TempDir;

pub const NOW: &str = "2026-11-30T12:00:00Z";

/// A home of its own: nothing of the user's is read or written.
pub struct Home(TempDir);

/// What came of a command.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Home {
    pub fn new() -> Home {
        Home(tempfile::tempdir().expect("folder"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The folder itself, as text.
    pub fn text(&self) -> &str {
        self.0.path().to_str().expect("path")
    }

    /// Writes a file, with the folders above it; returns its path as text.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        std::fs::write(&path, content).expect("file");
        path.to_str().expect("path").to_owned()
    }

    /// For tests that need more than arguments: input, several at once, other variables.
    pub fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lessee"));
        command.args(args);
        self.prepare(&mut command);
        command
    }

    /// Folders, time, language and zone of the tests, for any program that starts the binary.
    pub fn prepare(&self, command: &mut std::process::Command) {
        command.env_clear().current_dir(self.0.path());
        for (name, folder) in [
            ("HOME", "home"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_CACHE_HOME", "cache"),
        ] {
            command.env(name, self.path(folder));
        }
        let fixed = [("LESSEE_NOW", NOW), ("LANG", "C.UTF-8"), ("TZ", "UTC")];
        command.envs(fixed).env("COLUMNS", "80");
    }

    pub fn run(&self, args: &[&str]) -> Run {
        self.run_with(args, &[])
    }

    pub fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Run {
        let mut command = self.command(args);
        command.envs(variables.iter().copied());
        Run::of(command)
    }

    /// The document that a command prints with `-o json`; it must succeed.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        self.run(&[args, &["-o", "json"]].concat()).exits(0).json()
    }

    /// Imports a quote under a name.
    #[track_caller]
    pub fn import(&self, name: &str, quote: &str) {
        let file = self.file(&format!("{name}.csv"), quote);
        self.run(&["catalog", "import", &file, "--name", name])
            .exits(0);
    }
}

impl Run {
    pub fn of(command: std::process::Command) -> Run {
        let output = Command::from_std(command).output().expect("runs");
        Run::from(&output)
    }

    pub fn from(output: &std::process::Output) -> Run {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        Run {
            code: output.status.code().expect("an exit code"),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {} {}", self.out, self.err))
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Run {
        assert_eq!(
            self.code, code,
            "stdout: {}\nstderr: {}",
            self.out, self.err
        );
        self
    }

    /// Ends with this code and says these words to people.
    #[track_caller]
    pub fn says(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        for word in words {
            assert!(self.err.contains(word), "{word:?} is not in: {}", self.err);
        }
    }
}

/// A file of `examples/`.
pub fn example(name: &str) -> String {
    format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A file or folder of the published records of spot markets, where they lie beside the checkout, or `None` with a
/// line that says so.
pub fn records(name: &str) -> Option<String> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/traces/spot")
        .join(name);
    if path.exists() {
        return Some(path.to_str().expect("path").to_owned());
    }
    println!("skipped: {} is not there", path.display());
    None
}

/// What is wrong with a value, as far as names of keys go.
pub fn check(value: &Value, schema: &Value, root: &Value, place: &str, wrong: &mut Vec<String>) {
    if let Some(target) = schema["$ref"].as_str() {
        let pointer = target.trim_start_matches('#');
        let target = root.pointer(pointer).expect("a known definition");
        check(value, target, root, place, wrong);
    }
    let choices = ["anyOf", "oneOf"]
        .into_iter()
        .find_map(|k| schema[k].as_array());
    if let (Some(choices), false) = (choices, value.is_null()) {
        let fits = |choice: &Value| {
            let mut problems = Vec::new();
            check(value, choice, root, place, &mut problems);
            problems.is_empty()
        };
        if !choices.iter().any(fits) {
            wrong.push(format!("{place}: none of the choices"));
        }
    }
    if let (Some(object), Some(known)) = (value.as_object(), schema["properties"].as_object()) {
        for (key, inner) in object {
            let place = format!("{place}.{key}");
            match known.get(key) {
                Some(schema) => check(inner, schema, root, &place, wrong),
                None => wrong.push(format!("{place}: not in the schema")),
            }
        }
        for key in schema["required"].as_array().into_iter().flatten() {
            if !object.contains_key(key.as_str().expect("a name")) {
                wrong.push(format!("{place}: {key} is missing"));
            }
        }
    }
    if let (Some(items), schema) = (value.as_array(), &schema["items"]) {
        for item in items {
            check(item, schema, root, &format!("{place}[]"), wrong);
        }
    }
}

/// The finding of a rule whose subject begins so.
#[track_caller]
pub fn finding<'a>(doc: &'a Value, rule: &str, subject: &str) -> &'a Value {
    let findings = doc["findings"].as_array().expect("findings");
    let found = findings.iter().find(|f| {
        f["rule"] == rule
            && f["subject"]
                .as_str()
                .is_some_and(|s| s.starts_with(subject))
    });
    found.unwrap_or_else(|| panic!("no {rule} of {subject}: {doc:#}"))
}
