//! Pages as they were before they were compressed. What a page claims to become is held against what its bytes can become
//! before anything of that size is allocated.

use std::io::Read;

/// `CompressionCodec` of the format.
const UNCOMPRESSED: i64 = 0;
const SNAPPY: i64 = 1;
const GZIP: i64 = 2;
const ZSTD: i64 = 6;
const LZ4_RAW: i64 = 7;

/// The most that a byte can become: a copy of 64 bytes takes three in Snappy; LZ4 adds 255 by one.
const SNAPPY_RATIO: usize = 22;
const LZ4_RATIO: usize = 256;

/// Whether pages of this codec are read here.
///
/// # Errors
/// They are not: with its name.
pub(super) fn known(codec: i64) -> Result<(), String> {
    match codec {
        UNCOMPRESSED | SNAPPY | GZIP | ZSTD | LZ4_RAW => Ok(()),
        other => Err(format!(
            "compressed by {}, which is not read here",
            name(other)
        )),
    }
}

/// Appends the page to `out`, exactly `size` bytes.
///
/// # Errors
/// It does not become that, or by a way that is not known here.
pub(super) fn unpack(
    codec: i64,
    packed: &[u8],
    size: usize,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let start = out.len();
    match codec {
        UNCOMPRESSED => out.extend_from_slice(packed),
        SNAPPY => {
            plausible(packed, size, SNAPPY_RATIO)?;
            out.resize(start + size, 0);
            let mut decoder = snap::raw::Decoder::new();
            let made = decoder.decompress(packed, &mut out[start..]);
            let made = made.map_err(|e| format!("Snappy: {e}"))?;
            out.truncate(start + made);
        }
        LZ4_RAW => {
            plausible(packed, size, LZ4_RATIO)?;
            out.resize(start + size, 0);
            let made = lz4_flex::block::decompress_into(packed, &mut out[start..]);
            let made = made.map_err(|e| format!("LZ4: {e}"))?;
            out.truncate(start + made);
        }
        GZIP => {
            let decoder = flate2::read::MultiGzDecoder::new(packed);
            bounded(decoder, size, out).map_err(|e| format!("gzip: {e}"))?;
        }
        ZSTD => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(packed);
            let decoder = decoder.map_err(|e| format!("Zstandard: {e}"))?;
            bounded(decoder, size, out).map_err(|e| format!("Zstandard: {e}"))?;
        }
        other => known(other)?,
    }
    match out.len() - start == size {
        true => Ok(()),
        false => Err(format!(
            "a page of {} bytes that claims {size}",
            out.len() - start
        )),
    }
}

fn plausible(packed: &[u8], size: usize, ratio: usize) -> Result<(), String> {
    match size <= packed.len().saturating_mul(ratio) {
        true => Ok(()),
        false => Err(format!("{} bytes cannot become {size}", packed.len())),
    }
}

/// Grows with what really comes, one byte beyond the size at most.
fn bounded(decoder: impl Read, size: usize, out: &mut Vec<u8>) -> std::io::Result<()> {
    decoder.take(size as u64 + 1).read_to_end(out).map(drop)
}

fn name(codec: i64) -> String {
    match codec {
        3 => "LZO".to_owned(),
        4 => "Brotli".to_owned(),
        5 => "the old LZ4".to_owned(),
        other => format!("codec {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_exact_or_an_error_and_claims_allocate_nothing() {
        let text = [b"abcabcabc".repeat(50), (0..=255).collect()].concat();
        let snappy = snap::raw::Encoder::new().compress_vec(&text).unwrap();
        let lz4 = lz4_flex::block::compress(&text);
        let mut gzip = flate2::read::GzEncoder::new(&text[..], flate2::Compression::fast());
        let mut gzipped = Vec::new();
        gzip.read_to_end(&mut gzipped).unwrap();
        let zstd = ruzstd::encoding::compress_to_vec(
            &text[..],
            ruzstd::encoding::CompressionLevel::Fastest,
        );
        for (codec, packed) in [
            (0, text.clone()),
            (1, snappy),
            (2, gzipped),
            (6, zstd),
            (7, lz4),
        ] {
            let mut out = b"before".to_vec();
            unpack(codec, &packed, text.len(), &mut out).unwrap();
            assert_eq!(out[6..], text, "{codec}");
            for size in [0, 1, text.len() - 1, text.len() + 1, 1 << 40] {
                let mut out = Vec::new();
                assert!(
                    unpack(codec, &packed, size, &mut out).is_err(),
                    "{codec} {size}"
                );
                assert!(out.capacity() < 1 << 20);
            }
            for cut in 0..packed.len() {
                let mut out = Vec::new();
                assert!(unpack(codec, &packed[..cut], text.len(), &mut out).is_err());
            }
        }
        assert!(unpack(4, b"", 0, &mut Vec::new()).is_err());
    }
}
