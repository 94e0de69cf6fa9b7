#![no_main]

use lessee_probe_io::{curve_rules, decoded, watch};
use lessee_supervise::curve;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static RULES: LazyLock<curve::Rules> = LazyLock::new(|| curve_rules().expect("built in"));

// A log becomes series, and each series a reading whose spans lie in order.
fuzz_target!(|bytes: &[u8]| {
    let text = decoded(bytes);
    let Ok(log) = watch::read("log", &text, &watch::Options::default()) else {
        return;
    };
    for reading in curve::read(&log.series, &RULES) {
        for span in &reading.spans {
            assert!(span.from_s <= span.to_s, "{span:?}");
        }
    }
});
