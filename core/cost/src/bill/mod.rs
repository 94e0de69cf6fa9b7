//! The bill of one candidate: [`screen`] for its total, [`bill`] for all of its lines.
//!
//! **Why one code path with two sinks.** A plan screens a million candidates and writes out ten bills. If the
//! quick total came from a short-cut formula, ranking and bill would drift apart as soon as one of the two
//! learns a new rule. So `walk.rs` goes through the lines once, in exact arithmetic, and hands each to a
//! sink: one only adds (and never builds a text), the other also keeps the line. Both therefore agree to the
//! last digit, which the tests hold them to.
//!
//! Every line is quantity x unit price = amount in [`Fixed`]; quantities come from `f64` in one place only
//! (`clock.rs`), durations rounded up to whole seconds first. Start with `walk.rs`.

mod clock;
mod compute;
mod extras;
mod ledger;
mod rates;
mod sink;
mod storage;
mod traffic;
mod walk;

pub use clock::HOURS_PER_MONTH;
pub use compute::peak_share;
pub use sink::SmallTotals;

use ledger::Ledger;
use lessee_model::{
    Arg, Bill, Currency, Machine, Money, Msg, Offer, Price, Purchase, Tariff, Workload,
};
use sink::{Adder, Recorder};

/// Which run is billed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Percentile {
    /// Median speed, boot time and interruptions.
    P50,
    /// Slow machine, slow boot, many interruptions.
    P90,
}

/// One way through the work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Run {
    /// Seconds of useful work of the whole fleet, without boot, set-up and repetition.
    pub work_s: f64,
    /// The same at the slow end of the prediction.
    pub work_p90_s: f64,
    /// Expected interruptions per job, whole fleet.
    pub interruptions: f64,
    pub interruptions_p90: f64,
    /// Wall seconds by which the whole fleet falls behind per interruption: work that is repeated, plus
    /// restart and boot. Work in lockstep loses this on every machine; of independent work it is the lost
    /// machine's time divided by the number of machines. So machine time lost = interruptions x lost_s x
    /// machines in both cases.
    pub lost_s: f64,
    /// Checkpoints written over the whole job.
    pub checkpoints: f64,
    /// GPUs at work, from the layout of the prediction.
    pub gpus: u32,
    /// A replay of a recorded market took the place of `lost_s`.
    pub replayed: Option<Replayed>,
}

/// What a replay on recorded availability found: on average (billed as the median run), and in the run at the
/// 90th percentile.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Replayed {
    pub mean: Spent,
    pub p90: Spent,
}

/// Wall seconds of the whole fleet in one run. How often it was interrupted stands in [`Run`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Paid, without progress that lasted, beyond the first start.
    pub lost_s: f64,
    /// Nothing was rented.
    pub waiting_s: f64,
    /// On demand in place of spot, among boot, work and lost time.
    pub on_demand_s: f64,
}

/// A workload on an offer, paid in one way.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    pub workload: &'a Workload,
    pub offer: &'a Offer,
    pub machine: &'a Machine,
    pub price: &'a Price,
    pub purchase: Purchase,
    pub nodes: u32,
    pub run: &'a Run,
    pub tariff: &'a Tariff,
    pub percentile: Percentile,
    /// For [`Purchase::Mix`]: machines under commitment, the rest on demand; else 0.
    pub base_nodes: u32,
    /// For [`Purchase::Mix`]: price of the machines under commitment; its `purchase` says for which term.
    pub base_price: Option<&'a Price>,
}

/// The sums of a bill without its lines.
#[derive(Clone, Debug)]
pub struct Screened {
    /// One amount per currency that could not be exchanged.
    pub totals: SmallTotals,
    /// Some line is unknown: the totals are lower bounds.
    pub at_least: bool,
    /// Seconds from the order to the result.
    pub wall_s: f64,
}

impl Screened {
    /// The total, if all lines could be expressed in this currency.
    pub fn total(&self, currency: Currency) -> Option<Money> {
        self.totals.only(currency)
    }
}

/// Sums up one candidate. Allocates nothing unless more than four currencies meet without a rate.
pub fn screen(case: &Case<'_>) -> Screened {
    let mut ledger = Ledger::new(case, Adder::default());
    let times = walk::walk(case, &mut ledger);
    Screened {
        at_least: ledger.sink.at_least,
        totals: ledger.sink.totals,
        wall_s: times.wall_s(),
    }
}

/// Writes the bill of one candidate, line by line.
pub fn bill(case: &Case<'_>) -> Bill {
    let mut ledger = Ledger::new(case, Recorder::default());
    walk::walk(case, &mut ledger);
    let Recorder { adder, lines } = ledger.sink;
    Bill {
        currency: case.workload.money.currency,
        lines,
        totals: adder.totals.iter().collect(),
        at_least: adder.at_least,
    }
}

/// In whose months a line counts, where it is the calendar's; else nothing.
fn calendar_note(case: &Case<'_>) -> Arg {
    match case.tariff.calendar.as_deref() {
        Some(c) => Msg::new("bill-calendar").arg("zone", &*c.zone.name).into(),
        None => "".into(),
    }
}

/// Seconds from the order to the result: boot, set-up, work, and what interruptions cost in time. A service
/// is not prolonged by its interruptions. Infinite if it never finishes.
pub fn wall_seconds(case: &Case<'_>) -> f64 {
    clock::Times::of(case).wall_s()
}
