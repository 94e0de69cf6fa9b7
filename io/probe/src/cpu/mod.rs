//! Processor and memory: cores granted against cores seen, the real clock under load, stolen time, memory bandwidth.
//!
//! What tables say is kept apart as [`Claims`]. Not here: cache latencies, topology, what a GPU needs (the caller divides by
//! its GPUs with [`CpuReport::per_gpu`]). Start at [`run`].

mod clock;
mod grant;
mod stream;

pub use grant::{Roots, claims, grant};
pub use lessee_model::probe::{Claims, Grant, StreamBandwidth};

use crate::finding::{Finding, Severity};
use crate::step::{self, Conduct, Why};
use lessee_model::probe::{HostReading, Reading};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// STREAM asks for four times the cache, and a hypervisor may claim none.
const OVER_CACHE: u64 = 4;
const ARRAY_MIN: u64 = 64 << 20;
const ARRAY_MAX: u64 = 4 << 30;

#[derive(Clone, Debug, Serialize)]
pub struct CpuOptions {
    /// Threads; `None`: the granted cores, rounded up.
    pub threads: Option<usize>,
    /// Bytes of each of STREAM's three arrays; `None`: four times the cache, at most a twelfth of the free memory.
    pub array_bytes: Option<u64>,
    /// They are never larger than this: memory that is touched first takes its time.
    pub array_max: u64,
    pub clock_s: f64,
    /// For STREAM.
    pub cap_s: f64,
    /// Share of stolen time from which on it is a warning, 0 to 1.
    pub steal_warn: f64,
}

impl Default for CpuOptions {
    fn default() -> Self {
        CpuOptions {
            threads: None,
            array_bytes: None,
            array_max: ARRAY_MAX,
            clock_s: 2.0,
            cap_s: 10.0,
            // nobody set a limit
            steal_warn: 1.0,
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct CpuReport {
    pub options: CpuOptions,
    pub grant: Grant,
    pub claimed: Claims,
    pub threads: usize,
    /// Median over all threads, which run at once.
    pub ghz: Reading,
    /// Median of each thread.
    pub ghz_by_thread: Vec<f64>,
    /// Share of all processor time that the hypervisor gave to others while this ran, 0 to 1.
    pub steal: Reading,
    pub stream: StreamBandwidth,
    pub stream_one_thread: StreamBandwidth,
    pub memory_bytes: Option<u64>,
    pub findings: Vec<Finding>,
}

/// What one GPU of this machine gets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PerGpu {
    pub cores: Option<f64>,
    pub triad_gbs: Option<f64>,
}

impl CpuReport {
    /// Its part of `lessee/probe/v1`. The cores are what the system grants: stated, not measured.
    pub fn reading(&self) -> HostReading {
        let claimed = |value| Reading::Claimed { value };
        HostReading {
            cores: self.grant.granted.map(claimed),
            memory_gib: self
                .memory_bytes
                .map(|b| claimed(b as f64 / f64::from(1 << 30))),
            stream_gbs: Some(self.stream.triad_gbs.clone()),
            ghz: Some(self.ghz.clone()),
            ghz_by_thread: self.ghz_by_thread.clone(),
            steal: Some(self.steal.clone()),
            grant: Some(self.grant.clone()),
            claimed: Some(self.claimed.clone()),
            stream: Some(self.stream.clone()),
            stream_one_thread: Some(self.stream_one_thread.clone()),
        }
    }

    pub fn per_gpu(&self, gpus: usize) -> Option<PerGpu> {
        let share = |value: f64| value / gpus as f64;
        (gpus > 0).then(|| PerGpu {
            cores: self.grant.granted.map(share),
            triad_gbs: self.stream.triad_gbs.measured().map(share),
        })
    }
}

/// Measures; cannot fail as a whole, what cannot be told is `Unknown` in its place.
pub fn run(options: &CpuOptions, roots: Roots<'_>, conduct: &Conduct<'_>) -> CpuReport {
    let grant = grant(roots);
    let claimed = claims(roots);
    let threads = options
        .threads
        .unwrap_or_else(|| grant.granted.unwrap_or(1.0).ceil() as usize)
        .clamp(1, 1024);
    let before = grant::ticks(roots.proc);

    let time = seconds(options.clock_s);
    let part = conduct.part("cpu.clock", time);
    let windows: Vec<Vec<f64>> = std::thread::scope(|scope| {
        let one = |_| scope.spawn(|| clock::ghz(time, &|| part.over()));
        let threads: Vec<_> = (0..threads).map(one).collect();
        let join = |t: std::thread::ScopedJoinHandle<'_, Vec<f64>>| t.join().unwrap_or_default();
        threads.into_iter().map(join).collect()
    });
    let ghz_by_thread: Vec<f64> = windows.iter().filter_map(|w| step::median(w)).collect();

    let memory = |key: &str| meminfo(roots.proc, key);
    let cache = claimed.last_level_cache_bytes;
    let mut findings = Vec::new();
    let mut push = |severity, code, detail: String| {
        findings.push(Finding::new(severity, code, "machine", detail));
    };
    let wanted = options.array_bytes.unwrap_or_else(|| {
        ARRAY_MIN.max(cache.unwrap_or(0) * OVER_CACHE * claimed.sockets.unwrap_or(1) as u64)
    });
    // sixty invented sockets have no sixty caches
    let wanted = wanted.min(options.array_max);
    let array_bytes = wanted.min(memory("MemAvailable:").unwrap_or(wanted * 12) / 12);
    if array_bytes < wanted {
        let detail = format!("{} MiB, not {} MiB", array_bytes >> 20, wanted >> 20);
        push(Severity::Note, "stream_cached", detail);
    }
    // one thread touches all of it alone, and has one cache
    let alone = array_bytes.min(ARRAY_MIN.max(cache.unwrap_or(0) * OVER_CACHE));
    let measure = |name, threads, share| {
        let part = conduct.part(name, seconds(options.cap_s * share));
        let bytes = if threads == 1 { alone } else { array_bytes };
        stream::run(threads, bytes, cache, &part)
    };
    let stream = measure("cpu.stream", threads, 0.7);
    let stream_one_thread = measure("cpu.stream_one", 1, 0.3);
    if !(stream.verified && stream_one_thread.verified) {
        push(Severity::Fail, "compute_wrong", "STREAM".to_owned());
    }
    if let (Some(granted), Some(seen)) = (grant.granted, grant.seen)
        && granted < seen as f64
    {
        let detail = format!("{granted:.1} of {seen} processors");
        push(Severity::Warn, "cpu_quota", detail);
    }
    let steal = steal(before, grant::ticks(roots.proc));
    if let Some(share) = steal.measured()
        && share > options.steal_warn
    {
        let detail = format!("{:.1} %", share * 100.0);
        push(Severity::Warn, "cpu_steal", detail);
    }
    CpuReport {
        options: options.clone(),
        ghz: step::measured(ghz_by_thread.clone(), Why::ClocksDiffer),
        steal,
        memory_bytes: memory("MemTotal:"),
        grant,
        claimed,
        threads,
        ghz_by_thread,
        stream,
        stream_one_thread,
        findings,
    }
}

/// A cap that cannot be waited for is none.
fn seconds(s: f64) -> Duration {
    Duration::try_from_secs_f64(s.clamp(0.0, 3600.0)).unwrap_or_default()
}

fn steal(before: Option<(u64, u64)>, after: Option<(u64, u64)>) -> Reading {
    match (before, after) {
        (Some(before), Some(after)) if after.0 > before.0 => Reading::Measured {
            value: after.1.saturating_sub(before.1) as f64 / (after.0 - before.0) as f64,
            samples: Vec::new(),
        },
        (Some(_), Some(_)) => step::unknown(Why::NotShown, "/proc/stat"),
        _ => step::unknown(Why::NotShown, "/proc/stat"),
    }
}

fn meminfo(proc: &Path, key: &str) -> Option<u64> {
    let text = std::fs::read_to_string(proc.join("meminfo")).ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix(key))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    fn small() -> CpuOptions {
        CpuOptions {
            threads: Some(2),
            array_bytes: Some(1 << 20),
            clock_s: 0.05,
            cap_s: 0.5,
            ..CpuOptions::default()
        }
    }

    #[test]
    fn this_machine_is_measured() {
        let roots = Roots {
            proc: Path::new("/proc"),
            sys: Path::new("/sys"),
        };
        let stop = AtomicBool::new(false);
        let report = run(&small(), roots, &Conduct::new(&stop, &|_| {}));
        assert!(report.grant.granted.unwrap() > 0.0);
        assert!(report.stream.verified && report.stream.threads == 2);
        assert!(report.stream.triad_gbs.measured().is_some());
        assert!(matches!(
            report.steal,
            Reading::Measured { .. } | Reading::Unknown { .. }
        ));
        if let Some(ghz) = report.ghz.measured() {
            assert!((0.1..20.0).contains(&ghz), "not a clock: {ghz}");
        }
        assert!(report.per_gpu(0).is_none());
        assert!(report.per_gpu(4).unwrap().cores.unwrap() > 0.0);
        assert!(matches!(
            report.reading().cores,
            Some(Reading::Claimed { .. })
        ));
    }

    #[test]
    fn a_machine_that_shows_nothing_is_unknown_not_zero() {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots {
            proc: dir.path(),
            sys: dir.path(),
        };
        let stop = AtomicBool::new(true);
        let report = run(&small(), roots, &Conduct::new(&stop, &|_| {}));
        assert!(matches!(report.steal, Reading::Unknown { .. }));
        assert!(report.reading().cores.is_none() && report.memory_bytes.is_none());
    }

    #[test]
    fn stolen_time_is_a_share_of_all_time() {
        assert_eq!(
            steal(Some((100, 5)), Some((200, 30))),
            Reading::Measured {
                value: 0.25,
                samples: vec![]
            }
        );
        assert!(matches!(steal(None, None), Reading::Unknown { .. }));
    }
}
