//! The feed test: can this machine bring the user's samples to its GPUs as fast as the model takes them?
//!
//! Real samples go through read, decode, augment and batch workers against a consumer that takes the model's step time.
//! [`run`] makes four passes: from disk and from memory at the model's pace (utilisation as MLPerf Storage defines it), and
//! both again without a pace (how much there is). The difference tells the disk from the processor. Read only: nothing of
//! the user's is written, and the page cache forgets the samples, nothing else.
//!
//! Where there are GPUs that were proved, they are the consumer ([`run_on`]): batches are really copied and a kernel takes
//! the step's time, so that what copies cost on this machine's links shows.
//!
//! Not here: training (no gradient is computed), io_uring, video. Start at [`run`], then `pass.rs`.

mod au;
mod augment;
mod damage;
pub(crate) mod decode;
mod error;
mod generate;
mod kernel;
mod npy;
mod options;
mod parquet;
mod pass;
mod queue;
mod samples;
mod source;
mod tar;
mod verdict;

pub use crate::gpu::TrainerGpu;
pub use au::utilisation;
pub use decode::Bounds;
pub use error::FeedError;
pub use generate::jpeg;
pub use lessee_model::probe::{
    CacheCheck, CurvePoint, Damaged, DamagedSample, FeedPass, SampleSet, Stages, Stall, StepTime,
};
pub use options::{Consumer, FeedOptions, check};
pub use verdict::Limit;

use crate::finding::{Finding, Severity};
use crate::gpu::Libraries;
use crate::gpu::trainer::Trainer;
use crate::step::{self, Conduct, Why};
use damage::Damage;
use lessee_model::Msg;
use lessee_model::probe::{FeedReading, FeedSettings, Reading};
use pass::Plan;
use samples::Samples;
use serde::Serialize;
use source::Source;
use std::sync::Arc;
use std::time::{Duration, Instant};

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
        let (consumer, copy_gbs, consumer_why) = match &o.consumer {
            Consumer::Timed { copy_gbs, why } => ("timed", *copy_gbs, why.clone()),
            Consumer::Kernel { .. } => ("kernel", None, None),
        };
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
                consumer: Some(consumer.to_owned()),
                consumer_why,
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

/// Runs the feed test without asking any driver: a [`Consumer::Kernel`] is then played by a timer.
///
/// # Errors
/// Options that make no sense, a folder that cannot be read or has no samples, no sample that can be used.
pub fn run(options: &FeedOptions, conduct: &Conduct<'_>) -> Result<FeedReport, FeedError> {
    run_slowed(options, None, conduct, Duration::ZERO)
}

/// As [`run`], with the GPUs of a [`Consumer::Kernel`] behind these libraries.
///
/// # Errors
/// As [`run`]; a GPU that fails.
pub fn run_on(
    options: &FeedOptions,
    libraries: &Arc<Libraries>,
    conduct: &Conduct<'_>,
) -> Result<FeedReport, FeedError> {
    run_slowed(options, Some(libraries), conduct, Duration::ZERO)
}

/// With each read from disk delayed: how tests make a slow disk.
fn run_slowed(
    options: &FeedOptions,
    libraries: Option<&Arc<Libraries>>,
    conduct: &Conduct<'_>,
    delay: Duration,
) -> Result<FeedReport, FeedError> {
    check(options)?;
    let begun = Instant::now();
    let mut options = options.clone();
    let mut trainer = trainer(&mut options, libraries, conduct)?;
    // passes share the time that the preparation of GPUs left
    options.cap_s = (options.cap_s - begun.elapsed().as_secs_f64()).max(0.1);
    let report = passes(&options, trainer.as_mut(), conduct, delay);
    if let Some(trainer) = trainer {
        trainer.close();
    }
    report
}

/// The GPUs, ready. None: the consumer is timed, and the options then say why.
fn trainer(
    options: &mut FeedOptions,
    libraries: Option<&Arc<Libraries>>,
    conduct: &Conduct<'_>,
) -> Result<Option<Trainer>, FeedError> {
    const PREPARING: f64 = 0.3;
    let Consumer::Kernel { gpus } = &options.consumer else {
        return Ok(None);
    };
    let opened = libraries.map(|libraries| {
        let cap = Duration::from_secs_f64(options.cap_s * PREPARING);
        conduct.tell("feed.gpus", 0.0);
        let step_s = options.step_s.unwrap_or(0.0);
        Trainer::open(libraries, gpus, step_s, cap, &|| conduct.stopped())
    });
    let why = match opened {
        Some(Ok(trainer)) => {
            options.gpus = gpus.len();
            return Ok(Some(trainer));
        }
        // that one is at fault is not hidden behind a timer
        Some(Err(error)) if error.finding().severity == Severity::Fail => {
            return Err(FeedError::Gpu(error));
        }
        Some(Err(error)) => error.reason(),
        None => "no_driver".to_owned(),
    };
    let rates: Vec<f64> = gpus.iter().filter_map(|g| g.copy_gbs).collect();
    options.gpus = gpus.len().max(1);
    options.consumer = Consumer::Timed {
        copy_gbs: (!rates.is_empty()).then(|| rates.iter().sum()),
        why: Some(why),
    };
    Ok(None)
}

fn passes(
    options: &FeedOptions,
    mut trainer: Option<&mut Trainer>,
    conduct: &Conduct<'_>,
    delay: Duration,
) -> Result<FeedReport, FeedError> {
    // making pictures takes a fifth where it is needed
    const MAKING: f64 = 0.2;
    let rest = options.samples.as_ref().map_or(1.0 - MAKING, |_| 1.0);
    let cap = |share: f64| Duration::from_secs_f64(options.cap_s * rest * share);
    // held until the end: dropping it deletes the pictures
    let (own, samples) = match &options.samples {
        Some(folder) => (None, Samples::in_folder(folder, &options.bounds)?),
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
            let samples = Samples::in_folder(own.path(), &options.bounds)?;
            (Some(own), samples)
        }
    };
    let queue_room = queue_room(options, &samples)?;
    let damage = Damage::default();
    let mut pass = |name, source: &Source, step_s: f64, share: f64| {
        let plan = Plan {
            samples: &samples,
            source,
            options,
            step_s,
            damage: &damage,
            queue_room,
        };
        let run = plan.run(&conduct.part(name, cap(share)), trainer.as_deref_mut());
        run.map_err(FeedError::Gpu)
    };

    let disk = Source::Disk { delay };
    let dropping = conduct.part("feed.drop_cache", cap(0.05));
    let cache = source::drop_cache(&samples, &|| dropping.over());
    let disk_paced = match options.step_s {
        Some(step_s) => Some(pass("feed.disk", &disk, step_s, 0.35)?),
        None => None,
    };
    let disk_supply = pass("feed.disk_supply", &disk, 0.0, 0.2)?;
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
    let memory_paced = match options.step_s {
        Some(step_s) => Some(pass("feed.memory", &memory, step_s, 0.2)?),
        None => None,
    };
    let memory_supply = pass("feed.memory_supply", &memory, 0.0, 0.15)?;

    let (limited_by, why) = verdict::limit(
        &verdict::Passes {
            disk: disk_paced.as_ref(),
            memory: memory_paced.as_ref(),
            disk_supply: Some(&disk_supply),
            memory_supply: Some(&memory_supply),
        },
        options.pass_at,
        samples.has_tables(),
    );
    // kept below the mark by nothing but this program
    let untold = disk_paced
        .as_ref()
        .is_some_and(|p| verdict::own_share(p, options.pass_at).is_some());
    let no_pace = || step::unknown(Why::NoStepTime, "");
    let au_of = |pass: &Option<FeedPass>| pass.as_ref().map_or_else(no_pace, |p| p.au.clone());
    let au = au_of(&disk_paced);
    let held = memory.count(&samples);
    let mut report = FeedReport {
        set: samples.set(),
        generated: own.is_some(),
        cache,
        delivers: au
            .measured()
            .map(|au| au >= options.pass_at)
            .filter(|_| !untold),
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

/// Batches that the queue may hold, so that all in flight stays within half of the memory that is free.
fn queue_room(options: &FeedOptions, samples: &Samples) -> Result<usize, FeedError> {
    let image = u64::from(options.side) * u64::from(options.side) * 12;
    let count = samples.list.len().max(1) as u64;
    let mean = samples
        .list
        .iter()
        .map(|s| s.len)
        .fold(0, u64::saturating_add)
        / count;
    let batch = image.max(mean).saturating_mul(options.batch as u64).max(1);
    let limit = memory_available().unwrap_or(2 << 30) / 2;
    let fits = limit / batch;
    // and where GPUs take them, two more of each in pinned memory
    let each = match options.consumer {
        Consumer::Timed { .. } => 1,
        Consumer::Kernel { .. } => 4,
    };
    let needed = (options.workers + each * options.gpus) as u64;
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
