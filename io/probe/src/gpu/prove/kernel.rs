//! Kernels: one whose result is checked, and one that copies memory of the device.

use super::copy::timed;
use super::step::Deadline;
use super::{Bench, Rate, Verified};
use crate::gpu::GpuError;
use crate::gpu::sys::cuda::{COUNTERS, Context, pattern};
use crate::gpu::sys::memory::DeviceBuffer;
use std::sync::Arc;

/// Seeds whose patterns have every bit both ways.
const SEEDS: [u32; 2] = [0x5EED_0001, 0xA112_FFFE];
/// Bytes of the result that the host checks itself, so that not all rests on the checking kernel.
const HOST_CHECK_BYTES: usize = 1 << 20;

/// Fills memory with a pattern by one kernel, has another one compare it, and compares a part on the host.
pub(super) fn verify(bench: &Bench, deadline: &Deadline) -> Result<Verified, GpuError> {
    let context = &bench.context;
    let data = context.device_buffer(affordable(bench)?)?;
    let mut verified = Verified { words: 0, wrong: 0 };
    for seed in SEEDS {
        context.fill(&data, seed)?;
        let wrong = wrong_words(context, &data, seed, deadline)?;
        verified.words += (data.bytes / 4) as u64;
        verified.wrong += wrong;
    }
    Ok(verified)
}

/// Words of a buffer that are not the pattern: as a kernel counts them, and as the host finds in the first of them,
/// whichever is more.
pub(in crate::gpu) fn wrong_words(
    context: &Arc<Context>,
    data: &DeviceBuffer,
    seed: u32,
    deadline: &Deadline,
) -> Result<u64, GpuError> {
    let counters = context.device_buffer(COUNTERS * 4)?;
    let mut counted = context.host_buffer(COUNTERS * 4)?;
    // a kernel that does nothing leaves the ones of this pattern behind, which are no small numbers
    context.fill(&counters, !seed)?;
    context.check(data, seed, &counters)?;
    context.copy_to_host(&counted, &counters)?;
    let part = data.bytes.min(HOST_CHECK_BYTES);
    let mut sample = context.host_buffer(part)?;
    context.copy_to_host(&sample, data)?;
    wait(context, deadline, "kernel")?;
    let by_kernel: u64 = words(counted.bytes()?).map(u64::from).sum();
    let differs = |(at, word): &(usize, u32)| *word != pattern(*at as u32, seed);
    let by_host = words(sample.bytes()?).enumerate().filter(differs).count() as u64;
    Ok(by_kernel.max(by_host))
}

pub(in crate::gpu) fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let chunks = bytes.chunks_exact(4);
    chunks.map(|c| u32::from_ne_bytes([c[0], c[1], c[2], c[3]]))
}

/// Waits for the stream without blocking in the driver, so that a kernel that never ends is cut by the cap.
pub(in crate::gpu) fn wait(
    context: &Arc<Context>,
    deadline: &Deadline,
    step: &str,
) -> Result<(), GpuError> {
    let end = context.mark()?;
    while !end.done()? {
        if deadline.passed() {
            return Err(deadline.error(step));
        }
        std::thread::sleep(std::time::Duration::from_micros(50));
    }
    Ok(())
}

/// Bytes for one of two buffers: what was asked for, or what another process leaves free.
fn affordable(bench: &Bench) -> Result<usize, GpuError> {
    let free = bench.context.memory_free()? as usize;
    let room = bench.options.device_bytes.min(free / 4);
    // with less than a page the allocation fails, and says that memory is out
    Ok((room & !0xFFF).max(0x1000))
}

/// Read and written bytes of the device's memory per second.
pub(super) fn memory(bench: &Bench, deadline: &Deadline) -> Result<Rate, GpuError> {
    let context = &bench.context;
    let bytes = affordable(bench)?;
    let (to, from) = (context.device_buffer(bytes)?, context.device_buffer(bytes)?);
    context.fill(&from, SEEDS[0])?;
    // every byte is read once and written once
    timed(
        bench,
        deadline,
        2 * bytes,
        &mut || context.copy_within(&to, &from),
        &mut || {},
    )
}
