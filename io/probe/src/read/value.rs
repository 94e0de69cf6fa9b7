//! Values as tools print them: numbers with a unit, the many ways to say "none", identifiers to be masked.

/// The number before a unit: `400.00 W`, `15360 MiB`, `8x`, `37%`. `None` where the text does not begin with one.
pub(crate) fn number(text: &str) -> Option<f64> {
    leading(text.trim(), |c| c.is_ascii_digit() || c == '.' || c == '-')?
        .parse()
        .ok()
        .filter(|n: &f64| n.is_finite())
}

/// The whole number before a unit. `None` where there is none, or a fraction.
pub(crate) fn whole(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = leading(text, |c| c.is_ascii_digit())?;
    if text[digits.len()..].starts_with('.') {
        return None;
    }
    digits.parse().ok()
}

/// [`number`] of a text that ends in its unit: a value that broke off before it is none.
pub(crate) fn number_of(text: &str, unit: &str) -> Option<f64> {
    number(text.trim().strip_suffix(unit)?)
}

/// [`whole`] of a text that ends in its unit.
pub(crate) fn whole_of(text: &str, unit: &str) -> Option<u64> {
    whole(text.trim().strip_suffix(unit)?)
}

/// [`whole`] for what fits in 32 bits.
pub(crate) fn small(text: &str) -> Option<u32> {
    whole(text).and_then(|n| u32::try_from(n).ok())
}

fn leading(text: &str, keep: impl Fn(char) -> bool) -> Option<&str> {
    let end = text.find(|c| !keep(c)).unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

/// Whether the text stands for "not stated": `N/A`, `[N/A]`, `[Not Supported]`, `-`, nothing.
pub(crate) fn is_none(text: &str) -> bool {
    let inner = text.trim();
    let inner = inner
        .strip_prefix('[')
        .and_then(|t| t.strip_suffix(']'))
        .unwrap_or(inner);
    const NONE: [&str; 10] = [
        "",
        "-",
        "N/A",
        "Not Supported",
        "Not Available",
        "Function Not Found",
        "Requested functionality has been deprecated",
        "Insufficient Permissions",
        "Unknown Error",
        "GPU is lost",
    ];
    NONE.iter().any(|n| inner.eq_ignore_ascii_case(n))
}

/// A line that surrounds captures and says nothing: blank, a code fence, the command at a prompt, a note of its status.
pub(crate) fn is_noise(line: &str) -> bool {
    let line = line.trim_matches(|c: char| c.is_whitespace() || c == '>');
    line.is_empty()
        || line.starts_with("```")
        || line.starts_with("# (exit code")
        || (line.len() < 400 && line.contains("nvidia-smi") && is_command(line))
}

/// `$ nvidia-smi topo -m`, `root@box:~# nvidia-smi`, `PS C:\> nvidia-smi`, or the bare command.
fn is_command(line: &str) -> bool {
    let after = line
        .rsplit_once(['$', '#', '>', '%'])
        .map_or(line, |(_, command)| command)
        .trim_start();
    let mut words = after
        .split_whitespace()
        .skip_while(|w| *w == "sudo" || *w == "watch");
    words.next().is_some_and(|w| {
        let program = w.rsplit(['/', '\\']).next().unwrap_or(w);
        program == "nvidia-smi" || program == "nvidia-smi.exe"
    }) && words.all(|w| !w.ends_with(':') && w != "has")
}

/// A version without the remark behind it: driver 610 prints `610.57.04 [Deprecated; ... Use KMD Version instead]`.
pub(crate) fn version_alone(text: &str) -> &str {
    text.split('[').next().unwrap_or("").trim()
}

/// What may be shown of a text: its first characters, with identifiers masked.
pub(crate) fn shown(text: &str, max_chars: usize) -> String {
    let end = text
        .char_indices()
        .nth(max_chars)
        .map_or(text.len(), |(at, _)| at);
    let mut out = String::with_capacity(end);
    // a long line is masked before it is cut, else half an identifier stays; but only so much of it
    let reach = text.floor_char_boundary(end.saturating_add(64));
    for word in text[..reach].split_inclusive(|c: char| !(c.is_ascii_alphanumeric() || c == '-')) {
        let body = word.trim_end_matches(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        if is_identifier(body) {
            out.push('*');
            out.push_str(&word[body.len()..]);
        } else {
            out.push_str(word);
        }
    }
    if let Some((at, _)) = out.char_indices().nth(max_chars) {
        out.truncate(at);
    }
    out
}

/// A UUID, with `GPU-` or `MIG-` before it or not: five groups of hexadecimal digits, 8-4-4-4-12.
fn is_identifier(word: &str) -> bool {
    let bare = word
        .strip_prefix("GPU-")
        .or_else(|| word.strip_prefix("MIG-"));
    let mut groups = bare.unwrap_or(word).split('-');
    let sizes = [8, 4, 4, 4, 12];
    sizes.iter().all(|size| {
        groups
            .next()
            .is_some_and(|g| g.len() == *size && g.bytes().all(|b| b.is_ascii_hexdigit()))
    })
}

#[cfg(test)]
mod tests {
    use super::{is_none, number, number_of, shown, small, whole, whole_of};

    #[test]
    fn numbers_stand_before_their_unit() {
        assert_eq!(number(" 400.00 W"), Some(400.0));
        assert_eq!(
            (whole("8x"), whole("37%"), small("1.5"), whole("x8")),
            (Some(8), Some(37), None, None)
        );
        assert_eq!(
            (number("N/A"), number("1.2.3"), number("-")),
            (None, None, None)
        );
        assert_eq!(whole("99999999999999999999"), None);
        assert_eq!(
            (whole_of("16 MiB", "MiB"), whole_of("16 M", "MiB")),
            (Some(16), None)
        );
        assert_eq!(
            (number_of("42W", "W"), number_of("4", "W")),
            (Some(42.0), None)
        );
        assert!(is_none("[N/A]") && is_none(" - ") && !is_none("0"));
    }

    #[test]
    fn identifiers_are_masked() {
        let line = "GPU 0: X (UUID: GPU-01234567-89ab-cdef-0123-456789abcdef)";
        assert_eq!(shown(line, 200), "GPU 0: X (UUID: *)");
        assert_eq!(shown("äöü", 2), "äö");
    }
}
