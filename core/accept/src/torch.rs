//! PyTorch: what `pip install torch` brings is the wheel on PyPI, of one CUDA release; `+cu126` and `+rocm6.2.4` name others,
//! which lie on the project's own index.

use crate::facts::{Archs, Pair, Torch};
use crate::finding::{Answer, Check, Verdict, verdict};
use crate::judge::{Host, no_version, runs, works, would};
use crate::need::Need;
use crate::rocm;
use crate::shell::pip_install;
use crate::table::decides;
use lessee_model::Msg;

/// Where the wheels that are not on PyPI are.
pub(crate) const INDEX: &str = "https://download.pytorch.org/whl";

pub(crate) fn judge(need: &Need, host: &Host<'_>) -> Answer {
    let releases = &host.compat.torch;
    // an index holds the releases that have its wheel
    let only = need
        .wheel
        .as_ref()
        .filter(|w| w.only)
        .map(|w| w.label.as_str());
    let held = || releases.iter().filter(|t| only.is_none_or(|l| has(t, l)));
    let chosen = need.newest(held().map(|t| &t.version));
    let chosen = chosen.or_else(|| need.newest(releases.iter().map(|t| &t.version)));
    let Some(release) = releases.iter().find(|t| Some(&t.version) == chosen) else {
        let mut answer = no_version(need, releases.iter().map(|t| &t.version));
        answer.install = suggestion(need, None, host);
        return answer;
    };
    let preferred = need.wheel.as_ref();
    let preferred = preferred.filter(|w| w.only || has(release, &w.label));
    let local = need.local().or(preferred.map(|w| w.label.as_str()));
    let checks = match local {
        None => wheel(release, release.cuda, host),
        Some(local) => named(release, local, host),
    };
    let shown = match local {
        None => release.version.to_string(),
        Some(local) => format!("{}+{local}", release.version),
    };
    let mut answer = Answer::of(need, &shown, checks);
    answer.install = match (verdict(&answer.checks), local) {
        (Verdict::Pass, None) => Some(plain(release)),
        (Verdict::Pass, Some(local)) => Some(from_index(release, local)),
        _ => suggestion(need, Some(release), host),
    };
    answer
}

/// Whether a release has a wheel of that local version.
fn has(release: &Torch, local: &str) -> bool {
    match local.strip_prefix("rocm") {
        Some(of) => release.rocms.iter().any(|r| r.as_str() == of),
        None => local == "cpu" || cuda_of(local).is_some_and(|c| release.cudas.contains(&c)),
    }
}

/// The steps for a release as it is locked: with its wheel, or as PyPI has it.
pub(crate) fn locked(release: &Torch, version: &crate::Version, host: &Host<'_>) -> Vec<Check> {
    match version.local() {
        Some(local) => named(release, local, host),
        None => wheel(release, release.cuda, host),
    }
}

/// The steps for one CUDA wheel of a release.
pub(crate) fn wheel(release: &Torch, cuda: Pair, host: &Host<'_>) -> Vec<Check> {
    runs(cuda, archs(release, cuda, host), host)
}

/// The code that a wheel holds, if that is known.
fn archs<'a>(release: &Torch, cuda: Pair, host: &'a Host<'_>) -> Option<&'a Archs> {
    let platform = if host.aarch64() { "aarch64" } else { "x86_64" };
    let minor = |v: &crate::Version| Pair(v.part(0), v.part(1));
    let of = minor(&release.version);
    let row = host.compat.torch_archs.iter().find(|row| {
        row.cuda == cuda
            && row.platform == platform
            && (minor(&row.from)..=minor(&row.to)).contains(&of)
    });
    row.map(|row| &row.archs)
}

/// A wheel by its local version.
fn named(release: &Torch, local: &str, host: &Host<'_>) -> Vec<Check> {
    let version = release.version.as_str();
    if local == "cpu" {
        let reason = Msg::new("accept-cpu-wheel");
        return vec![Check::new("wheel", Verdict::Warn, reason).from(&release.origin)];
    }
    if let Some(of) = local.strip_prefix("rocm") {
        let wheel = release.rocms.iter().find(|r| r.as_str() == of);
        return match wheel {
            Some(wheel) => rocm::wheel(wheel, host),
            None => vec![no_wheel(version, local, release)],
        };
    }
    match cuda_of(local).filter(|c| release.cudas.contains(c)) {
        Some(cuda) => wheel(release, cuda, host),
        None => vec![no_wheel(version, local, release)],
    }
}

fn no_wheel(version: &str, local: &str, release: &Torch) -> Check {
    let mut known: Vec<String> = release.cudas.iter().map(|c| local_of(*c)).collect();
    known.extend(release.rocms.iter().map(|r| format!("rocm{r}")));
    let reason = Msg::new("accept-wheel-unknown")
        .arg("wheel", format!("{version}+{local}"))
        .arg("known", known.join(" "));
    let ask = Msg::new("accept-ask-wheel");
    Check::new("wheel", Verdict::Unknown, reason)
        .from(&release.origin)
        .asking(ask)
}

/// `cu126` -> 12.6
pub(crate) fn cuda_of(local: &str) -> Option<Pair> {
    let digits = local.strip_prefix("cu")?;
    let at = digits.len().checked_sub(1).filter(|at| *at >= 2)?;
    let (major, minor) = digits.is_char_boundary(at).then(|| digits.split_at(at))?;
    Some(Pair(major.parse().ok()?, minor.parse().ok()?))
}

fn local_of(cuda: Pair) -> String {
    format!("cu{}{}", cuda.0, cuda.1)
}

fn plain(release: &Torch) -> String {
    pip_install(&format!("torch=={}", release.version))
}

fn from_index(release: &Torch, local: &str) -> String {
    format!("{} --index-url {INDEX}/{local}", plain(release))
}

/// The newest release that would work: among those that the need allows, else among all; of a release the wheel with the
/// fewest limits.
fn suggestion(need: &Need, asked: Option<&Torch>, host: &Host<'_>) -> Option<String> {
    let mut releases: Vec<&Torch> = host.compat.torch.iter().collect();
    releases.sort_by(|a, b| {
        let rank = |t: &Torch| {
            (
                asked.is_some_and(|a| a.version == t.version),
                need.allows(&t.version),
            )
        };
        rank(b)
            .cmp(&rank(a))
            .then_with(|| b.version.cmp(&a.version))
    });
    releases.into_iter().find_map(|release| best(release, host))
}

fn best(release: &Torch, host: &Host<'_>) -> Option<String> {
    if host.has_amd() {
        let mut wheels: Vec<_> = release.rocms.iter().collect();
        wheels.sort();
        let of = |w| verdict(&rocm::wheel(w, host));
        let found = wheels.iter().rev().find(|w| works(of(w)));
        // the wheel is right for the card even where nobody says which driver is there
        let found = found.or_else(|| {
            wheels
                .iter()
                .rev()
                .find(|w| of(w) == Verdict::Unknown && rocm::has_code(w, host))
        });
        return found.map(|w| from_index(release, &format!("rocm{w}")));
    }
    let mut cudas = vec![release.cuda];
    if decides(release.variants) {
        cudas.extend(release.cudas.iter().filter(|c| **c != release.cuda));
        cudas[1..].sort_by(|a, b| b.cmp(a));
    }
    let judged = cudas
        .iter()
        .map(|c| (*c, would(*c, archs(release, *c, host), host)));
    // the first of the best: PyPI's own, then the newest CUDA
    let (cuda, verdict) = judged.min_by_key(|(_, v)| *v)?;
    works(verdict).then(|| match cuda == release.cuda {
        true => plain(release),
        false => from_index(release, &local_of(cuda)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheels_are_named_by_their_cuda() {
        assert_eq!(cuda_of("cu126"), Some(Pair(12, 6)));
        assert_eq!(cuda_of("cu118"), Some(Pair(11, 8)));
        assert_eq!(cuda_of("cu1210"), Some(Pair(121, 0)));
        for local in ["cu", "cu1", "cux26", "rocm6", "cu12é"] {
            assert_eq!(cuda_of(local), None, "{local}");
        }
    }
}
