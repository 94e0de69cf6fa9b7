//! The real clock under load, without asking the machine: a chain of additions in which each waits for the one before takes
//! one cycle for each, on every x86-64 and Arm core.
//!
//! A second chain with multiplications checks the first: with a build that is not optimised, or a core of other latencies,
//! their ratio is not four cycles to two, and the answer is "unknown".

use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: u64 = 20_000;
/// Pairs of operations in a round.
const PAIRS: u64 = 8;

/// An addition and an exclusive or in turn: no compiler can fold them. Two cycles a pair.
#[inline(never)]
fn additions(rounds: u64, a: u64, b: u64) -> u64 {
    let mut x = a;
    for _ in 0..rounds {
        for _ in 0..PAIRS {
            x = x.wrapping_add(a);
            x ^= b;
        }
    }
    x
}

/// A multiplication and an exclusive or: three and one cycle.
#[inline(never)]
fn multiplications(rounds: u64, a: u64, b: u64) -> u64 {
    let mut x = a;
    for _ in 0..rounds {
        for _ in 0..PAIRS {
            x = x.wrapping_mul(a);
            x ^= b;
        }
    }
    x
}

fn pair_ns(chain: fn(u64, u64, u64) -> u64) -> f64 {
    let (a, b) = (
        black_box(0x9E37_79B9_7F4A_7C15),
        black_box(0x5DEE_CE66_D1CE_4E5B),
    );
    let start = Instant::now();
    black_box(chain(ROUNDS, a, b));
    start.elapsed().as_nanos() as f64 / (ROUNDS * PAIRS) as f64
}

/// GHz in short windows, on this thread, until the time is over; empty where the chains do not fit each other.
pub(super) fn ghz(time: Duration, over: &dyn Fn() -> bool) -> Vec<f64> {
    let start = Instant::now();
    let (mut adds, mut muls) = (Vec::new(), Vec::new());
    while adds.len() < 3 || (start.elapsed() < time && !over()) {
        adds.push(pair_ns(additions));
        muls.push(pair_ns(multiplications));
    }
    // the fastest window of each: the others may have been interrupted
    let least = |v: &[f64]| v.iter().copied().fold(f64::INFINITY, f64::min);
    let ratio = least(&muls) / least(&adds);
    match (1.6..2.4).contains(&ratio) {
        true => adds.into_iter().map(|ns| 2.0 / ns).collect(),
        false => Vec::new(),
    }
}
