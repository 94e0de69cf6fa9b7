//! How fast a machine does the work: workload x machine -> useful units per second, with a range, what
//! bounds it, and whether it fits at all.
//!
//! What it is: a few-parameter physical model whose constants are read from `data/perf.toml` and whose
//! facts about GPUs come from `data/gpu/specs.csv`. What it is not: a benchmark, a price, or a
//! preference; no product is named anywhere in this crate. Start at [`predict`], then the file of the
//! job: `train` and `vision` (training), `serve`, `render`, `hours`, `sweep`. Shared parts: `spec` (the
//! device with a probe's measurements put over the data sheet), `memory`, `sync` (links), `feed`
//! (CPU and storage), `range`. What a probe says of a machine's wiring, and of a step on it: `wiring`, `step`.

mod chip;
mod coefficients;
mod feed;
pub mod formula;
mod hours;
mod memory;
mod nofit;
mod outcome;
mod predict;
mod range;
mod render;
mod serve;
mod spec;
mod step;
mod sweep;
mod sync;
pub mod table;
mod tables;
mod train;
mod tuned;
mod vision;
mod wiring;

pub use coefficients::Coefficients;
pub use nofit::NoFit;
pub use predict::{PerfContext, predict};
pub use step::{step_msg, training_step};
pub use tables::{BlenderRow, GemmRow, PerfTables};
pub use tuned::predict_tuned;
pub use wiring::{Wiring, measured_machine, wiring};
