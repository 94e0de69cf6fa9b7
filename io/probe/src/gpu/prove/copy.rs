//! Copies between host and device, with the link read again while they run; and how any rate is timed.

use super::step::Deadline;
use super::under_load::UnderLoad;
use super::{Bench, Rate};
use crate::gpu::GpuError;
use std::time::{Duration, Instant};

/// Operations queued before the clock of the device is read: enough that NVML is asked while they run.
const BATCH: usize = 4;
/// Samples behind a median, at least.
const SAMPLES: usize = 5;
/// More are not kept.
const SAMPLES_MAX: usize = 200;

pub(super) struct Copies {
    pub(super) to_device: Rate,
    pub(super) to_host: Rate,
    pub(super) under_load: UnderLoad,
}

/// Both directions, pinned, by the copy engine.
pub(super) fn both(bench: &Bench, deadline: &Deadline) -> Result<Copies, GpuError> {
    let context = &bench.context;
    let bytes = bench.options.host_bytes;
    let device = context.device_buffer(bytes)?;
    let host = context.host_buffer(bytes)?;
    let mut load = UnderLoad::not_tried();
    let to_device = timed(
        bench,
        deadline,
        bytes,
        &mut || context.copy_to_device(&device, &host),
        &mut || load.read(bench),
    )?;
    let to_host = timed(
        bench,
        deadline,
        bytes,
        &mut || context.copy_to_host(&host, &device),
        &mut || load.read(bench),
    )?;
    Ok(Copies {
        to_device,
        to_host,
        under_load: load,
    })
}

/// Repeats an operation that moves `bytes` and times it by events; `meanwhile` runs while the device works. The first
/// batch warms up and does not count.
pub(super) fn timed(
    bench: &Bench,
    deadline: &Deadline,
    bytes: usize,
    operation: &mut dyn FnMut() -> Result<(), GpuError>,
    meanwhile: &mut dyn FnMut(),
) -> Result<Rate, GpuError> {
    let begun = Instant::now();
    let mut samples = Vec::new();
    let mut warm = false;
    let enough = |samples: &[f64]| {
        samples.len() >= SAMPLES_MAX
            || (samples.len() >= SAMPLES && begun.elapsed() >= bench.options.at_least)
    };
    while !enough(&samples) {
        let start = bench.context.mark()?;
        for _ in 0..BATCH {
            operation()?;
        }
        let end = bench.context.mark()?;
        meanwhile();
        while !end.done()? {
            if deadline.passed() {
                return Err(deadline.error("rate"));
            }
            std::thread::sleep(Duration::from_micros(20));
        }
        let seconds = end.seconds_since(&start)?;
        if warm && seconds > 0.0 {
            samples.push((BATCH * bytes) as f64 / seconds / 1e9);
        }
        warm = true;
        // slow is not hung: what was measured until now is a rate
        if deadline.passed() {
            break;
        }
    }
    if samples.is_empty() {
        return Err(deadline.error("rate"));
    }
    Ok(Rate {
        gbs: median(&samples),
        samples,
    })
}

/// The middle; of an even number the mean of the two middle ones. 0 of none, which no caller has.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
