//! A disk without room: nothing of a half import is kept, and the error says what to do.
//!
//! Two ways to such a disk, both on Unix: a file system of some kilobytes of our own, where the kernel lets an
//! ordinary user mount one (`unshare`), and a limit on the size of files, which every shell can set.

#![cfg(unix)]

mod common;

use common::{Home, Run};
use serde_json::Value;
use std::process::Command;

/// A quote whose table is larger than any room given here.
fn large(rows: u32) -> String {
    let mut quote = String::from("provider,region,gpu,count,price,unit\n");
    for i in 0..rows {
        quote += &format!(
            "acme,zone-{i},H100 SXM 80GB,8,{}.00,USD per node hour\n",
            20 + i
        );
    }
    quote
}

const SMALL: &str =
    "provider,region,gpu,count,price,unit\nacme,x,H100 SXM 80GB,8,20.00,USD per node hour\n";

/// The binary under a shell that first does `before`.
fn under(home: &Home, shell: &[&str], before: &str, args: &[&str]) -> Run {
    let script = format!("{before}; exec \"$0\" \"$@\"");
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).args(["-c", &script]);
    command.arg(env!("CARGO_BIN_EXE_lessee")).args(args);
    home.prepare(&mut command);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    Run::from(&command.output().expect("runs"))
}

/// Files of at most so many blocks of 512 bytes; the write fails instead of ending the process.
fn limited(home: &Home, blocks: u32, args: &[&str]) -> Run {
    under(
        home,
        &["sh"],
        &format!("trap '' XFSZ; ulimit -f {blocks}"),
        args,
    )
}

fn names(home: &Home) -> Vec<String> {
    let doc = home.json(&["catalog", "snapshots"]);
    let list = doc["snapshots"].as_array().expect("a list");
    list.iter()
        .map(|s| s["name"].as_str().expect("a name").to_owned())
        .collect()
}

/// What lies in the folder of snapshots, without the lock.
fn files(home: &Home) -> Vec<String> {
    let folder = home.path("data/lessee/catalog");
    let mut all: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| {
            entry
                .expect("entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name != ".lock")
        .collect();
    all.sort();
    all
}

#[test]
fn an_import_without_room_keeps_nothing_and_says_what_to_do() {
    let home = Home::new();
    home.import("small", SMALL);
    let before = files(&home);
    let quote = home.file("large.csv", large(200));
    let args = ["catalog", "import", &quote, "--name", "large"];
    for lang in ["en", "zh-CN"] {
        let run = limited(&home, 16, &[&args[..], &["--lang", lang]].concat());
        run.says(2, &["data/lessee/catalog", "--data-dir"]);
        assert!(run.out.is_empty(), "{}", run.out);
        assert_eq!(files(&home), before, "a half import was kept");
        assert_eq!(names(&home), ["small"]);
    }
    let run = limited(&home, 16, &[&args[..], &["-o", "json"]].concat());
    let error: Value = serde_json::from_str(&run.err).expect(&run.err);
    assert_eq!(error["type"], "urn:lessee:error:error-io-write", "{error}");
    // with room again the same command succeeds, and the older snapshot was never touched
    home.run(&args).exits(0);
    assert_eq!(names(&home), ["small", "large"]);
}

#[test]
fn a_list_that_cannot_be_written_takes_its_table_along() {
    let home = Home::new();
    for i in 0..6 {
        home.import(&format!("small-{i}"), SMALL);
    }
    let (before, listed) = (files(&home), names(&home));
    // the table fits into 1,024 bytes, the list of seven does not
    let quote = home.file("one.csv", SMALL);
    let run = limited(&home, 2, &["catalog", "import", &quote, "--name", "one"]);
    run.says(2, &["manifest.json", "--data-dir"]);
    assert_eq!((files(&home), names(&home)), (before, listed));
}

/// On a disk that is really full: removing makes room for the list that no longer names what is gone.
#[test]
fn a_snapshot_can_be_removed_from_a_full_disk() {
    let home = Home::new();
    let quote = home.file("small.csv", SMALL);
    let folder = home.path("data");
    std::fs::create_dir_all(&folder).expect("folder");
    let binary = env!("CARGO_BIN_EXE_lessee");
    let mounted = format!(
        "mount -t tmpfs -o size=64k tmpfs '{}' || exit 99",
        folder.display()
    );
    let probe = under(&home, &["unshare", "-rm", "sh"], &mounted, &["--version"]);
    if probe.code != 0 {
        println!(
            "skipped: no file system of one's own can be mounted here: {}",
            probe.err
        );
        return;
    }
    let large = home.file("large.csv", large(1_000));
    let script = format!(
        "{mounted}
        '{binary}' catalog import '{quote}' --name one >&2 || exit 98
        '{binary}' catalog import '{quote}' --name two >&2 || exit 97
        '{binary}' catalog import '{large}' --name large; [ $? = 2 ] || exit 96
        '{binary}' catalog snapshots -o csv >&2
        cat /dev/zero > '{0}/lessee/fill' 2> /dev/null
        '{binary}' catalog import '{quote}' --name three; [ $? = 2 ] || exit 95
        '{binary}' catalog remove one --yes >&2 || exit 94
        ls -A '{0}/lessee/catalog' >&2",
        folder.display()
    );
    let done = under(
        &home,
        &["unshare", "-rm", "sh"],
        &script,
        &["catalog", "snapshots", "-o", "json"],
    );
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    let doc = done.json();
    let left: Vec<&str> = doc["snapshots"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|s| s["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(left, ["two"], "{}", done.err);
    assert_eq!(done.err.matches("--data-dir").count(), 2, "{}", done.err);
    let tables = done
        .err
        .lines()
        .filter(|l| l.starts_with("two.") && !l.contains(','))
        .count();
    assert_eq!(tables, 1, "{}", done.err);
    let half = |l: &str| l.starts_with('.') && l.ends_with(".tmp");
    assert!(!done.err.lines().any(half), "{}", done.err);
}
