//! The consumer of a machine with GPUs: each batch goes through pinned memory to its GPU, where a kernel takes the model's
//! step time. While GPUs compute, the batches of the next step are pinned, as a loader does that pins memory.
//!
//! Utilisation stays what MLPerf Storage defines: a step counts its model's time and never more, however long the kernel
//! took; what it really took stands beside it. Not here: the GPUs' threads (`gpu/trainer`).

use super::pass::Plan;
use super::queue::Queue;
use crate::gpu::TrainerError;
use crate::gpu::trainer::{Event, Trainer};
use crate::step::{self, Part, Why};
use lessee_model::probe::{FeedGpu, Reading, StepTime};
use std::time::{Duration, Instant};

/// Figures of a GPU that a report keeps, at most.
const KEPT: usize = 60;

/// What a consumer took.
pub(super) struct Taken {
    pub(super) steps: Vec<StepTime>,
    pub(super) gpus: Vec<FeedGpu>,
    /// Seconds of copying into pinned memory, over all GPUs.
    pub(super) pinning_s: f64,
}

impl Taken {
    pub(super) fn timed(steps: Vec<StepTime>) -> Taken {
        Taken {
            steps,
            gpus: Vec::new(),
            pinning_s: 0.0,
        }
    }
}

/// Where the batches of the next step are.
#[derive(Default)]
struct Next {
    handed: usize,
    staged: usize,
}

pub(super) fn consume(
    plan: &Plan<'_>,
    queue: &Queue,
    part: &Part<'_>,
    trainer: &mut Trainer,
) -> Result<Taken, TrainerError> {
    let mut taker = Taker {
        queue,
        part,
        next: Next::default(),
        pinning_s: 0.0,
        // copies in GB/s and kernels in seconds, of each GPU
        figures: vec![(Vec::new(), Vec::new()); trainer.gpus().len()],
        trainer,
    };
    let steps = taker.steps(plan);
    let (figures, pinning_s) = (std::mem::take(&mut taker.figures), taker.pinning_s);
    let steps = steps?;
    trainer.end_pass()?;
    let one = |(gpu, (copies, kernels)): (&crate::gpu::TrainerGpu, (Vec<f64>, Vec<f64>))| FeedGpu {
        cuda_index: gpu.cuda_index,
        index: gpu.index,
        copy_gbs: median(copies),
        kernel_s: (plan.step_s > 0.0).then(|| median(kernels)),
    };
    Ok(Taken {
        steps,
        gpus: trainer.gpus().iter().zip(figures).map(one).collect(),
        pinning_s,
    })
}

/// The middle of all, and some of them.
fn median(all: Vec<f64>) -> Reading {
    let every = all.len().div_ceil(KEPT).max(1);
    match step::measured(all, Why::TooFewSteps) {
        Reading::Measured { value, samples } => Reading::Measured {
            value,
            samples: samples.into_iter().step_by(every).collect(),
        },
        other => other,
    }
}

struct Taker<'a, 'b> {
    queue: &'a Queue,
    part: &'a Part<'b>,
    trainer: &'a mut Trainer,
    next: Next,
    pinning_s: f64,
    figures: Vec<(Vec<f64>, Vec<f64>)>,
}

/// How long a batch that is not there yet is waited for before the GPUs are looked at again.
const GLANCE: Duration = Duration::from_millis(1);

impl Taker<'_, '_> {
    fn steps(&mut self, plan: &Plan<'_>) -> Result<Vec<StepTime>, TrainerError> {
        let start = Instant::now();
        let deadline = start + self.part.left();
        let now = || start.elapsed().as_secs_f64();
        let paced = plan.step_s > 0.0;
        let mut steps = Vec::new();
        while steps.len() < plan.options.max_steps && !self.part.over() {
            let asked_s = now();
            if !self.gather(deadline)? {
                break;
            }
            let got_s = now();
            self.next = Next::default();
            self.trainer.step(paced)?;
            let Some((copy_s, kernel_s)) = self.stepped()? else {
                break;
            };
            steps.push(StepTime {
                asked_s,
                got_s,
                end_s: now(),
                copy_s,
                compute_s: plan.step_s,
                kernel_s,
            });
            self.part.tick();
        }
        Ok(steps)
    }

    /// Waits until a batch for each GPU lies in pinned memory. False: none comes any more.
    fn gather(&mut self, deadline: Instant) -> Result<bool, TrainerError> {
        let all = self.trainer.gpus().len();
        while self.next.staged < all {
            if self.next.handed < all {
                let Some(batch) = self.queue.pop(deadline, &|| self.part.over()) else {
                    return Ok(false);
                };
                self.trainer.stage(self.next.handed, batch.data)?;
                self.next.handed += 1;
                continue;
            }
            let event = self.trainer.wait(Duration::from_millis(20))?;
            if event.is_none() && self.part.over() {
                return Ok(false);
            }
            self.heard(event);
        }
        Ok(true)
    }

    /// Waits until all GPUs have made their step: the slowest copy and the slowest kernel. None: it was cut.
    fn stepped(&mut self) -> Result<Option<(f64, Option<f64>)>, TrainerError> {
        let all = self.trainer.gpus().len();
        let (mut done, mut copy_s, mut kernel_s) = (0, 0.0_f64, None::<f64>);
        while done < all {
            if self.next.handed < all
                && let Some(batch) = self.queue.pop(Instant::now(), &|| false)
            {
                self.trainer.stage(self.next.handed, batch.data)?;
                self.next.handed += 1;
            }
            let event = self.trainer.wait(GLANCE)?;
            if event.is_none() && self.part.over() {
                return Ok(None);
            }
            let Some((gpu, times)) = self.heard(event) else {
                continue;
            };
            if times.cut {
                return Ok(None);
            }
            done += 1;
            copy_s = copy_s.max(times.copy_s);
            if let Some(own) = times.kernel_s {
                kernel_s = Some(kernel_s.unwrap_or(0.0).max(own));
            }
            if let Some((copies, kernels)) = self.figures.get_mut(gpu) {
                if times.copy_s > 0.0 && times.bytes > 0 {
                    copies.push(times.bytes as f64 / times.copy_s / 1e9);
                }
                kernels.extend(times.kernel_s);
            }
        }
        Ok(Some((copy_s, kernel_s)))
    }

    fn heard(&mut self, event: Option<Event>) -> Option<(usize, crate::gpu::trainer::Times)> {
        match event? {
            Event::Staged { data, seconds } => {
                self.queue.give_back(data);
                self.pinning_s += seconds;
                self.next.staged += 1;
                None
            }
            Event::Stepped { gpu, times } => Some((gpu, times)),
        }
    }
}
