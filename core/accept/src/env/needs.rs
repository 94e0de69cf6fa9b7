//! Is what is needed there, in a version that will do? One finding `need` for each need.

use super::fit::{Fit, is_framework};
use super::pairs::{Target, goes_with_torch};
use super::repair::{Due, RepairKind};
use super::{Environment, LibraryKind, Package, Python, PythonKind, name_key};
use crate::facts::Compat;
use crate::finding::{Check, Finding, Verdict};
use crate::judge::{Host, judge_on};
use crate::need::{Need, NeedError};
use crate::shell::pip_install;
use crate::version::Version;
use lessee_model::Msg;

/// What is there of a need.
struct Found<'a> {
    version: Version,
    /// With its place, for people.
    shown: String,
    /// The Python, and the name of the package.
    at: Option<(&'a Python, String)>,
}

/// What all needs are judged against.
pub(crate) struct Against<'a> {
    pub env: &'a Environment,
    pub fits: &'a [Fit],
    /// Where driver and GPU are known.
    pub host: Option<&'a Host<'a>>,
    pub compat: &'a Compat,
    /// The torch that repairs are made for.
    pub torch: Option<&'a Target>,
}

/// Judges one need.
pub(crate) fn check(
    text: &str,
    need: &Result<Need, NeedError>,
    against: &Against<'_>,
    due: &mut Vec<Due>,
) -> Finding {
    let Against { env, fits, .. } = *against;
    let need = match need {
        Ok(need) => need,
        Err(why) => {
            return Check::new("need", Verdict::Unknown, why.msg()).finding(text);
        }
    };
    let (found, odd) = found(need, env);
    let good: Vec<&Found<'_>> = found.iter().filter(|f| will_do(need, f)).collect();
    // of several that will do, the one that fares best
    let best = good
        .iter()
        .map(|f| (fit_of(f, fits), *f))
        .min_by_key(|(fit, _)| fit.map_or(Verdict::Pass, |f| f.finding.verdict));
    if let Some((fit, there)) = best {
        return satisfied(text, fit, there);
    }
    if let Some(odd) = odd {
        let reason = Msg::new("accept-env-need-odd").arg("found", odd);
        return Check::new("need", Verdict::Unknown, reason)
            .asking(Msg::new("accept-ask-env-version"))
            .finding(text);
    }
    missing(text, need, &found, against, due)
}

fn fit_of<'a>(found: &Found<'_>, fits: &'a [Fit]) -> Option<&'a Fit> {
    let (python, name) = found.at.as_ref()?;
    fits.iter()
        .find(|f| f.prefix == python.prefix && f.package == *name)
}

fn satisfied(text: &str, fit: Option<&Fit>, there: &Found<'_>) -> Finding {
    let reason = Msg::new("accept-env-need-there").arg("found", there.shown.as_str());
    let mut finding = Check::new("need", Verdict::Pass, reason).finding(text);
    if let Some(fit) = fit.filter(|f| f.finding.verdict > Verdict::Pass) {
        finding = fit.finding.clone();
        finding.rule = "need";
        finding.subject = text.to_owned();
    }
    finding
}

fn missing(
    text: &str,
    need: &Need,
    found: &[Found<'_>],
    against: &Against<'_>,
    due: &mut Vec<Due>,
) -> Finding {
    let env = against.env;
    let system = is_system(&need.package);
    let whole = env.sources.iter().any(|s| !s.kind.is_list());
    let frozen = |p: &Python| p.kind == PythonKind::Listed;
    // a list of Python packages says nothing of the system's, and the other way round; none says which Python it is of, and
    // `pip freeze` leaves out what installs packages
    let shown = match need.package.as_str() {
        _ if !found.is_empty() => true,
        _ if !env.is_whole() => false,
        _ if whole => true,
        _ if system => !env.system.is_empty(),
        "python" => env.pythons.iter().any(|p| p.version.is_some()),
        "pip" | "setuptools" | "wheel" => !env.pythons.iter().all(frozen),
        _ => !env.pythons.is_empty(),
    };
    if !shown {
        let reason = Msg::new("accept-env-need-unshown").arg("package", need.package.as_str());
        let ask = match system {
            true => Msg::new("accept-ask-env-system"),
            false => Msg::new("accept-ask-env-freeze"),
        };
        return Check::new("need", Verdict::Unknown, reason)
            .asking(ask)
            .finding(text);
    }
    let reason = match found.first() {
        Some(other) => Msg::new("accept-env-need-other").arg("found", other.shown.as_str()),
        None => Msg::new("accept-env-need-missing").arg("package", need.package.as_str()),
    };
    let mut finding = Check::new("need", Verdict::Fail, reason).finding(text);
    finding.install = line(text, need, against);
    if finding.install.is_none() && against.torch.is_some() && goes_with_torch(&need.package) {
        finding.ask = Some(Msg::new("accept-ask-env-set"));
    }
    due.push(Due {
        kind: match need.package.as_str() {
            _ if system => RepairKind::Toolkit,
            "python" => RepairKind::Python,
            name if name.starts_with("flash-attn") => RepairKind::Compile,
            name if is_framework(name) => RepairKind::Framework,
            _ => RepairKind::Package,
        },
        subject: text.to_owned(),
        line: finding.install.clone(),
    });
    finding
}

/// How to get it: what goes with the torch that is there, and for frameworks what works on the machine, if that is known.
fn line(text: &str, need: &Need, against: &Against<'_>) -> Option<String> {
    if let Some(torch) = against.torch.filter(|_| goes_with_torch(&need.package)) {
        let release = torch.release(&need.package, Some(need), against.compat, against.host)?;
        return Some(pip_install(&release));
    }
    let host = against.host;
    let judged = host.and_then(|host| {
        let mut found = judge_on(text, &Ok(need.clone()), host);
        found.remove(0).install
    });
    if judged.is_some() {
        return judged;
    }
    let minor = |v: &Version| format!("{}-{}", v.part(0), v.part(1));
    match need.package.as_str() {
        "cuda" | "cuda-toolkit" | "cudatoolkit" => Some(format!(
            "apt-get install cuda-toolkit-{}",
            minor(need.exact()?)
        )),
        "cudnn" | "nccl" | "python" | "rocm" | "pytorch-cuda" => None,
        name if is_framework(name) && host.is_some() => None,
        _ => {
            let bare = text.split([';', '#']).next().unwrap_or(text).trim();
            Some(pip_install(bare))
        }
    }
}

fn is_system(name: &str) -> bool {
    matches!(
        name,
        "cuda" | "cuda-toolkit" | "cudatoolkit" | "pytorch-cuda" | "cudnn" | "nccl" | "rocm"
    )
}

/// All that goes by the name, and one whose version is none.
fn found<'a>(need: &Need, env: &'a Environment) -> (Vec<Found<'a>>, Option<String>) {
    let name = match need.package.as_str() {
        "pytorch" => "torch",
        "tensorflow-gpu" => "tensorflow",
        "flash-attention" => "flash-attn",
        name => name,
    };
    let mut out = Vec::new();
    let mut odd = None;
    let kind = match name {
        "cuda" | "cuda-toolkit" | "cudatoolkit" | "pytorch-cuda" => Some(LibraryKind::Cuda),
        "cudnn" => Some(LibraryKind::Cudnn),
        "nccl" => Some(LibraryKind::Nccl),
        _ => None,
    };
    for library in env.libraries.iter().filter(|l| Some(l.kind) == kind) {
        if let Ok(version) = library.version.parse() {
            out.push(Found {
                version,
                shown: format!("{} {} ({})", name, library.version, library.path),
                at: None,
            });
        }
    }
    for python in &env.pythons {
        if name == "python"
            && let Some(version) = python.version.as_deref().and_then(|v| v.parse().ok())
        {
            out.push(Found {
                version,
                shown: format!(
                    "Python {} ({})",
                    python.version.as_deref().unwrap_or(""),
                    python.prefix
                ),
                at: None,
            });
        }
        // what wheels of CUDA's own bring counts as the runtime, not as the toolkit
        let wheels: &[&str] = match kind {
            Some(LibraryKind::Cudnn) => &[
                "nvidia-cudnn-cu12",
                "nvidia-cudnn-cu13",
                "nvidia-cudnn-cu11",
                "cudnn",
            ],
            Some(LibraryKind::Nccl) => &["nvidia-nccl-cu12", "nvidia-nccl-cu13", "nccl"],
            // the conda package that brings the runtime
            Some(_) if need.package == "pytorch-cuda" => &[
                "nvidia-cuda-runtime-cu12",
                "nvidia-cuda-runtime",
                "nvidia-cuda-runtime-cu11",
            ],
            Some(_) | None => &[],
        };
        let names = std::iter::once(name).chain(wheels.iter().copied());
        for name in names {
            let conda = python.conda.iter().find(|c| name_key(&c.name) == name);
            let shown = |v: &str| format!("{name} {v} ({})", python.prefix);
            let at = python
                .package(name)
                .map(|p| (version_of(p), p.version.clone()));
            let at = at.or_else(|| conda.map(|c| (c.version.parse().ok(), c.version.clone())));
            match at {
                Some((Some(version), text)) => out.push(Found {
                    version,
                    shown: shown(&text),
                    at: Some((python, name_key(name))),
                }),
                Some((None, text)) => odd = Some(shown(&text)),
                None => {}
            }
        }
    }
    (out, odd)
}

/// The version, with the build of its own files where the version names none.
fn version_of(package: &Package) -> Option<Version> {
    let text = match (&package.build, package.version.contains('+')) {
        (Some(build), false) => format!("{}+{build}", package.version),
        _ => package.version.clone(),
    };
    text.parse().ok()
}

/// Whether a version will do. `cuda==12.4` means any 12.4.
fn will_do(need: &Need, found: &Found<'_>) -> bool {
    if let Some(exact) = need.exact() {
        let prefix = is_system(&need.package) || need.package == "python";
        let equal = match prefix {
            true => found.version.begins_with(exact),
            false => found.version == *exact,
        };
        let build = exact
            .local()
            .is_none_or(|l| found.version.local() == Some(l));
        return equal && build;
    }
    need.allows(&found.version)
}
