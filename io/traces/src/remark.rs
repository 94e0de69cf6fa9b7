//! What a reader of a trace has to know before it trusts a figure: said, never silently dealt with.

use lessee_model::Msg;

/// One thing that was noticed while reading. The sentence is `trace-remark-CODE` of the locales.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// Stable word for programs.
    pub code: &'static str,
    /// The zone or column it concerns; empty: the whole file.
    pub zone: String,
    /// For people; does not name the zone.
    pub msg: Msg,
}

impl Remark {
    pub(crate) fn new(code: &'static str, zone: &str, msg: Msg) -> Remark {
        Remark {
            code,
            zone: zone.to_owned(),
            msg,
        }
    }
}
