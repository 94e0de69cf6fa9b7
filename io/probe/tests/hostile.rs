//! Captures that are cut, mangled or made to hurt: never a panic, never a value that the capture does not state,
//! never more time or memory than its size explains.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests stop at the first surprise too"
)]

use lessee_probe_io::read::{Kind, MAX_INPUT_BYTES, Read, read};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Our own captures, of all kinds.
fn captures() -> &'static [(String, Vec<u8>)] {
    static ALL: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
        let mut all = Vec::new();
        for folder in std::fs::read_dir(root).unwrap() {
            for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                if !path.to_string_lossy().ends_with(".expect.json") {
                    all.push((
                        path.to_string_lossy().into_owned(),
                        std::fs::read(&path).unwrap(),
                    ));
                }
            }
        }
        all.sort();
        all
    })
}

/// What no reading may be, whatever went in.
fn bounded(read: &Read, size: usize) {
    assert!(read.not_understood.len() <= 1000);
    assert!(
        read.not_understood
            .iter()
            .all(|u| u.text.chars().count() <= 200)
    );
    assert!(read.reading.gpus.len() <= 1024);
    assert!(read.reading.problems.len() <= 1000);
    let json = serde_json::to_string(read).unwrap();
    assert!(
        json.len() < 4_000_000 + 40 * size,
        "{} bytes of {size}",
        json.len()
    );
}

/// One way to hurt a capture.
#[derive(Clone, Debug)]
enum Harm {
    Byte(Index, u8),
    Remove(Index, usize),
    Repeat(Index, usize, usize),
    Insert(Index, &'static [u8]),
    Cut(Index),
}

fn harm() -> impl Strategy<Value = Harm> {
    let pieces: &[&[u8]] = &[
        b"\x1b[4m",
        b"\x1b]",
        b"\0",
        b"\r",
        b"\n",
        b"\xff",
        b"|",
        b" : ",
        b"GPU0 ",
        b"ERR!",
        b"[N/A]",
        b"<",
        b"</gpu>",
        b"<gpu id=\"\">",
        b"<!--",
        b"<![CDATA[",
        b"&lt;",
        b"99999999999999999999",
        b"-1",
        b"1e999",
        "温度".as_bytes(),
        b"GPU 00000000:07:00.0\n",
        b"# gpu pwr\n",
        b", ",
        b"Link 9: <inactive>\n",
        b"> ",
    ];
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, b)| Harm::Byte(at, b)),
        (any::<Index>(), 1..40usize).prop_map(|(at, n)| Harm::Remove(at, n)),
        (any::<Index>(), 1..200usize, 1..30usize)
            .prop_map(|(at, n, times)| Harm::Repeat(at, n, times)),
        (any::<Index>(), select(pieces.to_vec())).prop_map(|(at, piece)| Harm::Insert(at, piece)),
        any::<Index>().prop_map(Harm::Cut),
    ]
}

fn harmed(mut bytes: Vec<u8>, harms: &[Harm]) -> Vec<u8> {
    for harm in harms {
        if bytes.is_empty() {
            break;
        }
        let len = bytes.len();
        match harm {
            Harm::Byte(at, b) => bytes[at.index(len)] = *b,
            Harm::Remove(at, n) => {
                let at = at.index(len);
                bytes.drain(at..(at + n).min(len));
            }
            Harm::Repeat(at, n, times) => {
                let at = at.index(len);
                let piece = bytes[at..(at + n).min(len)].repeat(*times);
                bytes.splice(at..at, piece);
            }
            Harm::Insert(at, piece) => {
                let at = at.index(len);
                bytes.splice(at..at, piece.iter().copied());
            }
            Harm::Cut(at) => bytes.truncate(at.index(len)),
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn harmed_captures_are_survived(which in any::<Index>(), harms in prop::collection::vec(harm(), 1..12)) {
        let (_, whole) = which.get(captures());
        let bytes = harmed(whole.clone(), &harms);
        bounded(&read(&bytes), bytes.len());
    }

    #[test]
    fn noise_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        bounded(&read(&bytes), bytes.len());
    }
}

/// A row's last number may be half of one in a listing of plain numbers: nobody can tell, and so they are left out.
const PLAIN_ROWS: [Kind; 2] = [Kind::Dmon, Kind::QueryGpuCsv];

/// Sums and lists grow with what was read of them.
const GROWING: [&str; 8] = [
    "mig_devices",
    "nvlinks",
    "nvlinks_active",
    "retired_pages",
    "throttle_reasons",
    "ecc_uncorrectable_volatile",
    "ecc_uncorrectable_aggregate",
    "ecc_correctable_aggregate",
];

#[test]
fn a_cut_capture_states_nothing_that_the_whole_does_not() {
    for (name, bytes) in captures() {
        let whole = read(bytes);
        if whole.kind.is_none_or(|k| PLAIN_ROWS.contains(&k)) {
            continue;
        }
        let step = 1 + bytes.len() / 1500;
        for end in (0..bytes.len()).step_by(step) {
            let cut = read(&bytes[..end]);
            if cut.kind != whole.kind {
                continue;
            }
            for link in &cut.reading.links {
                assert!(
                    whole.reading.links.contains(link),
                    "{name} cut at {end}: {link:?}"
                );
            }
            for (short, long) in cut.reading.gpus.iter().zip(&whole.reading.gpus) {
                let short = serde_json::to_value(short).unwrap();
                let long = serde_json::to_value(long).unwrap();
                states_no_more(&short, &long, &format!("{name} cut at {end}"));
            }
        }
    }
}

fn states_no_more(short: &Value, long: &Value, place: &str) {
    let Value::Object(fields) = short else {
        assert_eq!(short, long, "{place}");
        return;
    };
    for (key, value) in fields
        .iter()
        .filter(|(k, _)| !GROWING.contains(&k.as_str()))
    {
        let other = long.get(key);
        assert!(
            other.is_some(),
            "{place}: {key} = {value} is not in the whole"
        );
        if value.is_object() {
            states_no_more(value, &long[key], place);
        } else {
            assert_eq!(Some(value), other, "{place}: {key}");
        }
    }
}

/// Starts that make a reader take the text, and what is then repeated at it.
const FLOODS: &[(&str, &str)] = &[
    ("", "\u{1b}]"),
    ("", "\r"),
    ("> ", "\n> "),
    ("", "GPU0 "),
    ("", "GPU 0: A (UUID: B)\nLink 0: 25 GB/s\n"),
    ("GPU 0: A\nLink 0: 25 GB/s\n", "Link 1: <inactive>\n"),
    ("\tGPU0\tGPU1\n", "GPU0 X NV1\n"),
    ("\tGPU0\tGPU1\n", "NIC0: x\n"),
    ("", "| NVIDIA-SMI 1 Driver Version: 2 |\n"),
    (
        "| NVIDIA-SMI 1 Driver Version: 2 |\n",
        "|  0 A On | 00:00.0 Off | 0 |\n",
    ),
    ("| NVIDIA-SMI 1 Driver Version: 2 |\n", "| "),
    ("==NVSMI LOG==\nGPU 00000000:07:00.0\n", "    A : 1\n"),
    ("==NVSMI LOG==\n", "GPU 00000000:07:00.0\n"),
    (
        "==NVSMI LOG==\nGPU 00000000:07:00.0\n",
        "  Aa\n   Bb\n    Cc\n",
    ),
    ("==NVSMI LOG==\nGPU 00000000:07:00.0\n  ", "A : "),
    ("<nvidia_smi_log>", "<a>"),
    ("<nvidia_smi_log>", "<gpu id=\"x\">"),
    ("<nvidia_smi_log><gpu id=\"x\">", "<uuid>1</uuid>"),
    ("<nvidia_smi_log><gpu id=\"x\">", "</a>"),
    ("<nvidia_smi_log>", "<!--"),
    ("<nvidia_smi_log><gpu id=\"x\"><a ", "b=\"c\" "),
    ("&lt;nvidia_smi_log", "&lt;"),
    ("# gpu pwr sm\n", "0 1 2\n"),
    ("# gpu pwr sm\n", "0 "),
    ("# gpu pwr sm ", "x "),
    ("index, memory.used [MiB]\n", "1, 2 MiB\n"),
    ("uuid, memory.used [MiB]\n", "1, "),
    ("name, memory.used [MiB]", ", power.draw"),
    ("", "No devices were found\n"),
    ("", "Failed to initialize NVML: "),
    ("", "x\n"),
    ("", "\n"),
];

#[test]
fn floods_cost_what_their_size_explains() {
    for (start, piece) in FLOODS {
        let size = 1 << 18;
        let mut text = (*start).to_owned();
        text.push_str(&piece.repeat(size / piece.len()));
        let begun = Instant::now();
        let read = read(text.as_bytes());
        let took = begun.elapsed();
        bounded(&read, 0);
        // a slow, shared machine without optimisation; what is quadratic takes minutes
        assert!(
            took < Duration::from_secs(10),
            "{start:?} {piece:?}: {took:?}"
        );
    }
}

#[test]
fn what_lies_beyond_the_bound_is_left_and_said() {
    let mut text = b"No devices were found\n".to_vec();
    text.resize(MAX_INPUT_BYTES + 10, b' ');
    let read = read(&text);
    assert_eq!(read.kind, Some(Kind::SmiError));
    assert!(read.reading.problems.iter().any(|p| p.code == "input_cut"));
}

#[test]
fn identifiers_do_not_leave() {
    for (name, bytes) in captures() {
        let read = read(bytes);
        let json = serde_json::to_string(&read).unwrap();
        assert!(!json.contains("01234567-89ab"), "{name}");
        assert!(!json.contains("0320000000000"), "{name}");
    }
}
