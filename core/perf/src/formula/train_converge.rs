//! Time to train a benchmark network to its target quality on a vendor-tuned stack.
//!
//! minutes = anchor x (batch / reference)^exponent samples / (batch / step): the anchor stands for the samples that
//! the benchmark needs at its reference batch, larger batches need more. One step of all GPUs:
//!
//! ```text
//! step = tokens per GPU x (matmul + attention + elements) x bubble
//!      + 4 P / (replica GPUs) x (sync_inside / link + sync_network / network)
//!      + host_ms L x micro-steps x (1 + host_nodes if several machines)
//! ```
//!
//! The parts per token are those of [`super::train_llm`] in its tuned tier. BERT's fused kernels without padding
//! follow another rule, a power law of matrix rate and board power ([`Sample`]). Replicas are as large as memory or a
//! batch of fewer samples than GPUs asks for. Coefficients and anchors: ours, fitted on MLPerf Training v2.0 to v5.0 closed results (Apache-2.0).
//! Do not trust it across software generations (a round gains 10 to 20 %) and for single GPUs.

use super::train_llm::{Processor, Shape, Tier, Trained, Wiring, Work, compute};
use super::{Calibration, Fitted, Question};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Coefficients {
    /// Shares of gradient traffic that are waited for.
    pub(crate) sync_inside: f64,
    pub(crate) sync_network: f64,
    /// Milliseconds per layer and micro-step.
    pub(crate) host_ms: f64,
    /// What several machines add to it, as a share.
    pub(crate) host_nodes: f64,
    /// Bytes of state per parameter that decide how many GPUs hold a replica: all trained, adapters only; fixed.
    pub(crate) state_all: f64,
    pub(crate) state_adapters: f64,
    /// Share of memory for it; fixed.
    pub(crate) state_share: f64,
    /// Stands for the parts per token where it is there.
    #[serde(default)]
    pub(crate) sample: Option<Sample>,
    /// Benchmark -> tokens of a sample, samples of the reference batch, exponent of larger batches.
    pub(crate) benchmark: BTreeMap<String, Benchmark>,
}

/// Milliseconds of a sample = `ms` (`reference_rate` / matrix rate)^`rate` (`reference_watts` / watts)^`watts`.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Sample {
    pub(crate) ms: f64,
    pub(crate) rate: f64,
    pub(crate) watts: f64,
    /// FLOP/s; fixed.
    pub(crate) reference_rate: f64,
    /// Fixed; also what a board is taken to draw whose data sheet does not say.
    pub(crate) reference_watts: f64,
}

impl Sample {
    fn seconds(&self, matrix: f64, watts: Option<f64>) -> f64 {
        let watts = watts.unwrap_or(self.reference_watts);
        self.ms
            * 1e-3
            * (self.reference_rate / matrix).powf(self.rate)
            * (self.reference_watts / watts).powf(self.watts)
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Benchmark {
    pub(crate) tokens: f64,
    pub(crate) batch: f64,
    pub(crate) exponent: f64,
}

/// What is asked of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Minutes,
    /// Samples per second of all GPUs.
    SamplesPerSecond,
    /// Samples until the target is reached.
    Samples,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Query {
    pub family: &'static str,
    /// Key of the benchmark.
    pub benchmark: &'static str,
    pub asked: Asked,
    pub arch: String,
    pub gpu: Processor,
    /// Bytes of one GPU.
    pub memory: f64,
    /// Board power.
    pub watts: Option<f64>,
    pub shape: Shape,
    pub trained: Trained,
    /// Parameters that get gradients.
    pub gradients: f64,
    pub wiring: Wiring,
    pub gpus: f64,
    pub machines: f64,
    /// Samples a step, all GPUs.
    pub batch: f64,
}

impl Query {
    fn key(&self) -> &'static str {
        match (self.benchmark, self.asked) {
            (name, Asked::Minutes) => name,
            ("bert", Asked::SamplesPerSecond) => "bert/samples_s",
            ("bert", Asked::Samples) => "bert/samples",
            ("gpt3", Asked::SamplesPerSecond) => "gpt3/samples_s",
            ("gpt3", Asked::Samples) => "gpt3/samples",
            ("llama2_70b_lora", Asked::SamplesPerSecond) => "llama2_70b_lora/samples_s",
            ("llama2_70b_lora", Asked::Samples) => "llama2_70b_lora/samples",
            (_, Asked::SamplesPerSecond) => "llama31_405b/samples_s",
            (_, Asked::Samples) => "llama31_405b/samples",
        }
    }

    /// GPUs that hold one replica: a power of two.
    fn replica(&self, c: &Coefficients) -> f64 {
        let bytes = match self.trained {
            Trained::All => c.state_all,
            Trained::Adapters | Trained::AdaptersOnFourBit => c.state_adapters,
        } * self.shape.params;
        let by_memory = bytes / (c.state_share * self.memory);
        let by_batch = self.gpus / self.batch;
        by_memory
            .max(by_batch)
            .max(1.0)
            .log2()
            .ceil()
            .exp2()
            .min(self.gpus)
    }

    /// Seconds of one optimizer step.
    pub(crate) fn step(&self, known: Benchmark, c: &Coefficients, cal: &Calibration) -> f64 {
        let t = &cal.train_llm.coefficients;
        let work = Work {
            sequence: known.tokens,
            recompute: false,
            trained: self.trained,
        };
        let part = compute(&self.gpu, &self.shape, &work, Tier::Tuned, 0.0, t);
        let (inside, network) = (self.wiring.inside(t), self.wiring.network(t));
        let replica = self.replica(c);
        let per_machine = self.gpus / self.machines;
        let tensor_ranks = replica.min(8.0).min(per_machine);
        let stages = (replica / tensor_ranks).max(1.0);
        let replicas = (self.gpus / replica).max(1.0);
        let micro_steps = (self.batch / replicas).max(1.0);
        let per_token = match c.sample {
            Some(sample) => sample.seconds(self.gpu.matrix, self.watts) / known.tokens,
            None => part.per_token(),
        };
        let bubble = 1.0 + (stages - 1.0) / (4.0 * micro_steps);
        let near = (self.wiring.domain / tensor_ranks).clamp(1.0, replicas);
        let bytes = 4.0 * self.gradients / replica;
        let sync = c.sync_inside * bytes * (near - 1.0) / near / inside
            + c.sync_network * bytes / near * (1.0 - near / replicas) / network;
        // BERT runs its whole share of the batch at once
        let launches = if self.benchmark == "bert" {
            1.0
        } else {
            micro_steps
        };
        let spread = if self.machines > 1.0 {
            c.host_nodes
        } else {
            0.0
        };
        let host = c.host_ms * 1e-3 * self.shape.layers * launches * (1.0 + spread);
        self.batch * known.tokens / self.gpus * per_token * bubble + sync + host
    }
}

impl Question for Query {
    fn family(&self) -> &'static str {
        self.family
    }

    fn class(&self) -> &'static str {
        self.benchmark
    }

    fn arch(&self) -> &str {
        &self.arch
    }

    fn anchor(&self) -> Option<&str> {
        Some(self.key())
    }

    fn answer(&self, calibration: &Calibration) -> f64 {
        let fitted: &Fitted<Coefficients> = if self.benchmark == "bert" {
            &calibration.train_converge_bert
        } else {
            &calibration.train_converge
        };
        let c = &fitted.coefficients;
        let Some(known) = c.benchmark.get(self.benchmark).copied() else {
            return f64::NAN;
        };
        let samples = known.batch * (self.batch / known.batch).max(1.0).powf(known.exponent);
        let step = self.step(known, c, calibration);
        fitted.anchor(self.key())
            * match self.asked {
                Asked::Minutes => samples * step / self.batch / 60.0,
                Asked::SamplesPerSecond => self.batch / step,
                Asked::Samples => samples,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::super::train_llm::Format;
    use super::*;

    fn coefficients() -> Coefficients {
        Coefficients {
            sync_inside: 1.0,
            sync_network: 1.0,
            host_ms: 0.0,
            host_nodes: 0.0,
            state_all: 6.0,
            state_adapters: 2.0,
            state_share: 0.6,
            sample: None,
            benchmark: BTreeMap::new(),
        }
    }

    fn query(gpus: f64, batch: f64) -> Query {
        Query {
            family: "train_converge",
            benchmark: "llama2_70b_lora",
            asked: Asked::Minutes,
            arch: "Hopper".into(),
            gpu: Processor {
                matrix: 2e15,
                format: Format::Fp8,
                gemm_share: 0.7,
                half: 1e15,
                bandwidth: 3e12,
            },
            memory: 80e9,
            watts: Some(700.0),
            shape: Shape {
                layers: 80.0,
                hidden: 8192.0,
                attention_width: 8192.0,
                multiplied: 69e9,
                params: 69e9,
                vocab: 32_000.0,
                routed: 0.0,
            },
            trained: Trained::Adapters,
            gradients: 0.0,
            wiring: Wiring {
                link: Some(450e9),
                domain: 8.0,
                pcie_gen: 5.0,
            },
            gpus,
            machines: (gpus / 8.0).max(1.0),
            batch,
        }
    }

    #[test]
    fn a_replica_is_what_memory_or_a_small_batch_asks_for() {
        // 138 GB / 48 GB = 2.9: four GPUs; more memory: two; 64 GPUs for 8 samples: eight
        assert_eq!(query(8.0, 8.0).replica(&coefficients()), 4.0);
        let roomy = Query {
            memory: 141e9,
            ..query(8.0, 8.0)
        };
        assert_eq!(roomy.replica(&coefficients()), 2.0);
        assert_eq!(query(64.0, 8.0).replica(&coefficients()), 8.0);
    }

    #[test]
    fn a_sample_is_a_power_law_of_rate_and_watts() {
        let sample = Sample {
            ms: 3.0,
            rate: 0.5,
            watts: 1.0,
            reference_rate: 3e14,
            reference_watts: 400.0,
        };
        assert!((sample.seconds(3e14, None) - 3e-3).abs() < 1e-12);
        // four times the rate, twice the watts: 3 / 2 / 2
        assert!((sample.seconds(12e14, Some(800.0)) - 0.75e-3).abs() < 1e-12);
    }

    #[test]
    fn keys_of_anchors_differ_by_what_is_asked() {
        let keys = [Asked::Minutes, Asked::SamplesPerSecond, Asked::Samples].map(|asked| {
            Query {
                asked,
                ..query(8.0, 8.0)
            }
            .key()
        });
        assert_eq!(keys[0], "llama2_70b_lora");
        assert!(keys[1] != keys[0] && keys[2] != keys[0] && keys[1] != keys[2]);
    }
}
