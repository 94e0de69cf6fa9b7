//! The rented machine: what it says of itself, what it is measured to do, and what others paste of theirs.
//!
//! Not here: the verdict's arithmetic on a model's step (`core/perf`), what a utilisation curve means
//! (`core/supervise`).

pub mod watch;
