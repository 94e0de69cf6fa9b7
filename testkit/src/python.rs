//! Python with a module that a test needs: the one of `testkit/peers.sh`, or that of the system.

use std::path::{Path, PathBuf};
use std::process::Command;

/// None where it is not here: that fails in CI, and is said at a desk. `installer` is what `testkit/peers.sh` takes.
pub fn with(module: &str, installer: &str) -> Option<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = repository.join(target.unwrap_or_else(|| "target".into()));
    let candidates = [target.join("peers/venv/bin/python"), "python3".into()];
    let has = |python: &&PathBuf| {
        let run = Command::new(python)
            .args(["-c", &format!("import {module}")])
            .output();
        run.is_ok_and(|o| o.status.success())
    };
    let found = candidates.iter().find(has).cloned();
    if found.is_none() {
        let ci = std::env::var("CI").is_ok_and(|v| v == "true" || v == "1");
        assert!(
            !ci,
            "{module} is needed in CI: testkit/peers.sh {installer}"
        );
        println!("skipped: {module} is not here, testkit/peers.sh {installer} installs it");
    }
    found
}
