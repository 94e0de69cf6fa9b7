//! A bill: every line is a quantity times a unit price, with its source.

use crate::{Currency, Fixed, Money, Msg, Provenance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    Compute,
    Boot,
    Setup,
    Idle,
    BlockStorage,
    ObjectStorage,
    Requests,
    Ingress,
    CrossRegion,
    Egress,
    PublicIp,
    Interruption,
    CommitmentUnused,
    Support,
    Labour,
    Licence,
    Tax,
    Exchange,
}

impl LineKind {
    pub fn as_str(self) -> &'static str {
        match self {
            LineKind::Compute => "compute",
            LineKind::Boot => "boot",
            LineKind::Setup => "setup",
            LineKind::Idle => "idle",
            LineKind::BlockStorage => "block_storage",
            LineKind::ObjectStorage => "object_storage",
            LineKind::Requests => "requests",
            LineKind::Ingress => "ingress",
            LineKind::CrossRegion => "cross_region",
            LineKind::Egress => "egress",
            LineKind::PublicIp => "public_ip",
            LineKind::Interruption => "interruption",
            LineKind::CommitmentUnused => "commitment_unused",
            LineKind::Support => "support",
            LineKind::Labour => "labour",
            LineKind::Licence => "licence",
            LineKind::Tax => "tax",
            LineKind::Exchange => "exchange",
        }
    }
}

/// What a line costs.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantified {
    Known(Money),
    /// Not published: a range where anything can be said, and the total becomes "at least".
    Unknown {
        low: Option<Money>,
        high: Option<Money>,
        reason: Msg,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct BillLine {
    pub kind: LineKind,
    /// What exactly, e.g. "checkpoints kept: 3 x 96 GB for 30 days".
    pub what: Msg,
    pub quantity: Fixed,
    /// `instance-hour`, `GB`, `GB-month`, `1000 requests`, `hour`, `month`, ...
    pub unit: Cow<'static, str>,
    /// `None` where the amount is unknown.
    pub unit_price: Option<Money>,
    pub amount: Quantified,
    pub why: Provenance,
}

/// Lines and their sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Bill {
    /// The currency that the user wants to read.
    pub currency: Currency,
    pub lines: Vec<BillLine>,
    /// One sum per currency that could not be exchanged; exactly the sums of the known lines.
    pub totals: Vec<Money>,
    /// Some line is unknown, so the total is a lower bound.
    pub at_least: bool,
}

impl Bill {
    /// The total, if all lines could be expressed in the bill's currency.
    pub fn total(&self) -> Option<Money> {
        match self.totals.as_slice() {
            [] => Some(Money::zero(self.currency)),
            [one] if one.currency == self.currency => Some(*one),
            _ => None,
        }
    }
}
