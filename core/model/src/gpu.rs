//! GPU identity and specification. Form factor and memory are part of what a GPU is: an A100 is not
//! one product but four.

use crate::{Provenance, did_you_mean};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// How the GPU is mounted, generations of the socket aside.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum Form {
    #[serde(rename = "SXM")]
    Sxm,
    #[serde(rename = "PCIe")]
    Pcie,
    /// PCIe cards bridged in pairs with their own memory and clocks (H100 NVL, H200 NVL).
    #[serde(rename = "NVL")]
    Nvl,
    #[serde(rename = "OAM")]
    Oam,
    Superchip,
    #[serde(rename = "chip")]
    Chip,
}

impl Form {
    pub fn as_str(self) -> &'static str {
        match self {
            Form::Sxm => "SXM",
            Form::Pcie => "PCIe",
            Form::Nvl => "NVL",
            Form::Oam => "OAM",
            Form::Superchip => "Superchip",
            Form::Chip => "chip",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Form {
    type Err = ();
    /// `SXM`, `SXM4`, `PCIe`, `PCIE`, `NVL`, `PCIe (NVL)`, `OAM`, `Superchip`.
    fn from_str(text: &str) -> Result<Form, ()> {
        let t = text.trim().to_ascii_lowercase();
        if t.contains("nvl") && !t.contains("nvlink") {
            Ok(Form::Nvl)
        } else if t.starts_with("sxm") {
            Ok(Form::Sxm)
        } else if t.starts_with("pci") {
            Ok(Form::Pcie)
        } else if t.starts_with("oam") {
            Ok(Form::Oam)
        } else if t == "superchip" {
            Ok(Form::Superchip)
        } else if t == "chip" {
            Ok(Form::Chip)
        } else {
            Err(())
        }
    }
}

/// A GPU as named by somebody: form and memory stay empty where the name does not tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GpuRef {
    /// Marketing family without form and memory: `H100`, `A100`, `RTX 4090`, `MI300X`.
    pub model: Arc<str>,
    pub form: Option<Form>,
    /// Nominal memory of one device in GB as sold.
    pub memory_gb: Option<f64>,
}

impl fmt::Display for GpuRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.model)?;
        if let Some(form) = self.form {
            write!(f, " {form}")?;
        }
        if let Some(gb) = self.memory_gb {
            write!(f, " {gb} GB")?;
        }
        Ok(())
    }
}

/// One product as its data sheet describes it; one row of `data/gpu/specs.csv`. Rates are dense (never
/// "with sparsity"), FP16 and BF16 with FP32 accumulation.
#[derive(Clone, Debug)]
pub struct GpuSpec {
    /// Unique key, e.g. `A100-SXM4-80GB`.
    pub name: Arc<str>,
    pub model: Arc<str>,
    pub form: Form,
    pub vendor: Arc<str>,
    /// `Hopper`, `Ada`, `CDNA3`, ...
    pub arch: Arc<str>,
    pub compute_capability: Option<Arc<str>>,
    pub memory_gb: f64,
    /// GB/s
    pub mem_bw_gbs: Option<f64>,
    pub fp16_tflops: Option<f64>,
    pub bf16_tflops: Option<f64>,
    pub fp8_tflops: Option<f64>,
    pub int8_tops: Option<f64>,
    pub fp4_tflops: Option<f64>,
    pub fp32_tflops: Option<f64>,
    pub tdp_w: Option<f64>,
    /// GPU-GPU link, GB/s, both directions and all links of one GPU.
    pub link_total_bidir_gbs: Option<f64>,
    pub pcie_gen: Option<u8>,
    pub pcie_lanes: Option<u8>,
    /// Streaming multiprocessors, or compute units of other vendors.
    pub sm_count: Option<u32>,
    pub rt_cores: Option<u32>,
    /// Memory that `nvidia-smi` reports, MiB: ECC and reserve already taken off.
    pub usable_mib: Option<u32>,
    pub why: Provenance,
}

/// All known GPUs and the spellings by which people name them.
#[derive(Clone, Debug, Default)]
pub struct GpuTable {
    pub specs: Vec<GpuSpec>,
    aliases: HashMap<String, GpuRef>,
}

/// What [`GpuTable::spec`] found.
#[derive(Clone, Copy, Debug)]
pub struct SpecMatch<'a> {
    pub spec: &'a GpuSpec,
    /// Several products fit the name; the slowest of them was taken.
    pub ambiguous: bool,
}

/// Letters and digits only, lower case: how aliases are compared.
pub fn plain_name(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

impl GpuTable {
    /// `aliases` are pairs of a spelling and what it means.
    pub fn new(
        specs: Vec<GpuSpec>,
        aliases: impl IntoIterator<Item = (String, GpuRef)>,
    ) -> GpuTable {
        let mut table = GpuTable {
            specs,
            aliases: HashMap::new(),
        };
        for spec in &table.specs {
            let exact = GpuRef {
                model: spec.model.clone(),
                form: Some(spec.form),
                memory_gb: Some(spec.memory_gb),
            };
            table.aliases.insert(plain_name(&spec.name), exact);
        }
        for spec in &table.specs {
            // the bare family name says nothing of form and memory unless there is only one product
            let same: Vec<&GpuSpec> = table
                .specs
                .iter()
                .filter(|s| s.model == spec.model)
                .collect();
            let form = same
                .iter()
                .all(|s| s.form == spec.form)
                .then_some(spec.form);
            let memory = same
                .iter()
                .all(|s| s.memory_gb == spec.memory_gb)
                .then_some(spec.memory_gb);
            table
                .aliases
                .entry(plain_name(&spec.model))
                .or_insert(GpuRef {
                    model: spec.model.clone(),
                    form,
                    memory_gb: memory,
                });
        }
        for (alias, gpu) in aliases {
            table.aliases.insert(plain_name(&alias), gpu);
        }
        table
    }

    /// The GPU that a name means, in any of the usual spellings (`A100-80GB`, `NVIDIA H100 80GB HBM3`,
    /// `RTX_4090`, `昇腾 910B`). `None` if it is not known: an unknown name is never guessed.
    pub fn resolve(&self, name: &str) -> Option<GpuRef> {
        let plain = plain_name(name);
        if plain.is_empty() || plain.len() > 128 {
            return None;
        }
        if let Some(gpu) = self.aliases.get(&plain) {
            return Some(gpu.clone());
        }
        let mut rest = plain.as_str();
        for prefix in [
            "nvidia",
            "amd",
            "geforce",
            "tesla",
            "quadro",
            "instinct",
            "radeon",
            "华为",
            "英伟达",
        ] {
            rest = rest.strip_prefix(prefix).unwrap_or(rest);
        }
        if let Some(gpu) = self.aliases.get(rest) {
            return Some(gpu.clone());
        }
        // trailing memory ("80gb", "80g") and form words, each taken off once
        let mut form = None;
        let mut memory = None;
        let mut word = rest.to_owned();
        for _ in 0..4 {
            let before = word.clone();
            for (suffix, f) in [
                ("sxm2", Form::Sxm),
                ("sxm3", Form::Sxm),
                ("sxm4", Form::Sxm),
                ("sxm5", Form::Sxm),
                ("sxm6", Form::Sxm),
                ("sxm", Form::Sxm),
                ("pcie", Form::Pcie),
                ("nvl", Form::Nvl),
                ("oam", Form::Oam),
            ] {
                if let Some(cut) = word.strip_suffix(suffix) {
                    form = Some(f);
                    word = cut.to_owned();
                    break;
                }
            }
            for suffix in ["hbm3e", "hbm3", "hbm2e", "hbm2", "显存"] {
                if let Some(cut) = word.strip_suffix(suffix) {
                    word = cut.to_owned();
                }
            }
            if let Some(cut) = word.strip_suffix("gb").or_else(|| word.strip_suffix('g')) {
                let digits = cut.chars().rev().take_while(char::is_ascii_digit).count();
                // `A100` + `80`: the model keeps its own digits only if the whole still names a model
                for take in (1..=digits.min(3)).rev() {
                    let (head, tail) = cut.split_at(cut.len() - take);
                    // no memory starts with a zero: `A100 40GB` is not an A10 with 040
                    if tail.starts_with('0') {
                        continue;
                    }
                    if self.aliases.contains_key(head) && memory.is_none() {
                        memory = tail.parse::<f64>().ok();
                        word = head.to_owned();
                        break;
                    }
                    // the form may still stand between model and memory
                    let ends_in_form = ["sxm", "sxm2", "sxm4", "sxm5", "pcie", "nvl"]
                        .iter()
                        .any(|f| head.ends_with(f));
                    if ends_in_form && memory.is_none() {
                        memory = tail.parse::<f64>().ok();
                        word = head.to_owned();
                        break;
                    }
                }
            }
            if word == before {
                break;
            }
        }
        let known = self.aliases.get(&word)?;
        if known.form.is_some()
            && form.is_some()
            && known.form != form
            && !self.exists(&known.model, form, None)
        {
            return None;
        }
        let gpu = GpuRef {
            model: known.model.clone(),
            form: form.or(known.form),
            memory_gb: memory.or(known.memory_gb),
        };
        self.exists(&gpu.model, gpu.form, gpu.memory_gb)
            .then_some(gpu)
    }

    fn exists(&self, model: &str, form: Option<Form>, memory_gb: Option<f64>) -> bool {
        self.specs.iter().any(|s| {
            *s.model == *model
                && form.is_none_or(|f| f == s.form)
                && memory_gb.is_none_or(|gb| same_memory(gb, s.memory_gb))
        })
    }

    /// The data sheet of a GPU. Where form or memory are not known and several products fit, the one
    /// with the least memory bandwidth is taken and `ambiguous` is set.
    pub fn spec(&self, gpu: &GpuRef) -> Option<SpecMatch<'_>> {
        let fits = |s: &&GpuSpec| {
            s.model == gpu.model
                && gpu.form.is_none_or(|f| f == s.form)
                && gpu.memory_gb.is_none_or(|gb| same_memory(gb, s.memory_gb))
        };
        let matching: Vec<&GpuSpec> = self.specs.iter().filter(fits).collect();
        let slowest = matching.iter().min_by(|a, b| {
            a.mem_bw_gbs
                .unwrap_or(0.0)
                .total_cmp(&b.mem_bw_gbs.unwrap_or(0.0))
        })?;
        Some(SpecMatch {
            spec: slowest,
            ambiguous: matching.len() > 1,
        })
    }

    /// The known name closest to an unknown one.
    pub fn suggest(&self, name: &str) -> Option<&str> {
        did_you_mean(name, self.specs.iter().flat_map(|s| [&*s.model, &*s.name]))
    }
}

/// 80 and 79.6, 141 and 143.7, 186 and 192 name the same memory: vendors, clouds and drivers count
/// GB, GiB and reserves differently. 40 and 48 do not.
pub fn same_memory(a_gb: f64, b_gb: f64) -> bool {
    (a_gb - b_gb).abs() <= 0.075 * a_gb.max(b_gb)
}
