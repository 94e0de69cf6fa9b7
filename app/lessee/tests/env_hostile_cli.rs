//! `accept env` through the real binary on images and lists that are damaged, or made by somebody who means harm.

mod common;

use common::{Home, Run, finding};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::Write as _;
use std::path::Path;

fn env(home: &Home, args: &[&str]) -> Run {
    home.run(&[&["accept", "env"], args, &["-o", "json"]].concat())
}

/// A member with any name and link, however hostile.
fn header(path: &str, kind: u8, link: &str, size: u64) -> Vec<u8> {
    let mut header = tar::Header::new_ustar();
    let old = header.as_old_mut();
    old.name[..path.len()].copy_from_slice(path.as_bytes());
    old.linkname[..link.len()].copy_from_slice(link.as_bytes());
    old.linkflag = [kind];
    header.set_mode(0o644);
    header.set_size(size);
    header.set_cksum();
    header.as_bytes().to_vec()
}

fn file(path: &str, content: &[u8]) -> Vec<u8> {
    let mut out = header(path, b'0', "", content.len() as u64);
    out.extend(content);
    out.resize(out.len().next_multiple_of(512), 0);
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("gzip");
    encoder.finish().expect("gzip")
}

const SITE: &str = "usr/lib/python3.11/site-packages";

fn metadata(name: &str, more: &str) -> Vec<u8> {
    format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{more}\n").into_bytes()
}

fn ended(mut tar: Vec<u8>) -> Vec<u8> {
    tar.extend(vec![0; 1024]);
    tar
}

fn packages(home: &Home, input: &str) -> Vec<String> {
    let lock = home.path("lock.json");
    let _ = std::fs::remove_file(&lock);
    env(home, &[input, "--save", lock.to_str().expect("path")]);
    let text = std::fs::read_to_string(&lock).expect("lock");
    let doc: Value = serde_json::from_str(&text).expect("JSON");
    let pythons = doc["pythons"].as_array().expect("pythons");
    let all = pythons
        .iter()
        .flat_map(|p| p["packages"].as_array().expect("packages"));
    all.map(|p| p["name"].as_str().expect("name").to_owned())
        .collect()
}

#[test]
fn a_marker_of_parentheses_ends_nothing() {
    let home = &Home::new();
    let marker = format!("Requires-Dist: b; {}\n", "(".repeat(30_000));
    let text = metadata("a", &marker);
    let image = gzip(&ended(file(
        &format!("{SITE}/a-1.0.dist-info/METADATA"),
        &text,
    )));
    let doc = env(home, &[&home.file("deep.tar.gz", image)]).json();
    assert!(doc.to_string().len() < 20_000);
    assert!(doc.to_string().contains("env_requires_odd"), "{doc:#}");
}

#[test]
fn a_size_beyond_all_numbers_is_damage() {
    let home = &Home::new();
    let pax = b"29 size=18446744073709551615\n";
    let mut tar = header("PaxHeaders/x", b'x', "", pax.len() as u64);
    tar.extend(pax);
    tar.resize(1024, 0);
    tar.extend(header("x", b'0', "", 0));
    let run = env(home, &[&home.file("pax.tar", ended(tar))]).exits(7);
    assert!(
        run.json().to_string().contains("env_note_damaged"),
        "{}",
        run.out
    );
}

#[test]
fn hard_links_are_followed() {
    let home = &Home::new();
    let at = |name: &str| format!("{SITE}/{name}-1.0.dist-info/METADATA");
    let mut tar = file("opt/cache/blob", &metadata("numpy", ""));
    tar.extend(header(&at("numpy"), b'1', "opt/cache/blob", 0));
    tar.extend(file(&at("six"), &metadata("six", "")));
    tar.extend(header(&at("copy"), b'1', &at("six"), 0));
    let image = home.file("hard.tar", ended(tar));
    assert_eq!(packages(home, &image), ["numpy", "six", "six"]);
    // one that leads nowhere is said
    let mut tar = file(&at("six"), &metadata("six", ""));
    tar.extend(header(&at("numpy"), b'1', "opt/nowhere", 0));
    let doc = env(home, &[&home.file("lost.tar", ended(tar))])
        .exits(7)
        .json();
    assert!(doc.to_string().contains("opt/nowhere"), "{doc:#}");
}

#[test]
fn a_wrong_sum_is_damage() {
    let home = &Home::new();
    let tar = ended(file(
        &format!("{SITE}/a-1.0.dist-info/METADATA"),
        &metadata("a", ""),
    ));
    let mut image = gzip(&tar);
    let at = image.len() - 8;
    image[at] ^= 0xff;
    let doc = env(home, &[&home.file("crc.tar.gz", image)])
        .exits(7)
        .json();
    assert!(doc.to_string().contains("env_note_damaged"), "{doc:#}");
    // a layer that is not the one of the description
    let sum = |b: &[u8]| {
        Sha256::digest(b)
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect::<String>()
    };
    let image = |diff: String| {
        let config = json!({"architecture": "amd64", "rootfs": {"diff_ids": [diff]}}).to_string();
        let list = json!([{"Config": "config.json", "Layers": ["a/layer.tar"]}]).to_string();
        let mut out = file("a/layer.tar", &tar);
        out.extend(file("config.json", config.as_bytes()));
        out.extend(file("manifest.json", list.as_bytes()));
        ended(out)
    };
    let good = home.file("good.tar", image(format!("sha256:{}", sum(&tar))));
    let doc = env(home, &[&good]).json();
    assert!(!doc.to_string().contains("env_note_damaged"), "{doc:#}");
    let bad = home.file("bad.tar", image(format!("sha256:{}", sum(b"x"))));
    let doc = env(home, &[&bad]).exits(7).json();
    assert!(doc.to_string().contains("env_note_damaged"), "{doc:#}");
}

#[test]
fn passwords_are_neither_shown_nor_kept() {
    let home = &Home::new();
    let text = "--index-url https://u:SECRETPW@pypi.example.org/simple\nsix==1.16.0\nidna==3.4\nx @ https://u:SECRETPW@h/x-1.0-py3-none-any.whl\nwhat is https://u:SECRETPW@h/y\n";
    let list = home.file("freeze.txt", text);
    let lock = home.path("l.json").display().to_string();
    let needs = home.file("needs.txt", "y @ https://u:SECRETPW@h/y.whl\n");
    let args = [
        &list,
        "--needs",
        &needs,
        "--need",
        "z @ https://u:SECRETPW@h/z",
        "--save",
        &lock,
    ];
    let run = env(home, &args);
    let page = home.run(&["accept", "env", &list, "--needs", &needs]);
    let kept = std::fs::read_to_string(&lock).expect("lock");
    for text in [&run.out, &run.err, &page.out, &page.err, &kept] {
        assert!(!text.contains("SECRETPW"), "{text}");
    }
    assert!(kept.contains("https://***@h/x-1.0"), "{kept}");
}

#[test]
fn hostile_archives_harm_nobody() {
    let home = &Home::new();
    let end = vec![0; 1024];
    // out of the root, links in a circle, links to this machine's files
    let mut bytes = header("../../../../tmp/lessee-was-here", b'0', "", 0);
    bytes.extend(header("opt", b'2', "opt", 0));
    bytes.extend(header("etc/os-release", b'2', "/etc/os-release", 0));
    bytes.extend(header("a", b'2', "b/c", 0));
    bytes.extend(header("b", b'2', "a/c", 0));
    bytes.extend(header("var/lib/dpkg/status", b'1', "../../etc/passwd", 0));
    bytes.extend(&end);
    let doc = env(home, &[&home.file("paths.tar", bytes)]).exits(7).json();
    assert!(!Path::new("/tmp/lessee-was-here").exists());
    assert_eq!(doc["environment"]["os"], Value::Null);
    // a name of four gigabytes
    let mut bytes = header("././@LongLink", b'L', "", 4 << 30);
    bytes.extend(vec![b'x'; 4096]);
    let doc = env(home, &[&home.file("name.tar", bytes)]).exits(7).json();
    assert_eq!(finding(&doc, "read", "")["code"], "env_note_damaged");
    // a member that says to be longer than the archive
    let mut bytes = header("var/lib/dpkg/status", b'0', "", 1 << 40);
    bytes.extend(vec![b'x'; 4096]);
    let doc = env(home, &[&home.file("long.tar", bytes)]).exits(7).json();
    assert!(
        finding(&doc, "read", "")["code"] == "env_note_truncated",
        "{doc:#}"
    );
}

#[test]
fn a_bomb_is_refused() {
    let home = &Home::new();
    // seven gigabytes of zeros behind one header, of which a fifth is there, in two megabytes
    let mut bytes = gzip(&header("zeros", b'0', "", 7 << 30));
    let zeros = gzip(&vec![0; 1 << 20]);
    for _ in 0..1500 {
        bytes.extend(&zeros);
    }
    let bomb = home.file("bomb.tar.gz", bytes);
    let doc = env(home, &[&bomb, "--need", "torch"]).exits(7).json();
    assert_eq!(finding(&doc, "read", &bomb)["code"], "env_note_damaged");
}
