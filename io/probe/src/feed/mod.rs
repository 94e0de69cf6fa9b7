//! The feed test: can this machine bring the user's samples to its GPUs as fast as the model takes them?
//!
//! Real samples go through read, decode, augment and batch workers against a consumer that takes the model's step time.
//! [`run`] makes four passes: from disk and from memory at the model's pace (utilisation as MLPerf Storage defines it), and
//! both again without a pace (how much there is). The difference tells the disk from the processor. Read only: nothing of
//! the user's is written, and the page cache forgets the samples, nothing else.
//!
//! Not here: training (no gradient is computed), io_uring, Parquet, video. Start at [`run`], then `pass.rs`.

mod au;
mod augment;
mod damage;
pub(crate) mod decode;
mod error;
mod generate;
mod npy;
mod pass;
mod queue;
mod samples;
mod source;
mod tar;
mod verdict;

pub use au::utilisation;
pub use decode::Bounds;
pub use error::FeedError;
pub use generate::jpeg;
pub use lessee_model::probe::{
    CacheCheck, CurvePoint, Damaged, DamagedSample, FeedPass, SampleSet, Stages, Stall, StepTime,
};
pub use verdict::Limit;

use crate::finding::Finding;
use crate::step::{self, Conduct, Why};
use damage::Damage;
use lessee_model::Msg;
use lessee_model::probe::{FeedReading, FeedSettings, Reading};
use pass::Plan;
use samples::Samples;
use serde::Serialize;
use source::Source;
use std::path::PathBuf;
use std::time::Duration;

/// What takes the batches. A real kernel on a GPU becomes one more variant, beside `copy` and `compute` in `pass.rs`.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Consumer {
    /// Sleeps for the model's step, as MLPerf Storage does.
    Timed {
        /// Host-to-device bandwidth, GB/s: the copy is waited for, not overlapped. `None`: no copy.
        copy_gbs: Option<f64>,
    },
}

#[derive(Clone, Debug, Serialize)]
pub struct FeedOptions {
    /// The user's samples.
    pub samples: Option<PathBuf>,
    /// Where pictures of our own are written for the test when there are no samples, and deleted afterwards.
    pub scratch: PathBuf,
    /// How many, of 500 x 375 pixels.
    pub generated: usize,
    /// Seconds in which one GPU computes a step. Without it only the supply is measured.
    pub step_s: Option<f64>,
    /// Samples in a step of one GPU.
    pub batch: usize,
    /// GPUs that step together.
    pub gpus: usize,
    pub workers: usize,
    /// Batches ready per worker.
    pub prefetch: usize,
    /// Side of the picture that the model takes, pixels.
    pub side: u32,
    pub max_steps: usize,
    /// For all passes together.
    pub cap_s: f64,
    pub memory_bytes: u64,
    pub pass_at: f64,
    pub bounds: Bounds,
    pub consumer: Consumer,
}

impl FeedOptions {
    pub fn new(scratch: PathBuf, workers: usize) -> FeedOptions {
        FeedOptions {
            samples: None,
            scratch,
            generated: 1000,
            step_s: None,
            batch: 64,
            gpus: 1,
            workers,
            prefetch: 2,
            side: 224,
            max_steps: 100_000,
            cap_s: 60.0,
            memory_bytes: 256 << 20,
            pass_at: 0.90,
            bounds: Bounds::default(),
            consumer: Consumer::Timed { copy_gbs: None },
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct FeedReport {
    pub options: FeedOptions,
    pub set: SampleSet,
    /// The samples were pictures of our own.
    pub generated: bool,
    pub cache: CacheCheck,
    /// From disk at the model's pace.
    pub au: Reading,
    pub au_from_memory: Reading,
    /// `None`: cannot tell.
    pub delivers: Option<bool>,
    pub limited_by: Option<Limit>,
    pub why: Msg,
    /// What the machine can supply, from disk and from memory.
    pub samples_per_second: Reading,
    pub samples_per_second_from_memory: Reading,
    pub gpus_fed: Reading,
    pub gpus_fed_from_memory: Reading,
    /// Processor seconds of one sample, read from memory.
    pub cpu_s_per_sample: Reading,
    pub damaged: Damaged,
    pub passes: Vec<FeedPass>,
    /// What must be said beside the figures, and what follows from them.
    pub findings: Vec<Finding>,
}

impl FeedReport {
    /// Its part of `lessee/probe/v1`; `why` is [`FeedReport::why`] in words.
    pub fn reading(&self, why: String) -> FeedReading {
        let o = &self.options;
        let Consumer::Timed { copy_gbs } = o.consumer;
        FeedReading {
            samples_per_second: self.samples_per_second.clone(),
            limited_by: self.limited_by.map(|l| l.as_str().to_owned()),
            why: Some(why),
            utilisation: Some(self.au.clone()),
            utilisation_from_memory: Some(self.au_from_memory.clone()),
            delivers: self.delivers,
            samples_per_second_from_memory: Some(self.samples_per_second_from_memory.clone()),
            gpus_fed: Some(self.gpus_fed.clone()),
            gpus_fed_from_memory: Some(self.gpus_fed_from_memory.clone()),
            cpu_s_per_sample: Some(self.cpu_s_per_sample.clone()),
            settings: Some(FeedSettings {
                samples: o.samples.as_ref().map(|p| p.display().to_string()),
                step_s: o.step_s,
                batch: o.batch,
                gpus: o.gpus,
                workers: o.workers,
                prefetch: o.prefetch,
                side_px: o.side,
                copy_gbs,
                pass_at: o.pass_at,
            }),
            set: Some(self.set.clone()),
            cache: Some(self.cache),
            damaged: Some(self.damaged.clone()),
            passes: self.passes.clone(),
        }
    }
}

/// Runs the feed test.
///
/// # Errors
/// Options that make no sense, a folder that cannot be read or has no samples, no sample that can be used.
pub fn run(options: &FeedOptions, conduct: &Conduct<'_>) -> Result<FeedReport, FeedError> {
    run_slowed(options, conduct, Duration::ZERO)
}

/// As [`run`], with each read from disk delayed: how tests make a slow disk.
fn run_slowed(
    options: &FeedOptions,
    conduct: &Conduct<'_>,
    delay: Duration,
) -> Result<FeedReport, FeedError> {
    check(options)?;
    // making pictures takes a fifth where it is needed
    const MAKING: f64 = 0.2;
    let rest = options.samples.as_ref().map_or(1.0 - MAKING, |_| 1.0);
    let cap = |share: f64| Duration::from_secs_f64(options.cap_s * rest * share);
    // held until the end: dropping it deletes the pictures
    let (own, samples) = match &options.samples {
        Some(folder) => (None, Samples::in_folder(folder)?),
        None => {
            let part = conduct.part(
                "feed.generate",
                Duration::from_secs_f64(options.cap_s * MAKING),
            );
            let own = generate::folder(&options.scratch, options.generated, (500, 375), &|| {
                part.over()
            })
            .map_err(|source| FeedError::Generate {
                path: options.scratch.clone(),
                source,
            })?;
            let samples = Samples::in_folder(own.path())?;
            (Some(own), samples)
        }
    };
    let queue_room = queue_room(options, &samples)?;
    let damage = Damage::default();
    let pass = |name, source: &Source, step_s: f64, share: f64| {
        let plan = Plan {
            samples: &samples,
            source,
            options,
            step_s,
            damage: &damage,
            queue_room,
        };
        plan.run(&conduct.part(name, cap(share)))
    };

    let disk = Source::Disk { delay };
    let dropping = conduct.part("feed.drop_cache", cap(0.05));
    let cache = source::drop_cache(&samples, &|| dropping.over());
    let paced = |name, source: &Source, share| Some(pass(name, source, options.step_s?, share));
    let disk_paced = paced("feed.disk", &disk, 0.35);
    let disk_supply = pass("feed.disk_supply", &disk, 0.0, 0.2);
    if damage.hopeless() {
        let first = damage.report(&samples);
        return Err(FeedError::NoneUsable {
            path: samples.root.clone(),
            tried: first.count,
            first: first
                .named
                .first()
                .map_or_else(String::new, |d| format!("{}: {}", d.name, d.reason)),
        });
    }
    let loading = conduct.part("feed.load", cap(0.05));
    let memory = Source::memory(&samples, options.memory_bytes, &options.bounds, &|| {
        loading.over()
    });
    let memory_paced = paced("feed.memory", &memory, 0.2);
    let memory_supply = pass("feed.memory_supply", &memory, 0.0, 0.15);

    let (limited_by, why) = verdict::limit(
        &verdict::Passes {
            disk: disk_paced.as_ref(),
            memory: memory_paced.as_ref(),
            disk_supply: Some(&disk_supply),
            memory_supply: Some(&memory_supply),
        },
        options.pass_at,
    );
    let no_pace = || step::unknown(Why::NoStepTime, "");
    let au_of = |pass: &Option<FeedPass>| pass.as_ref().map_or_else(no_pace, |p| p.au.clone());
    let au = au_of(&disk_paced);
    let held = memory.count(&samples);
    let mut report = FeedReport {
        set: samples.set(),
        generated: own.is_some(),
        cache,
        delivers: au.measured().map(|au| au >= options.pass_at),
        au,
        au_from_memory: au_of(&memory_paced),
        limited_by,
        why,
        gpus_fed: verdict::gpus_fed(&disk_supply.samples_per_second, options),
        gpus_fed_from_memory: verdict::gpus_fed(&memory_supply.samples_per_second, options),
        samples_per_second: disk_supply.samples_per_second.clone(),
        samples_per_second_from_memory: memory_supply.samples_per_second.clone(),
        cpu_s_per_sample: cpu_per_sample(&memory_supply),
        damaged: damage.report(&samples),
        passes: disk_paced
            .into_iter()
            .chain([disk_supply])
            .chain(memory_paced)
            .chain([memory_supply])
            .collect(),
        findings: Vec::new(),
        options: options.clone(),
    };
    report.findings = verdict::findings(&report, held);
    Ok(report)
}

fn cpu_per_sample(pass: &FeedPass) -> Reading {
    match pass.stages.samples {
        0 => step::unknown(Why::OutOfTime, ""),
        n => Reading::Measured {
            value: pass.stages.cpu_s / n as f64,
            samples: Vec::new(),
        },
    }
}

/// # Errors
/// Options that make no sense.
pub fn check(options: &FeedOptions) -> Result<(), FeedError> {
    let within = |what, value: f64, low: f64, high: f64, range| match value.is_finite()
        && value >= low
        && value <= high
    {
        true => Ok(()),
        false => Err(FeedError::Option { what, value, range }),
    };
    within("--batch", options.batch as f64, 1.0, 65536.0, "1 - 65536")?;
    within("--workers", options.workers as f64, 1.0, 1024.0, "1 - 1024")?;
    within(
        "a number of GPUs",
        options.gpus as f64,
        1.0,
        64.0,
        "1 to 64",
    )?;
    within("--side", f64::from(options.side), 8.0, 4096.0, "8 - 4096")?;
    within("a time cap", options.cap_s, 0.1, 3600.0, "0.1 to 3600 s")?;
    within(
        "a number of generated samples",
        options.generated as f64,
        1.0,
        1e6,
        "1 to 1000000",
    )?;
    within("a passing mark", options.pass_at, 0.01, 1.0, "0.01 to 1")?;
    if let Some(step_s) = options.step_s {
        within("--step-seconds", step_s, 1e-4, 600.0, "0.0001 - 600 s")?;
    }
    let Consumer::Timed { copy_gbs } = options.consumer;
    within(
        "a copy bandwidth",
        copy_gbs.unwrap_or(1.0),
        1e-3,
        1e4,
        "0.001 to 10000 GB/s",
    )
}

/// Batches that the queue may hold, so that all in flight stays within half of the memory that is free.
fn queue_room(options: &FeedOptions, samples: &Samples) -> Result<usize, FeedError> {
    let image = u64::from(options.side) * u64::from(options.side) * 12;
    let count = samples.list.len().max(1) as u64;
    let mean = samples.list.iter().map(|s| s.len).sum::<u64>() / count;
    let batch = image.max(mean).saturating_mul(options.batch as u64).max(1);
    let limit = memory_available().unwrap_or(2 << 30) / 2;
    let fits = limit / batch;
    let needed = (options.workers + options.gpus) as u64;
    if fits <= needed {
        return Err(FeedError::BatchTooLarge {
            mib: batch >> 20,
            limit_mib: (limit / (needed + 1)) >> 20,
        });
    }
    let room = usize::try_from(fits - needed).unwrap_or(usize::MAX);
    Ok(room.min(options.prefetch.max(1) * options.workers))
}

/// `MemAvailable`, bytes.
fn memory_available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests;
