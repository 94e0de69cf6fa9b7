//! `accept env --diff` and `--rollback` through the real binary where one of the two readings covers less than the other,
//! and where a lock was written by somebody who means harm.

mod common;

use common::{Home, Run};
use serde_json::{Value, json};

fn env(home: &Home, args: &[&str]) -> Run {
    home.run(&[&["accept", "env"], args, &["-o", "json"]].concat())
}

fn venv(home: &Home, packages: &[(&str, &str)]) -> String {
    home.file("venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.4\n");
    for (name, version) in packages {
        let text = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\n");
        let folder = format!("venv/lib/python3.11/site-packages/{name}-{version}.dist-info");
        home.file(&format!("{folder}/METADATA"), text);
    }
    let path = std::fs::canonicalize(home.path("venv")).expect("venv");
    path.display().to_string()
}

fn lock(home: &Home, input: &str) -> (String, Value) {
    let path = home.path("lock.json").display().to_string();
    env(home, &[input, "--save", &path]);
    let text = std::fs::read_to_string(&path).expect("lock");
    (path, serde_json::from_str(&text).expect("JSON"))
}

fn rewrite(path: &str, doc: &Value) {
    std::fs::write(path, doc.to_string()).expect("lock");
}

fn steps(doc: &Value) -> Vec<String> {
    let all = doc["steps"].as_array().expect("steps");
    let line = |s: &Value| s["line"].as_str().expect("line").to_owned();
    all.iter().map(line).collect()
}

#[test]
fn a_list_of_packages_never_removes_the_system() {
    let home = &Home::new();
    let freeze = home.file("freeze.txt", "six==1.16.0\nidna==3.4\n");
    let (lock, _) = lock(home, &freeze);
    // this machine, against a lock that says nothing of it
    let doc = env(home, &["--rollback", &lock, "--dry-run"])
        .exits(7)
        .json();
    assert_eq!(steps(&doc), Vec::<String>::new(), "{doc:#}");
    let out = doc["left_out"].to_string();
    assert!(out.contains("system"), "{out}");
    let diff = env(home, &["--diff", &lock]).exits(7).json();
    assert_eq!(diff["changes"], json!([]));
    let page = home.run(&["accept", "env", "--diff", &lock]).exits(7);
    assert!(!page.out.contains("Nothing has changed"), "{}", page.out);
}

#[test]
fn what_the_reading_of_one_python_does_not_cover_is_left_alone() {
    let home = &Home::new();
    let path = venv(home, &[("six", "1.16.0"), ("pip", "24.0")]);
    let (lock, mut doc) = lock(home, &path);
    doc["sources"][0] = json!({"kind": "live", "path": "/"});
    doc["system"] = json!([{"manager": "dpkg", "name": "bash", "version": "5"}]);
    let mut other = doc["pythons"][0].clone();
    other["prefix"] = json!("/opt/other");
    doc["pythons"].as_array_mut().expect("pythons").push(other);
    rewrite(&lock, &doc);
    let doc = env(home, &[&path, "--rollback", &lock]).exits(0).json();
    assert_eq!(steps(&doc), Vec::<String>::new(), "{doc:#}");
    let out = doc["left_out"].to_string();
    assert!(
        out.contains("system") && out.contains("/opt/other"),
        "{out}"
    );
}

#[test]
fn an_emptied_environment_has_changed() {
    let home = &Home::new();
    let path = venv(home, &[("six", "1.16.0")]);
    let (lock, _) = lock(home, &path);
    std::fs::remove_dir_all(home.path("venv/lib")).expect("remove");
    let doc = env(home, &["--diff", &lock]).exits(1).json();
    assert_eq!(doc["changes"][0]["name"], "six", "{doc:#}");
    assert_eq!(doc["changes"][0]["change"], "removed");
}

#[test]
fn an_unreadable_list_is_not_nothing_changed() {
    let home = &Home::new();
    let freeze = home.file("freeze.txt", "six==1.16.0\nidna==3.4\n");
    let (lock, _) = lock(home, &freeze);
    let rubbish = home.file("fr2.txt", "hello\nworld\n");
    let page = home
        .run(&["accept", "env", &rubbish, "--diff", &lock])
        .exits(7);
    assert!(!page.out.contains("Nothing has changed"), "{}", page.out);
    // another list of the same Python is compared, whatever its file is called
    let other = home.file("fr3.txt", "six==1.17.0\nidna==3.4\n");
    let doc = env(home, &[&other, "--diff", &lock]).exits(1).json();
    assert_eq!(doc["changes"].as_array().map(Vec::len), Some(1), "{doc:#}");
}

#[test]
fn a_lock_hands_over_no_options() {
    let home = &Home::new();
    let path = venv(home, &[("six", "1.16.0"), ("pip", "24.0")]);
    let (lock, mut doc) = lock(home, &path);
    let python = &mut doc["pythons"][0];
    let list = python["packages"].as_array_mut().expect("packages");
    list.push(json!({"name": "--index-url=http://evil", "version": "?", "from": "url", "url": "https://x/y"}));
    list.push(json!({"name": "a", "version": "1", "from": "url", "url": "https://x/y --evil"}));
    list.push(json!({"name": "b", "version": "1", "from": "vcs", "url": "git+ext::sh -c evil@1"}));
    list.push(json!({"name": "c", "version": "1", "from": "url", "url": "https://***@x/y"}));
    python["conda"] = json!([
        {"name": "ok", "version": "1", "channel": "conda-forge"},
        {"name": "--evil", "version": "1"},
        {"name": "d", "version": "1 --evil"},
        {"name": "e", "version": "1", "build": "--evil"},
        {"name": "f", "version": "1", "channel": "--evil"}
    ]);
    rewrite(&lock, &doc);
    let doc = env(home, &["--rollback", &lock]).exits(1).json();
    let lines = steps(&doc).join("\n");
    assert!(!lines.contains("evil"), "{lines}");
    assert!(lines.contains("conda-forge::ok=1"), "{lines}");
    let lost = doc["lost"].as_array().expect("lost");
    let count = |why: &str| lost.iter().filter(|l| l["why"] == why).count();
    assert_eq!((count("odd"), count("credentials")), (7, 1), "{lost:?}");
}

#[test]
fn libraries_that_no_changed_package_brings_are_said() {
    let home = &Home::new();
    let status = |v: &str| {
        format!("Package: bash\nStatus: install ok installed\nArchitecture: amd64\nVersion: {v}\n")
    };
    let cuda = |v: &str| format!("{{\"cuda\": {{\"version\": \"{v}\"}}}}");
    home.file("root/var/lib/dpkg/status", status("5.1"));
    home.file("root/usr/local/cuda-12/version.json", cuda("12.4.1"));
    let root = home.path("root").display().to_string();
    let (lock, _) = lock(home, &root);
    home.file("root/var/lib/dpkg/status", status("5.2"));
    home.file("root/usr/local/cuda-12/version.json", cuda("12.6.0"));
    let doc = env(home, &[&root, "--rollback", &lock]).exits(1).json();
    assert_eq!(doc["lost"][0]["why"], "no_package", "{doc:#}");
    assert_eq!(steps(&doc).len(), 1);
}
