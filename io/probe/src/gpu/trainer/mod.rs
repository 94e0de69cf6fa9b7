//! GPUs that take batches as a training does: each batch is copied to its GPU out of pinned memory, and a kernel computes
//! for the model's step time. All GPUs step together, so that their copies contend for what they share.
//!
//! One thread a GPU holds everything of its driver (`serve.rs`); the feed test hands it batches and hears of the times. As
//! in a training loop without a side stream, the copy of a batch comes before its kernel and not beside the one before.
//! Not here: where batches come from and what the times mean (`feed`). Start at [`Trainer::open`].

mod serve;

use super::prove::failed;
use super::{Finding, GpuError, Libraries, Seen, Severity};
pub(crate) use serve::Times;
use serve::{Order, Reply, Shared};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// A GPU that was proved.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct TrainerGpu {
    pub cuda_index: u32,
    /// Its index in NVML.
    pub index: Option<u32>,
    /// Host to device alone, GB/s, as it was proved.
    pub copy_gbs: Option<f64>,
}

impl TrainerGpu {
    fn subject(&self) -> String {
        format!("gpu {}", self.index.unwrap_or(self.cuda_index))
    }
}

/// What a GPU answered that takes batches no more.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}: {error}", gpu.subject())]
pub struct TrainerError {
    pub gpu: TrainerGpu,
    pub error: GpuError,
}

impl TrainerError {
    /// What follows for this GPU.
    pub fn finding(&self) -> Finding {
        let subject = self.gpu.subject();
        match Seen::<()>::without(&self.error).reason() {
            Some(reason) => failed(reason, &subject),
            None => Finding::new(Severity::Unknown, "step_failed", subject, ""),
        }
    }

    /// The code of the reason and what was met.
    pub(crate) fn reason(&self) -> String {
        let reason = Seen::<()>::without(&self.error).reason().cloned();
        reason.map_or_else(String::new, |r| r.to_string())
    }
}

/// Something that a GPU is done with; the number is that of its place among the GPUs.
pub(crate) enum Event {
    /// A batch lies in pinned memory, which took so long: its buffer comes back.
    Staged {
        data: Vec<u8>,
        seconds: f64,
    },
    Stepped {
        gpu: usize,
        times: Times,
    },
}

/// What a thread that was told to end gets for it, before it counts as hung.
const GRACE: Duration = Duration::from_secs(3);

pub(crate) struct Trainer {
    gpus: Vec<TrainerGpu>,
    /// None of a thread that could not be started, or that failed.
    orders: Vec<Option<Sender<Order>>>,
    replies: Receiver<(usize, Reply)>,
    over: Arc<AtomicBool>,
    /// Orders that were not answered yet.
    pending: usize,
}

impl Trainer {
    /// Makes contexts and, where `step_s` is more than 0, finds how much work takes that long. What is not ready within
    /// `cap`, or before `stopped` says so, is an error.
    pub(crate) fn open(
        libraries: &Arc<Libraries>,
        gpus: &[TrainerGpu],
        step_s: f64,
        cap: Duration,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Trainer, TrainerError> {
        let until = Instant::now() + cap;
        let (sender, replies) = mpsc::channel();
        let mut trainer = Trainer {
            gpus: gpus.to_vec(),
            orders: Vec::new(),
            replies,
            over: Arc::new(AtomicBool::new(false)),
            pending: gpus.len(),
        };
        for (at, gpu) in gpus.iter().enumerate() {
            let shared = Shared {
                libraries: Arc::clone(libraries),
                gpu: *gpu,
                step_s,
                preparation: cap,
                over: Arc::clone(&trainer.over),
            };
            let (order, orders) = mpsc::channel();
            let sender = sender.clone();
            let worker = std::thread::Builder::new().name(format!("probe feed {}", gpu.cuda_index));
            let spawned = worker.spawn(move || {
                // nobody listens any more once this one was given up
                serve::run(&shared, &orders, &|reply| drop(sender.send((at, reply))));
            });
            if spawned.is_err() {
                let step = "feed".to_owned();
                return Err(trainer.error(at, GpuError::Worker { step }));
            }
            trainer.orders.push(Some(order));
        }
        drop(sender);
        while trainer.pending > 0 {
            let left = until.saturating_duration_since(Instant::now());
            let why = match (stopped(), left.is_zero()) {
                (true, _) => Some(GpuError::Cut { why: "stopped" }),
                (_, true) => Some(trainer.late("prepare", cap)),
                _ => None,
            };
            if let Some(error) = why {
                trainer.over.store(true, Ordering::SeqCst);
                return Err(trainer.error(0, error));
            }
            trainer.wait(left.min(Duration::from_millis(50)))?;
        }
        Ok(trainer)
    }

    pub(crate) fn gpus(&self) -> &[TrainerGpu] {
        &self.gpus
    }

    /// Has the batch of the next step brought into pinned memory.
    pub(crate) fn stage(&mut self, at: usize, data: Vec<u8>) -> Result<(), TrainerError> {
        self.order(at, Order::Stage(data))
    }

    /// Has all GPUs copy what was staged and, if `compute`, compute for the step's time.
    pub(crate) fn step(&mut self, compute: bool) -> Result<(), TrainerError> {
        (0..self.gpus.len()).try_for_each(|at| self.order(at, Order::Step { compute }))
    }

    fn order(&mut self, at: usize, order: Order) -> Result<(), TrainerError> {
        let sent = self.orders.get(at).and_then(Option::as_ref);
        if sent.is_some_and(|o| o.send(order).is_ok()) {
            self.pending += 1;
            return Ok(());
        }
        // it ended by itself: what it said last tells why
        let mut last = GpuError::Worker {
            step: "feed".to_owned(),
        };
        while let Ok((of, reply)) = self.replies.try_recv() {
            if let (true, Reply::Failed(error)) = (of == at, reply) {
                last = error;
            }
        }
        Err(self.error(at, last))
    }

    /// The next event, or none in this time.
    pub(crate) fn wait(&mut self, at_most: Duration) -> Result<Option<Event>, TrainerError> {
        let (at, reply) = match self.replies.recv_timeout(at_most) {
            Ok(got) => got,
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                let step = "feed".to_owned();
                return Err(self.error(0, GpuError::Worker { step }));
            }
        };
        self.pending = self.pending.saturating_sub(1);
        match reply {
            Reply::Ready => Ok(None),
            Reply::Staged { data, seconds } => Ok(Some(Event::Staged { data, seconds })),
            Reply::Stepped(times) => Ok(Some(Event::Stepped { gpu: at, times })),
            Reply::Failed(error) => {
                // the others are not to wait for it
                self.over.store(true, Ordering::SeqCst);
                if let Some(order) = self.orders.get_mut(at) {
                    *order = None;
                }
                Err(self.error(at, error))
            }
        }
    }

    /// Ends a pass: what still runs is cut, and what was staged is forgotten.
    ///
    /// # Errors
    /// A GPU failed, or does not come to an end.
    pub(crate) fn end_pass(&mut self) -> Result<(), TrainerError> {
        self.over.store(true, Ordering::SeqCst);
        let until = Instant::now() + GRACE;
        while self.pending > 0 {
            if Instant::now() >= until {
                let error = self.late("step", GRACE);
                return Err(self.error(0, error));
            }
            self.wait(Duration::from_millis(20))?;
        }
        self.over.store(false, Ordering::SeqCst);
        for order in self.orders.iter().flatten() {
            let _ = order.send(Order::Forget);
        }
        Ok(())
    }

    /// Has everything given back to the driver, and waits for it a little: what hangs goes with the process.
    pub(crate) fn close(mut self) {
        self.orders.clear();
        let until = Instant::now() + GRACE;
        while Instant::now() < until {
            match self.replies.recv_timeout(Duration::from_millis(20)) {
                Err(RecvTimeoutError::Disconnected) => return,
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn late(&self, step: &str, cap: Duration) -> GpuError {
        GpuError::TimeCap {
            step: format!("feed {step}"),
            seconds: cap.as_secs(),
        }
    }

    fn error(&self, at: usize, error: GpuError) -> TrainerError {
        let gpu = self.gpus.get(at).copied().unwrap_or(TrainerGpu {
            cuda_index: 0,
            index: None,
            copy_gbs: None,
        });
        TrainerError { gpu, error }
    }
}

impl Drop for Trainer {
    fn drop(&mut self) {
        // threads that wait for orders end when nobody can give any; those that work see this
        self.over.store(true, Ordering::SeqCst);
    }
}
