//! Rows that nobody would write: no panic, and an answer that is finite, above zero and inside its range, or a reason.

mod common;

use common::WORLD;
use lessee_perf::PerfContext;
use lessee_perf::table::{Row, TableContext, TableKind, answer};
use proptest::prelude::*;

const NUMBERS: [&str; 12] = [
    "",
    "0",
    "-1",
    "1e300",
    "1e-300",
    "nan",
    "0.5",
    "1",
    "8",
    "72",
    "100000000",
    "-0",
];
const GPUS: [&str; 6] = [
    "H100-SXM5-80GB",
    "L40S",
    "A100-PCIE-80GB",
    "NVIDIA L4",
    "MI300X",
    "",
];
const MODELS: [&str; 7] = [
    "llama-3.1-8b",
    "meta-llama/Llama-3.1-70B",
    "MPT-7b",
    "resnet50",
    "bert",
    "all_reduce",
    "",
];
const PRECISIONS: [&str; 7] = ["bf16", "fp8", "fp4", "int4", "Q4_K_M", "half", ""];
const ENGINES: [&str; 5] = ["vllm", "trtllm 1.0", "llama.cpp", "TensorRT-LLM", ""];
const METRICS: [&str; 14] = [
    "tpot_ms",
    "ttft_ms",
    "output_tok_s",
    "output_tok_s_per_gpu",
    "decode_tok_s",
    "prefill_tok_s",
    "throughput_samples",
    "tokens_s_per_gpu",
    "mfu_pct",
    "train_throughput",
    "time_to_train_min",
    "allreduce_ms",
    "matmul_tflops",
    "blender_benchmark_score",
];

/// Every column of every table, by position in the drawn numbers.
const NUMBERED: [&str; 11] = [
    "n_gpu",
    "tp",
    "batch",
    "input_len",
    "output_len",
    "nodes",
    "params",
    "seq_len",
    "global_batch",
    "micro_batch",
    "n_benchmarks",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn every_row_gets_a_sane_answer_or_a_reason(
        kind in 0..3_usize,
        numbers in proptest::collection::vec(0..NUMBERS.len(), NUMBERED.len()),
        gpu in 0..GPUS.len(),
        model in 0..MODELS.len(),
        precision in 0..PRECISIONS.len(),
        engine in 0..ENGINES.len(),
        metric in 0..METRICS.len(),
    ) {
        let kind = [TableKind::Inference, TableKind::Training, TableKind::Render][kind];
        let row = Row::read(kind, |name| match name {
            "gpu" | "device" => Some(GPUS[gpu]),
            "model" => Some(MODELS[model]),
            "precision" => Some(PRECISIONS[precision]),
            "engine" => Some(ENGINES[engine]),
            "metric" => Some(METRICS[metric]),
            _ => NUMBERED.iter().position(|n| *n == name).map(|i| NUMBERS[numbers[i]]),
        });
        let Ok(row) = row else {
            return Ok(());
        };
        let perf = PerfContext {
            gpus: &WORLD.gpus,
            tables: &WORLD.tables,
            measured: None,
            detail: false,
        };
        match answer(&row, TableContext { perf, models: &WORLD.models }) {
            Ok(a) => {
                prop_assert!(a.predicted > 0.0 && a.predicted.is_finite(), "{a:?}");
                prop_assert!(0.0 < a.low && a.low <= a.predicted, "{a:?}");
                prop_assert!(a.predicted <= a.high && a.high.is_finite(), "{a:?}");
            }
            Err(why) => prop_assert!(!why.code.is_empty()),
        }
    }
}
