//! No text makes a reader panic or take long.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use lessee_probe_io::watch::{self, Options};
use lessee_supervise::curve::{self, Rules};
use proptest::prelude::*;
use std::time::Instant;

fn rules() -> Rules {
    Rules::from_toml(include_str!("../../../data/curve.toml")).unwrap()
}

const HEADS: [&str; 8] = [
    "# gpu    pwr     sm    mem\n# Idx      W      %      %\n",
    "#Date Time gpu sm\n",
    "# gpu pid type sm mem command\n",
    "#Entity GPUTL POWER\n",
    "timestamp, utilization.gpu [%], power.draw [W]\n",
    "t_s,gpu,util_gpu_pct,power_w\n",
    "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 3\n",
    "{\"data\":{\"result\":[",
];

fn line() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "0",
        "1",
        "-",
        "97",
        "nan",
        "inf",
        "-5",
        "1e308",
        "[N/A]",
        "GPU",
        "0x4",
        "20240908",
        "23:59:59",
        "99999999999",
        "2024/09/08 14:51:04.123",
        "97 %",
        "{",
        "}",
        "\"",
        "\\",
        "=",
        "DCGM_FI_DEV_GPU_UTIL",
        "gpu=\"1\"",
        "é",
        "\u{0}",
    ]);
    let separator = prop::sample::select(vec![" ", ",", ", ", "\t", ""]);
    (prop::collection::vec(word, 0..8), separator).prop_map(|(words, by)| words.join(by))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn nearly_right(head in 0..HEADS.len(), lines in prop::collection::vec(line(), 0..40)) {
        let text = HEADS[head].to_owned() + &lines.join("\n");
        if let Ok(r) = watch::read("f", &text, &Options::default()) {
            std::hint::black_box(curve::read(&r.series, &rules()));
        }
    }

    #[test]
    fn any_text(text in "\\PC{0,400}") {
        let _ = watch::read("f", &text, &Options::default());
    }

    #[test]
    fn cut_anywhere(head in 0..HEADS.len(), at in 0.0..1.0_f64) {
        let text = HEADS[head].repeat(3);
        let mut at = (text.len() as f64 * at) as usize;
        while !text.is_char_boundary(at) { at -= 1; }
        let _ = watch::read("f", &text[..at], &Options::default());
    }
}

#[test]
fn ten_megabytes() {
    let dmon = HEADS[0].to_owned() + &"    0    109     97      2\n".repeat(370_000);
    let gpus: String = (0..250_000)
        .map(|i| format!("{i},{},97,300\n", i % 100_000))
        .collect();
    let many = HEADS[5].to_owned() + &gpus;
    let metrics = "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 3\n".repeat(300_000);
    let deep = "[".repeat(10_000_000);
    let wide = "t_s,util_gpu_pct".to_owned() + &",x".repeat(5_000_000);
    let blanks = " ".repeat(10_000_000);
    for text in [dmon, many, metrics, deep, wide, blanks] {
        let t = Instant::now();
        if let Ok(r) = watch::read("f", &text, &Options::default()) {
            std::hint::black_box(curve::read(&r.series, &rules()));
        }
        println!("{} s", t.elapsed().as_secs_f64());
        // without optimisation, on a shared machine
        assert!(
            t.elapsed().as_secs_f64() < 20.0,
            "{} s: {}",
            t.elapsed().as_secs_f64(),
            &text[..40]
        );
    }
}
