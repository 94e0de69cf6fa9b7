//! `accept security` on servers that answer with garbage, never end, or say nothing: each time an answer, "cannot tell", in
//! bounded time and memory, and never a pass.

#![allow(clippy::unwrap_used)]
#![cfg(target_os = "linux")]

mod common;

use common::Home;
use lessee_testkit::hostile::{Habit, hostile};

/// A record of a handshake that promises more than comes, and one that promises too much.
const HALF_RECORD: &[u8] = b"\x16\x03\x03\x02\x00\x02\x00\x01\xfc\x03\x03";
const LONG_RECORD: &[u8] = b"\x16\x03\x03\xff\xff";
const LONG_MESSAGE: &[u8] = b"\x16\x03\x03\x00\x04\x02\xff\xff\xff";
const EMPTY_RECORD: &[u8] = b"\x16\x03\x03\x00\x00";
const PACKET: &[u8] = b"SSH-2.0-x\r\n\xff\xff\xff\xff";
const EMPTY_LISTS: &[u8] = b"SSH-2.0-x\r\n\x00\x00\x00\x05\x03\x14\x00\x00\x00";

fn habits() -> Vec<Habit> {
    let mut all = vec![
        Habit::Closes,
        Habit::Silent,
        Habit::Floods(b"x".to_vec()),
        Habit::Floods(EMPTY_RECORD.to_vec()),
        Habit::Floods(b"HTTP/1.1 200 OK\r\nX: y\r\n".to_vec()),
        Habit::Floods(b"a line\r\n".to_vec()),
        Habit::Floods(vec![0]),
        Habit::Drips(b"\x16\x03\x03\x40\x00\x02".to_vec()),
        Habit::Drips(b"S".to_vec()),
    ];
    for bytes in [
        HALF_RECORD,
        LONG_RECORD,
        LONG_MESSAGE,
        PACKET,
        EMPTY_LISTS,
        b"SSH-2.0-x",
        b"\x15\x03\x03\x00\x00",
        b"\xff\xfe\xfd\x00\r\n\r\n",
        b"HTTP/1.1 ",
    ] {
        all.push(Habit::Says(bytes.to_vec()));
    }
    all
}

#[test]
fn no_server_gets_a_pass_for_rubbish() {
    let home = Home::new();
    for habit in habits() {
        let port = hostile(habit.clone());
        let args = [
            "accept",
            "security",
            "--timeout",
            "0.4",
            "--endpoint",
            &format!("https://127.0.0.1:{port}"),
            "--endpoint",
            &format!("ssh://127.0.0.1:{port}"),
            "-o",
            "json",
        ];
        let run = home.run(&args);
        assert!(
            [1, 7].contains(&run.code),
            "{habit:?}: {} {}",
            run.code,
            run.err
        );
        let doc = run.json();
        for finding in doc["findings"].as_array().unwrap() {
            let rule = finding["rule"].as_str().unwrap();
            assert!(
                finding["verdict"] != "pass" || rule == "plain-http",
                "{habit:?}: {finding}"
            );
            let reason = finding["reason"].as_str().unwrap();
            assert!(!reason.contains('\u{1b}') && !reason.is_empty());
        }
    }
}

#[test]
fn a_metadata_service_that_says_rubbish_is_no_pass() {
    let home = Home::new();
    for habit in habits() {
        let port = hostile(habit.clone());
        let url = format!("--imds=http://127.0.0.1:{port}");
        let run = home.run(&["accept", "security", "--timeout", "0.4", &url, "-o", "json"]);
        let verdict = run.json()["findings"][0]["verdict"].clone();
        assert!(
            verdict == "unknown" || verdict == "warn",
            "{habit:?}: {}",
            run.out
        );
    }
}

#[test]
fn an_s3_server_that_says_rubbish_is_no_pass() {
    let home = Home::new();
    let keys = [
        ("AWS_ACCESS_KEY_ID", "AKTESTKEY"),
        ("AWS_SECRET_ACCESS_KEY", "geheim"),
    ];
    let xml = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nSSEAlgorithm";
    for bytes in [xml, "HTTP/1.1 200 OK\r\n\r\n<x>", "garbage\r\n\r\n"] {
        let port = hostile(Habit::Says(bytes.as_bytes().to_vec()));
        let endpoint = format!("http://127.0.0.1:{port}");
        let args = [
            "accept",
            "security",
            "--timeout",
            "1",
            "--endpoint",
            "s3://b",
            "--s3-endpoint",
            &endpoint,
            "-o",
            "json",
        ];
        let run = home.run_with(&args, &keys);
        assert!([1, 7].contains(&run.code), "{bytes}: {}", run.err);
        let doc = run.json();
        let findings = doc["findings"].as_array().unwrap();
        let at_rest = findings
            .iter()
            .find(|f| f["rule"] == "s3-encryption")
            .unwrap();
        assert_eq!(at_rest["verdict"], "unknown", "{bytes}");
    }
}
