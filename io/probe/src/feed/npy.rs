//! NumPy's `.npy`: header and numbers, as 32-bit floats. Versions 1 to 3, both byte orders, integers, booleans and floats of
//! 2, 4 and 8 bytes. Not: pickled objects, strings, structures, complex numbers, `.npz`.

/// Headers are a hundred bytes; NumPy itself refuses more than this without a flag.
const HEADER_MAX: usize = 10_000;

/// The numbers, little endian, one after the other, in the order of the file.
pub(super) fn floats(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    let (header, data) = split(bytes)?;
    let kind = field(header, "descr").ok_or("no `descr` in the NumPy header")?;
    let kind = kind.trim_matches(|c| c == '\'' || c == '"');
    let shape = field(header, "shape").ok_or("no `shape` in the NumPy header")?;
    let count = shape
        .trim_matches(['(', ')'])
        .split(',')
        .map(str::trim)
        .filter(|d| !d.is_empty())
        .try_fold(1usize, |n, d| n.checked_mul(d.parse().ok()?))
        .ok_or_else(|| format!("shape {shape}"))?;
    let (order, code) = kind.split_at_checked(1).unwrap_or((kind, ""));
    let (big, code) = match order {
        "<" | "|" | "=" => (false, code),
        ">" => (true, code),
        _ => (false, kind),
    };
    let width: usize = match code {
        "f2" | "i2" | "u2" => 2,
        "f4" | "i4" | "u4" => 4,
        "f8" | "i8" | "u8" => 8,
        "i1" | "u1" | "b1" => 1,
        _ => return Err(format!("numbers of type `{kind}` are not read")),
    };
    if count.checked_mul(width) != Some(data.len()) {
        return Err(format!(
            "shape {shape} of `{kind}` does not fit {} bytes of data",
            data.len()
        ));
    }
    out.clear();
    out.reserve(count * 4);
    for chunk in data.chunks_exact(width) {
        let mut raw = [0u8; 8];
        raw[..width].copy_from_slice(chunk);
        if big {
            raw[..width].reverse();
        }
        out.extend_from_slice(&number(code, raw).to_le_bytes());
    }
    Ok(())
}

/// A number from its little-endian bytes.
fn number(code: &str, raw: [u8; 8]) -> f32 {
    let [a, b, c, d, ..] = raw;
    match code {
        "f4" => f32::from_le_bytes([a, b, c, d]),
        "f8" => f64::from_le_bytes(raw) as f32,
        "f2" => half(u16::from_le_bytes([a, b])),
        "i1" => f32::from(a as i8),
        "i2" => f32::from(i16::from_le_bytes([a, b])),
        "u2" => f32::from(u16::from_le_bytes([a, b])),
        "i4" => i32::from_le_bytes([a, b, c, d]) as f32,
        "u4" => u32::from_le_bytes([a, b, c, d]) as f32,
        "i8" => i64::from_le_bytes(raw) as f32,
        "u8" => u64::from_le_bytes(raw) as f32,
        _ => f32::from(a),
    }
}

fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    let fraction = f32::from(bits & 0x3ff);
    match (bits >> 10) & 0x1f {
        0 => sign * fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        e => sign * (1.0 + fraction / 1024.0) * 2f32.powi(i32::from(e) - 15),
    }
}

/// Header text and data.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), String> {
    let cut = || "cut off in the NumPy header".to_owned();
    let (start, len) = match *bytes.get(6).ok_or_else(cut)? {
        1 => match bytes.get(8..10) {
            Some(&[a, b]) => (10, usize::from(u16::from_le_bytes([a, b]))),
            _ => return Err(cut()),
        },
        2 | 3 => match bytes.get(8..12) {
            Some(&[a, b, c, d]) => (12, u32::from_le_bytes([a, b, c, d]) as usize),
            _ => return Err(cut()),
        },
        version => return Err(format!("NumPy format version {version}")),
    };
    if len > HEADER_MAX {
        return Err(format!("a NumPy header of {len} bytes"));
    }
    let header = bytes.get(start..start + len).ok_or_else(cut)?;
    let header = std::str::from_utf8(header).map_err(|_| "NumPy header is not text")?;
    Ok((header, &bytes[start + len..]))
}

/// The value of a key of the header's Python dictionary: up to the next comma outside brackets.
fn field<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let after = &header[header.find(&format!("'{key}'"))? + key.len() + 2..];
    let value = after.trim_start().strip_prefix(':')?.trim_start();
    let mut depth = 0i32;
    let end = value.find(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        (c == ',' && depth == 0) || c == '}'
    })?;
    Some(value[..end].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend_from_slice(&(header.len() as u16).to_le_bytes());
        out.extend_from_slice(header.as_bytes());
        out.extend_from_slice(data);
        out
    }

    fn read(bytes: &[u8]) -> Result<Vec<f32>, String> {
        let mut out = Vec::new();
        floats(bytes, &mut out)?;
        let word = |c: &[u8]| f32::from_le_bytes([c[0], c[1], c[2], c[3]]);
        Ok(out.chunks_exact(4).map(word).collect())
    }

    #[test]
    fn numbers_of_every_width_and_order() {
        assert_eq!(read(&npy("|u1", "(2, 1)", &[3, 250])), Ok(vec![3.0, 250.0]));
        assert_eq!(read(&npy(">i2", "(1,)", &[0xff, 0xfe])), Ok(vec![-2.0]));
        assert_eq!(
            read(&npy("<f2", "(2,)", &[0, 0x3c, 0, 0xc0])),
            Ok(vec![1.0, -2.0])
        );
        assert_eq!(
            read(&npy("<f8", "()", &1.5f64.to_le_bytes())),
            Ok(vec![1.5])
        );
    }

    #[test]
    fn what_does_not_fit_is_refused_with_a_reason() {
        for bad in [
            npy("|O", "(1,)", b"pickle.."),
            npy("<f4", "(2,)", &[0; 4]),
            npy("<f8", "(99999999999, 99999999999)", &[]),
            npy("<f4", "(-1,)", &[]),
            npy("", "(1,)", &[]),
            b"\x93NUMPY".to_vec(),
            b"\x93NUMPY\x01\x00\xff\xff".to_vec(),
            b"\x93NUMPY\x09\x00\x00\x00".to_vec(),
        ] {
            assert!(read(&bad).is_err(), "{bad:?}");
        }
    }
}
