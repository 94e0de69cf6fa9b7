#![no_main]

use lessee_catalog::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| lessee_fuzz::import(Format::GpuHunt, bytes));
