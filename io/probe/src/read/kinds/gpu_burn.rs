//! gpu-burn: progress of all GPUs on one line that is written over and over, then a verdict a GPU.
//!
//! The program ends with status 0 whatever it found, and says nothing at all where a run was stopped: the verdict
//! is in the text only.

use crate::read::{Gpu, Read, labelled, source::Source};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Most GPUs of one machine that are listed.
const MAX_GPUS: usize = 1024;

pub(crate) fn recognise(source: &Source) -> bool {
    let head = source.head();
    let progress = head.contains("proc'd:") && head.contains("Gflop/s");
    let start = head.contains("Initialized device ") && head.contains(" MB available, using ");
    let end = head.contains("Tested ") && head.lines().any(|l| verdict(l).is_some());
    progress || start || end
}

pub(crate) fn read(source: &Source, out: &mut Read) {
    let mut verdicts = Vec::new();
    let mut tested = None;
    let mut last: Option<Progress> = None;
    // the counters start again with each tenth of the run: the greatest value is what is certain
    let mut errors: Vec<u64> = Vec::new();
    let mut dead: BTreeSet<usize> = BTreeSet::new();
    for (number, line) in source.lines() {
        let line = labelled::untagged(line).trim();
        if line.is_empty() {
            continue;
        }
        if let Some(verdict) = verdict(line) {
            if verdicts.len() < MAX_GPUS {
                verdicts.push(verdict);
            }
        } else if let Some(gpu) = listed(line) {
            if out.reading.gpus.len() < MAX_GPUS {
                out.reading.gpus.push(gpu);
            }
        } else if let Some(count) = line.strip_prefix("Tested ") {
            tested = count.split_whitespace().next().and_then(|w| w.parse().ok());
        } else if line.contains("proc'd:") {
            let mut understood = false;
            // several states on one line where carriage returns were lost
            for part in line.split("proc'd:").skip(1) {
                let Some(progress) = progress(part) else {
                    continue;
                };
                understood = true;
                errors.resize(errors.len().max(progress.errors.len()), 0);
                for (most, new) in errors.iter_mut().zip(&progress.errors) {
                    *most = (*most).max(*new);
                }
                dead.extend(&progress.died);
                last = Some(progress);
            }
            if !understood {
                super::unread(number, line, out);
            }
        } else if FAILURES.iter().any(|f| line.contains(f)) {
            out.problem("run_failed", "gpu-burn", line);
        } else if !NOTES.iter().any(|n| line.starts_with(n)) {
            super::unread(number, line, out);
        }
    }
    let columns = last.as_ref().map_or(0, |p| p.errors.len());
    let gpus: usize = match (tested, verdicts.len(), out.reading.gpus.len()) {
        (Some(n), ..) => n,
        (None, 0, 0) => columns,
        (None, 0, listed) => listed,
        (None, n, _) => n,
    };
    out.fact("gpus", gpus);
    for [gpu, word] in verdicts.iter().filter(|[_, word]| word != "OK") {
        out.problem("burn_faulty", format!("GPU{gpu}"), word);
    }
    for (gpu, count) in errors.iter().enumerate().filter(|(_, count)| **count > 0) {
        let detail = format!("{count} wrong results in one report");
        out.problem("compute_error", format!("GPU{gpu}"), detail);
    }
    for gpu in dead {
        out.problem(
            "gpu_died",
            format!("GPU{gpu}"),
            "stopped to answer in the run",
        );
    }
    if verdicts.is_empty() {
        let detail = "no verdict: the run was stopped or the paste ends early";
        out.problem("run_incomplete", "gpu-burn", detail);
    } else if verdicts.len() < gpus {
        let detail = format!("{} verdicts for {gpus} GPUs", verdicts.len());
        out.problem("run_incomplete", "gpu-burn", detail);
    }
    out.fact("verdicts", json!(verdicts));
    if let Some(last) = last {
        out.fact("gflops", last.gflops);
        out.fact("temperatures_c", last.temperatures);
        out.fact("most_errors", errors);
    }
}

const NOTES: [&str; 19] = [
    "Initialized device",
    "Results are",
    "Freed memory",
    "Uninitted",
    "Killing processes",
    "Summary at",
    "Burning for",
    "Run length not specified",
    "Using compare file",
    "Tested",
    "done",
    "Run on",
    "Number of GPUs",
    "Using ",
    "Couldn't find",
    "GPU Burn",
    "Caught",
    "Waiting for",
    "Exiting",
];

const FAILURES: [&str; 7] = [
    "No clients are alive",
    "Couldn't init a GPU test",
    "No CUDA devices",
    "Error in ",
    "CUDA_ERROR",
    "DIED",
    "Low mem for result",
];

/// `GPU 3: FAULTY`.
fn verdict(line: &str) -> Option<[String; 2]> {
    let (gpu, word) = labelled::split(line)?;
    let gpu = gpu.strip_prefix("GPU ")?;
    gpu.parse::<u32>().ok()?;
    matches!(word, "OK" | "FAULTY").then(|| [gpu.to_owned(), word.to_owned()])
}

/// `GPU 0: NAME (UUID: ...)`.
fn listed(line: &str) -> Option<Gpu> {
    let (gpu, text) = labelled::split(line)?;
    let (name, _) = text.split_once(" (UUID")?;
    Some(Gpu {
        index: Some(gpu.strip_prefix("GPU ")?.parse().ok()?),
        name: Some(name.trim().to_owned()),
        has_uuid: true,
        ..Gpu::default()
    })
}

struct Progress {
    gflops: Vec<Value>,
    errors: Vec<u64>,
    /// Places of the GPUs that stopped to answer.
    died: Vec<usize>,
    temperatures: Vec<Value>,
}

/// ` 2261 (7150 Gflop/s) - 0 (0 Gflop/s)   errors: 0 - 12  (WARNING!)   temps: 38 C - --`.
fn progress(text: &str) -> Option<Progress> {
    let (done, rest) = text.split_once("errors:")?;
    let (cells, temperatures) = rest.split_once("temps:").unwrap_or((rest, ""));
    let first = |cell: &str| {
        let cell = cell.trim();
        let end = cell.find(|c: char| !c.is_ascii_digit());
        cell[..end.unwrap_or(cell.len())].parse::<u64>().ok()
    };
    let speeds = done
        .split(" - ")
        .take(MAX_GPUS)
        .map(|cell| cell.split_once('(').and_then(|(_, speed)| first(speed)));
    let mut errors: Vec<u64> = Vec::new();
    let mut died = Vec::new();
    for word in cells.split_whitespace() {
        // a dead GPU counts -1; dashes between the cells are words of their own, or hang on a warning
        if let Ok(count) = word.parse::<i64>() {
            if errors.len() == MAX_GPUS {
                break;
            }
            errors.push(u64::try_from(count).unwrap_or(0));
        } else if word.starts_with("(DIED") {
            died.push(errors.len().checked_sub(1)?);
        }
    }
    if errors.is_empty() || died.len() > MAX_GPUS {
        return None;
    }
    let temperatures = temperatures
        .split(" - ")
        .take(errors.len())
        .map(|cell| json!(first(cell)));
    Some(Progress {
        gflops: speeds.map(|s| json!(s)).collect(),
        temperatures: temperatures.collect(),
        errors,
        died,
    })
}

#[cfg(test)]
mod tests {
    use super::{progress, verdict};

    #[test]
    fn progress_with_warnings() {
        let line =
            " 10 (7 Gflop/s) - 0 (0 Gflop/s)   errors: 12  (WARNING!)- 0   temps: 38 C - -- ";
        let progress = progress(line).unwrap();
        assert_eq!(progress.errors, [12, 0]);
        assert_eq!(progress.temperatures.len(), 2);
        let dead = super::progress(" 1 (2 Gflop/s) - -1 (0 Gflop/s)  errors: 0 - -1 (DIED!)");
        assert_eq!(dead.unwrap().died, [1]);
        assert_eq!(verdict("\tGPU 1: FAULTY").unwrap()[1], "FAULTY");
        assert!(verdict("GPU 1: NVIDIA L4").is_none());
    }
}
