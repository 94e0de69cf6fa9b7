//! One replica of the job's model, and the largest batch that keeps its step short enough. The formula of the step
//! is [`crate::formula::serve_renter`]'s.

use crate::coefficients::InferenceMemory;
use crate::formula::serve_renter::{Board, Coefficients, Links, Load, Step};
use crate::formula::serve_tuned;
use crate::spec::GIB;
use crate::sync::Bus;
use lessee_model::workload::ServeJob;

/// One model replica on some GPUs of a machine.
pub(super) struct Replica<'a> {
    pub(super) job: &'a ServeJob,
    pub(super) c: &'a Coefficients,
    pub(super) on: serve_tuned::Replica,
    pub(super) board: Board,
    pub(super) bus: Bus,
    pub(super) links: Links,
}

impl Replica<'_> {
    /// Seconds to read one prompt when nothing else runs.
    pub(super) fn prefill(&self) -> f64 {
        self.c
            .prompt(&self.on, &self.board, self.links, self.job.input_tokens)
    }

    /// A step of `batch` requests among which `prompts` others end and begin.
    pub(super) fn step(&self, batch: f64, prompts: f64) -> Step {
        let load = Load {
            batch,
            prompts,
            prompt: self.job.input_tokens,
            output: self.job.output_tokens,
        };
        self.c.step(&self.on, &self.board, self.links, load)
    }

    /// Bytes of one GPU: weights and what the engine needs besides the cache.
    pub(super) fn fixed_memory(&self, m: &InferenceMemory) -> (f64, f64) {
        let mut overhead = m.activation_and_graphs_gib * GIB;
        if self.on.gpus > 1.0 {
            overhead += m.nccl_gib_per_gpu * GIB;
        }
        (self.on.weights() / self.on.gpus, overhead)
    }

    /// Cache bytes that one request reserves on one GPU.
    pub(super) fn reserved(&self) -> f64 {
        let each = self.on.network.kv_values * self.on.kv_bytes / self.on.shards();
        each * (self.job.input_tokens + self.job.output_tokens)
    }

    /// The largest whole batch in 1..=`most` whose step stays within `limit` seconds.
    pub(super) fn largest_batch(&self, most: f64, limit: f64) -> Option<f64> {
        super::largest_batch(most, |b| self.step(b, b).total <= limit)
    }
}
