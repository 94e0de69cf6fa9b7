//! Rent or own: what a GPU-hour of one's own machines costs, and when owning pays.
//!
//! `file.rs` is what the user types, `input.rs` fills in defaults (each marked assumed) from
//! `data/buy_defaults.csv`, `evaluate.rs` is the arithmetic, `report.rs` the document `lessee/buy/v1`.
//! Not here: the price of an offer named by its key; the caller looks it up.

mod error;
mod evaluate;
mod file;
mod input;
mod report;

pub use error::BuyError;
pub use file::{BuyFile, parse_buy};
pub use input::{BuyDefault, BuyInput, Parameter, resolve_buy};
pub use report::{BUY_SCHEMA, BuyLine, BuyReport, Choice, Sensitivity, buy_report};
