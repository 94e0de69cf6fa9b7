//! A capture as text, with what every kind asks of it.

use std::borrow::Cow;

/// How far from the start a kind has to show itself, in bytes: recognition looks no further, so that twenty kinds do
/// not each walk through a log of megabytes.
const HEAD_BYTES: usize = 256 << 10;

/// A decoded capture: `\n` ends lines, no escape sequences, no control characters but the tab.
pub(crate) struct Source<'a> {
    pub(crate) text: Cow<'a, str>,
    head: usize,
    open_line: u64,
}

impl<'a> Source<'a> {
    pub(crate) fn new(text: Cow<'a, str>) -> Source<'a> {
        let head = text.floor_char_boundary(HEAD_BYTES);
        let open_line = match text.ends_with('\n') {
            true => 0,
            false => text.bytes().filter(|b| *b == b'\n').count() as u64 + 1,
        };
        Source {
            text,
            head,
            open_line,
        }
    }

    /// The lines with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (u64, &str)> {
        (1..).zip(self.text.lines())
    }

    /// Whether this is the last line and nothing ends it: the text may break off within it.
    pub(crate) fn is_open(&self, number: u64) -> bool {
        number == self.open_line
    }

    /// What recognition looks at.
    pub(crate) fn head(&self) -> &str {
        &self.text[..self.head]
    }

    pub(crate) fn head_lines(&self) -> impl Iterator<Item = &str> {
        self.head().lines()
    }
}
