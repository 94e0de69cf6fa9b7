//! Useful work x tariff = a bill: what a rented machine costs for one job, line by line.
//!
//! It is not a performance model (`lessee-perf` says how fast) and not a search (`lessee-plan` says which).
//! Nothing here reads a file or a clock: tariffs arrive as a [`lessee_model::TariffBook`].
//!
//! - [`resolve_tariff`] picks the rules of one place from the tariff rows; [`source_egress`] those of the
//!   provider that holds the data now; [`spot_risk`] and [`commitment_discount`] likewise.
//! - [`expected_run`] turns a predicted speed and a rate of interruption into a [`Run`].
//! - [`screen`] adds up one candidate, [`bill`] writes the same sum out line by line.
//! - [`buy_report`] answers rent or own.
//!
//! Start with `bill/mod.rs`, then `bill/walk.rs`: the order of the lines.

mod bill;
mod buy;
mod commitments;
mod elsewhere;
mod interruption;
mod sources;
mod spot;
mod tariff;
mod tiers;

pub use bill::{
    Case, HOURS_PER_MONTH, Percentile, Replayed, Run, Screened, SmallTotals, Spent, bill,
    peak_share, screen, wall_seconds,
};
pub use buy::{
    BUY_SCHEMA, BuyDefault, BuyError, BuyFile, BuyInput, BuyLine, BuyReport, Choice, Parameter,
    Sensitivity, buy_report, parse_buy, resolve_buy,
};
pub use commitments::{CommitmentDiscount, commitment_discount};
pub use interruption::{
    Expected, expected_interruptions, expected_run, piece_seconds, poisson_p90,
};
pub use spot::spot_risk;
pub use tariff::{calendar, resolve_tariff, source_egress};
pub use tiers::{MonthVolume, TierPart, monthly_tier_parts, tier_parts, tiered_cost};
