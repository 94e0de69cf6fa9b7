//! What a reader of a trace has to know before it trusts a figure: said, never silently dealt with.

use lessee_model::Msg;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// One thing that was noticed while reading. The sentence is `trace-remark-CODE` of the locales.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// Stable word for programs.
    pub code: Cow<'static, str>,
    /// The zone or column it concerns; empty: the whole file.
    pub zone: String,
    /// For people; does not name the zone.
    pub msg: Msg,
}

impl Remark {
    pub(crate) fn new(code: &'static str, zone: &str, msg: Msg) -> Remark {
        Remark {
            code: Cow::Borrowed(code),
            zone: zone.to_owned(),
            msg,
        }
    }
}
