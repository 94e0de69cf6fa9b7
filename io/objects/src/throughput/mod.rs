//! How fast objects go to a bucket and come back: one at a time and several side by side.
//!
//! Random bytes alone are sent, under a name that nobody has, and deleted afterwards, also after a failure or a stop; what
//! could not be deleted is named. Sizes grow until a transfer takes a fair part of its time, so that a slow way is measured
//! with little and a fast one with much. Not here: what a rate is good for. Start at [`measure`].

mod parallel;
mod random;

use crate::{Credentials, ObjectError, Store, Stored, Target};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// The least part that S3 takes, but for the last one.
const PART_MIN: u64 = 5 << 20;
const PART_MAX: u64 = 32 << 20;
/// The first object, and the largest.
const FIRST: u64 = 256 << 10;
const LARGEST: u64 = 64 << 20;
/// Bytes of a quarter of the measurement, at most: what leaves a provider's network is charged for.
const QUARTER_MAX: u64 = 4 << 30;
/// Parts of one upload, at most.
const PARTS_MAX: u16 = 10_000;
/// For deleting what was made, beyond the time of the measurement.
const TIDYING: Duration = Duration::from_secs(10);

#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// For all of it, without deleting.
    pub seconds: f64,
    /// Side by side.
    pub streams: usize,
    pub stop: &'a AtomicBool,
    /// 0 to 1.
    pub tell: &'a (dyn Fn(f64) + Sync),
}

/// One way of transferring, MB/s (1e6 bytes).
#[derive(Clone, Debug)]
pub enum Rate {
    Measured {
        value: f64,
        /// Each transfer, on the stream that it had.
        samples: Vec<f64>,
    },
    /// With its code.
    Unknown(&'static str),
    Failed(ObjectError),
}

#[derive(Clone, Debug)]
pub struct Throughput {
    pub put: Rate,
    pub put_parallel: Rate,
    pub get: Rate,
    pub get_parallel: Rate,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    /// Objects that could not be deleted, and uploads that could not be given up: `key`, or `key?uploadId=...`.
    pub left_behind: Vec<String>,
}

impl Throughput {
    /// It came to nothing before the first request.
    pub fn failed(error: ObjectError) -> Throughput {
        Throughput {
            put: Rate::Failed(error),
            ..Throughput::empty()
        }
    }

    fn empty() -> Throughput {
        Throughput {
            put: Rate::Unknown("not_tried"),
            put_parallel: Rate::Unknown("not_tried"),
            get: Rate::Unknown("not_tried"),
            get_parallel: Rate::Unknown("not_tried"),
            bytes_sent: 0,
            bytes_received: 0,
            left_behind: Vec::new(),
        }
    }

    fn rates(&self) -> [&Rate; 4] {
        [&self.put, &self.put_parallel, &self.get, &self.get_parallel]
    }

    /// What went wrong first.
    pub fn failure(&self) -> Option<&ObjectError> {
        self.rates().into_iter().find_map(|rate| match rate {
            Rate::Failed(error) => Some(error),
            _ => None,
        })
    }
}

/// Measures, and deletes what it made.
///
/// # Errors
/// No client can be made at all. What a server refuses is in the rates.
pub fn measure(
    target: &Target,
    credentials: &Credentials,
    options: &Options<'_>,
) -> Result<Throughput, ObjectError> {
    let store = Store::new(target, credentials)?;
    let runtime = runtime()?;
    let name = target.key(&format!("lessee-probe-{}", random::name()?));
    let mut bench = Bench {
        target,
        credentials,
        options,
        store,
        runtime,
        single: format!("{name}-1"),
        parallel: format!("{name}-n"),
        made: Vec::new(),
        upload: None,
        late: Vec::new(),
        begun: Instant::now(),
    };
    let mut all = Throughput::empty();
    bench.all(&mut all);
    all.left_behind = bench.tidy();
    (options.tell)(1.0);
    Ok(all)
}

struct Bench<'a> {
    target: &'a Target,
    credentials: &'a Credentials,
    options: &'a Options<'a>,
    store: Store,
    runtime: Runtime,
    /// Names of the two objects.
    single: String,
    parallel: String,
    /// What is to be deleted: objects, and those of which nobody knows whether they were made.
    made: Vec<Stored>,
    /// An upload in parts that is not complete.
    upload: Option<String>,
    /// What may come into being later.
    late: Vec<String>,
    begun: Instant,
}

/// Until when something may begin, and until when it must end.
#[derive(Clone, Copy)]
struct Window {
    begin: Instant,
    end: Instant,
}

impl Window {
    fn open(&self) -> bool {
        Instant::now() < self.begin
    }
}

fn mbs(bytes: u64, time: Duration) -> f64 {
    bytes as f64 / time.as_secs_f64().max(1e-9) / 1e6
}

fn middle(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mid = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[mid]),
        _ => Some(f64::midpoint(sorted[mid - 1], sorted[mid])),
    }
}

/// What was measured until something went wrong still counts.
fn rate(value: Option<f64>, samples: Vec<f64>, error: Option<ObjectError>) -> Rate {
    match (value, error) {
        (Some(value), None | Some(ObjectError::TimedOut { .. })) => {
            Rate::Measured { value, samples }
        }
        (_, Some(ObjectError::TimedOut { .. }) | None) => Rate::Unknown("out_of_time"),
        (_, Some(ObjectError::Stopped)) => Rate::Unknown("stopped"),
        (_, Some(error)) => Rate::Failed(error),
    }
}

impl Bench<'_> {
    fn all(&mut self, all: &mut Throughput) {
        let (size, put) = self.put(all);
        all.put = put;
        let Rate::Measured { value: single, .. } = all.put else {
            return;
        };
        if self.stopped() {
            return;
        }
        let (parts, rate) = self.put_parallel(single * 1e6, all);
        all.put_parallel = rate;
        if self.stopped() {
            return;
        }
        all.get = self.get(size, all);
        all.get_parallel = match (parts, &all.put_parallel) {
            _ if self.stopped() => Rate::Unknown("stopped"),
            (Some((part, count)), _) => self.get_parallel(part, count, all),
            (None, Rate::Unknown(why)) => Rate::Unknown(why),
            // the parts were sent, and no object came of them in time
            (None, Rate::Measured { .. }) => Rate::Unknown("out_of_time"),
            (None, Rate::Failed(_)) => Rate::Unknown("not_tried"),
        };
    }

    fn stopped(&self) -> bool {
        self.options.stop.load(Ordering::Relaxed)
    }

    /// The window of a quarter of the time.
    fn window(&self, nth: u32) -> Window {
        let quarter = Duration::from_secs_f64(self.options.seconds / 4.0);
        (self.options.tell)(f64::from(nth) / 4.0);
        let now = Instant::now();
        let planned = self.begun + quarter * (nth + 1);
        // one that the one before took too long for still gets something
        let begin = planned.max(now + quarter / 4);
        Window {
            begin,
            end: begin + quarter / 2,
        }
    }

    /// Objects that grow, one after the other: the size of the last one, and the rates of that size.
    fn put(&mut self, all: &mut Throughput) -> (u64, Rate) {
        let window = self.window(0);
        let enough = self.options.seconds / 16.0;
        let (mut size, mut samples) = (FIRST, Vec::new());
        // of the size before, should the larger one not be done in time
        let mut before = (0, Vec::new());
        let mut block = match random::bytes(size as usize) {
            Ok(block) => block,
            Err(error) => return (0, Rate::Failed(error)),
        };
        let error = loop {
            if samples.len() >= 2 && !window.open() || all.bytes_sent + size > QUARTER_MAX {
                break None;
            }
            if !samples.is_empty() && self.stopped() {
                break Some(ObjectError::Stopped);
            }
            let start = Instant::now();
            let put = self.store.put(&self.single, block.clone(), false);
            match self
                .runtime
                .block_on(until(put, self.options.stop, window.end))
            {
                Ok(stored) => {
                    all.bytes_sent += size;
                    if !self.made.contains(&stored) {
                        self.made.push(stored);
                    }
                }
                Err(error) => {
                    self.perhaps(self.single.clone(), &error);
                    break Some(error);
                }
            }
            let took = start.elapsed();
            samples.push(mbs(size, took));
            let left = window.begin.saturating_duration_since(Instant::now());
            let larger = (size * 4).min(LARGEST);
            if took.as_secs_f64() < enough && larger > size && took * 4 < left {
                before = (size, std::mem::take(&mut samples));
                size = larger;
                block = match random::bytes(size as usize) {
                    Ok(block) => block,
                    Err(error) => break Some(error),
                };
            } else if !window.open() {
                break None;
            }
        };
        if samples.is_empty() {
            (size, samples) = before;
        }
        (size, rate(middle(&samples), samples, error))
    }

    /// Remembers an object of which nobody knows whether it came into being; one that was refused did not.
    fn perhaps(&mut self, key: String, error: &ObjectError) {
        if error.leaves_open() && !self.made.iter().any(|m| m.key == key) {
            self.made.push(Stored { key, version: None });
        }
    }

    /// Reads the single object again and again.
    fn get(&self, size: u64, all: &mut Throughput) -> Rate {
        let window = self.window(2);
        let mut samples = Vec::new();
        let mut received = 0;
        let error = loop {
            let enough = !window.open() || received + size > QUARTER_MAX;
            if !samples.is_empty() && enough {
                break None;
            }
            let start = Instant::now();
            let mut ignore = |_: &[u8]| {};
            let get = self.store.get(&self.single, None, &mut ignore);
            match self
                .runtime
                .block_on(until(get, self.options.stop, window.end))
            {
                Ok(bytes) => {
                    all.bytes_received += bytes;
                    received += bytes;
                    if bytes != size {
                        let detail = format!("{bytes} bytes of {size}");
                        break Some(ObjectError::Answer {
                            action: "GET",
                            detail,
                        });
                    }
                    samples.push(mbs(bytes, start.elapsed()));
                }
                Err(error) => break Some(error),
            }
        };
        rate(middle(&samples), samples, error)
    }

    /// Deletes all that was made; names what stays.
    fn tidy(&mut self) -> Vec<String> {
        let end = Instant::now() + TIDYING;
        // a stop has been heeded: what follows is part of it
        let never = AtomicBool::new(false);
        let mut left = Vec::new();
        if let Some(upload) = self.upload.take() {
            let abort = self.store.abort_parts(&self.parallel, &upload);
            if self.runtime.block_on(until(abort, &never, end)).is_err() {
                left.push(format!("{}?uploadId={upload}", self.parallel));
            }
        }
        for object in std::mem::take(&mut self.made) {
            let delete = self.store.delete(&object);
            if self.runtime.block_on(until(delete, &never, end)).is_err() {
                left.push(object.key);
            }
        }
        left.append(&mut self.late);
        left.sort();
        left.dedup();
        left
    }
}

/// What a future gives, unless the time is over or somebody stops it before.
async fn until<T>(
    work: impl Future<Output = Result<T, ObjectError>>,
    stop: &AtomicBool,
    end: Instant,
) -> Result<T, ObjectError> {
    let cut = async {
        loop {
            if stop.load(Ordering::Relaxed) {
                return ObjectError::Stopped;
            }
            if Instant::now() >= end {
                return ObjectError::TimedOut { action: "transfer" };
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        done = work => done,
        cut = cut => Err(cut),
    }
}

fn runtime() -> Result<Runtime, ObjectError> {
    let made = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    made.map_err(|e| ObjectError::Client {
        detail: e.to_string(),
    })
}
