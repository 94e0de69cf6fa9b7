//! Neural networks by name or by their dimensions.

use crate::{Provenance, did_you_mean};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What kind of network, hence which formulas apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// Decoder-only language model.
    Llm,
    /// Encoder such as BERT.
    Encoder,
    /// Convolutional or transformer network over images.
    Vision,
    Diffusion,
}

/// Dimensions of one network.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelSpec {
    pub name: Arc<str>,
    pub kind: ModelKind,
    /// Parameters in total.
    pub params: f64,
    /// Parameters used for one token; equals `params` unless a mixture of experts.
    pub active_params: f64,
    pub layers: Option<f64>,
    pub hidden: Option<f64>,
    pub heads: Option<f64>,
    pub kv_heads: Option<f64>,
    pub head_dim: Option<f64>,
    pub ffn: Option<f64>,
    pub vocab: Option<f64>,
    pub experts: Option<f64>,
    pub experts_per_token: Option<f64>,
    /// Bytes of KV cache per token in 16 bit, where it does not follow from heads (multi-head latent attention).
    pub kv_bytes_per_token: Option<f64>,
    /// Longest context, tokens.
    pub context: Option<f64>,
    /// Forward FLOPs of one sample (vision, encoder, diffusion) at the default input, 1e9.
    pub forward_gflops: Option<f64>,
    #[serde(skip)]
    pub why: Provenance,
}

impl ModelSpec {
    /// Bytes of KV cache per token at `bytes` per element:
    /// 2 (key and value) x layers x KV heads x head dimension x bytes.
    pub fn kv_bytes(&self, bytes: f64) -> Option<f64> {
        if let Some(given) = self.kv_bytes_per_token {
            return Some(given * bytes / 2.0);
        }
        let heads = self.kv_heads.or(self.heads)?;
        let dim = self.head_dim.or_else(|| Some(self.hidden? / self.heads?))?;
        Some(2.0 * self.layers? * heads * dim * bytes)
    }
}

/// The built-in models and the names by which people call them.
#[derive(Clone, Debug, Default)]
pub struct ModelTable {
    pub models: Vec<ModelSpec>,
    /// Pairs of a spelling (already plain, see [`crate::gpu::plain_name`]) and an index into `models`.
    pub aliases: Vec<(String, usize)>,
}

impl ModelTable {
    /// Resolves `llama-3.1-8b`, `Llama 3.1 8B`, `meta-llama/Llama-3.1-8B-Instruct`.
    pub fn resolve(&self, name: &str) -> Option<&ModelSpec> {
        let last = name.rsplit('/').next().unwrap_or(name);
        let mut plain = crate::gpu::plain_name(last);
        if plain.len() > 128 {
            return None;
        }
        for _ in 0..2 {
            for suffix in ["instruct", "chat", "base", "hf", "it", "v01", "v02", "v03"] {
                if let Some(found) = self.find(&plain) {
                    return Some(found);
                }
                if let Some(cut) = plain.strip_suffix(suffix) {
                    plain = cut.to_owned();
                }
            }
        }
        self.find(&plain)
    }

    fn find(&self, plain: &str) -> Option<&ModelSpec> {
        self.models
            .iter()
            .find(|m| crate::gpu::plain_name(&m.name) == plain)
            .or_else(|| {
                self.aliases
                    .iter()
                    .find(|(a, _)| a == plain)
                    .and_then(|(_, i)| self.models.get(*i))
            })
    }

    pub fn suggest(&self, name: &str) -> Option<&str> {
        did_you_mean(name, self.models.iter().map(|m| &*m.name))
    }
}
