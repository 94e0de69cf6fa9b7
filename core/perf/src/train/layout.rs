//! Which layout a training job takes: every way to split it that fits is timed, the fastest wins.
//! Start at [`Problem::search`]; the formulas are in the parent's head comment.

use crate::coefficients::Coefficients;
use crate::formula::train_llm::Compute;
use crate::memory::{Footprint, Split, activations_per_sequence, checkpointing_choices, stages};
use crate::spec::Rate;
use crate::sync::{Bus, BusKind, Net};
use lessee_model::{MemoryUse, perf::Layout, workload::TrainJob};

/// Seconds of one optimizer step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) compute: f64,
    /// Gradients and sharded weights.
    pub(super) sync: f64,
    pub(super) tensor: f64,
    pub(super) total: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) layout: Layout,
    pub(super) memory: MemoryUse,
    pub(super) inside_machine: bool,
    /// Sequences per optimizer step that do useful work.
    pub(super) sequences: f64,
    /// Sequences per optimizer step of the busiest replica, in `micro_steps` parts as equal as can be.
    pub(super) per_replica: f64,
    pub(super) micro_steps: f64,
    pub(super) step: Step,
    pub(super) per_second: f64,
}

/// What does not depend on the layout.
pub(super) struct Problem<'a> {
    pub(super) job: &'a TrainJob,
    pub(super) c: &'a Coefficients,
    pub(super) footprint: Footprint,
    pub(super) layers: f64,
    pub(super) hidden: f64,
    pub(super) rate: Rate,
    /// What a token costs one GPU, without and with recomputation.
    pub(super) parts: [Compute; 2],
    pub(super) gpus: f64,
    pub(super) per_machine: f64,
    pub(super) nodes: f64,
    pub(super) usable: f64,
    pub(super) bus: Bus,
    pub(super) net: Net,
    pub(super) gradient_bytes: f64,
}

impl Problem<'_> {
    /// The fastest stage that fits, the lowest of equals; else the least memory that any needs.
    fn try_layout(
        &self,
        tp: f64,
        checkpointing: bool,
        inside_machine: bool,
    ) -> Result<Candidate, f64> {
        let m = &self.c.memory.training;
        let data_parallel = self.gpus / tp;
        let shards = if inside_machine {
            self.per_machine / tp
        } else {
            data_parallel
        };
        let sequence = activations_per_sequence(
            self.job.seq_len,
            self.hidden,
            self.layers,
            self.job.model.vocab.unwrap_or(0.0),
            tp,
            checkpointing,
            m,
        );
        let mut best: Option<Candidate> = None;
        let mut least = f64::INFINITY;
        for &stage in stages(self.job.sharding) {
            let split = Split {
                tensor_parallel: tp,
                shards,
                stage,
                gpus: self.gpus,
            };
            let mut memory = self.footprint.per_gpu(split, self.layers, m, self.usable);
            let fixed = memory.total();
            if fixed + sequence > self.usable {
                least = least.min(fixed + sequence);
                continue;
            }
            let fitting = ((self.usable - fixed) / sequence).floor().max(1.0);
            // a batch that the workload leaves open gives every replica the same number of sequences
            let global = self.job.global_batch.unwrap_or_else(|| {
                let sequences = self.c.train.llm.default_tokens_per_step / self.job.seq_len;
                (sequences / data_parallel).ceil().max(1.0) * data_parallel
            });
            // a step lasts as long as its busiest replica; what the others have less of is idle time
            let per_replica = (global / data_parallel).ceil().max(1.0);
            let micro_steps = (per_replica / fitting).ceil();
            let micro = (per_replica / micro_steps).ceil();
            memory.activations = micro * sequence;
            let layout = Layout {
                data_parallel: data_parallel as u32,
                tensor_parallel: tp as u32,
                pipeline_parallel: 1,
                batch: micro,
                activation_checkpointing: checkpointing,
                zero_stage: stage,
            };
            let mut candidate = Candidate {
                layout,
                memory,
                inside_machine,
                sequences: global.max(1.0),
                per_replica,
                micro_steps,
                step: Step {
                    compute: 0.0,
                    sync: 0.0,
                    tensor: 0.0,
                    total: 0.0,
                },
                per_second: 0.0,
            };
            candidate.step = self.step(&candidate, self.bus.mid);
            candidate.per_second = self.speed(&candidate, candidate.step);
            // a higher stage leaves room for a larger micro-batch, hence fewer messages
            if best.is_none_or(|b| candidate.per_second > b.per_second) {
                best = Some(candidate);
            }
        }
        best.ok_or(least)
    }

    pub(super) fn part(&self, layout: Layout) -> Compute {
        self.parts[usize::from(layout.activation_checkpointing)]
    }

    pub(super) fn speed(&self, candidate: &Candidate, step: Step) -> f64 {
        candidate.sequences * self.job.seq_len / step.total
    }

    /// Seconds of one optimizer step at intra-machine bus bandwidth `bus` (byte/s).
    pub(super) fn step(&self, candidate: &Candidate, bus: f64) -> Step {
        let (layout, micro_steps) = (candidate.layout, candidate.micro_steps);
        let tp = f64::from(layout.tensor_parallel);
        let tokens = candidate.per_replica * self.job.seq_len;
        let part = self.part(layout);
        let compute = tokens * part.per_token() / tp + micro_steps * part.per_micro_batch;
        // ranks of one machine that hold the same part of the model
        let ranks = self.per_machine / tp;
        let inside = |bytes: f64| self.bus.all_reduce(bytes / tp, ranks, bus);
        let between = |bytes: f64| self.net.all_reduce(bytes, self.nodes);
        let (weights, gradients) = (self.footprint.weights, self.gradient_bytes);
        let (near, far) = if layout.zero_stage < 3 {
            (inside(gradients), between(gradients))
        } else if candidate.inside_machine {
            // weights are gathered inside the machine; gradients are scattered there and reduced between
            (
                micro_steps * inside(weights) + 0.5 * inside(gradients),
                between(gradients),
            )
        } else {
            // two gathers per micro-batch cost what one all-reduce does, one scatter costs half
            let twice =
                |over: &dyn Fn(f64) -> f64| micro_steps * over(weights) + 0.5 * over(gradients);
            (twice(&inside), twice(&between))
        };
        let sync = near + far;
        let tensor = if tp > 1.0 {
            let per_layer = if layout.activation_checkpointing {
                6.0
            } else {
                4.0
            };
            let message = tokens / micro_steps * self.hidden * self.c.bytes_per_weight.bf16;
            micro_steps * self.layers * per_layer * self.bus.all_reduce(message, tp, bus)
        } else {
            0.0
        };
        let a = &self.c.allreduce;
        // runs over a link are what the formula was fitted on: what of them shows is in `compute` already
        let near_hidden = if self.bus.kind == BusKind::Link {
            near
        } else {
            a.overlap * near
        };
        let hidden = (near_hidden + a.overlap * far).min(a.backward_share * compute);
        Step {
            compute,
            sync,
            tensor,
            total: compute + tensor + sync - hidden,
        }
    }

    pub(super) fn search(&self) -> Result<Candidate, f64> {
        let heads = self.job.model.heads.unwrap_or(0.0);
        let mut best: Option<Candidate> = None;
        let mut least = f64::INFINITY;
        for tp in [1.0, 2.0, 4.0, 8.0, 16.0] {
            if tp > self.per_machine || self.per_machine % tp != 0.0 || heads % tp != 0.0 {
                continue;
            }
            for &checkpointing in checkpointing_choices(self.job.activation_checkpointing) {
                for inside_machine in [true, false] {
                    if !inside_machine && self.nodes <= 1.0 {
                        continue;
                    }
                    match self.try_layout(tp, checkpointing, inside_machine) {
                        Ok(c) if best.is_none_or(|b| c.per_second > b.per_second) => best = Some(c),
                        Ok(_) => {}
                        Err(needed) => least = least.min(needed),
                    }
                }
            }
        }
        best.ok_or(least)
    }
}
