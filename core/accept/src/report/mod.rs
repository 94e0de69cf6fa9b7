//! Is it what was promised, and what is usual? A probe's report held against an offer ([`promised()`]), against what GPUs of
//! its models give elsewhere ([`expected()`]), against another report ([`diff()`]), and against itself ([`stated()`]).
//!
//! Not here: what a single measurement says of itself, of its link and of its siblings (`io/probe`), where tables and offers
//! are read (`io/catalog`).

mod diff;
mod expected;
mod found;
mod promised;
mod stated;
mod table;

pub use diff::{DiffFact, DiffRow, DiffSide, DiffValue, ProbeDiff, diff};
pub use expected::expected;
pub(crate) use found::breach;
pub use found::{CODES, Found, is_code};
pub use promised::{fits, promised};
pub use stated::{nothing, stated};
pub use table::{Expectation, Metric, Rules, Yardstick};
