//! Rows of tables of tuned servers, as typed, against what was measured.

mod common;

use common::WORLD;
use lessee_perf::PerfContext;
use lessee_perf::table::{Answer, Row, TableContext, TableKind, answer};
use std::collections::HashMap;

const HEADER: &str = "gpu,n_gpu,tp,model,precision,engine,batch,input_len,output_len,metric";

/// Cells under `HEADER`.
fn row(cells: &str) -> Row {
    let cells: HashMap<&str, &str> = HEADER.split(',').zip(cells.split(',')).collect();
    Row::read(TableKind::Inference, |name| cells.get(name).copied()).expect("numbers")
}

fn ask(row: &Row) -> Result<Answer, lessee_perf::NoFit> {
    let perf = PerfContext {
        gpus: &WORLD.gpus,
        tables: &WORLD.tables,
        measured: None,
        detail: false,
    };
    answer(
        row,
        TableContext {
            perf,
            models: &WORLD.models,
        },
    )
}

fn predicted(cells: &str) -> f64 {
    ask(&row(cells)).expect(cells).predicted
}

#[test]
fn measured_values_are_met() {
    // (row, measured, error that is allowed)
    for (cells, measured, off) in [
        (
            "H100-SXM5-80GB,4,4,meta-llama/Llama-3.1-70B,fp8,vllm,16,1024,1024,tpot_ms",
            13.19,
            0.1,
        ),
        (
            "B200-SXM-180GB,1,1,meta-llama/Llama-3.1-70B,fp4,trtllm,4,1024,1024,tpot_ms",
            12.06,
            0.1,
        ),
        (
            "H100-SXM5-80GB,1,1,GPT-J 6B,FP8,TensorRT-LLM,1024,128,128,output_tok_s_per_gpu",
            25860.0,
            0.15,
        ),
        (
            "H100-SXM5-80GB,8,8,llama-2-70b,FP8,TensorRT-LLM,1,2048,1,ttft_ms",
            85.1,
            0.2,
        ),
        (
            "NVIDIA H100-SXM-80GB,8,,llama2-70b-99.9,,TensorRT 10.2.0,Offline,,,throughput_tokens",
            24300.0,
            0.2,
        ),
    ] {
        let got = predicted(cells);
        assert!(
            (got / measured - 1.0).abs() < off,
            "{cells}: {got}, measured {measured}"
        );
    }
}

#[test]
fn a_product_of_two_kinds_of_parallelism_is_one_machine() {
    let of = |n: &str| {
        predicted(&format!(
            "B200,{n},{n},deepseek-v3,fp4,sglang,32,1024,1024,tpot_ms"
        ))
    };
    assert_eq!(of("64"), of("8"));
    assert_eq!(of("16"), of("4"));
}

#[test]
fn a_number_format_in_the_name_counts() {
    let of = |name: &str| predicted(&format!("H100 SXM,2,2,{name},,vllm,8,1024,1024,tpot_ms"));
    assert_eq!(
        of("Qwen/Qwen3-32B-FP8"),
        predicted("H100 SXM,2,2,qwen3-32b,fp8,vllm,8,1024,1024,tpot_ms")
    );
    assert!(of("Qwen3-32B-FP8") < of("Qwen3-32B"));
}

#[test]
fn an_unrecorded_number_of_gpus_takes_the_tensor_parallelism() {
    let family = |cells: &str| ask(&row(cells)).expect(cells).family;
    let cells = "GB200 (per GPU),0,2 adp0,Qwen/Qwen3-32B,,trtllm 1.3.0rc1,8,2000,500,tpot_ms";
    assert_eq!(family(cells), "serve_decode_rack_tuned");
    let two = "GB200 (per GPU),2,2,Qwen/Qwen3-32B,,trtllm 1.3.0rc1,8,2000,500,tpot_ms";
    assert_eq!(predicted(cells), predicted(two));
}

#[test]
fn more_load_and_longer_answers_never_shorten_a_step() {
    for gpu in ["L40S", "H200 SXM", "MI300X", "B300", "A100-SXM4-80GB"] {
        let of = |batch: u32, prompt: u32| {
            predicted(&format!(
                "{gpu},4,4,llama-3.1-70b,fp8,vllm,{batch},{prompt},512,tpot_ms"
            ))
        };
        assert!(
            of(1, 1024) < of(16, 1024) && of(16, 1024) < of(16, 4096),
            "{gpu}"
        );
    }
}

#[test]
fn a_row_that_cannot_be_answered_says_why() {
    let code = |cells: &str| ask(&row(cells)).expect_err(cells).code;
    assert_eq!(
        code("H100 SXM,1,1,llama-3.1-8b,,vllm,8,,512,tpot_ms"),
        "missing_value"
    );
    assert_eq!(
        code("No Such GPU,1,1,llama-3.1-8b,,vllm,8,512,512,tpot_ms"),
        "no_spec"
    );
    assert_eq!(
        code("H100 SXM,1,1,nothing-of-that-name,,vllm,8,512,512,tpot_ms"),
        "model_unsuitable"
    );
    let mut sparse =
        row("NVIDIA H200-SXM-141GB,1,,llama2-70b-99,,TensorRT,Offline,,,throughput_tokens");
    sparse.note = "open; H200-SXM-141GBx1_TRT_Sparse".to_owned();
    assert_eq!(ask(&sparse).expect_err("sparse").code, "altered_run");
}
