//! What every measuring step shares: a time cap, a way to be stopped, a place to tell how far it is, and small figures.
//!
//! A step takes `&Conduct` and its own struct of options, and returns its own struct of results. Nothing here prints,
//! installs signal handlers or decides about verdicts. Start with [`Conduct`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lessee_model::probe::{Latency, Reading};

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// `disk.random_read`, `feed.memory`: stable names, to be translated by who shows them.
    pub step: &'static str,
    /// 0 to 1.
    pub done: f64,
}

/// How a step is to be carried out.
#[derive(Clone, Copy)]
pub struct Conduct<'a> {
    /// Set by whoever handles Ctrl-C. A step that sees it cleans up and returns what it has.
    pub stop: &'a AtomicBool,
    pub tell: &'a (dyn Fn(Progress) + Sync),
}

impl<'a> Conduct<'a> {
    pub fn new(stop: &'a AtomicBool, tell: &'a (dyn Fn(Progress) + Sync)) -> Conduct<'a> {
        Conduct { stop, tell }
    }

    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn tell(&self, step: &'static str, done: f64) {
        (self.tell)(Progress {
            step,
            done: done.clamp(0.0, 1.0),
        });
    }

    /// A part of the step that may take this long.
    pub(crate) fn part(&self, step: &'static str, cap: Duration) -> Part<'a> {
        self.tell(step, 0.0);
        Part {
            conduct: *self,
            step,
            start: Instant::now(),
            cap,
        }
    }
}

/// A running part of a step, with its cap.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    conduct: Conduct<'a>,
    step: &'static str,
    start: Instant,
    cap: Duration,
}

impl Part<'_> {
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    pub(crate) fn left(&self) -> Duration {
        self.cap.saturating_sub(self.elapsed())
    }

    /// Out of time, or told to stop.
    pub(crate) fn over(&self) -> bool {
        self.conduct.stopped() || self.elapsed() >= self.cap
    }

    /// Progress by time, for parts that run until their cap.
    pub(crate) fn tick(&self) {
        let done = self.elapsed().as_secs_f64() / self.cap.as_secs_f64().max(1e-9);
        self.conduct.tell(self.step, done);
    }
}

/// `None` of nothing. Takes nanoseconds, which it sorts.
pub(crate) fn latency(nanos: &mut [u32]) -> Option<Latency> {
    nanos.sort_unstable();
    let at = |share: f64| Some(f64::from(*nanos.get(rank(nanos.len(), share))?) / 1e3);
    Some(Latency {
        count: nanos.len(),
        p50_us: at(0.5)?,
        p90_us: at(0.9)?,
        p99_us: at(0.99)?,
        p999_us: at(0.999)?,
        max_us: at(1.0)?,
    })
}

/// Nearest rank, so that each percentile is a latency that really occurred.
fn rank(count: usize, share: f64) -> usize {
    ((count as f64 * share).ceil() as usize).clamp(1, count.max(1)) - 1
}

/// Nanoseconds since, at most 4.29 s: an I/O that takes longer is out of any scale.
pub(crate) fn nanos_since(start: Instant) -> u32 {
    u32::try_from(start.elapsed().as_nanos()).unwrap_or(u32::MAX)
}

pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let mid = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[mid]),
        _ => Some((sorted[mid - 1] + sorted[mid]) / 2.0),
    }
}

/// Why there is no figure: the stable codes of reasons. Their words are `probe-reason-...` in the catalogue of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The time it was given was over.
    OutOfTime,
    /// Too few steps of training for a rate or a utilisation.
    TooFewSteps,
    /// The consumer took what it got.
    NotPaced,
    /// Nobody said how long a step takes.
    NoStepTime,
    NoRoom,
    /// The system gives no more memory.
    NoMemory,
    /// The system's own words.
    Io,
    /// The device itself reports an error.
    DeviceError,
    /// Read back is not what was written.
    WrongData,
    NoFiles,
    NoneReadable,
    /// The system does not show it.
    NotShown,
    /// Two ways of timing the clock do not agree.
    ClocksDiffer,
    NoConnection,
    NotInSsh,
    SshNotUnderstood,
}

impl Why {
    pub const ALL: [Why; 16] = [
        Why::OutOfTime,
        Why::TooFewSteps,
        Why::NotPaced,
        Why::NoStepTime,
        Why::NoRoom,
        Why::NoMemory,
        Why::Io,
        Why::DeviceError,
        Why::WrongData,
        Why::NoFiles,
        Why::NoneReadable,
        Why::NotShown,
        Why::ClocksDiffer,
        Why::NoConnection,
        Why::NotInSsh,
        Why::SshNotUnderstood,
    ];

    pub fn code(self) -> &'static str {
        match self {
            Why::OutOfTime => "out_of_time",
            Why::TooFewSteps => "too_few_steps",
            Why::NotPaced => "not_paced",
            Why::NoStepTime => "no_step_time",
            Why::NoRoom => "no_room",
            Why::NoMemory => "no_memory",
            Why::Io => "io",
            Why::DeviceError => "device_error",
            Why::WrongData => "wrong_data",
            Why::NoFiles => "no_files",
            Why::NoneReadable => "none_readable",
            Why::NotShown => "not_shown",
            Why::ClocksDiffer => "clocks_differ",
            Why::NoConnection => "no_connection",
            Why::NotInSsh => "not_in_ssh",
            Why::SshNotUnderstood => "ssh_not_understood",
        }
    }

    fn reason(self, detail: &str) -> String {
        match detail {
            "" => self.code().to_owned(),
            detail => format!("{}: {detail}", self.code()),
        }
    }
}

/// The median of single runs as a reading; nothing measured is unknown, with the reason.
pub(crate) fn measured(samples: Vec<f64>, otherwise: Why) -> Reading {
    match median(&samples) {
        Some(value) => Reading::Measured { value, samples },
        None => unknown(otherwise, ""),
    }
}

pub(crate) fn unknown(why: Why, detail: impl AsRef<str>) -> Reading {
    Reading::Unknown {
        reason: why.reason(detail.as_ref()),
    }
}

pub(crate) fn failed(why: Why, detail: impl AsRef<str>) -> Reading {
    Reading::Failed {
        reason: why.reason(detail.as_ref()),
    }
}

/// What the system answered: a full disk, a broken one, data that is not what was written, or anything else.
pub(crate) fn io_failed(error: &std::io::Error) -> Reading {
    use std::io::ErrorKind;
    let why = match (error.kind(), error.raw_os_error()) {
        (ErrorKind::StorageFull | ErrorKind::QuotaExceeded, _) => Why::NoRoom,
        (ErrorKind::InvalidData, None) => Why::WrongData,
        (_, Some(code)) if code == rustix::io::Errno::IO.raw_os_error() => Why::DeviceError,
        _ => Why::Io,
    };
    failed(why, error.to_string())
}

/// Fast numbers for offsets and file contents, the same for the same seed. Not for secrets.
#[derive(Clone, Debug)]
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Noise {
        Noise(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// 0 to `end` - 1; 0 where `end` is 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let word = self.next().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_latencies_that_occurred_in_order() {
        let mut nanos: Vec<u32> = (1..=1000).rev().map(|n| n * 1000).collect();
        let l = latency(&mut nanos).unwrap();
        assert_eq!(
            (l.p50_us, l.p99_us, l.max_us, l.count),
            (500.0, 990.0, 1000.0, 1000)
        );
        assert!(l.p50_us <= l.p90_us && l.p90_us <= l.p99_us && l.p99_us <= l.p999_us);
        assert_eq!(latency(&mut []), None);
        assert_eq!(latency(&mut [7]).unwrap().p50_us, 0.007);
    }

    #[test]
    fn nothing_measured_is_unknown_never_zero() {
        assert!(matches!(
            measured(vec![], Why::OutOfTime),
            Reading::Unknown { .. }
        ));
        assert_eq!(measured(vec![3.0, 1.0, 2.0], Why::Io).measured(), Some(2.0));
        assert_eq!(median(&[1.0, 2.0]), Some(1.5));
    }

    #[test]
    fn every_reason_has_words_in_both_languages() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../app/report/locales");
        for lang in ["en", "zh-CN"] {
            let text = std::fs::read_to_string(format!("{folder}/{lang}/measure.ftl")).unwrap();
            for why in Why::ALL {
                let id = format!("probe-reason-{}", why.code().replace('_', "-"));
                assert!(text.contains(&format!("\n{id} = ")), "{lang}: {id}");
            }
        }
    }

    #[test]
    fn what_the_system_says_has_its_code() {
        let of = |e: std::io::Error| io_failed(&e).reason().unwrap_or("").to_owned();
        assert!(of(rustix::io::Errno::NOSPC.into()).starts_with("no_room: "));
        assert!(of(rustix::io::Errno::IO.into()).starts_with("device_error: "));
        assert!(of(rustix::io::Errno::PERM.into()).starts_with("io: "));
        let other = std::io::Error::new(std::io::ErrorKind::InvalidData, "x");
        assert_eq!(of(other), "wrong_data: x");
    }

    #[test]
    fn noise_stays_below_its_end() {
        let mut noise = Noise::new(7);
        assert!((0..1000).all(|_| noise.below(10) < 10));
        assert_eq!(noise.below(0), 0);
        let mut bytes = [0; 13];
        noise.fill(&mut bytes);
        assert!(bytes.iter().any(|b| *b != 0));
    }
}
