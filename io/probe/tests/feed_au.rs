//! The utilisation of a report against `benches/feed_au.py`, which computes it apart from the raw step times, at 1, 2 and 4
//! workers on pictures of our own.

use lessee_probe_io::feed::{self, FeedOptions};
use lessee_probe_io::step::Conduct;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

#[test]
fn the_report_and_the_script_agree_within_three_points() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/feed_au.py");
    if Command::new("python3").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "python3 is missing");
        eprintln!("skipped: python3 is not here");
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    let mut reports = Vec::new();
    for workers in [1, 2, 4] {
        let mut o = FeedOptions::new(scratch.path().to_owned(), workers);
        (o.generated, o.batch, o.side) = (24, 2, 64);
        (o.step_s, o.cap_s) = (Some(0.02), 4.0);
        let report = feed::run(&o, &Conduct::new(&stop, &|_| {})).unwrap();
        assert_eq!(report.damaged.count, 0);
        let path = scratch.path().join(format!("{workers}.json"));
        std::fs::write(&path, serde_json::to_string(&report).unwrap()).unwrap();
        reports.push(path);
    }
    let out = Command::new("python3")
        .arg(script)
        .args(&reports)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{text}");
    assert!(
        text.contains("6 passes"),
        "from disk and from memory: {text}"
    );
}
