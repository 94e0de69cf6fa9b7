//! The checks before a contract is signed: facts of a machine and of software in, findings out.
//!
//! Start at [`judge`] (one machine, many needs) and [`Finding`]. A rule is a row of `data/compat` and a small function: one
//! file per family (`driver`, `gpu`, `torch`, `tensorflow`, `jax`, `vllm`, `cuda`, `libs`, `rocm`). Not here: reading captures
//! (`io/probe`), words for people (`app/report`). [`env`] judges what is installed, [`report`] holds what was measured against an offer
//! and what is usual.

mod budget;
mod cuda;
mod driver;
pub mod env;
mod facts;
mod failure;
mod finding;
mod gpu;
mod jax;
mod judge;
pub mod latency;
mod libs;
mod machine;
mod need;
mod needs_file;
mod offer;
mod outcome;
mod provider;
mod report;
mod rocm;
mod screen;
pub mod security;
mod shell;
mod support;
mod table;
mod tensorflow;
mod torch;
mod version;
mod vllm;

pub use budget::{BudgetCase, GuardLine, budget};
pub use facts::{Compat, Sources};
pub use failure::{FailureCase, failure};
pub use finding::{Finding, Verdict, worst};
pub use gpu::{Card, GpuClass};
pub use judge::judge;
pub use machine::{Doubt, Fault, Gpu, Machine, Unreadable};
pub use need::{Need, NeedError};
pub use needs_file::{Beside, BrokenNeeds, NeedsFile, all_needs_of_file, needs_of_file};
pub use offer::{ContractField, contract, contract_fields, kept, offer_unseen};
pub use outcome::{Evidence, Outcome};
pub use provider::{ProviderFacts, ProviderSources};
pub use report::{
    CODES, DiffFact, DiffRow, DiffSide, DiffValue, Expectation, Found, Metric, ProbeDiff, Rules,
    Yardstick, diff, expected, fits, is_code, nothing, promised, stated,
};
pub use screen::{ScreenReading, doubts};
pub use shell::{HIDDEN, hidden, shown_address};
pub use support::{Promise, Ticket, log_unreadable, support};
pub use table::TableError;
pub use version::Version;
