//! The built-in tables, read straight from `data/`, and small builders for jobs and machines.
#![allow(dead_code)] // each test file uses its own part

use lessee_model::workload::{
    Data, DataStorage, Destination, Job, Location, Method, Optimizer, Precision, ServeJob,
    Sharding, TrainJob,
};
use lessee_model::{
    AcceleratorClass, Basis, Bytes, Confidence, Form, GpuRef, GpuSpec, GpuTable, Interconnect,
    Machine, ModelKind, ModelSpec, ModelTable, Prediction, Provenance, Seconds,
};
use lessee_perf::formula::Calibration;
use lessee_perf::{BlenderRow, Coefficients, GemmRow, NoFit, PerfContext, PerfTables, predict};
use std::collections::HashMap;
use std::sync::LazyLock;

type Row = HashMap<String, String>;

fn rows(text: &str) -> Vec<Row> {
    csv::Reader::from_reader(text.as_bytes())
        .deserialize()
        .map(|row| row.expect("row"))
        .collect()
}

fn f(row: &Row, key: &str) -> Option<f64> {
    let text = row.get(key).unwrap_or_else(|| panic!("no column {key}"));
    (!text.is_empty()).then(|| text.parse().expect("number"))
}

fn why(row: &Row) -> Provenance {
    let confidence = match row["confidence"].as_str() {
        "verified" => Confidence::Verified,
        "secondary" => Confidence::Secondary,
        "general" => Confidence::General,
        _ => Confidence::Unverified,
    };
    Provenance::new(Basis::Published, confidence, row["source"].as_str(), None)
}

pub(crate) struct World {
    pub(crate) gpus: GpuTable,
    pub(crate) tables: PerfTables,
    pub(crate) models: ModelTable,
    pub(crate) machines: Vec<(String, Machine)>,
}

pub(crate) static WORLD: LazyLock<World> = LazyLock::new(|| {
    let specs = [
        include_str!("../../../../data/gpu/specs.csv"),
        include_str!("../../../../data/cc-by-sa/specs.csv"),
    ];
    let specs: Vec<GpuSpec> = specs.into_iter().flat_map(rows).map(|r| spec(&r)).collect();
    let gemm = rows(include_str!("../../../../data/cc-by-sa/gemm.csv"))
        .iter()
        .map(|r| GemmRow {
            name: r["name"].as_str().into(),
            precision: r["precision"].as_str().into(),
            share: f(r, "share").expect("share"),
            tflops: f(r, "tflops").expect("tflops"),
            why: why(r),
        })
        .collect();
    let blender = rows(include_str!("../../../../data/render/blender_scores.csv"))
        .iter()
        .map(|r| BlenderRow {
            gpu: (!r["gpu"].is_empty()).then(|| r["gpu"].as_str().into()),
            model: r["model"].as_str().into(),
            form: r["form"].parse().ok(),
            memory_gb: f(r, "memory_gb"),
            score: f(r, "score").expect("score"),
            n: f(r, "n").expect("n") as u32,
            why: why(r),
        })
        .collect();
    let models: Vec<ModelSpec> = rows(include_str!("../../../../data/models.csv"))
        .iter()
        .map(model)
        .collect();
    let machines = [
        include_str!("../../../../data/offers/machines.csv"),
        include_str!("../../../../data/cc-by-sa/machines.csv"),
    ];
    World {
        gpus: GpuTable::new(specs, []),
        tables: PerfTables {
            coefficients: Coefficients::from_toml(include_str!("../../../../data/perf.toml"))
                .expect("perf.toml"),
            calibration: Calibration::from_toml(include_str!("../../../../data/calibration.toml"))
                .expect("calibration.toml"),
            gemm,
            blender,
        },
        models: ModelTable {
            models,
            aliases: Vec::new(),
        },
        machines: machines
            .into_iter()
            .flat_map(rows)
            .map(|r| {
                (
                    format!("{}/{}", r["provider"], r["instance_type"]),
                    machine_row(&r),
                )
            })
            .collect(),
    }
});

fn spec(r: &Row) -> GpuSpec {
    GpuSpec {
        name: r["name"].as_str().into(),
        model: r["model"].as_str().into(),
        form: r["form"].parse().expect("form"),
        vendor: r["vendor"].as_str().into(),
        arch: r["arch"].as_str().into(),
        compute_capability: (!r["compute_capability"].is_empty())
            .then(|| r["compute_capability"].as_str().into()),
        memory_gb: f(r, "memory_gb").expect("memory"),
        mem_bw_gbs: f(r, "mem_bw_gbs"),
        fp16_tflops: f(r, "fp16_dense_tflops"),
        bf16_tflops: f(r, "bf16_dense_tflops"),
        fp8_tflops: f(r, "fp8_dense_tflops"),
        int8_tops: f(r, "int8_dense_tops"),
        fp4_tflops: f(r, "fp4_dense_tflops"),
        fp32_tflops: f(r, "fp32_tflops"),
        tdp_w: f(r, "tdp_w"),
        link_total_bidir_gbs: f(r, "link_total_bidir_gbs"),
        pcie_gen: f(r, "pcie_gen").map(|x| x as u8),
        pcie_lanes: f(r, "pcie_lanes").map(|x| x as u8),
        sm_count: f(r, "sm_count").map(|x| x as u32),
        rt_cores: f(r, "rt_cores").map(|x| x as u32),
        usable_mib: f(r, "usable_mib").map(|x| x as u32),
        why: why(r),
    }
}

fn model(r: &Row) -> ModelSpec {
    let params = f(r, "params_b").expect("params") * 1e9;
    ModelSpec {
        name: r["name"].as_str().into(),
        kind: match r["kind"].as_str() {
            "llm" => ModelKind::Llm,
            "encoder" => ModelKind::Encoder,
            "vision" => ModelKind::Vision,
            _ => ModelKind::Diffusion,
        },
        params,
        active_params: f(r, "active_params_b").map_or(params, |x| x * 1e9),
        layers: f(r, "layers"),
        hidden: f(r, "hidden"),
        heads: f(r, "heads"),
        kv_heads: f(r, "kv_heads"),
        head_dim: f(r, "head_dim"),
        ffn: f(r, "ffn"),
        vocab: f(r, "vocab"),
        experts: f(r, "experts"),
        experts_per_token: f(r, "experts_per_token"),
        kv_bytes_per_token: f(r, "kv_bytes_per_token_override"),
        context: f(r, "context"),
        forward_gflops: f(r, "forward_gflops_per_sample"),
        why: why(r),
    }
}

fn machine_row(r: &Row) -> Machine {
    let text = |key: &str| (!r[key].is_empty()).then(|| r[key].as_str().into());
    Machine {
        class: match r["accelerator_class"].as_str() {
            "gpu" => AcceleratorClass::Gpu,
            "npu" => AcceleratorClass::Npu,
            "fpga" => AcceleratorClass::Fpga,
            _ => AcceleratorClass::Media,
        },
        gpu: GpuRef {
            model: r["gpu_model"].as_str().into(),
            form: r["gpu_form"].parse().ok(),
            memory_gb: f(r, "gpu_memory_gb"),
        },
        gpu_count: f(r, "gpu_count").unwrap_or(0.0) as u16,
        gpu_fraction: f(r, "gpu_fraction").unwrap_or(1.0) as f32,
        usable_mib_each: f(r, "usable_mib_each").map(|x| x as u32),
        vcpus: f(r, "vcpus").map(|x| x as f32),
        memory_gib: f(r, "memory_gib").map(|x| x as f32),
        local_disk_gb: f(r, "local_nvme_gb").map(|x| x as f32),
        network_gbps: f(r, "network_baseline_gbps")
            .or(f(r, "network_gbps"))
            .map(|x| x as f32),
        interconnect: r["interconnect"].parse().ok(),
        link_gbs: f(r, "link_gbs_per_gpu").map(|x| x as f32),
        rdma: text("rdma"),
        arch: text("cpu_arch"),
        gpu_access: text("gpu_access"),
        status: r["status"].as_str().into(),
        confidence: Confidence::Verified,
        host_confidence: Confidence::Verified,
    }
}

/// `count` whole GPUs named by their key in `gpu/specs.csv`, on a well-equipped host.
pub(crate) fn machine(name: &str, count: u16, interconnect: Interconnect) -> Machine {
    let spec = WORLD
        .gpus
        .specs
        .iter()
        .find(|s| &*s.name == name)
        .unwrap_or_else(|| panic!("no GPU {name}"));
    Machine {
        class: AcceleratorClass::Gpu,
        gpu: GpuRef {
            model: spec.model.clone(),
            form: Some(spec.form),
            memory_gb: Some(spec.memory_gb),
        },
        gpu_count: count,
        gpu_fraction: 1.0,
        usable_mib_each: None,
        vcpus: Some(24.0 * f32::from(count)),
        memory_gib: Some(200.0 * f32::from(count)),
        local_disk_gb: None,
        network_gbps: Some(100.0),
        interconnect: Some(interconnect),
        link_gbs: None,
        rdma: None,
        arch: None,
        gpu_access: None,
        status: "current".into(),
        confidence: Confidence::Verified,
        host_confidence: Confidence::Verified,
    }
}

pub(crate) fn no_data() -> Data {
    Data {
        size: Bytes::ZERO,
        files: 0.0,
        location: Location::Internet,
        reads: 1.0,
        out: Bytes::ZERO,
        out_to: Destination::Stay,
        storage: DataStorage::Object,
        keep: None,
        egress_used: Bytes::ZERO,
    }
}

pub(crate) fn model_named(name: &str) -> ModelSpec {
    WORLD
        .models
        .resolve(name)
        .unwrap_or_else(|| panic!("no model {name}"))
        .clone()
}

pub(crate) fn training(name: &str, method: Method, seq_len: f64) -> TrainJob {
    TrainJob {
        model: model_named(name),
        method,
        precision: Precision::Bf16,
        units: 1e9,
        seq_len,
        global_batch: None,
        optimizer: Optimizer::Adamw,
        activation_checkpointing: None,
        sharding: Sharding::Auto,
        lora_rank: 16.0,
        lora_fraction: 0.005,
        ffn_ratio: 3.5,
        cpu_seconds_per_sample: None,
    }
}

pub(crate) fn serving(name: &str, input: f64, output: f64, tpot_ms: f64) -> ServeJob {
    ServeJob {
        model: model_named(name),
        precision: Precision::Bf16,
        kv_precision: Precision::Fp16,
        rate: 1.0,
        peak_rate: 1.0,
        input_tokens: input,
        output_tokens: output,
        tpot: Seconds(tpot_ms / 1000.0),
        ttft: None,
        duration: Seconds(3600.0),
        min_replicas: 1,
    }
}

pub(crate) fn context() -> PerfContext<'static> {
    PerfContext {
        gpus: &WORLD.gpus,
        tables: &WORLD.tables,
        measured: None,
        detail: false,
    }
}

pub(crate) fn run(job: &Job, machine: &Machine, nodes: u32) -> Result<Prediction, NoFit> {
    predict(job, &no_data(), machine, nodes, context())
}

pub(crate) fn gpu(model: &str, form: Form, memory_gb: f64) -> GpuRef {
    GpuRef {
        model: model.into(),
        form: Some(form),
        memory_gb: Some(memory_gb),
    }
}

/// `actual` within `share` of `expected`.
#[track_caller]
pub(crate) fn near(what: &str, actual: f64, expected: f64, share: f64) {
    let error = (actual / expected - 1.0).abs();
    assert!(
        error <= share,
        "{what}: {actual:.4} against {expected:.4}, off by {:.0} %",
        error * 100.0
    );
}
