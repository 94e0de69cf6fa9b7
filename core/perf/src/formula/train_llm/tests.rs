//! The training formula on round numbers, worked by hand.

use super::*;

fn coefficients() -> Coefficients {
    Coefficients {
        gemm: 0.8,
        gemm_fp8: 0.7,
        gemm_mx: 0.9,
        gemm_fp4: 0.75,
        attention_renter: 0.4,
        attention_tuned: 0.8,
        attention_reference: 300e12,
        attention_power: 0.5,
        element_bytes: 400.0,
        logit_bytes: 20.0,
        tensor_exposed: 1.0,
        gather_exposed: 1.0,
        host_ms: 0.0,
        optimizer_bytes: 0.0,
        unpack_bytes: 5.0,
        network_gen4: 25e9,
        bus_gen4: 8e9,
        machine_gpus: 8.0,
        rack_gpus: 72.0,
        rack_link: 900e9,
    }
}

const MOE: MoeCoefficients = MoeCoefficients {
    routed_elements: 0.35,
    experts_exposed: 1.0,
};

fn query() -> Query {
    Query {
        arch: "Ampere".into(),
        tier: Tier::Renter,
        gpu: Processor {
            matrix: 300e12,
            format: Format::Half,
            gemm_share: 1.0,
            half: 300e12,
            bandwidth: 2e12,
        },
        shape: Shape {
            layers: 25.0,
            hidden: 2000.0,
            attention_width: 2000.0,
            multiplied: 1e9,
            params: 1e9,
            vocab: 50_000.0,
            routed: 0.0,
        },
        work: Work {
            sequence: 2000.0,
            recompute: false,
            trained: Trained::All,
        },
        wiring: Wiring {
            link: Some(300e9),
            domain: 8.0,
            pcie_gen: 4.0,
        },
        split: Split {
            gpus: 8.0,
            tensor: 1.0,
            pipeline: 1.0,
            interleave: 1.0,
            context: 1.0,
            expert: 1.0,
            shards: 8.0,
            micro_batch: 10.0,
            micro_steps: 4.0,
        },
        measure: Measure::Tokens,
    }
}

#[track_caller]
fn near(actual: f64, expected: f64) {
    assert!(
        (actual / expected - 1.0).abs() < 1e-9,
        "{actual:e} against {expected:e}"
    );
}

#[test]
fn one_node_is_products_attention_and_bytes() {
    // 6e9 / 240e12 = 25 us; 2 x 25 x 2000 x 2000 x 3.5 / 120e12 = 5.8333 us;
    // (400 x 50,000 + 20 x 50,000) / 2e12 = 10.5 us
    let q = query();
    let c = compute(&q.gpu, &q.shape, &q.work, q.tier, 0.0, &coefficients());
    near(c.matmul, 25e-6);
    near(c.attention, 7.0e8 / 120e12);
    near(c.elements, 10.5e-6);
    near(
        q.seconds(&coefficients(), &MOE),
        25e-6 + 7.0e8 / 120e12 + 10.5e-6,
    );
}

#[test]
fn recomputation_adds_a_forward_pass_and_adapters_save_a_third() {
    let (mut q, c) = (query(), coefficients());
    let part = |q: &Query| compute(&q.gpu, &q.shape, &q.work, q.tier, 0.0, &coefficients());
    q.work.recompute = true;
    near(part(&q).matmul, 25e-6 * 4.0 / 3.0);
    near(part(&q).attention, 7.0e8 / 120e12 * 4.5 / 3.5);
    q.work = Work {
        recompute: false,
        trained: Trained::Adapters,
        ..q.work
    };
    near(part(&q).matmul, 25e-6 * 2.0 / 3.0);
    // 4-bit weights: 5 bytes x 1e9 x 2 passes / 2e12 = 5 ms a micro-batch
    q.work.trained = Trained::AdaptersOnFourBit;
    near(part(&q).per_micro_batch, 5e-3);
    assert!(q.seconds(&c, &MOE) > part(&q).per_token());
}

#[test]
fn a_gpu_with_more_matrix_rate_alone_reaches_a_smaller_share() {
    let utilisation = |factor: f64| {
        let mut q = query();
        q.gpu.matrix *= factor;
        q.gpu.half *= factor;
        q.measure = Measure::Utilisation {
            flops: 6e9,
            peak: q.gpu.matrix,
        };
        6e9 / q.seconds(&coefficients(), &MOE) / q.gpu.matrix
    };
    assert!(utilisation(3.0) < 0.8 * utilisation(1.0));
    // and never less speed
    assert!(3.0 * utilisation(3.0) > utilisation(1.0));
}

#[test]
fn tensor_parallel_pays_by_link_and_sharding_by_network() {
    let (one, c) = (query().seconds(&coefficients(), &MOE), coefficients());
    let mut q = query();
    q.split.tensor = 4.0;
    // 16 x 3 x 50,000 / 300e9 = 8 us
    near(q.seconds(&c, &MOE), one + 8e-6);
    let mut q = query();
    q.split.gpus = 64.0;
    q.split.shards = 64.0;
    // 6e9 bytes x 7/8 / 8 / 25e9 / 20,000 tokens
    near(
        q.seconds(&c, &MOE),
        one + 6e9 * 0.875 / 8.0 / 25e9 / 20_000.0,
    );
    let mut q = query();
    q.wiring.link = None;
    // over PCIe all of it is waited for: 6e9 x 7/8 / 8e9 / 20,000
    near(q.seconds(&c, &MOE), one + 6e9 * 0.875 / 8e9 / 20_000.0);
    // a bubble of 7 / (2 x 4)
    let mut q = query();
    q.split.pipeline = 8.0;
    q.split.interleave = 2.0;
    near(q.seconds(&c, &MOE), one * 1.875);
}

#[test]
fn a_mixture_pays_for_each_copy_of_its_tokens() {
    let mut q = query();
    q.shape.routed = 8.0;
    q.shape.params = 10e9;
    q.split.shards = 1.0;
    q.split.expert = 8.0;
    // elements: 400 x 50,000 x (1 + 2.8) / 2e12; exchange: 8 x 8 x 50,000 x 7/8 / 300e9
    let expected = 25e-6
        + 7.0e8 / 120e12
        + (400.0 * 50_000.0 * 3.8 + 1e6) / 2e12
        + 64.0 * 50_000.0 * 0.875 / 300e9;
    near(q.seconds(&coefficients(), &MOE), expected);
    assert_eq!(q.family(), "train_llm_moe");
    let inside = q.seconds(&coefficients(), &MOE);
    q.split.expert = 32.0;
    assert!(
        q.seconds(&coefficients(), &MOE) > inside,
        "experts beyond the link cost more"
    );
}

#[test]
fn narrower_products_are_faster_but_not_in_proportion() {
    let c = coefficients();
    let mut q = query();
    let half = q.seconds(&c, &MOE);
    q.gpu.matrix *= 2.0;
    q.gpu.format = Format::Fp8;
    let fp8 = q.seconds(&c, &MOE);
    assert!(fp8 < half && 2.0 * fp8 > half);
}
