//! Steps with a time cap: each in a thread of its own, and given up together with the thread when the cap passes.

use super::Options;
use crate::gpu::GpuError;
use crate::gpu::seen::{OUT_OF_TIME, STOPPED};
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// What is about to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// `start`, `describe`, `context`, `kernel`, `memory`, `host_copies`, `peer_copies`
    pub name: &'static str,
    /// CUDA's index of the GPU.
    pub gpu: Option<u32>,
    /// And of the other one.
    pub to: Option<u32>,
}

impl Step {
    pub(super) fn start() -> Step {
        Step {
            name: "start",
            gpu: None,
            to: None,
        }
    }

    pub(super) fn of(name: &'static str, gpu: u32) -> Step {
        Step {
            name,
            gpu: Some(gpu),
            to: None,
        }
    }

    pub(super) fn pair(name: &'static str, gpu: u32, to: u32) -> Step {
        Step {
            name,
            gpu: Some(gpu),
            to: Some(to),
        }
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)?;
        match (self.gpu, self.to) {
            (Some(a), Some(b)) => write!(f, " {a} to {b}"),
            (Some(a), None) => write!(f, " {a}"),
            _ => Ok(()),
        }
    }
}

/// When a step must be over.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    until: Instant,
    cap: Duration,
}

impl Deadline {
    pub(in crate::gpu) fn after(cap: Duration) -> Deadline {
        Deadline {
            until: Instant::now() + cap,
            cap,
        }
    }

    pub(in crate::gpu) fn passed(&self) -> bool {
        Instant::now() >= self.until
    }

    pub(in crate::gpu) fn error(&self, step: &str) -> GpuError {
        GpuError::TimeCap {
            step: step.to_owned(),
            seconds: self.cap.as_secs(),
        }
    }
}

/// Time beyond the cap in which a step may end by itself, so that it can tell more than that it was cut.
const GRACE: Duration = Duration::from_millis(500);

/// Runs `f` in a thread and waits no longer than `cap`. A thread that does not come back is left behind, with all that it
/// holds.
///
/// # Errors
/// What `f` says; that the cap passed; that there was no thread to be had.
pub fn capped<T: Send + 'static>(
    step: &str,
    cap: Duration,
    f: impl FnOnce(&Deadline) -> Result<T, GpuError> + Send + 'static,
) -> Result<T, GpuError> {
    let (sender, receiver) = mpsc::channel();
    let deadline = Deadline::after(cap);
    let lost = || GpuError::Worker {
        step: step.to_owned(),
    };
    std::thread::Builder::new()
        .name(format!("probe {step}"))
        .spawn(move || {
            // nobody listens any more when the cap has passed
            let _ = sender.send(f(&deadline));
        })
        .map_err(|_| lost())?;
    match receiver.recv_timeout(cap + GRACE) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => Err(deadline.error(step)),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(lost()),
    }
}

/// Runs steps one after the other, and none any more after one that hangs: its thread holds the driver's locks.
pub(super) struct Runner<'a> {
    cap: Duration,
    on_step: &'a mut dyn FnMut(&Step),
    hangs: Option<GpuError>,
    until: Option<Instant>,
    stop: Option<&'static AtomicBool>,
}

/// A step that begins just before the end of all still gets this.
const LEAST: Duration = Duration::from_secs(2);

impl<'a> Runner<'a> {
    pub(super) fn new(cap: Duration, on_step: &'a mut dyn FnMut(&Step)) -> Runner<'a> {
        Runner {
            cap,
            on_step,
            hangs: None,
            until: None,
            stop: None,
        }
    }

    /// Begins no step after the time of all is over, or the user has stopped them.
    pub(super) fn within(mut self, options: &Options) -> Runner<'a> {
        self.until = Instant::now().checked_add(options.total);
        self.stop = options.stop;
        self
    }

    fn cut(&self) -> Option<GpuError> {
        let stopped = self.stop.is_some_and(|s| s.load(Ordering::Relaxed));
        let late = self.until.is_some_and(|u| Instant::now() >= u);
        let why = match (stopped, late) {
            (true, _) => STOPPED,
            (_, true) => OUT_OF_TIME,
            _ => return None,
        };
        Some(GpuError::Cut { why })
    }

    /// Gives back to the driver what the steps held; not after one that hangs, where the driver may never return.
    pub(super) fn finish<T: Send + 'static>(&mut self, held: T) {
        if self.hangs.is_some() {
            std::mem::forget(held);
            return;
        }
        // what cannot be given back goes with the process
        let _ = capped("finish", self.cap, move |_| {
            drop(held);
            Ok(())
        });
    }

    pub(super) fn run<T: Send + 'static>(
        &mut self,
        step: Step,
        f: impl FnOnce(&Deadline) -> Result<T, GpuError> + Send + 'static,
    ) -> Result<T, GpuError> {
        if let Some(cause) = &self.hangs {
            return Err(GpuError::NotTried {
                cause: cause.to_string(),
            });
        }
        if let Some(cut) = self.cut() {
            return Err(cut);
        }
        (self.on_step)(&step);
        let left = self
            .until
            .map(|u| u.saturating_duration_since(Instant::now()));
        let cap = left.map_or(self.cap, |left| self.cap.min(left.max(LEAST)));
        let result = capped(&step.to_string(), cap, f);
        if let Err(error @ GpuError::TimeCap { .. }) = &result {
            self.hangs = Some(error.clone());
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_is_cut_and_nothing_is_tried_after_it() {
        let mut steps = Vec::new();
        let mut on_step = |s: &Step| steps.push(s.to_string());
        let mut runner = Runner::new(Duration::from_millis(20), &mut on_step);
        assert_eq!(runner.run(Step::of("kernel", 0), |_| Ok(1)), Ok(1));
        let hung = runner.run(Step::pair("peer_copies", 0, 1), |_| {
            std::thread::sleep(Duration::from_secs(30));
            Ok(())
        });
        assert!(
            matches!(&hung, Err(GpuError::TimeCap { step, .. }) if step == "peer_copies 0 to 1")
        );
        let after = runner.run(Step::of("kernel", 2), |_| Ok(()));
        assert!(matches!(after, Err(GpuError::NotTried { .. })));
        assert_eq!(steps, ["kernel 0", "peer_copies 0 to 1"]);
    }

    #[test]
    fn no_step_begins_after_the_time_of_all_or_a_stop() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let mut options = Options {
            total: Duration::ZERO,
            ..Options::default()
        };
        let mut none = |_: &Step| panic!("a step began");
        let late = Runner::new(options.cap, &mut none)
            .within(&options)
            .run(Step::start(), |_| Ok(()));
        assert_eq!(late, Err(GpuError::Cut { why: OUT_OF_TIME }));
        options.total = Duration::from_secs(60);
        options.stop = Some(&STOP);
        STOP.store(true, Ordering::Relaxed);
        let stopped = Runner::new(options.cap, &mut none)
            .within(&options)
            .run(Step::start(), |_| Ok(()));
        assert_eq!(stopped, Err(GpuError::Cut { why: STOPPED }));
    }

    #[test]
    fn a_thread_that_dies_is_an_error() {
        let quiet = capped("it", Duration::from_secs(5), |_| -> Result<(), GpuError> {
            std::panic::resume_unwind(Box::new("gone"))
        });
        assert!(matches!(quiet, Err(GpuError::Worker { .. })));
    }
}
