//! vLLM: each release takes exactly one PyTorch, so it needs what that one's wheel needs.

use crate::facts::Vllm;
use crate::finding::{Answer, Check, Verdict, verdict};
use crate::judge::{Host, no_version, works};
use crate::need::Need;
use crate::torch;
use lessee_model::Msg;

pub(crate) fn judge(need: &Need, host: &Host<'_>) -> Answer {
    let releases = &host.compat.vllm;
    let known = || releases.iter().map(|t| &t.version);
    let chosen = need.newest(known()).filter(|_| need.local().is_none());
    let Some(release) = releases.iter().find(|t| Some(&t.version) == chosen) else {
        return no_version(need, known());
    };
    let checks = of(release, host);
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
        let found = newer.into_iter().find(|r| works(verdict(&of(r, host))));
        found.map(line)
    };
    Answer { checks, install }
}

fn line(release: &Vllm) -> String {
    format!("pip install vllm=={}", release.version)
}

/// Whether a release works on the machine.
pub(crate) fn carries(release: &Vllm, host: &Host<'_>) -> bool {
    works(verdict(&of(release, host)))
}

fn of(release: &Vllm, host: &Host<'_>) -> Vec<Check> {
    let mut out = match host
        .compat
        .torch
        .iter()
        .find(|t| t.version == release.torch)
    {
        Some(pinned) => torch::wheel(pinned, pinned.cuda, host),
        None => {
            let reason = Msg::new("accept-code-missing-torch").arg("torch", release.torch.as_str());
            vec![Check::new("version", Verdict::Unknown, reason)]
        }
    };
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
