//! What brings a saved environment back: commands of pip, conda and the system's package manager, and what none of them can
//! bring back. Nothing is run here.

use super::{
    Change, ChangeKind, Compared, CondaPackage, Environment, LeftOut, Package, PackageFrom, Python,
    PythonKind, changes, name_key,
};
use crate::shell::{HIDDEN, quoted};
use crate::torch::INDEX;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// One command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Step {
    /// Program and arguments, as they are run.
    pub argv: Vec<String>,
    /// The same as a line for a shell.
    pub line: String,
}

/// Something that cannot be brought back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Lost {
    /// What: name and saved version.
    pub what: String,
    pub why: LostWhy,
}

/// Why it cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LostWhy {
    /// The kernel's driver is the host's.
    Driver,
    /// A working folder: its content then is not known.
    Editable,
    /// From a file or folder of that machine.
    LocalFile,
    /// Another Python; a new environment is needed.
    Interpreter,
    /// Files that no package manager keeps.
    NoPackage,
    /// This Python has neither pip nor another program that installs into it.
    NoInstaller,
    /// The manager has no command for it.
    Manager,
    /// The version was not known when it was saved.
    NoVersion,
    /// Its name, version or address is written as none is: it is no argument for a command.
    Odd,
    /// Its address had a user name or password, which are not kept.
    Credentials,
}

impl LostWhy {
    pub fn as_str(self) -> &'static str {
        match self {
            LostWhy::Driver => "driver",
            LostWhy::Editable => "editable",
            LostWhy::LocalFile => "local_file",
            LostWhy::Interpreter => "interpreter",
            LostWhy::NoPackage => "no_package",
            LostWhy::NoInstaller => "no_installer",
            LostWhy::Manager => "manager",
            LostWhy::NoVersion => "no_version",
            LostWhy::Odd => "odd",
            LostWhy::Credentials => "credentials",
        }
    }
}

/// The way back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rollback {
    pub steps: Vec<Step>,
    pub lost: Vec<Lost>,
    /// What only one of the two readings covers: no step touches it.
    pub left_out: Vec<LeftOut>,
    /// Something was compared at all.
    pub any: bool,
    /// Some steps need versions that an index of the distribution may no longer have.
    pub may_be_gone: bool,
}

/// The way from an environment back to a saved one.
pub fn rollback(saved: &Environment, now: &Environment) -> Rollback {
    let Compared {
        changes: all,
        left_out,
        any,
    } = changes(saved, now);
    let mut out = Rollback {
        left_out,
        any,
        ..Rollback::default()
    };
    let mut prefixes: Vec<&str> = Vec::new();
    for change in &all {
        let place = change.place.as_str();
        let of_python = matches!(change.area.as_str(), "python" | "conda" | "interpreter");
        if of_python && !prefixes.contains(&place) {
            prefixes.push(place);
        }
    }
    system(&all, &mut out);
    for prefix in prefixes {
        let here: Vec<&Change> = all.iter().filter(|c| c.place == prefix).collect();
        of_python(prefix, &here, saved, now, &mut out);
    }
    for change in all.iter().filter(|c| c.area == "driver") {
        out.lose(&named(change), LostWhy::Driver);
    }
    for change in all.iter().filter(|c| c.area == "library") {
        if !comes_with_package(change, &all) {
            out.lose(&named(change), LostWhy::NoPackage);
        }
    }
    out
}

/// Whether a library comes back with a package whose change is undone: one of conda in that prefix, or one of the system that
/// is named for it.
fn comes_with_package(library: &Change, all: &[Change]) -> bool {
    let Some((kind, path)) = library.name.split_once(' ') else {
        return false;
    };
    let stem = match kind {
        "cuda_compat" => "cuda-compat",
        "libcuda" => "nvidia",
        "nvcc" => "cuda",
        kind => kind,
    };
    all.iter().any(|c| match c.area.as_str() {
        "conda" => path
            .strip_prefix(c.place.as_str())
            .is_some_and(|rest| rest.starts_with('/')),
        "system" => c.name.contains(stem),
        _ => false,
    })
}

fn named(change: &Change) -> String {
    match &change.was {
        Some(was) => format!("{} {was}", change.name),
        None => change.name.clone(),
    }
}

impl Rollback {
    fn step(&mut self, argv: Vec<String>) {
        let line = argv.iter().map(|a| quoted(a)).collect::<Vec<_>>().join(" ");
        self.steps.push(Step { argv, line });
    }

    fn lose(&mut self, what: &str, why: LostWhy) {
        let lost = Lost {
            what: what.to_owned(),
            why,
        };
        if !self.lost.contains(&lost) {
            self.lost.push(lost);
        }
    }
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|w| (*w).to_owned()).collect()
}

fn of_python(
    prefix: &str,
    changes: &[&Change],
    saved: &Environment,
    now: &Environment,
    out: &mut Rollback,
) {
    let find = |e: &Environment| -> Option<Python> {
        e.pythons.iter().find(|p| p.prefix == prefix).cloned()
    };
    let (was, is) = (find(saved), find(now));
    if !prefix.starts_with('/') || prefix.contains(char::is_control) {
        out.lose(prefix, LostWhy::Odd);
        return;
    }
    let conda: Vec<&Change> = changes
        .iter()
        .filter(|c| c.area == "conda")
        .copied()
        .collect();
    of_conda(prefix, &conda, was.as_ref(), out);
    let interpreter = changes.iter().find(|c| c.area == "interpreter");
    let by_conda = conda.iter().any(|c| c.name == "python");
    if let Some(change) = interpreter.filter(|_| !by_conda) {
        let venv = was
            .as_ref()
            .filter(|w| w.kind == PythonKind::Venv && is.is_none());
        let minor = venv.and_then(|w| w.version.as_deref()).and_then(minor);
        match minor {
            Some(minor) => {
                out.step(words(&[&format!("python{minor}"), "-m", "venv", prefix]));
            }
            None if was.is_some() => {
                out.lose(
                    &format!("Python {} ({prefix})", change.was.as_deref().unwrap_or("?")),
                    LostWhy::Interpreter,
                );
                return;
            }
            // a Python that was not there then: its folder can be removed, which is not done for anybody
            None => {
                out.lose(prefix, LostWhy::NoPackage);
                return;
            }
        }
    }
    let pip = Pip::of(prefix, was.as_ref(), is.as_ref());
    let mut groups: BTreeMap<Option<String>, Vec<String>> = BTreeMap::new();
    let mut gone = Vec::new();
    let none = Vec::new();
    let old = was.as_ref().map_or(&none, |w| &w.packages);
    let new = is.as_ref().map_or(&none, |w| &w.packages);
    for change in changes.iter().filter(|c| c.area == "python") {
        let same = |p: &&Package| name_key(&p.name) == change.name;
        let (was, is) = (old.iter().find(same), new.iter().find(same));
        let managed = |p: Option<&Package>| {
            p.is_some_and(|p| matches!(p.from, PackageFrom::Conda | PackageFrom::System))
        };
        match was {
            _ if managed(was) && (is.is_none() || managed(is)) => {}
            None if managed(is) => {}
            None if !is_plain(&change.name) => out.lose(&change.name, LostWhy::Odd),
            None => gone.push(change.name.clone()),
            Some(package) => match source(package) {
                Ok((index, spec)) => groups.entry(index).or_default().push(spec),
                Err(why) => out.lose(&format!("{} {}", package.name, package.version), why),
            },
        }
    }
    if groups.is_empty() && gone.is_empty() {
        return;
    }
    let Some(pip) = pip else {
        out.lose(prefix, LostWhy::NoInstaller);
        return;
    };
    for (index, specs) in groups {
        let mut argv = pip.install();
        if let Some(index) = index {
            argv.extend(words(&["--index-url", &index]));
        }
        argv.push("--".to_owned());
        argv.extend(specs);
        out.step(argv);
    }
    // pip last, as it removes the others
    gone.sort_by_key(|n| n == "pip");
    if !gone.is_empty() {
        let mut argv = pip.uninstall();
        argv.push("--".to_owned());
        argv.extend(gone);
        out.step(argv);
    }
}

/// `3.11` of `3.11.7`; `None` for what is no version, as it becomes the name of a program.
fn minor(version: &str) -> Option<String> {
    let digits = |p: &&str| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = version.split('.').take(2).filter(digits).collect();
    (parts.len() == 2).then(|| parts.join("."))
}

/// The program that installs into a Python.
struct Pip {
    python: String,
    uv: bool,
}

impl Pip {
    fn of(prefix: &str, was: Option<&Python>, is: Option<&Python>) -> Option<Pip> {
        let python = is.or(was)?;
        let bin = match (python.kind, python.version.as_deref()) {
            (PythonKind::Listed, _) => return None,
            (PythonKind::System | PythonKind::User, Some(version)) => {
                let prefix = match python.kind {
                    PythonKind::User => "/usr",
                    _ => prefix,
                };
                format!("{prefix}/bin/python{}", minor(version)?)
            }
            _ => format!("{prefix}/bin/python"),
        };
        // made anew, it has one
        let has = is.is_none_or(|p| p.package("pip").is_some());
        Some(Pip {
            python: bin,
            uv: !has,
        })
    }

    fn install(&self) -> Vec<String> {
        match self.uv {
            true => words(&[
                "uv",
                "pip",
                "install",
                "--python",
                &self.python,
                "--no-deps",
                "--reinstall",
            ]),
            false => words(&[
                &self.python,
                "-m",
                "pip",
                "install",
                "--no-deps",
                "--force-reinstall",
            ]),
        }
    }

    fn uninstall(&self) -> Vec<String> {
        match self.uv {
            true => words(&["uv", "pip", "uninstall", "--python", &self.python]),
            false => words(&[&self.python, "-m", "pip", "uninstall", "--yes"]),
        }
    }
}

/// Whether a name or version can be an argument: a lock is a file, and whoever wrote it may have written options into it.
/// A dash or plus behind a name tells apt to remove or install it.
fn is_plain(text: &str) -> bool {
    let ok = |c: char| c.is_ascii_alphanumeric() || "-_.+!~^:".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(ok)
        && !text.ends_with('-')
}

/// Whether an address can be handed to pip: of the network, in one word.
fn is_address(url: &str) -> bool {
    let bare = ["git+", "hg+", "svn+", "bzr+"]
        .iter()
        .find_map(|vcs| url.strip_prefix(vcs));
    let bare = bare.unwrap_or(url);
    let known = ["https://", "http://", "ssh://", "git://"];
    known.iter().any(|s| bare.starts_with(s))
        && !url.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// The index that a package comes from, and how to name it there.
fn source(package: &Package) -> Result<(Option<String>, String), LostWhy> {
    let (name, version) = (&package.name, &package.version);
    if !is_plain(name) || !(version == "?" || is_plain(version)) {
        return Err(LostWhy::Odd);
    }
    match package.from {
        PackageFrom::Editable => Err(LostWhy::Editable),
        PackageFrom::File => Err(LostWhy::LocalFile),
        PackageFrom::Vcs | PackageFrom::Url => match &package.url {
            Some(url) if url.contains(HIDDEN) => Err(LostWhy::Credentials),
            Some(url) if !is_address(url) => Err(LostWhy::Odd),
            Some(url) => {
                let plain = |h: &&str| h.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'=');
                let hash = package.hash.as_deref().filter(plain);
                let hash = hash.map(|h| format!("#{h}"));
                Ok((None, format!("{name} @ {url}{}", hash.unwrap_or_default())))
            }
            None => Err(LostWhy::LocalFile),
        },
        _ if version == "?" => Err(LostWhy::NoVersion),
        PackageFrom::Index | PackageFrom::Conda | PackageFrom::System => {
            let local = version.split_once('+').map(|(_, l)| l);
            let of_torch = local.filter(|b| ["cu", "rocm", "cpu"].iter().any(|p| b.starts_with(p)));
            let index = of_torch.map(|b| format!("{INDEX}/{b}"));
            Ok((index, format!("{name}=={version}")))
        }
    }
}

fn of_conda(prefix: &str, changes: &[&Change], was: Option<&Python>, out: &mut Rollback) {
    let mut install = Vec::new();
    let mut remove = Vec::new();
    for change in changes {
        let saved = was.and_then(|p| p.conda.iter().find(|c| c.name == change.name));
        match saved {
            _ if !is_plain(&change.name) => out.lose(&named(change), LostWhy::Odd),
            None => remove.push(change.name.clone()),
            Some(package) => match conda_spec(package) {
                Some(spec) => install.push(spec),
                None => out.lose(&named(change), LostWhy::Odd),
            },
        }
    }
    if !install.is_empty() {
        let mut argv = words(&["conda", "install", "--prefix", prefix, "--yes", "--no-deps"]);
        argv.extend(install);
        out.step(argv);
    }
    if !remove.is_empty() {
        let mut argv = words(&["conda", "remove", "--prefix", prefix, "--yes", "--force"]);
        argv.extend(remove);
        out.step(argv);
    }
}

/// `conda-forge::numpy=1.26.4=py311_0`; `None` where a part of it is written as none is.
fn conda_spec(package: &CondaPackage) -> Option<String> {
    let CondaPackage { name, version, .. } = package;
    let build = package.build.as_deref();
    if ![Some(name.as_str()), Some(version.as_str()), build]
        .into_iter()
        .flatten()
        .all(is_plain)
    {
        return None;
    }
    let build = build.map(|b| format!("={b}")).unwrap_or_default();
    let spec = format!("{name}={version}{build}");
    let channel = package.channel.as_deref().unwrap_or("");
    if matches!(channel, "" | "defaults") {
        return Some(spec);
    }
    let platform = |c: &&str| c.starts_with("linux-") || *c == "noarch";
    let mut parts = channel.trim_end_matches('/').rsplit('/');
    let channel = parts.find(|c| !platform(c)).filter(|c| is_plain(c))?;
    Some(format!("{channel}::{spec}"))
}

fn system(all: &[Change], out: &mut Rollback) {
    let those = || all.iter().filter(|c| c.area == "system");
    let Some(first) = those().next() else {
        return;
    };
    let (mut back, mut gone) = (Vec::new(), Vec::new());
    let mut again = false;
    for change in those() {
        let version = change.was.as_deref().unwrap_or("0");
        // a name that carries its version stands beside others of that name
        let name = change.name.split('=').next().unwrap_or("").to_owned();
        if !is_plain(&name) || !is_plain(version) {
            out.lose(&named(change), LostWhy::Odd);
            continue;
        }
        match &change.was {
            Some(was) => {
                again |= change.change == ChangeKind::Content;
                back.push((name, was.clone()));
            }
            None => gone.push(name),
        }
    }
    match first.place.as_str() {
        "dpkg" => {
            if !back.is_empty() {
                out.may_be_gone = true;
                let mut argv = words(&["apt-get", "install", "--yes", "--allow-downgrades"]);
                if again {
                    argv.push("--reinstall".to_owned());
                }
                argv.push("--".to_owned());
                argv.extend(back.iter().map(|(n, v)| format!("{n}={v}")));
                out.step(argv);
            }
            if !gone.is_empty() {
                let mut argv = words(&["apt-get", "remove", "--yes", "--"]);
                argv.extend(gone);
                out.step(argv);
            }
        }
        "rpm" => {
            if !back.is_empty() {
                out.may_be_gone = true;
                let mut argv = words(&["dnf", "install", "--assumeyes", "--allowerasing"]);
                argv.extend(back.iter().map(|(n, v)| format!("{n}-{v}")));
                out.step(argv);
            }
            if !gone.is_empty() {
                let mut argv = words(&["dnf", "remove", "--assumeyes"]);
                argv.extend(gone);
                out.step(argv);
            }
        }
        _ => {
            for (name, version) in back {
                out.lose(&format!("{name} {version}"), LostWhy::Manager);
            }
            for name in gone {
                out.lose(&name, LostWhy::Manager);
            }
        }
    }
}
