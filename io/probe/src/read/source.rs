//! A capture as text, with what every kind asks of it.

use std::borrow::Cow;

/// How far from the start a kind has to show itself, in bytes: recognition looks no further, so that twenty kinds do
/// not each walk through a log of megabytes.
const HEAD_BYTES: usize = 256 << 10;

/// A decoded capture: `\n` ends lines, no escape sequences, no control characters but the tab.
pub(crate) struct Source<'a> {
    pub(crate) text: Cow<'a, str>,
    head: usize,
}

impl<'a> Source<'a> {
    pub(crate) fn new(text: Cow<'a, str>) -> Source<'a> {
        let head = text.floor_char_boundary(HEAD_BYTES);
        Source { text, head }
    }

    /// The lines with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (u64, &str)> {
        (1..).zip(self.text.lines())
    }

    /// What recognition looks at.
    pub(crate) fn head(&self) -> &str {
        &self.text[..self.head]
    }

    pub(crate) fn head_lines(&self) -> impl Iterator<Item = &str> {
        self.head().lines()
    }
}
