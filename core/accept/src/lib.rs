//! The checks before a contract is signed: facts of a machine and of software in, findings out.
//!
//! Start at [`judge`] (one machine, many needs) and [`Finding`]. A rule is a row of `data/compat` and a small function: one
//! file per family (`driver`, `gpu`, `torch`, `tensorflow`, `jax`, `vllm`, `cuda`, `libs`, `rocm`). Not here: reading captures
//! (`io/probe`), words for people (`app/report`). [`env`] judges what is installed. [`report`] holds what was measured against an offer and what is usual.

mod cuda;
mod driver;
pub mod env;
mod facts;
mod finding;
mod gpu;
mod jax;
mod judge;
mod libs;
mod machine;
mod need;
mod needs_file;
mod outcome;
mod report;
mod rocm;
mod table;
mod tensorflow;
mod torch;
mod version;
mod vllm;

pub use facts::{Compat, Sources};
pub use finding::{Finding, Verdict, worst};
pub use gpu::{Card, GpuClass};
pub use judge::judge;
pub use machine::{Fault, Gpu, Machine, Unreadable};
pub use need::{Need, NeedError};
pub use needs_file::{NeedsFile, all_needs_of_file, needs_of_file};
pub use outcome::{Evidence, Outcome};
pub use report::{
    CODES, DiffFact, DiffRow, DiffSide, DiffValue, Expectation, Found, Metric, ProbeDiff, Rules,
    Yardstick, diff, expected, fits, is_code, promised,
};
pub use table::TableError;
pub use version::Version;
