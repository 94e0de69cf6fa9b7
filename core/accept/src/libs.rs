//! Libraries and compilers that come in ranges of versions with one set of demands: cuDNN, NCCL, Triton, FlashAttention.

use crate::facts::{Library, OnAmd, Pair, Role};
use crate::finding::{Answer, Check, Verdict, verdict};
use crate::gpu::Card;
use crate::judge::{Host, no_package, no_version, on_nvidia, works};
use crate::need::Need;
use crate::shell::pip_install;
use crate::table::decides;
use crate::version::Version;
use crate::{driver, gpu, rocm};
use lessee_model::Msg;

/// Names on package indexes: the package here, and which build of it.
const NAMES: &[(&str, &str, &str)] = &[
    ("cudnn", "cudnn", ""),
    ("nvidia-cudnn-cu11", "cudnn", "cu11"),
    ("nvidia-cudnn-cu12", "cudnn", "cu12"),
    ("nvidia-cudnn-cu13", "cudnn", "cu13"),
    ("nccl", "nccl", ""),
    ("nvidia-nccl-cu12", "nccl", "cu12"),
    ("nvidia-nccl-cu13", "nccl", "cu13"),
    ("triton", "triton", ""),
    ("flash-attn", "flash-attn", ""),
    ("flash-attention", "flash-attn", ""),
    ("flash-attn-3", "flash-attn-3", ""),
    ("flash-attn-4", "flash-attn-4", ""),
];

pub(crate) fn judge(need: &Need, name: &str, host: &Host<'_>) -> Answer {
    match NAMES.iter().find(|(n, ..)| *n == name) {
        Some((_, package, flavour)) => of(need, package, flavour, host),
        None => no_package(need),
    }
}

/// The verdict for one library; of several builds that fit the one with the fewest limits, then that of the newest CUDA.
pub(crate) fn of(need: &Need, package: &str, flavour: &str, host: &Host<'_>) -> Answer {
    let rows = || {
        let of_package = host.compat.libraries.iter();
        let of_package = of_package.filter(|l| l.package == package);
        of_package.filter(|l| flavour.is_empty() || l.flavour.starts_with(flavour))
    };
    let Some(version) = version(need, rows()) else {
        return no_version(need, rows().map(|l| &l.to));
    };
    let mut fitting: Vec<_> = rows().filter(|l| within(l, &version)).collect();
    fitting.sort_by_key(|l| std::cmp::Reverse(l.cuda));
    let judged = fitting.into_iter().map(|l| (l, of_need(l, need, host)));
    let Some((library, checks)) = judged.min_by_key(|(_, c)| verdict(c)) else {
        return no_version(need, rows().map(|l| &l.to));
    };
    Answer {
        install: works(verdict(&checks)).then(|| line(library, &version)),
        ..Answer::of(need, version.as_str(), checks)
    }
}

/// Releases of cuDNN on PyPI have this many numbers.
const CUDNN_NUMBERS: usize = 4;

fn line(library: &Library, version: &Version) -> String {
    let of_row = NAMES.iter().rev().filter(|(_, package, flavour)| {
        *package == library.package && library.flavour.starts_with(flavour)
    });
    let name = of_row.max_by_key(|(_, _, flavour)| flavour.len());
    let name = name.map_or(library.package.as_str(), |(name, ..)| name);
    let any = match library.package == "cudnn" && version.parts() < CUDNN_NUMBERS {
        true => ".*",
        false => "",
    };
    let how = match library.role {
        Role::Source => " --no-build-isolation",
        Role::Brings | Role::Major => "",
    };
    format!("{}{how}", pip_install(&format!("{name}=={version}{any}")))
}

/// Whether a row speaks of a version; 9.10.2.21 is 9.10.2.
pub(crate) fn within(library: &Library, version: &Version) -> bool {
    library.from <= *version && (*version <= library.to || version.begins_with(&library.to))
}

/// The version that a need means: the one it names if that lies in a known range, else the newest end of a range.
pub(crate) fn version<'a>(
    need: &Need,
    rows: impl Iterator<Item = &'a Library> + Clone,
) -> Option<Version> {
    if let Some(exact) = need.exact() {
        let known = rows.clone().any(|l| within(l, exact));
        return known.then(|| exact.clone());
    }
    let ends: Vec<&Version> = rows.flat_map(|l| [&l.from, &l.to]).collect();
    need.newest(ends.into_iter()).cloned()
}

/// The steps for one build as a need means it: installed, or with what its install takes.
pub(crate) fn of_need(library: &Library, need: &Need, host: &Host<'_>) -> Vec<Check> {
    match (need.installed, library.role) {
        (false, _) => checks(library, host),
        // compiled already
        (true, Role::Source) => {
            let built = Library {
                role: Role::Major,
                ..library.clone()
            };
            alone(&built, host)
        }
        (true, _) => alone(library, host),
    }
}

/// The steps for one build, with the cuDNN that its install takes.
pub(crate) fn checks(library: &Library, host: &Host<'_>) -> Vec<Check> {
    let mut out = alone(library, host);
    if let Some(major) = library.cudnn {
        newest_cudnn(major, &cudnn_build(library), host, &mut out);
    }
    out
}

/// `cuda12` of JAX takes cuDNN for `cu12`.
fn cudnn_build(library: &Library) -> String {
    library.flavour.replace("cuda", "cu")
}

/// What to install beside a build so that it gets a cuDNN that serves the cards, where its newest does not.
pub(crate) fn pin(library: &Library, host: &Host<'_>) -> Option<String> {
    older_cudnn(library.cudnn?, &cudnn_build(library), host)
}

fn cudnns<'a>(
    major: u64,
    build: &str,
    host: &'a Host<'_>,
) -> impl Iterator<Item = &'a Library> + Clone {
    let rows = host.compat.libraries.iter();
    rows.filter(move |l| l.package == "cudnn" && l.to.major() == major)
        .filter(move |l| l.flavour == build)
}

/// What the newest cuDNN of a major has no code for.
pub(crate) fn newest_cudnn(major: u64, build: &str, host: &Host<'_>, out: &mut Vec<Check>) {
    let Some(newest) = cudnns(major, build, host).max_by(|a, b| a.to.cmp(&b.to)) else {
        return;
    };
    let verdict = match newest.origin.decides() {
        true => Verdict::Fail,
        false => Verdict::Unknown,
    };
    for (name, card) in host.nvidia() {
        let Some(min) = newest.min_cc.filter(|min| card.cc < *min) else {
            continue;
        };
        let reason = Msg::new("accept-cudnn-newest")
            .arg("major", major.to_string())
            .arg("min", min.to_string())
            .arg("gpu", name)
            .arg("cc", card.cc.to_string());
        let check = Check::new("gpu-code", verdict, reason).from(&newest.origin);
        out.push(check.asking(Msg::new("accept-ask-code")));
    }
}

/// The newest cuDNN of a major that serves all cards, as pip is told of it; `None` where the newest of all does, or none.
pub(crate) fn older_cudnn(major: u64, build: &str, host: &Host<'_>) -> Option<String> {
    let serves = |l: &Library| {
        host.nvidia()
            .all(|(_, c)| l.min_cc.is_none_or(|m| c.cc >= m))
    };
    let rows = || cudnns(major, build, host);
    let good = rows()
        .filter(|l| serves(l))
        .max_by(|a, b| a.to.cmp(&b.to))?;
    let next = rows().filter(|l| l.from > good.to);
    let next = next.min_by(|a, b| a.from.cmp(&b.from))?;
    Some(format!("nvidia-cudnn-{build}<{}", next.from))
}

/// The steps for one build alone.
pub(crate) fn alone(library: &Library, host: &Host<'_>) -> Vec<Check> {
    let mut out = Vec::new();
    if library.rocm != OnAmd::No && host.only_amd() {
        rocm::library(library, host, &mut out);
        return out;
    }
    if !on_nvidia(host, &mut out) {
        return out;
    }
    let origin = &library.origin;
    let first = |card: &Card| host.compat.first_code(card);
    let newest = host.nvidia().map(|(_, card)| first(card)).max();
    let cuda = match (library.role, newest) {
        // the toolkit must know the card
        (Role::Source, Some(newest)) => library.cuda.max(newest),
        _ => library.cuda,
    };
    driver::carries_as(library.role, cuda, host, &mut out);
    if let Some(driver) = &host.driver
        && driver.version < library.driver
        && verdict(&out) != Verdict::Fail
    {
        let reason = Msg::new("accept-library-driver")
            .arg("package", library.package.as_str())
            .arg("floor", library.driver.as_str())
            .arg("driver", driver.version.as_str());
        let ask = Msg::new("accept-ask-driver").arg("driver", library.driver.as_str());
        out.push(
            Check::new("driver-cuda", Verdict::Fail, reason)
                .from(origin)
                .asking(ask),
        );
    }
    for (name, card) in host.nvidia() {
        if let Some(driver) = &host.driver {
            gpu::driven(card, name, driver, &mut out);
        }
        out.extend(code(library, name, card, first(card)));
    }
    out
}

/// What there is to say against a build on a card; `first`: the first CUDA with code for it.
fn code(library: &Library, name: &str, card: &Card, first: Pair) -> Option<Check> {
    let origin = &library.origin;
    let say = |id: &'static str| {
        Msg::new(id)
            .arg("package", library.package.as_str())
            .arg("gpu", name)
            .arg("cc", card.cc.to_string())
    };
    let sure = |decided: bool| match decided {
        true => Verdict::Fail,
        false => Verdict::Unknown,
    };
    let (verdict, reason) = if let Some(min) = library.min_cc.filter(|min| card.cc < *min) {
        let verdict = sure(decides(library.min_confidence) && origin.decides());
        (verdict, say("accept-min-cc").arg("min", min.to_string()))
    } else if let Some(max) = library.max_cc.filter(|max| card.cc.0 > max.0) {
        let reason = say("accept-max-cc").arg("max", max.to_string());
        (sure(origin.decides()), reason)
    } else if library.role == Role::Brings && library.max_cc.is_none() && library.cuda < first {
        // it compiles while it runs, with tools that can be newer than itself
        let reason = say("accept-library-early")
            .arg("cuda", library.cuda.to_string())
            .arg("first", first.to_string());
        (Verdict::Unknown, reason)
    } else if !origin.decides() {
        (Verdict::Unknown, say("accept-library-unsure"))
    } else {
        return None;
    };
    let check = Check::new("gpu-code", verdict, reason).from(origin);
    Some(check.asking(Msg::new("accept-ask-code")))
}
