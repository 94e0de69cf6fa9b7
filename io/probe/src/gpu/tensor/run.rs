//! One GPU under load: prepared, then multiplied on until the time is over, with NVML read meanwhile.

use super::multiplier::{Multiplier, ROUNDS, wait};
use super::{Moment, moment};
use crate::gpu::meter::{self, Figures};
use crate::gpu::prove::{Deadline, Verified};
use crate::gpu::sys::matrix::ROUND_FLOP;
use crate::gpu::{GpuError, Libraries};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// One launch, and one reading of NVML.
const MOMENT_S: f64 = 0.1;

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

/// Prepares, waits for the others, and loads.
pub(super) fn one(
    shared: &Shared,
    cuda_index: u32,
    nvml: Option<u32>,
    cap: Duration,
) -> Result<Sustained, GpuError> {
    let deadline = Deadline::after(cap);
    let preparation = Deadline::after(shared.preparation);
    let prepared = Multiplier::prepare(&shared.libraries, cuda_index, &preparation);
    shared.ready.fetch_add(1, Ordering::SeqCst);
    let mut load = Load {
        multiplier: prepared?,
        moments: Vec::new(),
    };
    if load.multiplier.results.wrong == 0 {
        // one that hangs is not waited for
        while shared.ready.load(Ordering::SeqCst) < shared.all && !preparation.passed() {
            std::thread::sleep(Duration::from_millis(1));
        }
        load.run(shared, nvml, &deadline)?;
    }
    Ok(Sustained {
        method: load.multiplier.kind.method,
        near_peak: load.multiplier.kind.near_peak,
        results: load.multiplier.results,
        moments: load.moments,
    })
}

struct Load {
    multiplier: Multiplier,
    moments: Vec<Moment>,
}

impl Load {
    fn run(
        &mut self,
        shared: &Shared,
        nvml: Option<u32>,
        deadline: &Deadline,
    ) -> Result<(), GpuError> {
        let context = Arc::clone(&self.multiplier.context);
        // warms up as well
        let start = context.mark()?;
        self.multiplier.multiply(ROUNDS, 1)?;
        let end = context.mark()?;
        wait(&end, deadline)?;
        let once = end.seconds_since(&start)?.max(1e-6);
        let repeats = ((MOMENT_S / once).round() as u32).clamp(1, 100_000);
        let flop = ROUND_FLOP
            * f64::from(ROUNDS)
            * f64::from(repeats)
            * self.multiplier.matrix.warps() as f64;

        // one launch waits behind the one that runs, so that the device has no pause while NVML is asked
        let mut last = context.mark()?;
        self.multiplier.multiply(ROUNDS, repeats)?;
        let mut next = context.mark()?;
        let mut t_s = 0.0;
        let mut gone = None;
        while t_s < shared.seconds && !shared.stop.load(Ordering::SeqCst) && gone.is_none() {
            self.multiplier.multiply(ROUNDS, repeats)?;
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
        self.multiplier.compare(ROUNDS, deadline)
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
