//! Captures of other tools than nvidia-smi that are damaged or made to harm: no panic, and time and memory that grow
//! with the input only.
#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise, its helpers too"
)]

use lessee_probe_io::read::{Kind, read};
use proptest::prelude::*;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Our own captures of all kinds.
static CAPTURES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut all = Vec::new();
    for kind in std::fs::read_dir(root).unwrap() {
        let Ok(files) = std::fs::read_dir(kind.unwrap().path()) else {
            continue;
        };
        let mut paths: Vec<_> = files.map(|f| f.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            if !path.to_string_lossy().ends_with(".expect.json") {
                all.push(std::fs::read(path).unwrap());
            }
        }
    }
    assert!(all.len() > 20);
    all
});

/// What a tester does to a capture: cut, repeat, drop, overwrite, another capture in between.
#[derive(Clone, Debug)]
enum Damage {
    Cut(usize),
    Behead(usize),
    Drop(usize, usize),
    Repeat(usize, usize, usize),
    Put(usize, Vec<u8>),
    Mix(usize, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let words = prop_oneof![
        Just(b"N/A".to_vec()),
        Just(b"99999999999999999999999".to_vec()),
        Just(b"-1e308".to_vec()),
        Just("：Ⅷ\u{1f600}".as_bytes().to_vec()),
        Just(b"\xff\xfe\x00".to_vec()),
        Just(b"[1,0]<stdout>:".to_vec()),
        Just(b"Xid (PCI:0000:0".to_vec()),
        prop::collection::vec(any::<u8>(), 0..8),
        "[ :,\\[\\]{}()#|'\"/\n\t-]{1,4}".prop_map(String::into_bytes),
    ];
    prop_oneof![
        any::<usize>().prop_map(Damage::Cut),
        any::<usize>().prop_map(Damage::Behead),
        (any::<usize>(), 0..200usize).prop_map(|(at, n)| Damage::Drop(at, n)),
        (any::<usize>(), 0..80usize, 1..50usize).prop_map(|(at, n, k)| Damage::Repeat(at, n, k)),
        (any::<usize>(), words).prop_map(|(at, w)| Damage::Put(at, w)),
        (any::<usize>(), any::<usize>()).prop_map(|(at, which)| Damage::Mix(at, which)),
    ]
}

fn damaged(mut text: Vec<u8>, damages: Vec<Damage>) -> Vec<u8> {
    for damage in damages {
        let place = |at: usize, text: &[u8]| at % (text.len() + 1);
        match damage {
            Damage::Cut(at) => text.truncate(place(at, &text)),
            Damage::Behead(at) => {
                text.drain(..place(at, &text));
            }
            Damage::Drop(at, n) => {
                let at = place(at, &text);
                text.drain(at..(at + n).min(text.len()));
            }
            Damage::Repeat(at, n, times) => {
                let at = place(at, &text);
                let part = text[at..(at + n).min(text.len())].repeat(times);
                text.splice(at..at, part);
            }
            Damage::Put(at, word) => {
                let at = place(at, &text);
                text.splice(at..at, word);
            }
            Damage::Mix(at, which) => {
                let at = place(at, &text);
                text.splice(at..at, CAPTURES[which % CAPTURES.len()].clone());
            }
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn damaged_captures_are_read_or_left(
        which in any::<usize>(),
        damages in prop::collection::vec(damage(), 1..5),
    ) {
        let input = damaged(CAPTURES[which % CAPTURES.len()].clone(), damages);
        let read = read(&input);
        // the report is JSON whatever came in, and says no more lines than there are
        let text = serde_json::to_string(&read).unwrap();
        prop_assert!(text.len() < 64 * input.len() + 4096, "{} of {}", text.len(), input.len());
        prop_assert!(read.kind.is_some() || read.facts.is_empty());
    }
}

/// Bytes of a hostile input. Builds for tests are not optimised and machines are shared.
const MUCH: usize = if cfg!(debug_assertions) {
    500_000
} else {
    10_000_000
};

/// As many bytes of `part`, behind a beginning that makes it the output of a tool.
fn much(start: &str, part: &str) -> String {
    let mut text = start.to_owned();
    while text.len() < MUCH {
        text.push_str(part);
    }
    text
}

#[test]
fn much_is_read_quickly() {
    // what is not linear takes minutes
    let limit = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 });
    let burn = "10%  proc'd: 1 (2 Gflop/s) - 3 (4 Gflop/s)   errors: 0 - 0  temps: 1 C - 2 C ";
    let nccl = "#  algbw busbw\n";
    let curve = "76, 2 %, 3 MiB\n77, 2 %, 3 MiB\n";
    let inputs = [
        (Kind::Nvbandwidth, much("{\"nvbandwidth\":\n", "{\"a\":")),
        (Kind::Nvbandwidth, much("{\"nvbandwidth\":[", "1,")),
        (
            Kind::Nvbandwidth,
            much("{\"nvbandwidth\":1}\n", "{\"a\":[1,\n"),
        ),
        (
            Kind::Nvbandwidth,
            much("nvbandwidth Version: v0.8\nRunning x.\n", "0 1.5 "),
        ),
        (
            Kind::Nvbandwidth,
            much("nvbandwidth Version: v0.8\n", "Running x.\nSUM x 1\n"),
        ),
        (
            Kind::Nvbandwidth,
            much("nvbandwidth Version: v0.8\nDevice 0: ", " ("),
        ),
        (
            Kind::Fio,
            much("\"fio version\"\n", "{\"jobs\":[{\"jobname\":\"a\"}]}\n"),
        ),
        (Kind::Fio, much("{\"fio version\":\"", "\\\"{")),
        (Kind::Nccl, much(nccl, "8 2 float sum -1 1 1 1 0 1 1 1 0\n")),
        (Kind::Nccl, much(nccl, "8 2 float sum -1 1 1 1 0 ")),
        (Kind::Nccl, much(nccl, "# Rank 1 on a device 0 [0x1] b\n")),
        (Kind::Nccl, much(nccl, "[1,")),
        (Kind::GpuBurn, much(burn, burn)),
        (Kind::GpuBurn, much(burn, "errors: 1 - ")),
        (Kind::GpuBurn, much(burn, "\nGPU 1: OK")),
        (
            Kind::GpuBw,
            much(
                "[CUDA Bandwidth Test]\n",
                "bandwidthTest-a-b, Bandwidth = 1 GB/s, Size = 1\n",
            ),
        ),
        (
            Kind::Stream,
            much("STREAM_COPY_double 1 2\n", "STREAM_COPY_double 1 2\n"),
        ),
        (Kind::Stream, much("operation,bandwidth_mb_s\n", "a,1\n")),
        (Kind::Stream, much("operation,bandwidth_mb_s\n", "a,")),
        (
            Kind::Ibstat,
            much("CA 'a'\n", "CA 'a'\n Port 1:\n  State: Down\n"),
        ),
        (Kind::Ibstat, much("CA 'a'\n Port 1:\n", "  State: ")),
        (
            Kind::IbSysfs,
            much(
                "/sys/class/infiniband/a/b:1\n/sys/class/infiniband/a/b:1\n",
                "class/infiniband/",
            ),
        ),
        (
            Kind::IbPerf,
            much("#bytes BW average[MB/sec]\n", "8 2 1 1 1\n"),
        ),
        (
            Kind::Lscpu,
            much("CPU(s): 1\nModel name: x\nVendor ID: y\n", "a1b2:"),
        ),
        (
            Kind::Lscpu,
            much("CPU(s): 1\nModel name: x\nVendor ID: y\n", "Model 7: a\n"),
        ),
        (Kind::Lscpu, much("# CPU,Core,Socket\n", "1,2,3\n")),
        (
            Kind::Dmidecode,
            much(
                "# dmidecode\n",
                "Handle 0x1, DMI type 17\nMemory Device\n\tSize: 1 GB\n",
            ),
        ),
        (
            Kind::Lspci,
            much("01:00.0 Bridge: NVIDIA\n", "01:00.0 Bridge: NVIDIA [a ["),
        ),
        (
            Kind::Lspci,
            much(
                "01:00.0 3D controller: NVIDIA\n",
                "01:00.0 3D controller: NVIDIA\n\tLnkCap: Width x1\n",
            ),
        ),
        (
            Kind::Kmsg,
            much("NVRM: \n", "Xid (PCI:0000:01:00): 1, Xid ("),
        ),
        (
            Kind::Kmsg,
            much("NVRM: \n", "NVRM: Xid (PCI:0000:01:00): 1, a\n"),
        ),
        (
            Kind::Kmsg,
            much("[a] [INFO] [tid 1] b\n", "[a] [ERROR] [tid 1] b\n"),
        ),
        (Kind::UtilCurve, much(curve, curve)),
        (Kind::UtilCurve, much(curve, "2 %,")),
    ];
    for (kind, input) in inputs {
        let begin = Instant::now();
        let read = read(input.as_bytes());
        let took = begin.elapsed();
        let head: String = input.chars().take(60).collect();
        assert_eq!(read.kind, Some(kind), "{head:?}");
        assert!(took < limit, "{took:?} for {head:?}");
    }
}

#[test]
fn numbers_beyond_the_table_come_without_a_meaning() {
    let read = read(b"[ 1.0] NVRM: Xid (PCI:0000:01:00): 4711, who knows\n");
    assert_eq!(read.reading.problems[0].code, "xid");
    assert_eq!(read.facts["xids"][0][1], "4711");
    assert!(!read.facts.contains_key("say"));
}
