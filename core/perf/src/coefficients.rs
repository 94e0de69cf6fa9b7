//! `data/perf.toml` as types: one struct a table, names as in the file, where each is explained with its
//! unit, source and error. Tables that no formula reads yet (anchors, offline ratios) are not mapped.

use lessee_model::workload::Precision;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The constants of the performance model.
#[derive(Clone, Debug, Deserialize)]
pub struct Coefficients {
    pub bytes_per_weight: Bytes,
    pub bytes_per_kv_value: Bytes,
    pub memory: Memory,
    pub decode: Decode,
    pub train: Train,
    pub feed: Feed,
    pub allreduce: AllReduce,
    pub render: Render,
    pub gemm: Gemm,
    pub probe: Probe,
    pub range: Ranges,
}

/// Byte per value by number format; formats that are not stored apart fall back to their width.
#[derive(Clone, Debug, Deserialize)]
pub struct Bytes {
    pub fp32: f64,
    pub fp16: f64,
    pub bf16: f64,
    pub fp8: f64,
    pub int4: f64,
    #[serde(default)]
    pub int8: Option<f64>,
    #[serde(default)]
    pub nvfp4: Option<f64>,
    #[serde(default)]
    pub nf4: Option<f64>,
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
pub struct Memory {
    pub inference: InferenceMemory,
    pub training: TrainingMemory,
    pub vision: VisionMemory,
}

#[derive(Clone, Debug, Deserialize)]
pub struct InferenceMemory {
    pub usable_fraction_vllm: f64,
    pub activation_and_graphs_gib: f64,
    pub nccl_gib_per_gpu: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct TrainingMemory {
    pub weight: f64,
    pub gradient: f64,
    pub optimizer_adam: f64,
    pub optimizer_adam_8bit: f64,
    pub optimizer_sgd_momentum: f64,
    pub optimizer_adafactor: f64,
    pub fp32_weight: f64,
    pub fp32_copy_in_optimizer: f64,
    pub qlora_base_bytes: f64,
    pub activation_full: f64,
    pub activation_checkpointed: f64,
    pub logits_bytes_per_token_vocab: f64,
    pub fragmentation: f64,
    pub usable_fraction: f64,
    pub cuda_context_gib: f64,
    pub nccl_gib_per_gpu: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct VisionMemory {
    pub activation_mib_per_gflop_cnn: f64,
    pub activation_mib_per_gflop_transformer: f64,
    pub activation_mib_per_gflop_diffusion: f64,
    pub blocks: f64,
    pub checkpointed_share: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Decode {
    pub renter: DecodeStep,
    pub renter_loaded: DecodeLoaded,
}

#[derive(Clone, Debug, Deserialize)]
pub struct DecodeStep {
    pub eff: f64,
    pub t0_ms: f64,
    pub eff_tp: f64,
    pub t0_tp_ms: f64,
    pub lat_ms_per_layer_tp: f64,
    pub source: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct DecodeLoaded {
    pub mfu_prefill: f64,
    pub mfu_decode: f64,
    pub reference_gemm_share: f64,
    pub host_us_per_sequence: f64,
    pub min_compute_capability: f64,
    pub max_batch: f64,
    pub calibrated_batch: f64,
    pub pcie_bus_gbs: f64,
    pub source: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Train {
    pub software: Software,
    pub llm: TrainLlm,
    pub vision_ratio: VisionRatio,
    pub vision_analytic: VisionAnalytic,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Software {
    pub min_compute_capability: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct TrainLlm {
    pub util: f64,
    pub small_model: f64,
    pub scale_out: f64,
    pub checkpoint_factor: f64,
    pub max_share_of_gemm: f64,
    pub default_tokens_per_step: f64,
    pub source: String,
    pub generation: Generation,
    pub fp8: TrainFp8,
    pub adapter: Adapter,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Generation {
    /// Architectures whose factor comes from measurements.
    pub fitted: Vec<String>,
    /// Architecture -> factor, with `default`.
    pub factor: BTreeMap<String, f64>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct TrainFp8 {
    pub renter_speedup: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Adapter {
    pub lora_flops_factor: f64,
    pub qlora_slowdown: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct VisionRatio {
    pub bw_exponent: f64,
    pub flops_exponent: f64,
    pub reference_bw_gbs: f64,
    pub reference_tflops: f64,
    pub source: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct VisionAnalytic {
    pub util_cnn: f64,
    pub util_transformer: f64,
    pub util_diffusion: f64,
    pub batch_per_gpu: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Feed {
    pub cpu_seconds_per_image: f64,
    pub cpu_seconds_per_encoder_sample: f64,
    pub cpu_seconds_per_diffusion_sample: f64,
    pub cpu_seconds_per_token: f64,
    pub network_share: f64,
    pub object_get_latency_s: f64,
    pub object_gets_in_flight_per_vcpu: f64,
    pub object_gets_per_second_limit: f64,
    pub block_gbs: f64,
    pub local_gbs: f64,
    pub disk_files_per_second: f64,
    pub page_cache_share: f64,
    pub source: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct AllReduce {
    pub overlap: f64,
    pub backward_share: f64,
    pub nvlink: NvlinkRule,
    pub pcie: PcieRule,
    pub node_to_node: NodeToNode,
}

#[derive(Clone, Debug, Deserialize)]
pub struct NvlinkRule {
    pub base_us: f64,
    pub per_rank_us: f64,
    pub eff: f64,
    pub source: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct PcieRule {
    pub base_us: f64,
    pub per_rank_us: f64,
    pub bus_gbs_low: f64,
    pub bus_gbs_mid: f64,
    pub bus_gbs_high: f64,
    pub source: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct NodeToNode {
    pub eff_rdma: f64,
    pub eff_tcp: f64,
    pub base_us: f64,
    pub assumed_gbps: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Render {
    pub cycles: Cycles,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Cycles {
    pub fp32_exponent: f64,
    pub bw_exponent: f64,
    pub source: String,
    /// Architecture -> k.
    pub k: BTreeMap<String, f64>,
    /// The same for parts without ray-tracing cores, where the architecture has both.
    pub k_without_rt: BTreeMap<String, f64>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Gemm {
    pub share_bf16: f64,
    pub share_fp8: f64,
    pub share_geforce: f64,
    pub geforce_fp16_over_fp32: f64,
    pub share_low_power: f64,
    pub low_power_w: f64,
    pub tf32_over_bf16: f64,
    pub share_amd: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Probe {
    pub copy_share: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Ranges {
    pub calibrated: [f64; 2],
    pub other_gpu: [f64; 2],
    pub outside: [f64; 2],
    pub thin: [f64; 2],
    pub measured: f64,
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
            ("range.other_gpu", r.other_gpu),
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
