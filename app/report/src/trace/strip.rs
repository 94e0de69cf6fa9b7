//! Availability as one line of characters, for a terminal of 80 columns: no colour needed, unknown time is not empty.

use lessee_spot::stats::{Span, State};

/// Full, over two thirds, over one third, some, none, unknown.
pub(super) const MARKS: [char; 6] = ['█', '▓', '▒', '░', '.', '?'];

/// `columns` characters for the time from `from_s` to `to_s`, in seconds since the start of the record.
pub(super) fn strip(spans: &[Span], from_s: i64, to_s: i64, columns: usize) -> String {
    let total = (to_s - from_s).max(1) as f64;
    let edge = |i: usize| from_s as f64 + total * i as f64 / columns as f64;
    let mut at = 0;
    (0..columns)
        .map(|i| {
            let (low, high) = (edge(i), edge(i + 1));
            while spans.get(at).is_some_and(|s| s.to_s as f64 <= low) {
                at += 1;
            }
            let (mut up, mut known, mut hole) = (0.0, 0.0, 0.0);
            for span in spans[at.min(spans.len())..]
                .iter()
                .take_while(|s| (s.from_s as f64) < high)
            {
                let width = (span.to_s as f64).min(high) - (span.from_s as f64).max(low);
                match span.state {
                    State::Unknown => hole += width,
                    State::Up => (up, known) = (up + width, known + width),
                    State::Down => known += width,
                }
            }
            match up / known {
                _ if hole > known => MARKS[5],
                _ if known <= 0.0 => ' ',
                share if share >= 0.999 => MARKS[0],
                share if share > 2.0 / 3.0 => MARKS[1],
                share if share > 1.0 / 3.0 => MARKS[2],
                share if share > 0.001 => MARKS[3],
                _ => MARKS[4],
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_shows_its_share_and_a_hole_is_seen() {
        let span = |from_s, to_s, state| Span {
            from_s,
            to_s,
            state,
        };
        let spans = [
            span(0, 10, State::Up),
            span(10, 15, State::Down),
            span(15, 22, State::Up),
            span(22, 30, State::Down),
            span(30, 40, State::Unknown),
            span(40, 50, State::Down),
        ];
        assert_eq!(strip(&spans, 0, 60, 6), "█▒░?. ");
        assert_eq!(strip(&[], 0, 10, 3), "   ");
    }
}
