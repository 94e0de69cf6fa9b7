//! Our own policy: learn how long spot lasts and how long it stays away, and look up what that makes best.
//!
//! - [`params`](Params): what is believed before anything was seen, from `data/spot.toml`.
//! - `belief.rs`: rates by age, scaled by what was seen since; `levels.rs`: all that follows from a scale.
//! - `table.rs`: a dynamic programme over (time left, slack, age of the spell, what runs) for one zone; `tables.rs`
//!   keeps one table for each pair of scales.
//! - `one_zone.rs` follows the table; `zones.rs` prices progress where several zones are offered.
//!
//! The derivation, and how it compares, is in `docs/design/spot-policy.md`. A deadline that on-demand alone can keep
//! is kept: spot starts only while one more start would still fit after it was lost, and waiting only while a start on
//! demand still fits in the next tick.

mod belief;
mod levels;
mod one_zone;
mod params;
mod table;
mod tables;
mod zones;

pub(crate) use levels::Spells;
pub use params::Params;
pub use tables::Tables;

use super::{Choice, Now, Policy, Running};
use one_zone::OneZone;
use zones::Zones;

/// The policy `lessee` for one job.
#[derive(Debug)]
pub struct Lessee<'a> {
    inner: Inner<'a>,
}

#[derive(Debug)]
enum Inner<'a> {
    One(OneZone<'a>),
    Several(Zones<'a>),
}

impl<'a> Lessee<'a> {
    /// Over `zones` zones, with the tables of this job.
    pub fn new(tables: &'a Tables, zones: usize) -> Lessee<'a> {
        Lessee {
            inner: if zones == 1 {
                Inner::One(OneZone::new(tables))
            } else {
                Inner::Several(Zones::new(tables, zones))
            },
        }
    }
}

impl Policy for Lessee<'_> {
    fn decide(&mut self, now: &Now, out: &mut Vec<Choice>) {
        match &mut self.inner {
            Inner::One(one) => one.decide(now, out),
            Inner::Several(zones) => zones.decide(now, out),
        }
    }

    fn launched(&mut self, now: &Now, zone: usize, started: bool) {
        match &mut self.inner {
            Inner::One(one) => one.launched(now, zone, started),
            Inner::Several(zones) => zones.launched(now, zone, started),
        }
    }

    fn settled(&mut self, now: &Now, running: Running, out: &mut Vec<usize>) {
        if let Inner::Several(zones) = &mut self.inner {
            zones.settled(now, running, out);
        }
    }
}
