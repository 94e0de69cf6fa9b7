//! What is outside Python and stands in the way: another processor, a driver's library that is not the driver's, cuDNN that nothing brings.

use super::repair::{Due, RepairKind};
use super::{Environment, LibraryKind, SourceKind};
use crate::finding::{Check, Finding, Verdict};
use crate::judge::Host;
use lessee_model::Msg;

/// Whether an image is for the processor of the machine: x86-64, unless its GPU is part of an Arm board.
pub(crate) fn architecture(env: &Environment, host: &Host<'_>) -> Option<Finding> {
    let here = |k| matches!(k, SourceKind::Live | SourceKind::Venv);
    if env.sources.iter().any(|s| here(s.kind)) {
        return None;
    }
    let machine = match host.aarch64() {
        true => "aarch64",
        false => "x86_64",
    };
    let known = |a: &&str| matches!(*a, "x86_64" | "aarch64");
    let image = env.arch.as_deref().filter(known)?;
    let reason = Msg::new("accept-env-arch")
        .arg("image", image)
        .arg("machine", machine);
    let check = Check::new("architecture", Verdict::Fail, reason);
    let asking = check.asking(Msg::new("accept-ask-env-arch").arg("machine", machine));
    (image != machine).then(|| asking.finding(image))
}

/// Remarks and faults of the libraries.
pub(crate) fn check(env: &Environment, out: &mut Vec<Finding>, due: &mut Vec<Due>) {
    let live = env.sources.iter().any(|s| s.kind == SourceKind::Live);
    let of = |kind| env.libraries.iter().filter(move |l| l.kind == kind);
    for library in of(LibraryKind::Libcuda) {
        let say = |id: &'static str| {
            Msg::new(id)
                .arg("version", library.version.as_str())
                .arg("path", library.path.as_str())
                .arg("driver", env.driver.as_deref().unwrap_or("?"))
        };
        let subject = format!("libcuda {}", library.version);
        match env.driver.as_deref() {
            Some(driver) if live && driver != library.version => {
                let check = Check::new(
                    "driver-library",
                    Verdict::Fail,
                    say("accept-env-libcuda-other"),
                );
                out.push(
                    check
                        .asking(Msg::new("accept-ask-reboot"))
                        .finding(&subject),
                );
                due.push(Due {
                    kind: RepairKind::Driver,
                    subject,
                    line: None,
                });
            }
            _ if live => {}
            // the container runtime brings the host's own; one in the image may win over it
            _ => {
                let check = Check::new(
                    "driver-library",
                    Verdict::Warn,
                    say("accept-env-libcuda-inside"),
                );
                out.push(check.finding(&subject));
            }
        }
    }
    for library in of(LibraryKind::CudaCompat) {
        let reason = Msg::new("accept-env-compat")
            .arg("version", library.version.as_str())
            .arg("path", library.path.as_str());
        let check = Check::new("forward-compat", Verdict::Warn, reason);
        out.push(check.finding(format!("cuda-compat {}", library.version)));
    }
}
