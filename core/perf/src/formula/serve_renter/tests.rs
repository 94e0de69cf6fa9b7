use super::super::serve_tuned::tests::replica;
use super::*;

fn coefficients() -> Coefficients {
    Coefficients {
        bandwidth_share: 0.8,
        older_bandwidth: 0.9,
        four_bit_bandwidth: 0.75,
        mfu: 0.6,
        mfu_eight_bit: 0.7,
        mfu_four_bit: 0.6,
        tflops_per_watt: 1.0,
        board_watt: 40.0,
        watt_worth: [("Ada".to_owned(), 1.0), ("other".to_owned(), 1.0)].into(),
        attention: 10.0,
        step_ms: 1.5,
        sequence_us: 50.0,
        reduce_us_linked: 6.0,
        reduce_us_pcie: 25.0,
        link_share: 0.6,
        pcie_share: 0.3,
    }
}

fn board() -> Board {
    Board {
        arch: "Ada".into(),
        watt: None,
        older: false,
        newer_attention: true,
        linked: true,
    }
}

fn query(concurrency: f64) -> Query {
    Query {
        asked: Asked::Throughput,
        replica: replica(1.0),
        board: board(),
        room: 40e9,
        concurrency,
        prompt: 256.0,
        output: 128.0,
    }
}

#[test]
fn a_step_by_hand() {
    // 8e9 parameters of 2 bytes on 2 TB/s and 250 TFLOP/s: weights 16e9 / 1.6e12 = 10 ms; cache 64 x 320 x 131072 /
    // 2e12 = 1.342 ms; F = 150 TFLOP/s: products 2 x 8e9 x 64 / F = 6.827 ms; prompt 256 x 16e9 / F + 256^2/2 x
    // 524288 / F = 27.31 + 0.1145 = 27.42 ms, half a prompt a step; fixed 1.5 ms; host 3.2 ms
    let q = query(64.0);
    let (batch, step) = q.step(&coefficients(), |b| b);
    assert_eq!(batch, 64.0);
    let engine = 11.342_f64.hypot(6.827) + 13.71 + 1.5;
    let by_hand = (engine.powi(3) + 3.2_f64.powi(3)).cbrt() * 1e-3;
    assert!(
        (step.total / by_hand - 1.0).abs() < 1e-3,
        "{} {by_hand}",
        step.total
    );
    assert!((q.throughput(&coefficients()) * by_hand / 64.0 - 1.0).abs() < 1e-3);
}

#[test]
fn more_requests_bring_more_until_memory_is_full() {
    let c = coefficients();
    let speed = |n| query(n).throughput(&c);
    assert!(speed(16.0) > speed(1.0) && speed(64.0) > speed(16.0));
    let tight = |n| {
        Query {
            room: 2e9,
            ..query(n)
        }
        .throughput(&c)
    };
    assert_eq!(tight(64.0), tight(640.0));
    assert!(tight(64.0) < speed(64.0));
}

#[test]
fn watts_hold_back_matrix_products_and_generations_make_more_of_them() {
    let c = coefficients();
    let with = |watt| {
        Query {
            board: Board { watt, ..board() },
            ..query(64.0)
        }
        .throughput(&c)
    };
    assert!(with(Some(72.0)) < 0.6 * with(None));
    assert!(with(Some(72.0)) < with(Some(300.0)) && with(Some(300.0)) <= with(None));
    let mut newer = coefficients();
    newer.watt_worth.insert("Ada".to_owned(), 2.0);
    let q = Query {
        board: Board {
            watt: Some(72.0),
            ..board()
        },
        ..query(64.0)
    };
    assert!(q.throughput(&newer) > q.throughput(&c));
}

#[test]
fn narrow_weights_help_most_where_few_requests_wait() {
    let c = coefficients();
    let narrow = |n: f64| {
        let replica = Replica {
            width: Width::Eight,
            weight_bytes: 1.0,
            ..replica(1.0)
        };
        let replica = Replica {
            chip: super::super::serve_tuned::Chip {
                flops: 500e12,
                ..replica.chip
            },
            ..replica
        };
        Query {
            replica,
            ..query(n)
        }
        .throughput(&c)
            / query(n).throughput(&c)
    };
    assert!(
        narrow(1.0) > 1.5 && narrow(64.0) > 1.2,
        "{} {}",
        narrow(1.0),
        narrow(64.0)
    );
    assert!(narrow(1.0) < 2.0);
}

#[test]
fn pcie_is_slower_than_a_link_and_old_kernels_than_new_ones() {
    let c = coefficients();
    let two = |linked, link| {
        let mut r = replica(2.0);
        r.chip.link = link;
        Query {
            replica: r,
            board: Board { linked, ..board() },
            ..query(64.0)
        }
    };
    let (fast, slow) = (two(true, 300e9), two(false, 30e9));
    assert!(fast.throughput(&c) > slow.throughput(&c));
    assert_eq!((fast.class(), slow.class()), ("linked", "pcie"));
    let long = |newer_attention| {
        Query {
            board: Board {
                newer_attention,
                ..board()
            },
            prompt: 4096.0,
            ..query(16.0)
        }
        .throughput(&c)
    };
    assert!(long(true) > long(false));
}

#[test]
fn one_request_waits_for_nobody_and_a_queue_for_everybody() {
    let c = coefficients();
    let first = FirstCoefficients {
        first_ms: 10.0,
        prompt: 1.0,
        token_us: 10.0,
        waiting: 2.0,
    };
    let alone = query(1.0);
    let links = c.links(true, 1e9);
    let prompt = c.prompt(&alone.replica, &alone.board, links, 256.0);
    let worked = prompt.hypot(alone.token_time(&c)).hypot(2.56e-3);
    assert!((alone.first_token(&c, &first) - 0.010 - worked).abs() < 1e-9);
    let queued = Query {
        room: 2e9,
        ..query(640.0)
    };
    assert!(queued.first_token(&c, &first) > 10.0 * query(64.0).first_token(&c, &first));
    // alone, a step has no foreign prompts in it
    let by_hand = (10e-3 + 320.0 * 131_072.0 / 2e12_f64).hypot(16e9 / 150e12) + 1.5e-3;
    assert!((alone.token_time(&c) / by_hand - 1.0).abs() < 1e-3);
}

#[test]
fn small_models_have_their_own_family() {
    let mut q = query(8.0);
    assert_eq!(q.family(), "serve_renter");
    q.replica.network.dense_params = 0.5e9;
    assert_eq!(q.family(), "serve_small_renter");
    assert_eq!(
        Query {
            asked: Asked::Ttft,
            ..q
        }
        .family(),
        "ttft_renter"
    );
}
