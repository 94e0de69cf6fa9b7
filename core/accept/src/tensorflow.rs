//! TensorFlow: each release is built and tested with one CUDA; the libraries come with the extra `and-cuda` only.

use crate::facts::TensorFlow;
use crate::finding::{Answer, Check, verdict};
use crate::judge::{Host, no_version, runs, works};
use crate::libs;
use crate::need::Need;
use crate::shell::{pip_install, quoted};
use lessee_model::Msg;

pub(crate) fn judge(need: &Need, host: &Host<'_>) -> Answer {
    let releases = &host.compat.tensorflow;
    let chosen = need.newest(releases.iter().map(|t| &t.version));
    let Some(release) = releases.iter().find(|t| Some(&t.version) == chosen) else {
        return no_version(need, releases.iter().map(|t| &t.version));
    };
    let mut checks = match need.installed {
        true => alone(release, host),
        false => of(release, host),
    };
    let install = if works(verdict(&checks)) {
        Some(line(release))
    } else {
        pinned(release, host).or_else(|| newest(need, host))
    };
    if release.and_cuda && !need.has_extra("and-cuda") {
        let reason = Msg::new("accept-tensorflow-bare");
        checks.push(Check::remark("libraries", reason).from(&release.origin));
    }
    Answer {
        install,
        ..Answer::of(need, release.version.as_str(), checks)
    }
}

fn of(release: &TensorFlow, host: &Host<'_>) -> Vec<Check> {
    let mut out = alone(release, host);
    if let Some(major) = cudnn(release) {
        libs::newest_cudnn(major, CUDA_12, host, &mut out);
    }
    out
}

/// Without the cuDNN that comes with it.
fn alone(release: &TensorFlow, host: &Host<'_>) -> Vec<Check> {
    runs(release.cuda, Some(&release.archs), host)
}

/// Which build of cuDNN the extra `and-cuda` takes.
const CUDA_12: &str = "cu12";

/// Since cuDNN 9 the extra takes the newest of its major, before that a fixed one.
fn cudnn(release: &TensorFlow) -> Option<u64> {
    Some(release.cudnn.major()).filter(|m| release.and_cuda && *m >= 9)
}

/// The same release with an older cuDNN, where only that keeps it from running.
fn pinned(release: &TensorFlow, host: &Host<'_>) -> Option<String> {
    let pin = libs::older_cudnn(cudnn(release)?, CUDA_12, host)?;
    works(verdict(&alone(release, host))).then(|| format!("{} {}", line(release), quoted(&pin)))
}

fn line(release: &TensorFlow) -> String {
    match release.and_cuda {
        true => pip_install(&format!("tensorflow[and-cuda]=={}", release.version)),
        false => pip_install(&format!("tensorflow=={}", release.version)),
    }
}

fn newest(need: &Need, host: &Host<'_>) -> Option<String> {
    let mut releases: Vec<&TensorFlow> = host.compat.tensorflow.iter().collect();
    releases.sort_by(|a, b| {
        let allowed = |t: &TensorFlow| need.allows(&t.version);
        allowed(b)
            .cmp(&allowed(a))
            .then_with(|| b.version.cmp(&a.version))
    });
    let found = releases.into_iter().find(|r| works(verdict(&of(r, host))));
    found.map(line)
}
