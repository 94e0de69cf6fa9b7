//! What the probe's kernels compute, on the memory that plays the GPUs' memory, in simulated time.

use crate::cuda::{INVALID, part};
use crate::machine::Machine;

/// As in the kernels' source.
fn pattern(at: u32, seed: u32) -> u32 {
    let mut x = at.wrapping_mul(0x9E37_79B1) ^ seed;
    x ^= x >> 16;
    x = x.wrapping_mul(0x85EB_CA6B);
    x ^ (x >> 13)
}

pub(crate) fn fill(
    m: &mut Machine,
    gpu: usize,
    stream: usize,
    to: u64,
    words: u64,
    seed: u32,
) -> Result<(), u32> {
    let seconds = m.memory_seconds(gpu, words as usize * 4);
    m.work(stream, seconds)?;
    let flip = m.state.gpus[gpu].flip_bit;
    let (_, memory) = m.memory.get_mut(&to).ok_or(INVALID)?;
    let memory = memory.get_mut(..words as usize * 4).ok_or(INVALID)?;
    for (at, word) in memory.chunks_exact_mut(4).enumerate() {
        word.copy_from_slice(&pattern(at as u32, seed).to_ne_bytes());
    }
    if flip {
        // near the end: where only the checking kernel looks
        let last = memory.len() - 5;
        memory[last] ^= 4;
    }
    Ok(())
}

pub(crate) fn check(
    m: &mut Machine,
    gpu: usize,
    stream: usize,
    [data, words, counters]: [u64; 3],
    seed: u32,
) -> Result<(), u32> {
    let seconds = m.memory_seconds(gpu, words as usize * 4);
    m.work(stream, seconds)?;
    let (_, memory) = m.memory.get(&data).ok_or(INVALID)?;
    let memory = memory.get(..words as usize * 4).ok_or(INVALID)?;
    let wrong = memory
        .chunks_exact(4)
        .enumerate()
        .filter(|(at, word)| *word != pattern(*at as u32, seed).to_ne_bytes())
        .count();
    let (_, counters) = m.memory.get_mut(&counters).ok_or(INVALID)?;
    counters.fill(0);
    counters[..4].copy_from_slice(&(wrong as u32).to_ne_bytes());
    Ok(())
}

pub(crate) fn copy(
    m: &mut Machine,
    gpu: usize,
    stream: usize,
    [to, from, steps]: [u64; 3],
) -> Result<(), u32> {
    let bytes = steps as usize * 16;
    let seconds = m.memory_seconds(gpu, 2 * bytes);
    m.work(stream, seconds)?;
    let (_, source) = m.memory.get(&from).ok_or(INVALID)?;
    let source = source.get(..bytes).ok_or(INVALID)?.to_vec();
    let (_, target) = m.memory.get_mut(&to).ok_or(INVALID)?;
    target
        .get_mut(..bytes)
        .ok_or(INVALID)?
        .copy_from_slice(&source);
    Ok(())
}

pub(crate) fn add(
    m: &mut Machine,
    gpu: usize,
    stream: usize,
    [to, from, words]: [u64; 3],
    factor: u32,
) -> Result<(), u32> {
    let bytes = words as usize * 4;
    let seconds = m.memory_seconds(gpu, 3 * bytes);
    m.work(stream, seconds)?;
    let source = part(m, gpu, from, bytes)?.to_vec();
    let target = part(m, gpu, to, bytes)?;
    for (to, from) in target.chunks_exact_mut(4).zip(source.chunks_exact(4)) {
        let read = |c: &[u8]| u32::from_ne_bytes([c[0], c[1], c[2], c[3]]);
        let sum = read(to).wrapping_add(read(from).wrapping_mul(factor));
        to.copy_from_slice(&sum.to_ne_bytes());
    }
    Ok(())
}

pub(crate) fn bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Normal numbers and 0, which is all that comes here.
pub(crate) fn f16(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    match (bits >> 10) & 0x1F {
        0 => 0.0,
        exponent => {
            let fraction = 1.0 + f32::from(bits & 0x3FF) / 1024.0;
            sign * fraction * 2.0_f32.powi(i32::from(exponent) - 15)
        }
    }
}

/// Each warp multiplies the same two tiles, 32 x 16 and 16 x 32 (stored by columns), and adds them up `rounds` times;
/// the repeats begin anew.
pub(crate) fn multiply(
    m: &mut Machine,
    gpu: usize,
    stream: usize,
    [a, b, out]: [u64; 3],
    [rounds, repeats]: [u32; 2],
    warps: usize,
    half: fn(u16) -> f32,
) -> Result<(), u32> {
    let flop = 2.0 * 32.0 * 32.0 * 16.0;
    let flop = flop * f64::from(rounds) * f64::from(repeats) * warps as f64;
    let seconds = m.tensor_seconds(gpu, flop);
    m.work(stream, seconds)?;
    let mut read = |from| -> Result<Vec<f32>, u32> {
        let bytes = part(m, gpu, from, 32 * 16 * 2)?;
        let halves = bytes.chunks_exact(2);
        Ok(halves
            .map(|c| half(u16::from_ne_bytes([c[0], c[1]])))
            .collect())
    };
    let (a, b) = (read(a)?, read(b)?);
    let mut tile = Vec::with_capacity(32 * 32 * 4);
    for row in a.chunks_exact(16) {
        for column in b.chunks_exact(16) {
            let sum: f32 = row.iter().zip(column).map(|(x, y)| x * y).sum();
            tile.extend((sum * rounds as f32).to_ne_bytes());
        }
    }
    let flip = m.state.gpus[gpu].tensor_flip_bit;
    let results = part(m, gpu, out, warps * tile.len())?;
    for warp in results.chunks_exact_mut(tile.len()) {
        warp.copy_from_slice(&tile);
    }
    if flip {
        let last = results.len() - 3;
        results[last] ^= 2;
    }
    Ok(())
}
