//! The kernel that multiplies, prepared on one GPU: chosen by what the card can do, with operands whose product the host
//! knows, so that every result can be compared. Not here: how long it runs (`run.rs`, and the feed test's `gpu/trainer`).

use crate::gpu::prove::{Deadline, PTX, Verified};
use crate::gpu::sys::cuda::Context;
use crate::gpu::sys::matrix::{DEPTH, Matrix, RESULT_BYTES, SIDE};
use crate::gpu::sys::memory::{DeviceBuffer, Event};
use crate::gpu::{GpuError, Libraries};
use std::ffi::CStr;
use std::sync::Arc;
use std::time::Duration;

/// Blocks of 256 threads on each multiprocessor: eight warps for each of its four schedulers.
const BLOCKS_EACH: u32 = 4;
/// Operands are integers from -4 to 4: their product, 16 deep, is at most 256, and added up so often at most 2^22, which
/// f32 still counts by ones. So every result is exact.
const LARGEST: i32 = 4;
/// Products that are added up before a kernel begins anew, at most.
pub(in crate::gpu) const ROUNDS: u32 = 16_384;

const BF16: &str = concat!(include_str!("../../../kernels/mma_bf16.ptx"), "\0");
const F16: &str = concat!(include_str!("../../../kernels/mma_f16.ptx"), "\0");

/// How a card multiplies.
pub(in crate::gpu) struct Kind {
    pub(in crate::gpu) method: &'static str,
    pub(in crate::gpu) near_peak: bool,
    ptx: &'static str,
    name: &'static CStr,
    half: fn(i32) -> u16,
}

fn kind((major, _): (i32, i32)) -> Option<Kind> {
    match major {
        ..=6 => None,
        7 => Some(Kind {
            method: "wmma m16n16k16 f16",
            near_peak: true,
            ptx: F16,
            name: c"lessee_mma_f16",
            half: f16,
        }),
        _ => Some(Kind {
            method: "mma.sync m16n8k16 bf16",
            // Hopper has wgmma and the Blackwells of data centres tcgen05; those for desks have mma.sync alone
            near_peak: !matches!(major, 9..=11),
            ptx: BF16,
            name: c"lessee_mma_bf16",
            half: bf16,
        }),
    }
}

fn bf16(x: i32) -> u16 {
    ((x as f32).to_bits() >> 16) as u16
}

/// Of small integers, which are exact.
fn f16(x: i32) -> u16 {
    let bits = (x as f32).to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    match x {
        0 => 0,
        // the exponent with its other bias, and the upper ten bits of the fraction
        _ => sign | ((((bits >> 23) & 0xFF) as u16 - 112) << 10) | ((bits >> 13) & 0x3FF) as u16,
    }
}

/// Operands that have no pattern a card could be lucky with.
fn operand(seed: u64) -> Vec<i32> {
    let mut noise = crate::step::Noise::new(seed);
    let mut one = || noise.below(2 * LARGEST as u64 + 1) as i32 - LARGEST;
    (0..SIDE * DEPTH).map(|_| one()).collect()
}

/// A times B, both as 32 rows of 16.
fn product(a: &[i32], b: &[i32]) -> Vec<i32> {
    let rows = a.chunks_exact(DEPTH);
    rows.flat_map(|row| {
        let columns = b.chunks_exact(DEPTH);
        columns.map(move |column| row.iter().zip(column).map(|(x, y)| x * y).sum())
    })
    .collect()
}

pub(in crate::gpu) struct Multiplier {
    pub(in crate::gpu) kind: Kind,
    pub(in crate::gpu) context: Arc<Context>,
    pub(in crate::gpu) matrix: Matrix,
    a: DeviceBuffer,
    b: DeviceBuffer,
    out: DeviceBuffer,
    product: Vec<i32>,
    /// What was compared so far.
    pub(in crate::gpu) results: Verified,
}

impl Multiplier {
    /// Makes the context, has the driver compile the kernel, and compares what it computes once.
    pub(in crate::gpu) fn prepare(
        libraries: &Libraries,
        cuda_index: u32,
        deadline: &Deadline,
    ) -> Result<Multiplier, GpuError> {
        let cuda = libraries.cuda.as_ref().map_err(Clone::clone)?;
        let capability = cuda.capability(cuda_index)?;
        let Some(kind) = kind(capability) else {
            return Err(GpuError::NoMatrixUnit {
                capability: format!("{}.{}", capability.0, capability.1),
            });
        };
        let text =
            |ptx: &'static str| CStr::from_bytes_with_nul(ptx.as_bytes()).unwrap_or_default();
        let context = Context::new(cuda, cuda_index, text(PTX))?;
        let blocks = BLOCKS_EACH * cuda.multiprocessors(cuda_index)?.max(1);
        let matrix = Matrix::load(&context, text(kind.ptx), kind.name, blocks)?;
        let (a, b) = (operand(1), operand(2));
        let upload = |values: &[i32]| -> Result<DeviceBuffer, GpuError> {
            let buffer = context.device_buffer(values.len() * 2)?;
            let mut host = context.host_buffer(values.len() * 2)?;
            for (half, value) in host.bytes()?.chunks_exact_mut(2).zip(values) {
                half.copy_from_slice(&(kind.half)(*value).to_ne_bytes());
            }
            context.copy_to_device(&buffer, &host)?;
            // the host's memory is given back when this returns, after the copy
            host.bytes()?;
            Ok(buffer)
        };
        let mut made = Multiplier {
            a: upload(&a)?,
            b: upload(&b)?,
            out: context.device_buffer(matrix.warps() * RESULT_BYTES)?,
            product: product(&a, &b),
            results: Verified { words: 0, wrong: 0 },
            kind,
            context,
            matrix,
        };
        made.multiply(1, 1)?;
        made.compare(1, deadline)?;
        Ok(made)
    }

    pub(in crate::gpu) fn multiply(&self, rounds: u32, repeats: u32) -> Result<(), GpuError> {
        self.matrix
            .multiply([&self.a, &self.b, &self.out], rounds, repeats)
    }

    /// Every result of every warp against the product that the host computed.
    pub(in crate::gpu) fn compare(
        &mut self,
        rounds: u32,
        deadline: &Deadline,
    ) -> Result<(), GpuError> {
        let mut host = self.context.host_buffer(self.out.bytes)?;
        self.context.copy_to_host(&host, &self.out)?;
        wait(&self.context.mark()?, deadline)?;
        let words = host.bytes()?.chunks_exact(4);
        let right = self.product.iter().cycle();
        let wrong = words.zip(right).filter(|(word, right)| {
            let word = f32::from_ne_bytes([word[0], word[1], word[2], word[3]]);
            // exact, see ROUNDS; a sum of nought may have either sign
            word != (**right * rounds as i32) as f32
        });
        self.results.wrong += wrong.count() as u64;
        self.results.words += (self.out.bytes / 4) as u64;
        Ok(())
    }
}

/// Waits for a place in a stream without blocking in the driver.
pub(in crate::gpu) fn wait(event: &Event, deadline: &Deadline) -> Result<(), GpuError> {
    while !event.done()? {
        if deadline.passed() {
            return Err(deadline.error("tensor"));
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_as_the_formats_say() {
        let (b, h) = ([0, 1, -3, 4].map(bf16), [0, 1, -3, 4].map(f16));
        assert_eq!(b, [0, 0x3F80, 0xC040, 0x4080]);
        assert_eq!(h, [0, 0x3C00, 0xC200, 0x4400]);
    }

    #[test]
    fn sums_stay_exact() {
        let (a, b) = (operand(1), operand(2));
        assert!(a.iter().chain(&b).all(|x| x.abs() <= LARGEST));
        assert_ne!(a, b);
        let most = LARGEST * LARGEST * DEPTH as i32 * ROUNDS as i32;
        assert!(most < 1 << 24);
        let p = product(&a, &b);
        assert_eq!(p.len(), SIDE * SIDE);
        let by_hand: i32 = (0..DEPTH)
            .map(|k| a[3 * DEPTH + k] * b[30 * DEPTH + k])
            .sum();
        assert_eq!(p[3 * SIDE + 30], by_hand);
    }
}
