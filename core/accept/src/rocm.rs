//! AMD: a ROCm build needs a kernel driver near its own release and code for the card. ROCm wheels are never on PyPI.

use crate::facts::{Library, OnAmd, Pair, Role};
use crate::finding::{Answer, Check, Verdict, verdict};
use crate::gpu::{AmdCard, Known};
use crate::judge::{Host, no_version, works};
use crate::need::Need;
use crate::version::Version;
use lessee_model::Msg;

/// A need for ROCm itself.
pub(crate) fn judge(need: &Need, host: &Host<'_>) -> Answer {
    let known: Vec<Version> = host
        .compat
        .rocm
        .iter()
        .filter_map(|r| r.version.to_string().parse().ok())
        .collect();
    let chosen = match need.exact() {
        // 6.2.4 is an update of 6.2
        Some(exact) => known
            .iter()
            .find(|k| exact.begins_with(k))
            .map(|_| exact.clone()),
        None => need.newest(known.iter()).cloned(),
    };
    let Some(version) = chosen else {
        return no_version(need, known.iter());
    };
    let checks = wheel(&version, host);
    let mut newest: Vec<&Version> = known.iter().collect();
    newest.sort_by(|a, b| b.cmp(a));
    let install = match works(verdict(&checks)) {
        true => Some(version.to_string()),
        false => {
            let mut newest = newest.into_iter();
            newest
                .find(|v| works(verdict(&wheel(v, host))))
                .map(ToString::to_string)
        }
    };
    let install =
        install.map(|v| format!("apt-get install rocm  # release {v} of repo.radeon.com"));
    Answer {
        install,
        ..Answer::of(need, version.as_str(), checks)
    }
}

fn pair(version: &Version) -> Pair {
    Pair(version.part(0), version.part(1))
}

/// The steps for a ROCm build.
pub(crate) fn wheel(version: &Version, host: &Host<'_>) -> Vec<Check> {
    let mut out = Vec::new();
    if host.gpus.is_empty() {
        let check = Check::new("gpu", Verdict::Unknown, Msg::new("accept-gpu-none"));
        return vec![check.asking(Msg::new("accept-ask-capture"))];
    }
    for (name, known) in &host.gpus {
        match known {
            Known::Amd(card) => code(version, name, card, host, &mut out),
            Known::Nvidia(card) => {
                let reason = Msg::new("accept-nvidia-rocm").arg("gpu", name.as_str());
                out.push(Check::new("gpu", Verdict::Fail, reason).from(&card.origin));
            }
            Known::Unknown => {
                let reason = Msg::new("accept-gpu-unknown").arg("gpu", name.as_str());
                let check = Check::new("gpu", Verdict::Unknown, reason);
                out.push(check.asking(Msg::new("accept-ask-capability")));
            }
        }
    }
    if host.has_amd() {
        driver(version, host, &mut out);
    }
    out
}

/// The steps for a library that has code for AMD cards beside that for CUDA.
pub(crate) fn library(library: &Library, host: &Host<'_>, out: &mut Vec<Check>) {
    let say = |id: &'static str| Msg::new(id).arg("package", library.package.as_str());
    let ask = || Msg::new("accept-ask-rocm");
    let check = match (library.rocm, &host.driver) {
        (OnAmd::From(from), Some(driver)) => {
            let reason = say("accept-library-rocm")
                .arg("rocm", from.to_string())
                .arg("driver", driver.version.as_str());
            let verdict = match library.role {
                _ if pair(&driver.version) < from => Verdict::Fail,
                Role::Source => Verdict::Warn,
                Role::Brings | Role::Major => Verdict::Pass,
            };
            Check::new("driver-rocm", verdict, reason)
        }
        (OnAmd::From(_), None) => {
            let reason = Msg::new("accept-rocm-driver-unknown");
            Check::new("driver-rocm", Verdict::Unknown, reason).asking(ask())
        }
        (OnAmd::No | OnAmd::NotKnown, _) => {
            let reason = say("accept-library-rocm-unknown");
            Check::new("gpu-code", Verdict::Unknown, reason).asking(Msg::new("accept-ask-code"))
        }
    };
    out.push(check.from(&library.origin));
}

/// Whether every card is known to be served.
pub(crate) fn has_code(version: &Version, host: &Host<'_>) -> bool {
    let mut out = Vec::new();
    for (name, known) in &host.gpus {
        if let Known::Amd(card) = known {
            code(version, name, card, host, &mut out);
        }
    }
    works(verdict(&out))
}

fn code(version: &Version, name: &str, card: &AmdCard, host: &Host<'_>, out: &mut Vec<Check>) {
    let release = pair(version);
    let say = |id: &'static str| {
        Msg::new(id)
            .arg("gpu", name)
            .arg("gfx", card.gfx.as_str())
            .arg("rocm", version.as_str())
    };
    let row = host.compat.rocm.iter().find(|r| r.version == release);
    let (verdict, id, origin) = match row {
        Some(row) if row.gpus.contains(&card.gfx) => {
            (Verdict::Pass, "accept-rocm-code", &row.origin)
        }
        Some(row) => (Verdict::Fail, "accept-rocm-no-code", &row.origin),
        None if release < card.first_rocm => (Verdict::Fail, "accept-rocm-no-code", &card.origin),
        // first-party words on the card, none on this release
        None if card.origin.confidence == lessee_model::Confidence::Verified => {
            (Verdict::Pass, "accept-rocm-code", &card.origin)
        }
        None => (Verdict::Unknown, "accept-rocm-code-unknown", &card.origin),
    };
    let mut check = Check::new("gpu-code", verdict, say(id)).from(origin);
    if verdict == Verdict::Unknown {
        check = check.asking(Msg::new("accept-ask-code"));
    }
    out.push(check);
}

/// Whether the kernel driver serves this user space.
fn driver(version: &Version, host: &Host<'_>, out: &mut Vec<Check>) {
    let release = pair(version);
    let ask = || Msg::new("accept-ask-rocm");
    let Some(driver) = &host.driver else {
        let check = Check::new(
            "driver-rocm",
            Verdict::Unknown,
            Msg::new("accept-rocm-driver-unknown"),
        );
        out.push(check.asking(ask()));
        return;
    };
    let kernel = pair(&driver.version);
    let say = |id: &'static str| {
        Msg::new(id)
            .arg("rocm", version.as_str())
            .arg("driver", driver.version.as_str())
    };
    let row = host.compat.rocm.iter().find(|r| r.version == kernel);
    let check = match row {
        _ if kernel == release => {
            Check::new("driver-rocm", Verdict::Pass, say("accept-rocm-driver"))
        }
        Some(row) if (row.from..=row.to).contains(&release) => {
            Check::new("driver-rocm", Verdict::Pass, say("accept-rocm-driver")).from(&row.origin)
        }
        // the matrix ends with the releases of its day
        Some(row) => Check::new("driver-rocm", Verdict::Unknown, say("accept-rocm-far"))
            .from(&row.origin)
            .asking(ask()),
        None => Check::new("driver-rocm", Verdict::Unknown, say("accept-rocm-far")).asking(ask()),
    };
    out.push(check);
}
