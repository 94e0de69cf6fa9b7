//! What an import read: offers it is sure of, and questions where it is not.
//! JSON of `catalog import --dry-run -o json`: `lessee/import/v1`.

use crate::{AsOf, Confidence, Money, Purchase};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ImportDoc {
    /// `lessee/import/v1`
    pub schema: String,
    pub file: String,
    /// `skypilot`, `gpuhunt`, `focus`, `quote`, `offers`
    pub format: String,
    /// Text encoding that was read, e.g. `UTF-8`, `GBK`, `UTF-16LE`.
    pub encoding: String,
    pub offers: Vec<QuotedOffer>,
    pub questions: Vec<Question>,
    /// Lines that carry no price and were passed over.
    pub ignored_lines: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QuotedOffer {
    pub provider: Option<String>,
    pub region: Option<String>,
    pub instance_type: Option<String>,
    pub gpu: QuotedGpu,
    pub vcpus: Option<f64>,
    pub memory_gib: Option<f64>,
    pub local_disk_gb: Option<f64>,
    pub network_gbps: Option<f64>,
    pub interconnect: Option<String>,
    pub purchase: Purchase,
    pub price: Money,
    /// Always `instance_hour`.
    pub per: String,
    /// The line as it was written.
    pub original: String,
    /// 1-based line of the file.
    pub line: u64,
    /// How the figure was reached: `76000 CNY / month / 730 h`, with every assumption.
    pub derivation: Vec<String>,
    /// `included`, `excluded`, `unknown`
    pub tax: String,
    pub as_of: Option<AsOf>,
    pub confidence: Confidence,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QuotedGpu {
    pub model: String,
    pub form: Option<String>,
    pub count: u32,
    pub memory_gb_each: Option<f64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// 1-based; 0 = the whole file.
    pub line: u64,
    pub text: String,
    /// Why it could not be read for sure, in the reader's language.
    pub why: String,
    /// Stable code of the reason: `range`, `on_request`, `unit_unknown`, `gpu_unknown`, ...
    pub code: String,
}
