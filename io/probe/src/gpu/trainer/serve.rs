//! The thread of one GPU: prepares, finds how much work a step is, then copies and computes as it is told.
//!
//! The kernel of a step goes to the device in launches of a tenth of a second, two of them under way, so that a step of
//! minutes can be cut. Everything is timed by the device's clock.

use super::TrainerGpu;
use crate::gpu::meter;
use crate::gpu::prove::{Deadline, PTX};
use crate::gpu::sys::cuda::Context;
use crate::gpu::sys::memory::{DeviceBuffer, Event, Staging};
use crate::gpu::tensor::multiplier::{Multiplier, wait};
use crate::gpu::{GpuError, Libraries};
use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

/// Of one repeat of the kernel: some microseconds, so that short steps can be met too.
const ROUNDS: u32 = 64;
/// One launch at most, seconds.
const LAUNCH_S: f64 = 0.1;
/// An idle card needs about this long to raise its clock; seconds.
const WARM_S: f64 = 0.3;
/// How often the device is asked.
const POLL: Duration = Duration::from_micros(50);
/// Pinned buffers grow by this, so that batches of slightly different sizes do not make one each.
const GRAIN: usize = 2 << 20;

pub(super) struct Shared {
    pub(super) libraries: Arc<Libraries>,
    pub(super) gpu: TrainerGpu,
    /// 0: batches are copied and nothing is computed.
    pub(super) step_s: f64,
    pub(super) preparation: Duration,
    /// Nobody waits for the step any more.
    pub(super) over: Arc<AtomicBool>,
}

pub(super) enum Order {
    Stage(Vec<u8>),
    Step {
        compute: bool,
    },
    /// What was staged is not wanted.
    Forget,
}

pub(super) enum Reply {
    Ready,
    Staged { data: Vec<u8>, seconds: f64 },
    Stepped(Times),
    Failed(GpuError),
}

/// One step of one GPU, by its clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) bytes: usize,
    pub(crate) copy_s: f64,
    /// None: nothing was to be computed.
    pub(crate) kernel_s: Option<f64>,
    /// It was cut, and is none.
    pub(crate) cut: bool,
}

pub(super) fn run(shared: &Shared, orders: &Receiver<Order>, say: &dyn Fn(Reply)) {
    let deadline = Deadline::after(shared.preparation);
    let mut bench = match Bench::prepare(shared, &deadline) {
        Ok(bench) => bench,
        Err(error) => return say(Reply::Failed(cause(shared, error))),
    };
    say(Reply::Ready);
    if let Err(error) = bench.serve(orders, say) {
        let hangs = matches!(error, GpuError::TimeCap { .. });
        say(Reply::Failed(cause(shared, error)));
        if hangs {
            // giving memory back would wait for what never ends
            std::mem::forget(bench);
        }
    }
}

/// CUDA says that something failed, NVML often what: a GPU that is lost is so for both.
fn cause(shared: &Shared, error: GpuError) -> GpuError {
    let (GpuError::Cuda { .. }, Ok(nvml), Some(index)) =
        (&error, &shared.libraries.nvml, shared.gpu.index)
    else {
        return error;
    };
    let asked = nvml
        .device(index)
        .and_then(|gpu| meter::figures(nvml, gpu).map(drop));
    asked.err().unwrap_or(error)
}

struct Bench<'a> {
    shared: &'a Shared,
    context: Arc<Context>,
    work: Option<Work>,
    staging: [Option<Staging>; 2],
    /// Which of them is filled next.
    next: usize,
    /// Which of them holds the batch of the next step, and its size.
    staged: Option<(usize, usize)>,
    device: Option<DeviceBuffer>,
}

/// What takes as long as a step of the model.
struct Work {
    multiplier: Multiplier,
    launches: u32,
    repeats: u32,
}

impl<'a> Bench<'a> {
    fn prepare(shared: &'a Shared, deadline: &Deadline) -> Result<Bench<'a>, GpuError> {
        let index = shared.gpu.cuda_index;
        let cuda = shared.libraries.cuda.as_ref().map_err(Clone::clone)?;
        let (context, work) = if shared.step_s > 0.0 {
            let multiplier = Multiplier::prepare(&shared.libraries, index, deadline)?;
            let results = multiplier.results;
            if results.wrong > 0 {
                return Err(GpuError::WrongResults {
                    wrong: results.wrong,
                    words: results.words,
                });
            }
            let context = Arc::clone(&multiplier.context);
            (
                context,
                Some(Work::calibrate(multiplier, shared.step_s, deadline)?),
            )
        } else {
            let ptx = CStr::from_bytes_with_nul(PTX.as_bytes()).unwrap_or_default();
            (Context::new(cuda, index, ptx)?, None)
        };
        Ok(Bench {
            shared,
            context,
            work,
            staging: [None, None],
            next: 0,
            staged: None,
            device: None,
        })
    }

    /// Until nobody is left who could order anything.
    fn serve(&mut self, orders: &Receiver<Order>, say: &dyn Fn(Reply)) -> Result<(), GpuError> {
        while let Ok(order) = orders.recv() {
            match order {
                Order::Stage(data) => say(self.stage(data)?),
                Order::Step { compute } => {
                    let times = self.step(compute, orders, say)?;
                    say(Reply::Stepped(times));
                }
                Order::Forget => self.staged = None,
            }
        }
        Ok(())
    }

    /// As a loader's thread that pins: copies a batch into pinned memory.
    fn stage(&mut self, data: Vec<u8>) -> Result<Reply, GpuError> {
        let start = Instant::now();
        let at = self.next;
        let room = self.staging[at].as_ref().map_or(0, Staging::room);
        if room < data.len() || room == 0 {
            // the old one first: both together may be too much
            self.staging[at] = None;
            let bytes = data.len().next_multiple_of(GRAIN).max(GRAIN);
            self.staging[at] = Some(Staging::new(&self.context, bytes)?);
        }
        let guard = Guard::new(self.shared);
        if let Some(staging) = &mut self.staging[at] {
            while !staging.fill(&data)? {
                guard.pause()?;
            }
        }
        self.staged = Some((at, data.len()));
        self.next = 1 - at;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Reply::Staged { data, seconds })
    }

    fn step(
        &mut self,
        compute: bool,
        orders: &Receiver<Order>,
        say: &dyn Fn(Reply),
    ) -> Result<Times, GpuError> {
        let (at, bytes) = self.staged.take().unwrap_or_default();
        if self.device.as_ref().is_none_or(|d| d.bytes < bytes) {
            self.device = None;
            let room = bytes.next_multiple_of(GRAIN).max(GRAIN);
            self.device = Some(self.context.device_buffer(room)?);
        }
        let start = self.context.mark()?;
        if let (Some(staging), Some(device), 1..) = (&mut self.staging[at], &self.device, bytes) {
            staging.copy_to(device, bytes)?;
        }
        let copied = self.context.mark()?;
        let mut cut = false;
        let mut under_way: Vec<Event> = Vec::new();
        let launches = self
            .work
            .as_ref()
            .filter(|_| compute)
            .map_or(0, |w| w.launches);
        for _ in 0..launches {
            if self.shared.over.load(Ordering::SeqCst) {
                cut = true;
                break;
            }
            if let Some(work) = &self.work {
                work.multiplier.multiply(ROUNDS, work.repeats)?;
            }
            under_way.push(self.context.mark()?);
            if under_way.len() > 2 {
                let first = under_way.remove(0);
                self.until(&first, orders, say)?;
            }
        }
        let end = self.context.mark()?;
        self.until(&end, orders, say)?;
        let mut times = Times {
            bytes,
            copy_s: copied.seconds_since(&start)?,
            kernel_s: None,
            cut,
        };
        if launches > 0 {
            let kernel_s = end.seconds_since(&copied)?;
            times.kernel_s = Some(kernel_s);
            // a kernel that was quicker is no quicker model
            let rest = Duration::from_secs_f64((self.shared.step_s - kernel_s).max(0.0));
            self.pass(rest, orders, say)?;
            times.cut |= !rest.is_zero() && self.shared.over.load(Ordering::SeqCst);
        }
        Ok(times)
    }

    /// Waits for the device, and pins meanwhile what comes for the next step.
    fn until(
        &mut self,
        event: &Event,
        orders: &Receiver<Order>,
        say: &dyn Fn(Reply),
    ) -> Result<(), GpuError> {
        let guard = Guard::new(self.shared);
        while !event.done()? {
            self.meanwhile(orders, say)?;
            guard.pause()?;
        }
        Ok(())
    }

    fn pass(
        &mut self,
        time: Duration,
        orders: &Receiver<Order>,
        say: &dyn Fn(Reply),
    ) -> Result<(), GpuError> {
        let until = Instant::now() + time;
        while Instant::now() < until && !self.shared.over.load(Ordering::SeqCst) {
            self.meanwhile(orders, say)?;
            let left = until.saturating_duration_since(Instant::now());
            std::thread::sleep(left.min(POLL));
        }
        Ok(())
    }

    fn meanwhile(&mut self, orders: &Receiver<Order>, say: &dyn Fn(Reply)) -> Result<(), GpuError> {
        match orders.try_recv() {
            Ok(Order::Stage(data)) => say(self.stage(data)?),
            // a step within a step is none, and nobody asks for it
            Ok(Order::Step { .. } | Order::Forget) => {}
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
        }
        Ok(())
    }
}

impl Work {
    /// Finds how many repeats in how many launches take the step's time.
    fn calibrate(
        multiplier: Multiplier,
        step_s: f64,
        deadline: &Deadline,
    ) -> Result<Work, GpuError> {
        let mut repeats = 1_u32;
        let per_repeat = loop {
            let seconds = timed(&multiplier, repeats, deadline)?;
            if seconds >= 0.01 || repeats >= 1 << 28 {
                break (seconds / f64::from(repeats)).max(1e-9);
            }
            let factor = (0.015 / seconds.max(1e-6)).clamp(2.0, 64.0);
            repeats = (f64::from(repeats) * factor) as u32;
        };
        let launches = (step_s / LAUNCH_S).ceil().clamp(1.0, 1e6);
        let launch_s = step_s / launches;
        let of = |per_repeat: f64| {
            (launch_s / per_repeat)
                .round()
                .clamp(1.0, f64::from(u32::MAX))
        };
        // with the clock that a card has under load
        let mut repeats = of(per_repeat);
        let warm = Instant::now();
        let mut samples = Vec::new();
        while samples.len() < 3 || (warm.elapsed().as_secs_f64() < WARM_S && samples.len() < 1000) {
            samples.push(timed(&multiplier, repeats as u32, deadline)?);
        }
        let last = &samples[samples.len() - 3..];
        if let Some(seconds) = crate::step::median(last)
            && seconds > 0.0
        {
            repeats = (repeats * launch_s / seconds)
                .round()
                .clamp(1.0, f64::from(u32::MAX));
        }
        Ok(Work {
            multiplier,
            launches: launches as u32,
            repeats: repeats as u32,
        })
    }
}

/// Seconds of the device for so many repeats.
fn timed(multiplier: &Multiplier, repeats: u32, deadline: &Deadline) -> Result<f64, GpuError> {
    let start = multiplier.context.mark()?;
    multiplier.multiply(ROUNDS, repeats)?;
    let end = multiplier.context.mark()?;
    wait(&end, deadline)?;
    end.seconds_since(&start)
}

/// Waits for the device, but not for ever: once the step is not wanted any more, what is under way must end soon.
struct Guard<'a> {
    shared: &'a Shared,
    over_since: std::cell::Cell<Option<Instant>>,
}

/// Two launches, and several times that on a card that became slow.
const LAST: Duration = Duration::from_secs(2);

impl<'a> Guard<'a> {
    fn new(shared: &'a Shared) -> Guard<'a> {
        Guard {
            shared,
            over_since: std::cell::Cell::new(None),
        }
    }

    fn pause(&self) -> Result<(), GpuError> {
        if self.shared.over.load(Ordering::SeqCst) {
            let since = self.over_since.get().unwrap_or_else(Instant::now);
            self.over_since.set(Some(since));
            if since.elapsed() > LAST {
                return Err(GpuError::TimeCap {
                    step: "feed step".to_owned(),
                    seconds: LAST.as_secs(),
                });
            }
        }
        std::thread::sleep(POLL);
        Ok(())
    }
}
