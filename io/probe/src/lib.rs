//! The rented machine: what it says of itself, what it is measured to do, and what others paste of theirs.
//!
//! Start at [`read`] (captures of tools, recognised by what is in them) and [`watch`] (utilisation logs). Not here: the
//! verdict's arithmetic on a model's step (`core/perf`), what a utilisation curve means (`core/supervise`).

pub mod read;
pub mod watch;
