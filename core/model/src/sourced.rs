//! Why a number may be believed: every figure shown to a person carries its provenance.

use crate::{AsOf, Money, Msg};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How a value came to be, strongest first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Read off the machine itself.
    Measured,
    /// From a quote or contract that the user holds, or typed in by the user.
    Quoted,
    /// From a provider's price list, data sheet or a public table.
    Published,
    /// Computed by a formula from other values.
    Modelled,
    /// A default that nobody checked.
    Assumed,
}

/// How far a published fact was checked. Only `Verified` may be shown without a mark.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Read in the provider's own text or price feed, or measured.
    Verified,
    /// From a third party.
    Secondary,
    /// Common knowledge, not read again.
    General,
    /// Inferred, or sources conflict: never ranked, never stated as a fact.
    Unverified,
}

/// Source, date and basis of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    pub basis: Basis,
    pub confidence: Confidence,
    pub source: Arc<str>,
    pub as_of: Option<AsOf>,
}

impl Provenance {
    pub fn new(
        basis: Basis,
        confidence: Confidence,
        source: impl Into<Arc<str>>,
        as_of: Option<AsOf>,
    ) -> Provenance {
        Provenance {
            basis,
            confidence,
            source: source.into(),
            as_of,
        }
    }

    /// A default of lessee's own that the user may change.
    pub fn assumed(source: impl Into<Arc<str>>) -> Provenance {
        Provenance::new(Basis::Assumed, Confidence::General, source, None)
    }

    /// Typed in by the user.
    pub fn user(source: impl Into<Arc<str>>) -> Provenance {
        Provenance::new(Basis::Quoted, Confidence::Verified, source, None)
    }

    pub fn modelled(source: impl Into<Arc<str>>) -> Provenance {
        Provenance::new(Basis::Modelled, Confidence::General, source, None)
    }
}

/// A value that can be asked "why?".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sourced<T> {
    pub value: T,
    #[serde(flatten)]
    pub why: Provenance,
}

impl<T> Sourced<T> {
    pub fn new(value: T, why: Provenance) -> Sourced<T> {
        Sourced { value, why }
    }
}

/// What is not known, why, and between which bounds it may lie. Never zero, never a silent pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    pub reason: Msg,
    /// Bounds per unit of the quantity in question, where anything can be said.
    pub low: Option<Money>,
    pub high: Option<Money>,
    /// Where the bounds come from, or why there are none.
    pub why: Provenance,
}

impl Unknown {
    /// Nothing can be said, not even a range.
    pub fn because(reason: Msg) -> Unknown {
        Unknown {
            reason,
            low: None,
            high: None,
            why: Provenance::new(
                Basis::Assumed,
                Confidence::Unverified,
                "no published value",
                None,
            ),
        }
    }
}

/// Known with its source, or unknown with its reason.
pub type Known<T> = Result<Sourced<T>, Unknown>;
