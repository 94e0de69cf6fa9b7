//! `lessee run`, decided: [`Run::step`] takes what happened and the time, and gives what is to be done.
//!
//! Pure: nothing here starts a process, opens a socket or reads a clock. Start with [`Run`], then [`Event`] and [`Action`];
//! why it is so: `docs/design/run.md`. Which checkpoints are kept: [`keep`]; what metadata services
//! answer: [`cloud`]. How a checkpoint is recognised is not here.

mod action;
pub mod cloud;
mod event;
pub mod keep;
mod leave;
mod meter;
mod notice;
mod publish;
mod spec;
mod state;
mod step;

pub use action::{Action, Alarm, End};
pub use event::{Event, Exited, Found, Holder, Now, Totals};
pub use meter::{Budget, Meter};
pub use notice::{Kind, Notices, Source};
pub use spec::{Pace, Signal, Signals, Spec};
pub use state::{Phase, Run, Why};
