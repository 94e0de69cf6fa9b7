//! Several streams side by side: parts up, ranges down. A thread a stream, each with connections of its own, for one thread
//! would be the bottleneck of a fast network.

use super::{
    Bench, PART_MAX, PART_MIN, PARTS_MAX, QUARTER_MAX, Rate, TIDYING, Throughput, mbs, random,
    rate, runtime, until,
};
use crate::{ObjectError, Part, Store};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Instant;
use tokio::runtime::Runtime;

/// What a stream ended with: its work, the rate of each transfer, what stopped it.
type Ended<T> = (T, Vec<f64>, Option<ObjectError>);

impl Bench<'_> {
    /// An upload in parts by several streams: the size and number of parts, if it came into being, and the rate of all.
    pub(super) fn put_parallel(
        &mut self,
        single: f64,
        all: &mut Throughput,
    ) -> (Option<(u64, u64)>, Rate) {
        let window = self.window(1);
        let seconds = window
            .begin
            .saturating_duration_since(Instant::now())
            .as_secs_f64();
        // on a slow way fewer streams, so that each sends a part at least in its time
        let streams = (single * seconds / PART_MIN as f64) as usize;
        let streams = streams.min(self.options.streams);
        if streams < 2 {
            return (None, Rate::Unknown("s3_too_slow"));
        }
        let part = (single * seconds / 8.0) as u64;
        let part = part.clamp(PART_MIN, PART_MAX);
        let block = match random::bytes(part as usize) {
            Ok(block) => block,
            Err(error) => return (None, Rate::Failed(error)),
        };
        let begin = self.store.begin_parts(&self.parallel);
        let upload = match self
            .runtime
            .block_on(until(begin, self.options.stop, window.end))
        {
            Ok(upload) => upload,
            Err(error) => return (None, rate(None, Vec::new(), Some(error))),
        };
        self.upload = Some(upload.clone());
        let next = AtomicU16::new(1);
        let start = Instant::now();
        let key = &self.parallel;
        let done = self.side_by_side(streams, &|store, runtime| {
            let mut parts = Vec::new();
            let mut samples = Vec::new();
            let error = loop {
                if !window.open() && !parts.is_empty() || self.stopped() {
                    break None;
                }
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number > PARTS_MAX || u64::from(number) * part > QUARTER_MAX {
                    break None;
                }
                let start = Instant::now();
                let put = store.put_part(key, &upload, number, block.clone());
                match runtime.block_on(until(put, self.options.stop, window.end)) {
                    Ok(part) => parts.push(part),
                    Err(error) => break Some(error),
                }
                samples.push(mbs(part, start.elapsed()));
            };
            (parts, samples, error)
        });
        let took = start.elapsed();
        let (mut parts, mut samples, mut error) = (Vec::<Part>::new(), Vec::new(), None);
        for (own, rates, failed) in done {
            parts.extend(own);
            samples.extend(rates);
            // one that was cut is no error of the server
            let cut = matches!(
                failed,
                Some(ObjectError::TimedOut { .. } | ObjectError::Stopped)
            );
            error = error.or(failed.filter(|_| !cut));
        }
        let sent = parts.len() as u64 * part;
        all.bytes_sent += sent;
        let value = (sent > 0).then(|| mbs(sent, took));
        // what is read back are the parts from the first one on without a gap
        parts.sort_by_key(|p| p.number);
        let whole = parts
            .iter()
            .zip(1..)
            .take_while(|(p, n)| p.number == *n)
            .count();
        let complete = self.store.complete_parts(key, &upload, &parts[..whole]);
        let mut size = None;
        if whole > 0 && error.is_none() && !self.stopped() {
            // servers put the parts together now, some byte by byte
            let end = Instant::now() + TIDYING * 2;
            match self
                .runtime
                .block_on(until(complete, self.options.stop, end))
            {
                Ok(stored) => {
                    self.upload = None;
                    self.made.push(stored);
                    size = Some((part, whole as u64));
                }
                Err(failed) => {
                    self.perhaps(self.parallel.clone(), &failed);
                    if matches!(failed, ObjectError::TimedOut { .. }) {
                        // the server goes on with it
                        self.late.push(self.parallel.clone());
                    }
                    error = Some(failed);
                }
            }
        }
        let error = error.or(self.stopped().then_some(ObjectError::Stopped));
        (size, rate(value, samples, error))
    }

    /// Reads ranges of the large object by several streams.
    pub(super) fn get_parallel(&self, part: u64, count: u64, all: &mut Throughput) -> Rate {
        let window = self.window(3);
        let next = Mutex::new(0_u64);
        let start = Instant::now();
        let done = self.side_by_side(self.options.streams, &|store, runtime| {
            let (mut bytes, mut samples) = (0, Vec::new());
            let error = loop {
                if !window.open() && bytes > 0 || self.stopped() {
                    break None;
                }
                let nth = {
                    let mut next = next.lock().unwrap_or_else(|p| p.into_inner());
                    *next += 1;
                    *next - 1
                };
                if nth * part > QUARTER_MAX {
                    break None;
                }
                let nth = nth % count;
                let range = nth * part..(nth + 1) * part;
                let start = Instant::now();
                let mut ignore = |_: &[u8]| {};
                let get = store.get(&self.parallel, Some(range), &mut ignore);
                match runtime.block_on(until(get, self.options.stop, window.end)) {
                    Ok(came) => bytes += came,
                    Err(error) => break Some(error),
                }
                samples.push(mbs(part, start.elapsed()));
            };
            (bytes, samples, error)
        });
        let took = start.elapsed();
        let (mut bytes, mut samples, mut error) = (0, Vec::new(), None);
        for (own, rates, failed) in done {
            bytes += own;
            samples.extend(rates);
            let cut = matches!(
                failed,
                Some(ObjectError::TimedOut { .. } | ObjectError::Stopped)
            );
            error = error.or(failed.filter(|_| !cut));
        }
        all.bytes_received += bytes;
        let error = error.or(self.stopped().then_some(ObjectError::Stopped));
        rate((bytes > 0).then(|| mbs(bytes, took)), samples, error)
    }

    fn side_by_side<T: Send>(
        &self,
        streams: usize,
        work: &(dyn Fn(&Store, &Runtime) -> Ended<T> + Sync),
    ) -> Vec<Ended<T>> {
        let one = || -> Result<_, ObjectError> {
            let store = Store::new(self.target, self.credentials)?;
            Ok(work(&store, &runtime()?))
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..streams).map(|_| scope.spawn(one)).collect();
            let ended = threads.into_iter().filter_map(|t| t.join().ok());
            ended.filter_map(Result::ok).collect()
        })
    }
}
