//! What hostile size costs: work grows with the text and not with its square.
//!
//! Two measures, neither of them the time on the wall. The allocator counts bytes and calls, which are the same
//! on every run and machine. Scanning back and forth allocates nothing, so the processor time of this thread
//! (as the kernel books it, waiting not counted) is looked at too, with room for a shared cache: eight times
//! the text may take 28 times as long, a quadratic reader takes 64 times.
//! One test in a file of its own: the counters are those of the whole process.

mod quote_support;

use quote_support::import;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Text of the larger of two sizes over that of the smaller.
const GROWTH: u64 = 8;

#[derive(Clone, Copy, Debug)]
struct Work {
    calls: u64,
    bytes: u64,
    /// Nanoseconds on a processor; `None` where the kernel does not say.
    cpu_ns: Option<u64>,
}

/// Nanoseconds for which this thread has run: the first number of Linux's `schedstat`.
fn cpu_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

fn work(text: &str) -> Work {
    let region = Region::new(ALLOCATOR);
    let before = cpu_ns();
    import(text);
    let after = cpu_ns();
    let done = region.change();
    Work {
        calls: (done.allocations + done.reallocations) as u64,
        bytes: done.bytes_allocated as u64,
        cpu_ns: after.zip(before).map(|(a, b)| a - b),
    }
}

#[track_caller]
fn linear(name: &str, make: impl Fn(usize) -> String, small: usize) {
    let (small, large) = (make(small), make(small * GROWTH as usize));
    let (few, many) = (work(&small), work(&large));
    let twice = |x: u64, room: u64| x * GROWTH * 2 + room;
    assert!(
        many.calls <= twice(few.calls, 2_000) && many.bytes <= twice(few.bytes, 1 << 20),
        "{name}: memory asked for grows faster than the text: {few:?}, {GROWTH} times that {many:?}"
    );
    let too_long = |few: u64, many: u64| {
        // below 20 ms the smaller reading is too short to compare with
        many > few.max(20_000_000 / GROWTH) * GROWTH * 7 / 2
    };
    if let (Some(few), Some(mut many)) = (few.cpu_ns, many.cpu_ns) {
        // a disturbance only adds: of several readings the least is the true one
        for _ in 0..3 {
            if too_long(few, many) {
                many = many.min(work(&large).cpu_ns.unwrap_or(many));
            }
        }
        assert!(
            !too_long(few, many),
            "{name}: {few} ns, {GROWTH} times that {many} ns"
        );
    }
}

#[test]
fn work_grows_with_the_text_and_not_with_its_square() {
    type Make = fn(usize) -> String;
    let shapes: [(&str, Make); 14] = [
        ("clauses on one line", |n| {
            format!("H100 80G：{}", "阿里云9.80元/时；".repeat(n))
        }),
        ("one clause", |n| {
            format!("H100 80G {}", "9.80元/时 ".repeat(n))
        }),
        ("digits", |n| "1,234.5-".repeat(n)),
        ("open marks", |n| "~~a](b**[".repeat(n)),
        ("cells", |n| format!("型号,单价\n{}", "L20,".repeat(n))),
        ("rows", |n| {
            format!("型号,单价(元/卡/时)\n{}", "L20,4\n".repeat(n))
        }),
        ("blank lines", |n| "\n".repeat(n * 4)),
        ("no blanks", |n| "昇腾华为云卡时".repeat(n)),
        ("short lines", |n| "a,b\n".repeat(n)),
        // remarks of the shape `key: value`, each of which could begin a machine
        ("places", |n| "地域：华东\n".repeat(n)),
        ("remarks", |n| "备注：含税\n".repeat(n)),
        ("memories", |n| "memory: 80GB\n".repeat(n)),
        ("machines", |n| "GPU: H100\n".repeat(n)),
        ("prices", |n| "price: 3\n".repeat(n)),
    ];
    for (name, make) in shapes {
        linear(name, make, 600);
    }
}
