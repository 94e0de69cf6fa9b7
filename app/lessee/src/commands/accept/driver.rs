//! `accept driver`: facts of a machine and what is needed on it become findings.

use super::{Done, evidence};
use crate::args::DriverArgs;
use crate::facts;
use lessee_accept::{
    Beside as FilesBeside, BrokenNeeds, Compat, Fault, Gpu, Machine, Need, NeedError, NeedsFile,
    Outcome, ScreenReading, Unreadable, doubts, hidden, judge, needs_of_file,
};
use lessee_console::{Failure, Settings};
use lessee_model::{GpuTable, Msg};
use lessee_probe_io::read::{Kind, MAX_INPUT_BYTES, Read as Capture, read};
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
    let (machine, shown) = match &args.file {
        Some(path) => {
            let bytes = capture(path)?;
            (shown(&bytes, &facts.gpus, &compat), Some((path, bytes)))
        }
        None if args.driver.is_none() && args.gpu.is_empty() => {
            return Err(Failure::usage(Msg::new("accept-needs-machine"))
                .hint(Msg::new("hint-accept-machine")));
        }
        None => (typed(args.driver.as_deref(), &args.gpu), None),
    };
    let (needs, not_judged) = needs(args)?;
    let findings = judge(&machine, &needs, &compat, settings.today());
    let mut outcome = Outcome::new("driver", findings);
    let file = args.file.as_ref().map(|p| p.display().to_string());
    if let Some((path, bytes)) = shown {
        let from = path.display().to_string();
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

/// A machine as it was typed.
pub(super) fn typed(driver: Option<&str>, gpus: &[String]) -> Machine {
    let gpus = gpus.iter().flat_map(|text| {
        let counted = text.rsplit_once(':').and_then(|(name, n)| {
            let n: usize = n.trim().parse().ok()?;
            (1..=MOST_GPUS).contains(&n).then_some((name, n))
        });
        let (name, n) = counted.unwrap_or((text, 1));
        let gpu = Gpu {
            name: Some(name.trim().to_owned()),
            ..Gpu::default()
        };
        std::iter::repeat_n(gpu, n)
    });
    Machine {
        driver: driver.map(str::to_owned),
        gpus: gpus.take(MOST_GPUS).collect(),
        ..Machine::default()
    }
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
        let msg = Msg::new("accept-needs-broken").arg("file", place.as_str());
        Failure::usage(msg.arg("what", why.to_string()))
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

/// Whatever is in a capture, it is an answer: what cannot be read is a reason, not an error.
pub(super) fn shown(bytes: &[u8], gpus: &GpuTable, compat: &Compat) -> Machine {
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
    let faults = reading.problems.iter().map(|p| Fault {
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

/// MiB that a product shows, where its name says which product it is.
fn usual(name: &str, table: &GpuTable) -> Option<u64> {
    let found = table.spec(&table.resolve(name)?)?;
    let usable = found.spec.usable_mib.filter(|_| !found.ambiguous)?;
    Some(u64::from(usable))
}
