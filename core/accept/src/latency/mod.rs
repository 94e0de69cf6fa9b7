//! Round trips from the office to the machine: what was measured ([`LatencySamples`]), its figures, and the verdict.
//!
//! Start at [`judge()`]. Not here: sockets (`io/latency`), thresholds (`data/accept/latency.toml`, read by [`LatencyRules`]).

mod figures;
mod judge;
mod rules;
mod samples;
mod target;

pub use figures::Figures;
pub use judge::{Latency, Series, judge};
pub use rules::{LatencyRules, Limits, Measure, Work};
pub use samples::{
    Connection, Echo, LatencySamples, Proxy, ProxyKind, Route, Speaks, Trouble, TroubleKind,
};
pub use target::{Target, TargetError};
