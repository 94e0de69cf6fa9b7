//! One pass: workers read, decode, augment and batch samples while a consumer takes batches at the model's pace.
//!
//! As with a trainer's loader, a worker builds whole batches and a bounded queue holds those that are ready. A damaged
//! sample is noted and the next one takes its place. Not here: what the figures mean (`verdict.rs`), their arithmetic
//! (`au.rs`), GPUs that take the batches (`kernel.rs`). A worker that hangs inside a read of a dead network disk hangs the pass: nothing can interrupt that.

use super::au;
use super::augment::Augment;
use super::damage::Damage;
use super::decode::{Decoded, decode};
use super::kernel::{self, Taken};
use super::queue::{Batch, Queue};
use super::samples::Samples;
use super::source::{Reader, Source};
use super::{Consumer, FeedOptions};
use crate::gpu::TrainerError;
use crate::gpu::trainer::Trainer;
use crate::step::{self, Part, Why};
use lessee_model::probe::{FeedPass, Reading, Stages, StepTime};
use rustix::time::{ClockId, clock_gettime};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub(super) struct Plan<'a> {
    pub(super) samples: &'a Samples,
    pub(super) source: &'a Source,
    pub(super) options: &'a FeedOptions,
    pub(super) step_s: f64,
    pub(super) damage: &'a Damage,
    pub(super) queue_room: usize,
}

impl Plan<'_> {
    /// With a trainer its GPUs take the batches.
    ///
    /// # Errors
    /// A GPU failed.
    pub(super) fn run(
        &self,
        part: &Part<'_>,
        trainer: Option<&mut Trainer>,
    ) -> Result<FeedPass, TrainerError> {
        let queue = Queue::new(self.queue_room);
        let cursor = AtomicUsize::new(0);
        let (taken, stages) = std::thread::scope(|scope| {
            let worker = || scope.spawn(|| self.work(&queue, &cursor));
            let workers: Vec<_> = (0..self.options.workers).map(|_| worker()).collect();
            let taken = match trainer {
                Some(trainer) => kernel::consume(self, &queue, part, trainer),
                None => Ok(Taken::timed(self.consume(&queue, part))),
            };
            queue.close();
            let mut all = Stages::default();
            for worker in workers {
                // decoding is caught in the worker; what else could panic would lose its times only
                add(&mut all, &worker.join().unwrap_or_default());
            }
            (taken, all)
        });
        let Taken {
            steps,
            gpus,
            pinning_s,
        } = taken?;
        let stages = Stages {
            batch_s: stages.batch_s + pinning_s,
            ..stages
        };
        let per_step = self.options.batch * self.options.gpus;
        Ok(FeedPass {
            source: self.source.name().to_owned(),
            model_step_s: self.step_s,
            workers: self.options.workers,
            samples_per_step: per_step,
            au: match au::utilisation(&steps) {
                Some(value) => Reading::Measured {
                    value,
                    samples: Vec::new(),
                },
                None if self.step_s == 0.0 => step::unknown(Why::NotPaced, ""),
                None => step::unknown(Why::TooFewSteps, steps.len().to_string()),
            },
            samples_per_second: rate(&steps, per_step),
            stages,
            curve: au::curve(&steps),
            stalls: au::stalls(&steps, self.step_s),
            gpus,
            steps,
        })
    }

    fn consume(&self, queue: &Queue, part: &Part<'_>) -> Vec<StepTime> {
        let start = Instant::now();
        let deadline = start + part.left();
        let now = || start.elapsed().as_secs_f64();
        let mut steps = Vec::new();
        while steps.len() < self.options.max_steps && !part.over() {
            let asked_s = now();
            // GPUs that train together step together: all wait for the last batch
            let mut batches = Vec::with_capacity(self.options.gpus);
            while batches.len() < self.options.gpus {
                match queue.pop(deadline, &|| part.over()) {
                    Some(batch) => batches.push(batch),
                    None => return steps,
                }
            }
            let got_s = now();
            let bytes = batches.iter().map(|b| b.data.len()).sum();
            let copy_s = copy(&self.options.consumer, bytes);
            let compute_s = compute(self.step_s);
            steps.push(StepTime {
                asked_s,
                got_s,
                end_s: now(),
                copy_s,
                compute_s,
                kernel_s: None,
            });
            batches.into_iter().for_each(|b| queue.give_back(b.data));
            part.tick();
        }
        steps
    }

    fn work(&self, queue: &Queue, cursor: &AtomicUsize) -> Stages {
        let mut tools = Tools {
            reader: Reader::default(),
            augment: Augment::new(self.options.side),
            raw: Vec::new(),
            decoded: Vec::new(),
            ready: Vec::new(),
        };
        let mut times = Stages::default();
        let cpu = thread_cpu_s();
        'batches: loop {
            let mut batch = Batch {
                data: queue.buffer(),
                samples: 0,
            };
            // neighbours in the list stay in one worker, so that a shard is read front to back
            let first = cursor.fetch_add(self.options.batch, Ordering::Relaxed);
            let mut mine = first..first + self.options.batch;
            while batch.samples < self.options.batch {
                if queue.closed() {
                    break 'batches;
                }
                let next = mine.next();
                let at = next.unwrap_or_else(|| cursor.fetch_add(1, Ordering::Relaxed));
                let at = at % self.source.count(self.samples).max(1);
                match self.one(at, &mut tools, &mut times, &mut batch) {
                    Ok(()) => self.damage.good(),
                    Err(why) => {
                        if self.damage.bad(at, why, self.source.count(self.samples)) {
                            queue.close();
                        }
                    }
                }
            }
            let blocked = Instant::now();
            let taken = queue.push(batch);
            times.blocked_s += blocked.elapsed().as_secs_f64();
            if !taken {
                break;
            }
        }
        times.cpu_s = thread_cpu_s() - cpu;
        times
    }

    fn one(
        &self,
        at: usize,
        tools: &mut Tools,
        times: &mut Stages,
        batch: &mut Batch,
    ) -> Result<(), String> {
        let (start, cpu) = (Instant::now(), thread_cpu_s());
        let bounds = &self.options.bounds;
        let promised =
            self.source
                .read(self.samples, at, bounds, &mut tools.reader, &mut tools.raw)?;
        let (unpacked, used) = (tools.reader.unpacked(), thread_cpu_s() - cpu);
        let took = start.elapsed();
        times.read_s += took.saturating_sub(unpacked).as_secs_f64();
        times.read_wait_s += (took.as_secs_f64() - used).max(0.0);
        times.decode_s += unpacked.as_secs_f64();
        times.bytes_read += tools.raw.len() as u64;
        tools.reader.forget();

        // the decoders are other people's and the samples are anybody's: a panic there is a damaged sample
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let start = Instant::now();
            let kind = decode(&tools.raw, promised, bounds, &mut tools.decoded)?;
            let decoded = Instant::now();
            if let Decoded::Image { width, height } = kind {
                let (from, to) = (&tools.decoded, &mut tools.ready);
                tools.augment.image(width, height, from, to)?;
            }
            Ok((kind, decoded - start, decoded.elapsed()))
        }));
        let (kind, decoding, augmenting) = caught.unwrap_or_else(|_| {
            tools.augment = Augment::new(self.options.side);
            Err("the decoder gave up on it".to_owned())
        })?;
        times.decode_s += decoding.as_secs_f64();
        times.augment_s += augmenting.as_secs_f64();

        let start = Instant::now();
        batch.data.extend_from_slice(match kind {
            Decoded::Image { .. } => &tools.ready,
            Decoded::Array => &tools.decoded,
            Decoded::Bytes => &tools.raw,
        });
        times.batch_s += start.elapsed().as_secs_f64();
        batch.samples += 1;
        times.samples += 1;
        Ok(())
    }
}

/// What a worker keeps between samples.
struct Tools {
    reader: Reader,
    augment: Augment,
    raw: Vec<u8>,
    decoded: Vec<u8>,
    ready: Vec<u8>,
}

fn add(all: &mut Stages, other: &Stages) {
    all.read_s += other.read_s;
    all.read_wait_s += other.read_wait_s;
    all.decode_s += other.decode_s;
    all.augment_s += other.augment_s;
    all.batch_s += other.batch_s;
    all.blocked_s += other.blocked_s;
    all.cpu_s += other.cpu_s;
    all.samples += other.samples;
    all.bytes_read += other.bytes_read;
}

fn copy(consumer: &Consumer, bytes: usize) -> f64 {
    match consumer {
        Consumer::Timed {
            copy_gbs: Some(gbs),
            ..
        } => compute(bytes as f64 / (gbs * 1e9)),
        Consumer::Timed { copy_gbs: None, .. } | Consumer::Kernel { .. } => 0.0,
    }
}

fn compute(seconds: f64) -> f64 {
    if seconds <= 0.0 {
        return 0.0;
    }
    let start = Instant::now();
    std::thread::sleep(Duration::from_secs_f64(seconds));
    start.elapsed().as_secs_f64().min(seconds)
}

/// Samples per second after the first step, in up to five groups of steps.
fn rate(steps: &[StepTime], per_step: usize) -> Reading {
    let groups = (steps.len().saturating_sub(1) / 2).min(5);
    if groups == 0 {
        return step::unknown(Why::TooFewSteps, steps.len().to_string());
    }
    let at = |group: usize| (steps.len() - 1) * group / groups;
    let single = |group: usize| {
        let (from, to) = (at(group), at(group + 1));
        let seconds = steps[to].end_s - steps[from].end_s;
        ((to - from) * per_step) as f64 / seconds.max(1e-9)
    };
    step::measured((0..groups).map(single).collect(), Why::TooFewSteps)
}

fn thread_cpu_s() -> f64 {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 / 1e9
}
