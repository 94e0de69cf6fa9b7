//! `probe --s3` through the front door, against a real S3 server and on ways to it that break. Never how fast anything is.

#![allow(clippy::unwrap_used)]
#![cfg(target_os = "linux")]

mod common;

use common::{Home, Run, check};
use lessee_testkit::s3::{KEY, S3Server, SECRET, Trouble, Way, answering};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn command(home: &Home, port: u16, bucket: &str, more: &[&str]) -> Command {
    let endpoint = format!("http://127.0.0.1:{port}");
    let fixed = [
        "probe",
        "--only",
        "net",
        "--s3",
        bucket,
        "--s3-endpoint",
        &endpoint,
    ];
    let mut command = home.command(&[&fixed[..], more].concat());
    command
        .env("AWS_ACCESS_KEY_ID", KEY)
        .env("AWS_SECRET_ACCESS_KEY", SECRET);
    command
}

fn probe(home: &Home, port: u16, bucket: &str) -> (i32, Value) {
    let run = Run::of(command(home, port, bucket, &["--quick", "-o", "json"]));
    assert!(!run.out.contains(SECRET) && !run.err.contains(SECRET));
    assert!(!run.out.contains("X-Amz-Signature") && !run.err.contains("X-Amz-Signature"));
    (run.code, run.json())
}

/// The reason of the first rate, and what the run says of the bucket.
fn refused(doc: &Value) -> (String, Vec<String>) {
    let first = &doc["net"]["s3"]["put_mbs"];
    assert_eq!(first["state"], "failed", "{first}");
    let findings = doc["findings"].as_array().unwrap().iter();
    let of = |f: &Value| {
        format!(
            "{} {}",
            f["severity"].as_str().unwrap(),
            f["code"].as_str().unwrap()
        )
    };
    (
        first["reason"].as_str().unwrap().to_owned(),
        findings.map(of).collect(),
    )
}

#[test]
fn random_bytes_go_there_and_back_and_nothing_stays() {
    let home = Home::new();
    let Some(server) = S3Server::start(&home.path("s3")) else {
        return;
    };
    let export = home.path("report.json");
    let export = export.to_str().unwrap();
    let more = ["--quick", "--export", export];
    let run = Run::of(command(&home, server.port, "s3://bucket/some/where", &more)).exits(0);
    assert!(
        run.out.contains("To bucket bucket, parts side by side"),
        "{}",
        run.out
    );
    let doc: Value = serde_json::from_str(&std::fs::read_to_string(export).unwrap()).unwrap();
    let s3 = &doc["net"]["s3"];
    for rate in ["put_mbs", "put_parallel_mbs", "get_mbs", "get_parallel_mbs"] {
        assert_eq!(s3[rate]["state"], "measured", "{rate}: {}", s3[rate]);
        assert!(s3[rate]["value"].as_f64().unwrap() > 0.0);
        assert!(
            !s3[rate]["samples"].as_array().unwrap().is_empty(),
            "raw samples"
        );
    }
    assert!(s3["bytes_sent"].as_u64().unwrap() > 5 << 20);
    assert!(s3["bytes_received"].as_u64().unwrap() > 0);
    assert_eq!(s3["left_behind"].as_array().unwrap().len(), 0);
    assert_eq!(
        (s3["bucket"].as_str(), s3["region"].as_str()),
        (Some("bucket"), Some("us-east-1"))
    );
    assert_eq!(server.objects(), [""; 0]);
    let schema: Value = home.run(&["schema", "probe"]).exits(0).json();
    let mut wrong = Vec::new();
    check(&doc, &schema, &schema, "probe", &mut wrong);
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn the_page_is_whole_in_both_languages() {
    let home = Home::new();
    let Some(server) = S3Server::start(&home.path("s3")) else {
        return;
    };
    for (lang, words) in [("en", "From bucket bucket"), ("zh-CN", "读取存储桶 bucket")] {
        let run = Run::of(command(
            &home,
            server.port,
            "s3://bucket",
            &["--quick", "--lang", lang],
        ));
        let run = run.exits(0);
        assert!(run.out.contains(words), "{}", run.out);
        assert!(
            !run.out.contains("probe-"),
            "a message without a text: {}",
            run.out
        );
    }
    let plain = format!("http://127.0.0.1:{}/bucket/p", server.port);
    let mut command = home.command(&["probe", "--quick", "--only", "net", "--s3", &plain]);
    command
        .env("AWS_ACCESS_KEY_ID", KEY)
        .env("AWS_SECRET_ACCESS_KEY", SECRET);
    Run::of(command).exits(0);
    assert_eq!(server.objects(), [""; 0]);
}

#[test]
fn a_key_that_may_not_is_told() {
    let home = Home::new();
    let Some(server) = S3Server::start(&home.path("s3")) else {
        return;
    };
    let mut command = command(
        &home,
        server.port,
        "s3://bucket",
        &["--quick", "-o", "json"],
    );
    command.env("AWS_SECRET_ACCESS_KEY", "another-one");
    let run = Run::of(command).exits(7);
    let (reason, _) = refused(&run.json());
    assert!(reason.starts_with("s3_denied: "), "{reason}");
    assert!(!run.out.contains("another-one"));
    assert_eq!(server.objects(), [""; 0]);
}

#[test]
fn a_way_that_breaks_is_told_and_nothing_stays() {
    let home = Home::new();
    let Some(server) = S3Server::start(&home.path("s3")) else {
        return;
    };
    // within the second object
    let way = Way::to(server.port, Trouble::BreaksAfter(600 << 10)).unwrap();
    let (code, doc) = probe(&home, way.port, "s3://bucket");
    let (reason, _) = refused(&doc);
    assert!(
        reason.starts_with("s3_broken: ") || reason.starts_with("s3_connect: "),
        "{reason}"
    );
    assert_eq!(code, 7);
    assert_eq!(server.objects(), [""; 0]);
}

#[test]
fn what_cannot_be_deleted_is_named() {
    let home = Home::new();
    let Some(server) = S3Server::start(&home.path("s3")) else {
        return;
    };
    let way = Way::to(server.port, Trouble::NoDelete).unwrap();
    let (code, doc) = probe(&home, way.port, "s3://bucket/p");
    assert_eq!(code, 0, "a warning: {}", doc["findings"]);
    let left = doc["net"]["s3"]["left_behind"].as_array().unwrap();
    let there = server.objects();
    assert!(!there.is_empty());
    for name in &there {
        let named = |l: &Value| l.as_str().unwrap() == format!("p/{name}");
        assert!(left.iter().any(named), "{name} of {left:?}");
    }
    let warned = |f: &Value| f["code"] == "s3_left_behind" && f["severity"] == "warn";
    assert!(doc["findings"].as_array().unwrap().iter().any(warned));
}

#[test]
fn a_stop_deletes_what_was_made() {
    let home = Home::new();
    let Some(server) = S3Server::start(&home.path("s3")) else {
        return;
    };
    let mut child = command(&home, server.port, "s3://bucket", &["-o", "json"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    while server.objects().is_empty() {
        assert!(Instant::now() < until, "no object comes into being");
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut kill = Command::new("kill");
    kill.args(["-INT", &child.id().to_string()]);
    assert!(kill.status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(7));
    assert_eq!(server.objects(), [""; 0]);
}

#[test]
fn without_credentials_or_a_bucket_nothing_is_measured() {
    let home = Home::new();
    let of = |args: &[&str], variables: &[(&str, &str)]| {
        home.run_with(
            &[&["probe", "--quick", "--only", "net"], args].concat(),
            variables,
        )
    };
    let keys = [
        ("AWS_ACCESS_KEY_ID", KEY),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
    ];
    of(&["--s3", "s3://b"], &[]).says(4, &["no credentials", "AWS_ACCESS_KEY_ID"]);
    of(&["--s3", "bucket"], &keys).says(2, &["no place for objects", "s3://BUCKET"]);
    of(&["--s3", "https://u:geheim@h/b"], &keys).says(2, &["credentials do not belong"]);
    of(&["--s3", "s3://b", "--offline"], &keys).says(3, &["--offline"]);
    of(&["--s3-endpoint", "http://h"], &keys).says(2, &["--s3"]);
    home.run(&["probe", "--only", "cpu", "--s3", "s3://b"])
        .says(2, &["--s3", "net"]);
}

#[test]
fn nobody_there_no_name_no_security_and_wrong_clocks_are_told_apart() {
    let home = Home::new();
    // the real server makes a bucket that is not there, so that this answer is one that AWS gives
    let body = "<Error><Code>NoSuchBucket</Code><Message>No.</Message></Error>";
    let none = format!(
        "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let (code, doc) = probe(&home, answering(none).unwrap(), "s3://nowhere");
    let (reason, findings) = refused(&doc);
    assert!(reason.starts_with("s3_no_bucket: "), "{reason}");
    let told = vec!["unknown s3_not_measured".to_owned()];
    assert_eq!((code, findings), (7, told));
    let steps = doc["run"]["steps"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["status"], "failed");
    assert_eq!(doc["net"]["s3"]["left_behind"].as_array().unwrap().len(), 0);

    // nobody listens on a port that was just given back
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let (code, doc) = probe(&home, port, "s3://bucket");
    assert!(refused(&doc).0.starts_with("s3_connect: "), "{doc}");
    assert_eq!(code, 7);

    let (_, doc) = probe(&home, 1, "http://name.invalid/bucket");
    assert!(
        refused(&doc).0.starts_with("s3_dns: "),
        "{}",
        refused(&doc).0
    );

    let old = "HTTP/1.1 403 Forbidden\r\nDate: Fri, 24 May 2013 00:00:00 GMT\r\nConnection: close\r\n\
        Content-Length: 0\r\n\r\n";
    let port = answering(old.to_owned()).unwrap();
    let (_, doc) = probe(&home, port, "s3://bucket");
    assert!(
        refused(&doc).0.starts_with("s3_clock: "),
        "{}",
        refused(&doc).0
    );
    let secure = format!("https://127.0.0.1:{port}/bucket");
    let (_, doc) = probe(&home, port, &secure);
    assert!(
        refused(&doc).0.starts_with("s3_tls: "),
        "{}",
        refused(&doc).0
    );

    let elsewhere = "HTTP/1.1 301 Moved\r\nx-amz-bucket-region: eu-west-3\r\nConnection: close\r\n\
        Content-Length: 0\r\n\r\n";
    let port = answering(elsewhere.to_owned()).unwrap();
    let (_, doc) = probe(&home, port, "s3://bucket");
    let reason = refused(&doc).0;
    assert!(
        reason.starts_with("s3_region: ") && reason.contains("eu-west-3"),
        "{reason}"
    );
}
