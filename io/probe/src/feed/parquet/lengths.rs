//! Lengths as differences in packed bits, then all bytes together: `DELTA_LENGTH_BYTE_ARRAY`.
//! <https://parquet.apache.org/docs/file-format/data-pages/encodings/>

use super::page::{Place, VALUES_MAX};

struct Bits<'a> {
    rest: &'a [u8],
}

impl Bits<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }
}

pub(super) fn places(bytes: &[u8], at: usize, count: usize) -> Result<Vec<Place>, String> {
    const SHORT: &str = "lengths cut off";
    let mut bits = Bits {
        rest: bytes.get(at..).ok_or(SHORT)?,
    };
    let (block, parts) = (bits.varint().ok_or(SHORT)?, bits.varint().ok_or(SHORT)?);
    let total = bits.varint().ok_or(SHORT)?;
    let mut last = bits.zigzag().ok_or(SHORT)?;
    let each = block.checked_div(parts).unwrap_or(0);
    if block > 1 << 20 || each == 0 || each % 8 != 0 {
        return Err(format!("lengths in blocks of {block} by {parts}"));
    }
    if total < count as u64 || total > VALUES_MAX as u64 {
        return Err(format!("{total} lengths for {count} values"));
    }
    let total = total as usize;
    let mut all = Vec::new();
    if total > 0 {
        all.push(last);
    }
    while all.len() < total {
        let least = bits.zigzag().ok_or(SHORT)?;
        let widths = bits.rest.get(..parts as usize).ok_or(SHORT)?.to_vec();
        bits.rest = &bits.rest[parts as usize..];
        for width in widths {
            if all.len() >= total {
                break;
            }
            if width > 64 {
                return Err("lengths too wide".to_owned());
            }
            let len = each as usize * usize::from(width) / 8;
            let packed = bits.rest.get(..len).ok_or(SHORT)?;
            bits.rest = &bits.rest[len..];
            for i in 0..each as usize {
                if all.len() >= total {
                    break;
                }
                let delta = least.wrapping_add(unpacked(packed, i, u32::from(width)) as i64);
                last = last.wrapping_add(delta);
                all.push(last);
            }
        }
    }
    let mut at = bytes.len() - bits.rest.len();
    let one = |len: i64| {
        let len = u32::try_from(len).map_err(|_| "a length that is none")?;
        let start = at;
        at += len as usize;
        if at > bytes.len() {
            return Err("values that do not fit into their page".to_owned());
        }
        let at = u32::try_from(start).map_err(|_| "a page too large")?;
        Ok(Place::Bytes { at, len })
    };
    all.into_iter().take(count).map(one).collect()
}

/// The number of `width` bits at a place.
fn unpacked(packed: &[u8], at: usize, width: u32) -> u64 {
    let first = at * width as usize;
    let bit = |i: usize| u64::from(packed.get(i / 8).copied().unwrap_or(0) >> (i % 8) & 1);
    (0..width as usize).fold(0, |n, i| n | bit(first + i) << i)
}
