//! Libraries and compilers that come in ranges of versions with one set of demands: cuDNN, NCCL, Triton, FlashAttention.

use crate::facts::Library;
use crate::finding::{Answer, Check, Verdict, verdict};
use crate::judge::{Host, no_package, no_version, on_nvidia, works};
use crate::need::Need;
use crate::table::decides;
use crate::version::Version;
use crate::{driver, gpu};
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

/// The verdict for one library; of several builds that fit the one with the fewest limits.
pub(crate) fn of(need: &Need, package: &str, flavour: &str, host: &Host<'_>) -> Answer {
    let rows = || {
        let of_package = host
            .compat
            .libraries
            .iter()
            .filter(|l| l.package == package);
        of_package.filter(|l| flavour.is_empty() || l.flavour.starts_with(flavour))
    };
    let Some(version) = version(need, rows()) else {
        return no_version(need, rows().map(|l| &l.to));
    };
    let fitting = rows().filter(|l| l.from <= version && version <= l.to);
    let judged = fitting.map(|l| (l, checks(l, host)));
    let Some((library, checks)) = judged.min_by_key(|(_, c)| verdict(c)) else {
        return no_version(need, rows().map(|l| &l.to));
    };
    let install = works(verdict(&checks)).then(|| {
        let name = index_name(need, library);
        format!("pip install {name}=={version}")
    });
    Answer { checks, install }
}

/// The name under which an index has a build: there is no `cudnn` and no `nccl` on PyPI.
fn index_name(need: &Need, library: &Library) -> String {
    let cuda = library.flavour.split('-').next().unwrap_or("");
    match need.package.as_str() {
        "cudnn" | "nccl" if !cuda.is_empty() => format!("nvidia-{}-{cuda}", need.package),
        package => package.to_owned(),
    }
}

/// The version that a need means: the one it names if that lies in a known range, else the newest end of a range.
pub(crate) fn version<'a>(
    need: &Need,
    rows: impl Iterator<Item = &'a Library> + Clone,
) -> Option<Version> {
    if let Some(exact) = need.exact() {
        let known = rows.clone().any(|l| l.from <= *exact && *exact <= l.to);
        return known.then(|| exact.clone());
    }
    let ends: Vec<&Version> = rows.flat_map(|l| [&l.from, &l.to]).collect();
    need.newest(ends.into_iter()).cloned()
}

/// The steps for one build.
pub(crate) fn checks(library: &Library, host: &Host<'_>) -> Vec<Check> {
    let mut out = Vec::new();
    if !on_nvidia(host, &mut out) {
        return out;
    }
    let origin = &library.origin;
    driver::carries(library.cuda, host, &mut out);
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
        if let Some(min) = library.min_cc.filter(|min| card.cc < *min) {
            let verdict = sure(decides(library.min_confidence) && origin.decides());
            let reason = say("accept-min-cc").arg("min", min.to_string());
            let check = Check::new("gpu-code", verdict, reason).from(origin);
            out.push(check.asking(Msg::new("accept-ask-code")));
        } else if let Some(max) = library.max_cc.filter(|max| card.cc.0 > max.0) {
            let reason = say("accept-max-cc").arg("max", max.to_string());
            let check = Check::new("gpu-code", sure(origin.decides()), reason).from(origin);
            out.push(check.asking(Msg::new("accept-ask-code")));
        } else if !origin.decides() {
            let check = Check::new("gpu-code", Verdict::Unknown, say("accept-library-unsure"));
            out.push(check.from(origin).asking(Msg::new("accept-ask-code")));
        }
    }
    out
}
