//! STREAM's four loops over arrays far larger than the caches, by all threads at once; each thread works on its own part,
//! which it touched first, so that memory is near. Bytes are counted as STREAM does: what a store reads first is not.
//!
//! Non-temporal stores would need `unsafe`: not used, as in STREAM built with `gcc -O3`; only the copy, which is the C
//! library's `memcpy`, has them. Figures are comparable with that build, not with icc's.

use crate::step::{self, Part, Why};
use lessee_model::probe::StreamBandwidth;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

const RUNS_MAX: usize = 10;

type Kernel = fn(&mut [f64], &mut [f64], &mut [f64]);

const FACTOR: f64 = 3.0;

fn copy(a: &mut [f64], _: &mut [f64], c: &mut [f64]) {
    c.copy_from_slice(a);
}

fn scale(_: &mut [f64], b: &mut [f64], c: &mut [f64]) {
    b.iter_mut().zip(c).for_each(|(b, c)| *b = FACTOR * *c);
}

fn add(a: &mut [f64], b: &mut [f64], c: &mut [f64]) {
    c.iter_mut()
        .zip(a.iter().zip(b.iter()))
        .for_each(|(c, (a, b))| *c = a + b);
}

fn triad(a: &mut [f64], b: &mut [f64], c: &mut [f64]) {
    a.iter_mut()
        .zip(b.iter().zip(c.iter()))
        .for_each(|(a, (b, c))| *a = b + FACTOR * c);
}

/// Threads start a loop within some 100 ns of each other: a sleeping thread is woken 50 to 500 us late on a virtual machine,
/// a tenth of the loop that is timed.
struct SpinBarrier {
    threads: usize,
    arrived: AtomicUsize,
}

impl SpinBarrier {
    fn wait(&self) {
        let mine = self.arrived.fetch_add(1, Ordering::AcqRel);
        let all = (mine / self.threads + 1) * self.threads;
        let mut spun = 0u32;
        while self.arrived.load(Ordering::Acquire) < all {
            // fewer processors than threads: let the others come
            match spun < 10_000 {
                true => std::hint::spin_loop(),
                false => std::thread::yield_now(),
            }
            spun = spun.saturating_add(1);
        }
    }
}

type Arrays = [Vec<f64>; 3];

/// Room for the arrays of a thread; none where the system gives no more.
fn arrays(each: usize) -> Option<Arrays> {
    let mut arrays = Arrays::default();
    for array in &mut arrays {
        array.try_reserve_exact(each).ok()?;
    }
    Some(arrays)
}

fn refused(threads: usize, array_bytes: u64, cache_bytes: Option<u64>) -> StreamBandwidth {
    let none = || step::unknown(Why::NoMemory, "");
    StreamBandwidth {
        threads,
        array_bytes,
        over_cache: cache_bytes.map(|c| array_bytes as f64 / c as f64),
        copy_gbs: none(),
        scale_gbs: none(),
        add_gbs: none(),
        triad_gbs: none(),
        // nothing was computed wrongly
        verified: true,
    }
}

/// Kernel and arrays that it moves.
const KERNELS: [(Kernel, f64); 4] = [(copy, 2.0), (scale, 2.0), (add, 3.0), (triad, 3.0)];

pub(super) fn run(
    threads: usize,
    array_bytes: u64,
    cache_bytes: Option<u64>,
    part: &Part<'_>,
) -> StreamBandwidth {
    let each = (array_bytes / 8 / threads as u64).max(1024) as usize;
    let array_bytes = (each * threads * 8) as u64;
    // reserved here, where a refusal can be told, and touched by the thread that works on it
    let rooms: Option<Vec<Arrays>> = (0..threads).map(|_| arrays(each)).collect();
    let Some(mut rooms) = rooms else {
        return refused(threads, array_bytes, cache_bytes);
    };
    let barrier = SpinBarrier {
        threads,
        arrived: AtomicUsize::new(0),
    };
    let origin = Instant::now();
    // times of a thread: by run and kernel, start and end
    type Times = Vec<[(f64, f64); 4]>;
    let work = |thread: usize, room: &mut Arrays, goes_on: &std::sync::atomic::AtomicBool| {
        let [a, b, c] = room;
        for (array, value) in [(&mut *a, 1.0), (&mut *b, 2.0), (&mut *c, 0.0)] {
            array.resize(each, value);
        }
        let mut expected = (1.0, 2.0, 0.0);
        let mut times = Times::new();
        for _ in 0..RUNS_MAX {
            // one thread decides for all, or some would wait at a barrier that others never reach
            if thread == 0 {
                let more = times.is_empty() || !part.over();
                goes_on.store(more, Ordering::SeqCst);
                part.tick();
            }
            barrier.wait();
            if !goes_on.load(Ordering::SeqCst) {
                break;
            }
            let mut run = [(0.0, 0.0); 4];
            for ((kernel, _), time) in KERNELS.iter().zip(&mut run) {
                barrier.wait();
                let start = origin.elapsed().as_secs_f64();
                kernel(black_box(&mut *a), black_box(&mut *b), black_box(&mut *c));
                *time = (start, origin.elapsed().as_secs_f64());
            }
            times.push(run);
            let (x, y) = (expected.0, FACTOR * expected.0);
            expected = (y + FACTOR * (x + y), y, x + y);
            // nobody may decide about the next run while another still reads the last decision
            barrier.wait();
        }
        let right = |array: &[f64], value: f64| {
            array
                .iter()
                .all(|x| (x - value).abs() <= 1e-9 * value.abs())
        };
        let verified = right(a, expected.0) && right(b, expected.1) && right(c, expected.2);
        (times, verified)
    };
    let goes_on = std::sync::atomic::AtomicBool::new(true);
    let results: Vec<(Times, bool)> = std::thread::scope(|scope| {
        let spawn = |(i, room)| {
            let (work, goes_on) = (&work, &goes_on);
            scope.spawn(move || work(i, room, goes_on))
        };
        let threads: Vec<_> = rooms.iter_mut().enumerate().map(spawn).collect();
        let join =
            |t: std::thread::ScopedJoinHandle<'_, (Times, bool)>| t.join().unwrap_or_default();
        threads.into_iter().map(join).collect()
    });
    let runs = results.iter().map(|r| r.0.len()).min().unwrap_or(0);
    let rates = |kernel: usize| {
        let one = |run: usize| {
            let spans = results.iter().map(|r| r.0[run][kernel]);
            let (start, end) =
                spans.fold((f64::INFINITY, 0f64), |s, t| (s.0.min(t.0), s.1.max(t.1)));
            KERNELS[kernel].1 * array_bytes as f64 / (end - start).max(1e-9) / 1e9
        };
        // the first run pays for what was not touched yet
        let first = usize::from(runs > 1);
        step::measured((first..runs).map(one).collect(), Why::OutOfTime)
    };
    StreamBandwidth {
        threads,
        array_bytes,
        over_cache: cache_bytes.map(|c| array_bytes as f64 / c as f64),
        copy_gbs: rates(0),
        scale_gbs: rates(1),
        add_gbs: rates(2),
        triad_gbs: rates(3),
        verified: results.iter().all(|r| r.1),
    }
}
