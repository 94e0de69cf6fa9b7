//! Bytes of a file become text: size, kind and encoding are settled here, before any format is guessed.

use crate::CatalogError;
use std::io::Read;
use std::path::Path;

/// Larger inputs are refused: the largest public catalogue is a hundredth of this.
pub const MAX_INPUT: u64 = 512 * 1024 * 1024;

/// Decoded text, and what was assumed to decode it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub text: String,
    /// `UTF-8`, `UTF-16LE`, `UTF-16BE` or `GBK`.
    pub encoding: &'static str,
    /// No byte order mark said so: the encoding was inferred from the content.
    pub assumed: bool,
}

/// Reads a file that a user named.
///
/// # Errors
/// It is a directory, too large, not text (judged by its first bytes, so that a huge file of zeros is
/// refused at once), or cannot be read.
pub fn read_path(path: &Path) -> Result<Vec<u8>, CatalogError> {
    let name = path.display().to_string();
    let io = |source| CatalogError::Io {
        path: path.to_owned(),
        action: "read",
        source,
    };
    let meta = std::fs::metadata(path).map_err(io)?;
    if meta.is_dir() {
        return Err(CatalogError::Directory { file: name });
    }
    read_stream(std::fs::File::open(path).map_err(io)?, &name, path)
}

/// Reads standard input or an open file up to [`MAX_INPUT`].
///
/// # Errors
/// As [`read_path`].
pub fn read_stream(mut from: impl Read, name: &str, path: &Path) -> Result<Vec<u8>, CatalogError> {
    let io = |source| CatalogError::Io {
        path: path.to_owned(),
        action: "read",
        source,
    };
    let mut bytes = Vec::new();
    from.by_ref()
        .take(4096)
        .read_to_end(&mut bytes)
        .map_err(io)?;
    if let Some(problem) = not_text(&bytes, name) {
        return Err(problem);
    }
    from.take(MAX_INPUT + 1 - bytes.len() as u64)
        .read_to_end(&mut bytes)
        .map_err(io)?;
    Ok(bytes)
}

/// Decodes text of any of the encodings in which people keep quotes and catalogues.
///
/// # Errors
/// Empty, too large, packed (gzip, zip, zstd, PDF), binary, or in no known encoding.
pub fn read_input(bytes: &[u8], name: &str) -> Result<Text, CatalogError> {
    let file = || name.to_owned();
    if bytes.len() as u64 > MAX_INPUT {
        return Err(CatalogError::TooLarge {
            file: file(),
            size: bytes.len() as u64,
            limit: MAX_INPUT,
        });
    }
    if let Some(problem) = not_text(&bytes[..bytes.len().min(4096)], name) {
        return Err(problem);
    }
    let decoded = decode(bytes).ok_or_else(|| CatalogError::Encoding {
        file: file(),
        line: first_bad_line(bytes),
    })?;
    if let Some(offset) = decoded.text.find('\0') {
        return Err(CatalogError::NotText {
            file: file(),
            offset: offset as u64,
        });
    }
    if decoded.text.trim().is_empty() {
        return Err(CatalogError::Empty { file: file() });
    }
    Ok(decoded)
}

fn not_text(head: &[u8], name: &str) -> Option<CatalogError> {
    let file = name.to_owned();
    for (magic, kind) in [
        (&b"\x1f\x8b"[..], "gzip"),
        (b"PK\x03\x04", "zip"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"%PDF", "pdf"),
    ] {
        if head.starts_with(magic) {
            return Some(CatalogError::Packed { file, kind });
        }
    }
    let nul = head.iter().position(|b| *b == 0)?;
    (!head.starts_with(b"\xff\xfe") && !head.starts_with(b"\xfe\xff") && utf16(head).is_none())
        .then_some(CatalogError::NotText {
            file,
            offset: nul as u64,
        })
}

/// UTF-16 without a mark shows NUL bytes on one side only: at odd offsets for little endian.
fn utf16(head: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let zeros = |offset: usize| {
        head.iter()
            .skip(offset)
            .step_by(2)
            .filter(|b| **b == 0)
            .count()
    };
    let (even, odd) = (zeros(0), zeros(1));
    let many = head.len() / 8;
    if odd > many && even == 0 {
        Some(encoding_rs::UTF_16LE)
    } else if even > many && odd == 0 {
        Some(encoding_rs::UTF_16BE)
    } else {
        None
    }
}

fn decode(bytes: &[u8]) -> Option<Text> {
    if let Some((encoding, skip)) = encoding_rs::Encoding::for_bom(bytes) {
        let text = encoding.decode_without_bom_handling_and_without_replacement(&bytes[skip..])?;
        return Some(Text {
            text: text.into_owned(),
            encoding: encoding.name(),
            assumed: false,
        });
    }
    if let Some(encoding) = utf16(&bytes[..bytes.len().min(4096)]) {
        let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
        return Some(Text {
            text: text.into_owned(),
            encoding: encoding.name(),
            assumed: true,
        });
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(Text {
            text: text.to_owned(),
            encoding: "UTF-8",
            assumed: false,
        });
    }
    let text = encoding_rs::GB18030.decode_without_bom_handling_and_without_replacement(bytes)?;
    looks_chinese(&text).then(|| Text {
        text: text.into_owned(),
        encoding: "GBK",
        assumed: true,
    })
}

/// Almost any bytes decode as GB18030, so evidence is needed: words of a price list, and hardly anything
/// beyond ASCII that is not a hanzi, full-width form or common symbol.
fn looks_chinese(text: &str) -> bool {
    const WORDS: &[char] = &[
        '元', '卡', '时', '月', '台', '价', '税', '年', '配', '型', '号', '机', '区', '供', '显',
        '存', '租', '包', '云', '算', '数', '量',
    ];
    let (mut hanzi, mut other) = (0u32, 0u32);
    for c in text.chars().filter(|c| !c.is_ascii()) {
        match c {
            '\u{4e00}'..='\u{9fff}'
            | '\u{3000}'..='\u{303f}'
            | '\u{ff00}'..='\u{ffef}'
            | '\u{2010}'..='\u{2027}'
            | '×'
            | '¥'
            | '℃'
            | '①'..='⑳' => hanzi += 1,
            _ => other += 1,
        }
    }
    hanzi > 0 && other * 20 <= hanzi && text.contains(WORDS)
}

fn first_bad_line(bytes: &[u8]) -> u64 {
    let good = std::str::from_utf8(bytes).map_or_else(|e| e.valid_up_to(), |_| bytes.len());
    1 + bytes[..good].iter().filter(|b| **b == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_that_people_use() {
        let text = "型号,价格\n8卡 H100,76000元/台/月\n";
        let gbk = encoding_rs::GBK.encode(text).0;
        let read = read_input(&gbk, "q.csv").expect("GBK");
        assert_eq!(
            (read.text.as_str(), read.encoding, read.assumed),
            (text, "GBK", true)
        );
        let utf16: Vec<u8> = std::iter::once(0xfeff)
            .chain(text.encode_utf16())
            .flat_map(u16::to_be_bytes)
            .collect();
        let read = read_input(&utf16, "q.csv").expect("UTF-16");
        assert_eq!(
            (read.text.as_str(), read.encoding, read.assumed),
            (text, "UTF-16BE", false)
        );
        let plain: Vec<u8> = "gpu,price\nH100,2.50\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(
            read_input(&plain, "q.csv").expect("UTF-16").encoding,
            "UTF-16LE"
        );
        let bom = read_input("\u{feff}gpu,price\n".as_bytes(), "q.csv").expect("BOM");
        assert_eq!(bom.text, "gpu,price\n");
    }

    #[test]
    fn what_is_not_text_is_refused_with_its_reason() {
        assert!(matches!(
            read_input(b"", "f"),
            Err(CatalogError::Empty { .. })
        ));
        assert!(matches!(
            read_input(b" \n\t\n", "f"),
            Err(CatalogError::Empty { .. })
        ));
        assert!(matches!(
            read_input(&[0; 100_000], "f"),
            Err(CatalogError::NotText { offset: 0, .. })
        ));
        assert!(matches!(
            read_input(b"\x1f\x8b\x08\x00", "f"),
            Err(CatalogError::Packed { kind: "gzip", .. })
        ));
        // Latin-1 is not GBK although its bytes decode
        assert!(matches!(
            read_input(b"gpu,prix\nH100,d\xe9j\xe0 vendu\n", "f"),
            Err(CatalogError::Encoding { line: 2, .. })
        ));
        let late = [&[b'a'; 5000][..], &[0]].concat();
        assert!(matches!(
            read_input(&late, "f"),
            Err(CatalogError::NotText { .. })
        ));
    }

    #[test]
    fn a_stream_of_zeros_is_refused_after_its_first_bytes() {
        struct Zeros(u64);
        impl Read for Zeros {
            fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
                buf.fill(0);
                self.0 += buf.len() as u64;
                Ok(buf.len())
            }
        }
        let mut zeros = Zeros(0);
        assert!(matches!(
            read_stream(&mut zeros, "f", Path::new("f")),
            Err(CatalogError::NotText { .. })
        ));
        assert!(zeros.0 <= 65_536, "{}", zeros.0);
        assert!(matches!(
            read_path(Path::new("/")),
            Err(CatalogError::Directory { .. })
        ));
    }
}
