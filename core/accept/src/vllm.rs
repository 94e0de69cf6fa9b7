//! vLLM: each release takes exactly one PyTorch, so it needs what that one's wheel needs.

use crate::driver;
use crate::facts::Vllm;
use crate::finding::{Answer, Check, Verdict, verdict};
use crate::judge::{Host, no_version, works};
use crate::need::Need;
use crate::shell::pip_install;
use crate::torch;
use crate::version::Version;
use lessee_model::Msg;

pub(crate) fn judge(need: &Need, host: &Host<'_>) -> Answer {
    let releases = &host.compat.vllm;
    let known = || releases.iter().map(|t| &t.version);
    let chosen = need.newest(known()).filter(|_| need.local().is_none());
    let Some(release) = releases.iter().find(|t| Some(&t.version) == chosen) else {
        return no_version(need, known());
    };
    let checks = of(release, need.locked_torch.as_ref(), host);
    let install = if works(verdict(&checks)) {
        Some(line(release))
    } else {
        let mut newer: Vec<&Vllm> = releases.iter().collect();
        newer.sort_by(|a, b| {
            let allowed = |v: &Vllm| need.allows(&v.version);
            allowed(b)
                .cmp(&allowed(a))
                .then_with(|| b.version.cmp(&a.version))
        });
        let found = newer
            .into_iter()
            .find(|r| works(verdict(&of(r, None, host))));
        found.map(line)
    };
    Answer {
        install,
        ..Answer::of(need, release.version.as_str(), checks)
    }
}

fn line(release: &Vllm) -> String {
    pip_install(&format!("vllm=={}", release.version))
}

/// Whether a release works on the machine.
pub(crate) fn carries(release: &Vllm, host: &Host<'_>) -> bool {
    works(verdict(&of(release, None, host)))
}

/// `locked`: the PyTorch that a lock pins in place of the one that the release takes.
fn of(release: &Vllm, locked: Option<&Version>, host: &Host<'_>) -> Vec<Check> {
    let torch = locked.unwrap_or(&release.torch);
    let pinned = host.compat.torch.iter().find(|t| t.version == *torch);
    let mut out = match (pinned, locked) {
        (Some(pinned), Some(locked)) => torch::locked(pinned, locked, host),
        (Some(pinned), None) => torch::wheel(pinned, pinned.cuda, host),
        (None, _) => {
            let reason = Msg::new("accept-code-missing-torch").arg("torch", torch.as_str());
            vec![Check::new("version", Verdict::Unknown, reason)]
        }
    };
    // its own code can be of a newer CUDA than the PyTorch that pip brings
    let of_torch = pinned.and_then(|p| match locked.and_then(Version::local) {
        Some(local) => torch::cuda_of(local),
        None => Some(p.cuda),
    });
    if let Some(own) = release
        .cuda
        .filter(|own| of_torch.is_some_and(|t| t < *own))
    {
        out.retain(|c| c.rule != "driver-cuda" && c.rule != "forward-compat");
        let mut carried = Vec::new();
        driver::carries(own, host, &mut carried);
        out.splice(0..0, carried);
    }
    for (name, card) in host.nvidia().filter(|(_, c)| c.cc < release.min_cc) {
        let reason = Msg::new("accept-min-cc")
            .arg("package", "vllm")
            .arg("gpu", name)
            .arg("cc", card.cc.to_string())
            .arg("min", release.min_cc.to_string());
        out.push(Check::new("gpu-code", Verdict::Fail, reason).from(&release.origin));
    }
    out
}
