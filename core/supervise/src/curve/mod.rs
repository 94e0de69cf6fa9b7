//! What a utilisation curve means: is a GPU working, starved, hung, throttled, or idle and paid for?
//!
//! Start with [`read`]. It cleans each series ([`Series`], sampled by whoever was there), gives each sample a state
//! (off, spinning, working), looks at the GPUs side by side (one late rank, a collective that never ends), and then
//! judges each GPU. The thresholds are data: [`Rules`], from `data/curve.toml`, each with its reason.
//!
//! `utilization.gpu` is the share of time in which *some* kernel ran. It says 100 % of a kernel that waits for ever
//! and of one that multiplies; so no label rests on it alone where another signal can be had, and where none can, the
//! reading says so by a lower [`Confidence`]. What was not sampled is unknown, never 0.
//!
//! Not here: where the samples come from and how they were written down (`io/probe`), what is done about a reading
//! (the supervisor), sentences (`app/report`).

mod bursts;
mod clean;
mod clock;
mod dips;
mod group;
mod idle;
mod judge;
mod label;
mod level;
mod rules;
mod series;
mod state;

pub use label::{Confidence, Label, Reading, Span};
pub use rules::Rules;
pub use series::{GpuId, Sample, Series};

use clean::Curve;

/// Reads the series of one machine, one for each GPU, in the order given. GPUs are compared with each other only
/// within one call: what runs on another machine belongs into another.
///
/// Linear in the number of samples, but for sorting them by time.
#[must_use]
pub fn read(series: &[Series], rules: &Rules) -> Vec<Reading> {
    let curves: Vec<Curve> = series.iter().map(|s| Curve::new(s, rules)).collect();
    let together = group::look(&curves, rules);
    curves
        .iter()
        .zip(together)
        .map(|(curve, group)| judge::judge(curve, &group, rules))
        .collect()
}
