//! Threads that each do one I/O after the other (what fio calls psync): random reads with latencies, and streams.
//!
//! Not io_uring: it is often forbidden in rented containers. A depth is a number of threads.

use super::file::{Aligned, BLOCK, CHUNK, TestFile, stamp};
use crate::step::{self, Noise, Part, Why, nanos_since};
use lessee_model::probe::{RandomRead, Reading, Stream};
use std::io;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Parts of a run whose rates stand beside the mean.
const SLICES: usize = 10;
/// Latencies that one thread keeps: at a million a second, more than any cap.
const KEPT_MAX: usize = 8 << 20;

/// 4 KiB reads at random places for `time`.
pub(super) fn random(file: &TestFile, depth: usize, time: Duration, part: &Part<'_>) -> RandomRead {
    let blocks = file.len / BLOCK as u64;
    let barrier = Barrier::new(depth);
    let broken = AtomicBool::new(false);
    let one = |thread: usize| -> io::Result<(Vec<u32>, [u64; SLICES], f64)> {
        let mut noise = Noise::new(thread as u64 + 11);
        let mut buffer = Aligned::new(BLOCK);
        let mut nanos = Vec::with_capacity(1 << 16);
        let mut slices = [0u64; SLICES];
        barrier.wait();
        let start = Instant::now();
        loop {
            let at = noise.below(blocks) * BLOCK as u64;
            let io = Instant::now();
            if let Err(e) = file.read(buffer.bytes(), at) {
                broken.store(true, Ordering::Relaxed);
                return Err(e);
            }
            if nanos.len() < KEPT_MAX {
                nanos.push(nanos_since(io));
            }
            let ran = start.elapsed();
            let slice = (ran.as_secs_f64() / time.as_secs_f64() * SLICES as f64) as usize;
            slices[slice.min(SLICES - 1)] += 1;
            if ran >= time || part.over() || broken.load(Ordering::Relaxed) {
                return Ok((nanos, slices, ran.as_secs_f64()));
            }
            if thread == 0 && nanos.len() % 1024 == 0 {
                part.tick();
            }
        }
    };
    let all = on_threads(depth, &one);
    let (mut nanos, mut slices, mut seconds) = (Vec::new(), [0u64; SLICES], 0f64);
    for result in all {
        match result {
            Ok((n, s, ran)) => {
                nanos.extend(n);
                slices.iter_mut().zip(s).for_each(|(to, n)| *to += n);
                seconds = seconds.max(ran);
            }
            Err(e) => {
                return RandomRead {
                    depth,
                    mean_iops: 0.0,
                    iops: step::io_failed(&e),
                    latency: None,
                };
            }
        }
    }
    let mean_iops = slices.iter().sum::<u64>() as f64 / seconds.max(1e-9);
    // parts that a stop cut off are no zeros
    let width = time.as_secs_f64() / SLICES as f64;
    let whole = ((seconds / width) as usize).min(SLICES);
    let rates = slices[..whole].iter().map(|n| *n as f64 / width).collect();
    RandomRead {
        depth,
        mean_iops,
        iops: step::measured(rates, Why::OutOfTime),
        latency: step::latency(&mut nanos),
    }
}

/// Reads the file from front to back in 1 MiB pieces.
pub(super) fn read(file: &TestFile, threads: usize, part: &Part<'_>) -> Stream {
    file.forget();
    let take = |buffer: &mut Aligned, at: u64| file.read(buffer.bytes(), at);
    let (stream, _) = stream(file.len, threads, part, &take, &|| Ok(()));
    stream
}

/// Writes up to `len` bytes of noise, and says how many there are now: without holes, from 0.
pub(super) fn write(file: &TestFile, len: u64, threads: usize, part: &Part<'_>) -> (Stream, u64) {
    let put = |buffer: &mut Aligned, at: u64| {
        let bytes = buffer.bytes();
        for (i, block) in bytes.chunks_exact_mut(BLOCK).enumerate() {
            block[..8].copy_from_slice(&stamp(at + (i * BLOCK) as u64).to_le_bytes());
        }
        file.write(bytes, at)
    };
    stream(len, threads, part, &put, &|| file.sync())
}

/// Threads take the next piece each, so that what is done is always a whole beginning of the file.
fn stream(
    len: u64,
    threads: usize,
    part: &Part<'_>,
    one: &(dyn Fn(&mut Aligned, u64) -> io::Result<()> + Sync),
    end: &dyn Fn() -> io::Result<()>,
) -> (Stream, u64) {
    let pieces = len / CHUNK as u64;
    let next = AtomicU64::new(0);
    let broken = AtomicBool::new(false);
    let barrier = Barrier::new(threads);
    let work = |thread: usize| -> io::Result<(u64, Instant)> {
        let mut buffer = Aligned::new(CHUNK);
        Noise::new(thread as u64 + 3).fill(buffer.bytes());
        barrier.wait();
        let start = Instant::now();
        let mut done = 0;
        while !part.over() && !broken.load(Ordering::Relaxed) {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                break;
            }
            if let Err(e) = one(&mut buffer, piece * CHUNK as u64) {
                broken.store(true, Ordering::Relaxed);
                return Err(e);
            }
            done += 1;
            if thread == 0 {
                part.tick();
            }
        }
        Ok((done, start))
    };
    let mut first: Option<Instant> = None;
    let (mut done, mut error) = (0, None);
    for result in on_threads(threads, &work) {
        match result {
            Ok((pieces, start)) => {
                done += pieces;
                first = Some(first.map_or(start, |f| f.min(start)));
            }
            Err(e) => error = Some(e),
        }
    }
    // what a write left in a cache is part of its time
    if let Err(e) = end() {
        error.get_or_insert(e);
    }
    let seconds = first.map_or(0.0, |f| f.elapsed().as_secs_f64());
    let bytes = done * CHUNK as u64;
    let gbs = match error {
        Some(e) => step::io_failed(&e),
        None if bytes == 0 => step::unknown(Why::OutOfTime, ""),
        None => Reading::Measured {
            value: bytes as f64 / seconds.max(1e-9) / 1e9,
            samples: Vec::new(),
        },
    };
    let stream = Stream {
        threads,
        bytes,
        seconds,
        gbs,
    };
    (stream, bytes)
}

/// The same on so many threads; a thread that panicked is an error, not the end of the program.
pub(super) fn on_threads<T: Send>(
    count: usize,
    work: &(dyn Fn(usize) -> io::Result<T> + Sync),
) -> Vec<io::Result<T>> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|i| scope.spawn(move || work(i))).collect();
        let join = |t: std::thread::ScopedJoinHandle<'_, io::Result<T>>| {
            t.join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread gave up")))
        };
        threads.into_iter().map(join).collect()
    })
}
