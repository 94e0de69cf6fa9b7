//! Spot markets: records of them, replays of jobs on them, and the policies that decide what to rent next.
//!
//! Start with [`replay()`](replay::replay): a [`Job`], a [`Market`] and a [`Policy`](policy::Policy) give an
//! [`Outcome`]. [`trace`] holds what was recorded, as recorded. Not here: files (`io/traces`), the bill of a plan
//! (`core/cost`).

pub mod fleet;
pub mod forecast;
pub mod generated;
pub mod grid;
mod grid_error;
pub mod interval;
pub mod job;
pub mod market;
pub mod optimum;
pub mod policy;
pub mod random;
pub mod replay;
pub mod runner;
pub mod stats;
pub mod trace;

pub use forecast::{Forecast, Several, forecast};
pub use grid::{Asked, Grid, Window, check_window, market_of};
pub use grid_error::{GridError, Note};
pub use job::{Job, JobError};
pub use market::{Cell, Market, Zone};
pub use replay::{Guard, Outcome, Rules, replay, replay_with};
pub use runner::{PolicyName, Runner, UnknownPolicy};
