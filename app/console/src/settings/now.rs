//! The clock: read once, or set for tests by `--now` and `LESSEE_NOW`.

use crate::Failure;
use jiff::Timestamp;
use lessee_model::Msg;

pub(super) fn now(flag: Option<&str>) -> Result<Timestamp, Failure> {
    let variable = std::env::var("LESSEE_NOW").ok().filter(|v| !v.is_empty());
    let (text, place) = match (flag, &variable) {
        (Some(text), _) => (text, "--now"),
        (None, Some(text)) => (text.as_str(), "LESSEE_NOW"),
        (None, None) => return Ok(Timestamp::now()),
    };
    text.parse().map_err(|_| {
        Failure::usage(
            Msg::new("error-at")
                .arg("place", place)
                .arg("problem", Msg::new("setting-bad-time").arg("value", text)),
        )
    })
}
