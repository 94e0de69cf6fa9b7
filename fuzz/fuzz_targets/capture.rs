#![no_main]

use lessee_probe_io::read::read;
use libfuzzer_sys::fuzz_target;

// Whatever is pasted is read, and the answer is a document.
fuzz_target!(|bytes: &[u8]| {
    let read = read(bytes);
    let json = serde_json::to_vec(&read).expect("a document");
    assert!(json.len() < (64 << 20), "a small capture became a large answer");
});
