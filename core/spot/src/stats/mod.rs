//! Figures of what was recorded: how often, how long, when, at what price, and how surely.
//!
//! Start with [`spans()`]: a series becomes stretches of time that are up, down or unknown, and everything else counts
//! those. Unknown time is never up and never down: it ends a run without saying how the run would have ended
//! (censoring). Not here: reading (`io/traces`), replays (`replay.rs`).

mod availability;
mod bootstrap;
mod buckets;
mod fit;
mod hazard;
mod price;
mod spans;
mod survival;
mod zones;

pub use availability::{Availability, Runs, availability, runs_of};
pub use bootstrap::{blocks, resampled};
pub use buckets::{HazardRange, MEASURED_HIGHEST_PER_H, hazard_of};
pub use fit::{Fit, FitKind, fits};
pub use hazard::{AGE_EDGES_H, Rate, by_age, by_hour};
pub use price::{PriceFigures, of_path, of_series};
pub use spans::{Run, Span, State, runs, spans};
pub use survival::{Curve, Observed, Point, observed_lives, observed_runs, survival};
pub use zones::{correlation, duplicates};
