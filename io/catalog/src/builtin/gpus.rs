//! GPUs by data sheet and by name, and networks by dimension.

use super::rows::read;
use crate::CatalogError;
use crate::build::Interner;
use lessee_model::gpu::plain_name;
use lessee_model::{Form, GpuRef, GpuSpec, GpuTable, ModelKind, ModelSpec, ModelTable};
use std::cell::RefCell;

type Strings = RefCell<Interner>;

pub(super) fn gpus(strings: &Strings) -> Result<GpuTable, CatalogError> {
    let mut specs = Vec::new();
    for (file, text) in [
        (
            "gpu/specs.csv",
            include_str!("../../../../data/gpu/specs.csv"),
        ),
        (
            "cc-by-sa/specs.csv",
            include_str!("../../../../data/cc-by-sa/specs.csv"),
        ),
    ] {
        read(file, text, strings, |r| {
            specs.push(GpuSpec {
                name: r.text("name")?,
                model: r.text("model")?,
                form: r.need::<Form>("form").map_err(|_| "form".to_owned())?,
                vendor: r.text("vendor")?,
                arch: r.text("arch")?,
                compute_capability: r.opt_text("compute_capability")?,
                memory_gb: r.need("memory_gb")?,
                mem_bw_gbs: r.opt("mem_bw_gbs")?,
                fp16_tflops: r.opt("fp16_dense_tflops")?,
                bf16_tflops: r.opt("bf16_dense_tflops")?,
                fp8_tflops: r.opt("fp8_dense_tflops")?,
                int8_tops: r.opt("int8_dense_tops")?,
                fp4_tflops: r.opt("fp4_dense_tflops")?,
                fp32_tflops: r.opt("fp32_tflops")?,
                tdp_w: r.opt("tdp_w")?,
                link_total_bidir_gbs: r.opt("link_total_bidir_gbs")?,
                pcie_gen: r.opt("pcie_gen")?,
                pcie_lanes: r.opt("pcie_lanes")?,
                sm_count: r.opt("sm_count")?,
                rt_cores: r.opt("rt_cores")?,
                usable_mib: r.opt("usable_mib")?,
                why: r.why()?,
            });
            Ok(())
        })?;
    }
    let mut aliases = Vec::new();
    read(
        "gpu/aliases.csv",
        include_str!("../../../../data/gpu/aliases.csv"),
        strings,
        |r| {
            let gpu = GpuRef {
                model: r.text("model")?,
                form: r.opt::<Form>("form")?,
                memory_gb: r.opt("memory_gb")?,
            };
            aliases.push((r.get("alias")?.to_owned(), gpu));
            Ok(())
        },
    )?;
    Ok(GpuTable::new(specs, aliases))
}

pub(super) fn models(strings: &Strings) -> Result<ModelTable, CatalogError> {
    let mut table = ModelTable::default();
    read(
        "models.csv",
        include_str!("../../../../data/models.csv"),
        strings,
        |r| {
            let kind = match r.get("kind")? {
                "llm" => ModelKind::Llm,
                "encoder" => ModelKind::Encoder,
                "vision" => ModelKind::Vision,
                "diffusion" => ModelKind::Diffusion,
                other => return Err(format!("kind: `{other}`")),
            };
            let params = r.need::<f64>("params_b")? * 1e9;
            let at = table.models.len();
            table.models.push(ModelSpec {
                name: r.text("name")?,
                kind,
                params,
                active_params: r.opt::<f64>("active_params_b")?.map_or(params, |b| b * 1e9),
                layers: r.opt("layers")?,
                hidden: r.opt("hidden")?,
                heads: r.opt("heads")?,
                kv_heads: r.opt("kv_heads")?,
                head_dim: r.opt("head_dim")?,
                ffn: r.opt("ffn")?,
                vocab: r.opt("vocab")?,
                experts: r.opt("experts")?,
                experts_per_token: r.opt("experts_per_token")?,
                kv_bytes_per_token: r.opt("kv_bytes_per_token_override")?,
                context: r.opt("context")?,
                forward_gflops: r.opt("forward_gflops_per_sample")?,
                why: r.why()?,
            });
            for alias in r.get("aliases")?.split('|').filter(|a| !a.is_empty()) {
                table.aliases.push((plain_name(alias), at));
            }
            Ok(())
        },
    )?;
    Ok(table)
}
