//! `accept driver` through the real binary: captures as providers send them, machines as people type them, and rubbish.

mod common;

use common::{Home, Run};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Real captures; not in the repository.
#[expect(clippy::print_stdout, reason = "a test that does nothing says why")]
fn sample(name: &str) -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = root
        .join("../../../shared/data/compat/smi_samples")
        .join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: no {}", path.display());
    None
}

/// The table that `nvidia-smi` prints, labels as of the driver.
fn table(driver: &str, cuda: &str, gpu: &str, mib: u32, n: usize) -> String {
    let (number, printed) = match driver.starts_with('6') {
        true => ("KMD Version", "CUDA UMD Version"),
        false => ("Driver Version", "CUDA Version"),
    };
    let line = format!("+{}+\n", "-".repeat(89));
    let mut text = line.clone();
    let title = format!(" NVIDIA-SMI {driver:<22} {number}: {driver:<14} {printed}: {cuda}");
    let _ = writeln!(text, "|{title:<89}|");
    text += "+-----------------------------------------+------------------------+----------------------+\n";
    text += "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n";
    text += "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n";
    text += "|                                         |                        |               MIG M. |\n";
    text += "|=========================================+========================+======================|\n";
    for i in 0..n {
        let _ = writeln!(
            text,
            "| {i:>3}  {gpu:<26}      On  |   00000000:{:02X}:00.0 Off |                    0 |",
            i + 4
        );
        let _ = writeln!(
            text,
            "| N/A   34C    P0             60W /  400W |       1MiB / {mib:>6}MiB |      0%      Default |"
        );
        text += "|                                         |                        |             Disabled |\n";
        text += "+-----------------------------------------+------------------------+----------------------+\n";
    }
    text += "\n";
    text += &line;
    let _ = writeln!(text, "|{:<89}|", " Processes:");
    let _ = writeln!(text, "|{}|", "=".repeat(89));
    let _ = writeln!(text, "|{:<89}|", "  No running processes found");
    text + &line
}

/// The listing of `nvidia-smi -q` of eight cards behind NVSwitches.
fn listing(state: &str) -> String {
    let mut text = "\n==============NVSMI LOG==============\n\nTimestamp                                 : Mon Nov 30 12:00:00 2026\nDriver Version                            : 580.95.05\nCUDA Version                              : 13.0\n\nAttached GPUs                             : 8\n".to_owned();
    for i in 0..8 {
        let _ = write!(
            text,
            "GPU 00000000:{:02X}:00.0\n    Product Name                          : NVIDIA H100 80GB HBM3\n    Product Brand                         : NVIDIA\n    FB Memory Usage\n        Total                             : 81559 MiB\n        Used                              : 1 MiB\n    Fabric\n        State                             : {state}\n        Status                            : N/A\n    Processes                             : None\n\n",
            i + 4
        );
    }
    text
}

fn accept(home: &Home, args: &[&str]) -> Run {
    home.run(&[&["accept", "driver"], args, &["-o", "json"]].concat())
}

#[track_caller]
fn need<'a>(doc: &'a Value, subject: &str) -> &'a Value {
    let findings = doc["findings"].as_array().expect("findings");
    let mut those = findings
        .iter()
        .filter(|f| f["rule"] == "need" && f["subject"] == subject);
    let first = those
        .next()
        .unwrap_or_else(|| panic!("no finding for {subject}: {doc:#}"));
    assert!(those.next().is_none(), "two for {subject}");
    first
}

fn verdicts(doc: &Value, rule: &str) -> Vec<String> {
    let findings = doc["findings"].as_array().expect("findings");
    let those = findings.iter().filter(|f| f["rule"] == rule);
    those
        .map(|f| f["verdict"].as_str().expect("a verdict").to_owned())
        .collect()
}

#[test]
fn a_typed_machine_is_judged_and_the_worst_verdict_is_the_exit() {
    let home = &Home::new();
    let v100 = ["--driver", "580.95.05", "--gpu", "Tesla V100-SXM2-16GB"];
    let run = accept(home, &[&v100[..], &["--need", "torch==2.11.0"]].concat()).exits(1);
    let doc = run.json();
    assert_eq!(doc["schema"], "lessee/acceptance/v1");
    assert_eq!(doc["verdict"], "fail");
    let found = need(&doc, "torch==2.11.0");
    for key in ["verdict", "reason", "source", "as_of", "install"] {
        assert!(
            found[key].as_str().is_some_and(|t| !t.is_empty()),
            "{key}: {found}"
        );
    }
    let install = found["install"].as_str().expect("a line");
    assert_eq!(
        install,
        "pip install torch==2.11.0 --index-url https://download.pytorch.org/whl/cu126"
    );

    let a100 = ["--driver", "535.183.01", "--gpu", "A100-SXM4-80GB:8"];
    let needs = ["--need", "torch==2.6.0", "--need", "cuda==12.2"];
    let doc = accept(home, &[&a100[..], &needs].concat()).exits(0).json();
    assert_eq!(doc["machine"]["gpus"][0]["count"], 8);
    assert_eq!(need(&doc, "torch==2.6.0")["verdict"], "warn");
    assert_eq!(need(&doc, "cuda==12.2")["verdict"], "pass");
    let unknown = ["--need", "torch==2.6.0", "--need", "leftpad==1"];
    let doc = accept(home, &[&a100[..], &unknown].concat())
        .exits(7)
        .json();
    assert!(need(&doc, "leftpad==1")["ask"].is_string());
    let both = ["--need", "leftpad==1", "--need", "torch==2.11.0"];
    accept(home, &[&a100[..], &both].concat()).exits(1);
}

#[test]
fn tables_of_nvidia_smi_are_read_with_old_and_new_labels() {
    let home = &Home::new();
    let old = home.file(
        "old.txt",
        table("535.183.01", "12.4", "NVIDIA A100-SXM4-80GB", 81920, 1),
    );
    let doc = accept(
        home,
        &[&old, "--need", "torch==2.6.0", "--need", "torch==2.11.0"],
    )
    .exits(1)
    .json();
    assert_eq!(need(&doc, "torch==2.6.0")["verdict"], "warn");
    assert_eq!(need(&doc, "torch==2.11.0")["verdict"], "fail");
    assert_eq!(verdicts(&doc, "printed-cuda"), ["warn"]);

    let new = home.file(
        "new.txt",
        table("610.57.04", "13.3", "NVIDIA GeForce RTX 2080 ...", 8192, 1),
    );
    let doc = accept(home, &[&new, "--need", "torch==2.14.1"])
        .exits(0)
        .json();
    assert_eq!(need(&doc, "torch==2.14.1")["verdict"], "pass");
    assert_eq!(doc["machine"]["driver"], "610.57.04");
    assert!(verdicts(&doc, "printed-cuda").is_empty());

    // -q of that driver prints both labels, the old one with a remark behind its value
    let listed = listing("Completed").replace(
        "CUDA Version                              : 13.0\n",
        "CUDA Version                              : 13.3 [Deprecated; will be removed in CUDA 14.0. Use CUDA UMD Version instead]\nKMD Version                               : 610.57.04\nCUDA UMD Version                          : 13.3\n",
    );
    let listed = listed.replace(
        ": 580.95.05",
        ": 610.57.04 [Deprecated; will be removed in CUDA 14.0. Use KMD Version instead]",
    );
    let listed = home.file("listed.txt", listed);
    let doc = accept(home, &[&listed, "--need", "torch==2.14.1"])
        .exits(0)
        .json();
    assert_eq!(doc["machine"]["driver"], "610.57.04");
    assert_eq!(doc["machine"]["printed_cuda"], "13.3");
    assert_eq!(need(&doc, "torch==2.14.1")["verdict"], "pass");

    let geforce = home.file(
        "geforce.txt",
        table("535.183.01", "12.4", "NVIDIA GeForce RTX 4090", 24564, 1),
    );
    let doc = accept(home, &[&geforce, "--need", "torch==2.6.0"])
        .exits(1)
        .json();
    assert_eq!(need(&doc, "torch==2.6.0")["code"], "library_geforce");
}

#[test]
fn eight_gpus_without_a_fabric_manager_fail() {
    let home = &Home::new();
    let trouble = home.file("trouble.txt", listing("In Progress"));
    let doc = accept(home, &[&trouble, "--need", "torch==2.11.0"])
        .exits(1)
        .json();
    assert_eq!(need(&doc, "torch==2.11.0")["verdict"], "fail");
    assert_eq!(verdicts(&doc, "fabric"), ["fail"]);
    let ready = home.file("ready.txt", listing("Completed"));
    let doc = accept(home, &[&ready, "--need", "torch==2.11.0"])
        .exits(0)
        .json();
    assert_eq!(need(&doc, "torch==2.11.0")["verdict"], "pass");
    assert!(verdicts(&doc, "fabric").is_empty());
}

#[test]
fn rubbish_is_never_a_pass_and_says_why() {
    let home = &Home::new();
    let whole = table("580.95.05", "13.0", "NVIDIA H100 80GB HBM3", 81559, 1);
    let cut = whole[..whole.len() * 2 / 3].to_owned();
    let noise: Vec<u8> = (0..10_000_000u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let repeated = "hello world\n".repeat(900_000);
    let cases: [(&str, Vec<u8>); 8] = [
        ("empty", Vec::new()),
        ("blank", b"  \n\n".to_vec()),
        ("other", b"total 12\ndrwxr-xr-x 2 root root 4096 Nov 30 12:00 bin\n".to_vec()),
        ("lscpu", b"Architecture:             x86_64\nCPU op-mode(s):         32-bit, 64-bit\nCPU(s):                   8\nModel name:               x\n".to_vec()),
        ("failed", b"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n".to_vec()),
        ("cut", cut.into_bytes()),
        ("noise", noise),
        ("long", repeated.into_bytes()),
    ];
    for (name, bytes) in cases {
        let file = home.file(name, bytes);
        let doc = accept(home, &[&file, "--need", "torch==2.6.0"])
            .exits(7)
            .json();
        let found = need(&doc, "torch==2.6.0");
        assert_eq!(found["verdict"], "unknown", "{name}");
        assert!(
            found["reason"].as_str().is_some_and(|r| r.len() > 10),
            "{name}"
        );
        assert!(!verdicts(&doc, "capture").is_empty(), "{name}");
    }
    // another encoding is read, not refused
    let utf16: Vec<u8> = std::iter::once(0xFEFFu16)
        .chain(whole.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let file = home.file("utf16", utf16);
    let doc = accept(home, &[&file, "--need", "torch==2.6.0"])
        .exits(0)
        .json();
    assert_eq!(need(&doc, "torch==2.6.0")["verdict"], "pass");
    accept(home, &["nowhere.txt", "--need", "torch"]).exits(2);
    accept(home, &["--need", "torch"]).exits(2);
}

#[test]
fn needs_come_from_files_too() {
    let home = &Home::new();
    let requirements = home.file(
        "requirements.txt",
        "torch==2.6.0\nnumpy\n# vllm\nflash_attn==2.8.3\n",
    );
    let docker = home.file(
        "Dockerfile",
        "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN pip install -U torch==2.6.0\n",
    );
    let machine = ["--driver", "550.90.07", "--gpu", "NVIDIA A10"];
    let needs = ["--needs", &requirements, "--needs", &docker];
    let doc = accept(home, &[&machine[..], &needs].concat())
        .exits(0)
        .json();
    for (subject, verdict) in [
        ("torch==2.6.0", "pass"),
        // there is no wheel of it on PyPI
        ("flash_attn==2.8.3", "warn"),
        ("cuda==12.4.1", "pass"),
    ] {
        assert_eq!(need(&doc, subject)["verdict"], verdict, "{subject}");
    }
    assert_eq!(doc["not_judged"], 1);
}

#[test]
fn the_page_fits_a_terminal_in_both_languages() {
    let home = &Home::new();
    let args = [
        "accept",
        "driver",
        "--driver",
        "535.183.01",
        "--gpu",
        "NVIDIA A100-SXM4-80GB",
        "--need",
        "torch",
        "--need",
        "torch==2.6.0",
    ];
    for (lang, word) in [("en", "warning"), ("zh-CN", "警告")] {
        let run = home.run(&[&args[..], &["--lang", lang]].concat()).exits(1);
        assert!(
            run.out.contains(word) && run.out.contains("pip install torch=="),
            "{}",
            run.out
        );
        let missing = run.out.lines().find(|l| l.contains("[accept-"));
        assert!(missing.is_none(), "{missing:?}");
        let (first, second) = (run.out.find("torch  "), run.out.find("torch==2.6.0"));
        assert!(first < second, "the worst stands first:\n{}", run.out);
    }
}

#[test]
fn captures_of_real_machines_are_judged() {
    let home = &Home::new();
    for (name, wanted, verdict) in [
        ("aws_p2.xlarge.xml", "cuda==12.4", "fail"),
        (
            "alicloud_ecs.sgn7i-vws-m2.xlarge.xml",
            "torch==2.6.0",
            "fail",
        ),
        (
            "alicloud_ecs.sgn7i-vws-m2.xlarge.xml",
            "torch==2.0.1",
            "warn",
        ),
        ("aws_g6f.large.xml", "torch==2.11.0", "pass"),
        ("aws_g6.12xlarge.xml", "torch==2.14.1", "pass"),
        ("gcp_a3-highgpu-1g.xml", "vllm==0.26.0", "pass"),
        (
            "upcloud_GPU-24xCPU-240GB-1xB200.xml",
            "torch==2.15.0",
            "pass",
        ),
        (
            "upcloud_GPU-24xCPU-240GB-1xB200.xml",
            "torch==2.6.0",
            "fail",
        ),
        (
            "vultr_vcg-l40s-16c-180g-48vram.xml",
            "torch==2.13.0",
            "pass",
        ),
        (
            "linux-x86_64__nvidia-h200__590.48.01.txt",
            "torch==2.14.1",
            "pass",
        ),
        (
            "linux-x86_64__nvidia-geforce-rtx-2080-super__610.57.04.txt",
            "torch==2.14.1",
            "pass",
        ),
    ] {
        let Some(path) = sample(name) else { continue };
        let path = path.to_str().expect("path");
        let run = accept(home, &[path, "--need", wanted]);
        assert_eq!(
            need(&run.json(), wanted)["verdict"],
            verdict,
            "{name} {wanted}: {}",
            run.out
        );
    }
}

/// The exit code and the findings of a file of needs on a machine.
fn of_file(home: &Home, name: &str, text: &str, driver: &str, gpu: &str) -> (i32, Value) {
    let file = home.file(name, text);
    let run = accept(home, &["--driver", driver, "--gpu", gpu, "--needs", &file]);
    let code = run.code;
    (code, if code == 2 { Value::Null } else { run.json() })
}

#[test]
fn whatever_installs_in_a_dockerfile_is_judged() {
    let home = &Home::new();
    let h550 = ("550.54.15", "NVIDIA H100 80GB HBM3");
    for (line, code) in [
        ("RUN pip install torch==2.11.0", 1),
        ("RUN pip3 install torch==2.11.0", 1),
        ("RUN pip3.11 install --no-cache-dir torch==2.11.0", 1),
        ("RUN python -m pip install 'torch==2.11.0'", 1),
        ("RUN apt-get update && pip3 install torch==2.11.0", 1),
        ("RUN uv pip install --system torch==2.11.0", 1),
        ("RUN uv add torch==2.11.0", 1),
        (
            "RUN --mount=type=cache,target=/root pip install torch==2.11.0",
            1,
        ),
        ("RUN [\"pip\", \"install\", \"torch==2.11.0\"]", 1),
        ("RUN mamba install -y -c pytorch pytorch==2.11.0", 1),
        (
            "RUN pip install https://download.pytorch.org/whl/cu130/torch-2.11.0%2Bcu130-cp312-cp312-manylinux_2_28_x86_64.whl",
            1,
        ),
        ("RUN <<EOF\npip install \\\n  torch==2.11.0\nEOF", 1),
        ("RUN pip install \\\n  # newest\n  torch==2.11.0", 1),
        ("ARG T=2.11.0\nENV P torch\nRUN pip install ${P}==$T", 1),
        ("RUN pip install -r gone.txt", 7),
        ("RUN pip install torch==2.6.0", 0),
        (
            "RUN pip install torch==2.11.0 --index-url https://download.pytorch.org/whl/cu126",
            0,
        ),
    ] {
        let text = format!("FROM ubuntu:22.04\n{line}\n");
        let (got, doc) = of_file(home, "Dockerfile", &text, h550.0, h550.1);
        assert_eq!(got, code, "{line}\n{doc:#}");
    }
    for (image, code) in [
        ("nvidia/cuda:13.0.1-devel-ubuntu22.04", 1),
        ("${REG:-nvcr.io}/nvidia/cuda:13.0.1-devel-ubuntu22.04", 1),
        ("pytorch/pytorch:2.9.0-cuda13.0-cudnn9-runtime", 1),
        ("vllm/vllm-openai:v0.11.0", 0),
        ("tensorflow/tensorflow:2.19.0-gpu", 0),
        ("nvcr.io/nvidia/pytorch:25.03-py3", 7),
        ("ubuntu:22.04", 7),
    ] {
        let text = format!("FROM {image}\nRUN echo\n");
        let (got, doc) = of_file(home, "Dockerfile", &text, h550.0, h550.1);
        let code = if code == 0 && got == 0 { 0 } else { code };
        assert_eq!(got, code, "{image}\n{doc:#}");
    }
    let text = "ARG CUDA=13.0.1\nFROM nvidia/cuda:${CUDA}-devel-ubuntu22.04\n";
    assert_eq!(of_file(home, "Dockerfile", text, h550.0, h550.1).0, 1);
}

#[test]
fn an_index_says_which_wheel_is_meant() {
    let home = &Home::new();
    let (driver, gpu) = ("570.124.06", "NVIDIA GeForce RTX 5090");
    let whl = "https://download.pytorch.org/whl";
    home.file("base.txt", "torch==2.15.0\n");
    home.file("limits.txt", "torch==2.6.0\n");
    for (text, code) in [
        (format!("--index-url {whl}/cu128\ntorch==2.7.0\n"), 0),
        (format!("torch==2.7.0\n--extra-index-url={whl}/cu128\n"), 0),
        ("torch==2.7.0\n".to_owned(), 1),
        ("-r base.txt\n".to_owned(), 1),
        ("--requirement=base.txt\n".to_owned(), 1),
        ("-c limits.txt\ntorch\n".to_owned(), 1),
        ("torch==2.8.0\n-r gone.txt\n".to_owned(), 7),
        (
            format!("torch @ {whl}/cu128/torch-2.7.0%2Bcu128-cp311-cp311-linux_x86_64.whl\n"),
            0,
        ),
        (
            "torch @ file:///x/torch-2.7.0+cu128-cp311-cp311-linux_x86_64.whl\n".to_owned(),
            0,
        ),
        (
            "torch==2.8.0\ntorch==2.0.1 ; sys_platform == 'darwin'\n".to_owned(),
            0,
        ),
        (
            "torch==2.8.0 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\n".to_owned(),
            0,
        ),
        (
            "vllm @ git+https://github.com/vllm-project/vllm\n".to_owned(),
            7,
        ),
    ] {
        let (got, doc) = of_file(home, "requirements.txt", &text, driver, gpu);
        assert_eq!(got, code, "{text}\n{doc:#}");
    }
    let index =
        format!("[[tool.uv.index]]\nname = \"c\"\nurl = \"{whl}/cu128\"\nexplicit = true\n");
    let project = format!(
        "[project]\nname = \"x\"\ndependencies = [\"torch==2.7.0\"]\n[tool.uv.sources]\ntorch = [{{ index = \"c\", marker = \"sys_platform == 'linux'\" }}]\n{index}"
    );
    assert_eq!(of_file(home, "pyproject.toml", &project, driver, gpu).0, 0);
    let poetry = |spec: &str| {
        format!(
            "[tool.poetry.dependencies]\npython = \"^3.11\"\ntorch = {spec}\n[[tool.poetry.source]]\nname = \"c\"\nurl = \"{whl}/cu128\"\n"
        )
    };
    for (spec, code) in [
        ("{ version = \"~2.7\", source = \"c\" }", 0),
        ("\"~2.7\"", 1),
        ("\"2.8.0\"", 0),
        ("{ git = \"https://github.com/pytorch/pytorch\" }", 7),
    ] {
        let (got, doc) = of_file(home, "pyproject.toml", &poetry(spec), driver, gpu);
        assert_eq!(got, code, "{spec}\n{doc:#}");
    }
    let lock = "version = 1\n[[package]]\nname = \"torch\"\nversion = \"2.7.0+cu128\"\n[[package]]\nname = \"vllm\"\nversion = \"0.9.0\"\n";
    let (got, doc) = of_file(home, "uv.lock", lock, driver, gpu);
    assert_eq!(got, 0, "{doc:#}");
}

#[test]
fn a_conda_environment_says_which_cuda_pytorch_comes_with() {
    let home = &Home::new();
    for (lines, code) in [
        ("  - pytorch=2.1.0\n  - pytorch-cuda=11.8\n", 0),
        ("  - pytorch-cuda=11.8\n  - pytorch=2.1.0\n", 0),
        ("  - pytorch=2.1.0\n  - cuda-version=11.8\n", 0),
        ("  - pytorch=2.1.0\n  - cudatoolkit=11.8\n", 0),
        ("  - pytorch=2.1.0=py3.11_cuda11.8_cudnn8.7.0_0\n", 0),
        ("  - pytorch 2.1.0 *cuda118*\n", 0),
        ("  - pytorch::pytorch=2.1.0\n", 1),
        ("  - pip:\n    - torch==2.1.0\n", 1),
    ] {
        let text =
            format!("name: x\nchannels:\n  - pytorch\ndependencies:\n  - python=3.11\n{lines}");
        let (got, doc) = of_file(
            home,
            "environment.yml",
            &text,
            "470.256.02",
            "NVIDIA A100-SXM4-40GB",
        );
        assert_eq!(got, code, "{lines}\n{doc:#}");
    }
}

#[test]
fn a_file_that_was_not_understood_never_passes() {
    let home = &Home::new();
    for (name, text, code) in [
        ("pyproject.toml", "[project\nname = 'x'\n", 2),
        (
            "uv.lock",
            "version = 1\n[[package]]\nname = \"torch\"\nversion = \"2.1",
            2,
        ),
        (
            "foo.md",
            "# Setup\n\nPlease install torch first, then run it.\n",
            7,
        ),
        (
            "setup.py",
            "from setuptools import setup\nsetup(install_requires=['torch==2.15.0'])\n",
            7,
        ),
        (
            "requirements.txt",
            "./dist/torch-2.15.0-cp312-cp312-linux_x86_64.whl\n",
            1,
        ),
        ("requirements.txt", "to\\\nrch==2.15.0\n", 1),
        ("requirements.txt", "numpy\n", 7),
        ("requirements.txt", "# none\n", 7),
        ("requirements.txt", "-e .\n", 7),
        (
            "environment.yml",
            "dependencies:\n  - pytorch::pytorch=2.15\n",
            1,
        ),
        (
            "environment.yml",
            "dependencies: [pytorch=2.15, {pip: [vllm==0.9.0]}]\n",
            1,
        ),
        (
            "environment.yml",
            "dependencies: [python=3.11, {pip: [vllm==0.9.0]}]\n",
            1,
        ),
        (
            "Dockerfile",
            "FROM ubuntu:22.04\nRUN <<EOF\npip install torch==2.15.0\nEOF\n",
            1,
        ),
    ] {
        let (got, doc) = of_file(home, name, text, "470.82.01", "NVIDIA A100-SXM4-40GB");
        assert_eq!(got, code, "{name} {text}\n{doc:#}");
    }
}

#[test]
fn all_captures_of_a_file_are_judged() {
    let home = &Home::new();
    let new = table("590.48.01", "13.1", "NVIDIA H200", 143_771, 1);
    let old = table("535.183.01", "12.2", "NVIDIA A10", 23_028, 1);
    let both = home.file("both.txt", format!("{new}\n{old}"));
    let run = accept(home, &[&both, "--need", "torch==2.11.0"]).exits(1);
    assert!(run.out.contains("NVIDIA A10"), "{}", run.out);
    let read = home.json(&["probe", "read", &both]);
    assert_eq!(
        read["data"].as_array().or(read.as_array()).map(Vec::len),
        Some(2),
        "{read:#}"
    );
    // a log of one machine is one machine
    let log = home.file("log.txt", new.repeat(30));
    let doc = accept(home, &[&log, "--need", "torch==2.11.0"]).json();
    assert_eq!(doc["machine"]["gpus"][0]["count"], 1, "{doc:#}");
    // the first is cut, however whole the second is
    let cut = home.file("cut.txt", format!("{}\n{new}", &new[..new.len() - 200]));
    accept(home, &[&cut, "--need", "torch==2.11.0"]).exits(7);
}

#[test]
fn half_a_capture_and_a_missing_driver_never_pass() {
    let home = &Home::new();
    let good = table("590.48.01", "13.1", "NVIDIA H200", 143_771, 1);
    let failed = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n";
    for (text, code) in [
        (
            "driver_version, name\n580.95.05, NVIDIA A10\n470.82.01, NVIDIA A10\n".to_owned(),
            7,
        ),
        (
            "name, driver_version\nNVIDIA H100 PCIe, 580.95.05\nNVIDIA H100 PCIe, 5".to_owned(),
            7,
        ),
        ("name, driver_version\nNVIDIA H100 PCIe, 58".to_owned(), 7),
        (format!("{failed}{good}"), 7),
        (format!("{good}{failed}"), 7),
    ] {
        let file = home.file("capture.txt", &text);
        let run = accept(home, &[&file, "--need", "torch==2.6.0"]);
        assert_eq!(run.code, code, "{text}\n{}", run.out);
    }
    let typed = |driver: &str, gpu: &str| {
        accept(
            home,
            &["--driver", driver, "--gpu", gpu, "--need", "torch==2.6.0"],
        )
    };
    for gpu in ["A100:0", "A100:-1", "A100:1e3", "A100:99999999999999999999"] {
        typed("580.95.05", gpu).exits(2);
    }
    typed("58", "NVIDIA A10").exits(7);
    let run = typed("12.4", "NVIDIA A10").exits(2);
    assert!(run.err.contains("CUDA"), "{}", run.err);
    let run = typed("900.0", "NVIDIA A10").exits(0);
    assert!(run.out.contains("newer"), "{}", run.out);
}

#[test]
fn what_is_usual_in_wsl_and_on_laptops_is_no_fault() {
    let home = &Home::new();
    let gpu = "NVIDIA GeForce RTX 3060 Laptop GPU";
    let text = table("537.13", "12.2", gpu, 6144, 1);
    let text = text.replace("NVIDIA-SMI 537.13 ", "NVIDIA-SMI 535.103");
    for name in [gpu, "NVIDIA GeForce RTX 3060 ..."] {
        let file = home.file("wsl.txt", text.replace(gpu, name));
        let run = accept(home, &[&file, "--need", "torch==2.6.0"]);
        let doc = run.json();
        assert!(verdicts(&doc, "health").is_empty(), "{doc:#}");
        assert!(verdicts(&doc, "memory").is_empty(), "{doc:#}");
        assert_eq!(verdicts(&doc, "need"), ["warn"], "{doc:#}");
    }
    // on Linux it is one
    let linux = text.replace("537.13", "535.183.01");
    let file = home.file("linux.txt", &linux);
    let doc = accept(home, &[&file]).json();
    assert_eq!(verdicts(&doc, "health"), ["warn"], "{doc:#}");
}

#[test]
fn the_reason_says_which_release_was_judged() {
    let home = &Home::new();
    let args = ["--driver", "580.95.05", "--gpu", "NVIDIA H100 80GB HBM3"];
    let run = accept(
        home,
        &[&args[..], &["--need", "torch", "--need", "cudnn"]].concat(),
    );
    let doc = run.exits(0).json();
    let reason = |of: &str| need(&doc, of)["reason"].as_str().map(str::to_owned);
    let torch = reason("torch").unwrap_or_default();
    assert!(torch.starts_with("torch 2.15.0: "), "{torch}");
    assert_eq!(need(&doc, "torch")["code"], "driver_minor");
    let cudnn = reason("cudnn").unwrap_or_default();
    assert!(!cudnn.contains("Brings CUDA"), "{cudnn}");
    assert_eq!(
        need(&doc, "cudnn")["install"],
        "pip install 'nvidia-cudnn-cu13==9.28.1.*'"
    );
}

/// `live` asks the machine's own nvidia-smi; here a script stands for it.
#[test]
fn the_machine_itself_is_asked() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let bin = home.path("bin");
    std::fs::create_dir(&bin).expect("a folder");
    let ask = |script: Option<&str>| {
        let program = bin.join("nvidia-smi");
        let _ = std::fs::remove_file(&program);
        if let Some(script) = script {
            std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a script");
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&program, mode).expect("executable");
        }
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let args = [
            "accept",
            "driver",
            "live",
            "--need",
            "torch==2.6.0",
            "-o",
            "json",
        ];
        home.run_with(&args, &[("PATH", &path)])
    };
    let listing = "test \"$1\" = -q && cat <<END\n\n==============NVSMI LOG==============\n\n\
                   Timestamp                                 : Mon Nov 30 12:00:00 2026\n\
                   Driver Version                            : 580.95.05\n\
                   CUDA Version                              : 13.0\n\n\
                   Attached GPUs                             : 1\n\
                   GPU 00000000:01:00.0\n    Product Name                          : NVIDIA A10\n\
                   \x20   FB Memory Usage\n        Total                             : 23028 MiB\n\
                   \x20   Processes                             : None\n\nEND";
    let run = ask(Some(listing));
    let doc = run.json();
    assert_eq!(doc["machine"]["driver"], "580.95.05", "{doc:#}");
    assert_eq!(doc["machine"]["gpus"][0]["name"], "NVIDIA A10");
    assert_eq!(doc["evidence"][0]["from"], "nvidia-smi -q");
    run.exits(0);
    // a driver that is not there is what nvidia-smi says, and an answer
    let run = ask(Some(
        "echo \"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\"; exit 9",
    ));
    assert_eq!(run.exits(7).json()["verdict"], "unknown");
    ask(None).says(3, &["nvidia-smi"]);
}

/// Markers in another script, which a parser that cuts by bytes does not survive.
#[test]
fn markers_that_are_none_are_no_panic() {
    let home = Home::new();
    for text in [
        "torch==2.6.0 ; python_version > \u{fffd}",
        "torch ; 系统 == '\u{fffd}\u{fffd}'",
        "x ; a \u{fffd}",
    ] {
        let file = home.file("requirements.txt", text);
        let args = [
            "accept",
            "driver",
            "--driver",
            "580.95.05",
            "--gpu",
            "A10",
            "--needs",
            &file,
        ];
        assert_ne!(home.run(&args).code, 70, "{text}");
        let freeze = home.file("freeze.txt", text);
        assert_ne!(home.run(&["accept", "env", &freeze]).code, 70, "{text}");
    }
}
