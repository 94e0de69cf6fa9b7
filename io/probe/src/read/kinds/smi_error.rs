//! `nvidia-smi` that fails: a sentence instead of a table.
//!
//! Also asked by the other kinds for lines that are not theirs: a GPU that is gone announces itself between the lines
//! of a healthy one's table.

use crate::read::{Read, source::Source, value};
use serde_json::Value;

/// One failure, by its words in lower case.
pub(super) struct Failure {
    words: &'static [&'static str],
    /// Stable word.
    pub(super) code: &'static str,
    /// What it means for who rents the machine; empty where the words say it themselves.
    say: &'static str,
}

/// In order: the first that fits says more than those after it.
const FAILURES: &[Failure] = &[
    Failure {
        words: &["no devices were found"],
        code: "no_devices",
        say: "Driver answers but sees no GPU (passthrough missing, GPU off the bus, or wrong module): the box you pay for shows no GPU",
    },
    Failure {
        words: &["no devices found"],
        code: "no_devices",
        say: "Driver answers but sees no GPU (passthrough missing, GPU off the bus, or wrong module): the box you pay for shows no GPU",
    },
    Failure {
        words: &["driver/library version mismatch"],
        code: "driver_library_mismatch",
        say: "kernel module and user library differ; reboot or reload the module (host must do it)",
    },
    Failure {
        words: &["nvml/rm version mismatch"],
        code: "driver_library_mismatch",
        say: "kernel module and user library differ; reboot or reload the module (host must do it)",
    },
    Failure {
        words: &["unable to determine the device handle"],
        code: "gpu_lost",
        say: "a GPU does not answer (off the bus or crashed); only a reset or reboot by the host brings it back",
    },
    Failure {
        words: &["gpu is lost"],
        code: "gpu_lost",
        say: "a GPU does not answer (off the bus or crashed); only a reset or reboot by the host brings it back",
    },
    Failure {
        words: &["gpu requires reset"],
        code: "gpu_needs_reset",
        say: "a GPU waits for a reset (host must do it)",
    },
    Failure {
        words: &["failed to initialize nvml", "unknown error"],
        code: "nvml_unknown_error",
        say: "typical when a container lost access to /dev/nvidia* after systemctl daemon-reload (cgroup)",
    },
    Failure {
        words: &["gpu access blocked by the operating system"],
        code: "gpu_access_blocked",
        say: "the operating system keeps the GPU from this session (usual on WSL without the Windows driver)",
    },
    Failure {
        words: &["insufficient permissions"],
        code: "insufficient_permissions",
        say: "this user may not open the GPU's device files",
    },
    Failure {
        words: &["couldn't communicate with the nvidia driver"],
        code: "no_driver",
        say: "the kernel module is not loaded or does not answer (host must do it)",
    },
    Failure {
        words: &["failed to initialize nvml", "driver not loaded"],
        code: "no_driver",
        say: "the kernel module is not loaded (host must do it)",
    },
    Failure {
        words: &["nvml error", "driver not loaded"],
        code: "no_driver",
        say: "the kernel module is not loaded (host must do it)",
    },
    Failure {
        words: &["couldn't find libnvidia-ml"],
        code: "no_nvml_library",
        say: "the user library of the driver is not in this container or system",
    },
    Failure {
        words: &["could not select device driver", "gpu"],
        code: "no_container_toolkit",
        say: "the container engine knows no GPUs: the NVIDIA container toolkit is missing (host must do it)",
    },
    Failure {
        words: &["nvidia-smi", "command not found"],
        code: "no_nvidia_smi",
        say: "the tool is not in this container or system; says nothing about the GPU",
    },
    Failure {
        words: &["nvidia-smi", "not found"],
        code: "no_nvidia_smi",
        say: "the tool is not in this container or system; says nothing about the GPU",
    },
    Failure {
        words: &["nvidia-smi", "no such file"],
        code: "no_nvidia_smi",
        say: "the tool is not in this container or system; says nothing about the GPU",
    },
    Failure {
        words: &["nvidia-smi", "不是内部或外部命令"],
        code: "no_nvidia_smi",
        say: "the tool is not in this container or system; says nothing about the GPU",
    },
    Failure {
        words: &["nvidia-smi", "is not recognized"],
        code: "no_nvidia_smi",
        say: "the tool is not in this container or system; says nothing about the GPU",
    },
    Failure {
        words: &["failed to initialize nvml"],
        code: "nvml_error",
        say: "",
    },
    Failure {
        words: &["nvidia-smi has failed"],
        code: "smi_failed",
        say: "",
    },
];

/// Longest line that is looked at: such a sentence is short, and lowering the case copies.
const MAX_LINE: usize = 2000;

/// The failure that a line states.
pub(super) fn failure(line: &str) -> Option<&'static Failure> {
    if line.len() > MAX_LINE || !may_be(line) {
        return None;
    }
    let lower = line
        .to_lowercase()
        .replace(['\u{2019}', '\u{2018}', '`'], "'");
    FAILURES
        .iter()
        .find(|f| f.words.iter().all(|w| lower.contains(w)))
}

/// Three letters of which each of [`FAILURES`] has some: most lines of a long log are told apart by them, without a
/// copy and twenty searches.
const STEMS: [&[u8; 3]; 6] = [b"nvm", b"nvi", b"gpu", b"dev", b"dri", b"per"];

fn may_be(line: &str) -> bool {
    line.as_bytes().windows(3).any(|w| {
        matches!(w[0] | 0x20, b'n' | b'g' | b'd' | b'p')
            && STEMS.iter().any(|s| w.eq_ignore_ascii_case(*s))
    })
}

/// Takes a line of another kind in if it states a failure.
pub(super) fn take(line: &str, out: &mut Read) -> bool {
    let Some(failure) = failure(line) else {
        return false;
    };
    let subject = pci(line).unwrap_or_else(|| "driver".to_owned());
    out.problem(failure.code, subject, line.trim());
    true
}

/// The PCI address in a line: `0000:0B:00.0`, `00000000:0B:00.0`, glued to `GPU` or not.
pub(super) fn pci(line: &str) -> Option<String> {
    let hex_or_mark = |c: char| c.is_ascii_hexdigit() || matches!(c, ':' | '.');
    line.split(|c| !hex_or_mark(c))
        .map(|word| word.trim_matches([':', '.']))
        .find(|word| is_pci(word))
        .map(str::to_owned)
}

/// `[domain:]bus:device.function` with hexadecimal digits.
pub(super) fn is_pci(word: &str) -> bool {
    let mut parts = word.rsplit(':');
    let hex = |t: &str, sizes: &[usize]| {
        sizes.contains(&t.len()) && t.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let device = parts.next().and_then(|p| p.split_once('.'));
    device.is_some_and(|(d, f)| hex(d, &[2]) && hex(f, &[1]))
        && parts.next().is_some_and(|b| hex(b, &[2]))
        && parts.next().is_none_or(|d| hex(d, &[4, 8]))
        && parts.next().is_none()
}

pub(crate) fn recognise(source: &Source) -> bool {
    source.head_lines().any(|line| failure(line).is_some())
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let mut first: Option<&Failure> = None;
    let mut none = false;
    let mut address = None;
    let mut version = None;
    for (number, line) in source.lines() {
        if let Some(failure) = failure(line) {
            take(line, out);
            first.get_or_insert(failure);
            none |= failure.code == "no_devices";
            address = address.or_else(|| pci(line));
        } else if let Some(stated) = line.trim().strip_prefix("NVML library version:") {
            version = Some(value::shown(stated.trim(), 40));
        } else if !value::is_noise(line) && !is_advice(line) {
            out.not_understood(number, line);
        }
    }
    let Some(failure) = first else { return };
    // no GPU is what one sentence says; the others leave the number open
    out.fact("gpus", if none { Value::from(0) } else { Value::Null });
    out.fact("problem", failure.code);
    if let Some(address) = address {
        out.fact("pci", address);
    }
    if failure.code == "driver_library_mismatch" || version.is_some() {
        out.fact("nvml_version", version);
    }
    if !failure.say.is_empty() {
        out.fact("say", failure.say);
    }
}

/// What the tool adds to its failures.
fn is_advice(line: &str) -> bool {
    const ADVICE: [&str; 3] = [
        "Make sure that the latest NVIDIA driver is installed",
        "Please also try adding directory",
        "Reboot the system to recover this GPU",
    ];
    ADVICE.iter().any(|a| line.contains(a))
}

#[cfg(test)]
mod tests {
    use super::{FAILURES, failure, may_be, pci};

    #[test]
    fn every_failure_passes_its_own_sieve() {
        for f in FAILURES {
            let line = f.words.join(" ");
            assert!(may_be(&line) && failure(&line).is_some(), "{line}");
        }
    }

    #[test]
    fn addresses_are_found_in_any_company() {
        for line in [
            "GPU 0000:0B:00.0: Unknown",
            "GPU0: 0000:0B:00.0: lost",
            "GPU0000:0B:00.0: x",
        ] {
            assert_eq!(pci(line).as_deref(), Some("0000:0B:00.0"), "{line}");
        }
        assert_eq!(pci("at 10:00:00.5"), None);
    }
}
