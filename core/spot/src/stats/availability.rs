//! How much of the time, in how many stretches.

use super::spans::{Run, Span, State, runs};

/// Shares of time of one record.
#[derive(Clone, Debug, PartialEq)]
pub struct Availability {
    /// Seconds up.
    pub up_s: i64,
    /// Seconds of which something is known.
    pub known_s: i64,
    /// Seconds from the first sample to the end of the last.
    pub span_s: i64,
    /// Stretches of which nothing is known: from, to, in seconds since the start.
    pub holes: Vec<(i64, i64)>,
    /// Stretches up.
    pub up: Runs,
    /// Stretches down: how long it takes until instances return.
    pub down: Runs,
}

/// Lengths of the runs of one state, all of them, also those whose ends were not seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runs {
    /// How many.
    pub count: usize,
    /// Of those, how many with an unseen end or beginning: they were longer than counted here.
    pub cut: usize,
    /// Mean length, seconds.
    pub mean_s: f64,
    /// Middle length, seconds.
    pub median_s: f64,
    /// Longest, seconds.
    pub longest_s: i64,
}

impl Availability {
    /// Share of known time that is up, 0..1; `None`: nothing is known.
    pub fn share(&self) -> Option<f64> {
        (self.known_s > 0).then(|| self.up_s as f64 / self.known_s as f64)
    }
}

/// Counts spans.
pub fn availability(spans: &[Span]) -> Availability {
    let sum = |state: State| {
        spans
            .iter()
            .filter(|s| s.state == state)
            .map(Span::len_s)
            .sum::<i64>()
    };
    let (up_s, down_s) = (sum(State::Up), sum(State::Down));
    let unknown = spans.iter().filter(|s| s.state == State::Unknown);
    Availability {
        up_s,
        known_s: up_s + down_s,
        span_s: spans.iter().map(Span::len_s).sum(),
        holes: unknown.map(|s| (s.from_s, s.to_s)).collect(),
        up: runs_of(&runs(spans, State::Up)),
        down: runs_of(&runs(spans, State::Down)),
    }
}

/// Figures of a list of runs.
pub fn runs_of(runs: &[Run]) -> Runs {
    let mut lengths: Vec<i64> = runs.iter().map(|r| r.to_s - r.from_s).collect();
    lengths.sort_unstable();
    let n = lengths.len();
    if n == 0 {
        return Runs::default();
    }
    Runs {
        count: n,
        cut: runs.iter().filter(|r| !r.start_seen || !r.end_seen).count(),
        mean_s: lengths.iter().sum::<i64>() as f64 / n as f64,
        median_s: (lengths[(n - 1) / 2] + lengths[n / 2]) as f64 / 2.0,
        longest_s: lengths[n - 1],
    }
}
