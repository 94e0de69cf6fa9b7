//! All GPUs adding up what each of them has, as they do after every step of a training: the bus bandwidth that it gives.
//!
//! [`measure`] uses NCCL where the machine has one, because training will, and otherwise a ring of our own (`ring`); the
//! method is named, and in both every sum is compared. Bus bandwidth is bytes over time, times 2 (n - 1) / n: what each
//! link of a ring carries (NVIDIA/nccl-tests, doc/PERFORMANCE.md). With NVLink SHARP the switches add up, fewer bytes pass
//! the links, and the figure may lie above that of the links.

mod ring;

use super::found::folders;
use super::look::Look;
use super::prove::{Deadline, PTX, Rate, Verified, capped, failed, wait, words, wrong_words};
use super::seen::STOPPED;
use super::sys::cuda::{Context, Lane, pattern};
use super::sys::memory::DeviceBuffer;
use super::sys::nccl::{Communicators, Nccl};
use super::{Finding, GpuError, Libraries, Reason, Seen, Severity};
use crate::step::{Conduct, median};
use lessee_model::ProbeReport;
use lessee_model::probe::{AllReduceReading, Reading};
use serde::Serialize;
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Sums that the host compares itself.
const HOST_CHECK_BYTES: usize = 1 << 20;
/// Samples behind a median, at least and at most.
const SAMPLES: std::ops::RangeInclusive<usize> = 5..=200;

#[derive(Clone, Debug)]
pub struct ReduceOptions {
    /// Added up on each GPU, bytes; less where memory is short.
    pub bytes: usize,
    /// Measured for at least this long.
    pub at_least: Duration,
    /// For everything, NCCL's start included.
    pub cap: Duration,
    /// Whether NCCL is taken from where the system's loader finds it.
    pub nccl_by_loader: bool,
    /// Folders where it may lie otherwise.
    pub nccl_folders: Vec<PathBuf>,
    /// GPUs that are left out, in CUDA's order: those that a proof found broken.
    pub skip: Vec<u32>,
}

impl Default for ReduceOptions {
    fn default() -> ReduceOptions {
        ReduceOptions {
            bytes: 4 << 30,
            at_least: Duration::from_secs(2),
            cap: Duration::from_secs(90),
            nccl_by_loader: true,
            nccl_folders: folders(Path::new("/"), "nccl", &["libnccl.so.2"]),
            skip: Vec::new(),
        }
    }
}

impl ReduceOptions {
    pub fn quick() -> ReduceOptions {
        ReduceOptions {
            bytes: 1 << 30,
            at_least: Duration::from_millis(300),
            cap: Duration::from_secs(20),
            ..ReduceOptions::default()
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct AllReduce {
    /// `nccl`, `ring over peer copies`, `ring through host memory`; absent where nothing was measured.
    pub method: Option<&'static str>,
    /// `2.21.5`
    pub nccl_version: Option<String>,
    /// Why a ring of our own was taken.
    pub nccl_not_used: Option<String>,
    /// The switches may have added up (NVLink SHARP), so that the figure is not that of the links.
    pub may_exceed_links: bool,
    /// CUDA's indices, in the order of the ring.
    pub gpus: Vec<u32>,
    pub bytes: usize,
    /// Bus bandwidth, GB/s.
    pub bus: Seen<Rate>,
    /// Bytes over time, GB/s.
    pub algorithm_gbs: Seen<f64>,
    /// Sums that were compared, over all GPUs.
    pub results: Seen<Verified>,
}

/// What a method gave.
struct Ran {
    method: &'static str,
    nccl_version: Option<String>,
    nccl_not_used: Option<String>,
    bytes: usize,
    seconds: Vec<f64>,
    results: Verified,
}

/// Adds up over all GPUs that are not left out.
pub fn measure(
    libraries: &Arc<Libraries>,
    look: Option<&Look>,
    options: &ReduceOptions,
    conduct: Conduct<'_>,
) -> AllReduce {
    conduct.tell("gpu.all_reduce", 0.0);
    let begun = Instant::now();
    let (asked, wanted) = (Arc::clone(libraries), options.clone());
    let counted = capped("start", options.cap, move |_| {
        let cuda = asked.cuda.as_ref().map_err(Clone::clone)?;
        cuda.init()?;
        let all = 0..cuda.count()?;
        Ok(all.filter(|i| !wanted.skip.contains(i)).collect::<Vec<_>>())
    });
    let mut out = AllReduce {
        method: None,
        nccl_version: None,
        nccl_not_used: None,
        may_exceed_links: false,
        gpus: counted.clone().unwrap_or_default(),
        bytes: 0,
        bus: Seen::unknown("not_tried", ""),
        algorithm_gbs: Seen::unknown("not_tried", ""),
        results: Seen::unknown("not_tried", ""),
    };
    let ran = match counted {
        Err(error) => Err(error),
        Ok(gpus) if gpus.len() < 2 => {
            out.bus = Seen::unknown("not_applicable", "one GPU");
            out.algorithm_gbs = Seen::unknown("not_applicable", "one GPU");
            out.results = Seen::unknown("not_applicable", "one GPU");
            return out;
        }
        Ok(_) if conduct.stopped() => return out,
        Ok(gpus) => {
            let (libraries, own) = (Arc::clone(libraries), options.clone());
            let stop = Arc::new(AtomicBool::new(false));
            let stopping = Arc::clone(&stop);
            // the start has had its part of it
            let left = options.cap.saturating_sub(begun.elapsed());
            std::thread::scope(|scope| {
                let all = scope.spawn(move || {
                    capped("all_reduce", left, move |deadline| {
                        run(&libraries, &gpus, &own, deadline, &stop)
                    })
                });
                while !all.is_finished() {
                    if conduct.stopped() {
                        stopping.store(true, Ordering::SeqCst);
                    }
                    let done = begun.elapsed().as_secs_f64() / options.cap.as_secs_f64();
                    conduct.tell("gpu.all_reduce", done);
                    std::thread::sleep(Duration::from_millis(5));
                }
                let gone = || GpuError::Worker {
                    step: "all_reduce".to_owned(),
                };
                all.join().unwrap_or_else(|_| Err(gone()))
            })
        }
    };
    match ran {
        Ok(ran) => out.take(ran, look),
        Err(error) => {
            out.bus = Seen::without(&error);
            out.algorithm_gbs = Seen::without(&error);
            out.results = Seen::without(&error);
        }
    }
    conduct.tell("gpu.all_reduce", 1.0);
    out
}

/// The GPUs with what is added up, and room for as much.
struct Bench {
    contexts: Vec<Arc<Context>>,
    data: Vec<DeviceBuffer>,
    other: Vec<DeviceBuffer>,
}

fn run(
    libraries: &Libraries,
    gpus: &[u32],
    options: &ReduceOptions,
    deadline: &Deadline,
    stop: &AtomicBool,
) -> Result<Ran, GpuError> {
    let cuda = libraries.cuda.as_ref().map_err(Clone::clone)?;
    let ptx = CStr::from_bytes_with_nul(PTX.as_bytes()).unwrap_or_default();
    let contexts: Result<Vec<_>, _> = gpus.iter().map(|i| Context::new(cuda, *i, ptx)).collect();
    let contexts = contexts?;
    let mut bytes = options.bytes;
    for context in &contexts {
        bytes = bytes.min(context.memory_free()? as usize / 4);
    }
    let bytes = ring::whole(bytes, gpus.len());
    let all = || -> Result<Vec<DeviceBuffer>, GpuError> {
        contexts.iter().map(|c| c.device_buffer(bytes)).collect()
    };
    let bench = Bench {
        data: all()?,
        other: all()?,
        contexts,
    };
    let not_used = match nccl(options) {
        Ok(nccl) => match by_nccl(&nccl, gpus, &bench, options, deadline, stop) {
            Ok((seconds, results)) => {
                return Ok(Ran {
                    method: "nccl",
                    nccl_version: nccl.version().ok(),
                    nccl_not_used: None,
                    bytes,
                    seconds,
                    results,
                });
            }
            // it is not NCCL that fails when the time is over or the user stops
            Err(cut @ (GpuError::TimeCap { .. } | GpuError::Cut { .. })) => return Err(cut),
            Err(error) => error,
        },
        Err(error) => error,
    };
    let mut direct = true;
    for (at, from) in gpus.iter().enumerate() {
        let next = (at + 1) % gpus.len();
        match cuda.can_access_peer(*from, gpus[next])? {
            true => bench.contexts[at].enable_peer(&bench.contexts[next])?,
            // the driver then copies through memory of the host
            false => direct = false,
        }
    }
    let ring = ring::Ring::new(&bench.contexts, &bench.data)?;
    let (seconds, results) = timed(&bench, options, deadline, stop, &mut || ring.all_reduce())?;
    Ok(Ran {
        method: match direct {
            true => "ring over peer copies",
            false => "ring through host memory",
        },
        nccl_version: None,
        nccl_not_used: Some(not_used.to_string()),
        bytes,
        seconds,
        results,
    })
}

/// The first that loads.
fn nccl(options: &ReduceOptions) -> Result<Arc<Nccl>, GpuError> {
    let by_loader = options.nccl_by_loader.then_some(None);
    let folders = options.nccl_folders.iter().map(|f| Some(f.as_path()));
    let mut answer = Err(GpuError::Library {
        library: "libnccl.so.2".to_owned(),
        what: "looked for nowhere".to_owned(),
    });
    for folder in by_loader.into_iter().chain(folders) {
        answer = Nccl::open(folder);
        if answer.is_ok() {
            break;
        }
    }
    answer.map(Arc::new)
}

fn by_nccl(
    nccl: &Arc<Nccl>,
    gpus: &[u32],
    bench: &Bench,
    options: &ReduceOptions,
    deadline: &Deadline,
    stop: &AtomicBool,
) -> Result<(Vec<f64>, Verified), GpuError> {
    let communicators = Communicators::new(nccl, gpus)?;
    timed(bench, options, deadline, stop, &mut || {
        communicators.all_reduce(&bench.contexts, &bench.data)
    })
}

/// One all-reduce whose sums are compared, then as many as time allows: seconds of each.
fn timed(
    bench: &Bench,
    options: &ReduceOptions,
    deadline: &Deadline,
    stop: &AtomicBool,
    all_reduce: &mut dyn FnMut() -> Result<(), GpuError>,
) -> Result<(Vec<f64>, Verified), GpuError> {
    for (g, (context, data)) in bench.contexts.iter().zip(&bench.data).enumerate() {
        context.fill(data, seed(g))?;
    }
    together(&bench.contexts)?;
    all_reduce()?;
    together(&bench.contexts)?;
    let results = compare(bench, deadline)?;
    let mut seconds = Vec::new();
    let stopped = || stop.load(Ordering::SeqCst);
    if stopped() {
        return Err(GpuError::Cut { why: STOPPED });
    }
    let begun = Instant::now();
    while results.wrong == 0
        && seconds.len() < *SAMPLES.end()
        && (seconds.len() < *SAMPLES.start() || begun.elapsed() < options.at_least)
    {
        let start = together(&bench.contexts)?;
        all_reduce()?;
        let end = together(&bench.contexts)?;
        wait(&bench.contexts[0], deadline, "all_reduce")?;
        seconds.push(end.seconds_since(&start)?);
        if deadline.passed() || stopped() {
            break;
        }
    }
    Ok((seconds, results))
}

/// All that was asked of any GPU is over before anything that is asked of any from here on; the event lies in between, on
/// the first GPU.
fn together(contexts: &[Arc<Context>]) -> Result<super::sys::memory::Event, GpuError> {
    let first = &contexts[0];
    for context in contexts {
        for lane in [Lane::Work, Lane::Copies] {
            first.wait_for(Lane::Work, &context.mark_on(lane)?)?;
        }
    }
    let between = first.mark()?;
    for context in contexts {
        for lane in [Lane::Work, Lane::Copies] {
            context.wait_for(lane, &between)?;
        }
    }
    Ok(between)
}

fn seed(gpu: usize) -> u32 {
    (gpu as u32).wrapping_mul(0x0101_0103) ^ 0x5EED_0001
}

/// Takes the parts of all others out of each GPU's sums, and compares what is left with that of the first; and compares
/// some sums on the host.
fn compare(bench: &Bench, deadline: &Deadline) -> Result<Verified, GpuError> {
    let mut verified = Verified { words: 0, wrong: 0 };
    let n = bench.contexts.len();
    for ((context, data), other) in bench.contexts.iter().zip(&bench.data).zip(&bench.other) {
        let part = data.bytes.min(HOST_CHECK_BYTES);
        let mut sums = context.host_buffer(part)?;
        context.copy_to_host(&sums, data)?;
        wait(context, deadline, "all_reduce")?;
        let sum = |at: u32| (0..n).fold(0_u32, |s, g| s.wrapping_add(pattern(at, seed(g))));
        let wrong = words(sums.bytes()?).zip(0..);
        let by_host = wrong.filter(|(word, at)| *word != sum(*at)).count() as u64;
        for g in 1..n {
            context.fill(other, seed(g))?;
            context.add(data.whole(), other.whole(), u32::MAX)?;
        }
        let by_kernel = wrong_words(context, data, seed(0), deadline)?;
        verified.words += (data.bytes / 4) as u64;
        verified.wrong += by_kernel.max(by_host);
    }
    Ok(verified)
}

impl AllReduce {
    fn take(&mut self, ran: Ran, look: Option<&Look>) {
        let n = self.gpus.len() as f64;
        let switched = look.map(|l| l.interconnect) == Some(super::look::Interconnect::Nvswitch);
        self.may_exceed_links = ran.method == "nccl" && switched;
        self.method = Some(ran.method);
        self.nccl_version = ran.nccl_version;
        self.nccl_not_used = ran.nccl_not_used;
        self.bytes = ran.bytes;
        self.results = Seen::Measured { value: ran.results };
        let seconds = ran.seconds.iter().filter(|s| **s > 0.0);
        let algorithm: Vec<f64> = seconds.map(|s| ran.bytes as f64 / s / 1e9).collect();
        // a rate of wrong sums is none
        let Some(middle) = median(&algorithm) else {
            return;
        };
        let factor = 2.0 * (n - 1.0) / n;
        self.algorithm_gbs = Seen::Measured { value: middle };
        self.bus = Seen::Measured {
            value: Rate {
                gbs: middle * factor,
                samples: algorithm.iter().map(|a| a * factor).collect(),
            },
        };
    }

    /// What follows from it.
    pub fn findings(&self) -> Vec<Finding> {
        if let Some(results) = self.results.get()
            && results.wrong > 0
        {
            let detail = format!("{} of {} sums are wrong", results.wrong, results.words);
            return vec![Finding::new(
                Severity::Fail,
                "all_reduce_wrong",
                "machine",
                detail,
            )];
        }
        match self.results.reason() {
            Some(reason) if reason.code != "not_applicable" && !reason.never_tried() => {
                vec![failed(reason, "machine")]
            }
            _ => Vec::new(),
        }
    }

    /// Puts the bus bandwidth into a report; nothing of a machine with one GPU.
    pub fn into_report(&self, report: &mut ProbeReport) {
        let applies = self.bus.reason().is_none_or(|r| r.code != "not_applicable");
        report.all_reduce = applies.then(|| AllReduceReading {
            method: self.method.map(str::to_owned),
            nccl_version: self.nccl_version.clone(),
            nccl_not_used: self.nccl_not_used.clone(),
            may_exceed_links: self.may_exceed_links,
            gpus: self.gpus.clone(),
            bytes: self.bytes as u64,
            algorithm_gbs: self.algorithm_gbs.clone().fact(),
            results: self.results.clone().fact(),
        });
        report.all_reduce_bus_gbs = match (&self.bus, self.results.get()) {
            (_, Some(results)) if results.wrong > 0 => Some(Reading::Failed {
                reason: Reason::new("wrong_results", results.wrong.to_string()).to_string(),
            }),
            (Seen::Measured { value } | Seen::Claimed { value }, _) => Some(Reading::Measured {
                value: value.gbs,
                samples: value.samples.clone(),
            }),
            (Seen::Unknown { reason }, _) if reason.code == "not_applicable" => None,
            (Seen::Unknown { reason }, _) => Some(Reading::Unknown {
                reason: reason.to_string(),
            }),
            (Seen::Failed { reason }, _) => Some(Reading::Failed {
                reason: reason.to_string(),
            }),
        };
    }
}
