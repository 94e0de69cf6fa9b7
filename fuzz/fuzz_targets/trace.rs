#![no_main]

use lessee_traces::{Format, Polarity, fuzz_read};
use libfuzzer_sys::fuzz_target;

// The first byte chooses the format (or none: recognised) and what the user said of a 1.
fuzz_target!(|bytes: &[u8]| {
    let Some((choice, rest)) = bytes.split_first() else {
        return;
    };
    let format = Format::ALL.get(usize::from(choice & 31)).copied();
    let polarity = match choice >> 5 {
        0 => Some(Polarity::Available),
        1 => Some(Polarity::Unavailable),
        _ => None,
    };
    if let Ok(read) = fuzz_read(format, polarity, rest) {
        assert!(!read.records.is_empty());
        for s in read.series() {
            assert!(s.at_s.windows(2).all(|w| w[0] < w[1]), "time goes back");
            assert!(s.up.iter().flatten().all(|n| *n <= s.asked), "more than asked for");
        }
    }
});
