//! Bytes that no store can squeeze, and names that nobody has.

use crate::ObjectError;
use bytes::Bytes;
use std::io::Read;

/// Bytes that no store can squeeze: by the kernel's seed, made on.
pub(super) fn bytes(len: usize) -> Result<Bytes, ObjectError> {
    let mut state = seed()?;
    let mut bytes = Vec::with_capacity(len);
    while bytes.len() < len {
        // splitmix64
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = state;
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        bytes.extend((word ^ word >> 31).to_le_bytes());
    }
    bytes.truncate(len);
    Ok(Bytes::from(bytes))
}

fn seed() -> Result<u64, ObjectError> {
    let mut bytes = [0; 8];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut f| f.read_exact(&mut bytes));
    read.map_err(|e| ObjectError::Client {
        detail: format!("/dev/urandom: {e}"),
    })?;
    Ok(u64::from_le_bytes(bytes))
}

pub(super) fn name() -> Result<String, ObjectError> {
    Ok(format!("{:016x}{:016x}", seed()?, seed()?))
}
