//! Foreign text made harmless for a terminal. Quotes, file names and provider texts are hostile: an escape
//! sequence in them could rewrite what the user sees.

use std::borrow::Cow;

/// Replaces control characters (tab becomes a blank, line breaks stay), the invisible characters that
/// reverse the reading direction, and those of no width that make two different names look the same.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let harmless = |c: char| match c {
        '\t' => ' ',
        c if is_unsafe(c) => '\u{FFFD}',
        c => c,
    };
    Cow::Owned(text.replace("\r\n", "\n").chars().map(harmless).collect())
}

/// Text for HTML and SVG, inside an attribute too.
pub(crate) fn escape(text: &str) -> String {
    clean(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn is_unsafe(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2060}' | '\u{FEFF}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn escape_sequences_and_direction_marks_do_not_get_through() {
        assert_eq!(clean("a\x1b[2Jb\u{202E}c\td"), "a\u{FFFD}[2Jb\u{FFFD}c d");
        assert_eq!(clean("价格 76000\n元"), "价格 76000\n元");
    }
}
