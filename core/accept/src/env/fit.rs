//! Do driver and GPU carry what is installed? Each framework is judged by the rules of its own family, in the very build
//! that lies there: as if it had been asked for by that name.

use super::repair::{Due, RepairKind};
use super::{Environment, LibraryKind, Package, PackageFrom, Python, name_key};
use crate::finding::{Check, Finding, Verdict};
use crate::judge::Host;
use crate::judge::judge_on;
use crate::need::Need;
use crate::version::Version;
use lessee_model::Msg;

/// A framework that is installed, and how it fares on the machine.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    /// Of which Python.
    pub prefix: String,
    pub package: String,
    pub finding: Finding,
    pub more: Vec<Finding>,
    pub due: Option<Due>,
}

/// Frameworks that are judged where they are found.
const FRAMEWORKS: &[&str] = &[
    "torch",
    "tensorflow",
    "jax",
    "vllm",
    "flash-attn",
    "flash-attn-3",
    "flash-attn-4",
];

/// Whether a package is a framework, for which an image is made.
pub(crate) fn is_framework(name: &str) -> bool {
    FRAMEWORKS.contains(&name_key(name).as_str())
}

/// All frameworks of all Pythons.
pub(crate) fn check(env: &Environment, host: &Host<'_>) -> Vec<Fit> {
    let mut out: Vec<Fit> = Vec::new();
    for python in &env.pythons {
        for package in python.packages.iter().filter(|p| is_framework(&p.name)) {
            if package.version.parse::<Version>().is_err() {
                out.push(odd(package, python));
            } else if let Some(text) = wanted(package, python, env, host) {
                out.push(one(&text, package, python, host));
            }
        }
    }
    for library in env.libraries.iter().filter(|l| l.kind == LibraryKind::Cuda) {
        let minor = library.version.split('.').take(2).collect::<Vec<_>>();
        let text = format!("cuda=={}", minor.join("."));
        let mut found = judge_on(&text, &Need::parse(&text), host);
        let mut finding = found.remove(0);
        finding.subject = format!("CUDA {} ({})", library.version, library.path);
        finding.rule = "toolkit";
        // only what is compiled here, or linked to it, needs it; wheels bring their own
        finding.verdict = finding.verdict.min(Verdict::Warn);
        finding.install = None;
        out.push(Fit {
            prefix: String::new(),
            package: "cuda".to_owned(),
            finding,
            more: Vec::new(),
            due: None,
        });
    }
    out
}

/// The package as a need that names its build; `None` where another package already speaks for it.
fn wanted(
    package: &Package,
    python: &Python,
    env: &Environment,
    host: &Host<'_>,
) -> Option<String> {
    let name = name_key(&package.name);
    let version: Version = package.version.parse().ok()?;
    let public = package.version.split('+').next().unwrap_or("");
    Some(match name.as_str() {
        "torch" => match (version.local(), package.build.as_deref()) {
            (None, Some(build)) => format!("torch=={public}+{build}"),
            (Some(local), _) if is_build(local) => format!("torch=={}", package.version),
            // a build of somebody's own (`2.6.0a0+ecf3bae40a.nv25.1`): by its CUDA, if that is known
            (Some(_), Some(build)) => format!("torch=={public}+{build}"),
            _ => format!("torch=={public}"),
        },
        "tensorflow" => {
            let brings = [
                "nvidia-cudnn-cu12",
                "nvidia-cuda-runtime-cu12",
                "nvidia-cudnn-cu11",
            ]
            .iter()
            .any(|p| python.package(p).is_some());
            let outside = |kind| env.libraries.iter().any(|l| l.kind == kind);
            let outside = outside(LibraryKind::Cudnn) && outside(LibraryKind::Cuda);
            match brings || outside {
                true => format!("tensorflow[and-cuda]=={public}"),
                false => format!("tensorflow=={public}"),
            }
        }
        "jax" => {
            let plugin = ["cuda12", "cuda13"]
                .into_iter()
                .find(|c| python.package(&format!("jax-{c}-plugin")).is_some());
            match plugin {
                Some(cuda) => format!("jax[{cuda}]=={public}"),
                None => format!("jax=={public}"),
            }
        }
        // its pinned torch is judged as the wheel of PyPI, and another one may lie here, which is judged itself
        "vllm" => {
            let torch = python.package("torch");
            let other = torch.and_then(|t| {
                t.build
                    .as_deref()
                    .or(t.version.split_once('+').map(|v| v.1))
            });
            let plain = host
                .compat
                .torch
                .iter()
                .find(|t| {
                    torch.is_some_and(|p| p.version.split('+').next() == Some(t.version.as_str()))
                })
                .map(|t| format!("cu{}{}", t.cuda.0, t.cuda.1));
            if other.is_some() && other != plain.as_deref() {
                return None;
            }
            format!("vllm=={public}")
        }
        name => format!("{name}=={public}"),
    })
}

/// One whose version cannot be compared: whether it fits is not known.
fn odd(package: &Package, python: &Python) -> Fit {
    let subject = format!("{} {}", package.name, package.version);
    let reason = Msg::new("accept-env-need-odd").arg("found", subject.as_str());
    let check = Check::new("installed", Verdict::Unknown, reason);
    Fit {
        prefix: python.prefix.clone(),
        package: name_key(&package.name),
        finding: check
            .asking(Msg::new("accept-ask-env-version"))
            .finding(&subject),
        more: Vec::new(),
        due: Some(Due {
            kind: RepairKind::Look,
            subject,
            line: None,
        }),
    }
}

pub(super) fn is_build(local: &str) -> bool {
    ["cu", "rocm", "cpu"].iter().any(|p| local.starts_with(p))
}

fn one(text: &str, package: &Package, python: &Python, host: &Host<'_>) -> Fit {
    let need = Need::parse(text).map(Need::of_installed);
    let mut found = judge_on(text, &need, host);
    let mut finding = found.remove(0);
    finding.rule = "installed";
    finding.subject = format!("{} {}", package.name, shown(package, text));
    let kind = match (&finding.install, finding.verdict) {
        _ if package.from == PackageFrom::Editable => RepairKind::Look,
        (_, Verdict::Unknown) => RepairKind::Look,
        (Some(_), _) => RepairKind::Framework,
        (None, _) => RepairKind::Driver,
    };
    let due = (finding.verdict >= Verdict::Unknown).then(|| Due {
        kind,
        subject: finding.subject.clone(),
        line: finding.install.clone(),
    });
    // what is there and works needs no line
    if finding.verdict <= Verdict::Warn {
        finding.install = None;
    }
    for detail in &mut found {
        detail.subject.clone_from(&finding.subject);
    }
    Fit {
        prefix: python.prefix.clone(),
        package: name_key(&package.name),
        finding,
        more: found,
        due,
    }
}

/// The version with the build that was found in its files.
fn shown(package: &Package, text: &str) -> String {
    match text.split_once("==") {
        Some((_, version)) if package.build.is_some() => version.to_owned(),
        _ => package.version.clone(),
    }
}
