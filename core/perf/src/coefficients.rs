//! `data/perf.toml` as types: one struct a table, names as in the file, where each is explained with its
//! unit, source and error. Fields are of this crate only, so that the compiler tells which one no formula reads;
//! the test below finds keys of the file that no field stands for.

use lessee_model::workload::Precision;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The constants of the performance model.
#[derive(Clone, Debug, Deserialize)]
pub struct Coefficients {
    pub(crate) bytes_per_weight: Bytes,
    pub(crate) bytes_per_kv_value: Bytes,
    pub(crate) memory: Memory,
    pub(crate) serve: Serve,
    pub(crate) train: Train,
    pub(crate) feed: Feed,
    pub(crate) allreduce: AllReduce,
    pub(crate) gemm: Gemm,
    pub(crate) range: Ranges,
    pub(crate) intensity: Intensity,
    pub(crate) tuned: Tuned,
}

/// Of the vendor-tuned tier.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Tuned {
    /// Model -> benchmark that trains it.
    pub(crate) benchmarks: BTreeMap<String, String>,
}

/// Forward FLOPs of a network for each value that its layers write.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Intensity {
    /// Where the network is not known: convolutions, attention, diffusion.
    pub(crate) cnn: f64,
    pub(crate) transformer: f64,
    pub(crate) diffusion: f64,
    /// Part of a network's name, lower case without signs -> its own figure.
    networks: BTreeMap<String, f64>,
}

impl Intensity {
    /// That of a named network, as benchmarks or the table of models spell it; the longest match decides.
    pub(crate) fn of(&self, name: &str) -> Option<f64> {
        let plain: String = name
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        self.networks
            .iter()
            .filter(|(part, _)| plain.contains(part.as_str()))
            .max_by_key(|(part, _)| part.len())
            .map(|(_, value)| *value)
    }
}

/// Byte per value by number format; formats that are not stored apart fall back to their width.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Bytes {
    pub(crate) fp32: f64,
    pub(crate) fp16: f64,
    pub(crate) bf16: f64,
    pub(crate) fp8: f64,
    pub(crate) int4: f64,
    #[serde(default)]
    pub(crate) int8: Option<f64>,
    #[serde(default)]
    pub(crate) nvfp4: Option<f64>,
    #[serde(default)]
    pub(crate) nf4: Option<f64>,
}

impl Bytes {
    pub(crate) fn of(&self, precision: Precision) -> f64 {
        match precision {
            Precision::Fp32 | Precision::Tf32 => self.fp32,
            Precision::Fp16 => self.fp16,
            Precision::Bf16 => self.bf16,
            Precision::Fp8 => self.fp8,
            Precision::Int8 => self.int8.unwrap_or(self.fp8),
            Precision::Int4 => self.int4,
            Precision::Fp4 => self.nvfp4.unwrap_or(self.int4),
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Memory {
    pub(crate) inference: InferenceMemory,
    pub(crate) training: TrainingMemory,
    pub(crate) vision: VisionMemory,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct InferenceMemory {
    pub(crate) usable_fraction_vllm: f64,
    pub(crate) activation_and_graphs_gib: f64,
    pub(crate) nccl_gib_per_gpu: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct TrainingMemory {
    pub(crate) weight: f64,
    pub(crate) gradient: f64,
    pub(crate) optimizer_adam: f64,
    pub(crate) optimizer_adam_8bit: f64,
    pub(crate) optimizer_sgd_momentum: f64,
    pub(crate) optimizer_adafactor: f64,
    pub(crate) fp32_weight: f64,
    pub(crate) fp32_copy_in_optimizer: f64,
    pub(crate) qlora_base_bytes: f64,
    pub(crate) activation_full: f64,
    pub(crate) activation_checkpointed: f64,
    pub(crate) logits_bytes_per_token_vocab: f64,
    pub(crate) fragmentation: f64,
    pub(crate) usable_fraction: f64,
    pub(crate) cuda_context_gib: f64,
    pub(crate) nccl_gib_per_gpu: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct VisionMemory {
    pub(crate) activation_mib_per_gflop_cnn: f64,
    pub(crate) activation_mib_per_gflop_transformer: f64,
    pub(crate) activation_mib_per_gflop_diffusion: f64,
    pub(crate) blocks: f64,
    pub(crate) checkpointed_share: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Serve {
    pub(crate) min_compute_capability: f64,
    pub(crate) max_batch: f64,
    pub(crate) calibrated_batch: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Train {
    pub(crate) software: Software,
    pub(crate) llm: TrainLlm,
    pub(crate) vision: Vision,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Software {
    pub(crate) min_compute_capability: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct TrainLlm {
    pub(crate) checkpoint_factor: f64,
    pub(crate) default_tokens_per_step: f64,
    pub(crate) adapter: Adapter,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Adapter {
    pub(crate) lora_flops_factor: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Vision {
    pub(crate) batch_per_gpu: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Feed {
    pub(crate) cpu_seconds_per_image: f64,
    pub(crate) cpu_seconds_per_encoder_sample: f64,
    pub(crate) cpu_seconds_per_diffusion_sample: f64,
    pub(crate) cpu_seconds_per_token: f64,
    pub(crate) network_share: f64,
    pub(crate) object_get_latency_s: f64,
    pub(crate) object_gets_in_flight_per_vcpu: f64,
    pub(crate) object_gets_per_second_limit: f64,
    pub(crate) block_gbs: f64,
    pub(crate) local_gbs: f64,
    pub(crate) disk_files_per_second: f64,
    pub(crate) page_cache_share: f64,
    pub(crate) source: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct AllReduce {
    pub(crate) overlap: f64,
    pub(crate) backward_share: f64,
    pub(crate) pcie: PcieRule,
    pub(crate) node_to_node: NodeToNode,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PcieRule {
    /// Slot of a card whose data sheet does not tell it.
    pub(crate) generation: u8,
    pub(crate) lanes: u8,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct NodeToNode {
    pub(crate) eff_rdma: f64,
    pub(crate) eff_tcp: f64,
    pub(crate) base_us: f64,
    pub(crate) assumed_gbps: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Gemm {
    pub(crate) share_bf16: f64,
    pub(crate) share_fp8: f64,
    pub(crate) share_geforce: f64,
    pub(crate) geforce_fp16_over_fp32: f64,
    pub(crate) share_low_power: f64,
    pub(crate) low_power_w: f64,
    pub(crate) tf32_over_bf16: f64,
    pub(crate) share_amd: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Ranges {
    pub(crate) calibrated: [f64; 2],
    pub(crate) outside: [f64; 2],
    pub(crate) thin: [f64; 2],
    pub(crate) measured: f64,
    pub(crate) unseen_architecture: f64,
}

impl Coefficients {
    /// Reads `perf.toml`.
    ///
    /// # Errors
    /// Not TOML, a table or coefficient is missing, a number is negative or not finite, or a range does
    /// not hold its own centre; the text names the key.
    pub fn from_toml(text: &str) -> Result<Coefficients, String> {
        let table: toml::Table = toml::from_str(text).map_err(|e| e.to_string())?;
        check("", &toml::Value::Table(table.clone()))?;
        let read: Coefficients = toml::Value::Table(table)
            .try_into()
            .map_err(|e: toml::de::Error| e.to_string())?;
        let r = &read.range;
        for (name, pair) in [
            ("range.calibrated", r.calibrated),
            ("range.outside", r.outside),
            ("range.thin", r.thin),
        ] {
            if !(pair[0] > 0.0 && pair[0] <= 1.0 && pair[1] >= 1.0) {
                return Err(format!("{name}: must be [0 < low <= 1, high >= 1]"));
            }
        }
        Ok(read)
    }
}

/// Every coefficient is a size, a time, a share or an exponent: none is negative, none infinite.
fn check(path: &str, value: &toml::Value) -> Result<(), String> {
    match value {
        toml::Value::Float(x) if !x.is_finite() || *x < 0.0 => {
            Err(format!("{path}: {x} is not a number of zero or more"))
        }
        toml::Value::Table(table) => table.iter().try_for_each(|(key, inner)| {
            let at = if path.is_empty() {
                key.clone()
            } else {
                format!("{path}.{key}")
            };
            check(&at, inner)
        }),
        toml::Value::Array(items) => items.iter().try_for_each(|inner| check(path, inner)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    /// For the reader of the file, not for the model.
    fn is_note(key: &str) -> bool {
        matches!(key, "schema" | "as_of" | "confidence" | "source") || key.starts_with("error_")
    }

    /// Keys of `value` without a field of that name here; names of architectures, networks
    /// and models are data, not fields.
    fn unmapped(path: &str, value: &toml::Value, fields: &str, out: &mut Vec<String>) {
        let toml::Value::Table(table) = value else {
            return;
        };
        for (key, inner) in table {
            let at = format!("{path}.{key}");
            if !is_note(key) && !fields.contains(&format!(" {key}: ")) {
                out.push(at.clone());
            }
            let names = ["factor", "k", "k_without_rt", "networks", "benchmarks"];
            if !names.contains(&key.as_str()) {
                unmapped(&at, inner, fields, out);
            }
        }
    }

    #[test]
    fn every_key_of_the_file_is_a_field() {
        let table: toml::Table =
            toml::from_str(include_str!("../../../data/perf.toml")).expect("TOML");
        let fields = include_str!("coefficients.rs");
        let mut out = Vec::new();
        unmapped("", &toml::Value::Table(table), fields, &mut out);
        assert_eq!(out, Vec::<String>::new());
        let stray: toml::Table = toml::from_str("[serve]\nzeal = 1.0").expect("TOML");
        unmapped("", &toml::Value::Table(stray), fields, &mut out);
        assert_eq!(out, [".serve.zeal"]);
    }
}
