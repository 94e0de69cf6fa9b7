//! `accept env` through the real binary: environments made by pip, archives as docker and skopeo write them, lists as people
//! paste them, and rubbish. Peers: python3 with venv and pip.

mod common;

use common::{Home, Run, finding};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

fn env(home: &Home, args: &[&str]) -> Run {
    home.run(&[&["accept", "env"], args, &["-o", "json"]].concat())
}

fn rules(doc: &Value) -> Vec<(String, String, String)> {
    let text = |v: &Value| v.as_str().unwrap_or("").to_owned();
    let findings = doc["findings"].as_array().expect("findings");
    findings
        .iter()
        .map(|f| (text(&f["rule"]), text(&f["subject"]), text(&f["verdict"])))
        .collect()
}

/// METADATA of a package.
fn metadata(name: &str, version: &str, requires: &[&str]) -> String {
    let mut text = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
    for r in requires {
        text += &format!("Requires-Dist: {r}\n");
    }
    text + "\nA description\nRequires-Dist: not-this-one\n"
}

/// A virtual environment by its files alone.
struct Venv<'a> {
    home: &'a Home,
    name: &'static str,
}

impl<'a> Venv<'a> {
    fn new(home: &'a Home, name: &'static str, python: &str) -> Venv<'a> {
        home.file(
            &format!("{name}/pyvenv.cfg"),
            format!("home = /usr/bin\ninclude-system-site-packages = false\nversion = {python}\n"),
        );
        Venv { home, name }
    }

    fn package(&self, name: &str, version: &str, requires: &[&str]) -> &Venv<'a> {
        self.text(name, version, &metadata(name, version, requires))
    }

    fn text(&self, name: &str, version: &str, metadata: &str) -> &Venv<'a> {
        let place = self.name;
        let folder = format!("{place}/lib/python3.11/site-packages/{name}-{version}.dist-info");
        self.home.file(&format!("{folder}/METADATA"), metadata);
        self
    }

    fn torch_file(&self, cuda: &str) -> &Venv<'a> {
        let place = self.name;
        let file = format!("{place}/lib/python3.11/site-packages/torch/version.py");
        self.home.file(
            &file,
            format!("cuda: Optional[str] = {cuda}\nhip: Optional[str] = None\n"),
        );
        self
    }

    fn path(&self) -> String {
        self.home.path(self.name).display().to_string()
    }
}

/// A Python of the machine, or the reason why not.
#[expect(clippy::print_stdout, reason = "a test that does nothing says why")]
fn python(home: &Home) -> Option<String> {
    let found = Command::new("python3")
        .args(["-m", "venv", "real"])
        .current_dir(home.text())
        .output();
    match found {
        Ok(out) if out.status.success() => Some(home.path("real").display().to_string()),
        other => {
            assert!(
                std::env::var_os("CI").is_none(),
                "testkit/peers.sh install brings python3 with venv: {other:?}"
            );
            println!("skipped: no python3 with venv here");
            None
        }
    }
}

#[track_caller]
fn pip(venv: &str, args: &[&str]) {
    let quiet = ["-m", "pip", "--disable-pip-version-check", "-q"];
    let out = Command::new(format!("{venv}/bin/python"))
        .args([&quiet[..], args].concat())
        .output()
        .expect("pip");
    assert!(
        out.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&out.stderr)
    );
}

#[test]
fn a_saved_environment_is_compared_and_brought_back_by_pip() {
    let home = &Home::new();
    let Some(venv) = &python(home) else { return };
    pip(
        venv,
        &["install", "six==1.16.0", "idna==3.4", "packaging==24.0"],
    );
    let lock = home.path("lock.json").display().to_string();
    env(home, &[venv, "--save", &lock]).exits(0);
    let saved: Value =
        serde_json::from_str(&std::fs::read_to_string(&lock).expect("lock")).expect("JSON");
    assert_eq!(saved["schema"], "lessee/environment/v1");
    let packages = saved["pythons"][0]["packages"]
        .as_array()
        .expect("packages");
    let six = packages.iter().find(|p| p["name"] == "six").expect("six");
    assert_eq!(six["version"], "1.16.0");
    assert_eq!(six["content"].as_str().expect("hash").len(), 64);
    // a lock is never written over
    env(home, &[venv, "--save", &lock]).exits(2);
    assert_eq!(
        env(home, &["--diff", &lock]).exits(0).json()["changes"],
        json!([])
    );

    pip(venv, &["install", "six==1.17.0", "iniconfig==2.0.0"]);
    pip(venv, &["uninstall", "--yes", "idna"]);
    let file = format!("{venv}/lib");
    let site = std::fs::read_dir(&file)
        .expect("lib")
        .next()
        .expect("python")
        .expect("entry");
    let record = site
        .path()
        .join("site-packages/packaging-24.0.dist-info/RECORD");
    let text = std::fs::read_to_string(&record).expect("RECORD");
    std::fs::write(&record, text.replace("sha256=", "sha256=X")).expect("RECORD");
    let doc = env(home, &["--diff", &lock]).exits(1).json();
    let changes = doc["changes"].as_array().expect("changes");
    let told: Vec<(&str, &str)> = changes
        .iter()
        .map(|c| {
            (
                c["name"].as_str().expect("name"),
                c["change"].as_str().expect("change"),
            )
        })
        .collect();
    let expected = [
        ("idna", "removed"),
        ("iniconfig", "added"),
        ("packaging", "content"),
        ("six", "version"),
    ];
    assert_eq!(told, expected);

    let doc = env(home, &["--rollback", &lock, "--dry-run"])
        .exits(0)
        .json();
    assert_eq!(doc["ran"], false);
    let lines: Vec<&str> = doc["steps"]
        .as_array()
        .expect("steps")
        .iter()
        .map(|s| s["line"].as_str().expect("line"))
        .collect();
    assert!(
        lines[0].ends_with(
            "install --no-deps --force-reinstall -- idna==3.4 packaging==24.0 six==1.16.0"
        ),
        "{lines:?}"
    );
    assert!(
        lines[1].ends_with("uninstall --yes -- iniconfig"),
        "{lines:?}"
    );
    // printed, not run: the changes are still there
    env(home, &["--rollback", &lock]).exits(0);
    assert_eq!(
        env(home, &["--diff", &lock]).exits(1).json()["changes"]
            .as_array()
            .map(Vec::len),
        Some(4)
    );

    let mut command = home.command(&["accept", "env", "--rollback", &lock, "--yes", "-o", "json"]);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let doc = Run::of(command).exits(0).json();
    assert_eq!(doc["left"], json!([]));
    assert_eq!(doc["exits"], json!([0, 0]));
    assert_eq!(
        env(home, &["--diff", &lock]).exits(0).json()["changes"],
        json!([])
    );
}

#[test]
fn requirements_are_checked_as_pip_checks_them() {
    let home = &Home::new();
    let Some(venv) = &python(home) else { return };
    pip(venv, &["install", "requests==2.31.0"]);
    env(home, &[venv, "--need", "requests"]).exits(0);
    pip(venv, &["install", "--no-deps", "idna==2.4"]);
    pip(venv, &["uninstall", "--yes", "certifi"]);
    let checked = Command::new(format!("{venv}/bin/python"))
        .args(["-m", "pip", "check"])
        .output()
        .expect("pip");
    let theirs = String::from_utf8_lossy(&checked.stdout).into_owned();
    let doc = env(home, &[venv, "--need", "requests"]).exits(1).json();
    let mine: Vec<_> = rules(&doc)
        .into_iter()
        .filter(|(rule, ..)| rule == "requires")
        .collect();
    assert_eq!(
        mine.len(),
        theirs.trim().lines().count(),
        "{theirs}\n{mine:?}"
    );
    assert!(
        theirs.contains("idna") && theirs.contains("certifi"),
        "{theirs}"
    );
    assert!(
        mine.iter()
            .all(|(_, s, v)| s == "requests 2.31.0" && v == "fail"),
        "{mine:?}"
    );
    // nobody needs it: it is said, and stops nothing
    env(home, &[venv]).exits(0);
}

#[test]
fn markers_extras_and_pythons_are_told() {
    let home = &Home::new();
    let venv = Venv::new(home, "venv", "3.11.4");
    venv.package(
        "app",
        "1.0",
        &[
            "old-only ; python_version < '3.8'",
            "windows-only ; sys_platform == 'win32'",
            "extra-only ; extra == 'gpu'",
            "Dashed.Name >= 1",
            "pinned ~= 2.1",
        ],
    );
    venv.package("dashed_name", "1.5", &[])
        .package("pinned", "2.9", &[]);
    let doc = env(home, &[&venv.path(), "--need", "app"]).exits(0).json();
    assert!(rules(&doc).iter().all(|(r, ..)| r != "requires"), "{doc:#}");
    venv.package("arm", "1.0", &["arm-only ; platform_machine == 'x86_64'"]);
    let text = metadata("new", "1.0", &[]).replace("\n\nA", "\nRequires-Python: >=3.12\n\nA");
    venv.text("new", "1.0", &text);
    let doc = env(home, &[&venv.path(), "--need", "new"]).exits(1).json();
    assert_eq!(
        finding(&doc, "requires-python", "new 1.0")["verdict"],
        "fail"
    );
    assert_eq!(finding(&doc, "requires", "arm 1.0")["verdict"], "warn");
}

/// What was unpacked for another Python or another system cannot be loaded.
#[test]
fn a_wheel_of_another_platform_is_no_package() {
    let home = &Home::new();
    let venv = Venv::new(home, "venv", "3.11.7");
    venv.package("torch", "2.6.0", &[])
        .package("tqdm", "4.67.0", &[]);
    let wheel = |name: &str, tags: &str| {
        let folder = format!("venv/lib/python3.11/site-packages/{name}.dist-info");
        home.file(
            &format!("{folder}/WHEEL"),
            format!("Wheel-Version: 1.0\n{tags}"),
        );
    };
    let look = || env(home, &[&venv.path()]).json();
    wheel("tqdm-4.67.0", "Tag: py3-none-any\n");
    wheel("torch-2.6.0", "Tag: cp311-cp311-manylinux1_x86_64\n");
    let good = look();
    assert!(
        rules(&good).iter().all(|(rule, ..)| rule != "wheel"),
        "{good:#}"
    );
    for tag in ["cp39-cp39-manylinux1_x86_64", "cp311-cp311-win_amd64"] {
        wheel("torch-2.6.0", &format!("Tag: {tag}\n"));
        let doc = look();
        let found = finding(&doc, "wheel", "torch 2.6.0");
        assert_eq!(found["verdict"], "fail", "{tag}: {doc:#}");
        assert!(found["reason"].as_str().unwrap().contains(tag));
    }
    // what no framework rests upon is a warning
    wheel("torch-2.6.0", "Tag: cp311-cp311-manylinux1_x86_64\n");
    wheel("tqdm-4.67.0", "Tag: cp39-cp39-win_amd64\n");
    assert_eq!(finding(&look(), "wheel", "tqdm")["verdict"], "warn");
}

#[test]
fn frameworks_are_judged_in_the_build_that_lies_there() {
    let home = &Home::new();
    let venv = Venv::new(home, "venv", "3.11.4");
    venv.package(
        "torch",
        "2.11.0",
        &["triton==3.6.0 ; platform_system == 'Linux'"],
    )
    .torch_file("'13.0'");
    venv.package("triton", "3.6.0", &[]);
    let a100 = ["--gpu", "NVIDIA A100-SXM4-80GB:8"];
    let args = |driver| {
        [
            &[venv.path().leak() as &str][..],
            &["--driver", driver, "--need", "torch"],
            &a100,
        ]
        .concat()
    };
    let doc = env(home, &args("580.95.05")).exits(0).json();
    assert_eq!(
        finding(&doc, "installed", "torch 2.11.0+cu130")["verdict"],
        "pass"
    );
    assert_eq!(finding(&doc, "need", "torch")["code"], "env_need_there");
    assert_eq!(doc["environment"]["setup"]["image"], "ready");
    let doc = env(home, &args("535.183.01")).exits(1).json();
    assert_eq!(finding(&doc, "need", "torch")["verdict"], "fail");
    let repair = &doc["environment"]["repair"];
    assert_eq!(repair["items"][0]["repair"], "framework");
    let line = repair["items"][0]["line"].as_str().expect("a line");
    assert!(line.starts_with("pip install torch=="), "{line}");
    assert_eq!(doc["environment"]["setup"]["image"], "adapt");
    let hours = doc["environment"]["setup"]["labour_hours"]
        .as_f64()
        .expect("hours");
    assert!(hours > 0.5, "{hours}");
    // the wheel of the same number for another CUDA runs there
    venv.torch_file("'12.6'");
    let doc = env(home, &args("535.183.01")).exits(0).json();
    assert_eq!(
        finding(&doc, "installed", "torch 2.11.0+cu126")["verdict"],
        "warn"
    );
    // no code for the card
    let v100 = ["--driver", "580.95.05", "--gpu", "Tesla V100-SXM2-16GB"];
    venv.torch_file("'13.0'");
    let doc = env(home, &[&[venv.path().as_str()][..], &v100].concat())
        .exits(1)
        .json();
    assert_eq!(finding(&doc, "installed", "torch")["verdict"], "fail");
}

#[test]
fn lists_are_judged_by_what_belongs_together() {
    let home = &Home::new();
    let freeze = home.file("freeze.txt", "torch==2.6.0\ntorchvision==0.20.0\ntriton==3.2.0\nvllm==0.20.2\nflash_attn==2.8.3+cu12torch2.5cxx11abiFALSE\n");
    let doc = env(home, &[&freeze]).exits(1).json();
    let pair = finding(&doc, "pair", "torchvision");
    assert_eq!(pair["verdict"], "fail");
    assert_eq!(pair["install"], "pip install torchvision==0.21.0");
    assert_eq!(finding(&doc, "pair", "vllm")["verdict"], "fail");
    assert_eq!(finding(&doc, "compiled", "flash_attn")["verdict"], "fail");
    assert_eq!(finding(&doc, "requires", &freeze)["verdict"], "warn");
    let good = home.file(
        "good.txt",
        "torch==2.6.0\ntorchvision==0.21.0\ntorchaudio==2.6.0\ntriton==3.2.0\nnumpy==2.1.0\n",
    );
    let doc = env(home, &[&good, "--need", "torch>=2.6", "--need", "numpy"])
        .exits(0)
        .json();
    assert!(rules(&doc).iter().all(|(r, ..)| r != "pair"), "{doc:#}");
    let old = home.file("old.txt", "torch==2.2.2\nnumpy==2.1.0\n");
    let doc = env(home, &[&old]).exits(1).json();
    let pair = finding(&doc, "pair", "torch 2.2.2");
    assert!(
        pair["source"]
            .as_str()
            .is_some_and(|s| s.contains("pytorch")),
        "{pair}"
    );
    // what an install would compile or take is no matter of what lies there
    let there = home.file(
        "there.txt",
        "jax==0.7.2\njaxlib==0.7.2\njax-cuda12-plugin==0.7.2\njax-cuda12-pjrt==0.7.2\nnvidia-cudnn-cu12==9.10.2.21\n",
    );
    let v100 = ["--driver", "580.95.05", "--gpu", "Tesla V100-SXM2-16GB"];
    let doc = env(home, &[&[there.as_str()][..], &v100].concat()).json();
    assert_eq!(finding(&doc, "installed", "jax 0.7.2")["verdict"], "pass");
    let built = home.file("built.txt", "torch==2.6.0\nflash_attn==2.8.3\n");
    let a100 = ["--driver", "580.95.05", "--gpu", "NVIDIA A100-SXM4-80GB"];
    let doc = env(home, &[&[built.as_str()][..], &a100].concat()).json();
    let flash = finding(&doc, "installed", "flash_attn 2.8.3");
    assert_eq!(flash["verdict"], "pass", "{flash}");
    // a list of the system's packages says nothing of Python's
    let dpkg = home.file("dpkg.txt", DPKG);
    let doc = env(home, &[&dpkg, "--need", "torch"]).exits(7).json();
    assert_eq!(finding(&doc, "need", "torch")["code"], "env_need_unshown");
    let doc = env(home, &[&dpkg, &good, "--need", "torch", "--need", "flask"])
        .exits(1)
        .json();
    assert_eq!(finding(&doc, "need", "torch")["verdict"], "pass");
    assert_eq!(
        finding(&doc, "need", "flask")["install"],
        "pip install flask"
    );
}

const DPKG: &str = "期望状态=未知(u)/安装(i)/删除(r)/清除(p)/保持(h)
| 状态=未安装(n)/配置文件(c)
||/ 名称                  版本            体系结构     描述
+++-=====================-===============-============-=================================================================
ii  libc6:amd64           2.36-9+deb12u8  amd64        GNU C 语言运行库：共享库
ii  libcudnn9-cuda-12     9.1.0.70-1      amd64        cuDNN runtime libraries
rc  removed               1.0             amd64        gone
";

#[test]
fn each_kind_of_list_is_known_by_its_content() {
    let home = &Home::new();
    let conda = "# packages in environment at /opt/conda:\n#\n# Name   Version  Build  Channel\npython   3.11.7   h955ad1f_0\npytorch  2.5.1  py3.11_cuda12.4_cudnn9.1.0_0  pytorch\nidna  3.4  pypi_0  pypi\n";
    let export = "# This file may be used to create an environment using:\n# $ conda create --name <env> --file <this file>\n# platform: linux-64\npython=3.11.7=h955ad1f_0\nsix=1.16.0=pyhd3eb1b0_1\n";
    let json = r#"[{"base_url": "https://conda.anaconda.org/conda-forge", "build_number": 0, "build_string": "py311h_0", "channel": "conda-forge", "dist_name": "numpy-1.26.4-py311h_0", "name": "numpy", "platform": "linux-64", "version": "1.26.4"}]"#;
    let status = "Package: bash\nStatus: install ok installed\nArchitecture: amd64\nVersion: 5.2.15-2+b7\n\nPackage: gone\nStatus: deinstall ok config-files\nVersion: 1\n";
    let rpm = "bash-5.1.8-9.el9.x86_64\ncuda-toolkit-12-4-12.4.1-1.x86_64\ngpg-pubkey-fd431d51-4ae0493b\n";
    let list = "Package Version\r\n------- -------\r\nsix     1.16.0\r\n";
    for (text, kind, packages) in [
        (conda, "conda_list", 3),
        (export, "conda_export", 2),
        (json, "conda_json", 1),
        (status, "dpkg_status", 1),
        (DPKG, "dpkg_list", 2),
        (rpm, "rpm_list", 2),
        (list, "pip_list", 1),
        (
            "six==1.16.0\n-e git+https://u:secret@host/x@c0ffee#egg=mine\n",
            "pip_freeze",
            2,
        ),
    ] {
        let file = home.file("list", text);
        let run = env(home, &[&file]);
        assert!(!run.out.contains("secret"), "{}", run.out);
        let doc = run.exits(0).json();
        let found = &doc["environment"];
        assert_eq!(found["sources"][0]["kind"], kind, "{text}");
        let count = |key: &str| found["pythons"][0][key].as_u64().unwrap_or(0);
        let all = count("packages").max(count("conda_packages"))
            + found["system_packages"].as_u64().unwrap_or(0);
        let extra = u64::from(kind == "conda_list"); // one of pip's beside two of conda's
        assert_eq!(all + extra, packages, "{kind}: {found:#}");
    }
    // UTF-16, as PowerShell writes it
    let utf16: Vec<u8> = [0xFF, 0xFE]
        .into_iter()
        .chain("six==1.16.0\n".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let file = home.file("list", utf16);
    assert_eq!(
        env(home, &[&file]).exits(0).json()["environment"]["sources"][0]["kind"],
        "pip_freeze"
    );
}

#[test]
fn what_cannot_be_read_is_never_a_pass() {
    let home = &Home::new();
    let mut noise = vec![0u8; 300_000];
    let mut state = 1u32;
    for b in &mut noise {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *b = (state >> 24) as u8;
    }
    let layered = docker(&[vec![("x".to_owned(), b"y".to_vec())]]);
    let gz = packed(&layered);
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("blank", b" \n\n".to_vec()),
        ("noise", noise),
        (
            "smi",
            b"NVIDIA-SMI 535.183.01   Driver Version: 535.183.01\n".to_vec(),
        ),
        ("prose", b"The environment is ready, trust us.\n".to_vec()),
        ("html", b"<html><body>404</body></html>".to_vec()),
        ("json", b"{\"a\": 1}".to_vec()),
        ("lock", b"{\"schema\": \"lessee/environment/v1\"}".to_vec()),
        ("nothing.tar", layered.clone()),
        ("cut.tar", layered[..layered.len() / 2].to_vec()),
        ("cut.tar.gz", gz[..gz.len() / 2].to_vec()),
        ("gzip", vec![0x1f, 0x8b, 8, 0]),
        ("zstd", vec![0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3]),
    ] {
        let file = home.file(name, bytes);
        let doc = env(home, &[&file, "--need", "torch"]).exits(7).json();
        assert_eq!(
            finding(&doc, "need", "torch")["verdict"],
            "unknown",
            "{name}"
        );
        let read = finding(&doc, "read", "");
        assert!(
            read["reason"].as_str().is_some_and(|r| !r.is_empty()),
            "{name}"
        );
        // nothing of it is kept as if it were an environment
        let lock = home.path("never.json").display().to_string();
        env(home, &[&file, "--save", &lock]).exits(7);
        assert!(!Path::new(&lock).exists(), "{name}");
    }
    // a gigabyte that is no archive
    let large = home.file("large", b"x=1\n");
    std::fs::File::options()
        .write(true)
        .open(&large)
        .and_then(|f| f.set_len(1 << 30))
        .expect("sparse");
    env(home, &[&large]).exits(7);
    env(home, &["/nonexistent"]).exits(2);
}

type Files = Vec<(String, Vec<u8>)>;

fn tar(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder
            .append_data(&mut header, path, &content[..])
            .expect("member");
    }
    builder.into_inner().expect("tar")
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("gzip");
    encoder.finish().expect("gzip")
}

/// As `docker save` writes it: layers first, the list that orders them last.
fn docker(layers: &[Files]) -> Vec<u8> {
    let hex = |b: &[u8]| {
        Sha256::digest(b)
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect::<String>()
    };
    let mut files = Vec::new();
    let mut paths = Vec::new();
    for (at, layer) in layers.iter().enumerate() {
        let mut bytes = tar(layer);
        if at % 2 == 1 {
            bytes = packed(&bytes);
        }
        let path = format!("blobs/sha256/{}", hex(&bytes));
        files.push((path.clone(), bytes));
        paths.push(path);
    }
    let config = br#"{"architecture": "arm64", "os": "linux"}"#.to_vec();
    let place = format!("blobs/sha256/{}", hex(&config));
    files.push((place.clone(), config));
    let list = json!([{"Config": place, "RepoTags": ["x:1"], "Layers": paths}]);
    files.push(("manifest.json".to_owned(), list.to_string().into_bytes()));
    tar(&files)
}

fn site(name: &str, version: &str, requires: &[&str]) -> (String, Vec<u8>) {
    let path = format!("opt/venv/lib/python3.11/site-packages/{name}-{version}.dist-info/METADATA");
    (path, metadata(name, version, requires).into_bytes())
}

fn image() -> Vec<Files> {
    let at = |p: &str, text: &str| (p.to_owned(), text.as_bytes().to_vec());
    vec![
        vec![
            at("etc/os-release", "PRETTY_NAME=\"Ubuntu 22.04.5 LTS\"\n"),
            at("opt/venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.4\n"),
            at(
                "var/lib/dpkg/status",
                "Package: bash\nStatus: install ok installed\nArchitecture: arm64\nVersion: 5.1\n",
            ),
            at(
                "usr/local/cuda-12.4/version.json",
                r#"{"cuda": {"version": "12.4.1"}, "cuda_nvcc": {"version": "12.4.131"}}"#,
            ),
            at(
                "usr/include/cudnn_version.h",
                "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 1\n#define CUDNN_PATCHLEVEL 0\n",
            ),
            at("usr/lib/x86_64-linux-gnu/libcuda.so.535.183.01", ""),
            site("six", "1.16.0", &[]),
            site("gone", "1.0", &[]),
            site("hidden", "1.0", &[]),
        ],
        vec![
            at(
                "opt/venv/lib/python3.11/site-packages/.wh.gone-1.0.dist-info",
                "",
            ),
            at(
                "opt/venv/lib/python3.11/site-packages/hidden-1.0.dist-info/.wh..wh..opq",
                "",
            ),
            at(
                "opt/venv/lib/python3.11/site-packages/.wh.six-1.16.0.dist-info",
                "",
            ),
            site("six", "1.17.0", &[]),
        ],
    ]
}

fn versions(home: &Home, file: &str) -> Value {
    let lock = home.path("lock.json");
    let _ = std::fs::remove_file(&lock);
    let lock = lock.display().to_string();
    env(home, &[file, "--save", &lock]).exits(0);
    serde_json::from_str(&std::fs::read_to_string(lock).expect("lock")).expect("JSON")
}

#[test]
fn archives_are_read_layer_upon_layer() {
    let home = &Home::new();
    let saved = docker(&image());
    let merged: Files = vec![
        (
            "./etc/os-release".to_owned(),
            b"PRETTY_NAME='Debian'\n".to_vec(),
        ),
        site("six", "1.17.0", &[]),
    ];
    for (name, bytes) in [
        ("saved.tar", saved.clone()),
        ("saved.tar.gz", packed(&saved)),
        ("root.tar", tar(&merged)),
    ] {
        let lock = versions(home, &home.file(name, bytes));
        let packages = lock["pythons"][0]["packages"].as_array().expect("packages");
        let names: Vec<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
        assert_eq!(names, ["six"], "{name}");
        assert_eq!(packages[0]["version"], "1.17.0");
    }
    let file = home.path("saved.tar").display().to_string();
    let lock = versions(home, &file);
    assert_eq!(lock["arch"], "aarch64");
    assert_eq!(lock["os"], "Ubuntu 22.04.5 LTS");
    let libraries: Vec<String> = lock["libraries"]
        .as_array()
        .expect("libraries")
        .iter()
        .map(|l| {
            format!(
                "{} {}",
                l["kind"].as_str().unwrap_or(""),
                l["version"].as_str().unwrap_or("")
            )
        })
        .collect();
    assert_eq!(
        libraries,
        [
            "cuda 12.4.1",
            "nvcc 12.4.131",
            "cudnn 9.1.0",
            "libcuda 535.183.01"
        ]
    );
    let needs = [
        "--need",
        "cuda==12.4",
        "--need",
        "cudnn>=9",
        "--need",
        "python>=3.11",
        "--need",
        "cuda==12.6",
    ];
    let doc = env(home, &[&[file.as_str()][..], &needs].concat())
        .exits(1)
        .json();
    for (need, verdict) in [
        ("cuda==12.4", "pass"),
        ("cudnn>=9", "pass"),
        ("python>=3.11", "pass"),
        ("cuda==12.6", "fail"),
    ] {
        assert_eq!(finding(&doc, "need", need)["verdict"], verdict, "{need}");
    }
    assert_eq!(
        finding(&doc, "need", "cuda==12.6")["install"],
        "apt-get install cuda-toolkit-12-6"
    );
    assert_eq!(
        finding(&doc, "driver-library", "libcuda 535")["verdict"],
        "warn"
    );
}

#[test]
fn an_oci_layout_is_read_packed_and_as_a_folder() {
    let home = &Home::new();
    let hex = |b: &[u8]| {
        Sha256::digest(b)
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect::<String>()
    };
    let mut files: Files = vec![(
        "oci-layout".to_owned(),
        br#"{"imageLayoutVersion": "1.0.0"}"#.to_vec(),
    )];
    let mut layers = Vec::new();
    for layer in image() {
        let bytes = packed(&tar(&layer));
        layers.push(json!({"digest": format!("sha256:{}", hex(&bytes)), "mediaType": "application/vnd.oci.image.layer.v1.tar+gzip"}));
        files.push((format!("blobs/sha256/{}", hex(&bytes)), bytes));
    }
    let mut blob = |value: &Value| {
        let bytes = value.to_string().into_bytes();
        let digest = hex(&bytes);
        files.push((format!("blobs/sha256/{digest}"), bytes));
        format!("sha256:{digest}")
    };
    let config = blob(&json!({"architecture": "amd64", "os": "linux"}));
    let manifest =
        blob(&json!({"schemaVersion": 2, "config": {"digest": config}, "layers": layers}));
    // builders put attestations beside the image
    let other = blob(&json!({"schemaVersion": 2, "layers": []}));
    let inner = blob(&json!({"manifests": [
        {"digest": manifest, "platform": {"architecture": "amd64", "os": "linux"}},
        {"digest": other, "platform": {"architecture": "unknown", "os": "unknown"}},
    ]}));
    let index = json!({"manifests": [{"digest": inner}]});
    files.push(("index.json".to_owned(), index.to_string().into_bytes()));
    let archive = home.file("oci.tar", tar(&files));
    for (path, content) in &files {
        home.file(&format!("layout/{path}"), content);
    }
    let folder = home.path("layout").display().to_string();
    for place in [archive, folder] {
        let lock = versions(home, &place);
        assert_eq!(lock["arch"], "x86_64");
        assert_eq!(
            lock["pythons"][0]["packages"][0]["version"], "1.17.0",
            "{lock:#}"
        );
    }
}

#[test]
fn a_mounted_root_is_read_without_leaving_it() {
    let home = &Home::new();
    for (path, content) in image().concat().iter().filter(|(p, _)| !p.contains(".wh.")) {
        home.file(&format!("root/{path}"), content);
    }
    let root = home.path("root");
    std::os::unix::fs::symlink("/etc", root.join("link")).expect("link");
    std::os::unix::fs::symlink("..", root.join("opt/up")).expect("link");
    let doc = env(home, &["--root", root.to_str().expect("path")])
        .exits(0)
        .json();
    let found = &doc["environment"];
    assert_eq!(found["os"], "Ubuntu 22.04.5 LTS");
    assert_eq!(found["pythons"].as_array().map(Vec::len), Some(1));
    assert_eq!(found["system_packages"], 1);
    // six twice in one folder
    assert_eq!(finding(&doc, "twice", "six")["verdict"], "warn");
}

#[test]
fn changes_of_the_system_come_back_by_its_own_manager() {
    let home = &Home::new();
    let status = |bash: &str, more: &str| {
        format!(
            "Package: bash\nStatus: install ok installed\nArchitecture: amd64\nVersion: {bash}\n\nPackage: tar\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.34\n\n{more}"
        )
    };
    let before = home.file(
        "before",
        status(
            "5.1-6",
            "Package: less\nStatus: install ok installed\nVersion: 590\n",
        ),
    );
    let lock = home.path("lock.json").display().to_string();
    env(home, &[&before, "--save", &lock]).exits(0);
    let after = home.file(
        "after",
        status(
            "5.2-1",
            "Package: curl\nStatus: install ok installed\nVersion: 8\n",
        ),
    );
    let doc = env(home, &[&after, "--rollback", &lock]).exits(0).json();
    let lines: Vec<&str> = doc["steps"]
        .as_array()
        .expect("steps")
        .iter()
        .filter_map(|s| s["line"].as_str())
        .collect();
    assert_eq!(
        lines,
        [
            "apt-get install --yes --allow-downgrades -- bash=5.1-6 less=590",
            "apt-get remove --yes -- curl"
        ]
    );
    assert_eq!(doc["may_be_gone"], true);
    // of another machine: never run here
    env(home, &[&after, "--rollback", &lock, "--yes"]).exits(2);
}

#[test]
fn what_no_command_brings_back_is_said() {
    let home = &Home::new();
    let venv = Venv::new(home, "venv", "3.11.4");
    venv.package("mine", "1.0", &[])
        .package("wheel_of_mine", "2.0", &[])
        .package("torch", "2.6.0+cu124", &[])
        .package("evil", "1", &[]);
    let direct = |name: &str, text: &str| {
        home.file(
            &format!("venv/lib/python3.11/site-packages/{name}.dist-info/direct_url.json"),
            text,
        );
    };
    direct(
        "mine-1.0",
        r#"{"url": "file:///srv/mine", "dir_info": {"editable": true}}"#,
    );
    direct(
        "wheel_of_mine-2.0",
        r#"{"url": "file:///tmp/w.whl", "archive_info": {"hashes": {"sha256": "ab"}}}"#,
    );
    let lock = home.path("lock.json").display().to_string();
    env(home, &[&venv.path(), "--save", &lock]).exits(0);
    // whoever hands over a lock must not be able to hand over options
    let text = std::fs::read_to_string(&lock).expect("lock");
    std::fs::write(
        &lock,
        text.replace("\"evil\"", "\"--index-url=http://evil\""),
    )
    .expect("lock");
    std::fs::remove_dir_all(home.path("venv/lib")).expect("remove");
    let doc = env(home, &["--rollback", &lock]).exits(1).json();
    let lost: Vec<(&str, &str)> = doc["lost"]
        .as_array()
        .expect("lost")
        .iter()
        .map(|l| {
            (
                l["what"].as_str().expect("what"),
                l["why"].as_str().expect("why"),
            )
        })
        .collect();
    assert!(lost.contains(&("mine 1.0", "editable")), "{lost:?}");
    assert!(
        lost.contains(&("wheel_of_mine 2.0", "local_file")),
        "{lost:?}"
    );
    let lines = doc["steps"].to_string();
    assert!(
        lines.contains("https://download.pytorch.org/whl/cu124"),
        "{lines}"
    );
    assert!(!lines.contains("evil"), "{lines}");
    for rubbish in ["", "{}", "[]", "{\"schema\": \"lessee/plan/v1\"}"] {
        let file = home.file("rubbish.json", rubbish);
        env(home, &["--diff", &file]).exits(2);
        env(home, &["--rollback", &file, "--yes"]).exits(2);
    }
}

/// A job of ten GPU hours whose people cost 100 USD an hour.
const JOB: [&str; 11] = [
    "plan",
    "--kind",
    "hours",
    "--hours-gpu-hours",
    "10",
    "--hours-gpu",
    "A100-80GB",
    "--gpu",
    "A100-80GB:1",
    "--money-labour-rate",
    "100 USD",
];

#[test]
fn plan_prices_what_an_acceptance_found() {
    let home = &Home::new();
    let file = home.file("freeze.txt", "torch==2.6.0\ntorchvision==0.20.0\n");
    let page = home.run(&["accept", "env", &file]).exits(1).out;
    assert!(page.contains("--accepted"), "{page}");
    let made = env(home, &[&file]).exits(1);
    let accepted = home.file("accepted.json", &made.out);
    let hours = made.json()["environment"]["setup"]["labour_hours"].clone();
    assert!(hours.as_f64().is_some_and(|h| h > 0.5), "{hours}");
    let labour = |more: &[&str]| -> (Value, f64) {
        let plan = home.run(&[&JOB[..], more, &["-o", "json"]].concat());
        let doc = plan.exits(0).json();
        let lines = doc["options"][0]["bill"]["lines"]
            .as_array()
            .expect("lines");
        let sum = lines.iter().filter(|l| l["kind"] == "labour");
        let sum = sum.map(|l| {
            l["amount"]["amount"]
                .as_str()
                .unwrap()
                .parse::<f64>()
                .unwrap()
        });
        (doc["workload"]["setup"].clone(), sum.sum())
    };
    let (setup, money) = labour(&["--accepted", &accepted]);
    assert_eq!(setup["labour_hours"], hours);
    assert_eq!(setup["image"], "adapt");
    assert!(
        (money - 100.0 * hours.as_f64().unwrap()).abs() < 0.01,
        "{money}"
    );
    // what is typed wins
    let (setup, money) = labour(&["--accepted", &accepted, "--setup-labour-hours", "3"]);
    assert_eq!((setup["labour_hours"].clone(), money), (json!(3.0), 300.0));

    let log = home.file(
        "tickets.csv",
        "asked,first_answer,solved\n2026-11-01 09:00,2026-11-01 09:20,2026-11-01 18:00\n\
         2026-11-04 10:00,2026-11-04 10:30,2026-11-05 10:00\n2026-11-09 22:00,2026-11-09 22:10,2026-11-10 15:00\n\
         2026-11-15 09:00,2026-11-15 09:05,2026-11-15 10:00\n2026-11-20 14:00,2026-11-20 14:40,2026-11-20 16:00\n",
    );
    let made = home.run(&[
        "accept",
        "support",
        &log,
        "--first-answer",
        "1h",
        "-o",
        "json",
    ]);
    let wait = made.json()["support"]["wait_hours_a_month"].clone();
    assert!(wait.as_f64().is_some_and(|w| w > 50.0), "{wait}");
    let support = home.file("support.json", &made.out);
    let (setup, _) = labour(&["--accepted", &accepted, "--accepted", &support]);
    assert_eq!(
        (&setup["labour_hours"], &setup["support_wait_hours"]),
        (&hours, &wait)
    );
}

#[test]
fn plan_refuses_what_is_no_acceptance() {
    let home = &Home::new();
    let run = |file: &str| home.run(&[&JOB[..], &["--accepted", file]].concat());
    for rubbish in ["", "{}", "[]", "{\"schema\": \"lessee/plan/v1\"}"] {
        run(&home.file("rubbish.json", rubbish)).says(2, &["rubbish.json"]);
    }
    run("gone.json").says(2, &["gone.json"]);
    let driver = [
        "accept",
        "driver",
        "--driver",
        "550.54.14",
        "--gpu",
        "A10",
        "-o",
        "json",
    ];
    let other = home.run(&[&driver[..], &["--need", "torch==2.4.0"]].concat());
    run(&home.file("driver.json", &other.out)).says(2, &["driver.json", "log of tickets"]);
}

#[test]
fn pages_keep_to_eighty_columns_in_both_languages() {
    let home = &Home::new();
    let file = home.file(
        "freeze.txt",
        "torch==2.6.0\ntorchvision==0.20.0\nflash_attn==2.8.3\n",
    );
    for lang in ["en", "zh-CN"] {
        let run = home
            .run(&[
                "accept",
                "env",
                &file,
                "--need",
                "numpy>=1.20",
                "--lang",
                lang,
            ])
            .exits(1);
        for line in run.out.lines().filter(|l| !l.contains("pip install")) {
            let width: usize = line.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
            // bullets, rules and dashes are one column wide, and counted as two
            let narrow = line.chars().filter(|c| "─│–•·".contains(*c)).count();
            assert!(width - narrow <= 80, "{lang}: {line}");
        }
        assert!(!run.out.contains("accept-env"), "{lang}: {}", run.out);
    }
}
