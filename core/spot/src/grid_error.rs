//! What keeps records from becoming a market, and what has to be said of one.

use thiserror::Error;

/// Why records are no market, or a window no job's.
#[derive(Debug, Error, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum GridError {
    #[error("there is no record of availability")]
    NoSeries,
    #[error("{zone} is sampled each {gap_s} s, {other} each {other_gap_s} s")]
    Gaps {
        zone: String,
        gap_s: u32,
        other: String,
        other_gap_s: u32,
    },
    #[error("the records of {} have no time in common", zones.join(", "))]
    NoCommonTime { zones: Vec<String> },
    #[error("{zone}: {ticks} ticks are too many for a record: a time in it is wrong")]
    TooLong { zone: String, ticks: i64 },
    #[error("{zone}: the recorder asked for {asked}, so nothing is known of {gang} at once")]
    Gang { zone: String, gang: u32, asked: u32 },
    #[error("{zone}: the prices are those of {of}, the samples those of {machine}")]
    PriceOfOther {
        zone: String,
        of: String,
        machine: String,
    },
    #[error("{zone}: no spot price is known")]
    NoPrice { zone: String },
    #[error("{zone}: no on-demand price is known")]
    NoOnDemand { zone: String },
    #[error("{zone}: no spot price at tick {tick}, where the zone can be had")]
    NoPriceAt {
        zone: String,
        tick: usize,
        /// Seconds of a tick.
        gap_s: i64,
    },
    #[error(
        "from tick {start} the deadline needs {need} ticks of {gap_s} s, the record has {have} in all"
    )]
    TooShort {
        start: usize,
        /// Ticks of the record.
        have: usize,
        /// Ticks until the deadline.
        need: usize,
        gap_s: i64,
    },
}

/// What has to be known of a market before a figure is trusted.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Note {
    /// Records that are one zone: one recording under several names, or several of one zone and machine from the same
    /// time. All but the first are left out.
    Identical { zones: Vec<String> },
    /// A record names no date: the zones are laid side by side by index.
    AlignedByIndex,
    /// Ticks that nobody measured; a replay counts them as not available.
    Holes { zone: String, ticks: usize },
    /// Prices come from a record of their own: of this machine and what runs on it, where it says so.
    JoinedPrices {
        zone: String,
        machine: Option<String>,
        product: Option<String>,
    },
    /// Share of ticks in which spot costs as much as on-demand, or more.
    SpotAtOrAbove { zone: String, share: f64 },
}
