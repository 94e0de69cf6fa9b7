//! JAX: the package alone computes on the CPU; the extras `cuda12` and `cuda13` bring a plugin with its libraries.

use crate::finding::{Answer, Check, Verdict, verdict};
use crate::judge::{Host, no_version, works};
use crate::libs;
use crate::need::Need;
use crate::shell::{pip_install, quoted};
use lessee_model::Msg;

/// Extras, newest first.
const EXTRAS: [&str; 2] = ["cuda13", "cuda12"];

pub(crate) fn judge(need: &Need, host: &Host<'_>) -> Answer {
    let rows = || host.compat.libraries.iter().filter(|l| l.package == "jax");
    let asked = EXTRAS
        .iter()
        .find(|e| need.extras.iter().any(|x| x.starts_with(**e)));
    if let Some(extra) = asked {
        let mut answer = libs::of(need, "jax", extra, host);
        answer.install = line(need, Some(extra), host);
        return answer;
    }
    let Some(version) = libs::version(need, rows()) else {
        return no_version(need, rows().map(|l| &l.to));
    };
    // without an extra: judged as the best of them, and never better than works with limits
    let fitting = rows().filter(|l| libs::within(l, &version));
    let judged = fitting.map(|l| libs::of_need(l, need, host));
    let Some(mut checks) = judged.min_by_key(|c| verdict(c)) else {
        return no_version(need, rows().map(|l| &l.to));
    };
    if works(verdict(&checks)) {
        let origin = rows().next().map(|l| l.origin.clone());
        let mut check = Check::new("libraries", Verdict::Warn, Msg::new("accept-jax-bare"));
        check.origin = origin;
        checks.insert(0, check);
    }
    Answer {
        install: line(need, None, host),
        ..Answer::of(need, version.as_str(), checks)
    }
}

/// The newest release with the plugin that has the fewest limits here.
fn line(need: &Need, extra: Option<&str>, host: &Host<'_>) -> Option<String> {
    let rows = || host.compat.libraries.iter().filter(|l| l.package == "jax");
    let wanted = libs::version(need, rows());
    let mut rows: Vec<_> = rows()
        .map(|l| {
            let version = match &wanted {
                Some(v) if libs::within(l, v) => v.clone(),
                _ => l.to.clone(),
            };
            let asked = wanted.as_ref() == Some(&version);
            let same = extra.is_some_and(|e| l.flavour == e);
            let mut judged = verdict(&libs::checks(l, host));
            // an older cuDNN, where only that is in the way
            let pin = libs::pin(l, host).filter(|_| !works(judged));
            if pin.is_some() {
                judged = verdict(&libs::alone(l, host));
            }
            ((asked, version, same), judged, l, pin)
        })
        .filter(|(_, v, ..)| works(*v))
        .collect();
    // the release asked for, then newer ones, then the extra asked for, then fewer limits, then the newer CUDA
    rows.sort_by(|a, b| {
        b.0.cmp(&a.0)
            .then(a.1.cmp(&b.1))
            .then_with(|| b.2.flavour.cmp(&a.2.flavour))
    });
    let ((_, version, _), _, library, pin) = rows.first()?;
    let wheel = pip_install(&format!("jax[{}]=={version}", library.flavour));
    Some(match pin {
        Some(pin) => format!("{wheel} {}", quoted(&pin.to_string())),
        None => wheel,
    })
}
