//! What a feed contains and we do not take, with the reason. A refresh that drops rows says so.

use lessee_model::Msg;
use std::collections::BTreeMap;

/// Why a row of a feed became no offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Skip {
    /// Windows or another licensed system.
    OtherSystem,
    /// Dedicated hosts, reserved capacity, capacity blocks, local zones and the like.
    OtherProduct,
    /// Azure "Low Priority": the retired predecessor of Spot.
    LowPriority,
    /// For development and test subscriptions only.
    DevTest,
    /// Unit, term or payment that does not convert to a price per hour.
    OtherUnit,
    OtherCurrency,
    /// Past or future price of the same meter.
    NotInEffect,
    /// A window that ends before it begins: a placeholder.
    BrokenWindow,
    /// The feed does not say what GPUs the type has, and the catalog does not know it.
    UnknownType,
    /// A GPU name that the GPU table does not know, or a memory size that no such GPU has.
    UnknownGpu,
    /// Feed and catalog disagree on the number of GPUs.
    CountDiffers,
    NoGpu,
    ZeroPrice,
    /// The price is missing, or one of its parts is.
    NoPrice,
    /// So low that the feed's unit must have changed.
    Implausible,
    /// A floor for bids, which is not what one pays.
    BidFloor,
    /// Retired, hidden, rented out or not verified by the market.
    NotForRent,
    /// Said twice; the dearer price was kept.
    Duplicate,
    /// Beyond the cap of a marketplace search.
    OverCap,
    /// A region that was not asked for.
    OtherRegion,
    /// A field is missing or of the wrong kind.
    Unreadable,
}

impl Skip {
    /// The word used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Skip::OtherSystem => "other_system",
            Skip::OtherProduct => "other_product",
            Skip::LowPriority => "low_priority",
            Skip::DevTest => "dev_test",
            Skip::OtherUnit => "other_unit",
            Skip::OtherCurrency => "other_currency",
            Skip::NotInEffect => "not_in_effect",
            Skip::BrokenWindow => "broken_window",
            Skip::UnknownType => "unknown_type",
            Skip::UnknownGpu => "unknown_gpu",
            Skip::CountDiffers => "count_differs",
            Skip::NoGpu => "no_gpu",
            Skip::ZeroPrice => "zero_price",
            Skip::NoPrice => "no_price",
            Skip::Implausible => "implausible",
            Skip::BidFloor => "bid_floor",
            Skip::NotForRent => "not_for_rent",
            Skip::Duplicate => "duplicate",
            Skip::OverCap => "over_cap",
            Skip::OtherRegion => "other_region",
            Skip::Unreadable => "unreadable",
        }
    }

    /// The reason for people.
    pub fn msg(self) -> Msg {
        Msg::new(match self {
            Skip::OtherSystem => "providers-skip-other-system",
            Skip::OtherProduct => "providers-skip-other-product",
            Skip::LowPriority => "providers-skip-low-priority",
            Skip::DevTest => "providers-skip-dev-test",
            Skip::OtherUnit => "providers-skip-other-unit",
            Skip::OtherCurrency => "providers-skip-other-currency",
            Skip::NotInEffect => "providers-skip-not-in-effect",
            Skip::BrokenWindow => "providers-skip-broken-window",
            Skip::UnknownType => "providers-skip-unknown-type",
            Skip::UnknownGpu => "providers-skip-unknown-gpu",
            Skip::CountDiffers => "providers-skip-count-differs",
            Skip::NoGpu => "providers-skip-no-gpu",
            Skip::ZeroPrice => "providers-skip-zero-price",
            Skip::NoPrice => "providers-skip-no-price",
            Skip::Implausible => "providers-skip-implausible",
            Skip::BidFloor => "providers-skip-bid-floor",
            Skip::NotForRent => "providers-skip-not-for-rent",
            Skip::Duplicate => "providers-skip-duplicate",
            Skip::OverCap => "providers-skip-over-cap",
            Skip::OtherRegion => "providers-skip-other-region",
            Skip::Unreadable => "providers-skip-unreadable",
        })
    }
}

/// How many rows were dropped for one reason, with the first few names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub reason: Skip,
    pub count: u64,
    pub examples: Vec<String>,
}

const EXAMPLES: usize = 5;

#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<Skip, (u64, Vec<String>)>);

impl Tally {
    pub(crate) fn skip(&mut self, reason: Skip, example: &str) {
        self.skip_many(reason, 1, example);
    }

    pub(crate) fn skip_many(&mut self, reason: Skip, count: u64, example: &str) {
        let (total, examples) = self.0.entry(reason).or_default();
        *total += count;
        if examples.len() < EXAMPLES && !example.is_empty() {
            // names come from outside: short, and nothing that could move a terminal's cursor
            let example: String = example
                .chars()
                .filter(|c| !c.is_control())
                .take(80)
                .collect();
            if !examples.contains(&example) {
                examples.push(example);
            }
        }
    }

    pub(crate) fn into_vec(self) -> Vec<Skipped> {
        self.0
            .into_iter()
            .map(|(reason, (count, examples))| Skipped {
                reason,
                count,
                examples,
            })
            .collect()
    }
}
