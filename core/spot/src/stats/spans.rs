//! Samples become stretches of time.
//!
//! A sample holds until the next one. Where the next one comes late, by more than half a gap, the recorder was away:
//! the sample holds for one nominal gap and the rest is unknown.

use crate::trace::Series;

/// What is known of a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// At least the wanted number could be had.
    Up,
    /// Fewer could be had.
    Down,
    /// Nobody knows: the recorder was away, or wrote null.
    Unknown,
}

/// A stretch of one state, in seconds since the start of the record; `to_s` is the first second after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First second.
    pub from_s: i64,
    /// First second after it.
    pub to_s: i64,
    /// Its state.
    pub state: State,
}

impl Span {
    /// Its length in seconds.
    pub fn len_s(&self) -> i64 {
        self.to_s - self.from_s
    }
}

/// A stretch up or down, and whether its ends were seen: the other state lies beside it, not unknown time and not the
/// edge of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First second.
    pub from_s: i64,
    /// First second after it.
    pub to_s: i64,
    /// It was seen to begin.
    pub start_seen: bool,
    /// It was seen to end.
    pub end_seen: bool,
}

/// The record as spans without gaps between them, for a gang of `need` instances.
pub fn spans(series: &Series, need: u32) -> Vec<Span> {
    let gap = i64::from(series.gap_s);
    let mut out: Vec<Span> = Vec::new();
    let mut push = |from_s: i64, to_s: i64, state: State| match out.last_mut() {
        _ if to_s <= from_s => {}
        Some(last) if last.state == state => last.to_s = to_s,
        _ => out.push(Span {
            from_s,
            to_s,
            state,
        }),
    };
    for (i, (at, up)) in series.at_s.iter().zip(&series.up).enumerate() {
        let state = match up {
            None => State::Unknown,
            Some(n) if *n >= need => State::Up,
            // nobody asked for more: whether more could be had is not known
            Some(n) if *n >= series.asked => State::Unknown,
            Some(_) => State::Down,
        };
        let nominal = at.saturating_add(gap);
        match series.at_s.get(i + 1) {
            Some(next) if gap == 0 || 2 * (next - at) < 3 * gap => push(*at, *next, state),
            Some(next) => {
                push(*at, nominal, state);
                push(nominal, *next, State::Unknown);
            }
            None => push(*at, nominal, state),
        }
    }
    out
}

/// The runs of one state.
pub fn runs(spans: &[Span], state: State) -> Vec<Run> {
    let known = |i: Option<usize>| {
        let span = i.and_then(|i| spans.get(i));
        span.is_some_and(|s| s.state != State::Unknown)
    };
    let of_state = spans.iter().enumerate().filter(|(_, s)| s.state == state);
    of_state
        .map(|(i, s)| Run {
            from_s: s.from_s,
            to_s: s.to_s,
            start_seen: known(i.checked_sub(1)),
            end_seen: known(Some(i + 1)),
        })
        .collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::trace::{About, Seen};

    pub(crate) fn series(gap_s: u32, samples: &[(i64, Option<u32>)]) -> Series {
        Series {
            about: About::default(),
            seen: Seen::Unsaid,
            asked: 1,
            gap_s,
            start: None,
            at_s: samples.iter().map(|s| s.0).collect(),
            up: samples.iter().map(|s| s.1).collect(),
            price: Vec::new(),
            on_demand: None,
            priced_for: None,
        }
    }

    #[test]
    fn more_than_was_asked_for_is_not_known() {
        let s = series(10, &[(0, Some(1)), (10, Some(0))]);
        let states: Vec<State> = spans(&s, 5).iter().map(|s| s.state).collect();
        assert_eq!(states, [State::Unknown, State::Down]);
    }

    #[test]
    fn holes_and_nulls_are_unknown_and_censor_their_neighbours() {
        let s = series(
            10,
            &[
                (0, Some(1)),
                (10, Some(1)),
                (24, Some(0)),
                (34, Some(1)),
                (60, Some(1)),
                (70, None),
            ],
        );
        let spans = spans(&s, 1);
        let seen: Vec<_> = spans.iter().map(|s| (s.from_s, s.to_s, s.state)).collect();
        assert_eq!(
            seen,
            [
                (0, 24, State::Up),
                (24, 34, State::Down),
                (34, 44, State::Up),
                (44, 60, State::Unknown),
                (60, 70, State::Up),
                (70, 80, State::Unknown),
            ]
        );
        let ends: Vec<_> = runs(&spans, State::Up)
            .iter()
            .map(|r| (r.start_seen, r.end_seen))
            .collect();
        assert_eq!(ends, [(false, true), (true, false), (false, false)]);
    }

    #[test]
    fn a_log_of_changes_holds_its_last_value_until_the_next() {
        let s = series(0, &[(0, Some(3)), (1000, Some(1)), (5000, Some(2))]);
        let spans = spans(&s, 2);
        assert_eq!(spans.len(), 2, "the last change has no length: {spans:?}");
        assert_eq!((spans[0].len_s(), spans[1].len_s()), (1000, 4000));
    }
}
