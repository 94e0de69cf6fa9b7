//! The rented machine: what it says of itself, what it is measured to do, and what others paste of theirs.
//!
//! Start at [`read`] (captures of tools, recognised by what is in them), [`screen`] (screenshots) and [`watch`] (utilisation
//! logs); what is measured is in [`feed`] (the heart), [`gpu`], [`disk`], [`cpu`], [`net`] and [`fabric`];
//! what is seen of encryption at rest is in [`encryption`]. Not here: the verdict's arithmetic on a model's step
//! (`core/perf`), what a utilisation curve means (`core/supervise`).

pub mod budget;
pub mod cpu;
pub mod disk;
pub mod encryption;
pub mod fabric;
pub mod feed;
mod files;
mod finding;
pub mod gpu;
pub mod net;
mod program;
pub mod read;
mod regular;
mod scratch;
pub mod screen;
pub mod step;
pub mod watch;

pub use finding::{CODES, Finding, Severity, verdict};
pub use program::nvidia_smi;
pub use read::decoded;
pub use regular::open_regular;

use lessee_supervise::curve::Rules;

/// The thresholds of utilisation curves, `data/curve.toml`.
///
/// # Errors
/// The file that is built in is broken: a bug.
pub fn curve_rules() -> Result<Rules, watch::WatchError> {
    Rules::from_toml(include_str!("../../../data/curve.toml"))
        .map_err(|what| watch::WatchError::Rules { what })
}
