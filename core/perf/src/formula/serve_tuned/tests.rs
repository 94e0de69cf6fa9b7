use super::*;

/// 8e9 parameters, 32 layers, grouped attention as in the 8B models of 2024.
pub(crate) fn network() -> Network {
    Network {
        dense_params: 8e9,
        expert_params: 0.0,
        expert_share: 1.0,
        layers: 32.0,
        hidden: 4096.0,
        kv_values: 65_536.0,
        kv_heads: 8.0,
        group: 4.0,
        attention_flops: 524_288.0,
    }
}

pub(crate) fn replica(gpus: f64) -> Replica {
    Replica {
        network: network(),
        chip: Chip {
            bandwidth: 2e12,
            flops: 250e12,
            flops_16: 250e12,
            memory: 80e9,
            link: 300e9,
        },
        gpus,
        attention_parallel: false,
        width: Width::Sixteen,
        weight_bytes: 2.0,
        kv_bytes: 2.0,
    }
}

fn pace() -> Pace {
    Pace {
        bandwidth: 0.8,
        weight_bandwidth: 0.8,
        decode_mfu: 0.5,
        prefill_mfu: 0.5,
        attention_mfu: 0.5,
        layer_s: 50e-6,
        all_reduce_s: 5e-6,
        link: 0.5,
        group_power: 0.0,
    }
}

#[test]
fn a_step_by_hand() {
    // weights 16e9 / 1.6e12 = 10 ms; products 2 x 8e9 x 10 / 125e12 = 1.28 ms; attention 10 x 1000 x 131072 /
    // 1.6e12 = 0.8192 ms; layers 1.6 ms
    let by_hand = (10e-3_f64.powi(2) + 1.28e-3_f64.powi(2)).sqrt() + 0.8192e-3 + 1.6e-3;
    let step = replica(1.0).step(10.0, 1000.0, &pace());
    assert!((step / by_hand - 1.0).abs() < 1e-9, "{step} {by_hand}");
}

#[test]
fn a_prompt_by_hand() {
    // products 1000 x 16e9 / 125e12 = 128 ms; attention 5e5 x 524288 / 125e12 = 2.097 ms
    let by_hand = 0.128 + 5e5 * 524_288.0 / 125e12;
    let prompt = replica(1.0).prompt(1000.0, &pace());
    assert!((prompt / by_hand - 1.0).abs() < 1e-9, "{prompt} {by_hand}");
}

#[test]
fn more_work_takes_longer_and_more_gpus_less() {
    let p = pace();
    let one = replica(1.0);
    assert!(one.step(20.0, 1000.0, &p) > one.step(10.0, 1000.0, &p));
    assert!(one.step(10.0, 2000.0, &p) > one.step(10.0, 1000.0, &p));
    assert!(replica(2.0).step(10.0, 1000.0, &p) < one.step(10.0, 1000.0, &p));
    assert!(replica(2.0).prompt(1000.0, &p) < one.prompt(1000.0, &p));
    let slow_link = Replica {
        chip: Chip {
            link: 10e9,
            ..replica(2.0).chip
        },
        ..replica(2.0)
    };
    assert!(slow_link.prompt(1000.0, &p) > replica(2.0).prompt(1000.0, &p));
}

#[test]
fn a_small_batch_touches_few_experts() {
    let mixture = Replica {
        network: Network {
            dense_params: 1e9,
            expert_params: 7e9,
            expert_share: 1.0 / 16.0,
            ..network()
        },
        ..replica(1.0)
    };
    let p = pace();
    let dense = replica(1.0).step(1.0, 100.0, &p);
    assert!(mixture.step(1.0, 100.0, &p) < 0.4 * dense);
    let (many, all) = (
        mixture.step(500.0, 100.0, &p),
        replica(1.0).step(500.0, 100.0, &p),
    );
    assert!(many < all, "fewer operations, the same weights");
    assert!((mixture.network.params() - 8e9).abs() < 1.0);
}

#[test]
fn memory_bounds_the_batch() {
    // room 0.9 x 80e9 - 16e9 = 56e9; a request of 1000 tokens keeps 131.072e6 bytes
    let fits = replica(1.0).batch_that_fits(1000.0, 0.9);
    assert!((fits - 56e9 / 131.072e6).abs() < 1e-6);
    let latent = Replica {
        network: Network {
            kv_heads: 1.0,
            group: 1.0,
            ..network()
        },
        ..replica(4.0)
    };
    let spread = Replica {
        attention_parallel: true,
        ..latent
    };
    let ratio = spread.batch_that_fits(1000.0, 0.9) / latent.batch_that_fits(1000.0, 0.9);
    assert!(
        (ratio - 4.0).abs() < 1e-9,
        "every GPU keeps a copy unless attention is parallel"
    );
    let huge = Replica {
        weight_bytes: 100.0,
        ..replica(1.0)
    };
    assert_eq!(huge.batch_that_fits(1000.0, 0.9), 1.0);
}
