//! One GPU under load: the kernel chosen by what the card can do, its results compared, and the load itself.

use super::{Moment, moment};
use crate::gpu::meter::{self, Figures};
use crate::gpu::prove::{Deadline, PTX, Verified};
use crate::gpu::sys::cuda::Context;
use crate::gpu::sys::matrix::{DEPTH, Matrix, RESULT_BYTES, ROUND_FLOP, SIDE};
use crate::gpu::sys::memory::{DeviceBuffer, Event};
use crate::gpu::{GpuError, Libraries};
use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Blocks of 256 threads on each multiprocessor: eight warps for each of its four schedulers.
const BLOCKS_EACH: u32 = 4;
/// Operands are integers from -4 to 4: their product, 16 deep, is at most 256, and added up so often at most 2^22, which
/// f32 still counts by ones. So every result is exact.
const LARGEST: i32 = 4;
const ROUNDS: u32 = 16_384;
/// One launch, and one reading of NVML.
const MOMENT_S: f64 = 0.1;

const BF16: &str = concat!(include_str!("../../../kernels/mma_bf16.ptx"), "\0");
const F16: &str = concat!(include_str!("../../../kernels/mma_f16.ptx"), "\0");

/// What the threads of all GPUs share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) libraries: Arc<Libraries>,
    pub(super) seconds: f64,
    pub(super) preparation: Duration,
    /// Those that are prepared, or never will be.
    pub(super) ready: Arc<AtomicUsize>,
    pub(super) all: usize,
    pub(super) stop: Arc<AtomicBool>,
}

pub(super) struct Sustained {
    pub(super) method: &'static str,
    pub(super) near_peak: bool,
    pub(super) results: Verified,
    pub(super) moments: Vec<Moment>,
}

/// How a card multiplies.
struct Kind {
    method: &'static str,
    near_peak: bool,
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

/// Prepares, waits for the others, and loads.
pub(super) fn one(
    shared: &Shared,
    cuda_index: u32,
    nvml: Option<u32>,
    cap: Duration,
) -> Result<Sustained, GpuError> {
    let deadline = Deadline::after(cap);
    let preparation = Deadline::after(shared.preparation);
    let prepared = Load::prepare(shared, cuda_index, &preparation);
    shared.ready.fetch_add(1, Ordering::SeqCst);
    let mut load = prepared?;
    if load.results.wrong == 0 {
        // one that hangs is not waited for
        while shared.ready.load(Ordering::SeqCst) < shared.all && !preparation.passed() {
            std::thread::sleep(Duration::from_millis(1));
        }
        load.run(shared, nvml, &deadline)?;
    }
    Ok(Sustained {
        method: load.kind.method,
        near_peak: load.kind.near_peak,
        results: load.results,
        moments: load.moments,
    })
}

struct Load {
    kind: Kind,
    context: Arc<Context>,
    matrix: Matrix,
    a: DeviceBuffer,
    b: DeviceBuffer,
    out: DeviceBuffer,
    product: Vec<i32>,
    results: Verified,
    moments: Vec<Moment>,
}

impl Load {
    fn prepare(shared: &Shared, cuda_index: u32, deadline: &Deadline) -> Result<Load, GpuError> {
        let cuda = shared.libraries.cuda.as_ref().map_err(Clone::clone)?;
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
        let mut load = Load {
            a: upload(&a)?,
            b: upload(&b)?,
            out: context.device_buffer(matrix.warps() * RESULT_BYTES)?,
            product: product(&a, &b),
            results: Verified { words: 0, wrong: 0 },
            moments: Vec::new(),
            kind,
            context,
            matrix,
        };
        load.multiply(1, 1)?;
        load.compare(1, deadline)?;
        Ok(load)
    }

    fn multiply(&self, rounds: u32, repeats: u32) -> Result<(), GpuError> {
        self.matrix
            .multiply([&self.a, &self.b, &self.out], rounds, repeats)
    }

    /// Every result of every warp against the product that the host computed.
    fn compare(&mut self, rounds: u32, deadline: &Deadline) -> Result<(), GpuError> {
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

    fn run(
        &mut self,
        shared: &Shared,
        nvml: Option<u32>,
        deadline: &Deadline,
    ) -> Result<(), GpuError> {
        let context = Arc::clone(&self.context);
        // warms up as well
        let start = context.mark()?;
        self.multiply(ROUNDS, 1)?;
        let end = context.mark()?;
        wait(&end, deadline)?;
        let once = end.seconds_since(&start)?.max(1e-6);
        let repeats = ((MOMENT_S / once).round() as u32).clamp(1, 100_000);
        let flop = ROUND_FLOP * f64::from(ROUNDS) * f64::from(repeats) * self.matrix.warps() as f64;

        // one launch waits behind the one that runs, so that the device has no pause while NVML is asked
        let mut last = context.mark()?;
        self.multiply(ROUNDS, repeats)?;
        let mut next = context.mark()?;
        let mut t_s = 0.0;
        let mut gone = None;
        while t_s < shared.seconds && !shared.stop.load(Ordering::SeqCst) && gone.is_none() {
            self.multiply(ROUNDS, repeats)?;
            let after = context.mark()?;
            let figures = figures(&shared.libraries, nvml);
            wait(&next, deadline)?;
            let seconds = next.seconds_since(&last)?;
            t_s += seconds;
            let figures = match figures {
                Ok(figures) => figures,
                Err(error) => {
                    gone = Some(error);
                    None
                }
            };
            if seconds > 0.0 {
                let rate = flop / seconds / 1e12;
                self.moments.push(moment(t_s, rate, figures));
            }
            last = next;
            next = after;
        }
        if let Some(error) = gone {
            return Err(error);
        }
        wait(&next, deadline)?;
        self.compare(ROUNDS, deadline)
    }
}

/// None where NVML knows nothing of the GPU.
///
/// # Errors
/// The GPU is gone.
fn figures(libraries: &Libraries, nvml: Option<u32>) -> Result<Option<Figures>, GpuError> {
    let (Ok(library), Some(index)) = (&libraries.nvml, nvml) else {
        return Ok(None);
    };
    let gpu = library.device(index)?;
    meter::figures(library, gpu).map(Some)
}

fn wait(event: &Event, deadline: &Deadline) -> Result<(), GpuError> {
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
