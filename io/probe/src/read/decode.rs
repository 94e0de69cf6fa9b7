//! Bytes to text: what terminals, Windows shells and web forms do to a capture is undone here, once for all kinds.

use std::borrow::Cow;

/// Text of a capture. UTF-8, or UTF-16 as PowerShell writes it; escape sequences and control characters go, a
/// carriage return ends a line as a line feed does, blanks of any sort are spaces. Bytes that are not text become
/// `?`, one byte each, so that the result is never longer than 1.5 times the input.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    if let Some(units) = utf16(bytes) {
        let chars = char::decode_utf16(units).map(|c| c.unwrap_or('?'));
        return Cow::Owned(clean(chars, bytes.len() / 2));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) if is_clean(text) => Cow::Borrowed(text),
        Ok(text) => Cow::Owned(clean(text.chars(), text.len())),
        Err(_) => {
            let chars = bytes.utf8_chunks().flat_map(|chunk| {
                let bad = (!chunk.invalid().is_empty()).then_some('?');
                chunk.valid().chars().chain(bad)
            });
            Cow::Owned(clean(chars, bytes.len()))
        }
    }
}

/// The code units, where the input is UTF-16: by its mark, or because every second byte of its start is zero.
fn utf16(bytes: &[u8]) -> Option<Box<dyn Iterator<Item = u16> + '_>> {
    let little =
        |rest| Box::new(units(rest).map(u16::from_le_bytes)) as Box<dyn Iterator<Item = u16>>;
    let big = |rest| Box::new(units(rest).map(u16::from_be_bytes)) as Box<dyn Iterator<Item = u16>>;
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return Some(little(rest));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return Some(big(rest));
    }
    let start = &bytes[..bytes.len().min(256)];
    let zeros = |from: usize| {
        let all = start.iter().skip(from).step_by(2);
        let zero = all.clone().filter(|b| **b == 0).count();
        start.len() >= 8 && zero * 10 >= all.len() * 9
    };
    match (zeros(0), zeros(1)) {
        (false, true) => Some(little(bytes)),
        (true, false) => Some(big(bytes)),
        _ => None,
    }
}

fn units(bytes: &[u8]) -> impl Iterator<Item = [u8; 2]> + '_ {
    bytes.chunks_exact(2).map(|pair| [pair[0], pair[1]])
}

fn is_clean(text: &str) -> bool {
    let plain = |b: u8| matches!(b, b'\t' | b'\n' | 0x20..=0x7e);
    text.bytes().all(|b| plain(b) || b >= 0x80)
        && !text.contains(['\u{a0}', '\u{3000}', '\u{feff}'])
}

fn clean(chars: impl Iterator<Item = char>, room: usize) -> String {
    let mut chars = chars.peekable();
    let mut out = String::with_capacity(room);
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => skip_escape(&mut chars),
            '\r' => {
                // `\r\r\n` comes from terminals that translate twice
                while chars.next_if_eq(&'\r').is_some() {}
                if chars.peek() != Some(&'\n') {
                    out.push('\n');
                }
            }
            '\n' | '\t' => out.push(c),
            '\u{a0}' | '\u{3000}' => out.push(' '),
            '\u{feff}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Passes over the rest of an escape sequence. None reaches over the end of its line, so that a stray escape costs a
/// line at most.
fn skip_escape(chars: &mut std::iter::Peekable<impl Iterator<Item = char>>) {
    match chars.next_if(|c| !matches!(c, '\n' | '\r')) {
        Some('[') => {
            while chars.next_if(|c| (' '..='?').contains(c)).is_some() {}
            chars.next_if(|c| ('@'..='~').contains(c));
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = chars.next_if(|c| !matches!(c, '\n' | '\r')) {
                match c {
                    '\x07' => break,
                    '\x1b' => {
                        chars.next_if_eq(&'\\');
                        break;
                    }
                    _ => {}
                }
            }
        }
        Some(' '..='/') => {
            chars.next_if(|c| ('0'..='~').contains(c));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn terminals_and_shells_are_undone() {
        assert_eq!(text(b"\t\x1b[4mGPU0\x1b[0m\r\r\nx\0y\r\n"), "\tGPU0\nxy\n");
        assert_eq!(text(b"10%\r20%\r\n"), "10%\n20%\n");
        assert_eq!(text(b"\x1b]0;title\x07a\x1b(Bb\x1b[31"), "ab");
        assert_eq!(text(b"\xef\xbb\xbfa\xff\xfeb\xc2\xa0c"), "a??b c");
    }

    #[test]
    fn utf_16_with_a_mark_and_without() {
        let wide = |s: &str| {
            s.encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect::<Vec<u8>>()
        };
        let big = |s: &str| {
            s.encode_utf16()
                .flat_map(u16::to_be_bytes)
                .collect::<Vec<u8>>()
        };
        assert_eq!(text(&wide("\u{feff}GPU 0\r\n")), "GPU 0\n");
        assert_eq!(text(&big("\u{feff}GPU 0")), "GPU 0");
        assert_eq!(
            text(&wide("No devices were found")),
            "No devices were found"
        );
        assert_eq!(text(b"\xff\xfe\x00\xd8"), "?");
    }
}
