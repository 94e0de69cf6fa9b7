//! `accept latency` through the real binary on this machine's own ports: what answers, what does not, and what is no target.

mod common;

use common::{Home, Run, check};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Stdio;
use std::time::{Duration, Instant};

const QUICK: [&str; 5] = ["accept", "latency", "--samples", "20", "--seconds=0.5"];

/// A port where `each` does what it likes with every connection.
fn port(each: fn(TcpStream)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || each(stream));
        }
    });
    address
}

/// Reads until the other end closes, and says nothing.
fn silent(mut stream: TcpStream) {
    let _ = stream.read_to_end(&mut Vec::new());
}

/// A port of this machine where nobody listens.
fn closed() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").to_string()
}

fn quick(home: &Home, more: &[&str]) -> Run {
    home.run(&[&QUICK, more, &["-o", "json"]].concat())
}

fn rules(doc: &Value) -> Vec<(String, String)> {
    let text = |v: &Value| v.as_str().expect("text").to_owned();
    let findings = doc["findings"].as_array().expect("findings");
    findings
        .iter()
        .map(|f| (text(&f["rule"]), text(&f["verdict"])))
        .collect()
}

fn pair(rule: &str, verdict: &str) -> (String, String) {
    (rule.to_owned(), verdict.to_owned())
}

#[test]
fn a_port_that_answers_passes_and_its_samples_are_evidence() {
    let home = &Home::new();
    let at = port(silent);
    let doc = quick(home, &[&at, "--for", "visual"]).exits(0).json();
    assert_eq!(
        (&doc["check"], &doc["verdict"]),
        (&"latency".into(), &"pass".into())
    );
    assert_eq!(rules(&doc), [pair("latency", "pass")]);
    let found = &doc["latency"][0];
    assert_eq!(found["tcp"]["timed"], 20);
    assert_eq!(
        (&found["decided_by"], &found["tls"]),
        (&"tcp".into(), &Value::Null)
    );
    let hash = &doc["findings"][0]["evidence"][0];
    assert_eq!(hash, &doc["evidence"][0]["sha256"]);
    assert_eq!(doc["evidence"][0]["kind"], "latency");
    assert!(hash.as_str().is_some_and(|h| h.len() == 64));
}

#[test]
fn a_port_that_hangs_up_at_once_is_a_port_all_the_same() {
    let home = &Home::new();
    let at = port(|stream| drop(stream.shutdown(Shutdown::Both)));
    let doc = quick(home, &[&at]).exits(0).json();
    assert_eq!(doc["latency"][0]["tcp"]["timed"], 20);
}

#[test]
fn sshd_is_not_connected_to_a_hundred_times() {
    let home = &Home::new();
    let at = port(|mut stream| {
        let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.9\r\n");
        silent(stream);
    });
    let args = ["accept", "latency", &at, "--seconds", "2", "-o", "json"];
    let doc = home.run(&args).exits(0).json();
    assert_eq!(doc["latency"][0]["tcp"]["sent"], 20);
    // whoever says how many gets them
    let doc = quick(home, &[&at, "--samples", "25"]);
    assert_eq!(doc.code, 2, "twice: {}", doc.err);
    let args = [
        "accept",
        "latency",
        &at,
        "--samples=25",
        "--seconds=1",
        "-o",
        "json",
    ];
    assert_eq!(
        home.run(&args).exits(0).json()["latency"][0]["tcp"]["sent"],
        25
    );
}

#[test]
fn what_does_not_answer_is_never_a_pass() {
    let home = &Home::new();
    let (open, closed) = (port(silent), closed());
    let doc = quick(home, &[&closed]).exits(7).json();
    assert_eq!(rules(&doc), [pair("latency", "unknown")]);
    let reason = doc["findings"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("the port is closed"), "{reason}");
    assert!(doc["findings"][0]["ask"].is_string());
    // one of several that answers does not cover the other
    let doc = quick(home, &[&open, &closed]).exits(7).json();
    assert_eq!(
        rules(&doc),
        [pair("latency", "pass"), pair("latency", "unknown")]
    );
    let doc = quick(home, &["no-such-host.invalid"]).exits(7).json();
    let reason = doc["findings"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("the name has no address"), "{reason}");
}

#[test]
fn few_samples_have_no_95th_percentile() {
    let home = &Home::new();
    let at = port(silent);
    let args = [
        "accept",
        "latency",
        &at,
        "--samples=19",
        "--seconds=0.5",
        "-o",
        "json",
    ];
    let doc = home.run(&args).exits(7).json();
    assert_eq!(doc["findings"][0]["code"], "latency_few");
}

#[test]
fn a_page_for_people_in_two_languages_is_80_wide() {
    let home = &Home::new();
    let (open, closed) = (port(silent), closed());
    for (lang, words) in [
        (
            "en",
            ["Target", "Median", "cannot tell", "the port is closed"],
        ),
        ("zh-CN", ["目标", "中位数", "无法判断", "端口未开放"]),
    ] {
        let run = home.run(&[&QUICK[..], &[&open, &closed, "--lang", lang]].concat());
        let run = run.exits(7);
        for word in words {
            assert!(run.out.contains(word), "{word}: {}", run.out);
        }
        assert!(!run.out.contains('['), "{}", run.out);
        let wide = run.out.lines().map(|l| l.chars().count()).max();
        assert!(wide.is_some_and(|w| w <= 80), "{}", run.out);
    }
    let csv = home
        .run(&[&QUICK[..], &[&open, "-o", "csv"]].concat())
        .exits(0);
    assert!(csv.out.starts_with("target,verdict,"), "{}", csv.out);
}

#[test]
fn a_signal_ends_it_with_what_there_is() {
    let home = &Home::new();
    let at = port(silent);
    let args = [
        "accept",
        "latency",
        &at,
        "--samples=400",
        "--seconds=200",
        "-o",
        "json",
    ];
    let mut command = home.command(&args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let begun = Instant::now();
    let child = command.spawn().expect("starts");
    std::thread::sleep(Duration::from_secs(2));
    let id = child.id().to_string();
    let kill = std::process::Command::new("kill")
        .args(["-INT", &id])
        .status();
    assert!(kill.expect("kill").success());
    let run = Run::from(&child.wait_with_output().expect("ends"));
    // far from the 200 s that were asked for
    assert!(begun.elapsed() < Duration::from_secs(100));
    let doc = run.exits(7).json();
    assert_eq!(
        rules(&doc),
        [pair("latency", "unknown"), pair("stopped", "warn")]
    );
    let timed = doc["latency"][0]["tcp"]["timed"]
        .as_u64()
        .expect("a number");
    assert!((1..20).contains(&timed), "{timed}");
    assert_eq!(doc["latency"][0]["stopped"], true);
}

#[test]
fn targets_come_from_files_side_by_side() {
    let home = &Home::new();
    let (a, b) = (port(silent), port(silent));
    let number = |at: &str| at.rsplit_once(':').expect("a port").1.to_owned();
    let toml = format!(
        "[[target]]\nname = \"fra\"\nhost = \"127.0.0.1\"\nport = {}\nregion = \"eu\"\nprovider = \"acme\"\n\
         [[target]]\nname = \"ash\"\nhost = \"127.0.0.1\"\nport = {}\nprovider = \"other\"\n",
        number(&a),
        number(&b)
    );
    let file = home.file("targets.toml", toml);
    let doc = quick(home, &["--targets", &file]).exits(0).json();
    let names: Vec<&Value> = doc["latency"]
        .as_array()
        .expect("all")
        .iter()
        .map(|t| &t["target"])
        .collect();
    assert_eq!(names, ["fra", "ash"]);
    assert_eq!(doc["latency"][0]["region"], "eu");
    assert_eq!(doc["evidence"].as_array().expect("all").len(), 2);
    let doc = quick(home, &["--targets", &file, "--provider", "ACME"])
        .exits(0)
        .json();
    assert_eq!(doc["latency"].as_array().expect("all").len(), 1);
    quick(home, &["--targets", &file, "--provider", "acne"]).says(2, &["acme"]);

    let csv = home.file(
        "targets.csv",
        format!("name,host,port\nfra,127.0.0.1,{}\n", number(&a)),
    );
    let doc = quick(home, &["--targets", &csv]).exits(0).json();
    assert_eq!(doc["latency"][0]["target"], "fra");
}

#[test]
fn a_whole_acceptance_keeps_every_sample_as_its_schema_says() {
    let home = &Home::new();
    let at = port(silent);
    let number = at.rsplit_once(':').expect("a port").1;
    home.file(
        "near.csv",
        format!("name,host,port\nnode,127.0.0.1,{number}\n"),
    );
    let text = "name = \"node\"\n[latency]\ntargets = \"near.csv\"\nfor = \"visual\"\nsamples = 20\nseconds = 0.5\n";
    let file = home.file("node.toml", text);
    let doc = home.run(&["accept", &file, "-o", "json"]).exits(0).json();
    assert_eq!(
        (&doc["check"], &doc["verdict"]),
        (&"all".into(), &"pass".into())
    );
    assert_eq!(doc["latency"][0]["target"], "node");
    let hash = doc["findings"][0]["evidence"][0].as_str().expect("a hash");
    let kept = home.path("node-acceptance").join("evidence").join(hash);
    let samples: Value =
        serde_json::from_slice(&std::fs::read(kept).expect("evidence")).expect("JSON");
    assert_eq!(samples["connections"].as_array().map(Vec::len), Some(20));
    for document in [("latency-samples", &samples), ("acceptance", &doc)] {
        let schema = home.run(&["schema", document.0]).exits(0).json();
        let mut wrong = Vec::new();
        check(document.1, &schema, &schema, document.0, &mut wrong);
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
    // the wording of a wrong file comes from its flags
    let wrong = home.file(
        "wrong.toml",
        "[latency]\nhosts = [\"a\"]\nfor = \"visaul\"\n",
    );
    home.run(&["accept", &wrong])
        .says(2, &["visaul", "`visual`"]);
    let wrong = home.file("none.toml", "[latency]\nfor = \"visual\"\n");
    home.run(&["accept", &wrong]).says(2, &["no target"]);
}

#[test]
fn what_is_no_target_is_told_with_its_place() {
    let home = &Home::new();
    let file = |name: &str, text: &[u8]| home.file(name, text);
    let say = |args: &[&str], words: &[&str]| {
        home.run(&[&["accept", "latency"], args].concat())
            .says(2, words);
    };
    say(&[], &["HOST"]);
    say(&["a:70000"], &["a:70000", "1 to 65535"]);
    say(&["a\u{1b}[2Jb"], &["no target"]);
    let run = home.run(&["accept", "latency", "a\u{1b}[2Jb"]);
    assert!(!run.err.contains('\u{1b}'), "{:?}", run.err);
    say(&["--targets", &file("empty.toml", b"")], &["empty.toml"]);
    say(
        &[
            "--targets",
            &file("binary.toml", b"\x7fELF\x02\x01\x00\x00\x01"),
        ],
        &["binary.toml"],
    );
    say(
        &[
            "--targets",
            &file("key.toml", b"[[target]]\nhots = \"a\"\n"),
        ],
        &["key.toml:2", "hots", "`host`"],
    );
    say(
        &["--targets", &file("key.csv", b"nam,host\nx,a\n")],
        &["key.csv:1", "`name`"],
    );
    say(
        &["--targets", &file("port.csv", b"host,port\na,0\n")],
        &["port.csv:2", "65535"],
    );
    say(
        &["--targets", &file("other.json", b"{\"a\": 1}\n")],
        &["other.json"],
    );
    say(&["--targets", "nowhere.toml"], &["nowhere.toml"]);
    let many: String = (1..100).map(|n| format!("10.0.0.{n}\n")).collect();
    say(
        &[
            "--targets",
            &file("many.csv", format!("host\n{many}").as_bytes()),
        ],
        &["99", "64"],
    );
    // a gigabyte is refused without being read: the file has no blocks at all
    let huge = file("huge.csv", b"host\n");
    let sparse = std::fs::OpenOptions::new()
        .append(true)
        .open(&huge)
        .expect("file");
    sparse.set_len(1 << 30).expect("a length");
    say(&["--targets", &huge], &["huge.csv"]);
    say(&["a", "--samples", "0"], &["--samples"]);
    say(&["a", "--samples=1000", "--seconds=1"], &["50"]);
    say(&["a", "--seconds", "nan"], &["--seconds"]);
    home.run(&["accept", "latency", "a", "--offline"])
        .says(3, &["--offline"]);
    say(&["a", "--for", "gaming"], &["visual"]);
    say(&["a", "--proxy", "ftp://b"], &["ftp", "socks5"]);
    say(&["a", "--proxy", "http://me:secret@b:1"], &["HTTPS_PROXY"]);
    let run = home.run_with(
        &["accept", "latency", "a"],
        &[("HTTPS_PROXY", "http://me:secret@b:x")],
    );
    run.says(2, &["HTTPS_PROXY"]);
    assert!(!run.err.contains("secret"), "{}", run.err);
}
