//! The disk: random reads at several depths, streams, a checkpoint, small files. With O_DIRECT and threads.
//!
//! [`run`] writes one file of noise (or reads one of the user's), and reports figures as fio's psync engine would. All that
//! was written is gone afterwards. Not here: io_uring, asynchronous queues, raw devices, dropping the cache of the whole
//! machine (that needs root and disturbs others). Start at [`run`], then `engine.rs`.

mod engine;
mod error;
mod file;
mod small;
mod space;

pub use error::DiskError;
pub use lessee_model::probe::{Checkpoint, RandomRead, SmallFiles, Stream};

use crate::finding::{Finding, Severity};
use crate::step::{Conduct, Why};
use file::TestFile;
use lessee_model::probe::{DiskReading, Reading, reason_parts};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Debug, Serialize)]
pub struct DiskOptions {
    /// A folder on the disk under test.
    pub dir: PathBuf,
    /// A file of the user's to read instead of one of our own: nothing is written to it.
    pub existing: Option<PathBuf>,
    /// Wanted size of our own file; less where space or time is short.
    pub file_bytes: u64,
    /// Numbers of threads of random reads.
    pub depths: Vec<usize>,
    /// Numbers of threads of sequential reads; the last one also writes.
    pub streams: Vec<usize>,
    /// 0: none.
    pub checkpoint_bytes: u64,
    /// The user's small files; `None`: a set of our own.
    pub samples: Option<PathBuf>,
    /// Files of our own set, 0: none.
    pub small_files: usize,
    pub small_bytes: usize,
    pub small_threads: usize,
    /// For all together.
    pub cap_s: f64,
}

impl DiskOptions {
    pub fn new(dir: PathBuf) -> DiskOptions {
        DiskOptions {
            dir,
            existing: None,
            file_bytes: 4 << 30,
            depths: vec![1, 4, 16],
            streams: vec![1, 4],
            checkpoint_bytes: 1 << 30,
            samples: None,
            small_files: 2000,
            small_bytes: 110 << 10,
            small_threads: 8,
            cap_s: 60.0,
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct DiskReport {
    pub options: DiskOptions,
    /// `ext4`, `overlay`, ...; the number of an unknown one.
    pub file_system: String,
    pub file_bytes: u64,
    /// Reads and writes went past the page cache.
    pub direct: bool,
    pub random: Vec<RandomRead>,
    pub write: Option<Stream>,
    pub read: Vec<Stream>,
    pub checkpoint: Option<Checkpoint>,
    pub small: Option<SmallFiles>,
    pub findings: Vec<Finding>,
}

impl DiskReport {
    /// Its part of `lessee/probe/v1`: the best depth of each.
    pub fn reading(&self) -> DiskReading {
        let best = |all: Vec<&Reading>| {
            let value = |r: &&Reading| r.measured().unwrap_or(0.0);
            all.into_iter()
                .max_by(|a, b| value(a).total_cmp(&value(b)))
                .cloned()
        };
        DiskReading {
            read_gbs: best(self.read.iter().map(|s| &s.gbs).collect()),
            write_gbs: self.write.as_ref().map(|s| s.gbs.clone()),
            random_read_iops: best(self.random.iter().map(|r| &r.iops).collect()),
            small_files_per_second: self.small.as_ref().map(|s| s.per_second.clone()),
            folder: Some(self.options.dir.display().to_string()),
            file_system: Some(self.file_system.clone()),
            file_bytes: Some(self.file_bytes),
            direct: Some(self.direct),
            random: self.random.clone(),
            read: self.read.clone(),
            write: self.write.clone(),
            checkpoint: self.checkpoint.clone(),
            small: self.small.clone(),
        }
    }
}

/// Tests the disk below `options.dir`.
///
/// # Errors
/// Options that make no sense, a folder that cannot be written, too little space, a file that cannot be opened.
pub fn run(options: &DiskOptions, conduct: &Conduct<'_>) -> Result<DiskReport, DiskError> {
    check(options)?;
    let mut findings = Vec::new();
    let place = space::Place::of(&options.dir)?;
    let cap = |share: f64| Duration::from_secs_f64(options.cap_s * share);
    let threads = options.streams.last().copied().unwrap_or(1);

    let mut write = None;
    let file = match &options.existing {
        Some(path) => TestFile::open(path)?,
        None => {
            let len = place.file_bytes(options, &mut findings)?;
            let mut file = TestFile::create(&options.dir)?;
            let part = conduct.part("disk.write", cap(0.2));
            let (stream, written) = engine::write(&file, len, threads, &part);
            if written < len && stream.gbs.measured().is_some() {
                let detail = space::cut(written, len);
                findings.push(Finding::new(
                    Severity::Note,
                    "disk_file_cut",
                    "disk",
                    detail,
                ));
            }
            file.len = written;
            write = Some(stream);
            file
        }
    };
    place.note(&file, &mut findings);

    let (mut random, mut read) = (Vec::new(), Vec::new());
    if file.len > 0 {
        for depth in &options.depths {
            let time = cap(0.3 / options.depths.len() as f64);
            file.forget();
            let part = conduct.part("disk.random_read", time);
            random.push(engine::random(&file, *depth, time, &part));
        }
        for threads in &options.streams {
            let time = cap(0.2 / options.streams.len() as f64);
            let part = conduct.part("disk.read", time);
            read.push(engine::read(&file, *threads, &part));
        }
    }
    let (file_bytes, direct) = (file.len, file.refused.is_none());
    // its space is free again before the next step needs some
    drop(file);

    let checkpoint = (options.checkpoint_bytes > 0 && !conduct.stopped()).then(|| {
        let part = conduct.part("disk.checkpoint", cap(0.15));
        space::checkpoint(options, &place, &part)
    });
    let small = small_files(options, conduct, cap(0.15), &mut findings);
    let mut report = DiskReport {
        options: options.clone(),
        file_system: place.file_system(),
        file_bytes,
        direct,
        random,
        write,
        read,
        checkpoint,
        small,
        findings,
    };
    broken(&mut report);
    Ok(report)
}

/// Readings that failed, each kind once: a disk that errs or gives back other data than was written does not deliver.
fn broken(report: &mut DiskReport) {
    let readings = report.random.iter().map(|r| &r.iops);
    let streams = report.read.iter().chain(&report.write).map(|s| &s.gbs);
    let rest = report.checkpoint.iter().map(|c| &c.gbs);
    let small = report.small.iter().map(|s| &s.per_second);
    let all = readings.chain(streams).chain(rest).chain(small);
    let mut found: Vec<Finding> = Vec::new();
    for reading in all {
        let Reading::Failed { reason } = reading else {
            continue;
        };
        let (severity, code) = match reason_parts(reason).0 {
            Some(code) if code == Why::WrongData.code() => (Severity::Fail, "disk_wrong_data"),
            Some(code) if code == Why::DeviceError.code() => (Severity::Fail, "disk_error"),
            _ => (Severity::Unknown, "disk_part_failed"),
        };
        if !found.iter().any(|f| f.code == code) {
            let detail = reason_parts(reason).1;
            found.push(Finding::new(severity, code, "disk", detail));
        }
    }
    report.findings.extend(found);
}

fn small_files(
    options: &DiskOptions,
    conduct: &Conduct<'_>,
    cap: Duration,
    findings: &mut Vec<Finding>,
) -> Option<SmallFiles> {
    if conduct.stopped() {
        return None;
    }
    let own = match &options.samples {
        Some(_) => None,
        None if options.small_files == 0 => return None,
        None => match small::generate(
            &options.dir,
            options.small_files,
            options.small_bytes,
            &conduct.part("disk.small_write", cap),
        ) {
            Ok(own) => Some(own),
            Err(e) => {
                findings.push(Finding::new(
                    Severity::Unknown,
                    "disk_part_failed",
                    "disk",
                    e.to_string(),
                ));
                return None;
            }
        },
    };
    let folder = own
        .as_ref()
        .map(|own| own.path())
        .or(options.samples.as_deref())?;
    let part = conduct.part("disk.small_files", cap);
    Some(small::read(folder, options.small_threads, &part))
}

/// # Errors
/// Options that make no sense.
pub fn check(options: &DiskOptions) -> Result<(), DiskError> {
    let within = |what, value: f64, low: f64, high: f64, range| match value.is_finite()
        && value >= low
        && value <= high
    {
        true => Ok(()),
        false => Err(DiskError::Option { what, value, range }),
    };
    let threads = [options.small_threads];
    for n in options
        .depths
        .iter()
        .chain(&options.streams)
        .chain(&threads)
    {
        within("a number of threads", *n as f64, 1.0, 256.0, "1 to 256")?;
    }
    within("a time cap", options.cap_s, 0.1, 3600.0, "0.1 to 3600 s")?;
    within(
        "small files",
        options.small_files as f64,
        0.0,
        1e5,
        "0 to 100000",
    )?;
    within(
        "bytes of a small file",
        options.small_bytes as f64,
        1.0,
        4e6,
        "1 to 4000000",
    )
}

#[cfg(test)]
mod tests;
