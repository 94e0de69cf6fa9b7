//! From facts and a workload to a ranked plan: one file per step.
//!
//! [`plan`] runs the steps in order: `feasible` (may this offer do the job at all?), `evaluate` and `screen`
//! (how fast, how long, what does it cost: all offers), `rank` (best per machine, demotions), `pareto`
//! (what nothing else beats in cost, time and risk at once) and `detail` (the itemised bill of the
//! finalists). Spot options with a record of their market are replayed on it before they are ranked (`spot`).
//! [`why_not`] answers for a single offer by the same code.
//!
//! Pure: no clock, no files. `today` comes in as an argument and decides which prices are stale.

mod derived;
mod detail;
mod evaluate;
mod feasible;
mod measured;
mod modelled;
mod outlier;
mod pareto;
mod rank;
mod records;
mod refused;
mod rules;
mod saving;
mod screen;
mod spot;
mod why_not;

pub use detail::{CostPerUnit, Months, PlanOption};
pub use evaluate::PlanInput;
pub use feasible::Reject;
pub use measured::{measured_heard, same_gpu};
pub use modelled::{ModelledMarkets, model_spot};
pub use pareto::front;
pub use rank::{Plan, Rejected, Unranked, plan};
pub use records::{Heard, heard};
pub use rules::Rules;
pub use saving::SaveAdvice;
pub use spot::{SpotAnswer, SpotRecords, spot_job};
pub use why_not::{Verdict, WhyNot, why_not};
