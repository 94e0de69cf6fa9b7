//! `accept driver`: facts of a machine and what is needed on it become findings.

use super::{Done, evidence};
use crate::args::DriverArgs;
use crate::facts;
use lessee_accept::{
    Beside as FilesBeside, BrokenNeeds, Compat, Fault, Gpu, Machine, Need, NeedError, NeedsFile,
    Outcome, ScreenReading, Unreadable, doubts, hidden, judge, needs_of_file,
};
use lessee_console::{Failure, Settings};
use lessee_model::{Exit, GpuTable, Msg};
use lessee_probe_io::read::{Kind, MAX_INPUT_BYTES, Read as Capture, captures, read};
use lessee_probe_io::screen::{self, ScreenError, Shot};
use lessee_report::accept::{Beside, accepted_machine};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Most GPUs of a `--gpu NAME:N`.
const MOST_GPUS: usize = 1024;

type Needs = Vec<(String, Result<Need, NeedError>)>;

/// The check, the machine for readers, and how many packages of the files of needs no rule judges.
pub(super) fn check(args: &DriverArgs, settings: &Settings) -> Result<Done, Failure> {
    let facts = facts::builtin()?;
    let compat = lessee_catalog::compat()?;
    let (machines, shown) = match &args.file {
        Some(path) => {
            let bytes = match is_live(path) {
                true => live()?,
                false => capture(path)?,
            };
            (all_shown(&bytes, &facts.gpus, &compat), Some((path, bytes)))
        }
        None if args.driver.is_none() && args.gpu.is_empty() => {
            return Err(Failure::usage(Msg::new("accept-needs-machine"))
                .hint(Msg::new("hint-accept-machine")));
        }
        None => (vec![typed(args.driver.as_deref(), &args.gpu)?], None),
    };
    let (needs, not_judged) = needs(args)?;
    let mut findings = Vec::new();
    for (i, machine) in machines.iter().enumerate() {
        let mut own = judge(machine, &needs, &compat, settings.today());
        if i > 0 {
            for finding in &mut own {
                finding.subject = format!("{} ({})", finding.subject, i + 1);
            }
        }
        findings.extend(own);
    }
    let machine = merged(machines);
    let mut outcome = Outcome::new("driver", findings);
    let file = args.file.as_ref().map(|p| p.display().to_string());
    if let Some((path, bytes)) = shown {
        let from = match is_live(path) {
            true => "nvidia-smi -q".to_owned(),
            false => path.display().to_string(),
        };
        let kind = match screen::is_picture(&bytes) {
            true => "screenshot",
            false => "nvidia-smi",
        };
        let evidence = evidence(kind, from, &bytes, settings);
        outcome = outcome.resting_on(evidence, bytes);
    }
    Ok(Done {
        outcome,
        beside: Beside {
            machine: Some(accepted_machine(file, &machine)),
            not_judged,
            ..Beside::default()
        },
    })
}

/// `live`: this machine, where no file is called so.
pub(super) fn is_live(path: &Path) -> bool {
    path.as_os_str() == "live" && !path.exists()
}

fn live() -> Result<Vec<u8>, Failure> {
    lessee_probe_io::nvidia_smi().map_err(|e| {
        let msg = Msg::new("accept-no-nvidia-smi").arg("detail", e.to_string());
        Failure::usage(msg)
            .exit(Exit::Unreachable)
            .hint(Msg::new("hint-accept-machine"))
    })
}

/// A machine as it was typed.
///
/// # Errors
/// A number of GPUs that is none, or a CUDA version in place of the driver's number.
pub(super) fn typed(driver: Option<&str>, gpus: &[String]) -> Result<Machine, Failure> {
    let mut all = Vec::new();
    for text in gpus {
        let (name, n) = match text.rsplit_once(':') {
            None => (text.as_str(), 1),
            Some((name, n)) => match n.trim().parse() {
                Ok(n) if (1..=MOST_GPUS).contains(&n) => (name, n),
                _ => {
                    let msg = Msg::new("accept-gpu-count")
                        .arg("gpu", text.as_str())
                        .arg("most", MOST_GPUS);
                    return Err(Failure::usage(msg));
                }
            },
        };
        let gpu = Gpu {
            name: Some(name.trim().to_owned()),
            ..Gpu::default()
        };
        all.extend(std::iter::repeat_n(gpu, n));
    }
    all.truncate(MOST_GPUS);
    // drivers of AMD machines have small numbers too
    let amd = |g: &Gpu| {
        let name = g.name.as_deref().unwrap_or("").to_uppercase();
        name.contains("MI") || name.contains("AMD") || name.contains("RADEON")
    };
    if let Some(driver) = driver.filter(|_| !all.iter().any(amd))
        && let Some((major, minor)) = driver.trim().split_once('.')
        && major.parse::<u32>().is_ok_and(|m| (7..=19).contains(&m))
        && minor.parse::<u32>().is_ok()
    {
        let msg = Msg::new("accept-driver-is-cuda").arg("driver", driver);
        return Err(Failure::usage(msg).hint(Msg::new("hint-accept-driver-number")));
    }
    Ok(Machine {
        driver: driver.map(str::to_owned),
        gpus: all,
        ..Machine::default()
    })
}

fn needs(args: &DriverArgs) -> Result<(Needs, usize), Failure> {
    let mut needs: Needs = Vec::new();
    let mut others = 0;
    for text in &args.need {
        needs.push((hidden(text), Need::parse(text)));
    }
    for path in &args.needs {
        let file = of_file(path, needs_of_file)?;
        others += file.others;
        needs.extend(file.needs);
    }
    // the same line in two files is one need
    let mut seen = std::collections::HashSet::new();
    needs.retain(|(text, need)| seen.insert(format!("{text} {need:?}")));
    Ok((needs, others))
}

/// The needs of a file, and of those beside it that it names.
pub(super) fn of_file(
    path: &Path,
    read: fn(&str, &str, FilesBeside<'_>) -> Result<NeedsFile, BrokenNeeds>,
) -> Result<NeedsFile, Failure> {
    let (text, place) = facts::read_text(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let beside = |name: &str| {
        let other = folder.join(name);
        let near = Path::new(name).is_relative() && other.is_file();
        near.then(|| facts::read_text(&other).ok())
            .flatten()
            .map(|(text, _)| text)
    };
    read(&place, &text, &beside).map_err(|why| {
        let msg = Msg::new("accept-needs-broken")
            .arg("file", place.as_str())
            .arg("what", why.to_string());
        Failure::usage(msg)
    })
}

/// The bytes of a capture, `-` = stdin, as far as the reader looks and one more, which tells it that there is more.
pub(super) fn capture(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let limit = MAX_INPUT_BYTES as u64 + 1;
    if path.as_os_str() == "-" {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    }
    .map_err(|e| Failure::read(path, &e))?;
    Ok(bytes)
}

/// The machines of a file that holds several captures, those that are alike once.
fn all_shown(bytes: &[u8], gpus: &GpuTable, compat: &Compat) -> Vec<Machine> {
    if screen::is_picture(bytes) {
        return vec![one_shown(bytes, gpus, compat)];
    }
    let mut seen = std::collections::HashSet::new();
    let mut all = Vec::new();
    for capture in captures(bytes) {
        let machine = one_shown(&capture, gpus, compat);
        if seen.insert(format!("{machine:?}")) {
            all.push(machine);
        }
    }
    all
}

/// Several machines as readers see them: all of their GPUs, each driver once.
fn merged(machines: Vec<Machine>) -> Machine {
    let mut machines = machines.into_iter();
    let mut first = machines.next().unwrap_or_default();
    for other in machines {
        for (to, from) in [
            (&mut first.driver, other.driver),
            (&mut first.printed_cuda, other.printed_cuda),
        ] {
            match (to.as_mut(), from) {
                (Some(to), Some(from)) if to.split(", ").all(|d| d != from) => {
                    to.push_str(", ");
                    to.push_str(&from);
                }
                (Some(_), _) => {}
                (None, from) => *to = from,
            }
        }
        first.gpus.extend(other.gpus);
    }
    first
}

/// The one machine of a capture; where there are several, that is a reason not to tell.
pub(super) fn shown(bytes: &[u8], gpus: &GpuTable, compat: &Compat) -> Machine {
    let mut all = all_shown(bytes, gpus, compat);
    let n = all.len();
    let mut first = match n {
        0 => unreadable(Unreadable::Empty),
        _ => all.remove(0),
    };
    if n > 1 {
        first.faults.push(Fault {
            code: "several_captures".to_owned(),
            subject: "file".to_owned(),
            detail: format!("captures of different machines in one file: {n}"),
        });
    }
    first
}

/// Whatever is in a capture, it is an answer: what cannot be read is a reason, not an error.
fn one_shown(bytes: &[u8], gpus: &GpuTable, compat: &Compat) -> Machine {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return unreadable(Unreadable::Empty);
    }
    if screen::is_picture(bytes) {
        return pictured(bytes, gpus, compat);
    }
    let capture = read(bytes);
    let mut machine = machine(&capture, gpus);
    if capture.kind == Some(Kind::SmiTable) && !is_whole(bytes) {
        machine.faults.push(Fault {
            code: "incomplete_capture".to_owned(),
            subject: "file".to_owned(),
            detail: "the table ends before its last line".to_owned(),
        });
    }
    machine
}

/// A screenshot: what both readings agree upon becomes the table that nvidia-smi would have printed, which is then read as
/// any other.
fn pictured(bytes: &[u8], table: &GpuTable, compat: &Compat) -> Machine {
    let (first, second) = match screen::read(bytes) {
        Ok((first, second)) if first.is_smi || second.is_smi => (first, second),
        Ok(_) => return unreadable(Unreadable::NotRecognised),
        Err(ScreenError::NoReader) => return unreadable(Unreadable::NoReader),
        Err(e) => return unreadable(Unreadable::Picture(e.to_string())),
    };
    let reading = |shot: &Shot| ScreenReading {
        title: shot.title.clone(),
        driver: shot.driver.clone(),
        cuda: shot.cuda.clone(),
        gpus: shot
            .gpus
            .iter()
            .map(|g| (g.name.clone(), g.memory_mib))
            .collect(),
        memory_rows: shot.memory_rows,
        whole: shot.whole,
    };
    let of = |name: &str| usual(name, table);
    let both = first.merged(&second);
    let doubts = doubts(
        &reading(&first),
        &reading(&second),
        &reading(&both),
        of,
        compat,
    );
    let capture = read(both.table().as_bytes());
    Machine {
        doubts,
        pictured: true,
        unreadable: None,
        ..machine(&capture, table)
    }
}

/// Whether the table of `nvidia-smi` is there to its end: its list of processes, and the line that closes it. The reader
/// takes half a table as it is, as all of its GPUs may be there; whoever signs on it must know.
fn is_whole(bytes: &[u8]) -> bool {
    let text = lessee_probe_io::decoded(&bytes[..bytes.len().min(MAX_INPUT_BYTES)]);
    let Some((_, processes)) = text.split_once("Processes:") else {
        return false;
    };
    let mut lines = processes.lines().skip(1).map(str::trim_start);
    lines.any(|l| l.starts_with("+--"))
}

fn unreadable(why: Unreadable) -> Machine {
    Machine {
        captured: true,
        unreadable: Some(why),
        ..Machine::default()
    }
}

fn machine(capture: &Capture, table: &GpuTable) -> Machine {
    let reading = &capture.reading;
    let why = match capture.kind {
        None => Some(Unreadable::NotRecognised),
        Some(Kind::SmiError) => {
            let code = reading.problems.first().map(|p| p.code.to_string());
            Some(Unreadable::Failed(code.unwrap_or_default()))
        }
        Some(kind) if reading.driver.is_none() && reading.gpus.is_empty() => {
            Some(Unreadable::OtherTool(kind.as_str().to_owned()))
        }
        Some(_) => None,
    };
    if let Some(why) = why {
        return unreadable(why);
    }
    let gpus = reading.gpus.iter().map(|g| Gpu {
        name: g.name.clone(),
        memory_mib: g.memory_total_mib,
        usual_mib: g.name.as_deref().and_then(|n| usual(n, table)),
        ecc: g.ecc,
        mig: g.mig,
        vgpu: g.virtualization.as_deref() == Some("VGPU"),
    });
    // in WSL the tool is of Linux and the driver of Windows: they always differ
    let wsl = capture.facts.get("wsl").and_then(|w| w.as_bool()) == Some(true);
    let faults = reading.problems.iter();
    let faults = faults.filter(|p| !(wsl && p.code == "tool_driver_differ"));
    let faults = faults.map(|p| Fault {
        code: p.code.to_string(),
        subject: p.subject.clone(),
        detail: p.detail.clone(),
    });
    // other tools print the CUDA that they ran with
    let of_driver = matches!(
        capture.kind,
        Some(Kind::SmiTable | Kind::SmiQText | Kind::SmiXml)
    );
    let fabric = capture.facts.get("gpu0").and_then(|g| g.get("fabric"));
    Machine {
        driver: reading.driver.clone(),
        printed_cuda: reading.cuda.clone().filter(|_| of_driver),
        gpus: gpus.collect(),
        faults: faults.collect(),
        captured: true,
        fabric_ready: fabric.and_then(|f| f.as_str()) == Some("Completed"),
        unreadable: None,
        ..Machine::default()
    }
}

/// MiB that a product shows, where its name says which product it is: cards of laptops are others than those whose name
/// they bear, and half a name can be that of either.
fn usual(name: &str, table: &GpuTable) -> Option<u64> {
    let lower = name.trim().to_lowercase();
    let other = ["laptop", "max-q", "mobile"]
        .iter()
        .any(|w| lower.contains(w));
    if other || lower.ends_with("...") {
        return None;
    }
    let found = table.spec(&table.resolve(name)?)?;
    let usable = found.spec.usable_mib.filter(|_| !found.ambiguous)?;
    Some(u64::from(usable))
}
